//! Which commands may be started.

use std::collections::BTreeSet;
use std::fmt;

/// Folders of the sandbox's own commands. The first is where they are, the others lead there.
const COMMAND_FOLDERS: [&str; 4] = ["/usr/bin/", "/bin/", "/usr/sbin/", "/sbin/"];
/// Most names that a message lists.
const SHOWN: usize = 20;

/// Which tool's environment variables are read for a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    /// `skill_run`, `skill_exec`: `TRPC_AGENT_SKILL_RUN_ALLOWED_COMMANDS` and `…_DENIED_COMMANDS`.
    SkillRun,
    /// `workspace_exec`: `TRPC_AGENT_WORKSPACE_EXEC_ALLOWED_COMMANDS` and `…_DENIED_COMMANDS`.
    WorkspaceExec,
}

impl Surface {
    /// The variables of the allowed and of the denied commands.
    pub fn variables(self) -> [&'static str; 2] {
        match self {
            Self::SkillRun => ["TRPC_AGENT_SKILL_RUN_ALLOWED_COMMANDS", "TRPC_AGENT_SKILL_RUN_DENIED_COMMANDS"],
            Self::WorkspaceExec => {
                ["TRPC_AGENT_WORKSPACE_EXEC_ALLOWED_COMMANDS", "TRPC_AGENT_WORKSPACE_EXEC_DENIED_COMMANDS"]
            }
        }
    }
}

/// Which commands may be started, as data; it is asked where processes start, not about the text of a command line.
///
/// - **Denied** is a command when the base name of what was called, or of the file that it leads to, is the base name
///   of an entry, whatever the case of letters: `git` denies `/usr/bin/git`, `./git` and `GIT`.
/// - **Allowed** is, when there is a list, only what an entry names exactly. An entry without `/` is a command of the
///   sandbox (a file in `/usr/bin`, or a builtin of the shell): `echo` does not allow `./echo`, nor a file `echo` that
///   a changed `PATH` leads to. An entry that is an absolute path is that file:
///   `/workspace/skills/pdf/scripts/fill.sh`.
/// - What is both is denied. Without lists everything is allowed; an empty list of allowed commands allows nothing.
///
/// ```
/// use wskill::policy::CommandPolicy;
///
/// let policy = CommandPolicy::new(Some(["echo", "python3"]), ["python3"])?;
/// assert!(policy.allows("echo", Some("/usr/bin/echo")).is_allowed());
/// assert!(!policy.allows("./echo", Some("/workspace/work/echo")).is_allowed());
/// let denied = policy.allows("py", Some("/usr/bin/python3"));
/// assert_eq!(denied.to_string(), "`py` is not started: the policy denies `python3`");
/// # Ok::<(), wskill::policy::CommandEntryError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandPolicy {
    allowed: Option<BTreeSet<String>>,
    denied: BTreeSet<String>,
}

/// An entry that names no command.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{}`{}` names no command: give a name (`git`) or an absolute path (`/workspace/work/run.sh`)",
    variable.map(|variable| format!("{variable}: ")).unwrap_or_default(),
    entry.escape_debug()
)]
pub struct CommandEntryError {
    /// The entry as given.
    pub entry: String,
    /// The environment variable that it is in.
    pub variable: Option<&'static str>,
}

/// What a policy says of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandVerdict {
    /// It may be started.
    Allowed,
    /// An entry denies it.
    Denied {
        /// What was called.
        name: String,
        /// The base name that is denied.
        entry: String,
    },
    /// There is a list of allowed commands, and it is not on it.
    NotAllowed {
        /// What was called.
        name: String,
        /// The first allowed commands, in order.
        allowed: Vec<String>,
        /// How many more there are.
        more: usize,
    },
}

impl CommandVerdict {
    /// Whether the command may be started.
    pub fn is_allowed(&self) -> bool {
        *self == Self::Allowed
    }
}

impl fmt::Display for CommandVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Allowed => f.write_str("allowed"),
            Self::Denied { name, entry } => {
                write!(f, "`{}` is not started: the policy denies `{entry}`", name.escape_debug())
            }
            Self::NotAllowed { name, allowed, more } => {
                write!(f, "`{}` is not started: the policy allows ", name.escape_debug())?;
                if allowed.is_empty() { f.write_str("no command") } else { write!(f, "only {}", allowed.join(", ")) }?;
                if *more > 0 { write!(f, " and {more} more") } else { Ok(()) }
            }
        }
    }
}

impl CommandPolicy {
    /// A policy of entries; no list of allowed commands allows all.
    ///
    /// # Errors
    /// An entry that is empty or a relative path, or has a NUL.
    pub fn new<A: AsRef<str>, D: AsRef<str>>(
        allowed: Option<impl IntoIterator<Item = A>>,
        denied: impl IntoIterator<Item = D>,
    ) -> Result<Self, CommandEntryError> {
        let allowed = allowed.map(|list| list.into_iter().map(|entry| allow_entry(entry.as_ref())).collect());
        let denied = denied.into_iter().map(|entry| deny_entry(entry.as_ref())).collect::<Result<_, _>>()?;
        Ok(Self { allowed: allowed.transpose()?, denied })
    }

