//! The cache of compiled modules, and `wskill setup`.

use std::fs;
use std::path::PathBuf;

use super::session::{Session, assemble};

fn compiled(session: &Session) -> Vec<PathBuf> {
    let entries = fs::read_dir(session.path("cache")).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|extension| extension == "cwasm")).collect()
}

#[test]
fn a_damaged_or_foreign_cache_file_is_replaced() {
    let session = Session::new();
    let module = assemble(&session, "m.wasm", r#"(module (memory (export "memory") 1) (func (export "_start")))"#);
    let call = || {
        let output =
            session.command(&["wasm", &module]).env("WSKILL_CACHE_DIR", session.path("cache")).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    call();
    let files = compiled(&session);
    assert_eq!(files.len(), 1);
    let good = fs::read(&files[0]).unwrap();
    for bad in [&b"not machine code"[..], b"", &good[..good.len() / 2]] {
        fs::write(&files[0], bad).unwrap();
        call();
        assert_eq!(fs::read(&files[0]).unwrap().len(), good.len());
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Others could have written it: it is not used, and replaced.
        fs::set_permissions(&files[0], fs::Permissions::from_mode(0o666)).unwrap();
        call();
        assert_eq!(fs::metadata(&files[0]).unwrap().permissions().mode() & 0o777, 0o600);
        // A link in its place is not followed.
        fs::rename(&files[0], session.path("elsewhere")).unwrap();
        std::os::unix::fs::symlink(session.path("elsewhere"), &files[0]).unwrap();
        call();
        assert!(files[0].symlink_metadata().unwrap().is_file());
    }
}

#[test]
fn setup_verifies_what_is_compiled() {
    let session = Session::new();
    let module = assemble(&session, "m.wasm", r#"(module (memory (export "memory") 1) (func (export "_start")))"#);
    // One small program in place of the built-in ones, which take long to compile.
    fs::create_dir(session.path("programs")).unwrap();
    fs::rename(&module, session.path("programs/m.wasm")).unwrap();
    let description = r#"{"name": "m", "file": "m.wasm", "version": "1", "commands": ["m"]}"#;
    session.file("programs/m.json", description);
    let setup = |verify: bool| {
        let arguments = if verify { &["setup", "--verify"][..] } else { &["setup"] };
        let mut command = session.command(arguments);
        command.env("WSKILL_CACHE_DIR", session.path("cache")).env("WSKILL_PROGRAMS_DIR", session.path("programs"));
        command.output().unwrap()
    };
    assert!(setup(false).status.success());
    assert!(setup(true).status.success());
    let files = compiled(&session);
    let mut bytes = fs::read(&files[0]).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&files[0], &bytes).unwrap();
    let output = setup(true);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("was damaged"));
    assert!(setup(true).status.success());
}

#[test]
fn without_a_place_for_the_cache_it_runs_uncached() {
    let session = Session::new();
    let module = assemble(&session, "m.wasm", r#"(module (memory (export "memory") 1) (func (export "_start")))"#);
    session.file("file", "");
    let output = session.command(&["wasm", &module]).env("WSKILL_CACHE_DIR", session.path("file/x")).output().unwrap();
    assert!(output.status.success());
}
