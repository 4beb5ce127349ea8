//! What OpenClaw's metadata say, and what it means on a host.

use super::super::{Host, Requirements, Requires, SkillFile};

fn requirements(metadata: &str) -> Option<Requirements> {
    let text = format!("---\nname: skill\ndescription: Does it.\n{metadata}\n---\n");
    let file = SkillFile::parse(text.as_bytes(), "skill").unwrap();
    assert!(file.findings().is_empty(), "{:?}", file.findings());
    file.manifest().requirements()
}

#[test]
fn all_fields_are_read() {
    let expected = Requirements {
        always: true,
        skill_key: Some("key".into()),
        primary_env: Some("TOKEN".into()),
        emoji: Some("🦞".into()),
        homepage: Some("https://example.org/".into()),
        os: vec!["darwin".into(), "linux".into()],
        requires: Requires {
            bins: vec!["git".into()],
            any_bins: vec!["npm".into(), "pnpm".into()],
            env: vec!["TOKEN".into()],
            config: vec!["browser.enabled".into()],
        },
    };
    let braces = r#"metadata:
  {
    "openclaw":
      {
        "always": true, "skillKey": "key", "primaryEnv": "TOKEN", "emoji": "🦞",
        "homepage": "https://example.org/", "os": ["darwin", "linux"],
        "requires": { "bins": ["git"], "anyBins": ["npm", "pnpm"], "env": ["TOKEN"], "config": ["browser.enabled"] },
        "install": [{ "kind": "brew" }],
      },
  }"#;
    assert_eq!(requirements(braces).as_ref(), Some(&expected));
    let lines = "homepage: https://example.org/\nmetadata:\n  clawdbot:\n    always: \"yes\"\n    skillKey: key\n    \
                 primaryEnv: TOKEN\n    emoji: 🦞\n    os: darwin, linux\n    requires:\n      bins: git\n      \
                 anyBins: [npm, pnpm]\n      env:\n      - TOKEN\n      config: browser.enabled";
    assert_eq!(requirements(lines), Some(expected.clone()));
    let text = r#"metadata: '{"openclaw": {"os": "linux"}}'"#;
    assert_eq!(requirements(text), Some(Requirements { os: vec!["linux".into()], ..Requirements::default() }));
    let top = "clawdis:\n  emoji: x";
    assert_eq!(requirements(top), Some(Requirements { emoji: Some("x".into()), ..Requirements::default() }));
    for none in ["license: MIT", "metadata:\n  openclaw: yes", "metadata:\n  author: me"] {
        assert_eq!(requirements(none), None, "{none}");
    }
}

#[test]
fn reasons_are_told() {
    let unmet = |metadata: &str| {
        let commands = |name: &str| name == "git" || name == "npm";
        let (env, config) = (|name: &str| name == "HOME", |name: &str| name == "on");
        let host = Host { commands: &commands, env: &env, config: &config, os: "macos" };
        requirements(metadata).unwrap().unmet(&host)
    };
    let with = |requires: &str| format!("metadata: {{openclaw: {{requires: {{{requires}}}}}}}");
    let none: [&str; 0] = [];
    assert_eq!(unmet(&with("bins: [git], anyBins: [yarn, npm], env: [HOME], config: [on]")), none);
    assert_eq!(
        unmet(&with("bins: [git, hg, svn], anyBins: [a, b], env: [KEY], config: [x.y]")),
        [
            "needs the command `hg`",
            "needs the command `svn`",
            "needs one of the commands `a`, `b`",
            "needs the environment variable `KEY`",
            "needs the setting `x.y`",
        ]
    );
    assert_eq!(unmet("metadata: {openclaw: {os: [darwin]}}"), none);
    assert_eq!(unmet("metadata: {openclaw: {os: [win32, linux]}}"), ["works on win32, linux only, and this is macos"]);
    assert_eq!(unmet("metadata: {openclaw: {always: true, requires: {bins: [hg]}}}"), none);
    assert_eq!(
        unmet("metadata: {openclaw: {always: true, os: linux, requires: {bins: [hg]}}}"),
        ["works on linux only, and this is macos"]
    );
}
