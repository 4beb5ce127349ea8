//! What holds when two files say something.

use std::time::Duration;

use proptest::prelude::*;
use wskill::config::Value;
use wskill::policy::Surface;

use super::files::Files;

#[test]
fn a_project_counts_more_where_it_guards_nothing() {
    let files = Files::new(
        "[run]\nsave_as_artifacts = true\noutputs.globs = [\"a\", \"b\"]\n\
         [skills]\nroots = [\"mine\"]\nnested = true\n",
        "[run]\noutputs.globs = [\"c\"]\nartifact_prefix = \"p\"\n[skills]\nroots = [\"theirs\"]\n",
    );
    for (key, value, origin) in [
        ("run.save_as_artifacts", "true", "user/wskill.toml:2"),
        ("run.outputs.globs", "[\"c\"]", "project/wskill.toml:2"),
        ("run.artifact_prefix", "\"p\"", "project/wskill.toml:3"),
        ("skills.roots", "[\"project/theirs\"]", "project/wskill.toml:5"),
        ("skills.nested", "true", "user/wskill.toml:6"),
        ("skills.well_known", "false", "default"),
    ] {
        assert_eq!(files.get(None, key), (value.into(), origin.into()), "{key}");
    }
    assert_eq!(files.warnings(None), [""; 0]);
}

#[test]
fn a_project_cannot_loosen() {
    // user, project, key, value, origin, warning
    for (user, project, key, value, origin, warning) in [
        // Limits go down only: below the user's, and below the default where the user sets none.
        ("limits.memory = 1000", "limits.memory = 999", "limits.memory", "\"999\"", "project:1", ""),
        (
            "limits.memory = 1000",
            "limits.memory = \"1K\"",
            "limits.memory",
            "\"1000\"",
            "user:1",
            "`limits.memory` is not used: a project's file may only tighten it, and it is \"1000\" (user:1)",
        ),
        ("limits.memory = \"4G\"", "", "limits.memory", "\"4G\"", "user:1", ""),
        ("limits.memory = \"4G\"", "limits.memory = \"3G\"", "limits.memory", "\"3G\"", "project:1", ""),
        (
            "",
            "limits.memory = \"2G\"",
            "limits.memory",
            "\"1G\"",
            "default",
            "`limits.memory` is not used: a project's file may only tighten it, and it is \"1G\" (default)",
        ),
        (
            "limits.fuel = 5",
            "limits.fuel = \"off\"",
            "limits.fuel",
            "\"5\"",
            "user:1",
            "`limits.fuel` is not used: a project's file may only tighten it, and it is \"5\" (user:1)",
        ),
        ("", "limits.fuel = 7", "limits.fuel", "\"7\"", "project:1", ""),
        (
            "",
            "run.outputs.max_files = 101",
            "run.outputs.max_files",
            "100",
            "default",
            "`run.outputs.max_files` is not used: a project's file may only tighten it, and it is 100 (default)",
        ),
        // Commands.
        (
            "policy.denied_commands = [\"git\"]",
            "policy.denied_commands = [\"curl\"]",
            "policy.denied_commands",
            "[\"curl\", \"git\"]",
            "user:1, project:1",
            "",
        ),
        (
            "policy.denied_commands = [\"git\"]",
            "policy.denied_commands = []",
            "policy.denied_commands",
            "[\"git\"]",
            "user:1, project:1",
            "",
        ),
        (
            "policy.allowed_commands = [\"git\", \"jq\"]",
            "policy.allowed_commands = [\"curl\", \"jq\"]",
            "policy.allowed_commands",
            "[\"jq\"]",
            "user:1, project:1",
            "",
        ),
        ("", "policy.allowed_commands = [\"jq\"]", "policy.allowed_commands", "[\"jq\"]", "project:1", ""),
        ("policy.allowed_commands = []", "", "policy.allowed_commands", "[]", "user:1", ""),
        // Flags.
        ("", "policy.require_skill_loaded = true", "policy.require_skill_loaded", "true", "project:1", ""),
        (
            "policy.require_skill_loaded = true",
            "policy.require_skill_loaded = false",
            "policy.require_skill_loaded",
            "true",
            "user:1",
            "`policy.require_skill_loaded` is not used: a project's file may only set it to true, and it is true \
             (user:1)",
        ),
        (
            "",
            "policy.read_scripts = true",
            "policy.read_scripts",
            "false",
            "default",
            "`policy.read_scripts` is not used: a project's file may only set it to false, and it is false (default)",
        ),
        ("policy.read_scripts = true", "policy.read_scripts = false", "policy.read_scripts", "false", "project:1", ""),
        // Trust.
        ("trust.mode = \"ask\"", "trust.mode = \"known\"", "trust.mode", "\"known\"", "project:1", ""),
        (
            "trust.mode = \"known\"",
            "trust.mode = \"all\"",
            "trust.mode",
            "\"known\"",
            "user:1",
            "`trust.mode` is not used: a project's file may only tighten it, and it is \"known\" (user:1)",
        ),
        (
            "",
            "trust.digests = \"mine.json\"",
            "trust.digests",
            "-",
            "default",
            "`trust.digests` is not used: only the user's file may set it",
        ),
        // Roots.
        (
            "skills.roots = [\"/mine\"]",
            "skills.roots = [\"/home\", \"../x\", \"https://e.org/a.skill\", \"ok\"]",
            "skills.roots",
            "[\"project/ok\"]",
            "project:1",
            "`skills.roots` is not used: a project's roots are folders in the project, and `/home` is not|\
             `skills.roots` is not used: a project's roots are folders in the project, and `../x` is not|\
             `skills.roots` is not used: a project's roots are folders in the project, and \
             `https://e.org/a.skill` is not",
        ),
        (
            "skills.roots = [\"/mine\"]",
            "skills.roots = [\"/home\"]",
            "skills.roots",
            "[\"/mine\"]",
            "user:1",
            "`skills.roots` is not used: a project's roots are folders in the project, and `/home` is not",
        ),
    ] {
        let files = Files::new(user, project);
        let brief = |text: String| text.replace("/wskill.toml", "");
        let (found, from) = files.get(None, key);
        assert_eq!((found.as_str(), brief(from).as_str()), (value, origin), "{user} / {project}");
        let warnings: Vec<_> = files.warnings(None).into_iter().map(brief).collect();
        let expected: Vec<_> =
            warning.split('|').filter(|text| !text.is_empty()).map(|text| format!("project:1: {text}")).collect();
        assert_eq!(warnings, expected, "{user} / {project}");
    }
}

