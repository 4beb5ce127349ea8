//! What an answer that is none means.

use std::error::Error;
use std::time::{Duration, SystemTime};

use reqwest::StatusCode;
use reqwest::header::{HeaderMap, LOCATION, RETRY_AFTER};
use serde_json::Value;

use super::super::error::ClientError;
use super::super::secret::Secret;
use super::super::settings::Settings;

/// How much of what a server says is told.
const SHOWN: usize = 500;

/// A failed try.
pub struct Failure {
    pub error: ClientError,
    /// Whether it may pass, and after which time the server wants to be asked again.
    pub retry: Option<Option<Duration>>,
}

impl Failure {
    pub fn final_one(error: ClientError) -> Self {
        Self { error, retry: None }
    }

    pub fn passing(error: ClientError) -> Self {
        Self { error, retry: Some(None) }
    }
}

/// Makes failures for one API.
#[derive(Clone, Copy)]
pub struct Failures<'a> {
    pub settings: &'a Settings,
    /// How often the request was made, this time too.
    pub tries: u32,
}

impl Failures<'_> {
    fn base_url(&self) -> String {
        self.settings.base_url().to_owned()
    }

    fn clean(&self, text: &str) -> String {
        clean(self.settings.api_key(), text)
    }

    /// What a status with its headers and its body means.
    pub fn status(&self, status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Failure {
        let (message, code) = describe(body);
        let message = if message.is_empty() {
            status.canonical_reason().unwrap_or("no reason given").to_owned()
        } else {
            self.clean(&message)
        };
        if status.is_redirection() {
            let target = headers.get(LOCATION).and_then(|target| target.to_str().ok()).unwrap_or("nowhere");
            let (base_url, status) = (self.base_url(), status.as_u16());
            return Failure::final_one(ClientError::Redirect { base_url, status, target: self.clean(target) });
        }
        self.coded(status.as_u16(), message, code.as_deref(), retry_after(headers, SystemTime::now()))
    }

    /// What an error within an answer means.
    pub fn reported(&self, error: &Value) -> Failure {
        let (message, code) = describe_value(&serde_json::json!({ "error": error }));
        let message = self.clean(&message);
        let status = code.as_deref().and_then(|code| code.parse().ok()).filter(|status| (400..600).contains(status));
        match status {
            Some(status) => self.coded(status, message, code.as_deref(), None),
            None => Failure::final_one(ClientError::Reported { base_url: self.base_url(), message }),
        }
    }

    fn coded(&self, status: u16, message: String, code: Option<&str>, retry_after: Option<Duration>) -> Failure {
        let (base_url, tries) = (self.base_url(), self.tries);
        match status {
            401 | 403 => Failure::final_one(ClientError::Unauthorized { base_url, status, message }),
            404 => {
                let model = self.settings.model().to_owned();
                Failure::final_one(ClientError::NotFound { base_url, model, message })
            }
            429 => {
                // Money does not come by waiting.
                let is_passing = code != Some("insufficient_quota");
                let error = ClientError::RateLimited { base_url, message, retry_after, tries };
                Failure { error, retry: is_passing.then_some(retry_after) }
            }
            // 501: it will not learn it.
            408 | 409 | 500 | 502..=599 => {
                let error = ClientError::Server { base_url, status, message, tries };
                Failure { error, retry: Some(retry_after) }
            }
            501 => Failure::final_one(ClientError::Server { base_url, status, message, tries }),
            _ => Failure::final_one(ClientError::Refused { base_url, status, message }),
        }
    }

    /// What an error of the client means before the answer, or after `received` bytes of it.
    pub fn transport(&self, error: &reqwest::Error, received: Option<usize>, timeouts: super::Timeouts) -> Failure {
        let (base_url, tries) = (self.base_url(), self.tries);
        match received {
            _ if error.is_timeout() && error.is_connect() => {
                let error = ClientError::Timeout { base_url, phase: "a connection", limit: timeouts.connect };
                Failure::passing(error)
            }
            _ if error.is_timeout() => {
                let phase = if received.is_none() { "an answer" } else { "more of the answer" };
                Failure::final_one(ClientError::Timeout { base_url, phase, limit: timeouts.idle })
            }
            Some(received) => Failure::passing(ClientError::Interrupted { base_url, received, tries }),
            None => {
                let reason = self.clean(&chain(error));
                Failure::passing(ClientError::Connection { base_url, reason, tries })
            }
        }
    }

    pub fn interrupted(&self, received: usize) -> Failure {
        Failure::passing(ClientError::Interrupted { base_url: self.base_url(), received, tries: self.tries })
    }

    pub fn too_large(&self, what: &'static str, limit: usize) -> Failure {
        Failure::final_one(ClientError::TooLarge { base_url: self.base_url(), what, limit })
    }

    pub fn protocol(&self, reason: &str) -> Failure {
        Failure::final_one(ClientError::Protocol { base_url: self.base_url(), reason: self.clean(reason) })
    }

    pub fn total_timeout(&self, limit: Duration) -> ClientError {
        ClientError::Timeout { base_url: self.base_url(), phase: "the end of the answer", limit }
    }
}

