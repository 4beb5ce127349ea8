//! The fields of a skill's front matter.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::finding::Log;
use super::requirements::Requirements;
use super::text::shown;
use super::yaml::{self, Entry, Node, Value};

/// What the front matter of a SKILL.md says.
///
/// The fields of the specification, those that the big clients define besides, and all others in
/// [`extra`](Self::extra).
/// Text is kept as it is written: the name `0123` has a zero at its begin.
///
/// ```
/// let text = b"---\nname: pdf\ndescription: Fills in forms.\nallowed-tools: Bash(pdftk:*) Read\nversion: 1.10\n---\n";
/// let file = wskill::skill::SkillFile::parse(text, "pdf")?;
/// let manifest = file.manifest();
/// assert_eq!(manifest.allowed_tools, ["Bash(pdftk:*)", "Read"]);
/// assert_eq!(manifest.extra["version"], "1.10");
/// # Ok::<(), wskill::skill::SkillError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Manifest {
    /// The skill's name. The folder's, when the front matter has none.
    pub name: String,
    /// What the skill does and when to use it. The body's first heading or paragraph, when there is no front matter.
    pub description: String,
    /// The licence, or the name of a file with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// What the skill needs from its environment, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compatibility: Option<String>,
    /// What other programs keep here, however nested. Numbers that JSON would write with other characters are text.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Json>,
    /// The tools that the skill may use without asking, in their order: `Bash(git:*)`, `Read`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed_tools: Vec<String>,
    /// Whether only the user may load the skill, not the model. Default: false.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub disable_model_invocation: bool,
    /// Whether the user can call the skill as a command. Default: true.
    #[serde(skip_serializing_if = "Clone::clone")]
    pub user_invocable: bool,
    /// What to show a user who calls the skill as a command: `[issue-number]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub argument_hint: Option<String>,
    /// The model to use while the skill is active.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// `fork` when the skill is to run in a context of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// All other fields, as they are.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Json>,
}

impl Manifest {
    /// A manifest with a name and a description, and nothing else.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            license: None,
            compatibility: None,
            metadata: Map::new(),
            allowed_tools: Vec::new(),
            disable_model_invocation: false,
            user_invocable: true,
            argument_hint: None,
            model: None,
            context: None,
            extra: Map::new(),
        }
    }

    /// What the skill needs, as OpenClaw writes it: `metadata.openclaw`, or one of its older names. Nothing when it has
    /// none of these, and is therefore always eligible.
    pub fn requirements(&self) -> Option<Requirements> {
        Requirements::of(self)
    }
}

/// The fields that have a place in [`Manifest`], in the order in which they are printed.
pub(super) const FIELDS: [&str; 11] = [
    "name",
    "description",
    "license",
    "compatibility",
    "allowed-tools",
    "disable-model-invocation",
    "user-invocable",
    "argument-hint",
    "model",
    "context",
    "metadata",
];

/// What shape a field's value has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Text,
    List,
    Map,
}

/// A field of the header with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    /// The field as it is known, else as it is written.
    pub(super) field: String,
    /// Whether it is written as the specification writes it.
    pub(super) exact: bool,
    pub(super) key: usize,
    pub(super) value: usize,
    pub(super) shape: Shape,
    /// Characters of the text before blanks around it were removed, as the reference validator counts.
    pub(super) characters: usize,
}

/// Makes a manifest of the header's fields. What is wrong with them is logged.
pub(super) fn read(text: &str, entries: Vec<Entry<'_>>, log: &mut Log<'_>) -> (Manifest, Vec<Spot>) {
    let mut manifest = Manifest::new("", "");
    let mut spots: Vec<Spot> = Vec::with_capacity(entries.len());
    // A hostile header has thousands of fields.
    let mut places: HashMap<String, usize> = HashMap::new();
    let exact: Vec<&'static str> =
        FIELDS.into_iter().filter(|field| entries.iter().any(|entry| entry.key == *field)).collect();
    for entry in &entries {
        let known = known_field(&entry.key, &exact);
        let field = known.unwrap_or(&entry.key);
        let old = places.get(field).copied();
        if old.is_some() {
            let name = shown(field);
            log.warn(
                entry.at,
                "duplicate-field",
                format!("`{name}` is there twice and the last one counts; remove the other"),
            );
        }
        if let Some(known) = known.filter(|known| *known != entry.key) {
            let key = shown(&entry.key);
            log.warn(entry.at, "field-spelling", format!("`{key}` is read as `{known}`; other clients ignore it so"));
        }
        let (shape, characters) = match &entry.value.value {
            Value::Scalar { text, .. } => (Shape::Text, text.chars().count()),
            Value::List(_) => (Shape::List, 0),
            Value::Map(_) => (Shape::Map, 0),
        };
        let exact = known.is_none_or(|known| known == entry.key);
        let spot = Spot { field: field.to_owned(), exact, key: entry.at, value: entry.value.start, shape, characters };
        match old.and_then(|old| spots.get_mut(old)) {
            Some(old) => *old = spot,
            None => {
                places.insert(field.to_owned(), spots.len());
                spots.push(spot);
            }
        }
        set(&mut manifest, field, text, &entry.value, log);
    }
    (manifest, spots)
}

