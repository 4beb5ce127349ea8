//! How often what happened.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

/// Most series of one counter. Names come from models too; what is beyond is counted under `other`.
const SERIES: usize = 1024;
/// Most bytes of a name.
const NAME: usize = 64;
const OTHER: &str = "other";

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CallEnd {
    /// With a result; a failed command is one.
    Ok,
    /// With an error.
    Error,
    /// It was denied.
    Denied,
}

impl CallEnd {
    fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Denied => "denied",
        }
    }
}

/// A counter's labels: of limits the limit and the tool, of calls the tool and the end.
type Series = BTreeMap<(String, String), u64>;

/// What was counted, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// How often a limit refused something to a tool, by limit and tool.
    pub limit_hits: Series,
    /// Calls, by tool and how they ended (`ok`, `error`, `denied`).
    pub calls: Series,
}

/// Counters of calls and of limits, shared by all sessions.
///
/// ```
/// use wskill::audit::{CallEnd, Counters};
///
/// let counters = Counters::default();
/// counters.limit_hit("memory", "skill_run", 2);
/// counters.call("skill_run", CallEnd::Ok);
/// assert_eq!(counters.snapshot().limit_hits[&("memory".to_owned(), "skill_run".to_owned())], 2);
/// assert!(counters.prometheus().contains("wskill_tool_calls_total{tool=\"skill_run\",end=\"ok\"} 1\n"));
/// ```
#[derive(Debug, Default)]
pub struct Counters {
    counts: Mutex<Counts>,
}

impl Counters {
    /// Counts that a limit refused something, so many times, while a tool was called.
    pub fn limit_hit(&self, limit: &str, tool: &str, times: u64) {
        add(&mut self.lock().limit_hits, limit, tool, times);
    }

    /// Counts a call.
    pub fn call(&self, tool: &str, end: CallEnd) {
        add(&mut self.lock().calls, tool, end.as_str(), 1);
    }

    /// What was counted so far.
    pub fn snapshot(&self) -> Counts {
        self.lock().clone()
    }

    /// The counters in the text format of Prometheus (version 0.0.4).
    pub fn prometheus(&self) -> String {
        let counts = self.snapshot();
        let mut text = String::new();
        let hits = "How often a limit refused something.";
        family(&mut text, "wskill_limit_hits_total", hits, ["limit", "tool"], &counts.limit_hits);
        family(&mut text, "wskill_tool_calls_total", "Calls of tools.", ["tool", "end"], &counts.calls);
        text
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn add(series: &mut Series, first: &str, second: &str, times: u64) {
    let cut = |name: &str| name[..name.floor_char_boundary(NAME)].to_owned();
    let mut labels = (cut(first), cut(second));
    if series.len() >= SERIES && !series.contains_key(&labels) {
        labels = (OTHER.into(), OTHER.into());
    }
    let count = series.entry(labels).or_default();
    *count = count.saturating_add(times);
}

fn family(text: &mut String, name: &str, help: &str, labels: [&str; 2], series: &Series) {
    // Writing to a string does not fail.
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} counter");
    for ((first, second), count) in series {
        let [one, other] = labels;
        let _ = writeln!(text, "{name}{{{one}=\"{}\",{other}=\"{}\"}} {count}", escaped(first), escaped(second));
    }
}

fn escaped(label: &str) -> String {
    label.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
