//! The body of an answer: a stream of events, or one JSON value.

use serde_json::Value;

use super::assemble::Assembler;
use super::failure::{Failure, Failures};
use super::sse;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The form of an answer, which its first sign tells: servers are wrong about its type more often than about itself.
pub enum Body {
    Unknown(Vec<u8>),
    Stream(sse::Reader),
    Whole(Vec<u8>),
}

impl Body {
    pub fn new() -> Self {
        Self::Unknown(Vec::new())
    }

    /// Takes bytes, and gives the data of the events that end in them.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, &'static str> {
        match self {
            Self::Unknown(begin) => {
                begin.extend_from_slice(bytes);
                // Spaces and marks of the byte order before an answer mean nothing in either form.
                let mut rest = begin.as_slice();
                while let Some(less) = rest.trim_ascii_start().strip_prefix(BYTE_ORDER_MARK) {
                    rest = less;
                }
                let rest = rest.trim_ascii_start().to_vec();
                match rest.first() {
                    _ if BYTE_ORDER_MARK.starts_with(&rest) => *begin = rest,
                    Some(b'<') => return Err("a web page came; check the base URL"),
                    Some(b'{' | b'[') => *self = Self::Whole(rest),
                    _ => {
                        let mut reader = sse::Reader::default();
                        let events = reader.push(&rest);
                        *self = Self::Stream(reader);
                        return Ok(events);
                    }
                }
                Ok(Vec::new())
            }
            Self::Stream(reader) => Ok(reader.push(bytes)),
            Self::Whole(all) => {
                all.extend_from_slice(bytes);
                Ok(Vec::new())
            }
        }
    }

    /// How many bytes are kept until more come.
    pub fn held(&self) -> usize {
        match self {
            Self::Unknown(bytes) | Self::Whole(bytes) => bytes.len(),
            Self::Stream(reader) => reader.held(),
        }
    }

    /// Takes what is left at its end, after `received` bytes.
    pub fn end(self, received: usize, failures: Failures<'_>, assembler: &mut Assembler<'_>) -> Result<(), Failure> {
        match self {
            Self::Stream(mut reader) => {
                // A piece of a chunk is not one that is wrong.
                let last = reader.finish();
                let is_whole = |data: &Vec<u8>| data == b"[DONE]" || serde_json::from_slice::<Value>(data).is_ok();
                let is_done = last.filter(is_whole).map_or(Ok(false), |data| take(&data, failures, assembler))?;
                if is_done || assembler.is_finished() { Ok(()) } else { Err(failures.interrupted(received)) }
            }
            Self::Whole(bytes) => match serde_json::from_slice(&bytes) {
                Ok(value) => apply(&value, failures, assembler),
                Err(error) if error.is_eof() => Err(failures.interrupted(received)),
                Err(error) => Err(failures.protocol(&format!("the answer is no JSON: {error}"))),
            },
            Self::Unknown(_) => Err(failures.interrupted(received)),
        }
    }
}

/// Takes the data of an event; true at the end of the stream.
pub fn take(data: &[u8], failures: Failures<'_>, assembler: &mut Assembler<'_>) -> Result<bool, Failure> {
    let text = std::str::from_utf8(data).map_err(|_| failures.protocol("a chunk is not UTF-8"))?;
    match text.trim() {
        "" => return Ok(false),
        "[DONE]" => return Ok(true),
        _ => {}
    }
    let value =
        serde_json::from_str(text).map_err(|error| failures.protocol(&format!("a chunk is no JSON: {error}")))?;
    apply(&value, failures, assembler)?;
    Ok(false)
}

fn apply(chunk: &Value, failures: Failures<'_>, assembler: &mut Assembler<'_>) -> Result<(), Failure> {
    if let Some(error) = chunk.get("error").filter(|error| !error.is_null()) {
        return Err(failures.reported(error));
    }
    assembler.apply(chunk).map_err(|reason| failures.protocol(&reason))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::super::super::secret::Secret;
    use super::super::super::settings::Settings;
    use super::super::Completion;
    use super::*;

    /// What a body is read as, in pieces of `size`: the answer, or the error.
    fn read(body: &[u8], size: usize) -> Result<Completion, String> {
        let settings = Settings::new(&Secret::new("sk-0123456789"), "http://h/", "m").unwrap();
        let failures = Failures { settings: &settings, tries: 1 };
        let mut assembler = Assembler::new(settings.api_key(), &|_| {});
        let mut reader = Body::new();
        for piece in body.chunks(size) {
            for event in reader.push(piece)? {
                if take(&event, failures, &mut assembler).map_err(|failure| failure.error.to_string())? {
                    return assembler.finish();
                }
            }
        }
        reader.end(body.len(), failures, &mut assembler).map_err(|failure| failure.error.to_string())?;
        assembler.finish()
    }

    /// Any piece of a stream, likely and unlikely ones.
    fn part() -> impl Strategy<Value = String> {
        let known = [
            r#"data: {"choices":[{"delta":{"content":"\u00fc x"}}]}"#,
            r#"data: {"choices":[{"delta":{"content":"ü😀"}}]}"#,
            r#"data: {"choices":[{"delta":{"tool_calls":[{"index":1,"id":"b","function":{"arguments":"{"}}]}}]}"#,
            r#"data: {"choices":[{"delta":{"tool_calls":[{"function":{"name":"f","arguments":"}"}}]}}]}"#,
            r#"data: {"choices":[{"delta":{"tool_calls":[{"index":-1,"id":7,"function":[]}]}}]}"#,
            r#"data: {"choices":[{"index":0,"delta":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}"#,
            r#"data: {"error":{"code":429}}"#,
            "data: [DONE]",
            "data: {",
            "data: ]",
            ":",
            "event: x",
            "\u{feff}",
            "{\"choices\":[{\"message\":{\"content\":\"x\"}}]}",
            " ",
        ];
        let ends = prop::sample::select(vec!["", "\n", "\n\n", "\r\n\r\n", "\r\r", "\r"]);
        (prop_oneof![4 => prop::sample::select(known.to_vec()).prop_map(str::to_owned), 1 => ".{0,9}"], ends)
            .prop_map(|(text, end)| text + end)
    }

    proptest! {
        #[test]
        fn where_a_body_is_cut_does_not_matter(parts in prop::collection::vec(part(), 0..12), size in 1usize..40) {
            let body = parts.concat();
            prop_assert_eq!(read(body.as_bytes(), size), read(body.as_bytes(), body.len().max(1)));
        }

        #[test]
        fn any_bytes_are_read(body in prop::collection::vec(any::<u8>(), 0..200), size in 1usize..40) {
            let _ = read(&body, size);
        }
    }
}
