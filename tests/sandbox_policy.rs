//! The policy of commands: every way to start a program, and the shell's builtins.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::sync::{Arc, Mutex};

use wskill::{CommandPolicy, LimitName, Mount, Outcome, Sandbox, Trace, TraceEvent};

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

fn run(policy: CommandPolicy, argv: &[&str]) -> Outcome {
    block_on(async {
        let sandbox = Sandbox::builder().commands(policy).build().unwrap();
        sandbox.run(argv.iter().copied()).await.unwrap()
    })
}

fn bash(policy: CommandPolicy, line: &str) -> Outcome {
    run(policy, &["bash", "-c", line])
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn refusals(outcome: &Outcome) -> u64 {
    outcome.limits_hit.iter().find(|(name, _)| *name == LimitName::Policy).map_or(0, |&(_, count)| count)
}

fn no_rm() -> CommandPolicy {
    CommandPolicy::new().deny(["rm"])
}

/// Each tries to remove `/tmp/kept` in a way of its own.
const WAYS: &[&str] = &[
    "rm /tmp/kept",
    "/usr/bin/rm /tmp/kept",
    "/bin/../bin/./rm /tmp/kept",
    "command rm /tmp/kept",
    "exec rm /tmp/kept",
    "(exec -a other rm /tmp/kept)",
    "sh -c 'rm /tmp/kept'",
    "PATH=/bin:/usr/bin; hash -r; rm /tmp/kept",
    "env rm /tmp/kept",
    "env -i /usr/bin/rm /tmp/kept",
    "cp /usr/bin/rm /tmp/harmless; /tmp/harmless /tmp/kept",
    "cat /usr/bin/rm > /tmp/harmless; chmod +x /tmp/harmless; /tmp/harmless /tmp/kept",
    "ln -s /usr/bin/rm /tmp/harmless; /tmp/harmless /tmp/kept",
    "mkdir /tmp/bin; cp /usr/bin/rm /tmp/bin/x; PATH=/tmp/bin:$PATH; x /tmp/kept",
    "printf '#!/usr/bin/rm\\n' > /tmp/kept2; chmod +x /tmp/kept2; /tmp/kept2 /tmp/kept",
    "printf '#!/usr/bin/env rm\\n' > /tmp/s; chmod +x /tmp/s; /tmp/s /tmp/kept",
    "printf '#!/nowhere/rm\\n' > /tmp/s; chmod +x /tmp/s; /tmp/s /tmp/kept",
    "printf '#!/bin/sh\\nrm /tmp/kept\\n' > /tmp/s; chmod +x /tmp/s; /tmp/s",
    "printf 'rm /tmp/kept\\n' > /tmp/s; chmod +x /tmp/s; /tmp/s",
    "echo /tmp/kept | xargs rm",
    "find /tmp -name kept -exec rm {} ';'",
    "find /tmp -name kept -exec rm {} +",
    "echo x | awk '{ system(\"rm /tmp/kept\") }'",
    "timeout 5 rm /tmp/kept",
    "nohup rm /tmp/kept",
    "nice rm /tmp/kept",
    "coreutils rm /tmp/kept",
    "uutils rm /tmp/kept",
    "cp /usr/bin/uutils /tmp/u; /tmp/u rm /tmp/kept",
    "rm /tmp/kept | cat",
    "rm /tmp/kept & wait",
    "x=$(rm /tmp/kept)",
    "python3 -c 'import subprocess; subprocess.run([\"rm\", \"/tmp/kept\"])'",
    "python3 -c 'import os; os.system(\"rm /tmp/kept\")'",
    "python3 -c 'import os; os.execv(\"/usr/bin/rm\", [\"x\", \"/tmp/kept\"])'",
];

#[test]
fn no_way_round_a_denied_command() {
    for way in WAYS {
        let outcome = bash(no_rm(), &format!("echo > /tmp/kept; ( {way} ); [ -e /tmp/kept ] && echo still there"));
        assert_eq!(text(&outcome.stdout), "still there\n", "{way}: {}", text(&outcome.stderr));
        assert_eq!(refusals(&outcome), 1, "{way}: {}", text(&outcome.stderr));
        assert!(text(&outcome.stderr).contains("not allowed by the policy of this sandbox"), "{way}");
        assert_eq!(outcome.hints.len(), 1, "{way}: {:?}", outcome.hints);
        let open = bash(CommandPolicy::new(), &format!("echo > /tmp/kept; ( {way} ); [ -e /tmp/kept ] && echo there"));
        assert_eq!(text(&open.stdout), "", "{way} does nothing without a policy either: {}", text(&open.stderr));
    }
}

#[test]
fn what_a_refusal_looks_like() {
    let outcome = bash(no_rm(), "rm x; echo $?; exec rm x");
    assert_eq!((outcome.exit_code, text(&outcome.stdout).as_str()), (126, "126\n"));
    assert_eq!(text(&outcome.stderr), "wskill: rm: not allowed by the policy of this sandbox\n".repeat(2));
    assert_eq!(outcome.hints, ["`rm` is not allowed by the policy of this sandbox; do it in another way"]);

    let outcome = run(no_rm(), &["rm", "x"]);
    assert_eq!((outcome.exit_code, outcome.processes), (126, 0));
    assert_eq!(text(&outcome.stderr), "wskill: rm: not allowed by the policy of this sandbox\n");
    assert_eq!(outcome.hints, ["`rm` is not allowed by the policy of this sandbox; do it in another way"]);

    let script =
        "import subprocess\ntry:\n    subprocess.run(['rm', 'x'])\nexcept PermissionError as e:\n    print(e)\n";
    let outcome = run(no_rm(), &["python3", "-c", script]);
    assert_eq!(text(&outcome.stdout), "[Errno 1] Operation not permitted: 'rm'\n");
}

#[test]
fn builtins_are_checked_too() {
    // What is refused is not done, whichever way it is called.
    for line in ["echo hi", "builtin echo hi", "command echo hi", "\\echo hi", "eval echo hi", "/usr/bin/echo hi"] {
        let outcome = bash(CommandPolicy::new().deny(["echo"]), line);
        assert_eq!((outcome.exit_code, text(&outcome.stdout).as_str()), (126, ""), "{line}");
        assert_eq!(refusals(&outcome), 1, "{line}");
    }
    let outcome = bash(CommandPolicy::new().deny(["echo"]), "echo hi");
    assert_eq!(text(&outcome.stderr), "bash: line 1: echo: not allowed by the policy of this sandbox\n");
    // A builtin that is no command can be denied, and names of the same share the rule.
    for (denied, line) in [("eval", "eval :"), (".", "source /dev/null"), ("test", "[ x ]"), ("[", "test x")] {
        assert_eq!(bash(CommandPolicy::new().deny([denied]), line).exit_code, 126, "{line}");
    }
    assert_eq!(text(&bash(CommandPolicy::new().deny(["echo"]), "echo() { printf 'mine\\n'; }; echo").stdout), "mine\n");
}

#[test]
fn a_list_shuts_out_the_rest() {
    let policy = || CommandPolicy::new().allow(["bash", "python3", "printf", "head"]);
    for (line, code, printed) in [
        ("cd /tmp; export x=1; read y <<< z; printf '%s\\n' $y", 0, "z\n"),
        ("echo no", 126, ""),
        ("ls", 126, ""),
        ("[ x ]", 126, ""),
        ("python3 -c 'print(1)'", 0, "1\n"),
        ("python -c 'print(1)'", 0, "1\n"),
        // A script is allowed as its interpreter is, however it names that.
        (
            "printf '#!/usr/bin/env python3\\nprint(2)\\n' > s; python3 -c 'import os; os.chmod(\"s\", 493)'; ./s",
            0,
            "2\n",
        ),
        ("printf 'printf 3' > s; python3 -c 'import os; os.chmod(\"s\", 493)'; ./s", 0, "3"),
        ("printf '#!/usr/bin/awk -f\\n' > s; python3 -c 'import os; os.chmod(\"s\", 493)'; ./s", 126, ""),
        // The long forms of a command are the command, although another program does them.
        ("printf 'a\\nb\\n' | head --lines=1", 0, "a\n"),
        ("printf 'a\\nb\\n' | uutils head -n 1", 0, "a\n"),
        ("uutils rm x", 126, ""),
        // Another name does not help.
        ("python3 -c 'import shutil; shutil.copy(\"/usr/bin/ls\", \"head\")'; ./head", 126, ""),
    ] {
        let outcome = bash(policy(), line);
        let found = (outcome.exit_code, text(&outcome.stdout));
        assert_eq!(found, (code, printed.to_owned()), "{line}: {}", text(&outcome.stderr));
        assert_eq!(refusals(&outcome), u64::from(code == 126), "{line}");
    }
    assert_eq!(bash(policy().deny(["python3"]), "python3 -c pass").exit_code, 126);
    assert_eq!(run(CommandPolicy::new().allow(["ls"]), &["bash", "-c", ":"]).exit_code, 126);
}

#[test]
fn modules_go_by_their_path() {
    let folder = tempfile::tempdir().unwrap();
    let module = wat::parse_str(r#"(module (memory (export "memory") 1) (func (export "_start")))"#).unwrap();
    std::fs::write(folder.path().join("tool.wasm"), &module).unwrap();
    let run = |policy: CommandPolicy, line: &str| {
        block_on(async {
            let mount = Mount::new(folder.path(), "/skills/x");
            let sandbox = Sandbox::builder().commands(policy).mount(mount).build().unwrap();
            sandbox.run(["bash", "-c", line]).await.unwrap().exit_code
        })
    };
    let allowed = || CommandPolicy::new().allow(["bash", "cp", "ln", "/skills/x/tool.wasm"]);
    assert_eq!(run(CommandPolicy::new(), "/skills/x/tool.wasm"), 0);
    assert_eq!(run(allowed(), "/skills/x/tool.wasm"), 0);
    assert_eq!(run(allowed(), "cd /skills; x/../x/tool.wasm"), 0);
    assert_eq!(run(allowed(), "ln -s /skills/x/tool.wasm /tmp/t; /tmp/t"), 0);
    assert_eq!(run(allowed(), "cp /skills/x/tool.wasm /tmp/tool.wasm; /tmp/tool.wasm"), 126);
    assert_eq!(run(CommandPolicy::new().allow(["bash", "tool.wasm"]), "/skills/x/tool.wasm"), 126);
    for denied in ["tool.wasm", "/skills/x/tool.wasm"] {
        assert_eq!(run(CommandPolicy::new().deny([denied]), "/skills/x/tool.wasm"), 126);
    }
    // The host's own module is the host's decision.
    let outcome = block_on(async {
        let sandbox = Sandbox::builder().commands(CommandPolicy::new().allow([""; 0])).build().unwrap();
        sandbox.command(["tool"]).module(module).run().await.unwrap()
    });
    assert_eq!(outcome.exit_code, 0);
}

#[test]
fn the_trace_is_told() {
    let events = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&events);
    let trace = Trace::new(move |event| {
        if let TraceEvent::Refused { pid, command, .. } = event {
            seen.lock().unwrap().push((pid, command));
        }
    });
    block_on(async {
        let sandbox = Sandbox::builder().commands(no_rm().deny(["echo"])).trace(trace).build().unwrap();
        sandbox.run(["rm"]).await.unwrap();
        sandbox.run(["bash", "-c", "/bin/rm; echo x"]).await.unwrap();
    });
    let expected = [(0, "rm".to_owned()), (2, "/bin/rm".into()), (2, "echo".into())];
    assert_eq!(*events.lock().unwrap(), expected);
}
