//! jq's functions over values.

use std::cmp::Ordering;
use std::rc::Rc;

use super::eval::{Flow, Stop, fail};
use super::parser::Op;
use super::value::{self, Json, Object, compare, sorted_keys};
use super::{dates, paths, strings};
use crate::output::show;
use crate::platform;

/// The longest string that `*` makes.
const MAX_STRING: usize = 256 << 20;

/// Functions that are made of others, by name and number of parameters.
pub const PRELUDE: &[(&str, usize, &str)] = &[
    ("values", 0, "def values: select(. != null);"),
    ("nulls", 0, "def nulls: select(. == null);"),
    ("booleans", 0, "def booleans: select(type == \"boolean\");"),
    ("numbers", 0, "def numbers: select(type == \"number\");"),
    ("strings", 0, "def strings: select(type == \"string\");"),
    ("arrays", 0, "def arrays: select(type == \"array\");"),
    ("objects", 0, "def objects: select(type == \"object\");"),
    ("iterables", 0, "def iterables: select(type | . == \"array\" or . == \"object\");"),
    ("scalars", 0, "def scalars: select(type | . != \"array\" and . != \"object\");"),
    ("finites", 0, "def finites: select(isinfinite or isnan | not);"),
    ("normals", 0, "def normals: select(isnormal);"),
    ("map_values", 1, "def map_values(f): .[] |= f;"),
    ("recurse_down", 0, "def recurse_down: recurse;"),
    ("paths", 0, "def paths: path(..) | select(length > 0);"),
    ("paths", 1, "def paths(node_filter): . as $dot | paths | select(. as $p | $dot | getpath($p) | node_filter);"),
    ("leaf_paths", 0, "def leaf_paths: paths(scalars);"),
    ("last", 1, "def last(f): reduce f as $x (null; $x);"),
    (
        "nth",
        2,
        "def nth($n; f): if $n < 0 then error(\"Out of bounds negative array index\") else first(skip($n; f)) end;",
    ),
    ("in", 1, "def in(xs): . as $x | xs | has($x);"),
    ("inside", 1, "def inside(xs): . as $x | xs | contains($x);"),
    (
        "walk",
        1,
        "def walk(f): def w: if type == \"object\" then map_values(w) elif type == \"array\" then map(w) else . end | f; w;",
    ),
    (
        "combinations",
        0,
        "def combinations: if length == 0 then [] else .[0][] as $x | (.[1:] | combinations) as $w | [$x] + $w end;",
    ),
    ("combinations", 1, "def combinations(n): . as $dot | [range(n)] | map($dot) | combinations;"),
    ("todate", 0, "def todate: strftime(\"%Y-%m-%dT%H:%M:%SZ\");"),
    ("fromdateiso8601", 0, "def fromdateiso8601: strptime(\"%Y-%m-%dT%H:%M:%SZ\") | mktime;"),
    ("todateiso8601", 0, "def todateiso8601: strftime(\"%Y-%m-%dT%H:%M:%SZ\");"),
    ("fromdate", 0, "def fromdate: fromdateiso8601;"),
    ("date", 0, "def date: todate;"),
    ("dateadd", 2, "def dateadd(u; n): . + n;"),
    ("datesub", 2, "def datesub(u; n): . - n;"),
    (
        "match",
        1,
        "def match($val): ($val | type) as $vt | if $vt == \"string\" then match($val; null) elif $vt == \"array\" and ($val | length) > 1 then match($val[0]; $val[1]) elif $vt == \"array\" and ($val | length) > 0 then match($val[0]; null) else error($vt + \" not a string or array\") end;",
    ),
    (
        "test",
        1,
        "def test($val): ($val | type) as $vt | if $vt == \"string\" then test($val; null) elif $vt == \"array\" and ($val | length) > 1 then test($val[0]; $val[1]) elif $vt == \"array\" and ($val | length) > 0 then test($val[0]; null) else error($vt + \" not a string or array\") end;",
    ),
    (
        "capture",
        1,
        "def capture($val): ($val | type) as $vt | if $vt == \"array\" and ($val | length) > 1 then capture($val[0]; $val[1]) elif $vt == \"array\" then capture($val[0]; null) else capture($val; null) end;",
    ),
    (
        "capture",
        2,
        "def capture($re; $flags): match($re; $flags) | [.captures[] | select(.name != null) | {key: .name, value: .string}] | from_entries;",
    ),
    ("scan", 1, "def scan($re): scan($re; null);"),
    (
        "scan",
        2,
        "def scan($re; $flags): match($re; \"g\" + $flags) | if (.captures | length) > 0 then [.captures[].string] else .string end;",
    ),
    (
        "split",
        2,
        "def split($re; $flags): . as $s | [foreach ((match($re; $flags + \"g\") | [.offset, .length]), null) as $m ({at: 0, out: null}; if $m == null then .out = $s[.at:] else .out = $s[.at:$m[0]] | .at = $m[0] + $m[1] end; .out)];",
    ),
    ("splits", 1, "def splits($re): splits($re; null);"),
    ("splits", 2, "def splits($re; $flags): split($re; $flags) | .[];"),
    ("ascii", 0, "def ascii: [.] | implode;"),
    ("sub", 2, "def sub($re; str): sub($re; str; \"\");"),
    (
        "sub",
        3,
        "def sub($re; str; $flags): . as $in | (reduce (match($re; $flags) | . as $edit | ([$edit.captures[] | select(.name != null) | {key: .name, value: .string}] | from_entries) as $c | {edit: $edit, c: $c}) as $e ([{at: 0, text: \"\"}]; [.[] as $state | ($e.c | str) as $new | if ($new | type) != \"string\" then error(($in | tojson) + \" cannot be added to a string\") else {at: ($e.edit.offset + $e.edit.length), text: ($state.text + $in[$state.at:$e.edit.offset] + $new)} end])) | .[] | .text + $in[.at:];",
    ),
    ("gsub", 2, "def gsub($re; str): sub($re; str; \"g\");"),
    ("gsub", 3, "def gsub($re; str; $flags): sub($re; str; $flags + \"g\");"),
    (
        "tostream",
        0,
        "def tostream: path(def r: (.[]? | r), .; r) as $p | getpath($p) | reduce path(.[]?) as $q ([$p, .]; [$p + $q]);",
    ),
    (
        "fromstream",
        1,
        "def fromstream(f): {x: null, e: false} as $init | foreach f as $i ($init; if .e then $init else . end | if $i | length == 2 then setpath([\"e\"]; $i[0] | length == 0) | setpath([\"x\"] + $i[0]; $i[1]) else setpath([\"e\"]; $i[0] | length == 1) end; if .e then .x else empty end);",
    ),
    (
        "truncate_stream",
        1,
        "def truncate_stream(stream): . as $n | null | stream | . as $input | if (.[0] | length) > $n then setpath([0]; .[0][$n:]) else empty end;",
    ),
    ("pick", 1, "def pick(pathexps): . as $top | reduce path(pathexps) as $p (null; setpath($p; $top | getpath($p)));"),
    ("INDEX", 1, "def INDEX(f): INDEX(.[]; f);"),
    ("INDEX", 2, "def INDEX(stream; f): reduce stream as $row ({}; .[$row | f | tostring] |= $row);"),
    ("IN", 1, "def IN(s): any(s == .; .);"),
    ("IN", 2, "def IN(src; s): any(src == s; .);"),
    ("GROUP_BY", 1, "def GROUP_BY(f): group_by(f);"),
    ("abs", 0, "def abs: if type == \"number\" and . < 0 then -. else . end;"),
    ("toarray", 0, "def toarray: if type == \"array\" then . else [.] end;"),
    ("have_literal_numbers", 0, "def have_literal_numbers: true;"),
    ("have_decnum", 0, "def have_decnum: false;"),
];

