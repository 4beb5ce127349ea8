//! Taking secrets out of texts that go into logs.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::environment::{REDACTED, is_secret, is_variable_name};

/// Values that are shorter are part of too many words to be replaced wherever they are.
const SHORTEST: usize = 6;

/// The secrets of a run: what must not be in a log.
///
/// Replaced are the values of secret variables ([`is_secret`]) wherever they are, of six bytes or more, and the values
/// that a text itself gives to a secret: `API_KEY=value`, `--api-key=value`, `--api-key value`, `X-Api-Key: value`,
/// `"api_key": "value"`, `?api_key=value`, the word after `Bearer`, and the password in an address. What hides a secret
/// otherwise (encoded, in parts) is not found: the way to keep secrets out of logs is to keep them out of sandboxes.
///
/// ```
/// use wskill::policy::Secrets;
///
/// let secrets = Secrets::of([("API_KEY", "sk-123456"), ("LANG", "C")]);
/// assert_eq!(secrets.redact("curl -H 'X: sk-123456' h"), "curl -H 'X: [redacted]' h");
/// assert_eq!(secrets.redact("DB_PASSWORD=abc psql --token t x"), "DB_PASSWORD=[redacted] psql --token [redacted] x");
/// ```
#[derive(Clone, Default)]
pub struct Secrets {
    /// The longest first, so that a value within another leaves nothing of it.
    values: Vec<String>,
}

// The values are what must not be shown.
impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secrets({})", self.values.len())
    }
}

impl Secrets {
    /// The secret ones of some variables.
    pub fn of<N: AsRef<str>, V: Into<String>>(variables: impl IntoIterator<Item = (N, V)>) -> Self {
        let secret = variables.into_iter().filter(|(name, _)| is_secret(name.as_ref()));
        let mut values: Vec<String> = secret.map(|(_, value)| value.into()).collect();
        values.retain(|value| value.len() >= SHORTEST);
        values.sort_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
        values.dedup();
        Self { values }
    }

    /// The variables with the values of secret ones replaced.
    pub fn redact_variables(&self, variables: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let shown = |name: &str, value: &str| match is_secret(name) {
            true if !value.is_empty() => REDACTED.to_owned(),
            _ => self.redact(value).into_owned(),
        };
        variables.iter().map(|(name, value)| (name.clone(), shown(name, value))).collect()
    }

    /// The text with what is secret replaced by `[redacted]`.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for value in &self.values {
            if text.contains(value.as_str()) {
                text = text.replace(value.as_str(), REDACTED).into();
            }
        }
        match given(&text) {
            Some(redacted) => redacted.into(),
            None => text,
        }
    }
}

/// Replaces the values that a text gives to secrets.
fn given(text: &str) -> Option<String> {
    let mut result = String::new();
    let (mut copied, mut next_is_secret, mut before) = (0, false, "");
    for word in words(text) {
        let value = match assigned(word).or_else(|| password_in_address(word)) {
            _ if std::mem::take(&mut next_is_secret) => Some(word),
            Some(value) => Some(value),
            None => {
                let header = word.strip_suffix(':').is_some_and(names_secret);
                let member = word == ":" && names_secret(before);
                let option = word.starts_with("--") && names_secret(word);
                next_is_secret = header || member || option || word.eq_ignore_ascii_case("bearer");
                None
            }
        };
        before = word;
        if let Some(value) = value.filter(|value| *value != REDACTED) {
            // Each is a part of the text.
            let at = value.as_ptr().addr() - text.as_ptr().addr();
            result.push_str(&text[copied..at]);
            result.push_str(REDACTED);
            copied = at + value.len();
        }
    }
    (copied > 0).then(|| result + &text[copied..])
}

/// The value of `API_KEY=value`, `--api-key=value`, `https://host?api_key=value`.
fn assigned(word: &str) -> Option<&str> {
    let (name, value) = word.split_once('=')?;
    let name = name.rsplit(['?', '/', ',']).next().unwrap_or(name);
    Some(value).filter(|value| names_secret(name) && !value.is_empty())
}

/// The password of `https://user:password@host`.
fn password_in_address(word: &str) -> Option<&str> {
    let authority = word.split_once("://")?.1.split('/').next()?;
    let password = authority.rsplit_once('@')?.0.split_once(':')?.1;
    Some(password).filter(|password| !password.is_empty())
}

/// `API_KEY`, `--api-key`.
fn names_secret(word: &str) -> bool {
    let option = word.trim_start_matches('-');
    is_variable_name(&option.replace('-', "_")) && is_secret(option)
}

/// The words of a text; quotes only separate, for a value in quotes is to go as well.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let breaks = |c: char| c.is_whitespace() || matches!(c, ';' | '&' | '|' | '(' | ')' | '"' | '\'' | '`');
        at += text[at..].find(|c| !breaks(c))?;
        let start = at;
        // A value in quotes may have blanks: `KEY="a b"`.
        at += text[at..].find(breaks).unwrap_or(text.len() - at);
        if text[start..at].ends_with('=')
            && let Some(quote) = text[at..].chars().next().filter(|c| matches!(c, '"' | '\''))
        {
            let rest = &text[at + 1..];
            at = rest.find(quote).map_or(text.len(), |end| at + 1 + end + 1);
            at += text[at..].find(breaks).unwrap_or(text.len() - at);
        }
        Some(&text[start..at])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_a_line_gives_are_found() {
        let none = Secrets::default();
        for (text, shown) in [
            ("echo hi", "echo hi"),
            ("API_KEY=abc run", "API_KEY=[redacted] run"),
            ("API_KEY=\"a b\" run", "API_KEY=[redacted] run"),
            ("API_KEY='a b", "API_KEY=[redacted]"),
            ("API_KEY='a b'c run", "API_KEY=[redacted] run"),
            ("export MY_token=x;ls", "export MY_token=[redacted];ls"),
            ("API_KEY= run", "API_KEY= run"),
            ("run --password=x --secret-key y -v", "run --password=[redacted] --secret-key [redacted] -v"),
            ("curl -H 'Authorization: Bearer abc' u", "curl -H 'Authorization: Bearer [redacted]' u"),
            ("curl -H 'X-Api-Key: abc' u", "curl -H 'X-Api-Key: [redacted]' u"),
            ("curl -d '{\"api_key\": \"abc\", \"a\":\"b\"}'", "curl -d '{\"api_key\": \"[redacted]\", \"a\":\"b\"}'"),
            ("curl 'https://h/x?a=b&api_key=abc&c=d'", "curl 'https://h/x?a=b&api_key=[redacted]&c=d'"),
            ("git clone https://u:p@h/p x", "git clone https://u:[redacted]@h/p x"),
            ("https://h:80/a@b", "https://h:80/a@b"),
            ("A_KEY=https://u:p@h", "A_KEY=[redacted]"),
            ("echo $API_KEY ${API_KEY}", "echo $API_KEY ${API_KEY}"),
            ("TOKEN=é;é", "TOKEN=[redacted];é"),
        ] {
            assert_eq!(none.redact(text), shown, "{text}");
        }
    }

    #[test]
    fn a_secret_within_another_leaves_nothing_of_it() {
        let secrets = Secrets::of([("A_KEY", "abcdef"), ("B_KEY", "abcdefgh"), ("C_KEY", "short")]);
        assert_eq!(secrets.redact("abcdefgh abcdef short"), "[redacted] [redacted] short");
        assert_eq!(format!("{secrets:?}"), "Secrets(2)");
    }
}
