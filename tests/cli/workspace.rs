//! Workspaces: which are kept, which are deleted, and what a guest can do to them.

use std::fs;

use super::session::Session;

#[test]
fn workspaces_are_kept_or_deleted_as_asked() {
    let mut session = Session::new();
    session.call(&["exec", "echo 1 > out/x"]);
    session.call(&["exec", "echo 1 > work/x"]);
    session.call(&["exec", "--rm", "echo 1 > out/x"]);
    session.call(&["exec", "echo 1 > out/x; exit 3"]);
    let results = session.name("results");
    session.call(&["exec", "--out-dir", &results, "mkdir out/d; echo 3 > out/d/z; ln -s /etc/passwd out/link"]);
    assert_eq!(fs::read_to_string(session.path("results/d/z")).unwrap(), "3\n");
    assert_eq!(session.list("results"), ["d"]);

    let workspace = session.name("ws");
    session.call(&["exec", "--workspace", &workspace, "echo 1 > out/x; echo 2 > work/y"]);
    session.call(&["exec", "--workspace", &workspace, "cat out/x work/y; ls -A"]);
    session.call(&["run", "python-math", "--workspace", &workspace, "ls -A; echo $RUN_DIR; ls out/ work inputs/"]);
    assert_eq!(fs::read_to_string(session.path("ws/out/x")).unwrap(), "1\n");

    let root = session.name("root");
    session.call(&["exec", "--workspace-root", &root, "true"]);
    session.call(&["exec", "--workspace-root", &root, "--rm", "echo 1 > out/x"]);
    let made = session.list("root");
    assert!(made.len() == 1 && made[0].starts_with("ws_"), "{made:?}");
    session.finish("workspaces");
}

#[test]
fn results_replace_files_as_a_whole_and_a_failure_keeps_them() {
    let mut session = Session::new();
    let results = session.name("results");
    session.file("results/a", "old and longer\n");
    fs::create_dir_all(session.path("results/b")).unwrap();
    session.call(&["exec", "--out-dir", &results, "echo new > out/a"]);
    assert_eq!(fs::read_to_string(session.path("results/a")).unwrap(), "new\n");
    // A folder is where a file must go: the command's results are not lost.
    let output = session.run(&["exec", "--out-dir", &results, "echo b > out/b"]);
    assert_eq!(output.status.code(), Some(125));
    let kept = session.leftovers();
    assert_eq!(fs::read_to_string(kept[0].join("out/b")).unwrap(), "b\n");
    session.note(&["exec", "--out-dir", &results, "echo b > out/b"], &output);
    assert_eq!(session.list("results"), ["a", "b"]);
    session.finish("results");
}

#[test]
fn a_guest_cannot_lead_wskill_out_of_the_workspace() {
    let mut session = Session::new();
    session.file("host/secret", "secret\n");
    let (host, results, workspace) = (session.name("host"), session.name("results"), session.name("ws"));
    // Results through a link.
    let line = format!("rm -r out; ln -s {host} out");
    session.call(&["exec", "--out-dir", &results, &line]);
    assert!(session.list("results").is_empty());
    // The next run's folders through links of this run's.
    session.call(&["exec", "--workspace", &workspace, &format!("rm -r work; ln -s {host} work")]);
    session.call(&["exec", "--workspace", &workspace, "true"]);
    fs::remove_file(session.path("ws/work")).unwrap();
    // The writable folder of a skill: guests see it at its mount only.
    let attempts = format!(
        "rm -rf /workspace/.venvs; mv /workspace/.venvs /workspace/x; ln -sfn {host} /workspace/.venvs; \
         mkdir -p /workspace/y && mv -T /workspace/y /workspace/.venvs; ls /workspace/.venvs/; true"
    );
    session.call(&["run", "python-math", "--workspace", &workspace, "echo kept > .venv/file"]);
    let output = session.run(&["run", "python-math", "--workspace", &workspace, &attempts]);
    assert!(output.status.success());
    session.call(&["run", "python-math", "--workspace", &workspace, "ls .venv; echo 2 > .venv/second"]);
    assert_eq!(session.list("host"), ["secret"]);
    session.finish("confinement");
}

#[test]
fn an_unreadable_or_deep_workspace_is_deleted() {
    let session = Session::new();
    let line = "mkdir -p out/a/b; chmod 0 out/a/b; chmod 0 out/a; \
                mkdir d; for i in {1..300}; do mkdir n; mv d n/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; mv n d; done";
    let output = session.run(&["exec", "--json", "--rm", line]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(session.leftovers().len(), 0);
}