/// A value in a message, cut to a few bytes.
pub fn shortened(value: &Json) -> String {
    let text = value.to_text();
    if text.len() <= 11 {
        return text;
    }
    let end = (0..=10).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{}...", &text[..end])
}

/// `number (5)`; null alone.
pub fn described(value: &Json) -> String {
    if matches!(value, Json::Null) { "null".into() } else { format!("{} ({})", value.kind(), shortened(value)) }
}

/// An error about a value of the wrong type.
pub fn type_error<T>(value: &Json, what: &str) -> Result<T, Stop> {
    fail(format!("{} ({}) {what}", value.kind(), shortened(value)))
}

/// The environment as an object.
pub fn environment() -> Json {
    let mut object = Object::new();
    for (name, value) in platform::environment() {
        object.insert(Rc::from(show(&name)), Json::string(show(&value)));
    }
    Json::object(object)
}

/// What `halt_error` prints.
pub fn print_halt(value: &Json) {
    match value {
        Json::String(text) => eprint!("{text}"),
        other => eprintln!("{}", other.to_text()),
    }
}

/// An operator.
pub fn operate(op: Op, a: &Json, b: &Json) -> Result<Json, Stop> {
    let both = |what: &str| {
        fail(format!("{} ({}) and {} ({}) cannot be {what}", a.kind(), shortened(a), b.kind(), shortened(b)))
    };
    Ok(match op {
        Op::Equal => Json::Bool(compare(a, b) == Ordering::Equal),
        Op::NotEqual => Json::Bool(compare(a, b) != Ordering::Equal),
        Op::Less => Json::Bool(compare(a, b) == Ordering::Less),
        Op::LessEqual => Json::Bool(compare(a, b) != Ordering::Greater),
        Op::Greater => Json::Bool(compare(a, b) == Ordering::Greater),
        Op::GreaterEqual => Json::Bool(compare(a, b) != Ordering::Less),
        Op::Alternative => {
            if a.is_true() {
                a.clone()
            } else {
                b.clone()
            }
        }
        Op::Add => match (a, b) {
            (Json::Null, other) | (other, Json::Null) => other.clone(),
            (Json::Number(a), Json::Number(b)) => Json::Number(a + b),
            (Json::String(a), Json::String(b)) => Json::string([&**a, &**b].concat()),
            (Json::Array(a), Json::Array(b)) => Json::array([a.as_slice(), b.as_slice()].concat()),
            (Json::Object(a), Json::Object(b)) => {
                let mut sum = (**a).clone();
                sum.extend(b.iter().map(|(key, value)| (key.clone(), value.clone())));
                Json::object(sum)
            }
            _ => return both("added"),
        },
        Op::Sub => match (a, b) {
            (Json::Number(a), Json::Number(b)) => Json::Number(a - b),
            (Json::Array(a), Json::Array(b)) => {
                Json::array(a.iter().filter(|item| !b.contains(item)).cloned().collect())
            }
            _ => return both("subtracted"),
        },
        Op::Mul => match (a, b) {
            (Json::Number(a), Json::Number(b)) => Json::Number(a * b),
            (Json::String(text), Json::Number(count)) | (Json::Number(count), Json::String(text)) => {
                if *count <= 0.0 || count.is_nan() {
                    return Ok(Json::Null);
                }
                let times = count.ceil().max(1.0) as usize;
                if text.len().saturating_mul(times) > MAX_STRING {
                    return fail("Repeat string result too long");
                }
                Json::string(text.repeat(times))
            }
            (Json::Object(a), Json::Object(b)) => Json::object(merge(a, b)),
            _ => return both("multiplied"),
        },
        Op::Div => match (a, b) {
            (Json::Number(_), Json::Number(0.0)) => return both("divided because the divisor is zero"),
            (Json::Number(a), Json::Number(b)) => Json::Number(a / b),
            (Json::String(a), Json::String(b)) => Json::array(strings::split(a, b)),
            _ => return both("divided"),
        },
        Op::Mod => match (a, b) {
            (Json::Number(x), Json::Number(y)) => {
                if x.is_nan() || y.is_nan() {
                    return Ok(Json::Number(f64::NAN));
                }
                let (x, y) = (*x as i64, (*y as i64).unsigned_abs());
                if y == 0 {
                    return both("divided because the divisor is zero");
                }
                let rest = (x.unsigned_abs() % y) as f64;
                Json::Number(if x < 0 { -rest } else { rest })
            }
            _ => return both("divided"),
        },
    })
}

