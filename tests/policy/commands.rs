//! Which commands may be started.

use wskill::policy::{CommandPolicy, Surface};

fn policy(allowed: Option<&[&str]>, denied: &[&str]) -> CommandPolicy {
    CommandPolicy::new(allowed, denied).unwrap()
}

#[test]
fn what_is_allowed() {
    // allowed, denied, name, path, allowed?
    type Case<'a> = (Option<&'a [&'a str]>, &'a [&'a str], &'a str, Option<&'a str>, bool);
    let cases: &[Case<'_>] = &[
        (None, &[], "git", Some("/usr/bin/git"), true),
        (Some(&["git"]), &[], "git", Some("/usr/bin/git"), true),
        // By its path too, for it is the same command.
        (Some(&["git"]), &[], "/bin/git", Some("/usr/bin/git"), true),
        (Some(&["/bin/git"]), &[], "git", Some("/usr/bin/git"), true),
        (Some(&["git"]), &[], "GIT", Some("/usr/bin/GIT"), false),
        // Neither a file of this name, nor what PATH makes of it.
        (Some(&["git"]), &[], "./git", Some("/workspace/work/git"), false),
        (Some(&["git"]), &[], "git", Some("/workspace/work/git"), false),
        (Some(&["git"]), &[], "git", Some("/usr/bin/x/git"), false),
        // A link to something else is what it leads to.
        (Some(&["git"]), &[], "git", Some("/usr/bin/curl"), false),
        (Some(&["git"]), &[], "x", Some("/usr/bin/git"), true),
        // Builtins.
        (Some(&["echo"]), &[], "echo", None, true),
        (Some(&["echo"]), &[], "eval", None, false),
        (None, &["eval"], "eval", None, false),
        // Files by their path.
        (Some(&["/workspace/work/run.sh"]), &[], "./run.sh", Some("/workspace/work/run.sh"), true),
        (Some(&["/workspace/work/run.sh"]), &[], "run.sh", Some("/workspace/run.sh"), false),
        // Denied by base name, whatever the case and the place.
        (None, &["git"], "git", Some("/usr/bin/git"), false),
        (None, &["git"], "./GIT", Some("/workspace/work/GIT"), false),
        (None, &["/opt/git"], "git", Some("/usr/bin/git"), false),
        (None, &["git"], "x", Some("/usr/bin/git"), false),
        (None, &["git"], "git", Some("/usr/bin/other"), false),
        (None, &["git"], "github", Some("/usr/bin/github"), true),
        // Denied is denied.
        (Some(&["git"]), &["git"], "git", Some("/usr/bin/git"), false),
        (Some(&[]), &[], "git", Some("/usr/bin/git"), false),
    ];
    for (allowed, denied, name, path, expected) in cases {
        let verdict = policy(*allowed, denied).allows(name, *path);
        assert_eq!(verdict.is_allowed(), *expected, "{allowed:?} {denied:?} {name} {path:?}");
    }
}

#[test]
fn refusals_say_what_is_allowed() {
    let say = |policy: CommandPolicy| policy.allows("cu\nrl", Some("/usr/bin/curl")).to_string();
    assert_eq!(say(policy(None, &["curl"])), "`cu\\nrl` is not started: the policy denies `curl`");
    assert_eq!(say(policy(Some(&["ls", "git"]), &[])), "`cu\\nrl` is not started: the policy allows only git, ls");
    assert_eq!(say(policy(Some(&[]), &[])), "`cu\\nrl` is not started: the policy allows no command");
    let many: Vec<String> = (10..40).map(|number| format!("c{number}")).collect();
    let text = say(CommandPolicy::new(Some(&many), [""; 0]).unwrap());
    assert!(text.ends_with("c27, c28, c29 and 10 more"), "{text}");
}

#[test]
fn an_option_counts_more_than_the_environment() {
    let lookup = |name: &str| match name {
        "TRPC_AGENT_SKILL_RUN_ALLOWED_COMMANDS" => Some("git, python3\njq".to_owned()),
        "TRPC_AGENT_SKILL_RUN_DENIED_COMMANDS" => Some("curl".to_owned()),
        "TRPC_AGENT_WORKSPACE_EXEC_ALLOWED_COMMANDS" => Some(" , ".to_owned()),
        _ => None,
    };
    let show = |policy: CommandPolicy| {
        let allowed = policy.allowed().map(|set| set.iter().cloned().collect::<Vec<_>>().join(" "));
        (allowed, policy.denied().iter().cloned().collect::<Vec<_>>().join(" "))
    };
    let resolve = |allowed: Option<&[&str]>, denied: Option<&[&str]>, surface| {
        let owned = |list: Option<&[&str]>| list.map(|list| list.iter().map(ToString::to_string).collect::<Vec<_>>());
        let (allowed, denied) = (owned(allowed), owned(denied));
        show(CommandPolicy::resolve(allowed.as_deref(), denied.as_deref(), surface, lookup).unwrap())
    };
    let run = Surface::SkillRun;
    assert_eq!(resolve(None, None, run), (Some("git jq python3".into()), "curl".into()));
    assert_eq!(resolve(Some(&["ls"]), None, run), (Some("ls".into()), "curl".into()));
    assert_eq!(resolve(Some(&[]), Some(&[]), run), (Some(String::new()), String::new()));
    // A variable without entries is as one that is not set.
    assert_eq!(resolve(None, None, Surface::WorkspaceExec), (None, String::new()));
    let wrong = CommandPolicy::resolve(Some(&["./x".to_owned()]), None, run, lookup);
    assert_eq!(wrong.unwrap_err().variable, None);
    let wrong = CommandPolicy::resolve(None, None, run, |_| Some("./x".to_owned())).unwrap_err();
    assert_eq!(
        wrong.to_string(),
        "TRPC_AGENT_SKILL_RUN_ALLOWED_COMMANDS: `./x` names no command: give a name (`git`) or an absolute path \
         (`/workspace/work/run.sh`)"
    );
}

#[test]
fn layers_only_tighten() {
    let one = policy(Some(&["git", "ls", "/w/a"]), &["curl"]);
    let two = policy(Some(&["/bin/ls", "jq", "/w/a"]), &["wget"]);
    let open = policy(None, &[]);
    let both = one.and(&two);
    assert_eq!(both, policy(Some(&["/w/a", "ls"]), &["curl", "wget"]));
    assert_eq!(both, two.and(&one));
    assert_eq!(one.and(&open), one);
    assert_eq!(open.and(&one), one);
    assert!(open.and(&open).is_open());
}
