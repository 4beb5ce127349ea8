//! The tools and the prompt of a session for the [agent](crate::agent).

use async_trait::async_trait;
use serde_json::Value;

use super::Toolset;
use crate::agent::{Prompt, ToolSpec, Tools};
use crate::prompt::PromptOptions;
use crate::prompt::messages::MessageOptions;
use crate::session::MessageShape;

#[async_trait]
impl Tools for Toolset {
    fn specs(&self) -> Vec<ToolSpec> {
        let specs = self.specs().into_iter();
        specs
            .map(|super::ToolSpec { name, description, parameters }| ToolSpec { name, description, parameters })
            .collect()
    }

    async fn call(&self, name: &str, arguments: Value) -> Result<Value, String> {
        Self::call(self, name, arguments).await.map_err(|error| error.to_string())
    }
}

/// The overview, the guidance and what is loaded, in the system message.
impl Prompt for Toolset {
    fn apply(&self, messages: &mut Vec<Value>) {
        let mut options = PromptOptions::new(self.options().profile());
        options.tools = self.options().tools().iter().map(|tool| tool.as_str().to_owned()).collect();
        let mut list = Value::Array(std::mem::take(messages));
        // Messages of the agent's own have the shape.
        let _ = self.session().inject(&mut list, MessageShape::OpenAi, &options, &MessageOptions::default());
        if let Value::Array(list) = list {
            *messages = list;
        }
    }
}