/// Objects merged to the bottom.
fn merge(a: &Object, b: &Object) -> Object {
    let mut merged = a.clone();
    for (key, value) in b {
        let new = match (merged.get(key), value) {
            (Some(Json::Object(old)), Json::Object(new)) => Json::object(merge(old, new)),
            _ => value.clone(),
        };
        merged.insert(key.clone(), new);
    }
    merged
}

/// `@name` of a value.
pub fn format(name: &str, input: &Json) -> Result<String, Stop> {
    strings::format(name, input)
}

/// `to_entries`
pub fn to_entries(input: &Json) -> Result<Json, Stop> {
    let Json::Object(object) = input else { return fail(format!("{} has no keys", described(input))) };
    let entry = |(key, value): (&Rc<str>, &Json)| {
        let mut entry = Object::new();
        entry.insert("key".into(), Json::String(key.clone()));
        entry.insert("value".into(), value.clone());
        Json::object(entry)
    };
    Ok(Json::array(object.iter().map(entry).collect()))
}

/// `from_entries`, with all spellings of key and value.
pub fn from_entries(input: &Json) -> Result<Json, Stop> {
    let items: Vec<&Json> = match input {
        Json::Array(items) => items.iter().collect(),
        Json::Object(object) => object.values().collect(),
        other => return fail(format!("Cannot iterate over {}", described(other))),
    };
    let mut object = Object::new();
    for item in items {
        let Json::Object(entry) = item else {
            return fail(format!("Cannot index {} with \"key\"", item.kind()));
        };
        let find = |names: &[&str]| -> Option<&Json> { names.iter().find_map(|name| entry.get(*name)) };
        let key = ["key", "k", "name", "Name", "Key", "K"]
            .iter()
            .filter_map(|name| entry.get(*name))
            .find(|key| !matches!(key, Json::Null | Json::Bool(false)))
            .or_else(|| find(&["key", "k", "name", "Name", "Key", "K"]));
        let key: Rc<str> = match key {
            Some(Json::String(key)) => key.clone(),
            Some(Json::Null) | None => Rc::from("null"),
            Some(other @ (Json::Number(_) | Json::Bool(_))) => Rc::from(other.to_text()),
            Some(other) => return fail(format!("Cannot use {} as object key", described(other))),
        };
        let value = find(&["value", "v", "Value", "V"]).cloned().unwrap_or_default();
        object.insert(key, value);
    }
    Ok(Json::object(object))
}

