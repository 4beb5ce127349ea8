//! What the `allowed-tools` of loaded skills let a model call.

use std::collections::BTreeMap;
use std::fmt;

use super::commands::CommandPolicy;
use super::pattern;

/// Tools that are never restricted: those that tell of skills and select what is shown, and those that go on with what
/// an allowed call began.
const FREE: [&str; 13] = [
    "Skill",
    "skill_kill_session",
    "skill_list",
    "skill_list_docs",
    "skill_list_tools",
    "skill_load",
    "skill_poll_session",
    "skill_search",
    "skill_select_docs",
    "skill_select_tools",
    "skill_write_stdin",
    "workspace_kill_session",
    "workspace_write_stdin",
];

/// What the names of other clients' tools mean here.
const CLIENT_NAMES: [(&str, &[&str]); 9] = [
    ("Bash", &["execute_code", "skill_exec", "skill_run", "workspace_exec"]),
    ("Edit", &["workspace_edit"]),
    ("Glob", &["workspace_list"]),
    ("Grep", &["workspace_list", "workspace_read"]),
    ("LS", &["workspace_list"]),
    ("MultiEdit", &["workspace_edit"]),
    ("NotebookEdit", &["workspace_edit"]),
    ("Read", &["workspace_list", "workspace_read"]),
    ("Write", &["workspace_save_artifact", "workspace_write"]),
];

/// Our tools that run commands.
const RUNNERS: &[&str] = CLIENT_NAMES[0].1;

/// An entry of `allowed-tools`: a tool, and for what of it.
///
/// ```
/// use wskill::policy::AllowedTool;
/// let entry = AllowedTool::parse("Bash(git add:*)");
/// assert_eq!((entry.tool(), entry.pattern()), ("Bash", Some("git add:*")));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedTool {
    tool: String,
    pattern: Option<String>,
}

impl AllowedTool {
    /// Reads `Read`, `Bash(git:*)`, `skill_run`, `mcp__github__*`. Every text is an entry; one that names no tool
    /// allows none.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        let parts = text.strip_suffix(')').and_then(|text| text.split_once('('));
        let (tool, pattern) = parts.map_or((text, None), |(tool, pattern)| (tool, Some(pattern.trim())));
        // `Bash()`, `Bash(*)` and `Bash(:*)` are `Bash`.
        let pattern = pattern.filter(|pattern| !matches!(*pattern, "" | "*" | ":*" | "**"));
        Self { tool: tool.trim().to_owned(), pattern: pattern.map(str::to_owned) }
    }

    /// The tool, as the skill names it.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// What is within parentheses; nothing when that is all.
    pub fn pattern(&self) -> Option<&str> {
        self.pattern.as_deref()
    }

    /// Whether this entry names the tool, by our name, a client's, or with `*` at the end.
    fn names(&self, tool: &str) -> bool {
        match self.tool.strip_suffix('*') {
            Some(prefix) => tool.starts_with(prefix),
            None => {
                self.tool == tool
                    || CLIENT_NAMES.iter().any(|(name, tools)| *name == self.tool && tools.contains(&tool))
            }
        }
    }

    /// The command that a pattern for a tool that runs commands begins with, as an entry of a [`CommandPolicy`]: a
    /// name, or the path in the sandbox of a script of the skill. Nothing for what cannot be one command.
    fn command(&self, skill: &str) -> Option<String> {
        let pattern = self.pattern.as_deref()?;
        let word = pattern.split(|c: char| c.is_whitespace()).next()?;
        let word = word.strip_suffix(":*").unwrap_or(word);
        let (base, relative) = ["{baseDir}/", "${CLAUDE_SKILL_DIR}/", "./"]
            .iter()
            .find_map(|base| word.strip_prefix(base).map(|rest| (true, rest)))
            .unwrap_or((false, word));
        let in_skill = base || (relative.contains('/') && !relative.starts_with('/'));
        let entry = if in_skill { format!("/workspace/skills/{skill}/{relative}") } else { word.to_owned() };
        let plain = !entry.contains(['*', '?', '[', '$', '{', ':']);
        (plain && CommandPolicy::new(Some([&entry]), [""; 0]).is_ok()).then_some(entry)
    }
}

impl fmt::Display for AllowedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.tool.escape_debug())?;
        self.pattern.as_ref().map_or(Ok(()), |pattern| write!(f, "({})", pattern.escape_debug()))
    }
}

/// What a call is, as far as `allowed-tools` look at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolCall<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// The skill that the call is made for, when it names one.
    pub skill: Option<&'a str>,
    /// The file that the call names, relative to the workspace, for tools that read or write one.
    pub path: Option<&'a str>,
}

/// Whether a call is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolVerdict {
    /// It is, and these commands may be started by it. Open for tools that run none.
    Allowed(CommandPolicy),
    /// It is not; the reason is for the model.
    Denied(String),
}

