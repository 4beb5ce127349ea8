//! Which environment variables a command gets, and what of them may be shown.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

/// What stands for a secret.
pub const REDACTED: &str = "[redacted]";

/// Variables that change which code is loaded into every program. Nobody may set them.
const LOADER: [&str; 4] = ["LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "OPENSSL_CONF"];
/// Variables that change what a shell runs or which file a name means. With a restricting policy nobody may set them.
const SHELL: [&str; 12] = [
    "HOME",
    "ENV",
    "BASH_ENV",
    "PROMPT_COMMAND",
    "PS4",
    "SHELL",
    "SHELLOPTS",
    "BASHOPTS",
    "PATH",
    "IFS",
    "CDPATH",
    "GLOBIGNORE",
];
/// Words in the names of variables that hold secrets.
const SECRET_WORDS: [&str; 7] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL"];

/// How much a caller may set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnvironmentRule {
    /// All but what changes which code is loaded into programs: `LD_PRELOAD`, `LD_LIBRARY_PATH`, `LD_AUDIT`, `DYLD_*`
    /// and `OPENSSL_CONF`.
    Open,
    /// Besides those, nothing that changes what a shell runs or which file a name means: `HOME`, `ENV`, `BASH_ENV`,
    /// `PROMPT_COMMAND`, `PS4`, `SHELL`, `SHELLOPTS`, `BASHOPTS`, `PATH`, `IFS`, `CDPATH`, `GLOBIGNORE` and
    /// `BASH_FUNC_*`. For runs whose commands are restricted.
    Restricted,
}

/// A variable that was left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DroppedVariable {
    /// Its name, at most 80 characters of it.
    pub name: String,
    /// Why.
    pub reason: DropReason,
}

/// Why a variable was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DropReason {
    /// The name is none: `[A-Za-z_][A-Za-z0-9_]*`.
    Name,
    /// The value has a NUL.
    Value,
    /// It changes which code is loaded.
    Loader,
    /// It changes what a shell runs, and the policy restricts that.
    Shell,
}

impl fmt::Display for DroppedVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name.escape_debug();
        match self.reason {
            DropReason::Name => {
                write!(f, "the variable `{name}` is not set: a name has letters, digits and _, and no digit first")
            }
            DropReason::Value => write!(f, "the variable `{name}` is not set: its value has a NUL"),
            DropReason::Loader => write!(f, "the variable `{name}` is not set: it changes which code programs load"),
            DropReason::Shell => {
                write!(f, "the variable `{name}` is not set: it changes what a shell runs, and commands are restricted")
            }
        }
    }
}

/// What is left of an environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scrubbed {
    /// What may be set.
    pub env: BTreeMap<String, String>,
    /// What was left out, in the order given.
    pub dropped: Vec<DroppedVariable>,
}

/// Leaves out what a caller may not set. A name that is given twice has its last value.
///
/// ```
/// use wskill::policy::{EnvironmentRule, scrub};
///
/// let given = [("LANG", "C"), ("LD_PRELOAD", "x.so"), ("PATH", "/tmp")];
/// let open = scrub(given, EnvironmentRule::Open);
/// assert_eq!(open.env.keys().collect::<Vec<_>>(), ["LANG", "PATH"]);
/// let told = open.dropped[0].to_string();
/// assert_eq!(told, "the variable `LD_PRELOAD` is not set: it changes which code programs load");
/// assert_eq!(scrub(given, EnvironmentRule::Restricted).env.keys().collect::<Vec<_>>(), ["LANG"]);
/// ```
pub fn scrub<N: Into<String>, V: Into<String>>(
    given: impl IntoIterator<Item = (N, V)>,
    rule: EnvironmentRule,
) -> Scrubbed {
    let mut scrubbed = Scrubbed::default();
    for (name, value) in given {
        let (name, value) = (name.into(), value.into());
        match drop_reason(&name, &value, rule) {
            None => {
                scrubbed.env.insert(name, value);
            }
            Some(reason) => {
                scrubbed.dropped.push(DroppedVariable { name: name.chars().take(80).collect(), reason });
            }
        }
    }
    scrubbed
}

/// The variables of the host that are named, and no other: a sandbox sees nothing of the host's environment unasked.
/// What is not set, or is no UTF-8, is not passed. `lookup` reads the environment; [`scrub`] the result.
pub fn pass_through<N: AsRef<str>>(
    names: impl IntoIterator<Item = N>,
    lookup: impl Fn(&str) -> Option<String>,
) -> BTreeMap<String, String> {
    let named = names.into_iter().map(|name| name.as_ref().to_owned());
    named.filter_map(|name| lookup(&name).map(|value| (name, value))).collect()
}

/// Whether a name is one of a variable: `[A-Za-z_][A-Za-z0-9_]*`.
pub fn is_variable_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

pub(crate) fn drop_reason(name: &str, value: &str, rule: EnvironmentRule) -> Option<DropReason> {
    let shell = || SHELL.contains(&name) || name.starts_with("BASH_FUNC_");
    match () {
        () if LOADER.contains(&name) || name.starts_with("DYLD_") => Some(DropReason::Loader),
        () if rule == EnvironmentRule::Restricted && shell() => Some(DropReason::Shell),
        () if !is_variable_name(name) => Some(DropReason::Name),
        () if value.contains('\0') => Some(DropReason::Value),
        () => None,
    }
}

/// Whether a variable of this name holds a secret: the name has `KEY`, `TOKEN`, `SECRET`, `PASSWORD`, `PASSWD`,
/// `PASSPHRASE` or `CREDENTIAL` in it, whatever the case of letters.
pub fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRET_WORDS.iter().any(|word| name.contains(word))
}

/// The value of a variable for a log.
///
/// ```
/// use wskill::policy::redact;
///
/// assert_eq!(redact("OPENAI_API_KEY", "sk-1"), "[redacted]");
/// assert_eq!(redact("LANG", "C"), "C");
/// ```
pub fn redact<'a>(name: &str, value: &'a str) -> Cow<'a, str> {
    if is_secret(name) && !value.is_empty() { REDACTED.into() } else { value.into() }
}
