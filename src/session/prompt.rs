//! What the model of a session is shown.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Session;
use super::state::{Loaded, Selection};
use crate::prompt::messages::{self, MessageOptions, MessagesError};
use crate::prompt::{LoadedDocument, LoadedSkill, Overview, OverviewItem, PromptOptions, SystemPrompt};
use crate::repository::View;

/// How messages are written down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MessageShape {
    /// A list of messages, as OpenAI and compatible servers want them. The default.
    #[default]
    OpenAi,
    /// A whole request with `system` and `messages`, as Anthropic wants it.
    Anthropic,
}

impl Session {
    /// What the model is to be told now: the skills that it may use, guidance, and what is loaded. Empty when there is
    /// no skill. A skill whose body is in the conversation is shown again only for documents that were selected since.
    /// What cannot be read any more is left out, and told by [`take_warnings`](Self::take_warnings).
    ///
    /// With [`LoadMode::Once`](super::state::LoadMode::Once) call [`end_prompt`](Self::end_prompt) when it was sent.
    pub fn system_prompt(&self, options: &PromptOptions) -> SystemPrompt {
        let view = self.view();
        let overview = overview(&view);
        let loaded = self.loaded();
        let shown = loaded.iter().filter(|loaded| !loaded.in_conversation || loaded.documents != Selection::None);
        let loaded: Vec<_> = shown.filter_map(|loaded| self.loaded_skill(&view, loaded)).collect();
        SystemPrompt::new(&overview, &loaded, options)
    }

    /// Puts [`system_prompt`](Self::system_prompt) into the messages of a request, in the place of what was put there
    /// before.
    ///
    /// # Errors
    /// When the messages have another shape; they are unchanged then.
    pub fn inject(
        &self,
        request: &mut Value,
        shape: MessageShape,
        prompt: &PromptOptions,
        options: &MessageOptions,
    ) -> Result<(), MessagesError> {
        let prompt = self.system_prompt(prompt);
        match shape {
            MessageShape::OpenAi => messages::openai(request, &prompt, options),
            MessageShape::Anthropic => messages::anthropic(request, &prompt, options),
        }
    }

    fn loaded_skill(&self, view: &View, loaded: &Loaded) -> Option<LoadedSkill> {
        let skill = match view.open(&loaded.name) {
            Ok(skill) => skill,
            Err(error) => {
                self.warn(format!("a loaded skill is not shown: {error}"));
                return None;
            }
        };
        let paths = match &loaded.documents {
            Selection::All => skill.documents().into_iter().map(|document| document.path).collect(),
            some => some.items().to_vec(),
        };
        let mut documents = Vec::with_capacity(paths.len());
        for path in paths {
            match skill.document(&path) {
                Ok(document) => documents.push(LoadedDocument { path, content: document.text }),
                Err(error) => self.warn(format!("a document is not shown: {error}")),
            }
        }
        let declared = skill.tools();
        let tools = match &loaded.tools {
            _ if declared.is_empty() => None,
            Selection::All => Some(declared),
            some => Some(some.items().to_vec()),
        };
        Some(LoadedSkill {
            name: skill.name().to_owned(),
            location: Some(skill.sandbox_path()),
            body: skill.body().into_owned(),
            documents,
            tools,
        })
    }

    /// The tools that loaded skills have made active, by name.
    pub fn active_tools(&self) -> BTreeSet<String> {
        let view = self.view();
        let mut active = BTreeSet::new();
        for loaded in self.loaded() {
            let Ok(skill) = view.open(&loaded.name) else { continue };
            let declared = skill.tools();
            active.extend(declared.into_iter().filter(|tool| match &loaded.tools {
                Selection::All => true,
                some => some.items().contains(tool),
            }));
        }
        active
    }

    /// The tools that the skills which the session sees declare, by name.
    pub fn declared_tools(&self) -> BTreeSet<String> {
        let view = self.view();
        let skills = view.entries().filter_map(|entry| view.open(entry.name()).ok());
        skills.flat_map(|skill| skill.tools()).collect()
    }
}

/// The skills that a model may choose from.
fn overview(view: &View) -> Overview {
    let shown = view.entries().filter(|entry| entry.summary().is_model_invocable());
    Overview::new(shown.map(|entry| OverviewItem {
        name: entry.name().to_owned(),
        description: entry.description().to_owned(),
        location: format!("{}/{}/SKILL.md", crate::skill::SANDBOX_FOLDER, entry.name()),
    }))
}