/// The restrictions of the skills that are loaded at this moment.
///
/// `allowed-tools` restrict the calls that are made *for the skill* that has them:
///
/// - A call that names a skill (`skill_run`, `skill_exec`) is held to that skill's list; without a list it is free.
/// - A call that names none (`workspace_exec`, `workspace_write`, tools of the host) may be made for any loaded skill:
///   it is allowed when one of them allows it, and free when one of them has no list or when none is loaded.
/// - Tools that tell of skills, load them and select from them, and those that go on with a running command, are free.
///
/// This is a function of what is loaded now, and keeps nothing: with the skill its restrictions are gone.
///
/// `Bash` is every tool that runs commands; `Bash(git:*)` and `Bash(git add:*)` let these start `git` and nothing else.
/// Which arguments a command gets is not looked at, as scripts make them while they run. A path as pattern,
/// `Read(docs/**)`, is compared with the call's file, seen from the workspace and from the skill's folder.
///
/// ```
/// use wskill::policy::{AllowedTools, ToolCall, ToolVerdict};
///
/// let tools = AllowedTools::new([("git-notes", ["Bash(git:*)", "Read"])]);
/// let call = ToolCall { tool: "skill_run", skill: Some("git-notes"), path: None };
/// let ToolVerdict::Allowed(commands) = tools.verdict(&call) else { unreachable!() };
/// assert!(commands.allows("git", Some("/usr/bin/git")).is_allowed());
/// assert!(!commands.allows("curl", Some("/usr/bin/curl")).is_allowed());
/// let call = ToolCall { tool: "workspace_write", skill: None, path: None };
/// let ToolVerdict::Denied(reason) = tools.verdict(&call) else { unreachable!() };
/// assert_eq!(reason, "`workspace_write` is not among the allowed tools of the skill `git-notes`: Bash(git:*), Read");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowedTools {
    /// By skill; an empty list is no list, as front matter cannot tell them apart.
    skills: BTreeMap<String, Vec<AllowedTool>>,
}

impl AllowedTools {
    /// The restrictions of loaded skills, each a name with its
    /// [`allowed_tools`](crate::skill::Manifest::allowed_tools).
    pub fn new<N: Into<String>, T: AsRef<str>>(
        loaded: impl IntoIterator<Item = (N, impl IntoIterator<Item = T>)>,
    ) -> Self {
        let entries =
            |list: Vec<T>| list.iter().map(|entry| AllowedTool::parse(entry.as_ref())).collect::<Vec<AllowedTool>>();
        let skills = loaded.into_iter().map(|(name, list)| (name.into(), entries(list.into_iter().collect())));
        Self { skills: skills.collect() }
    }

    /// Whether a call is allowed, and what it may start.
    pub fn verdict(&self, call: &ToolCall<'_>) -> ToolVerdict {
        let free = || ToolVerdict::Allowed(CommandPolicy::default());
        if FREE.contains(&call.tool) {
            return free();
        }
        let concerned: Vec<(&String, &Vec<AllowedTool>)> = match call.skill {
            Some(skill) => self.skills.get_key_value(skill).into_iter().collect(),
            None => self.skills.iter().collect(),
        };
        if concerned.is_empty() || concerned.iter().any(|(_, list)| list.is_empty()) {
            return free();
        }
        let mut commands = Vec::new();
        let mut allowed = false;
        for (skill, list) in &concerned {
            for entry in list.iter().filter(|entry| entry.names(call.tool)) {
                match entry.pattern() {
                    None => return free(),
                    Some(_) if RUNNERS.contains(&call.tool) => {
                        allowed = true;
                        commands.extend(entry.command(skill));
                    }
                    Some(pattern) => {
                        if call.path.is_some_and(|path| in_pattern(pattern, path, skill)) {
                            return free();
                        }
                    }
                }
            }
        }
        // Entries of which none is a command allow no command; that is told before anything is started.
        let policy = CommandPolicy::new(Some(&commands), [""; 0]).ok();
        match policy.filter(|_| allowed && !commands.is_empty()) {
            Some(policy) => ToolVerdict::Allowed(policy),
            None => ToolVerdict::Denied(reason(call, &concerned)),
        }
    }
}

fn in_pattern(pattern: &str, path: &str, skill: &str) -> bool {
    let path = path.trim_start_matches("./");
    // What leaves a folder by `..` is in none.
    if path.split('/').any(|part| part == "..") {
        return false;
    }
    let path = path.strip_prefix("/workspace/").unwrap_or(path);
    let pattern = pattern.trim_start_matches("./");
    let of_skill = path.strip_prefix("skills/").and_then(|rest| rest.strip_prefix(skill)?.strip_prefix('/'));
    let from_workspace = pattern.strip_prefix("/workspace/").unwrap_or(pattern);
    // A folder is what `folder/**` begins with.
    let fits = |pattern: &str, path: &str| {
        pattern::matches(pattern, path) || pattern::matches(pattern, &format!("{}/", path.trim_end_matches('/')))
    };
    fits(from_workspace, path) || of_skill.is_some_and(|path| fits(pattern, path))
}

fn reason(call: &ToolCall<'_>, concerned: &[(&String, &Vec<AllowedTool>)]) -> String {
    const SHOWN: usize = 20;
    let one = |(skill, list): &(&String, &Vec<AllowedTool>)| {
        let mut names: Vec<String> = list.iter().take(SHOWN).map(ToString::to_string).collect();
        if list.len() > SHOWN {
            names.push("…".into());
        }
        format!("`{}`: {}", skill.escape_debug(), names.join(", "))
    };
    let several = if concerned.len() > 1 { "skills" } else { "skill" };
    let lists: Vec<String> = concerned.iter().map(one).collect();
    let what = match call.path {
        Some(path) => format!("`{}` of `{}`", call.tool.escape_debug(), path.escape_debug()),
        None => format!("`{}`", call.tool.escape_debug()),
    };
    format!("{what} is not among the allowed tools of the {several} {}", lists.join("; "))
}