/// `sort_by` and its relatives over items with their keys.
pub fn by_key(name: &str, mut keyed: Vec<(Json, Json)>) -> Json {
    match name {
        "min_by" => {
            let least =
                keyed.into_iter().reduce(|best, next| if compare(&next.0, &best.0).is_lt() { next } else { best });
            return least.map_or(Json::Null, |found| found.1);
        }
        "max_by" => {
            let most =
                keyed.into_iter().reduce(|best, next| if compare(&next.0, &best.0).is_ge() { next } else { best });
            return most.map_or(Json::Null, |found| found.1);
        }
        _ => keyed.sort_by(|a, b| compare(&a.0, &b.0)),
    }
    if name == "sort_by" {
        return Json::array(keyed.into_iter().map(|(_, item)| item).collect());
    }
    let groups = keyed.chunk_by(|a, b| compare(&a.0, &b.0).is_eq());
    if name == "unique_by" {
        return Json::array(groups.map(|group| group[0].1.clone()).collect());
    }
    Json::array(groups.map(|group| Json::array(group.iter().map(|(_, item)| item.clone()).collect())).collect())
}

fn self_keyed(input: &Json) -> Result<Vec<(Json, Json)>, Stop> {
    match input {
        Json::Array(items) => Ok(items.iter().map(|item| (item.clone(), item.clone())).collect()),
        other => type_error(other, "cannot be sorted, as it is not an array"),
    }
}

