//! Reading a file.

use std::fs;
use std::time::Duration;

use wskill::config::{Config, ConfigError, Places};
use wskill::policy::{Surface, TrustMode};

use super::files::{Files, Rules};

#[test]
fn without_files_all_is_as_documented() {
    let config = Config::load(&Places::default(), &Rules).unwrap();
    let settings = config.settings(None);
    let all: Vec<String> = settings.iter().map(|(key, setting)| format!("{key} = {}", setting.value)).collect();
    let expected = [
        "limits.fuel = \"off\"",
        "limits.memory = \"1G\"",
        "limits.wall_time = \"300\"",
        "policy.allowed_commands = -",
        "policy.denied_commands = []",
        "policy.read_scripts = false",
        "policy.require_skill_loaded = false",
        "run.artifact_prefix = \"\"",
        "run.omit_inline_content = false",
        "run.outputs.globs = []",
        "run.outputs.inline = false",
        "run.outputs.max_file_bytes = 4194304",
        "run.outputs.max_files = 100",
        "run.outputs.max_total_bytes = 67108864",
        "run.outputs.name_template = \"\"",
        "run.outputs.save = false",
        "run.save_as_artifacts = false",
        "run.timeout = 300",
        "skills.nested = false",
        "skills.roots = -",
        "skills.well_known = false",
        "trust.digests = -",
        "trust.mode = \"all\"",
    ];
    assert_eq!(all, expected);
    assert!(settings.iter().all(|(_, setting)| setting.origin() == "default"));
    assert_eq!((config.files().count(), config.skills().len(), settings.warnings().len()), (0, 0, 0));
    assert_eq!(settings.limits().len(), 0);
    assert_eq!(settings.roots(), None);
    assert!(settings.command_policy(Surface::SkillRun, |_| None).unwrap().is_open());
    assert_eq!(settings.trust_mode(), TrustMode::All);
    assert_eq!(settings.run().timeout, Duration::from_secs(300));
}