    /// The policy of a tool: each list is the option when there is one, else that of the environment variable, which
    /// counts when it has an entry. `lookup` reads the environment.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn resolve(
        allowed: Option<&[String]>,
        denied: Option<&[String]>,
        surface: Surface,
        lookup: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, CommandEntryError> {
        let [allow_variable, deny_variable] = surface.variables();
        let from_environment = |variable| lookup(variable).map(|text| split(&text)).filter(|list| !list.is_empty());
        let policy = |allowed: Option<&[String]>, denied: Option<&[String]>, variable| {
            let named = |error| CommandEntryError { variable, ..error };
            Self::new(allowed, denied.unwrap_or_default()).map_err(named)
        };
        let given = policy(allowed, denied, None)?;
        let allowed = allowed.is_none().then(|| from_environment(allow_variable)).flatten();
        let denied = denied.is_none().then(|| from_environment(deny_variable)).flatten();
        let given = given.and(&policy(allowed.as_deref(), None, Some(allow_variable))?);
        Ok(given.and(&policy(None, denied.as_deref(), Some(deny_variable))?))
    }

    /// The policy that allows what both allow.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let allowed = match (&self.allowed, &other.allowed) {
            (Some(one), Some(two)) => Some(one.intersection(two).cloned().collect()),
            (one, two) => one.as_ref().or(two.as_ref()).cloned(),
        };
        Self { allowed, denied: self.denied.union(&other.denied).cloned().collect() }
    }

    /// Whether a command may be started. `name` is what was called (`argv[0]`, `git`, `./run.sh`); `path` the absolute
    /// path in the sandbox that it leads to, all links followed, or nothing for a builtin of the shell.
    pub fn allows(&self, name: &str, path: Option<&str>) -> CommandVerdict {
        let called = [Some(name), path].into_iter().flatten().map(|text| base_name(text).to_lowercase());
        for base in called {
            if self.denied.contains(&base) {
                return CommandVerdict::Denied { name: name.into(), entry: base };
            }
        }
        let Some(allowed) = &self.allowed else { return CommandVerdict::Allowed };
        if allowed.contains(short(path.unwrap_or(name))) {
            return CommandVerdict::Allowed;
        }
        let shown = allowed.iter().take(SHOWN).cloned().collect();
        CommandVerdict::NotAllowed { name: name.into(), allowed: shown, more: allowed.len().saturating_sub(SHOWN) }
    }

    /// The allowed commands: names, and absolute paths of what is no command of the sandbox. `None`: all.
    pub fn allowed(&self) -> Option<&BTreeSet<String>> {
        self.allowed.as_ref()
    }

    /// The base names of denied commands, in lower case.
    pub fn denied(&self) -> &BTreeSet<String> {
        &self.denied
    }

    /// Whether nothing is restricted.
    pub fn is_open(&self) -> bool {
        self.allowed.is_none() && self.denied.is_empty()
    }
}

/// The entries of an environment variable: split at commas and white space.
fn split(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| c == ',' || c.is_whitespace());
    parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

fn allow_entry(entry: &str) -> Result<String, CommandEntryError> {
    let wrong = || CommandEntryError { entry: entry.into(), variable: None };
    let entry = entry.trim();
    let relative = entry.contains('/') && !entry.starts_with('/');
    let parts = || entry.split('/').skip(1);
    // Paths that are asked about have none of these.
    let normal = !entry.starts_with('/') || parts().all(|part| !matches!(part, "" | "." | ".."));
    if entry.is_empty() || entry.contains('\0') || relative || !normal {
        return Err(wrong());
    }
    Ok(short(entry).to_owned())
}

fn deny_entry(entry: &str) -> Result<String, CommandEntryError> {
    let base = base_name(entry.trim());
    if base.is_empty() || base.contains('\0') {
        return Err(CommandEntryError { entry: entry.into(), variable: None });
    }
    Ok(base.to_lowercase())
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A command of the sandbox by its name, whatever path it was given by; else the path.
fn short(path: &str) -> &str {
    let own = COMMAND_FOLDERS.iter().find_map(|folder| path.strip_prefix(folder));
    own.filter(|name| !name.contains('/')).unwrap_or(path)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const NONE: [&str; 0] = [];

    #[test]
    fn lists_of_variables_are_split_at_commas_and_blanks() {
        assert_eq!(split(" git, python3\n\tjq,,ls "), ["git", "python3", "jq", "ls"]);
        assert_eq!(split(" , "), NONE);
    }

    #[test]
    fn entries_name_commands() {
        for (entry, kept) in [("git", "git"), (" git ", "git"), ("/bin/git", "git"), ("/w/x.sh", "/w/x.sh")] {
            assert_eq!(allow_entry(entry).as_deref(), Ok(kept), "{entry}");
        }
        for entry in ["", " ", "./git", "a/b", "/a/../b", "/a//b", "/a/", "/", "g\0t"] {
            assert!(allow_entry(entry).is_err(), "{entry:?}");
        }
        assert_eq!(deny_entry("./x/GIT").as_deref(), Ok("git"));
        assert!(deny_entry("x/").is_err());
    }
}
