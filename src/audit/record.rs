//! What is written down of a call.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;

use crate::policy::Secrets;
use crate::source::{Sha256Sum, utc};

/// Bytes of a command that are written, unless set otherwise; its digest tells the rest.
pub const COMMAND_TEXT: usize = 1024;
/// Most bytes of another text.
const TEXT: usize = 256;
/// Most skills, limits or verdicts of one record.
const ENTRIES: usize = 64;

/// For whom a call was made. Empty is what is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Who {
    /// The application.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub app: String,
    /// The user.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub user: String,
    /// The session.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub session: String,
}

/// What a gate said of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GateVerdict {
    /// Which: `trust`, `allowed_tools`, `commands`, `environment`, `hook`.
    pub gate: &'static str,
    /// Whether it let the call pass.
    pub passed: bool,
    /// What it said, when it said something.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// A command: its digest, and the begin of its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CommandRecord {
    /// Of the whole text, with secrets taken out of it.
    pub sha256: Sha256Sum,
    /// The begin, with secrets taken out.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// How many bytes the whole has.
    pub bytes: usize,
}

/// One call of a tool: a line of the log.
///
/// ```
/// use wskill::audit::Record;
/// use wskill::policy::Secrets;
///
/// let record = Record::new("skill_run").skill("pdf").command("TOKEN=abc ./fill.sh", &Secrets::default());
/// assert_eq!(record.command.as_ref().map(|command| command.text.as_str()), Some("TOKEN=[redacted] ./fill.sh"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Record {
    /// When it began, in UTC as RFC 3339 has it, with milliseconds.
    pub time: String,
    /// For whom.
    #[serde(flatten)]
    pub who: Who,
    /// The tool's name.
    pub tool: String,
    /// The skill that the call names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    /// The digests of the skills that were visible, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub digests: BTreeMap<String, Sha256Sum>,
    /// The command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<CommandRecord>,
    /// What gates said, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub verdicts: Vec<GateVerdict>,
    /// How often each limit refused something.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub limits_hit: BTreeMap<String, u64>,
    /// The command's status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// How long the call took.
    pub duration_ms: u64,
    /// Why the call gave no result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Record {
    /// A record of a call that begins now.
    pub fn new(tool: impl Into<String>) -> Self {
        Self {
            time: now(),
            who: Who::default(),
            tool: bounded(&tool.into(), TEXT),
            skill: None,
            digests: BTreeMap::new(),
            command: None,
            verdicts: Vec::new(),
            limits_hit: BTreeMap::new(),
            exit_code: None,
            duration_ms: 0,
            error: None,
        }
    }

    /// For whom the call is made.
    #[must_use]
    pub fn who(mut self, who: &Who) -> Self {
        let [app, user, session] = [&who.app, &who.user, &who.session].map(|text| bounded(text, TEXT));
        self.who = Who { app, user, session };
        self
    }

    /// The skill that the call names.
    #[must_use]
    pub fn skill(mut self, name: &str) -> Self {
        self.skill = Some(bounded(name, TEXT));
        self
    }

    /// The digest of a visible skill. At most 64 are kept.
    #[must_use]
    pub fn digest(mut self, name: &str, digest: Sha256Sum) -> Self {
        if self.digests.len() < ENTRIES {
            self.digests.insert(bounded(name, TEXT), digest);
        }
        self
    }

    /// The command, with secrets taken out. [`AuditLog`](super::AuditLog) bounds what is written of the text.
    #[must_use]
    pub fn command(mut self, command: &str, secrets: &Secrets) -> Self {
        let text = secrets.redact(command).into_owned();
        self.command = Some(CommandRecord { sha256: Sha256Sum::of(text.as_bytes()), bytes: text.len(), text });
        self
    }

    /// What a gate said. At most 64 are kept.
    #[must_use]
    pub fn verdict(mut self, gate: &'static str, passed: bool, reason: &str, secrets: &Secrets) -> Self {
        if self.verdicts.len() < ENTRIES {
            let reason = bounded(&secrets.redact(reason), TEXT);
            self.verdicts.push(GateVerdict { gate, passed, reason });
        }
        self
    }

    /// How often a limit refused something.
    #[must_use]
    pub fn limit_hit(mut self, limit: &str, times: u64) -> Self {
        if self.limits_hit.len() < ENTRIES {
            *self.limits_hit.entry(bounded(limit, TEXT)).or_default() += times;
        }
        self
    }

    /// How the command ended.
    #[must_use]
    pub fn exit_code(mut self, code: i32) -> Self {
        self.exit_code = Some(code);
        self
    }

    /// How long the call took.
    #[must_use]
    pub fn duration(mut self, duration: Duration) -> Self {
        self.duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        self
    }

    /// Why the call gave no result.
    #[must_use]
    pub fn error(mut self, error: &str, secrets: &Secrets) -> Self {
        self.error = Some(bounded(&secrets.redact(error), TEXT));
        self
    }

    /// The line, with its line break, and at most so many bytes of the command's text.
    pub(super) fn line(&self, command_text: usize) -> Vec<u8> {
        let mut line = match &self.command {
            Some(command) if command.text.len() > command_text => {
                let text = bounded(&command.text, command_text);
                let command = CommandRecord { text, ..command.clone() };
                serde_json::to_vec(&Self { command: Some(command), ..self.clone() })
            }
            _ => serde_json::to_vec(self),
        }
        // Nothing in a record can fail to become JSON.
        .unwrap_or_default();
        line.push(b'\n');
        line
    }
}

/// At most so many bytes of a text, ended between characters.
fn bounded(text: &str, bytes: usize) -> String {
    text[..text.floor_char_boundary(bytes)].to_owned()
}

fn now() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut text = utc(now.as_secs());
    text.truncate(text.len() - 1);
    format!("{text}.{:03}Z", now.subsec_millis())
}