/// The field that is meant by a key: `Name` and `allowed_tools` too, unless the proper one is there.
fn known_field(key: &str, exact: &[&'static str]) -> Option<&'static str> {
    let field = FIELDS.into_iter().find(|field| {
        field.len() == key.len()
            && field.bytes().zip(key.bytes()).all(|(a, b)| a == b.to_ascii_lowercase() || (a == b'-' && b == b'_'))
    })?;
    (field == key || !exact.contains(&field)).then_some(field)
}

fn set(manifest: &mut Manifest, field: &str, source: &str, node: &Node<'_>, log: &mut Log<'_>) {
    match field {
        "name" => manifest.name = text(field, source, node, log),
        "description" => manifest.description = text(field, source, node, log),
        "license" => manifest.license = optional(field, source, node, log),
        "compatibility" => manifest.compatibility = optional(field, source, node, log),
        "argument-hint" => manifest.argument_hint = optional(field, source, node, log),
        "model" => manifest.model = optional(field, source, node, log),
        "context" => manifest.context = optional(field, source, node, log),
        "allowed-tools" => manifest.allowed_tools = tools(source, node, log),
        "disable-model-invocation" => manifest.disable_model_invocation = truth(field, node, log).unwrap_or(false),
        "user-invocable" => manifest.user_invocable = truth(field, node, log).unwrap_or(true),
        "metadata" => {
            manifest.metadata.clear();
            manifest.extra.remove(field);
            metadata(manifest, node, log);
        }
        _ => {
            manifest.extra.insert(field.into(), node.to_json(&mut duplicate(log)));
        }
    }
}

fn metadata(manifest: &mut Manifest, node: &Node<'_>, log: &mut Log<'_>) {
    match &node.value {
        Value::Map(entries) => manifest.metadata = yaml::json_map(entries, &mut duplicate(log)),
        Value::Scalar { text, .. } if text.trim().is_empty() => {}
        _ => match json_text(node) {
            Some(map) => manifest.metadata = map,
            None => {
                let message = "`metadata` is no map and is kept as an unknown field; write `key: value` lines below it";
                log.warn(node.start, "metadata-not-a-map", message);
                manifest.extra.insert("metadata".into(), node.to_json(&mut duplicate(log)));
            }
        },
    }
}

fn duplicate(log: &mut Log<'_>) -> impl FnMut(usize, &str) {
    |at, key| {
        log.warn(
            at,
            "duplicate-field",
            format!("`{}` is there twice and the last one counts; remove the other", shown(key)),
        );
    }
}

/// Metadata that are a text with JSON in it.
fn json_text(node: &Node<'_>) -> Option<Map<String, Json>> {
    let Value::Scalar { text, .. } = &node.value else { return None };
    serde_json::from_str(text).ok()
}

/// Text without the blanks around it. A list or map is taken as it is written: `[draft]`.
fn text(field: &str, source: &str, node: &Node<'_>, log: &mut Log<'_>) -> String {
    match &node.value {
        Value::Scalar { text, .. } => text.trim().to_owned(),
        _ => {
            // Hints in brackets are how the clients' own documentation writes them.
            if field != "argument-hint" {
                log.warn(
                    node.start,
                    "not-text",
                    format!(
                        "the value of `{field}` is no text for YAML and is taken as it is written; put it in quotes"
                    ),
                );
            }
            let raw = source.get(node.start..node.end).unwrap_or_default();
            raw.split_whitespace().collect::<Vec<_>>().join(" ")
        }
    }
}

fn optional(field: &str, source: &str, node: &Node<'_>, log: &mut Log<'_>) -> Option<String> {
    Some(text(field, source, node, log)).filter(|text| !text.is_empty())
}

fn truth(field: &str, node: &Node<'_>, log: &mut Log<'_>) -> Option<bool> {
    let text = match &node.value {
        Value::Scalar { text, .. } => text.trim(),
        _ => "",
    };
    let value = parse_truth(text);
    if value.is_none() {
        log.warn(
            node.start,
            "not-a-boolean",
            format!("`{field}` is neither true nor false and is ignored; write `true` or `false`"),
        );
    }
    value
}

/// The truth values of YAML 1.1, which PyYAML reads, and 1 and 0.
pub(super) fn parse_truth(text: &str) -> Option<bool> {
    let is = |words: [&str; 4]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is(["true", "yes", "on", "1"]) {
        return Some(true);
    }
    is(["false", "no", "off", "0"]).then_some(false)
}

fn tools(source: &str, node: &Node<'_>, log: &mut Log<'_>) -> Vec<String> {
    match &node.value {
        Value::Scalar { text, .. } => split_tools(text),
        Value::List(items) => {
            let items = items.iter().map(|item| text("allowed-tools", source, item, log));
            items.filter(|tool| !tool.is_empty()).collect()
        }
        Value::Map(_) => split_tools(&text("allowed-tools", source, node, log)),
    }
}

/// Splits at blanks and commas that are not in parentheses: `Bash(git add:*, git rm:*), Read`.
pub(super) fn split_tools(text: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let parts = text.split(|c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (c == ',' || c.is_whitespace())
    });
    parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
}
