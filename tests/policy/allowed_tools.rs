//! What `allowed-tools` let a model call.

use wskill::policy::{AllowedTool, AllowedTools, ToolCall, ToolVerdict};

fn call<'a>(tool: &'a str, skill: Option<&'a str>, path: Option<&'a str>) -> ToolCall<'a> {
    ToolCall { tool, skill, path }
}

/// `free`, `denied`, or the commands that are allowed.
fn verdict(tools: &AllowedTools, call: ToolCall<'_>) -> String {
    match tools.verdict(&call) {
        ToolVerdict::Denied(_) => "denied".into(),
        ToolVerdict::Allowed(policy) => match policy.allowed() {
            None => "free".into(),
            Some(commands) => commands.iter().cloned().collect::<Vec<_>>().join(" "),
        },
    }
}

#[test]
fn entries_are_a_tool_and_a_pattern() {
    for (text, tool, pattern) in [
        ("Read", "Read", None),
        (" Bash(git:*) ", "Bash", Some("git:*")),
        ("Bash(git add:*)", "Bash", Some("git add:*")),
        ("Bash(*)", "Bash", None),
        ("Bash( )", "Bash", None),
        ("Bash(:*)", "Bash", None),
        ("Bash(git", "Bash(git", None),
        ("Bash(f(x))", "Bash", Some("f(x)")),
        ("", "", None),
    ] {
        let entry = AllowedTool::parse(text);
        assert_eq!((entry.tool(), entry.pattern()), (tool, pattern), "{text}");
    }
    assert_eq!(AllowedTool::parse("Bash(git:*)").to_string(), "Bash(git:*)");
    assert_eq!(AllowedTool::parse("Read").to_string(), "Read");
}

#[test]
fn names_of_clients_are_our_tools() {
    for (entry, allowed) in [
        ("Bash", &["execute_code", "skill_exec", "skill_run", "workspace_exec"][..]),
        ("Read", &["workspace_list", "workspace_read"]),
        ("Write", &["workspace_save_artifact", "workspace_write"]),
        ("Edit", &["workspace_edit"]),
        ("MultiEdit", &["workspace_edit"]),
        ("NotebookEdit", &["workspace_edit"]),
        ("Glob", &["workspace_list"]),
        ("LS", &["workspace_list"]),
        ("Grep", &["workspace_list", "workspace_read"]),
        ("workspace_read", &["workspace_read"]),
        ("skill_run", &["skill_run"]),
        ("weather", &["weather"]),
        ("mcp__x__*", &["mcp__x__get"]),
        ("WebFetch", &[]),
        ("bash", &[]),
        ("", &[]),
    ] {
        let tools = AllowedTools::new([("s", [entry])]);
        for tool in [
            "execute_code",
            "mcp__x__get",
            "mcp__y__get",
            "skill_exec",
            "skill_run",
            "weather",
            "workspace_edit",
            "workspace_exec",
            "workspace_list",
            "workspace_read",
            "workspace_save_artifact",
            "workspace_write",
        ] {
            let expected = if allowed.contains(&tool) { "free" } else { "denied" };
            assert_eq!(verdict(&tools, call(tool, None, None)), expected, "{entry} {tool}");
            assert_eq!(verdict(&tools, call(tool, Some("s"), None)), expected, "{entry} {tool}");
        }
    }
}

#[test]
fn patterns_of_commands_restrict_what_is_started() {
    for (entries, expected) in [
        (&["Bash(git:*)"][..], "git"),
        (&["Bash(git add:*)", "Bash(jq *)", "Bash(git status)"], "git jq"),
        (&["Bash(git:*)", "Bash"], "free"),
        (&["skill_run(ls)"], "ls"),
        (&["Bash(scripts/run.sh:*)"], "/workspace/skills/s/scripts/run.sh"),
        (&["Bash(./run.sh)"], "/workspace/skills/s/run.sh"),
        (&["Bash({baseDir}/scripts/a.py *)"], "/workspace/skills/s/scripts/a.py"),
        (&["Bash(/usr/bin/git log:*)"], "git"),
        // What cannot be one command allows none; with another entry it allows nothing more.
        (&["Bash(*git*)"], "denied"),
        (&["Bash($X)"], "denied"),
        (&["Bash(../x)"], "denied"),
        (&["Bash(*git*)", "Bash(ls)"], "ls"),
        (&["Read"], "denied"),
    ] {
        let tools = AllowedTools::new([("s", entries.iter())]);
        assert_eq!(verdict(&tools, call("skill_run", Some("s"), None)), expected, "{entries:?}");
    }
}

