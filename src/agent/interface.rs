//! What an agent is given: tools, and what the model is told besides the messages.

use serde_json::Value;

/// A tool as the model sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Its name: letters, digits, `_` and `-`.
    pub name: String,
    /// When and how to use it.
    pub description: String,
    /// The JSON Schema of its arguments, an object.
    pub parameters: Value,
}

/// The tools of an agent.
#[async_trait::async_trait]
pub trait Tools: Send + Sync {
    /// The tools that the model may call now. It is asked before each request, so they may change in a run.
    fn specs(&self) -> Vec<ToolSpec>;

    /// Calls a tool that [`specs`](Self::specs) named, with arguments that are an object but not checked further.
    ///
    /// A text that is returned reaches the model as it is, other values as JSON. When the run is cancelled the future
    /// is dropped. The calls of one answer run at once, on one task: what keeps a thread busy belongs on another.
    ///
    /// # Errors
    ///
    /// What the model has to know to do better. It ends the call, not the run.
    async fn call(&self, name: &str, arguments: Value) -> Result<Value, String>;
}

/// Puts into each request what the model has to be told besides the conversation.
pub trait Prompt: Send + Sync {
    /// Changes the messages of a request, which are a copy: the conversation keeps nothing of it. It is called before
    /// each request, so that what it adds is up to date.
    fn apply(&self, messages: &mut Vec<Value>);
}

/// No tools.
#[async_trait::async_trait]
impl Tools for () {
    fn specs(&self) -> Vec<ToolSpec> {
        Vec::new()
    }

    async fn call(&self, name: &str, _arguments: Value) -> Result<Value, String> {
        Err(format!("there is no tool `{name}`"))
    }
}

/// Adds nothing.
impl Prompt for () {
    fn apply(&self, _messages: &mut Vec<Value>) {}
}

/// A system prompt that stays the same.
impl Prompt for String {
    fn apply(&self, messages: &mut Vec<Value>) {
        messages.insert(0, serde_json::json!({"role": "system", "content": self}));
    }
}
