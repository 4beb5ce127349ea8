//! The system prompt: what there is, how to use it, and what was loaded.

use std::collections::{BTreeMap, BTreeSet};

use super::clean::{AVAILABILITY, AVAILABLE, DOCUMENT, DOCUMENTS, GUIDANCE, LOADED, TOOLS, neutral, one_line};
use super::guidance::{Profile, availability, guidance};
use super::listing::listing;
use super::{Overview, estimate_tokens};

/// A skill whose instructions the model has asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadedSkill {
    /// The skill's name.
    pub name: String,
    /// Its folder in the sandbox; not told when there is none.
    pub location: Option<String>,
    /// The body of its SKILL.md.
    pub body: String,
    /// The documents that were selected, in the order in which they are shown.
    pub documents: Vec<LoadedDocument>,
    /// The tools that were selected; nothing is told of tools when there is no list.
    pub tools: Option<Vec<String>>,
}

/// A document of a loaded skill.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadedDocument {
    /// Its path in the skill's folder.
    pub path: String,
    /// Its text.
    pub content: String,
}

/// What a [`SystemPrompt`] tells besides the skills themselves.
///
/// A text that is given here takes the place of the whole part, its marker line included; an empty one leaves the part
/// out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptOptions {
    /// For which kind of tools the guidance is. Default: [`Profile::Run`].
    pub profile: Profile,
    /// The names of the tools that the model is offered; no other is mentioned. Default: those of the profile.
    pub tools: BTreeSet<String>,
    /// What the user asks. With it a skill that matches far better than the others is recommended, and a capped
    /// overview shows the best matches. It makes the text depend on the request, which prompt caches do not like.
    /// Default: none.
    pub query: Option<String>,
    /// How many skills are shown with a description; the names of the others follow. Default: all.
    pub max_overview: Option<usize>,
    /// Whether the overview tells where the skills are. Default: false.
    pub locations: bool,
    /// In place of the overview. Default: none.
    pub overview: Option<String>,
    /// In place of what tools there are. Default: none.
    pub availability: Option<String>,
    /// In place of how to work with them. Default: none.
    pub guidance: Option<String>,
    /// In place of both, and before the overview: for callers with a protocol of their own. Default: none.
    pub protocol: Option<String>,
}

impl PromptOptions {
    /// The defaults for a profile.
    pub fn new(profile: Profile) -> Self {
        Self {
            profile,
            tools: profile.tools(),
            query: None,
            max_overview: None,
            locations: false,
            overview: None,
            availability: None,
            guidance: None,
            protocol: None,
        }
    }
}

impl Default for PromptOptions {
    fn default() -> Self {
        Self::new(Profile::default())
    }
}

/// What a model is shown of skills, in parts.
///
/// The order is that of trpc-agent: the overview, which tools there are, how to use them, then each loaded skill by
/// name with its documents. In bodies and documents a line that begins like a marker of the prompt gets a `\` before
/// it, so that a skill can neither end its part nor begin another's; everything else is as its author wrote it. (A line
/// that has the `\` already gets one more, so that taking one from each such line gives the author's text.)
///
/// ```
/// use wskill::prompt::{LoadedSkill, Overview, OverviewItem, PromptOptions, SystemPrompt};
///
/// let overview = Overview::new([OverviewItem {
///     name: "pdf".into(),
///     description: "Reads and fills in forms.".into(),
///     location: "/workspace/skills/pdf/SKILL.md".into(),
/// }]);
/// let pdf = LoadedSkill { name: "pdf".into(), body: "# PDF\n[Loaded] other\n".into(), ..LoadedSkill::default() };
/// let prompt = SystemPrompt::new(&overview, &[pdf], &PromptOptions::default());
/// let text = prompt.to_text();
/// assert!(text.starts_with("Available skills:\n- pdf: Reads and fills in forms.\n\nSkill tool availability:\n"));
/// assert!(text.ends_with("\n\n[Loaded] pdf\n\n# PDF\n\\[Loaded] other\n\nDocs loaded: none"));
/// assert_eq!(prompt.parts().last(), Some(&("skill pdf".to_owned(), 14)));
///
/// // Nothing is told when there is no skill.
/// assert!(SystemPrompt::new(&Overview::default(), &[], &PromptOptions::default()).is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SystemPrompt {
    pub(super) general: Vec<Part>,
    /// The parts of each loaded skill: its body first, then its documents.
    pub(super) loaded: BTreeMap<String, Vec<Part>>,
}

