//! `wskill config`.

use std::fs;

use super::files::Files;

/// What the command line prints, with the folder's name taken out: status, standard output, standard error.
fn command(files: &Files, arguments: &[&str]) -> (Option<i32>, String, String) {
    let xdg = files.folder.path().join("xdg");
    fs::create_dir_all(xdg.join("wskill")).unwrap();
    fs::copy(files.path("user"), xdg.join("wskill/wskill.toml")).unwrap();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_wskill"))
        .arg("config")
        .args(arguments)
        .current_dir(files.folder.path().join("project"))
        .env("XDG_CONFIG_HOME", &xdg)
        .env("HOME", files.folder.path())
        .output()
        .unwrap();
    let root = files.folder.path().canonicalize().unwrap();
    let short = |bytes: Vec<u8>| {
        let text = String::from_utf8(bytes).unwrap().replace(&format!("{}/", root.display()), "");
        files.short(&text)
    };
    (output.status.code(), short(output.stdout), short(output.stderr))
}

#[test]
fn the_command_line_tells_what_holds_and_why() {
    let files = Files::new(
        "[limits]\nmemory = \"512M\"\n[policy]\ndenied_commands = [\"curl\"]\n[skill.pdf.env]\nAPI_KEY = \"sk\"\n",
        "limits.memory = \"1G\"\nlimits.processes = 10\npolicy.denied_commands = [\"git\"]\n",
    );
    let (status, out, err) = command(&files, &[]);
    assert_eq!(status, Some(0), "{err}");
    let lines: Vec<Vec<&str>> = out.lines().map(|line| line.split("  ").map(str::trim).collect()).collect();
    for (setting, from) in [
        ("limits.memory = \"512M\"", "xdg/wskill/wskill.toml:2"),
        ("limits.processes = \"10\"", "project/wskill.toml:2"),
        ("limits.wall_time = \"300\"", "default"),
        ("limits.fuel = \"off\"", "default"),
        ("policy.denied_commands = [\"curl\", \"git\"]", "xdg/wskill/wskill.toml:4, project/wskill.toml:3"),
        ("run.timeout = 300", "default"),
    ] {
        let line = lines.iter().find(|line| line[0] == setting).unwrap_or_else(|| panic!("{setting}\n{out}"));
        assert_eq!(line.last(), Some(&from), "{setting}");
    }
    assert_eq!(
        err,
        "wskill: warning: project/wskill.toml:1: `limits.memory` is not used: a project's file may only tighten it, \
         and it is \"512M\" (xdg/wskill/wskill.toml:2)\n\
         wskill: there are settings for pdf; see them with `wskill config --skill NAME`\n"
    );
    let (_, out, err) = command(&files, &["--json", "--skill", "pdf"]);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    let value = |key: &str| &json["settings"][key];
    assert_eq!(value("env.API_KEY")["value"], "[redacted]");
    assert_eq!(value("policy.denied_commands")["value"], serde_json::json!(["curl", "git"]));
    assert_eq!(
        value("limits.processes")["origins"],
        serde_json::json!([{"layer": "project", "file": "project/wskill.toml", "line": 2}])
    );
    assert_eq!(value("limits.fuel")["origins"], serde_json::json!([]));
    assert_eq!(
        json["files"],
        serde_json::json!([
            {"layer": "user", "path": "xdg/wskill/wskill.toml", "found": true},
            {"layer": "project", "path": "project/wskill.toml", "found": true},
        ])
    );
    assert_eq!((&json["skill"], &json["skills"]), (&"pdf".into(), &serde_json::json!(["pdf"])));
    assert_eq!((json["warnings"].as_array().unwrap().len(), err.as_str()), (1, ""));
    let names = ["args", "disk", "file_size", "fuel", "inodes", "memory", "module", "open_files", "output", "pipes"];
    for name in names.into_iter().chain(["process_memory", "processes", "spawns", "wall_time"]) {
        assert!(value(&format!("limits.{name}"))["value"].is_string(), "{name}");
    }

    fs::write(files.path("project"), "[limits]\nprocesses = 0x\n").unwrap();
    assert_eq!(command(&files, &[]).0, Some(1));
    fs::write(files.path("project"), "[limits]\nprocesses = \"many\"\n").unwrap();
    let (status, out, err) = command(&files, &[]);
    let message = "wskill: error: project/wskill.toml:2: `limits.processes`: `many` is no value for the limit \
                   `processes`: a number\n";
    assert_eq!((status, out.as_str(), err.as_str()), (Some(1), "", message));
}