#[test]
fn every_value_is_read_with_its_line() {
    let files = Files::new("limits = { memory = \"2G\", wall_time = 1.5 }\n", "");
    assert_eq!(files.get(None, "limits.memory"), ("\"2G\"".into(), "user/wskill.toml:1".into()));
    assert_eq!(files.get(None, "limits.wall_time"), ("\"1.5\"".into(), "user/wskill.toml:1".into()));

    let files = Files::new(
        "# A comment\n\
         [limits]\n\
         memory = 0x1000_0000\n\
         fuel = 1_000\n\
         \n\
         [skills]\n\
         roots = [\"mine\", \"./more\", \"/abs\", \"https://example.com/a.skill\"]\n\
         well_known = true\n\
         nested = true\n\
         \n\
         [policy]\n\
         allowed_commands = [\n  \"git\",\n  \"/usr/bin/jq\",\n]\n\
         denied_commands = [\"./Curl\"]\n\
         require_skill_loaded = true\n\
         read_scripts = true\n\
         \n\
         [run]\n\
         timeout = 30\n\
         save_as_artifacts = true\n\
         omit_inline_content = true\n\
         artifact_prefix = \"a/\"\n\
         outputs.globs = [\"out/**\"]\n\
         [run.outputs]\n",
        "",
    );
    // A table that is written twice is no TOML.
    assert!(files.error().starts_with("user/wskill.toml:26: "), "{}", files.error());
    let text = fs::read_to_string(files.path("user")).unwrap().replace(
        "[run.outputs]\n",
        "outputs.inline = true\noutputs.save = true\noutputs.name_template = \"n\"\noutputs.max_files = 3\n\
         outputs.max_file_bytes = \"1K\"\noutputs.max_total_bytes = 2048\n\
         [trust]\nmode = \"known\"\ndigests = \"t.json\"\n",
    );
    fs::write(files.path("user"), text).unwrap();
    let expected = [
        ("limits.fuel", "\"1000\"", 4),
        ("limits.memory", "\"268435456\"", 3),
        ("policy.allowed_commands", "[\"git\", \"jq\"]", 12),
        ("policy.denied_commands", "[\"curl\"]", 16),
        ("policy.read_scripts", "true", 18),
        ("policy.require_skill_loaded", "true", 17),
        ("run.artifact_prefix", "\"a/\"", 24),
        ("run.omit_inline_content", "true", 23),
        ("run.outputs.globs", "[\"out/**\"]", 25),
        ("run.outputs.inline", "true", 26),
        ("run.outputs.max_file_bytes", "1024", 30),
        ("run.outputs.max_files", "3", 29),
        ("run.outputs.max_total_bytes", "2048", 31),
        ("run.outputs.name_template", "\"n\"", 28),
        ("run.outputs.save", "true", 27),
        ("run.save_as_artifacts", "true", 22),
        ("run.timeout", "30", 21),
        ("skills.nested", "true", 9),
        ("skills.roots", "[\"user/mine\", \"user/more\", \"/abs\", \"https://example.com/a.skill\"]", 7),
        ("skills.well_known", "true", 8),
        ("trust.digests", "\"user/t.json\"", 34),
        ("trust.mode", "\"known\"", 33),
    ];
    for (key, value, line) in expected {
        assert_eq!(files.get(None, key), (value.into(), format!("user/wskill.toml:{line}")), "{key}");
    }
    let settings = files.settings(None);
    let set = settings.iter().filter(|(_, setting)| !setting.origins.is_empty()).count();
    assert_eq!(set, expected.len());
    assert_eq!(settings.trust_digests().unwrap(), files.folder.path().join("user/t.json"));
    let run = settings.run();
    assert_eq!(
        (run.timeout, run.outputs.max_files, run.outputs.globs),
        (Duration::from_secs(30), 3, vec!["out/**".into()])
    );
    let policy = settings.command_policy(Surface::SkillRun, |_| None).unwrap();
    assert!(policy.allows("jq", Some("/usr/bin/jq")).is_allowed());
    assert!(!policy.allows("jq", Some("/w/jq")).is_allowed());
}

