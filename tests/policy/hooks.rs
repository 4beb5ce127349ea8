//! Hooks before and after calls.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wskill::policy::{After, Before, HookCall, HookError, Hooks};

fn call(arguments: Value) -> HookCall {
    HookCall { session: "s".into(), tool: "skill_run".into(), skill: Some("pdf".into()), arguments }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

#[test]
fn hooks_run_in_order_and_see_what_others_did() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let note = |name: &'static str| {
        let seen = Arc::clone(&seen);
        move |call: Arc<HookCall>| {
            seen.lock().unwrap().push(format!("{name} {}", call.arguments));
            async { Before::Approve }
        }
    };
    let add = |text: &'static str| {
        move |_call, result: Arc<Value>| async move {
            let longer = format!("{}{text}", result.as_str().unwrap());
            After::Replace(json!(longer))
        }
    };
    let hooks = Hooks::new()
        .with_before("one", note("one"))
        .with_before("rewrite", async |_| Before::Rewrite(json!({"command": "ls"})))
        .with_after("b", add("b"))
        .with_before("two", note("two"))
        .with_after("keep", async |_, _| After::Keep)
        .with_after("c", add("c"));
    assert!(!hooks.is_empty() && Hooks::new().is_empty());
    block_on(async {
        let passed = hooks.before(call(json!({"command": "rm"}))).await.unwrap();
        assert_eq!(passed, call(json!({"command": "ls"})));
        assert_eq!(hooks.after(passed, json!("a")).await.unwrap(), json!("abc"));
    });
    assert_eq!(*seen.lock().unwrap(), [r#"one {"command":"rm"}"#, r#"two {"command":"ls"}"#]);
    assert_eq!(format!("{hooks:?}"), r#"["one", "rewrite", "b", "two", "keep", "c"]"#);
}

#[test]
fn the_first_that_denies_ends_it() {
    let later = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&later);
    let hooks = Hooks::new()
        .with_before("no", async |call: Arc<HookCall>| Before::Deny(format!("no {}", call.tool)))
        .with_before("later", move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
            async { Before::Approve }
        });
    let error = block_on(hooks.before(call(json!({})))).unwrap_err();
    assert_eq!(error, HookError::Denied { hook: "no".into(), reason: "no skill_run".into() });
    assert_eq!(later.load(Ordering::Relaxed), 0);
}

#[test]
fn a_hook_that_panics_or_is_slow_lets_nothing_pass() {
    fn panics() -> Before {
        panic!("at {}", 7)
    }
    block_on(async {
        let hooks = Hooks::new().with_before("bad", async |_| panics());
        let error = hooks.before(call(json!({}))).await.unwrap_err();
        assert_eq!(error.to_string(), "the hook `bad` panicked: at 7");
        // Before its future is there, too.
        let hooks = Hooks::new().with_after("bad", |_, _| {
            panics();
            async { After::Keep }
        });
        assert!(matches!(hooks.after(call(json!({})), json!(1)).await, Err(HookError::Panicked { .. })));
        let hooks = Hooks::new().timeout(Duration::from_millis(20)).with_before("slow", async |_| {
            std::future::pending::<()>().await;
            Before::Approve
        });
        let begin = Instant::now();
        let error = hooks.before(call(json!({}))).await.unwrap_err();
        assert_eq!(error.to_string(), "the hook `slow` gave no answer within 0.02 s");
        assert!(begin.elapsed() < Duration::from_secs(10));
    });
}

#[test]
fn a_hook_that_blocks_its_thread_is_given_up() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let hooks = Hooks::new().timeout(Duration::from_millis(20)).with_before("blocks", async |_| {
        std::thread::sleep(Duration::from_secs(2));
        Before::Approve
    });
    let begin = Instant::now();
    let answer = runtime.block_on(hooks.before(call(json!({}))));
    assert!(matches!(answer, Err(HookError::TimedOut { .. })));
    assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
}

#[test]
fn a_call_that_is_given_up_ends_its_hooks() {
    struct Ends(Arc<AtomicUsize>);
    impl Drop for Ends {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let ended = Arc::new(AtomicUsize::new(0));
    let shared = Arc::clone(&ended);
    let hooks = Hooks::new().with_before("waits", move |_| {
        let ends = Ends(Arc::clone(&shared));
        async move {
            let _ends = ends;
            std::future::pending::<()>().await;
            Before::Approve
        }
    });
    block_on(async {
        let given_up = tokio::time::timeout(Duration::from_millis(20), hooks.before(call(json!({})))).await;
        assert!(given_up.is_err());
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert_eq!(ended.load(Ordering::Relaxed), 1);
    });
}
