//! What messages say: a string, or a list of blocks.

use serde_json::{Value, json};

use super::section::{self, Kind};

/// What a content is after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    /// There is something in it, or was nothing before.
    Kept,
    /// A section was all there was.
    Emptied,
}

/// The texts of a content.
pub(super) fn texts(content: &Value) -> impl Iterator<Item = &str> {
    let blocks = content.as_array().map(Vec::as_slice).unwrap_or_default();
    content.as_str().into_iter().chain(blocks.iter().filter_map(block_text))
}

fn block_text(block: &Value) -> Option<&str> {
    (block.get("type")? == "text").then(|| block.get("text")?.as_str())?
}

/// Whether a content has a section of a kind.
pub(super) fn has(content: &Value, kind: Kind) -> bool {
    texts(content).any(|text| section::has(text, kind))
}

/// Whether a section can be added to a content.
pub(super) fn is_open(content: &Value) -> bool {
    matches!(content, Value::Null | Value::String(_) | Value::Array(_))
}

/// Puts a section into a content, in the place of the former one or at the end, or takes the former one out.
pub(super) fn put(content: &mut Value, kind: Kind, section: Option<&str>) -> After {
    match content {
        Value::String(text) => {
            if section::replace(text, kind, section) {
                if text.is_empty() {
                    return After::Emptied;
                }
            } else if let Some(section) = section {
                section::add(text, section);
            }
        }
        Value::Array(blocks) => put_block(blocks, kind, section),
        Value::Null => {
            if let Some(section) = section {
                *content = section.into();
            }
        }
        _ => {}
    }
    After::Kept
}

fn put_block(blocks: &mut Vec<Value>, kind: Kind, section: Option<&str>) {
    let mut section = section;
    blocks.retain_mut(|block| {
        if block_text(block).is_none() {
            return true;
        }
        let Some(Value::String(text)) = block.get_mut("text") else { return true };
        if !section::replace(text, kind, section) {
            return true;
        }
        section = None;
        !text.is_empty()
    });
    if let Some(section) = section {
        blocks.push(json!({"type": "text", "text": section}));
    }
}
