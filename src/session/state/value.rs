//! Reading values that some other program may have written.

use std::fmt;

use serde_json::Value;

use super::selection::Selection;

/// A value in a state that is none this crate or another client writes. It counts as absent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateWarning {
    /// The key.
    pub key: String,
    /// What was expected there.
    pub expected: &'static str,
}

impl fmt::Display for StateWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the state's value of `{}` is ignored: expected {}", self.key.escape_debug(), self.expected)
    }
}

pub const FLAG: &str = "\"1\" or true";
pub const SELECTION: &str = "\"*\" or an array of strings";
pub const NAMES: &str = "an array of strings";

/// Whether something is set; nothing for a value that says neither.
pub fn flag(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(set) => Some(*set),
        Value::Number(number) => match number.as_u64() {
            Some(0) => Some(false),
            Some(1) => Some(true),
            _ => None,
        },
        Value::String(text) => match text.as_str() {
            "1" | "true" | "True" => Some(true),
            "" | "0" | "false" | "False" => Some(false),
            _ => None,
        },
        Value::Null => Some(false),
        Value::Array(_) | Value::Object(_) => None,
    }
}

/// A selection: `"*"`, an array, or a string that holds an array.
pub fn selection(value: &Value) -> Option<Selection> {
    match value {
        Value::String(text) if text == "*" => Some(Selection::All),
        _ => names(value).map(Selection::of),
    }
}

/// Names: an array of strings, or a string that holds one.
pub fn names(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::Null => Some(Vec::new()),
        Value::String(text) if text.is_empty() => Some(Vec::new()),
        Value::String(text) => serde_json::from_str(text).ok(),
        Value::Array(items) => items.iter().map(|item| item.as_str().map(str::to_owned)).collect(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn flags_of_both_seeds() {
        for value in [json!("1"), json!(true), json!("True"), json!(1)] {
            assert_eq!(flag(&value), Some(true), "{value}");
        }
        for value in [json!(null), json!(false), json!(""), json!("0"), json!(0)] {
            assert_eq!(flag(&value), Some(false), "{value}");
        }
        for value in [json!("yes"), json!(2), json!(-1), json!(1.5), json!([]), json!({"1": 1})] {
            assert_eq!(flag(&value), None, "{value}");
        }
    }

    #[test]
    fn selections_of_both_seeds() {
        let ab = Selection::of(["a", "b"]);
        for (value, expected) in [
            (json!("*"), Some(Selection::All)),
            (json!(["a", "b", "a"]), Some(ab.clone())),
            (json!("[\"a\", \"b\"]"), Some(ab)),
            (json!([]), Some(Selection::None)),
            (json!("[]"), Some(Selection::None)),
            (json!(""), Some(Selection::None)),
            (json!("a"), None),
            (json!("**"), None),
            (json!([1]), None),
            (json!("[1]"), None),
            (json!("{}"), None),
            (json!(true), None),
            (json!({"a": "b"}), None),
        ] {
            assert_eq!(selection(&value), expected, "{value}");
        }
    }
}
