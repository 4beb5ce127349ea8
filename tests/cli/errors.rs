//! What goes wrong: one clear line, the right exit status, and nothing half-written.

use std::fs;

use super::session::{Session, assemble, guest};

#[test]
fn wrong_calls() {
    let mut session = Session::new();
    for arguments in [
        &["exec"][..],
        &["run"],
        &["run", "python-math"],
        &["wasm"],
        &["exec", "--no-such-flag", "true"],
        &["exec", "--jsn", "true"],
        &["exec", "-x", "true"],
        &["exec", "--json", "--no-such-flag", "true"],
        &["exec", "--timeout"],
        &["exec", "--json=yes", "true"],
        &["exec", "--rm", "--rm", "true"],
        &["exec", "--workspace", "a", "--workspace-root", "b", "true"],
        &["exec", "--workspace", "a", "--rm", "true"],
        &["exec", "--deterministic=x", "true"],
        &["exec", "--env", "novalue", "true"],
        &["exec", "--env", "=value", "true"],
        &["exec", "--env", "", "true"],
        &["rn", "python-math", "true"],
        &["--json"],
        &["setup", "now"],
        &["programs", "--verbose"],
    ] {
        session.call(arguments);
    }
    session.finish("wrong-calls");
}

#[test]
fn limits() {
    let mut session = Session::new();
    for arguments in [
        &["--timeout", "soon"][..],
        &["--timeout", "-1"],
        &["--timeout", "nan"],
        &["--timeout", "inf"],
        &["--timeout", "1e300"],
        &["--fuel", "much"],
        &["--fuel", "-1"],
        &["--memory", "much"],
        &["--memory", "-1"],
        &["--memory", "1.5G"],
        &["--memory", "99999999999G"],
        &["--memory", "0"],
        &["--disk", "1T"],
        &["--processes", "99999999999999"],
        &["--processes", "0"],
        &["--open-files", "0"],
        &["--output-bytes", ""],
        &["--limit", "nonsense=1"],
        &["--limit", "inodes"],
        &["--limit", "=1"],
        &["--limit", "inodes=many"],
        &["--limit", "stack=1"],
        &["--fuel", "0"],
    ] {
        session.call(&[&["exec"], arguments, &["true"]].concat());
    }
    session.finish("limits");
}

#[test]
fn mounts() {
    let mut session = Session::new();
    let folder = session.name("folder");
    fs::create_dir_all(session.path("folder/sub")).unwrap();
    session.file("odd:name/file", "with a colon\n");
    let (odd, file) = (session.name("odd:name"), session.name("odd:name/file"));
    #[cfg(unix)]
    std::os::unix::fs::symlink("nowhere", session.path("dangling")).unwrap();
    let dangling = session.name("dangling");
    let at = |guest: &str| format!("{folder}:{guest}");
    for mounts in [
        &["nonsense".to_owned()][..],
        &[String::new()],
        &[":/data".into()],
        std::slice::from_ref(&folder),
        &[at("")],
        &[at("data")],
        &[at("/data:rx")],
        &[at("/a/../b")],
        &["/no/such/folder:/data".into()],
        &[format!("{dangling}:/data")],
        &["/dev/zero:/data".into()],
        &[at("/")],
        &[at("/data"), at("/data")],
        &[at("/data:rw"), format!("{folder}/sub:/sub")],
        &[at(&format!("/{}", "long/".repeat(1000)))],
    ] {
        let options: Vec<_> = mounts.iter().flat_map(|mount| ["--mount", mount]).collect();
        session.call(&[&["exec"], &options[..], &["--", "true"]].concat());
    }
    // These are fine.
    for (mount, command) in [
        (format!("{odd}:/data"), "cat /data/file"),
        (format!("{file}:/data/file"), "cat /data/file"),
        (format!("{odd}:/usr/share/data"), "cat /usr/share/data/file; wc -l < /usr/share/data/file"),
        (format!("{odd}:/tmp/x:ro"), "cat /tmp/x/file; echo no > /tmp/x/file"),
        (format!("{odd}:/x:rw"), "echo changed > /x/file; cat /x/file"),
        ("tests/../tests/guests/..:/t".into(), "ls -d /t/guests"),
    ] {
        session.call(&["exec", "--mount", &mount, command]);
    }
    session.finish("mounts");
}

