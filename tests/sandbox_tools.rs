//! Tools of the host, called from the shell and from Python.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use wskill::{HostTool, HostTools, LimitName, Limits, Outcome, Sandbox, Trace, TraceEvent};

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// `add`, `text` (which answers no JSON), `fail`, `panic`, and `sleep`, which counts those that are given up.
fn tools(given_up: &Arc<AtomicUsize>) -> HostTools {
    let given_up = Arc::clone(given_up);
    let names = ["add", "text", "fail", "panic", "sleep"];
    HostTools::new(
        move || names.map(|name| HostTool::new(name, format!("The tool {name}"))).to_vec(),
        move |name, request| {
            let dropped = Dropped(Arc::clone(&given_up));
            async move {
                let request: serde_json::Value = serde_json::from_slice(&request).map_err(|error| error.to_string())?;
                match name.as_str() {
                    "add" => {
                        let sum = request["a"].as_i64().unwrap_or(0) + request["b"].as_i64().unwrap_or(0);
                        // On the embedder's own runtime its timers work.
                        tokio::time::sleep(Duration::from_millis(1)).await;
                        Ok(format!("{{\"sum\": {sum}}}").into_bytes())
                    }
                    "text" => Ok(b"no JSON\n".to_vec()),
                    "fail" => Err("out of luck".into()),
                    "panic" => panic!("a tool's own fault"),
                    _ => {
                        tokio::time::sleep(Duration::from_secs(1000)).await;
                        std::mem::forget(dropped);
                        Ok(Vec::new())
                    }
                }
            }
        },
    )
}

struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn run_with(limits: Limits, argv: &[&str]) -> Outcome {
    block_on(async {
        let tools = tools(&Arc::default());
        let sandbox = Sandbox::builder().limits(limits).host_tools(tools).build().unwrap();
        sandbox.run(argv.iter().copied()).await.unwrap()
    })
}

fn bash(line: &str) -> Outcome {
    run_with(Limits::default(), &["bash", "-c", line])
}

fn python(script: &str) -> Outcome {
    run_with(Limits::default(), &["python3", "-c", script])
}

#[test]
fn the_command() {
    for (line, code, printed, said) in [
        ("wskill-tool add '{\"a\": 1, \"b\": 2}'", 0, "{\"sum\": 3}\n", ""),
        ("wskill-tool add", 0, "{\"sum\": 0}\n", ""),
        ("echo '{\"a\": 4}' | wskill-tool add -", 0, "{\"sum\": 4}\n", ""),
        ("wskill-tool text '{}'", 0, "no JSON\n", ""),
        ("wskill-tool fail", 1, "", "wskill-tool: fail: out of luck\n"),
        ("wskill-tool panic", 1, "", "wskill-tool: panic: the tool panicked\n"),
        (
            "wskill-tool other",
            1,
            "",
            "wskill-tool: other: there is no such tool; offered are: add, fail, panic, sleep, text\n",
        ),
        (
            "wskill-tool add '{'",
            1,
            "",
            "wskill-tool: add: the request is no JSON: EOF while parsing an object at line 1 column 1\n",
        ),
        ("wskill-tool --list | head -n 2", 0, "add\tThe tool add\nfail\tThe tool fail\n", ""),
    ] {
        let outcome = bash(line);
        let found = (outcome.exit_code, text(&outcome.stdout), text(&outcome.stderr));
        assert_eq!(found, (code, printed.to_owned(), said.to_owned()), "{line}");
    }
    for line in ["wskill-tool", "wskill-tool -x", "wskill-tool a b c"] {
        let outcome = bash(line);
        assert_eq!(outcome.exit_code, 2, "{line}");
        assert!(text(&outcome.stderr).starts_with("Usage: wskill-tool NAME [JSON | -]\n"), "{line}");
    }
}

#[test]
fn the_python_module() {
    let outcome = python(
        "from host import ToolError, tools\n\
         import host\n\
         print(tools.add(a=1, b=2)['sum'], tools.call('add', {'a': 5}), tools.call('add'))\n\
         print(repr(tools.text()), sorted(tools.list()), 'add' in dir(tools), tools.add.__name__)\n\
         for name in ['fail', 'other']:\n\
         \x20   try:\n\
         \x20       tools.call(name, [])\n\
         \x20   except host.ToolError as error:\n\
         \x20       print(error)\n",
    );
    assert_eq!(
        text(&outcome.stdout),
        "3 {'sum': 5} {'sum': 0}\n\
         'no JSON\\n' ['add', 'fail', 'panic', 'sleep', 'text'] True add\n\
         fail: out of luck\n\
         other: there is no such tool; offered are: add, fail, panic, sleep, text\n",
        "{}",
        text(&outcome.stderr)
    );
}

