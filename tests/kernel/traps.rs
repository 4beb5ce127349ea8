//! A guest's trap looks like a signal: a status, one line on standard error, and nothing of the host.

use super::support::{guest, run_module, stderr};

#[track_caller]
fn dies(name: &str, status: u8) {
    let outcome = run_module(guest(name), &["victim"]);
    let said = stderr(&outcome);
    assert_eq!(outcome.exit_code, status, "{name}: {said}");
    assert_eq!(said.lines().count(), 1, "{name}: {said}");
    assert!(said.starts_with("victim: "), "{name}: {said}");
    for word in ["backtrace", "wasm", ".rs", "0x"] {
        assert!(!said.contains(word), "{name} shows `{word}`: {said}");
    }
    assert_eq!(outcome.limit, None);
}

#[test]
fn unreachable_is_an_abort() {
    dies("unreachable.wat", 134);
    dies("start-trap.wat", 134);
}

#[test]
fn arithmetic() {
    dies("divide-by-zero.wat", 136);
    dies("integer-overflow.wat", 136);
    dies("bad-conversion.wat", 136);
}

#[test]
fn memory_errors() {
    dies("load-out-of-bounds.wat", 139);
    dies("store-out-of-bounds.wat", 139);
    dies("fill-out-of-bounds.wat", 139);
    dies("null-call.wat", 139);
    dies("wrong-call.wat", 139);
}

#[test]
fn stack_exhaustion() {
    dies("recursion.wat", 139);
    let outcome = run_module(guest("recursion.wat"), &["victim"]);
    assert!(outcome.limits_hit.iter().any(|(name, _)| *name == wskill::LimitName::Stack), "{:?}", outcome.limits_hit);
}