#[test]
fn mistakes_name_the_file_the_line_and_the_key() {
    for (text, message) in [
        (
            "[limits]\nmemroy = 1\n",
            "2: `limits.memroy` is unknown; did you mean `memory`?; known are fuel, memory, wall_time",
        ),
        (
            "[polcy]\n",
            "1: `polcy` is unknown; did you mean `policy`?; known are limits, policy, run, skill, skills, trust",
        ),
        (
            "[policy]\n\n\nallow_commands = []\n",
            "4: `policy.allow_commands` is unknown; did you mean `allowed_commands`?; known are allowed_commands, \
             denied_commands, read_scripts, require_skill_loaded",
        ),
        (
            "[run.outputs]\nzzz = 1\n",
            "2: `run.outputs.zzz` is unknown; known are globs, inline, max_file_bytes, max_files, max_total_bytes, \
             name_template, save",
        ),
        ("[skill.pdf]\nrun.timeout = 1\n", "2: `skill.pdf.run` is unknown; known are env, limits, policy"),
        (
            "[skill.pdf.limits]\nmemori = 1\n",
            "2: `skill.pdf.limits.memori` is unknown; did you mean `memory`?; known are fuel, memory, wall_time",
        ),
        ("limits = 3\n", "1: `limits`: a table is wanted: [limits]"),
        ("skill.pdf = 3\n", "1: `skill.pdf`: a table is wanted: [skill.pdf]"),
        ("[limits]\nmemory = \"much\"\n", "2: `limits.memory`: a size"),
        ("[limits]\nmemory = true\n", "2: `limits.memory`: a number or a text is wanted"),
        ("[run]\ntimeout = 0\n", "2: `run.timeout`: seconds are wanted, more than 0"),
        ("[run]\ntimeout = inf\n", "2: `run.timeout`: seconds are wanted, more than 0"),
        ("[run]\nsave_as_artifacts = 1\n", "2: `run.save_as_artifacts`: true or false is wanted"),
        ("[run]\nartifact_prefix = 1\n", "2: `run.artifact_prefix`: a text is wanted"),
        ("[run.outputs]\nmax_files = 0\n", "2: `run.outputs.max_files`: a number of at least 1 is wanted"),
        ("[run.outputs]\nmax_files = -1\n", "2: `run.outputs.max_files`: a number of at least 1 is wanted"),
        (
            "[run.outputs]\nmax_file_bytes = \"x\"\n",
            "2: `run.outputs.max_file_bytes`: a number of bytes is wanted, or a text like \"4M\"",
        ),
        ("[run.outputs]\nglobs = \"out\"\n", "2: `run.outputs.globs`: a list of texts is wanted"),
        ("[policy]\nallowed_commands = \"git\"\n", "2: `policy.allowed_commands`: a list of commands is wanted"),
        (
            "[policy]\nallowed_commands = [\"./x\"]\n",
            "2: `policy.allowed_commands`: `./x` names no command: give a name (`git`) or an absolute path \
             (`/workspace/work/run.sh`)",
        ),
        ("[trust]\nmode = \"some\"\n", "2: `trust.mode`: `some` is no mode of trust: use all, ask or known"),
        ("[trust]\ndigests = \"\"\n", "2: `trust.digests`: the path of a file is wanted"),
        ("[skills]\nroots = [\"\"]\n", "2: `skills.roots`: an entry is empty"),
        (
            "[skill.pdf.env]\nLD_PRELOAD = \"x\"\n",
            "2: `skill.pdf.env.LD_PRELOAD`: the variable `LD_PRELOAD` is not set: it changes which code programs load",
        ),
        (
            "[skill.pdf.env]\n\"a b\" = \"x\"\n",
            "2: `skill.pdf.env.a b`: the variable `a b` is not set: a name has letters, digits and _, and \
             no digit first",
        ),
        ("[skill.pdf.env]\nA = 1\n", "2: `skill.pdf.env.A`: a text is wanted"),
    ] {
        for of in ["user", "project"] {
            let files = if of == "user" { Files::new(text, "") } else { Files::new("", text) };
            assert_eq!(files.error(), format!("{of}/wskill.toml:{message}"), "{text}");
        }
    }
    assert!(Files::new("\n\n= 3\n", "").error().starts_with("user/wskill.toml:3: "));
    assert!(Files::new("[limits]\nmemory = 1\nmemory = 2\n", "").error().starts_with("user/wskill.toml:3: "));
}

#[test]
fn what_is_no_file_is_not_read() {
    let files = Files::new("", "");
    fs::remove_file(files.path("user")).unwrap();
    assert_eq!(files.load().unwrap().files().count(), 1);
    fs::create_dir(files.path("user")).unwrap();
    assert_eq!(files.error(), "cannot read user/wskill.toml: no regular file of at most 1048576 bytes");
    fs::remove_dir(files.path("user")).unwrap();
    fs::write(files.path("user"), "#".repeat((1 << 20) + 1)).unwrap();
    assert!(matches!(files.load(), Err(ConfigError::Io { .. })));
    fs::write(files.path("user"), b"a = \"\xff\"").unwrap();
    assert!(matches!(files.load(), Err(ConfigError::Io { .. })));
}

#[test]
fn a_file_of_very_many_keys_takes_no_time() {
    let mut text = String::from("[skill.s.env]\n");
    for number in 0..50_000 {
        text += &format!("K{number} = \"\"\n");
    }
    let begin = std::time::Instant::now();
    let settings = Files::new("", &text).settings(Some("s"));
    assert_eq!(settings.env().len(), 50_000);
    assert_eq!(settings.get("env.K49999").unwrap().origins[0].line, 50_001);
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
}