#[test]
fn skills() {
    let mut session = Session::new();
    let plain = session.name("plain");
    fs::create_dir_all(session.path("plain")).unwrap();
    fs::create_dir_all(session.path("folder/SKILL.md")).unwrap();
    session.file("file", "");
    session.file("with space/SKILL.md", "# Loaded by its folder's name\n");
    session.file("skills/broken-yaml/SKILL.md", "---\nname: broken-yaml\ndescription: It says: [\n---\n");
    session.file("skills/not-described/SKILL.md", "---\nname: not-described\n---\n");
    session.file("skills/not-utf8/SKILL.md", b"---\nname: \xff\n---\n");
    session.file("skills/huge/SKILL.md", vec![b'x'; 20 << 20]);
    session.file("skills/unsafe/SKILL.md", "---\nname: ../x\ndescription: Leads out.\n---\n");
    session.file("skills/taken/SKILL.md", "---\nname: taken\ndescription: Has a folder out.\n---\n");
    session.file("skills/taken/out/own", "");
    let (folder, file, space) = (session.name("folder"), session.name("file"), session.name("with space"));
    let (root, slash) = (session.name("skills"), session.name("skills/taken/"));
    for arguments in [
        &["no-such-skill"][..],
        &["no-such-skill", "--skills", &plain],
        &["no-such-skill", "--skills", "/no/such/root"],
        &["./no/such/folder"],
        &[&plain],
        &[&folder],
        &[&file],
        &[&space],
        &[""],
        &["."],
        &[".."],
        &["/"],
    ] {
        session.call(&[&["run"], arguments, &["--", "true"]].concat());
    }
    for (skill, command) in [
        (&slash[..], "pwd"),
        ("broken-yaml", "head -1 SKILL.md"),
        ("not-described", "true"),
        ("not-utf8", "true"),
        ("huge", "true"),
        ("unsafe", "true"),
        ("taken", "readlink out; ls out"),
    ] {
        session.call(&["run", "--skills", &root, skill, command]);
    }
    let output = session.command(&["run", "taken", "pwd"]).env("SKILLS_ROOT", &root).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "/workspace/skills/taken\n");
    session.finish("skills");
}

#[test]
fn places() {
    let mut session = Session::new();
    let file = session.file("file", "");
    session.file("skill/SKILL.md", "# A skill\n");
    let skill = session.name("skill");
    let inside = session.name("skill/new");
    let below = session.name("file/x");
    for option in ["--workspace", "--workspace-root", "--out-dir"] {
        session.call(&["exec", option, &file, "true"]);
        session.call(&["exec", option, &below, "true"]);
        session.call(&["exec", option, "", "true"]);
        session.call(&["run", &skill, option, &inside, "true"]);
    }
    session.call(&["run", &skill, "--workspace", &skill, "true"]);
    session.call(&["exec", "--workspace", &skill, "--mount", &format!("{skill}:/again"), "true"]);
    session.call(&["run", &skill, "--trace", &inside, "true"]);
    session.call(&["exec", "--trace", "/no/such/folder/trace", "true"]);
    session.call(&["exec", "--trace", &skill, "true"]);
    session.call(&["exec", "--stdin", "/no/such/file", "cat"]);
    session.call(&["exec", "--stdin", &skill, "cat"]);
    session.call(&["exec", "--cwd", "/no/such/folder", "true"]);
    session.call(&["exec", "--cwd", "no-such-folder", "true"]);
    session.call(&["exec", "--cwd", "../etc", "pwd"]);
    session.call(&["exec", "--cwd", "/etc/passwd", "true"]);
    session.call(&["exec", "--cwd", "", "true"]);
    session.call(&["exec", "--cwd", "out", "pwd"]);
    session.call(&["exec", "--output", "[", "true"]);
    // A folder that a failed call would have made is not there.
    let fresh = session.name("fresh");
    session.call(&["exec", "--workspace", &fresh, "--cwd", "/no/such/folder", "true"]);
    session.call(&["exec", "--workspace-root", &fresh, "--input", "/no/such/file", "true"]);
    assert!(session.list("fresh").is_empty());
    assert_eq!(session.list("skill"), ["SKILL.md", "out", "runs", "work"]);
    session.finish("places");
}

#[test]
fn inputs() {
    let mut session = Session::new();
    let file = session.file("notes.txt", "notes\n");
    session.file("folder/a/b.txt", "b\n");
    let folder = session.name("folder");
    for input in [
        "/no/such/file".to_owned(),
        String::new(),
        "=x".into(),
        format!("{file}=../../escape"),
        format!("{file}=/etc/passwd"),
        format!("{file}=work/.."),
        format!("{file}=work/inputs"),
        "/dev/zero".into(),
    ] {
        session.call(&["exec", "--input", &input, "true"]);
    }
    let find = "find . -type f -not -path './runs/*' | sort";
    session.call(&["exec", "--input", &file, "--input", &folder, find]);
    session.call(&["exec", "--input", &format!("{file}=work/x/y.txt"), find]);
    session.call(&["exec", "--input", &format!("{file}=/workspace/out/"), "--rm", find]);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("..", session.path("folder/a/up")).unwrap();
        session.call(&["exec", "--input", &folder, find]);
    }
    session.finish("inputs");
}

