//! A text that must not be shown.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

/// What stands where a secret was.
const REDACTED: &str = "[redacted]";

/// Shorter texts are placeholders that servers without keys are given (`none`, `ollama`), and common words: taking them
/// out of everything would spoil it.
const MIN_REDACTED: usize = 8;

/// A key or another text that neither `Debug` nor `Display` shows.
///
/// ```
/// use wskill::agent::Secret;
///
/// let key = Secret::new("sk-0123456789");
/// assert_eq!(format!("{key} {key:?}"), "[redacted] Secret([redacted])");
/// assert_eq!(key.redact("the key sk-0123456789 is wrong"), "the key [redacted] is wrong");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keeps `text` as a secret.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, for the one who needs it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// `text` with `[redacted]` wherever it has the secret. Secrets of less than 8 bytes are placeholders and stay.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.0.len() >= MIN_REDACTED && text.contains(&self.0) {
            Cow::Owned(text.replace(&self.0, REDACTED))
        } else {
            Cow::Borrowed(text)
        }
    }

    /// Redacts every text in a JSON value, names of fields too.
    pub(super) fn redact_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(clean) = self.redact(text) {
                    *text = clean;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_value(item)),
            Value::Object(fields) => {
                for (name, mut value) in std::mem::take(fields) {
                    self.redact_value(&mut value);
                    fields.insert(self.redact(&name).into_owned(), value);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Secret({REDACTED})")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(REDACTED)
    }
}

/// Redacts a text that comes in pieces: what may be the beginning of the secret is held back until it is known.
#[derive(Debug)]
pub(super) struct Redactor {
    secret: Secret,
    held: String,
}

impl Redactor {
    pub(super) fn new(secret: Secret) -> Self {
        Self { secret, held: String::new() }
    }

    /// Takes a piece and gives what can be shown.
    pub(super) fn push(&mut self, piece: &str) -> String {
        self.held.push_str(piece);
        let mut clean = self.secret.redact(&self.held).into_owned();
        let secret = self.secret.expose();
        if secret.len() >= MIN_REDACTED {
            let possible = (1..secret.len().min(clean.len() + 1)).rev();
            // Keys are ASCII, so a match never begins inside a character.
            let held = possible.into_iter().find(|length| clean.as_bytes().ends_with(&secret.as_bytes()[..*length]));
            self.held = clean.split_off(clean.len() - held.unwrap_or(0));
        } else {
            self.held.clear();
        }
        clean
    }

    /// What was held back and turned out to be no secret.
    pub(super) fn finish(&mut self) -> String {
        std::mem::take(&mut self.held)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_redacted_wherever_they_are_cut() {
        let text = "a sk-sk-0123 and sk-sk-012 é sk-sk-0123sk-sk-0123 sk-";
        let wanted = "a [redacted] and sk-sk-012 é [redacted][redacted] sk-";
        for size in 1..text.len() {
            let mut redactor = Redactor::new(Secret::new("sk-sk-0123"));
            let characters: Vec<char> = text.chars().collect();
            let mut shown = String::new();
            for piece in characters.chunks(size) {
                shown += &redactor.push(&piece.iter().collect::<String>());
                assert!(!shown.contains("sk-sk-0123"));
            }
            shown += &redactor.finish();
            assert_eq!(shown, wanted, "pieces of {size}");
        }
    }

    #[test]
    fn only_what_may_be_the_secret_is_held_back() {
        let mut redactor = Redactor::new(Secret::new("sk-0123456789"));
        assert_eq!(redactor.push("hello"), "hello");
        assert_eq!(redactor.push("an s"), "an ");
        assert_eq!(redactor.push("ky"), "sky");
        assert_eq!(redactor.finish(), "");
    }

    #[test]
    fn placeholders_are_left_alone() {
        assert_eq!(Secret::new("ollama").redact("ollama runs"), "ollama runs");
        let mut redactor = Redactor::new(Secret::new("ollama"));
        assert_eq!(redactor.push("olla"), "olla");
    }

    #[test]
    fn values_are_redacted_to_the_bottom() {
        let mut value = serde_json::json!({"a": [1, "x sk-012345 y", {"sk-012345": null}], "b": true});
        Secret::new("sk-012345").redact_value(&mut value);
        assert_eq!(value, serde_json::json!({"a": [1, "x [redacted] y", {"[redacted]": null}], "b": true}));
    }
}