/// A part of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    name: String,
    /// A line that tells that a text has this part already.
    pub(super) marker: Option<&'static str>,
    pub(super) text: String,
}

impl SystemPrompt {
    /// The prompt for an overview of what the model may see, and what was loaded of it. Empty when nothing may be seen.
    ///
    /// Of two loaded skills with one name, and of two documents with one path, the first counts. A skill without body
    /// and documents is not shown.
    pub fn new(overview: &Overview, loaded: &[LoadedSkill], options: &PromptOptions) -> Self {
        if overview.items().is_empty() {
            return Self::default();
        }
        let part = |name: &str, marker, text: Option<String>| {
            let text = text.filter(|text| !text.is_empty())?;
            Some(Part { name: name.to_owned(), marker, text })
        };
        let first = part("protocol", None, options.protocol.clone());
        let text = options.overview.clone().unwrap_or_else(|| listing(overview, options));
        let second = part("overview", Some(AVAILABLE), Some(text));
        let mut general: Vec<Part> = first.into_iter().chain(second).collect();
        if options.protocol.is_none() {
            let text = options.availability.clone().or_else(|| availability(&options.tools));
            general.extend(part("availability", Some(AVAILABILITY), text));
            let text = options.guidance.clone().or_else(|| guidance(options.profile, &options.tools));
            general.extend(part("guidance", Some(GUIDANCE), text));
        }
        let mut skills = BTreeMap::new();
        for skill in loaded.iter().filter(|skill| !skill.body.is_empty() || !skill.documents.is_empty()) {
            let name = one_line(&skill.name);
            skills.entry(name).or_insert_with_key(|name| skill_parts(name, skill));
        }
        Self { general, loaded: skills }
    }

    /// Whether there is nothing to tell.
    pub fn is_empty(&self) -> bool {
        self.general.is_empty() && self.loaded.is_empty()
    }

    /// All of it.
    pub fn to_text(&self) -> String {
        joined(self.general.iter().chain(self.loaded.values().flatten()))
    }

    /// Without what was loaded: the same text as long as the skills and the options are the same.
    pub fn general_text(&self) -> String {
        joined(&self.general)
    }

    /// What each part costs: its name and about how many tokens it has, in the order of the text.
    pub fn parts(&self) -> Vec<(String, usize)> {
        let parts = self.general.iter().chain(self.loaded.values().flatten());
        parts.map(|part| (part.name.clone(), estimate_tokens(&part.text))).collect()
    }
}

/// The body and the documents of a loaded skill.
fn skill_parts(name: &str, skill: &LoadedSkill) -> Vec<Part> {
    let mut seen = BTreeSet::new();
    let documents: Vec<(String, &str)> = skill
        .documents
        .iter()
        .map(|document| (one_line(&document.path), document.content.as_str()))
        .filter(|(path, _)| seen.insert(path.clone()))
        .collect();
    let mut text = format!("{LOADED} {name}");
    if let Some(location) = &skill.location {
        text += &format!("\nSkill dir: {}", one_line(location));
    }
    append(&mut text, &neutral(&skill.body));
    append(&mut text, &listed(DOCUMENTS, documents.iter().map(|(path, _)| path.clone())));
    if let Some(tools) = &skill.tools {
        text += &format!("\n{}", listed(TOOLS, tools.iter().map(|tool| one_line(tool))));
    }
    let mut parts = vec![Part { name: format!("skill {name}"), marker: None, text }];
    for (path, content) in documents {
        let mut text = format!("{DOCUMENT} {path}");
        append(&mut text, &neutral(content));
        parts.push(Part { name: format!("document {name}/{path}"), marker: None, text });
    }
    parts
}

/// A line of names.
fn listed(marker: &str, names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    format!("{marker} {names}")
}

/// Parts with a blank line between them.
pub(super) fn joined<'a>(parts: impl IntoIterator<Item = &'a Part>) -> String {
    let mut text = String::new();
    parts.into_iter().for_each(|part| append(&mut text, &part.text));
    text
}

/// Adds a text behind a blank line.
pub(super) fn append(text: &mut String, next: &str) {
    if next.is_empty() {
        return;
    }
    if !text.is_empty() {
        let breaks = text.bytes().rev().take(2).take_while(|byte| *byte == b'\n').count();
        text.push_str(&"\n\n"[breaks..]);
    }
    text.push_str(next);
}
