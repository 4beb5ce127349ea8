//! The messages of a conversation, which stay consistent however a run ends.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use super::client::Completion;
use super::transcript::Transcript;

/// What a call that did not end gave.
const CANCELLED: &str = "cancelled";

/// The messages, and the file that they are written to.
#[derive(Debug, Default)]
pub struct Conversation {
    messages: Vec<Value>,
    transcript: Option<Transcript>,
}

impl Conversation {
    /// Goes on with `messages`. Calls among them without a result get the result `cancelled`.
    pub fn new(messages: Vec<Value>, transcript: Option<Transcript>) -> Self {
        let mut repaired = Vec::with_capacity(messages.len());
        let mut open: Vec<String> = Vec::new();
        for message in messages {
            if message["role"] == "tool" {
                open.retain(|id| message["tool_call_id"] != id.as_str());
            } else {
                repaired.extend(open.drain(..).map(|id| result(&id, CANCELLED)));
            }
            let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
            open.extend(calls.iter().filter_map(|call| call["id"].as_str()).map(str::to_owned));
            repaired.push(message);
        }
        repaired.extend(open.drain(..).map(|id| result(&id, CANCELLED)));
        Self { messages: repaired, transcript }
    }

    pub fn messages(&self) -> &[Value] {
        &self.messages
    }

    pub fn transcript(&self) -> Option<&Transcript> {
        self.transcript.as_ref()
    }

    /// Adds a message. It is in the conversation even if it cannot be written.
    pub fn push(&mut self, message: Value) -> io::Result<()> {
        let written = self.transcript.as_mut().map_or(Ok(()), |transcript| transcript.write(&message));
        self.messages.push(message);
        written
    }
}

/// The text of an answer that is still coming.
#[derive(Clone, Default)]
pub struct Partial(Arc<Mutex<String>>);

impl Partial {
    pub fn push(&self, text: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_str(text);
    }

    fn take(&self) -> String {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// One answer with the results of its calls. Wherever it is dropped, the conversation gets what there is: the text that
/// had come, the results that were there, and `cancelled` for the calls that were not answered.
pub struct Turn<'a> {
    conversation: &'a mut Conversation,
    partial: Partial,
    /// The calls of the answer, with their results.
    calls: Vec<(String, Option<String>)>,
}

impl<'a> Turn<'a> {
    pub fn new(conversation: &'a mut Conversation) -> Self {
        Self { conversation, partial: Partial::default(), calls: Vec::new() }
    }

    /// Where the text goes while it comes.
    pub fn partial(&self) -> Partial {
        self.partial.clone()
    }

    /// Takes the whole answer.
    pub fn answer(&mut self, completion: &Completion) -> io::Result<()> {
        self.partial.take();
        self.calls = completion.calls.iter().map(|call| (call.id.clone(), None)).collect();
        self.conversation.push(completion.message())
    }

    /// Takes the result of the call at `position`.
    pub fn set_result(&mut self, position: usize, content: String) {
        if let Some((_, result)) = self.calls.get_mut(position) {
            *result = Some(content);
        }
    }

    /// Adds the results to the conversation, in the order of the calls.
    pub fn close(mut self) -> io::Result<()> {
        self.settle()
    }

    fn settle(&mut self) -> io::Result<()> {
        let text = self.partial.take();
        let mut written = Ok(());
        if !text.is_empty() {
            written = self.conversation.push(json!({"role": "assistant", "content": text}));
        }
        for (id, content) in self.calls.drain(..) {
            let pushed = self.conversation.push(result(&id, content.as_deref().unwrap_or(CANCELLED)));
            written = written.and(pushed);
        }
        written
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        // Nobody is left to be told; a transcript that cannot be written is told at the next message.
        let _ = self.settle();
    }
}

fn result(id: &str, content: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": content})
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn conversations_are_repaired() {
        let call = |ids: &[&str]| {
            let calls: Vec<_> = ids.iter().map(|id| json!({"id": id})).collect();
            json!({"role": "assistant", "content": null, "tool_calls": calls})
        };
        let user = json!({"role": "user", "content": "x"});
        for (messages, wanted) in [
            (vec![], vec![]),
            (vec![user.clone()], vec![user.clone()]),
            (
                vec![call(&["a", "b"]), result("b", "1"), user.clone()],
                vec![call(&["a", "b"]), result("b", "1"), result("a", "cancelled"), user.clone()],
            ),
            (vec![call(&["a"])], vec![call(&["a"]), result("a", "cancelled")]),
            (
                vec![call(&["a"]), call(&["c"]), result("c", "1")],
                vec![call(&["a"]), result("a", "cancelled"), call(&["c"]), result("c", "1")],
            ),
        ] {
            assert_eq!(Conversation::new(messages, None).messages(), wanted);
        }
    }
}