/// A text of the server, fit to be shown.
fn clean(secret: &Secret, text: &str) -> String {
    let text = secret.redact(text);
    let words: Vec<_> = text.split(|each: char| each.is_whitespace() || each.is_control()).collect();
    let mut text: String = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    if text.len() > SHOWN {
        text.truncate(text.floor_char_boundary(SHOWN));
        text.push('…');
    }
    text
}

/// The message and the code of an error's body, in the forms that servers of this API have.
fn describe(body: &[u8]) -> (String, Option<String>) {
    match serde_json::from_slice(body) {
        Ok(value) => describe_value(&value),
        Err(_) => {
            let text = String::from_utf8_lossy(body);
            let is_page = text.trim_start().starts_with('<');
            (if is_page { String::new() } else { text.into_owned() }, None)
        }
    }
}

fn describe_value(value: &Value) -> (String, Option<String>) {
    // Some wrap it into an array.
    let value = value.as_array().and_then(|items| items.first()).unwrap_or(value);
    let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
    let fields = ["message", "detail", "msg"].into_iter();
    let message = fields.filter_map(|field| error.get(field)).find_map(|message| match message {
        Value::String(text) => Some(text.clone()),
        Value::Null => None,
        other => Some(other.to_string()),
    });
    let message = message.unwrap_or_else(|| error.as_str().map_or_else(|| error.to_string(), str::to_owned));
    let code = ["code", "type"].into_iter().filter_map(|field| error.get(field)).find_map(|code| match code {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    });
    (message, code)
}

/// How long the server wants to be left alone: milliseconds of its own header, else seconds or a date.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let number = |text: &str| text.parse::<f64>().ok();
    if let Some(milliseconds) = text("retry-after-ms").and_then(number) {
        return Duration::try_from_secs_f64(milliseconds / 1000.0).ok();
    }
    let value = text(RETRY_AFTER.as_str())?;
    match number(value) {
        Some(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        None => Some(httpdate::parse_http_date(value).ok()?.duration_since(now).unwrap_or_default()),
    }
}

/// An error with its causes, without the address, which our own messages have.
pub fn chain(error: &reqwest::Error) -> String {
    let mut text = String::from(if error.is_connect() { "cannot connect" } else { "the request failed" });
    let mut cause = error.source();
    while let Some(error) = cause {
        let message = error.to_string();
        if !text.ends_with(&message) {
            text.push_str(": ");
            text.push_str(&message);
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use reqwest::header::{HeaderName, HeaderValue};

    use super::*;

    #[test]
    fn waits_that_servers_want() {
        let now = httpdate::parse_http_date("Mon, 30 Nov 2026 10:00:00 GMT").unwrap();
        for (headers, wanted) in [
            (&[][..], None),
            (&[("retry-after", "2")], Some(2000)),
            (&[("retry-after", " 1.5 ")], Some(1500)),
            (&[("retry-after", "0")], Some(0)),
            (&[("retry-after", "-1")], None),
            (&[("retry-after", "NaN")], None),
            (&[("retry-after", "inf")], None),
            (&[("retry-after", "1e300")], None),
            (&[("retry-after", "soon")], None),
            (&[("retry-after", "Mon, 30 Nov 2026 10:00:07 GMT")], Some(7000)),
            (&[("retry-after", "Mon, 30 Nov 2026 09:00:00 GMT")], Some(0)),
            (&[("retry-after", "9"), ("retry-after-ms", "250")], Some(250)),
        ] {
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                map.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
            }
            assert_eq!(retry_after(&map, now), wanted.map(Duration::from_millis), "{headers:?}");
        }
    }

    #[test]
    fn bodies_of_errors() {
        for (body, message, code) in [
            (r#"{"error":{"message":"No.","type":"t","code":"c"}}"#, "No.", Some("c")),
            (r#"{"error":{"message":"No.","type":"t","code":null}}"#, "No.", Some("t")),
            (r#"{"error":{"message":"No.","code":429}}"#, "No.", Some("429")),
            (r#"{"error":"No."}"#, "No.", None),
            (r#"{"message":"No."}"#, "No.", None),
            (r#"{"detail":"No."}"#, "No.", None),
            (r#"{"detail":[{"loc":["a"]}]}"#, r#"[{"loc":["a"]}]"#, None),
            (r#"[{"error":{"message":"No."}}]"#, "No.", None),
            (r#"{"a":1}"#, r#"{"a":1}"#, None),
            ("No.", "No.", None),
            ("<html>No.</html>", "", None),
            ("", "", None),
        ] {
            assert_eq!(describe(body.as_bytes()), (message.to_owned(), code.map(str::to_owned)), "{body}");
        }
    }

    #[test]
    fn texts_are_fit_to_be_shown() {
        let secret = Secret::new("sk-0123456789");
        assert_eq!(clean(&secret, " a\r\n\tb\u{1b}[31m sk-0123456789\u{7} "), "a b [31m [redacted]");
        assert_eq!(clean(&secret, &"é".repeat(300)), format!("{}…", "é".repeat(250)));
    }
}
