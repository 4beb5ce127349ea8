//! Parts of values: reading, replacing and deleting them.

use std::cmp::Ordering;
use std::rc::Rc;

use super::builtins::shortened;
use super::eval::{Stop, fail};
use super::value::{Json, Object, compare};

/// The largest index an array is extended to.
const MAX_INDEX: f64 = 536_870_911.0;

/// The bounds of a slice within a length.
fn bounds(key: &Object, length: usize) -> Result<(usize, usize), Stop> {
    let bound = |name: &str, default: f64| match key.get(name) {
        None | Some(Json::Null) => Ok(default),
        Some(&Json::Number(number)) => Ok(if number < 0.0 { number + length as f64 } else { number }),
        Some(_) => fail("Start and end indices of an array slice must be numbers"),
    };
    let from = bound("start", 0.0)?.floor().clamp(0.0, length as f64) as usize;
    let to = bound("end", length as f64)?.ceil().clamp(0.0, length as f64) as usize;
    Ok((from, to.max(from)))
}

/// `value[key]`
pub fn index(value: &Json, key: &Json) -> Result<Json, Stop> {
    match (value, key) {
        (Json::Object(object), Json::String(key)) => Ok(object.get(key).cloned().unwrap_or_default()),
        (Json::Array(items), Json::Number(number)) => {
            if number.is_nan() {
                return Ok(Json::Null);
            }
            let at = number.floor();
            let at = if at < 0.0 { at + items.len() as f64 } else { at };
            Ok(if at >= 0.0 { items.get(at as usize).cloned().unwrap_or_default() } else { Json::Null })
        }
        (Json::Array(items), Json::Object(key)) => {
            let (from, to) = bounds(key, items.len())?;
            Ok(Json::array(items[from..to].to_vec()))
        }
        (Json::String(text), Json::Object(key)) => {
            let (from, to) = bounds(key, text.chars().count())?;
            Ok(Json::string(text.chars().skip(from).take(to - from).collect::<String>()))
        }
        (Json::Array(items), Json::Array(wanted)) => Ok(Json::array(occurrences(items, wanted))),
        (Json::Null, Json::String(_) | Json::Number(_) | Json::Object(_) | Json::Null) => Ok(Json::Null),
        (Json::Object(_), other) => fail(format!("Cannot index object with {}", other.kind())),
        (Json::Array(_), Json::String(key)) => fail(format!("Cannot index array with string \"{key}\"")),
        (value, Json::String(key)) => fail(format!("Cannot index {} with \"{key}\"", value.kind())),
        (value, other) => fail(format!("Cannot index {} with {}", value.kind(), other.kind())),
    }
}

/// Where one array occurs in another.
pub fn occurrences(items: &[Json], wanted: &[Json]) -> Vec<Json> {
    if wanted.is_empty() {
        return Vec::new();
    }
    let places = items.windows(wanted.len()).enumerate().filter(|(_, window)| *window == wanted);
    places.map(|(place, _)| Json::Number(place as f64)).collect()
}

/// The part at a path; null where there is none.
pub fn get(value: &Json, path: &[Json]) -> Result<Json, Stop> {
    path.iter().try_fold(value.clone(), |value, key| index(&value, key))
}