fn number(value: &Json) -> Result<f64, Stop> {
    match value {
        Json::Number(number) => Ok(*number),
        other => type_error(other, "number required"),
    }
}

fn array(value: &Json) -> Result<&Vec<Json>, Stop> {
    match value {
        Json::Array(items) => Ok(items),
        other => fail(format!("Cannot iterate over {}", described(other))),
    }
}

/// Whether one value holds another: parts of strings, items of arrays, members of objects.
fn contains(a: &Json, b: &Json) -> Result<bool, Stop> {
    match (a, b) {
        (Json::Object(a), Json::Object(b)) => {
            for (key, wanted) in b.iter() {
                match a.get(key) {
                    Some(value) if contains(value, wanted)? => {}
                    _ => return Ok(false),
                }
            }
            Ok(true)
        }
        (Json::Array(a), Json::Array(b)) => {
            for wanted in b.iter() {
                let mut found = false;
                for value in a.iter() {
                    found |= value.kind() == wanted.kind() && contains(value, wanted)?;
                }
                if !found {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Json::String(a), Json::String(b)) => Ok(a.contains(&**b)),
        (a, b) if a.kind() == b.kind() => Ok(a == b),
        _ => fail(format!(
            "{} ({}) and {} ({}) cannot have their containment checked",
            a.kind(),
            shortened(a),
            b.kind(),
            shortened(b)
        )),
    }
}

fn flatten(items: &[Json], depth: f64, out: &mut Vec<Json>) {
    for item in items {
        match item {
            Json::Array(inner) if depth > 0.0 => flatten(inner, depth - 1.0, out),
            other => out.push(other.clone()),
        }
    }
}

/// Calls a function of values.
pub fn call(name: &str, input: &Json, arguments: &[Json], out: &mut dyn FnMut(Json) -> Flow) -> Flow {
    let value = match (name, arguments) {
        ("length", []) => Json::Number(match input {
            Json::Null => 0.0,
            Json::Bool(_) => return type_error(input, "has no length"),
            Json::Number(number) => number.abs(),
            Json::String(text) => text.chars().count() as f64,
            Json::Array(items) => items.len() as f64,
            Json::Object(object) => object.len() as f64,
        }),
        ("utf8bytelength", []) => match input {
            Json::String(text) => Json::Number(text.len() as f64),
            other => return type_error(other, "only strings have UTF-8 byte length"),
        },
        ("keys" | "keys_unsorted", []) => match input {
            Json::Object(object) => {
                let keys = if name == "keys" { sorted_keys(object) } else { object.keys().cloned().collect() };
                Json::array(keys.into_iter().map(Json::String).collect())
            }
            Json::Array(items) => Json::array((0..items.len()).map(|index| Json::Number(index as f64)).collect()),
            other => return type_error(other, "has no keys"),
        },
        ("has", [key]) => match (input, key) {
            (Json::Object(object), Json::String(key)) => Json::Bool(object.contains_key(key)),
            (Json::Array(items), Json::Number(index)) => Json::Bool(*index >= 0.0 && *index < items.len() as f64),
            _ => return fail(format!("Cannot check whether {} has a {} key", input.kind(), key.kind())),
        },
        ("contains", [wanted]) => Json::Bool(contains(input, wanted)?),
        ("add", []) => {
            let mut sum = Json::Null;
            match input {
                Json::Array(items) => {
                    if items.len() > 2 && items.iter().all(|item| matches!(item, Json::String(_))) {
                        // In one go: one by one would take quadratic time.
                        let parts: Vec<&str> = items
                            .iter()
                            .filter_map(|item| if let Json::String(text) = item { Some(&**text) } else { None })
                            .collect();
                        return out(Json::string(parts.concat()));
                    }
                    if items.iter().all(|item| matches!(item, Json::Array(_))) && !items.is_empty() {
                        let parts = items
                            .iter()
                            .filter_map(|item| if let Json::Array(part) = item { Some(part.iter()) } else { None });
                        return out(Json::array(parts.flatten().cloned().collect()));
                    }
                    for item in items.iter() {
                        sum = operate(Op::Add, &sum, item)?;
                    }
                }
                Json::Object(object) => {
                    for item in object.values() {
                        sum = operate(Op::Add, &sum, item)?;
                    }
                }
                other => return fail(format!("Cannot iterate over {}", described(other))),
            }
            sum
        }
        ("type", []) => Json::string(input.kind()),
        ("tostring", []) => Json::string(format("@text", input)?),
        ("tojson", []) => Json::string(input.to_text()),
        ("fromjson", []) => match input {
            Json::String(text) => match value::parse(text.as_bytes()) {
                Ok(value) => value,
                Err(message) => return fail(format!("{message} (while parsing '{text}')")),
            },
            other => return type_error(other, "only strings can be parsed"),
        },
        ("tonumber", []) => match input {
            Json::Number(_) => input.clone(),
            Json::String(text) => match value::parse_number(text.trim()) {
                Some(number) => Json::Number(number),
                None => return fail(format!("Cannot parse '{text}' as number")),
            },
            other => return type_error(other, "cannot be parsed as a number"),
        },
        ("toboolean", []) => match input {
            Json::Bool(_) => input.clone(),
            Json::String(text) if &**text == "true" => Json::Bool(true),
            Json::String(text) if &**text == "false" => Json::Bool(false),
            other => return type_error(other, "cannot be parsed as a boolean"),
        },
        ("sort", []) => by_key("sort_by", self_keyed(input)?),
        ("unique", []) => by_key("unique_by", self_keyed(input)?),
        ("min", []) => by_key("min_by", self_keyed(input)?),
        ("max", []) => by_key("max_by", self_keyed(input)?),
        ("reverse", []) => match input {
            Json::Null => Json::array(Vec::new()),
            Json::String(text) => Json::string(text.chars().rev().collect::<String>()),
            Json::Array(items) => Json::array(items.iter().rev().cloned().collect()),
            other => return type_error(other, "cannot be reversed, as it is not an array"),
        },
        ("flatten", depth @ ([] | [_])) => {
            let depth = match depth.first() {
                Some(depth) => number(depth)?,
                None => f64::INFINITY,
            };
            if depth < 0.0 {
                return fail("flatten depth must not be negative");
            }
            let mut items = Vec::new();
            match input {
                Json::Object(object) => flatten(&object.values().cloned().collect::<Vec<_>>(), depth, &mut items),
                other => flatten(array(other)?, depth, &mut items),
            }
            Json::array(items)
        }
        ("transpose", []) => {
            let rows = array(input)?;
            let width = rows.iter().map(|row| array(row).map_or(0, Vec::len)).max().unwrap_or(0);
            let column = |index: usize| {
                let cell = |row: &Json| array(row).ok().and_then(|row| row.get(index)).cloned().unwrap_or_default();
                Json::array(rows.iter().map(cell).collect())
            };
            Json::array((0..width).map(column).collect())
        }
        ("first", []) => paths::index(input, &Json::Number(0.0))?,
        ("last", []) => paths::index(input, &Json::Number(-1.0))?,
        ("nth", [index]) => paths::index(input, index)?,
        ("from_entries", []) => from_entries(input)?,
        ("setpath", [path, new]) => match path {
            Json::Array(path) => paths::set(input.clone(), path, new.clone())?,
            _ => return fail("Path must be specified as an array"),
        },
        ("delpaths", [list]) => {
            let Json::Array(list) = list else { return fail("Paths must be specified as an array") };
            let mut places = Vec::new();
            for place in list.iter() {
                match place {
                    Json::Array(place) => places.push((**place).clone()),
                    _ => return fail("Path must be specified as an array"),
                }
            }
            paths::delete(input.clone(), places)?
        }
        ("indices", [wanted]) => strings::indices(input, wanted)?,
        ("index" | "rindex", [wanted]) => match strings::indices(input, wanted)? {
            Json::Array(places) => {
                let place = if name == "index" { places.first() } else { places.last() };
                place.cloned().unwrap_or_default()
            }
            other => other,
        },
        ("bsearch", [wanted]) => match array(input)?.binary_search_by(|item| compare(item, wanted)) {
            Ok(index) => Json::Number(index as f64),
            Err(index) => Json::Number(-1.0 - index as f64),
        },
        ("infinite", []) => Json::Number(f64::INFINITY),
        ("nan", []) => Json::Number(f64::NAN),
        ("isinfinite", []) => Json::Bool(number(input)?.is_infinite()),
        ("isnan", []) => Json::Bool(number(input)?.is_nan()),
        ("isnormal", []) => Json::Bool(number(input)?.is_normal()),
        ("builtins", []) => {
            let mut names: Vec<Json> =
                PRELUDE.iter().map(|(name, arity, _)| Json::string(format!("{name}/{arity}"))).collect();
            names.dedup();
            Json::array(names)
        }
        ("now", []) => {
            let now = std::time::SystemTime::now()
                .duration_since(std::time::UNIX_EPOCH)
                .map_or(0.0, |time| time.as_secs_f64());
            Json::Number(now)
        }
        _ => {
            if let Some(result) = strings::call(name, input, arguments, out) {
                return result;
            }
            if let Some(result) = dates::call(name, input, arguments) {
                return out(result?);
            }
            math(name, input, arguments)?
        }
    };
    out(value)
}

fn math(name: &str, input: &Json, arguments: &[Json]) -> Result<Json, Stop> {
    let mut numbers = Vec::new();
    for argument in arguments {
        numbers.push(number(argument)?);
    }
    let result = match (name, numbers.as_slice()) {
        ("pow", [a, b]) => a.powf(*b),
        ("log2", []) => number(input)?.log2(),
        ("atan2", [a, b]) => a.atan2(*b),
        ("fmin", [a, b]) => a.min(*b),
        ("fmax", [a, b]) => a.max(*b),
        ("fmod", [a, b]) => a % b,
        ("fma", [a, b, c]) => a.mul_add(*b, *c),
        ("ldexp" | "scalb" | "scalbln", [a, b]) => a * 2f64.powf(*b),
        ("copysign", [a, b]) => a.copysign(*b),
        ("hypot", [a, b]) => a.hypot(*b),
        (_, []) => {
            let function: fn(f64) -> f64 = match name {
                "floor" => f64::floor,
                "ceil" => f64::ceil,
                "round" => f64::round,
                "trunc" => f64::trunc,
                "nearbyint" | "rint" => f64::round_ties_even,
                "sqrt" => f64::sqrt,
                "cbrt" => f64::cbrt,
                "fabs" => f64::abs,
                "exp" => f64::exp,
                "exp2" => f64::exp2,
                "exp10" => |x| 10f64.powf(x),
                "log" => f64::ln,
                "log10" => f64::log10,
                "log1p" => f64::ln_1p,
                "expm1" => f64::exp_m1,
                "sin" => f64::sin,
                "cos" => f64::cos,
                "tan" => f64::tan,
                "asin" => f64::asin,
                "acos" => f64::acos,
                "atan" => f64::atan,
                "sinh" => f64::sinh,
                "cosh" => f64::cosh,
                "tanh" => f64::tanh,
                "significand" => |x| if x == 0.0 { 0.0 } else { x / 2f64.powf(x.abs().log2().floor()) },
                "logb" => |x| x.abs().log2().floor(),
                _ => return fail(format!("{name}/0 is not defined")),
            };
            function(number(input)?)
        }
        _ => return fail(format!("{name}/{} is not defined", arguments.len())),
    };
    Ok(Json::Number(result))
}

/// The functions that `call` and the interpreter know, by name and number of parameters; for the check of names.
pub fn is_known(name: &str, arity: usize) -> bool {
    const NAMES: &[(&str, &[usize])] = &[
        ("empty", &[0]),
        ("not", &[0]),
        ("select", &[1]),
        ("recurse", &[0, 1, 2]),
        ("map", &[1]),
        ("path", &[1]),
        ("getpath", &[1]),
        ("del", &[1]),
        ("to_entries", &[0]),
        ("with_entries", &[1]),
        ("from_entries", &[0]),
        ("first", &[0, 1]),
        ("last", &[0]),
        ("nth", &[1]),
        ("limit", &[2]),
        ("skip", &[2]),
        ("until", &[2]),
        ("while", &[2]),
        ("repeat", &[1]),
        ("range", &[1, 2, 3]),
        ("error", &[0, 1]),
        ("env", &[0]),
        ("input", &[0]),
        ("inputs", &[0]),
        ("input_filename", &[0]),
        ("input_line_number", &[0]),
        ("debug", &[0, 1]),
        ("stderr", &[0]),
        ("halt", &[0]),
        ("halt_error", &[0, 1]),
        ("add", &[0, 1]),
        ("sort_by", &[1]),
        ("group_by", &[1]),
        ("unique_by", &[1]),
        ("min_by", &[1]),
        ("max_by", &[1]),
        ("any", &[0, 1, 2]),
        ("all", &[0, 1, 2]),
        ("isempty", &[1]),
        ("length", &[0]),
        ("utf8bytelength", &[0]),
        ("keys", &[0]),
        ("keys_unsorted", &[0]),
        ("has", &[1]),
        ("contains", &[1]),
        ("type", &[0]),
        ("tostring", &[0]),
        ("tojson", &[0]),
        ("fromjson", &[0]),
        ("tonumber", &[0]),
        ("toboolean", &[0]),
        ("sort", &[0]),
        ("unique", &[0]),
        ("min", &[0]),
        ("max", &[0]),
        ("reverse", &[0]),
        ("flatten", &[0, 1]),
        ("transpose", &[0]),
        ("setpath", &[2]),
        ("delpaths", &[1]),
        ("indices", &[1]),
        ("index", &[1]),
        ("rindex", &[1]),
        ("bsearch", &[1]),
        ("infinite", &[0]),
        ("nan", &[0]),
        ("isinfinite", &[0]),
        ("isnan", &[0]),
        ("isnormal", &[0]),
        ("builtins", &[0]),
        ("now", &[0]),
        ("pow", &[2]),
        ("log2", &[0]),
        ("atan2", &[2]),
        ("fmin", &[2]),
        ("fmax", &[2]),
        ("fmod", &[2]),
        ("fma", &[3]),
        ("ldexp", &[2]),
        ("scalb", &[2]),
        ("scalbln", &[2]),
        ("copysign", &[2]),
        ("hypot", &[2]),
        ("floor", &[0]),
        ("ceil", &[0]),
        ("round", &[0]),
        ("trunc", &[0]),
        ("nearbyint", &[0]),
        ("rint", &[0]),
        ("sqrt", &[0]),
        ("cbrt", &[0]),
        ("fabs", &[0]),
        ("exp", &[0]),
        ("exp2", &[0]),
        ("exp10", &[0]),
        ("log", &[0]),
        ("log10", &[0]),
        ("log1p", &[0]),
        ("expm1", &[0]),
        ("sin", &[0]),
        ("cos", &[0]),
        ("tan", &[0]),
        ("asin", &[0]),
        ("acos", &[0]),
        ("atan", &[0]),
        ("sinh", &[0]),
        ("cosh", &[0]),
        ("tanh", &[0]),
        ("significand", &[0]),
        ("logb", &[0]),
        ("explode", &[0]),
        ("implode", &[0]),
        ("split", &[1]),
        ("join", &[1]),
        ("startswith", &[1]),
        ("endswith", &[1]),
        ("ltrimstr", &[1]),
        ("rtrimstr", &[1]),
        ("trimstr", &[1]),
        ("trim", &[0]),
        ("ltrim", &[0]),
        ("rtrim", &[0]),
        ("ascii_downcase", &[0]),
        ("ascii_upcase", &[0]),
        ("test", &[2]),
        ("match", &[2]),
        ("mktime", &[0]),
        ("gmtime", &[0]),
        ("localtime", &[0]),
        ("strftime", &[1]),
        ("strflocaltime", &[1]),
        ("strptime", &[1]),
        ("ascii", &[0]),
        ("tojson", &[0]),
    ];
    NAMES.iter().any(|(known, arities)| *known == name && arities.contains(&arity))
}
