//! What `wskill wasm` says of components that it cannot run.

use super::module::component;
use super::session::Session;

#[test]
fn what_is_wrong_is_said_in_one_line() {
    let mut session = Session::new();
    let good = component();
    let probe = session.file("probe.wasm", &good);
    let broken = session.file("broken.wasm", &good[..good.len() / 2]);
    let empty = session.file("empty.wasm", wat::parse_str("(component)").unwrap());
    let import = r#"(component (import "example:none/interface@1.0.0" (instance (export "f" (func)))))"#;
    let import = session.file("import.wasm", wat::parse_str(import).unwrap());
    session.call(&["wasm", &broken]);
    session.call(&["wasm", &empty]);
    session.call(&["wasm", &import]);
    session.call(&["wasm", "--limit", "module=1000", &probe, "echo"]);
    session.call(&["wasm", "--memory", "100K", &probe, "echo"]);
    session.call(&["wasm", "--deterministic", &probe, "echo"]);
    // Inside a sandbox components do not run yet.
    let mount = format!("{}:/tools/probe.wasm", session.name("probe.wasm"));
    session.call(&["exec", "--mount", &mount, "--", "/tools/probe.wasm"]);
    session.finish("components");
}