/// The value with another one at a path.
pub fn set(value: Json, path: &[Json], new: Json) -> Result<Json, Stop> {
    let Some((key, rest)) = path.split_first() else { return Ok(new) };
    match (value, key) {
        (value @ (Json::Object(_) | Json::Null), Json::String(key)) => {
            let mut object = match value {
                Json::Object(object) => object,
                _ => Rc::new(Object::new()),
            };
            let members = Rc::make_mut(&mut object);
            // Taken out, so that a part nobody else has is changed in its place.
            let old = members.get_mut(key).map(std::mem::take).unwrap_or_default();
            let part = set(old, rest, new)?;
            members.insert(key.clone(), part);
            Ok(Json::Object(object))
        }
        (value @ (Json::Array(_) | Json::Null), Json::Number(number)) => {
            let mut items = match value {
                Json::Array(items) => items,
                _ => Rc::new(Vec::new()),
            };
            let list = Rc::make_mut(&mut items);
            let at = if *number < 0.0 { number.floor() + list.len() as f64 } else { number.floor() };
            if at < 0.0 {
                return fail("Out of bounds negative array index");
            }
            if at > MAX_INDEX || at.is_nan() {
                return fail("Array index too large");
            }
            let at = at as usize;
            if at >= list.len() {
                list.resize(at + 1, Json::Null);
            }
            let old = std::mem::take(&mut list[at]);
            list[at] = set(old, rest, new)?;
            Ok(Json::Array(items))
        }
        (value @ (Json::Array(_) | Json::Null), Json::Object(slice)) => {
            let mut items = match value {
                Json::Array(items) => items,
                _ => Rc::new(Vec::new()),
            };
            let (from, to) = bounds(slice, items.len())?;
            let part = set(Json::array(items[from..to].to_vec()), rest, new)?;
            let Json::Array(part) = part else { return fail("A slice of an array can only be assigned another array") };
            Rc::make_mut(&mut items).splice(from..to, part.iter().cloned());
            Ok(Json::Array(items))
        }
        (Json::Object(_), other) => fail(format!("Cannot index object with {}", other.kind())),
        (Json::Array(_), Json::String(key)) => fail(format!("Cannot index array with string \"{key}\"")),
        (value, Json::String(key)) => fail(format!("Cannot index {} with \"{key}\"", value.kind())),
        (value, other) => fail(format!("Cannot index {} with {}", value.kind(), other.kind())),
    }
}

/// The value without the parts at these paths.
pub fn delete(value: Json, mut paths: Vec<Vec<Json>>) -> Result<Json, Stop> {
    // The last first, so that places before stay right.
    paths.sort_by(|a, b| {
        let order = a.iter().zip(b).map(|(a, b)| compare(a, b)).find(|order| order.is_ne());
        order.unwrap_or_else(|| a.len().cmp(&b.len()))
    });
    paths.dedup_by(|a, b| a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| compare(a, b) == Ordering::Equal));
    paths.iter().rev().try_fold(value, |value, path| delete_one(value, path))
}

fn delete_one(value: Json, path: &[Json]) -> Result<Json, Stop> {
    let Some((key, rest)) = path.split_first() else { return Ok(Json::Null) };
    if matches!(value, Json::Null) {
        return Ok(Json::Null);
    }
    if !rest.is_empty() {
        let part = index(&value, key)?;
        if matches!(part, Json::Null) {
            return Ok(value);
        }
        let part = delete_one(part, rest)?;
        return set(value, std::slice::from_ref(key), part);
    }
    match (value, key) {
        (Json::Object(mut object), Json::String(key)) => {
            Rc::make_mut(&mut object).shift_remove(key);
            Ok(Json::Object(object))
        }
        (Json::Array(mut items), Json::Number(number)) => {
            let at = if *number < 0.0 { number.floor() + items.len() as f64 } else { number.floor() };
            if at >= 0.0 && (at as usize) < items.len() {
                Rc::make_mut(&mut items).remove(at as usize);
            }
            Ok(Json::Array(items))
        }
        (Json::Array(mut items), Json::Object(slice)) => {
            let (from, to) = bounds(slice, items.len())?;
            Rc::make_mut(&mut items).drain(from..to);
            Ok(Json::Array(items))
        }
        (Json::Object(_), other) => fail(format!("Cannot delete field at object index of {}", other.kind())),
        (Json::Array(_), other) => fail(format!("Cannot delete field at array index of {}", other.kind())),
        (value, _) => fail(format!("Cannot delete fields from {} ({})", value.kind(), shortened(&value))),
    }
}
