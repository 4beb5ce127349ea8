//! What was noticed about a skill, with its place.

use std::fmt;

use serde::Serialize;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// A rule of the specification is broken.
    Error,
    /// The skill works here, but something was repaired, cut or ignored, or other clients refuse it.
    Warning,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}

/// Something about a file, at a place in it.
///
/// ```
/// use wskill::skill::{Severity, SkillFile};
///
/// let file = SkillFile::parse(b"---\nname: a\ndescription: Notes: all\n---\n", "a")?;
/// let finding = &file.findings()[0];
/// assert_eq!((finding.severity, finding.code), (Severity::Warning, "yaml-syntax"));
/// assert_eq!((finding.line, finding.column), (3, 19));
/// assert_eq!(file.manifest().description, "Notes: all");
/// # Ok::<(), wskill::skill::SkillError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// What it is: a stable identifier in kebab-case.
    pub code: &'static str,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// What is wrong and what to do.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}: {} [{}]", self.line, self.column, self.severity, self.message, self.code)
    }
}

/// A finding with its file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileFinding {
    /// The file's path, relative to the skill's folder, with `/`. Empty for the folder itself.
    pub file: String,
    /// What was found.
    #[serde(flatten)]
    pub finding: Finding,
}

impl fmt::Display for FileFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.file.is_empty() {
            write!(f, "{}: {} [{}]", self.finding.severity, self.finding.message, self.finding.code)
        } else {
            write!(f, "{}:{}", self.file, self.finding)
        }
    }
}

/// Most findings that are kept of one file: a hostile header could cause one for every two bytes.
const MOST: usize = 100;

/// Collects findings whose places are given as offsets in a text.
pub(super) struct Log<'a> {
    text: &'a str,
    findings: Vec<Finding>,
}

impl<'a> Log<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, findings: Vec::new() }
    }

    pub(super) fn warn(&mut self, at: usize, code: &'static str, message: impl Into<String>) {
        self.add(Severity::Warning, at, code, message);
    }

    pub(super) fn add(&mut self, severity: Severity, at: usize, code: &'static str, message: impl Into<String>) {
        let (code, message) = match self.findings.len() {
            MOST => ("more-findings", format!("there are more than {MOST} findings; the others are not shown")),
            more if more > MOST => return,
            _ => (code, message.into()),
        };
        let (line, column) = super::text::position(self.text, at);
        self.findings.push(Finding { severity, code, line, column, message });
    }

    pub(super) fn count(&self) -> usize {
        self.findings.len()
    }

    pub(super) fn into_findings(self) -> Vec<Finding> {
        self.findings
    }
}