#[test]
fn a_sandbox_without_tools_says_so() {
    block_on(async {
        let sandbox = Sandbox::builder().build().unwrap();
        for line in ["wskill-tool add", "wskill-tool --list"] {
            let outcome = sandbox.run(["bash", "-c", line]).await.unwrap();
            assert_eq!(outcome.exit_code, 1);
            assert_eq!(text(&outcome.stderr), "wskill-tool: this sandbox offers no tools of the host\n");
        }
        let outcome = sandbox.run(["python3", "-c", "import host; host.tools.add()"]).await.unwrap();
        assert!(text(&outcome.stderr).ends_with("host.ToolError: this sandbox offers no tools of the host\n"));
    });
}

#[test]
fn calls_and_sizes_are_limited() {
    let limits = Limits { tool_calls: 2, tool_bytes: 10, ..Limits::default() };
    let line = "wskill-tool add; wskill-tool add '{\"aaaaa\": 1}'; wskill-tool add";
    let outcome = run_with(limits.clone(), &["bash", "-c", line]);
    assert_eq!(text(&outcome.stdout), "{\"sum\": 0}\n", "{}", text(&outcome.stderr));
    assert_eq!(
        text(&outcome.stderr),
        "wskill-tool: add: the request of 12 bytes is over the limit tool_bytes of 10\n\
         wskill-tool: add: this sandbox may call tools 2 times; raise the limit tool_calls\n"
    );
    assert_eq!(outcome.limits_hit, [(LimitName::ToolCalls, 1), (LimitName::ToolBytes, 1)]);
    let outcome = run_with(Limits { tool_bytes: 5, ..Limits::default() }, &["wskill-tool", "add"]);
    assert_eq!(text(&outcome.stderr), "wskill-tool: add: the answer of 10 bytes is over the limit tool_bytes of 5\n");
}

#[test]
fn a_call_is_given_up_with_its_run() {
    let given_up = Arc::new(AtomicUsize::new(0));
    block_on(async {
        let limits = Limits { wall_time: Some(Duration::from_millis(500)), ..Limits::default() };
        let sandbox = Sandbox::builder().limits(limits).host_tools(tools(&given_up)).build().unwrap();
        let outcome = sandbox.run(["wskill-tool", "sleep"]).await.unwrap();
        assert_eq!(outcome.limit, Some(LimitName::WallTime));
        let outcome = sandbox.run(["timeout", "0.1", "wskill-tool", "sleep"]).await.unwrap();
        assert_eq!(outcome.exit_code, 124);
        let script = "import host, signal\n\
                      def stop(*_): raise TimeoutError('enough')\n\
                      signal.signal(signal.SIGALRM, stop)\n\
                      signal.setitimer(signal.ITIMER_REAL, 0.05)\n\
                      try:\n    host.tools.sleep()\nexcept TimeoutError as error:\n    print(error)\n";
        let outcome = sandbox.run(["python3", "-c", script]).await.unwrap();
        assert_eq!(text(&outcome.stdout), "enough\n", "{}", text(&outcome.stderr));
        sandbox.close().await;
        tokio::time::timeout(Duration::from_secs(10), async {
            while given_up.load(Ordering::Relaxed) < 3 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await
        .expect("a call goes on although nobody waits for it");
    });
}

#[test]
fn the_offer_may_change_and_the_trace_is_told() {
    let events = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&events);
    let trace = Trace::new(move |event| {
        if let TraceEvent::Tool { name, error, .. } = event {
            seen.lock().unwrap().push((name, error));
        }
    });
    let offered = Arc::new(Mutex::new(vec!["one"]));
    let list = Arc::clone(&offered);
    block_on(async {
        let tools = HostTools::new(
            move || list.lock().unwrap().iter().map(|name| HostTool::new(*name, "")).collect(),
            |name, _| async move { Ok(format!("\"{name}\"").into_bytes()) },
        );
        let sandbox = Sandbox::builder().host_tools(tools).trace(trace).build().unwrap();
        assert_eq!(sandbox.run(["wskill-tool", "one"]).await.unwrap().stdout, b"\"one\"\n");
        offered.lock().unwrap().clear();
        assert_eq!(sandbox.run(["wskill-tool", "one"]).await.unwrap().exit_code, 1);
    });
    let refusal = "no tool of the host is offered now".to_owned();
    assert_eq!(*events.lock().unwrap(), [("one".to_owned(), None), ("one".to_owned(), Some(refusal))]);
}

#[test]
fn a_deterministic_run_does_not_notice_how_long_a_tool_takes() {
    let clock = |wait: u64| {
        block_on(async {
            let tools = HostTools::new(
                || vec![HostTool::new("wait", "")],
                move |_, _| async move {
                    tokio::time::sleep(Duration::from_millis(wait)).await;
                    Ok(b"1".to_vec())
                },
            );
            let sandbox = Sandbox::builder().deterministic(7).host_tools(tools).build().unwrap();
            let line = "(while :; do :; done) & wskill-tool wait; date +%s.%N; kill %1";
            let outcome = sandbox.run(["bash", "-c", line]).await.unwrap();
            (text(&outcome.stdout), outcome.fuel)
        })
    };
    assert_eq!(clock(0), clock(100));
}