#[test]
fn a_project_does_not_take_the_place_of_the_environment() {
    let lookup = |name: &str| match name {
        "TRPC_AGENT_SKILL_RUN_ALLOWED_COMMANDS" => Some("git,jq".to_owned()),
        "TRPC_AGENT_SKILL_RUN_DENIED_COMMANDS" => Some("curl".to_owned()),
        _ => None,
    };
    // user, project, allowed, denied
    for (user, project, allowed, denied) in [
        ("", "", "git jq", "curl"),
        ("", "policy.allowed_commands = [\"jq\", \"sh\"]", "jq", "curl"),
        ("", "policy.denied_commands = [\"sh\"]", "git jq", "curl sh"),
        ("policy.allowed_commands = [\"ls\"]", "", "ls", "curl"),
        ("policy.allowed_commands = [\"ls\"]", "policy.allowed_commands = [\"git\", \"ls\"]", "ls", "curl"),
        ("policy.denied_commands = []", "", "git jq", ""),
        ("policy.denied_commands = [\"sh\"]", "policy.denied_commands = [\"nc\"]", "git jq", "nc sh"),
    ] {
        let policy = Files::new(user, project).settings(None).command_policy(Surface::SkillRun, lookup).unwrap();
        let words = |list: Option<&std::collections::BTreeSet<String>>| {
            list.into_iter().flatten().cloned().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(words(policy.allowed()), allowed, "{user} / {project}");
        assert_eq!(words(Some(policy.denied())), denied, "{user} / {project}");
    }
}

#[test]
fn a_call_has_at_most_the_time_of_a_run() {
    let files = Files::new("limits.wall_time = 60", "");
    assert_eq!(files.get(None, "run.timeout"), ("60".into(), "user/wskill.toml:1".into()));
    let files = Files::new("limits.wall_time = \"off\"\nrun.timeout = 1000", "run.timeout = 1001");
    assert_eq!(files.get(None, "run.timeout"), ("1000".into(), "user/wskill.toml:2".into()));
    let files = Files::new("run.timeout = 10", "limits.wall_time = 0.5");
    assert_eq!(files.settings(None).run().timeout, Duration::from_millis(500));
}

#[test]
fn a_skills_table_counts_more_within_its_file() {
    let files = Files::new(
        "[limits]\nmemory = 1000\n[policy]\nallowed_commands = [\"ls\"]\ndenied_commands = [\"curl\"]\n\
         [skill.big]\nlimits.memory = 5000\npolicy.allowed_commands = [\"git\", \"ls\"]\n\
         policy.denied_commands = [\"wget\"]\n\
         env = { LANG = \"C\", API_KEY = \"sk\" }\n",
        "[skill.big]\nlimits.memory = 3000\npolicy.allowed_commands = [\"git\", \"sh\"]\n\
         env = { API_URL = \"http://evil\", LANG = \"D\" }\n[skill.other]\nlimits.memory = 2000\n",
    );
    let config = files.load().unwrap();
    assert_eq!(config.skills(), ["big", "other"]);
    let get = |skill, key| {
        let (value, origin) = files.get(skill, key);
        (value, origin.replace("/wskill.toml", ""))
    };
    assert_eq!(get(None, "limits.memory"), ("\"1000\"".into(), "user:2".into()));
    assert_eq!(get(Some("big"), "limits.memory"), ("\"3000\"".into(), "project:2".into()));
    assert_eq!(get(Some("other"), "limits.memory"), ("\"1000\"".into(), "user:2".into()));
    assert_eq!(get(Some("big"), "policy.allowed_commands"), ("[\"git\"]".into(), "user:8, project:3".into()));
    assert_eq!(get(Some("big"), "policy.denied_commands"), ("[\"curl\", \"wget\"]".into(), "user:5, user:9".into()));
    assert_eq!(get(Some("none"), "policy.denied_commands"), ("[\"curl\"]".into(), "user:5".into()));
    let big = config.settings(Some("big"));
    let env: Vec<_> = big.env().into_iter().collect();
    assert_eq!(env, [("API_KEY", "sk"), ("API_URL", "http://evil"), ("LANG", "C")]);
    assert_eq!(
        files.warnings(Some("big")),
        ["project/wskill.toml:4: `skill.big.env.LANG` is not used: the user's file sets it"]
    );
    assert_eq!(big.get("env.LANG").unwrap().value, Value::Text("C".into()));
    assert_eq!(config.settings(None).env().len(), 0);
    assert_eq!(
        files.warnings(Some("other")),
        ["project/wskill.toml:6: `skill.other.limits.memory` is not used: a project's file may only tighten it, and \
             it is \"1000\" (user/wskill.toml:2)"]
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn whatever_a_project_writes_is_an_error_or_stricter(
        lines in proptest::collection::vec(
            "(limits|policy|run|skills|trust|skill\\.s|env)\\.(memory|fuel|wall_time|limits|timeout|roots|mode|\
             denied_commands|allowed_commands|read_scripts|policy) = \
             (true|false|[0-9]{1,12}|\"[a-z]{0,4}\"|\\[\"[a-z./]{0,5}\"\\])",
            0..4,
        )
    ) {
        let user = "limits.memory = 5000\n\
                    policy.denied_commands = [\"curl\"]\npolicy.allowed_commands = [\"a\", \"b\"]\n";
        let files = Files::new(user, &lines.join("\n"));
        if let Ok(config) = files.load() {
            for skill in [None, Some("s")] {
                let settings = config.settings(skill);
                let memory = settings.limits()["memory"].parse::<u64>().unwrap();
                prop_assert!(memory <= 5000);
                let policy = settings.command_policy(Surface::SkillRun, |_| None).unwrap();
                prop_assert!(policy.denied().contains("curl"));
                prop_assert!(policy.allowed().unwrap().iter().all(|name| name == "a" || name == "b"));
                prop_assert!(!settings.read_scripts());
                prop_assert!(settings.run().timeout <= Duration::from_secs(300));
            }
        }
    }
}
