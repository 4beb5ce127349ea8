//! What a skill needs to be of use, as OpenClaw's metadata tell it.

use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::manifest::{Manifest, parse_truth};
use super::text::shown;

/// The names under which the metadata of OpenClaw are found: its own and its older ones, in the order of preference.
const NAMESPACES: [&str; 5] = ["openclaw", "clawdbot", "moltbot", "clawdis", "nanobot"];

/// What a skill needs: `metadata.openclaw` of its front matter.
///
/// ```
/// use wskill::skill::{Host, SkillFile};
///
/// let text = br#"---
/// name: weather
/// description: Tells the weather.
/// metadata: {"openclaw": {"emoji": "W", "requires": {"bins": ["curl"], "env": ["API_KEY"]}}}
/// ---
/// "#;
/// let file = SkillFile::parse(text, "weather")?;
/// let requirements = file.manifest().requirements().unwrap_or_default();
/// let host = Host { commands: &|name| name == "curl", env: &|_| false, config: &|_| false, os: "linux" };
/// assert_eq!(requirements.unmet(&host), ["needs the environment variable `API_KEY`"]);
/// # Ok::<(), wskill::skill::SkillError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Requirements {
    /// Whether nothing but the system counts.
    pub always: bool,
    /// The name under which the skill is configured, when it is not its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill_key: Option<String>,
    /// The environment variable that holds the skill's API key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary_env: Option<String>,
    /// A picture for lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub emoji: Option<String>,
    /// Where to read more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub homepage: Option<String>,
    /// The systems on which it works: `linux`, `darwin`, `win32`. All, when empty.
    pub os: Vec<String>,
    /// What must be there.
    pub requires: Requires,
}

/// What must be there for a skill.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Requires {
    /// Commands, all of them.
    pub bins: Vec<String>,
    /// Commands, at least one of them.
    pub any_bins: Vec<String>,
    /// Environment variables, all of them.
    pub env: Vec<String>,
    /// Settings of the host, all of them: `browser.enabled`.
    pub config: Vec<String>,
}

/// What a host has.
pub struct Host<'a> {
    /// Whether a command exists. In wskill these are the sandbox's.
    pub commands: &'a dyn Fn(&str) -> bool,
    /// Whether an environment variable is set.
    pub env: &'a dyn Fn(&str) -> bool,
    /// Whether a setting is on.
    pub config: &'a dyn Fn(&str) -> bool,
    /// The system that scripts see, by Rust's name for it or by Node's.
    pub os: &'a str,
}

impl Requirements {
    pub(super) fn of(manifest: &Manifest) -> Option<Self> {
        let found = |map: &Map<String, Json>| NAMESPACES.iter().find_map(|name| map.get(*name)?.as_object().cloned());
        let map = found(&manifest.metadata).or_else(|| found(&manifest.extra))?;
        let text = |key: &str| map.get(key).and_then(plain).filter(|text| !text.is_empty());
        let requires = map.get("requires").and_then(Json::as_object);
        let list = |key: &str| requires.and_then(|requires| requires.get(key)).map(words).unwrap_or_default();
        Some(Self {
            always: text("always").as_deref().and_then(parse_truth).unwrap_or(false),
            skill_key: text("skillKey"),
            primary_env: text("primaryEnv"),
            emoji: text("emoji"),
            homepage: text("homepage").or_else(|| manifest.extra.get("homepage").and_then(plain)),
            os: map.get("os").map(words).unwrap_or_default(),
            requires: Requires {
                bins: list("bins"),
                any_bins: list("anyBins"),
                env: list("env"),
                config: list("config"),
            },
        })
    }

    /// Why the skill is of no use on a host, one sentence a reason. Empty: it can be used.
    ///
    /// The system counts first; a skill that is `always` to be there needs nothing else.
    pub fn unmet(&self, host: &Host<'_>) -> Vec<String> {
        let mut reasons = Vec::new();
        let os = system(host.os);
        if !self.os.is_empty() && !self.os.iter().any(|name| system(name) == os) {
            reasons.push(format!("works on {} only, and this is {os}", shown(&self.os.join(", "))));
        }
        if self.always {
            return reasons;
        }
        let requires = &self.requires;
        for name in requires.bins.iter().filter(|name| !(host.commands)(name)) {
            reasons.push(format!("needs the command `{}`", shown(name)));
        }
        if !requires.any_bins.is_empty() && !requires.any_bins.iter().any(|name| (host.commands)(name)) {
            reasons.push(format!("needs one of the commands {}", quoted(&requires.any_bins)));
        }
        for name in requires.env.iter().filter(|name| !(host.env)(name)) {
            reasons.push(format!("needs the environment variable `{}`", shown(name)));
        }
        for name in requires.config.iter().filter(|name| !(host.config)(name)) {
            reasons.push(format!("needs the setting `{}`", shown(name)));
        }
        reasons
    }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{}`", shown(name))).collect::<Vec<_>>().join(", ")
}

/// One name for each system.
fn system(name: &str) -> String {
    match name.to_ascii_lowercase().as_str() {
        "darwin" | "osx" | "mac" => "macos".into(),
        "win32" | "win" => "windows".into(),
        name => name.into(),
    }
}

/// A scalar as text.
fn plain(value: &Json) -> Option<String> {
    match value {
        Json::String(text) => Some(text.trim().to_owned()),
        Json::Bool(_) | Json::Number(_) => Some(value.to_string()),
        _ => None,
    }
}

/// A list of words, or one word, or words with commas between them.
fn words(value: &Json) -> Vec<String> {
    let words: Vec<String> = match value {
        Json::Array(items) => items.iter().filter_map(plain).collect(),
        _ => plain(value).iter().flat_map(|text| text.split(',')).map(|word| word.trim().to_owned()).collect(),
    };
    words.into_iter().filter(|word| !word.is_empty()).collect()
}