#[test]
fn commands() {
    let mut session = Session::new();
    assemble(&session, "tools/module.wasm", r#"(module (memory (export "memory") 1) (func (export "_start")))"#);
    session.file("tools/broken.wasm", b"\0asm\x01\0\0\0broken");
    session.file("tools/cut.wasm", b"\0asm\x01\0");
    session.file("tools/threads.wasm", guest("threads.wat"));
    session.file("tools/component.wasm", guest("component.wat"));
    session.file("tools/library.wasm", guest("no-start.wat"));
    session.file("tools/import.wasm", guest("unknown-import.wat"));
    session.file("tools/native", b"\x7fELF\x02\x01\x01\0\0");
    session.file("tools/script", "#!/no/such/interpreter\n");
    session.file("tools/plain", "echo plain\n");
    let tools = format!("{}:/tools", session.name("tools"));
    for command in [
        "no-such-command",
        "/no/such/command",
        "/etc",
        "/etc/passwd",
        "/etc/passwd/x",
        "/tools/module.wasm",
        "/tools/broken.wasm",
        "/tools/cut.wasm",
        "/tools/threads.wasm",
        "/tools/component.wasm",
        "/tools/library.wasm",
        "/tools/import.wasm",
        "/tools/native",
        "/tools/script",
        "/tools/plain",
    ] {
        session.call(&["exec", "--mount", &tools, "--", command, "argument"]);
    }
    // The shell says the same.
    session.call(&["exec", "--mount", &tools, "no-such-command; echo $?; /tools/threads.wasm; echo $?; /etc; echo $?"]);
    for file in ["module.wasm", "broken.wasm", "cut.wasm", "threads.wasm", "library.wasm", "import.wasm", "native"] {
        session.call(&["wasm", &session.name(&format!("tools/{file}"))]);
    }
    session.call(&["wasm", "/no/such/file.wasm"]);
    session.call(&["wasm", "/etc"]);
    session.call(&["wasm", "--limit", "module=10", "/dev/zero"]);
    session.call(&[
        "wasm",
        "--mount",
        &format!("{}:/x", session.name("tools/plain")),
        &session.name("tools/module.wasm"),
    ]);
    session.finish("commands");
}

#[test]
fn statuses_are_the_commands_own() {
    let session = Session::new();
    for (arguments, status) in [
        (&["exec", "exit 7"][..], 7),
        (&["exec", "--", "true"], 0),
        (&["exec", "--", "false"], 1),
        (&["exec", "exit 255"], 255),
        (&["exec", "--", "python3", "-c", "raise SystemExit(42)"], 42),
        (&["exec", "kill -9 $$"], 137),
        (&["exec", "kill -TERM $$"], 143),
        (&["exec", "kill -USR1 $$"], 138),
        (&["exec", "--", "timeout", "0.1", "sleep", "9"], 124),
        (&["exec", "--timeout", "0.2", "sleep 100"], 124),
        (&["exec", "--fuel", "20000000", "while :; do :; done"], 137),
        (&["exec", "--json", "--output-bytes", "1K", "yes"], 137),
    ] {
        assert_eq!(session.run(arguments).status.code(), Some(status), "{arguments:?}");
    }
    assert_eq!(session.leftovers().len(), 0);
}

#[cfg(unix)]
#[test]
fn words_that_are_not_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let session = Session::new();
    let odd = OsStr::from_bytes(b"a\xff");
    let output = session.run(&[OsStr::new("exec"), OsStr::new("printf"), OsStr::new("%s"), odd]);
    assert_eq!(output.stdout, b"a\xff");
    // An option's value has to be text.
    let output = session.run(&[OsStr::new("exec"), OsStr::new("--env"), odd, OsStr::new("true")]);
    assert_eq!(output.status.code(), Some(125));
    assert_eq!(String::from_utf8_lossy(&output.stderr).lines().count(), 1);
    // A file's name need not be.
    let name = session.path("tmp").join(odd);
    fs::write(&name, "content").unwrap();
    let words = [OsStr::new("exec"), OsStr::new("--stdin"), name.as_os_str(), OsStr::new("cat")];
    assert_eq!(session.run(&words).stdout, b"content");
}
