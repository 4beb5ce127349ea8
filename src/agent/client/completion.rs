//! The answer of a model, as it is kept.

use serde_json::{Value, json};

/// A whole answer.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Completion {
    /// What it says.
    pub text: String,
    /// What it thought, where the server shows it.
    pub reasoning: String,
    /// The tools that it wants to be called, in order.
    pub calls: Vec<ToolCall>,
    /// Why it ends.
    pub finish: Finish,
    /// What it cost, when the server says so.
    pub usage: Option<Usage>,
}

/// A call of a tool that the model wants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolCall {
    /// Its id. It is different for each call of an answer.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments as the model wrote them, which may be no JSON.
    pub arguments: String,
}

/// Why an answer ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finish {
    /// It is complete.
    #[default]
    Stop,
    /// It waits for its tool calls.
    ToolCalls,
    /// It was cut off, as it or the conversation became too long.
    Length,
    /// The server withheld it.
    ContentFilter,
    /// Another reason, as the server names it.
    Other(String),
}

impl Finish {
    pub(super) fn read(reason: &str) -> Self {
        match reason {
            "stop" => Self::Stop,
            "tool_calls" | "function_call" => Self::ToolCalls,
            "length" => Self::Length,
            "content_filter" => Self::ContentFilter,
            other => Self::Other(other.to_owned()),
        }
    }
}

/// Tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// Those of the request.
    pub prompt: u64,
    /// Those of the request that the server had in a cache; they are counted in `prompt`.
    pub cached: u64,
    /// Those of the answer.
    pub completion: u64,
}

impl Usage {
    /// Reads it; a server that names no numbers has said nothing.
    pub(super) fn read(usage: &Value) -> Option<Self> {
        let number = |pointer| usage.pointer(pointer).and_then(Value::as_u64);
        let (prompt, completion) = (number("/prompt_tokens"), number("/completion_tokens"));
        (prompt.is_some() || completion.is_some()).then(|| Self {
            prompt: prompt.unwrap_or(0),
            cached: number("/prompt_tokens_details/cached_tokens").unwrap_or(0),
            completion: completion.unwrap_or(0),
        })
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.prompt = self.prompt.saturating_add(other.prompt);
        self.cached = self.cached.saturating_add(other.cached);
        self.completion = self.completion.saturating_add(other.completion);
    }
}

impl Completion {
    /// The message of the conversation that it is.
    ///
    /// Arguments that are no JSON object become `{}`, and in names what the API does not allow becomes `_`: servers
    /// check both when they are sent back, and would refuse the whole conversation from then on.
    pub fn message(&self) -> Value {
        let mut message = json!({"role": "assistant", "content": self.text});
        if self.calls.is_empty() {
            return message;
        }
        if self.text.is_empty() {
            message["content"] = Value::Null;
        }
        // Some models want to see their thoughts again while their calls are answered.
        if !self.reasoning.is_empty() {
            message["reasoning_content"] = self.reasoning.as_str().into();
        }
        let calls = self.calls.iter().map(|call| {
            let arguments = if call.parse().is_ok_and(|value| value != json!({})) { &call.arguments } else { "{}" };
            let function = json!({"name": allowed_name(&call.name), "arguments": arguments});
            json!({"id": call.id, "type": "function", "function": function})
        });
        message["tool_calls"] = calls.collect();
        message
    }
}

impl ToolCall {
    /// The arguments as an object. None at all are an empty one.
    ///
    /// # Errors
    ///
    /// What is wrong with them and where, for the model.
    pub fn parse(&self) -> Result<Value, String> {
        let text = self.arguments.trim();
        if text.is_empty() {
            return Ok(json!({}));
        }
        match serde_json::from_str(text) {
            Ok(Value::Object(fields)) => Ok(Value::Object(fields)),
            Ok(other) => Err(format!("the arguments must be a JSON object, not {}", kind(&other))),
            Err(error) => Err(format!("the arguments are no JSON: {error}{}; send the call again", near(text, &error))),
        }
    }
}

/// A name that the API allows: 1 to 64 of letters, digits, `_` and `-`, of ASCII.
fn allowed_name(name: &str) -> String {
    let is_allowed = |each: char| each.is_ascii_alphanumeric() || matches!(each, '_' | '-');
    let name: String = name.chars().take(64).map(|each| if is_allowed(each) { each } else { '_' }).collect();
    if name.is_empty() { "_".to_owned() } else { name }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// What stands before the place of an error.
fn near(text: &str, error: &serde_json::Error) -> String {
    const SHOWN: usize = 40;
    let Some(line) = text.split('\n').nth(error.line().saturating_sub(1)) else { return String::new() };
    // The column counts bytes.
    let end = line.floor_char_boundary(error.column().min(line.len()));
    let start = line.floor_char_boundary(end.saturating_sub(SHOWN));
    format!(", after `{}`", &line[start..end])
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn arguments() {
        for (text, wanted) in [
            ("", Ok(json!({}))),
            (" {} ", Ok(json!({}))),
            ("{\"a\": [1]}", Ok(json!({"a": [1]}))),
            ("[1]", Err("the arguments must be a JSON object, not an array")),
            ("\"{}\"", Err("the arguments must be a JSON object, not a text")),
            ("null", Err("the arguments must be a JSON object, not null")),
            (
                "{\"a\": 1,}",
                Err("the arguments are no JSON: trailing comma at line 1 column 9, after `{\"a\": 1,}`; \
                     send the call again"),
            ),
            (
                "{\n\"command\": \"é",
                Err("the arguments are no JSON: EOF while parsing a string at line 2 column 14, after \
                     `\"command\": \"é`; send the call again"),
            ),
            (
                "{} {}",
                Err("the arguments are no JSON: trailing characters at line 1 column 4, after `{} {`; \
                     send the call again"),
            ),
        ] {
            let call = ToolCall { arguments: text.to_owned(), ..ToolCall::default() };
            assert_eq!(call.parse(), wanted.map_err(str::to_owned), "{text}");
        }
    }

    #[test]
    fn messages() {
        let call = |arguments: &str| ToolCall { id: "c".into(), name: "t".into(), arguments: arguments.into() };
        let calls = vec![call("{\"a\":1}"), call(""), call("{")];
        let function =
            |arguments| json!({"id": "c", "type": "function", "function": {"name": "t", "arguments": arguments}});
        let completion = Completion { calls, reasoning: "hm".into(), ..Completion::default() };
        assert_eq!(
            completion.message(),
            json!({
                "role": "assistant", "content": null, "reasoning_content": "hm",
                "tool_calls": [function("{\"a\":1}"), function("{}"), function("{}")],
            })
        );
        for (name, wanted) in [("", "_"), ("a b.é-C_1", "a_b__-C_1"), (&"x".repeat(70), &"x".repeat(64))] {
            let calls = vec![ToolCall { name: name.to_owned(), ..ToolCall::default() }];
            let message = Completion { calls, ..Completion::default() }.message();
            assert_eq!(message["tool_calls"][0]["function"]["name"], *wanted);
        }
        let completion = Completion { text: "x".into(), reasoning: "hm".into(), ..Completion::default() };
        assert_eq!(completion.message(), json!({"role": "assistant", "content": "x"}));
    }
}
