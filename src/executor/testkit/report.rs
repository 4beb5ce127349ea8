//! What checks have found.

use std::fmt;

use super::Capability;

/// What a check has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All is as it should be.
    Passed,
    /// The executor lacks what is checked, and says so as it should.
    Skipped(Capability),
    /// What is wrong.
    Failed(String),
}

/// A check and what it has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckResult {
    /// The check's name.
    pub name: &'static str,
    /// What it has found.
    pub verdict: Verdict,
}

/// What all checks have found, in their order. Shown as a line for each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The checks.
    pub results: Vec<CheckResult>,
}

impl Report {
    pub(super) fn add(&mut self, name: &'static str, verdict: Verdict) {
        self.results.push(CheckResult { name, verdict });
    }

    /// Whether none has failed.
    pub fn passed(&self) -> bool {
        self.failures().next().is_none()
    }

    /// The checks that have failed, with the reason.
    pub fn failures(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.results.iter().filter_map(|result| match &result.verdict {
            Verdict::Failed(reason) => Some((result.name, reason.as_str())),
            _ => None,
        })
    }

    /// The checks that were skipped, with what is lacking.
    pub fn skipped(&self) -> impl Iterator<Item = (&'static str, Capability)> {
        self.results.iter().filter_map(|result| match result.verdict {
            Verdict::Skipped(lacking) => Some((result.name, lacking)),
            _ => None,
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for CheckResult { name, verdict } in &self.results {
            match verdict {
                Verdict::Passed => writeln!(formatter, "passed   {name}")?,
                Verdict::Skipped(lacking) => writeln!(formatter, "skipped  {name}: no {}", lacking.as_str())?,
                Verdict::Failed(reason) => writeln!(formatter, "FAILED   {name}: {reason}")?,
            }
        }
        Ok(())
    }
}
