//! The keys of `wskill.toml`: what each may be, what it is by default, and what a project may do to it.

use super::value::{Amount, Setting, Value};

const MIB: u64 = 1 << 20;

/// What a value looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Of a limit: a number or text that [`LimitRules`](super::LimitRules) reads.
    Limit,
    /// `true` or `false`.
    Flag,
    /// Seconds, more than 0.
    Seconds,
    /// A number of at least 1.
    Count,
    /// Bytes: a number, or text with K, M or G.
    Size,
    /// A text.
    Text,
    /// Patterns of files.
    Globs,
    /// Folders, archives and addresses of skills. Folders are relative to the file's.
    Roots,
    /// Commands that are allowed: names and absolute paths.
    Allowed,
    /// Commands that are denied: names.
    Denied,
    /// One of `TrustMode`.
    Trust,
    /// A file, relative to the folder of the file that names it.
    File,
}

/// What a project's file may do to what the user's file, or the default, says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Anything.
    Replace,
    /// Only lower it.
    Lower,
    /// Only set it to this.
    Only(bool),
    /// Only shorten the list.
    Intersect,
    /// Only lengthen the list.
    Unite,
    /// Only set what the user has not set.
    Fill,
    /// Nothing.
    Nothing,
}

/// A key.
#[derive(Clone, Debug)]
pub struct Key {
    /// With its tables: `run.outputs.max_files`.
    pub name: String,
    /// What its value looks like.
    pub kind: Kind,
    /// What a project may do.
    pub rule: Rule,
    /// What holds when nobody sets it.
    pub default: Setting,
}

/// The tables that `[skill.NAME]` has.
pub const SKILL_TABLES: [&str; 3] = ["env", "limits", "policy"];

/// How limits are written and compared. The sandbox has such rules; this module does not know it.
pub trait LimitRules {
    /// The names of all limits that can be set.
    fn names(&self) -> Vec<&'static str>;

    /// The default of a limit, as text.
    fn default_text(&self, name: &str) -> String;

    /// How much a value allows.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    fn amount(&self, name: &str, value: &str) -> Result<Amount, String>;

    /// Bytes: a number, or one with a unit.
    fn size(&self, text: &str) -> Option<u64>;
}

/// All keys but those of `[skill.NAME]`, sorted by name.
pub fn keys(rules: &dyn LimitRules) -> Vec<Key> {
    use Kind::{Allowed, Count, Denied, File, Flag, Globs, Roots, Seconds, Size, Text, Trust};
    use Rule::{Intersect, Lower, Nothing, Only, Replace, Unite};
    let fixed = [
        ("skills.roots", Roots, Replace, Value::None),
        ("skills.well_known", Flag, Replace, Value::Flag(false)),
        ("skills.nested", Flag, Replace, Value::Flag(false)),
        ("policy.allowed_commands", Allowed, Intersect, Value::None),
        ("policy.denied_commands", Denied, Unite, Value::List(Vec::new())),
        ("policy.require_skill_loaded", Flag, Only(true), Value::Flag(false)),
        ("policy.read_scripts", Flag, Only(false), Value::Flag(false)),
        ("run.timeout", Seconds, Lower, Value::Seconds(300.0)),
        ("run.save_as_artifacts", Flag, Replace, Value::Flag(false)),
        ("run.omit_inline_content", Flag, Replace, Value::Flag(false)),
        ("run.artifact_prefix", Text, Replace, Value::Text(String::new())),
        ("run.outputs.globs", Globs, Replace, Value::List(Vec::new())),
        ("run.outputs.inline", Flag, Replace, Value::Flag(false)),
        ("run.outputs.save", Flag, Replace, Value::Flag(false)),
        ("run.outputs.name_template", Text, Replace, Value::Text(String::new())),
        ("run.outputs.max_files", Count, Lower, Value::Number(100)),
        ("run.outputs.max_file_bytes", Size, Lower, Value::Number(4 * MIB)),
        ("run.outputs.max_total_bytes", Size, Lower, Value::Number(64 * MIB)),
        // Strictness is compared as amounts are: what trusts less is lower.
        ("trust.mode", Trust, Lower, Value::Text("all".into())),
        ("trust.digests", File, Nothing, Value::None),
    ];
    let fixed = fixed.into_iter().map(|(name, kind, rule, default)| {
        let amount = amount_of(kind, &default);
        Key { name: name.into(), kind, rule, default: Setting { value: default, origins: Vec::new(), amount } }
    });
    let limits = rules.names().into_iter().map(|name| {
        let text = rules.default_text(name);
        let amount = rules.amount(name, &text).ok();
        let default = Setting { value: Value::Text(text), origins: Vec::new(), amount };
        Key { name: format!("limits.{name}"), kind: Kind::Limit, rule: Lower, default }
    });
    let mut keys: Vec<Key> = fixed.chain(limits).collect();
    keys.sort_by(|one, other| one.name.cmp(&other.name));
    keys
}

/// How much a value allows, for what is no limit of the sandbox.
pub fn amount_of(kind: Kind, value: &Value) -> Option<Amount> {
    match (kind, value) {
        (Kind::Count | Kind::Size, Value::Number(number)) => Some(Amount::Finite(u128::from(*number))),
        // Casts of floats saturate; nanoseconds are what limits of time are compared by.
        (Kind::Seconds, Value::Seconds(seconds)) => Some(Amount::Finite((seconds * 1e9) as u128)),
        (Kind::Trust, Value::Text(name)) => {
            let mode: crate::policy::TrustMode = name.parse().ok()?;
            Some(Amount::Finite(u128::from(2 - mode as u8)))
        }
        _ => None,
    }
}
