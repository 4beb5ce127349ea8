//! Reading a call's JSON.

use serde::de::{DeserializeOwned, Deserializer};
use serde::{Deserialize, de};
use serde_json::{Map, Value};

use super::error::ToolError;

/// The most characters of a value that a message shows.
const SHOWN_MAX: usize = 80;

/// Other names of fields, with the name that is documented. A field below another one has a path with dots; `[]` stands
/// for the items of a list.
const ALIASES: &[(&str, &str)] = &[
    ("skill_name", "skill"),
    ("timeout_sec", "timeout"),
    ("timeoutSec", "timeout"),
    ("timeout_seconds", "timeout"),
    ("session", "session_id"),
    ("sessionId", "session_id"),
    ("yield_ms", "yield_time_ms"),
    ("yieldMs", "yield_time_ms"),
    ("yield", "yield_time_ms"),
    ("pty", "tty"),
    ("append_newline", "submit"),
    ("inputs[].src", "from"),
    ("inputs[].dst", "to"),
    ("outputs.Globs", "globs"),
    ("outputs.Inline", "inline"),
    ("outputs.Save", "save"),
    ("outputs.NameTemplate", "name_template"),
    ("outputs.nameTemplate", "name_template"),
    ("outputs.MaxFiles", "max_files"),
    ("outputs.maxFiles", "max_files"),
    ("outputs.MaxFileBytes", "max_file_bytes"),
    ("outputs.maxFileBytes", "max_file_bytes"),
    ("outputs.MaxTotalBytes", "max_total_bytes"),
    ("outputs.maxTotalBytes", "max_total_bytes"),
];

/// Reads the arguments of a tool. `null` and nothing are no arguments, and a text is JSON.
pub fn read<T: DeserializeOwned>(tool: &'static str, arguments: Value) -> Result<T, ToolError> {
    let mut arguments = match arguments {
        Value::Null => Value::Object(Map::new()),
        Value::String(text) if text.trim().is_empty() => Value::Object(Map::new()),
        Value::String(text) => serde_json::from_str(&text)
            .map_err(|error| ToolError::argument(tool, "arguments", format!("they are no JSON: {error}")))?,
        other => other,
    };
    if !arguments.is_object() {
        let reason = format!("they must be a JSON object, and are {}", shown(&arguments));
        return Err(ToolError::argument(tool, "arguments", reason));
    }
    rename(&mut arguments);
    serde_path_to_error::deserialize(&arguments).map_err(|error| {
        let path = error.path().to_string();
        let field = if path == "." { "arguments".to_owned() } else { path.clone() };
        let given = find(&arguments, &path).filter(|_| path != ".").map(shown);
        let reason = match given {
            Some(given) => format!("{}; given was {given}", error.inner()),
            None => error.inner().to_string(),
        };
        ToolError::argument(tool, field, reason)
    })
}

/// Gives fields their documented names. When a call has both, the documented one counts.
fn rename(arguments: &mut Value) {
    for (alias, name) in ALIASES {
        match alias.split_once('.') {
            None => rename_in(arguments, alias, name),
            Some((parent, alias)) => match parent.strip_suffix("[]") {
                Some(list) => {
                    let items = arguments.get_mut(list).and_then(Value::as_array_mut);
                    items.into_iter().flatten().for_each(|item| rename_in(item, alias, name));
                }
                None => {
                    if let Some(object) = arguments.get_mut(parent) {
                        rename_in(object, alias, name);
                    }
                }
            },
        }
    }
}

fn rename_in(object: &mut Value, alias: &str, name: &str) {
    let Some(object) = object.as_object_mut() else { return };
    if let Some(value) = object.remove(alias) {
        object.entry(name).or_insert(value);
    }
}

/// The value at a path as serde_path_to_error writes it: `inputs[0].from`.
fn find<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split(['.', '[']).try_fold(value, |value, part| match part.strip_suffix(']') {
        Some(index) => value.get(index.parse::<usize>().ok()?),
        None => value.get(part),
    })
}

fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// A list of texts; one text is a list of one, and nothing an empty one.
pub fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(Vec::new()),
        Value::String(text) if text.trim().is_empty() => Ok(Vec::new()),
        Value::String(text) => Ok(vec![text]),
        list => Vec::deserialize(list).map_err(|_| de::Error::custom("must be a list of texts")),
    }
}

/// A number, also as text.
pub fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let number = match Value::deserialize(deserializer)? {
        Value::Null => return Ok(None),
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    match number.filter(|number: &f64| number.is_finite()) {
        Some(number) => Ok(Some(number)),
        None => Err(de::Error::custom("must be a number")),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::super::RunSkill;
    use super::*;

    #[test]
    fn other_names_of_fields_are_taken() {
        let arguments = json!({
            "skill_name": "a", "command": "true", "timeout_sec": "5",
            "inputs": [{"src": "workspace://x", "dst": "work/x"}],
            "outputs": {"Globs": ["out/*"], "MaxFiles": 3, "max_files": 2},
        });
        let call: RunSkill = read("skill_run", arguments).unwrap();
        assert_eq!((call.skill.as_str(), call.timeout), ("a", Some(5.0)));
        assert_eq!(call.inputs[0].from, "workspace://x");
        let outputs = call.outputs.unwrap();
        assert_eq!((outputs.globs, outputs.max_files), (vec!["out/*".to_owned()], Some(2)));
    }

    #[test]
    fn a_wrong_call_names_field_and_value() {
        for (arguments, expected) in [
            (json!({"command": "true"}), "skill_run: arguments: missing field `skill`"),
            (json!([1]), "skill_run: arguments: they must be a JSON object, and are [1]"),
            (json!("{"), "skill_run: arguments: they are no JSON: EOF while parsing an object at line 1 column 1"),
            (
                json!({"skill": "a", "command": "b", "timeout": "soon"}),
                "skill_run: timeout: must be a number; given was \"soon\"",
            ),
            (
                json!({"skill": "a", "command": "b", "inputs": [{"from": 3}]}),
                "skill_run: inputs[0].from: invalid type: integer `3`, expected a string; given was 3",
            ),
            (
                json!({"skill": "a", "command": "b", "inputs": [{"from": "x", "mode": "move"}]}),
                "skill_run: inputs[0].mode: unknown variant `move`, expected `copy` or `link`; given was \"move\"",
            ),
        ] {
            let error = read::<RunSkill>("skill_run", arguments).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
        let error = read::<RunSkill>("skill_run", json!({"skill": "a", "command": "b", "comand": ""})).unwrap_err();
        assert!(error.to_string().starts_with("skill_run: comand: unknown field `comand`, expected one of"), "{error}");
    }
}
