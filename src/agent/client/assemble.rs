//! Puts an answer together from the pieces of a stream, or from one that came whole.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::event::{Event, OnEvent};
use super::super::secret::{Redactor, Secret};
use super::completion::{Completion, Finish, ToolCall, Usage};

/// No model calls more tools in one answer.
const MAX_CALLS: usize = 128;

/// An answer in the making.
pub struct Assembler<'a> {
    secret: &'a Secret,
    on_event: OnEvent<'a>,
    text: Redactor,
    reasoning: Redactor,
    completion: Completion,
    calls: Vec<Indexed>,
    finish: Option<Finish>,
    has_choice: bool,
    has_shown: bool,
}

/// A call with its place in the answer.
struct Indexed {
    index: u64,
    call: ToolCall,
}

impl<'a> Assembler<'a> {
    pub fn new(secret: &'a Secret, on_event: OnEvent<'a>) -> Self {
        Self {
            secret,
            on_event,
            text: Redactor::new(secret.clone()),
            reasoning: Redactor::new(secret.clone()),
            completion: Completion::default(),
            calls: Vec::new(),
            finish: None,
            has_choice: false,
            has_shown: false,
        }
    }

    /// Whether something of the answer was shown already, so that it cannot be asked for again unseen.
    pub fn has_shown(&self) -> bool {
        self.has_shown
    }

    /// Whether the server said why the answer ends, after which nothing of it is missing.
    pub fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    /// Takes a chunk of a stream, or a whole answer.
    pub fn apply(&mut self, chunk: &Value) -> Result<(), String> {
        if !chunk.is_object() {
            return Err("a chunk is no JSON object".to_owned());
        }
        if let Some(usage) = chunk.get("usage").and_then(Usage::read) {
            self.completion.usage = Some(usage);
        }
        let choices = chunk.get("choices").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        // One answer was asked for.
        let is_first = |choice: &&Value| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0;
        let Some(choice) = choices.iter().find(is_first) else { return Ok(()) };
        self.has_choice = true;
        if let Some(delta) = choice.get("delta").or_else(|| choice.get("message")).filter(|delta| !delta.is_null()) {
            self.add(delta)?;
        }
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
            self.finish = Some(Finish::read(reason));
        }
        Ok(())
    }

    fn add(&mut self, delta: &Value) -> Result<(), String> {
        for field in ["reasoning_content", "reasoning"] {
            if let Some(piece) = delta.get(field).and_then(Value::as_str) {
                let clean = self.reasoning.push(piece);
                self.show_reasoning(&clean);
                break;
            }
        }
        // A refusal stands in the place of the answer.
        for field in ["content", "refusal"] {
            let piece = delta.get(field).map(content).unwrap_or_default();
            let clean = self.text.push(&piece);
            self.show_text(&clean);
        }
        match delta.get("tool_calls") {
            None | Some(Value::Null) => Ok(()),
            Some(Value::Array(calls)) => calls.iter().try_for_each(|call| self.add_call(call)),
            Some(_) => Err("`tool_calls` is no array".to_owned()),
        }
    }

    /// A piece of a call belongs to the one with its index. Where servers give no index, or the same one to all, a new
    /// id begins a new call.
    fn add_call(&mut self, delta: &Value) -> Result<(), String> {
        let id = delta.get("id").and_then(Value::as_str).unwrap_or_default();
        let index = delta.get("index").and_then(Value::as_u64);
        let last = self.calls.iter().rposition(|known| index.is_none_or(|index| known.index == index));
        let is_new = |known: &Indexed| !id.is_empty() && !known.call.id.is_empty() && known.call.id != id;
        let position = match last.filter(|position| !is_new(&self.calls[*position])) {
            Some(position) => position,
            None if self.calls.len() == MAX_CALLS => return Err(format!("more than {MAX_CALLS} tool calls")),
            None => {
                let next = self.calls.iter().map(|known| known.index + 1).max().unwrap_or(0);
                // Bounded, as it is counted on from it.
                let index = index.unwrap_or(next).min(u64::from(u32::MAX));
                self.calls.push(Indexed { index, call: ToolCall::default() });
                self.calls.len() - 1
            }
        };
        let call = &mut self.calls[position].call;
        if call.id.is_empty() {
            call.id.push_str(id);
        }
        let function = delta.get("function").unwrap_or(&Value::Null);
        // Some servers repeat the whole name with every piece.
        if let Some(name) = function.get("name").and_then(Value::as_str).filter(|name| *name != call.name) {
            call.name.push_str(name);
        }
        match function.get("arguments") {
            Some(Value::String(piece)) => call.arguments.push_str(piece),
            Some(whole @ Value::Object(_)) => call.arguments.push_str(&whole.to_string()),
            _ => {}
        }
        Ok(())
    }

    /// The whole answer.
    pub fn finish(mut self) -> Result<Completion, String> {
        if !self.has_choice {
            return Err("the answer has no `choices`".to_owned());
        }
        let (text, reasoning) = (self.text.finish(), self.reasoning.finish());
        self.show_reasoning(&reasoning);
        self.show_text(&text);
        self.calls.sort_by_key(|known| known.index);
        let mut ids = BTreeSet::new();
        for (position, Indexed { mut call, .. }) in std::mem::take(&mut self.calls).into_iter().enumerate() {
            for text in [&mut call.id, &mut call.name, &mut call.arguments] {
                *text = self.secret.redact(text).into_owned();
            }
            // Results find their calls by the id alone.
            while call.id.is_empty() || !ids.insert(call.id.clone()) {
                call.id = format!("{}call_{position}", call.id);
            }
            self.completion.calls.push(call);
        }
        let has_calls = !self.completion.calls.is_empty();
        self.completion.finish = self.finish.unwrap_or(if has_calls { Finish::ToolCalls } else { Finish::Stop });
        Ok(self.completion)
    }

    fn show_text(&mut self, text: &str) {
        if !text.is_empty() {
            self.has_shown = true;
            self.completion.text.push_str(text);
            (self.on_event)(Event::Text(text));
        }
    }

    fn show_reasoning(&mut self, text: &str) {
        if !text.is_empty() {
            self.has_shown = true;
            self.completion.reasoning.push_str(text);
            (self.on_event)(Event::Reasoning(text));
        }
    }
}

/// A text, or the texts of a list of parts.
fn content(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect(),
        _ => String::new(),
    }
}
