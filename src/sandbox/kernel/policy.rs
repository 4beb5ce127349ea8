//! Which commands a sandbox may run.

use std::collections::BTreeSet;

use super::image::base_name;

/// Names under which the same thing is installed, or what it does can be had: a rule for one is a rule for all.
const SAME: &[&[&str]] = &[
    &["bash", "sh"],
    &["python3", "python", "python3.13"],
    &["awk", "gawk", "mawk", "nawk"],
    &["grep", "egrep", "fgrep"],
    &["[", "test"],
    &["ls", "dir", "vdir"],
    &[".", "source"],
    &["declare", "typeset"],
    &["mapfile", "readarray"],
];

/// Which commands a sandbox may run: checked where a process starts and where the shell runs a builtin, so that neither
/// `sh -c`, `PATH`, links, copies, scripts, `env`, `xargs`, `find -exec` nor Python's `subprocess` get round it.
///
/// A rule is the name of an installed command (`rm`), which stands for what is behind it wherever it lies and whatever
/// it is called there, or the absolute path in the sandbox of a file that is no installed command
/// (`/skills/x/tool.wasm`). Names of the same program (`bash` and `sh`; `python3`, `python` and `python3.13`; `awk`,
/// `gawk`, `mawk` and `nawk`; `grep`, `egrep` and `fgrep`; `[` and `test`; `ls`, `dir` and `vdir`) share their rules.
/// Denying wins.
///
/// - **Denied** names are compared with every name in play: what was asked for, what it leads to (through links, `#!`
///   and `env`), each with its full path and its last part, and `argv[0]`. Any builtin of the shell can be denied too.
/// - With **allowed** names everything else is refused. What counts is what runs in the end: a script runs as its
///   interpreter, so `python3` allows all Python scripts, and naming a script allows nothing. A WebAssembly module
///   needs its full path; where the guest may write, it can put another module there. Builtins of the shell that are
///   commands too (`echo`, `kill`, `printf`, `pwd`, `test`, `true` …) must be allowed; the others (`cd`, `export`,
///   `read` …) belong to the shell.
///
/// What is refused has status 126 and the message `NAME: not allowed by the policy of this sandbox`; for the guest it
/// is `EPERM`. It is counted as `policy` in [`Outcome::limits_hit`](crate::Outcome::limits_hit), told in the hints and
/// to the trace. A module that the host itself runs ([`RunBuilder::module`](crate::RunBuilder::module)) is not checked.
///
/// The policy is about programs, not about files: who may run Python can remove files without `rm`.
///
/// ```
/// let policy = wskill::CommandPolicy::new().allow(["bash", "python3", "grep"]).deny(["kill"]);
/// assert!(policy.allows("egrep") && policy.allows("python"));
/// assert!(!policy.allows("kill") && !policy.allows("rm"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandPolicy {
    allowed: Option<BTreeSet<Vec<u8>>>,
    denied: BTreeSet<Vec<u8>>,
}

/// The name that stands for all with the same rules.
fn canonical(name: &[u8]) -> &[u8] {
    let same = SAME.iter().find(|same| same.iter().any(|other| other.as_bytes() == name));
    same.and_then(|same| same.first()).map_or(name, |first| first.as_bytes())
}

fn names(list: impl IntoIterator<Item = impl Into<String>>) -> impl Iterator<Item = Vec<u8>> {
    list.into_iter().map(|name| canonical(name.into().as_bytes()).to_vec())
}

impl CommandPolicy {
    /// Everything is allowed.
    pub fn new() -> Self {
        Self::default()
    }

    /// Allows these commands, and with the first call no others. An empty list allows nothing.
    #[must_use]
    pub fn allow(mut self, list: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.allowed.get_or_insert_default().extend(names(list));
        self
    }

    /// Denies these commands, allowed or not.
    #[must_use]
    pub fn deny(mut self, list: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.denied.extend(names(list));
        self
    }

    /// Whether this installed command may run under its own name.
    pub fn allows(&self, name: &str) -> bool {
        !self.is_denied(name.as_bytes()) && self.is_allowed(name.as_bytes())
    }

    /// Whether nothing is refused.
    pub fn is_empty(&self) -> bool {
        self.allowed.is_none() && self.denied.is_empty()
    }

    /// Whether a name or path is denied, whole or by its last part.
    pub(in crate::sandbox) fn is_denied(&self, name: &[u8]) -> bool {
        !self.denied.is_empty()
            && (self.denied.contains(canonical(name)) || self.denied.contains(canonical(base_name(name))))
    }

    /// Whether what runs in the end, an installed command's name or a module's path, is among the allowed.
    pub(in crate::sandbox) fn is_allowed(&self, program: &[u8]) -> bool {
        self.allowed.as_ref().is_none_or(|allowed| allowed.contains(canonical(program)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn denying_wins_and_a_list_shuts_out_the_rest() {
        let policy = CommandPolicy::new();
        assert!(policy.is_empty() && policy.allows("rm"));
        let policy = CommandPolicy::new().deny(["rm", "/x/tool"]);
        for (name, denied) in [
            ("rm", true),
            ("/usr/bin/rm", true),
            ("./rm", true),
            ("rmdir", false),
            ("/x/tool", true),
            ("tool", false),
            ("/y/tool", false),
        ] {
            assert_eq!(policy.is_denied(name.as_bytes()), denied, "{name}");
            assert!(policy.is_allowed(name.as_bytes()));
        }
        let policy = CommandPolicy::new().allow(["sh", "rm", "/x/tool"]).deny(["rm"]);
        assert!(policy.allows("bash") && !policy.allows("rm") && !policy.allows("ls"));
        assert!(policy.is_allowed(b"/x/tool") && !policy.is_allowed(b"/y/tool") && !policy.is_allowed(b"tool"));
        assert!(!CommandPolicy::new().allow([""; 0]).allows("true"));
    }

    #[test]
    fn names_of_the_same_program_share_their_rules() {
        let policy = CommandPolicy::new().deny(["python"]);
        assert!(["python", "python3", "python3.13"].iter().all(|name| !policy.allows(name)));
        assert!(policy.is_denied(b"/tmp/python3"));
    }
}
