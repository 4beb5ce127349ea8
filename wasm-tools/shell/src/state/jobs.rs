//! Background jobs of one shell environment.

use crate::os::Status;

/// A background job.
#[derive(Debug, Clone)]
pub struct Job {
    pub number: u32,
    pub pid: i32,
    pub command: Vec<u8>,
    /// How it ended, once it has.
    pub status: Option<Status>,
    /// It belongs to the parent environment: a subshell lists it but cannot wait for it.
    pub inherited: bool,
}

/// The job table.
#[derive(Debug, Clone, Default)]
pub struct Jobs {
    pub list: Vec<Job>,
    /// Ended processes that `wait PID` may still ask for.
    pub finished: Vec<(i32, i32)>,
    /// Processes of process substitutions and disowned jobs.
    pub others: Vec<i32>,
}

/// Ended processes remembered beyond their job.
const REMEMBERED: usize = 1000;

impl Jobs {
    /// Adds a job and returns its number.
    pub fn add(&mut self, pid: i32, command: Vec<u8>) -> u32 {
        let number = self.list.iter().map(|j| j.number).max().unwrap_or(0) + 1;
        self.list.push(Job {
            number,
            pid,
            command,
            status: None,
            inherited: false,
        });
        number
    }

    /// Notes that a process has ended.
    pub fn ended(&mut self, pid: i32, status: Status) {
        if let Some(job) = self.list.iter_mut().find(|j| j.pid == pid) {
            job.status = Some(status);
        }
        self.others.retain(|&p| p != pid);
        self.remember(pid, status.shell_code());
    }

    /// Keeps a status for `wait PID`.
    pub fn remember(&mut self, pid: i32, code: i32) {
        self.finished.retain(|&(p, _)| p != pid);
        if self.finished.len() >= REMEMBERED {
            self.finished.remove(0);
        }
        self.finished.push((pid, code));
    }

    /// Forgets a job.
    pub fn remove(&mut self, pid: i32) {
        self.list.retain(|j| j.pid != pid);
    }

    /// Whether a name or a text is that of several jobs.
    pub fn is_ambiguous(&self, spec: &[u8]) -> bool {
        let rest = spec.strip_prefix(b"%").unwrap_or(spec);
        match rest {
            b"" | b"%" | b"+" | b"-" => false,
            [b'?', text @ ..] => self.list.iter().filter(|j| j.contains(text)).count() > 1,
            _ => self.list.iter().filter(|j| j.begins(rest)).count() > 1,
        }
    }

    /// The job that `%n`, `%%`, `%+`, `%-`, `%name` or `%?text` names.
    pub fn find(&self, spec: &[u8]) -> Option<&Job> {
        let rest = spec.strip_prefix(b"%").unwrap_or(spec);
        match rest {
            b"" | b"%" | b"+" => self.list.last(),
            b"-" => self.list.iter().rev().nth(1).or(self.list.last()),
            _ if rest.iter().all(u8::is_ascii_digit) => {
                let n: u32 = std::str::from_utf8(rest).ok()?.parse().ok()?;
                self.list.iter().find(|j| j.number == n)
            }
            // What several jobs have is nobody's.
            _ if self.is_ambiguous(spec) => None,
            [b'?', text @ ..] => self.list.iter().find(|j| j.contains(text)),
            _ => self.list.iter().find(|j| j.begins(rest)),
        }
    }
}

impl Job {
    /// Whether a command of its pipeline begins with the text.
    fn begins(&self, text: &[u8]) -> bool {
        let behind = [b" | ", text].concat();
        self.command.starts_with(text) || self.command.windows(behind.len()).any(|w| w == behind)
    }

    /// Whether a command of its pipeline has the text in it.
    fn contains(&self, text: &[u8]) -> bool {
        let bar = text.windows(2).any(|w| w == b" |" || w == b"| ");
        !bar && self.command.windows(text.len().max(1)).any(|w| w == text)
    }
}
