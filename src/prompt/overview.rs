//! The first layer: names and descriptions.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde::Serialize;

use super::clean::{AVAILABLE, description, one_line};

/// A skill in an overview.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OverviewItem {
    /// The skill's name.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// Where the model finds its SKILL.md.
    pub location: String,
}

/// The skills that a model may choose from.
///
/// ```
/// use wskill::prompt::{Overview, OverviewItem};
///
/// let overview = Overview::new([OverviewItem {
///     name: "pdf".into(),
///     description: "Reads & fills in forms.\nUse it for PDFs.".into(),
///     location: "/workspace/skills/pdf/SKILL.md".into(),
/// }]);
/// assert_eq!(overview.to_text(), "Available skills:\n- pdf: Reads & fills in forms. Use it for PDFs.\n");
/// assert!(overview.to_xml().contains("Reads &amp; fills in forms."));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overview {
    items: Vec<OverviewItem>,
}

impl Overview {
    /// An overview in the order of the items. Each text becomes one line without hidden characters, so that none can
    /// look like another skill's; descriptions are cut after 1,024 characters.
    pub fn new(items: impl IntoIterator<Item = OverviewItem>) -> Self {
        let items = items.into_iter().map(|item| OverviewItem {
            name: one_line(&item.name),
            description: description(&item.description),
            location: one_line(&item.location),
        });
        Self { items: items.collect() }
    }

    /// The skills.
    pub fn items(&self) -> &[OverviewItem] {
        &self.items
    }

    /// Lines for a system prompt; nothing when there are no skills.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        if !self.items.is_empty() {
            text.push_str(AVAILABLE);
            text.push('\n');
        }
        for item in &self.items {
            // Writing to a string does not fail.
            let _ = writeln!(text, "- {}: {}", item.name, item.description);
        }
        text
    }

    /// The XML of the specification, also for no skills.
    pub fn to_xml(&self) -> String {
        let mut text = String::from("<available_skills>\n");
        for item in &self.items {
            text.push_str("<skill>\n");
            for (tag, value) in [("name", &item.name), ("description", &item.description), ("location", &item.location)]
            {
                // As above.
                let _ = writeln!(text, "<{tag}>\n{}\n</{tag}>", escape(value));
            }
            text.push_str("</skill>\n");
        }
        text.push_str("</available_skills>\n");
        text
    }
}

/// A text as HTML escapes it.
fn escape(text: &str) -> Cow<'_, str> {
    if !text.contains(['&', '<', '>', '"', '\'']) {
        return text.into();
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#x27;"),
            c => escaped.push(c),
        }
    }
    escaped.into()
}