#[test]
fn patterns_of_files_are_seen_from_the_workspace_and_the_skill() {
    let tools = AllowedTools::new([("s", ["Read(docs/**)", "Write(work/*.txt)"])]);
    for (tool, path, expected) in [
        ("workspace_read", Some("docs/a/b.md"), "free"),
        ("workspace_read", Some("./docs/a.md"), "free"),
        ("workspace_read", Some("skills/s/docs/a.md"), "free"),
        ("workspace_read", Some("/workspace/skills/s/docs/a.md"), "free"),
        ("workspace_list", Some("docs"), "free"),
        ("workspace_list", Some("skills/s/docs/"), "free"),
        ("workspace_list", Some("skills/s"), "denied"),
        ("workspace_read", Some("skills/t/docs/a.md"), "denied"),
        ("workspace_read", Some("docs/../x"), "denied"),
        ("workspace_read", Some("work/a.txt"), "denied"),
        ("workspace_read", None, "denied"),
        ("workspace_write", Some("work/a.txt"), "free"),
        ("workspace_write", Some("work/b/a.txt"), "denied"),
    ] {
        assert_eq!(verdict(&tools, call(tool, None, path)), expected, "{tool} {path:?}");
    }
}

#[test]
fn a_list_restricts_the_calls_for_its_skill_and_no_others() {
    let none: [&str; 0] = [];
    let lists = |loaded: &[(&str, &[&str])]| AllowedTools::new(loaded.iter().map(|(name, list)| (*name, list.iter())));
    let (git, jq, open) = (("git", &["Bash(git:*)"][..]), ("jq", &["Bash(jq:*)", "Read"][..]), ("open", &none[..]));
    for (loaded, tool, skill, expected) in [
        (&[][..], "workspace_exec", None, "free"),
        (&[git], "skill_run", Some("git"), "git"),
        (&[git], "workspace_exec", None, "git"),
        (&[git], "workspace_read", None, "denied"),
        (&[git, jq], "workspace_exec", None, "git jq"),
        (&[git, jq], "workspace_read", None, "free"),
        (&[git, jq], "workspace_write", None, "denied"),
        (&[git, jq], "skill_run", Some("git"), "git"),
        // The call may be made for the skill that is free.
        (&[git, open], "workspace_exec", None, "free"),
        (&[git, open], "skill_run", Some("git"), "git"),
        (&[git, open], "skill_run", Some("open"), "free"),
        // Restrictions go with the skill.
        (&[open], "skill_run", Some("git"), "free"),
    ] {
        assert_eq!(verdict(&lists(loaded), call(tool, skill, None)), expected, "{loaded:?} {tool} {skill:?}");
    }
    let tools = lists(&[git]);
    for free in ["skill_load", "skill_list", "skill_poll_session", "workspace_kill_session", "Skill"] {
        assert_eq!(verdict(&tools, call(free, Some("git"), None)), "free", "{free}");
    }
}

#[test]
fn refusals_name_the_lists() {
    let tools = AllowedTools::new([("a", ["Read"]), ("b", ["Bash(git:*)"])]);
    let reason = |call| match tools.verdict(&call) {
        ToolVerdict::Denied(reason) => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        reason(call("workspace_write", None, Some("work/x"))),
        "`workspace_write` of `work/x` is not among the allowed tools of the skills `a`: Read; `b`: Bash(git:*)"
    );
    assert_eq!(
        reason(call("skill_run", Some("a"), None)),
        "`skill_run` is not among the allowed tools of the skill `a`: Read"
    );
}
