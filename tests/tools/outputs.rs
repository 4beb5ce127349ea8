//! What a run returns of the files it leaves.

use serde_json::json;

use super::support::Place;

#[tokio::test]
async fn new_files_in_out_come_back() {
    let place = Place::new();
    let tools = place.tools().await;
    tools.run("echo old > out/old.txt").await;
    // Longer than the clock of files may be behind.
    tokio::time::sleep(std::time::Duration::from_millis(60)).await;
    let result = tools
        .run("mkdir out/d; echo b > out/b.txt; echo '{}' > out/d/a.json; printf '\\x89PNG\\r\\n\\x1a\\n' > out/p")
        .await;
    let files = result["output_files"].as_array().unwrap();
    let names: Vec<_> = files.iter().map(|file| file["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["out/b.txt", "out/d/a.json", "out/p"]);
    assert_eq!(
        files[0],
        json!({"name": "out/b.txt", "content": "b\n", "mime_type": "text/plain", "size_bytes": 2, "ref": "workspace://out/b.txt"})
    );
    assert_eq!(files[1]["mime_type"], "application/json");
    assert_eq!((files[2]["mime_type"].as_str(), files[2].get("content")), (Some("image/png"), None));
    assert_eq!(result["primary_output"]["name"], "out/b.txt");
    tokio::time::sleep(std::time::Duration::from_millis(60)).await;
    let result = tools.run("for i in $(seq -w 25); do echo $i > out/n$i; done").await;
    assert_eq!(result["output_files"].as_array().unwrap().len(), 20);
    assert_eq!(result["warnings"], json!(["5 more files matched than the limits of outputs allow"]));
}

#[tokio::test]
async fn patterns_say_what_comes_back() {
    let place = Place::new();
    let tools = place.tools().await;
    tools
        .run("mkdir -p out/d work/w; for f in out/a.csv out/d/b.csv out/c.txt work/w/x.csv; do echo $f > $f; done")
        .await;
    for (patterns, expected) in [
        (json!(["out/*.csv"]), vec!["out/a.csv"]),
        (json!(["out/**/*.csv", "out/a.csv"]), vec!["out/a.csv", "out/d/b.csv"]),
        (json!("$OUTPUT_DIR/**"), vec!["out/a.csv", "out/c.txt", "out/d/b.csv"]),
        (json!(["${WORK_DIR}/w/*", "/workspace/out/c.txt"]), vec!["out/c.txt", "work/w/x.csv"]),
        (json!(["out/{a,d/b}.csv"]), vec!["out/a.csv", "out/d/b.csv"]),
    ] {
        let call = json!({"skill": "notes", "command": "true", "output_files": patterns});
        let result = tools.call("skill_run", call).await;
        let files = result["output_files"].as_array().unwrap();
        let names: Vec<_> = files.iter().map(|file| file["name"].as_str().unwrap()).collect();
        assert_eq!(names, expected, "{patterns}");
        assert_eq!(files[0]["content"], format!("{}\n", expected[0]));
    }
    let call = json!({"skill": "notes", "command": "true", "output_files": ["out/*.pdf"]});
    let warnings = tools.call("skill_run", call).await["warnings"].clone();
    assert_eq!(warnings, json!(["no file matches `out/*.pdf`; there are out/a.csv, out/c.txt, out/d/b.csv"]));
    for (pattern, reason) in [
        ("../x", "`../x` leads out of the workspace; name files below out/ or work/"),
        ("/etc/passwd", "`/etc/passwd` leads out of the workspace; name files below out/ or work/"),
        ("out/[", "`out/[` is no pattern: unclosed character class; missing ']'"),
        ("", "`` names no files; write `out/**`"),
    ] {
        let call = json!({"skill": "notes", "command": "true", "output_files": ["out/a", pattern]});
        assert_eq!(tools.error("skill_run", call).await, format!("skill_run: output_files[1]: {reason}"));
    }
}

#[tokio::test]
async fn outputs_have_limits_and_a_manifest() {
    let place = Place::new();
    let tools = place.tools().await;
    let call = json!({
        "skill": "notes",
        "command": "printf 12345678 > out/a.txt; printf 12 > out/b.txt; printf 34 > out/c.txt",
        "outputs": {"globs": ["out/*"], "inline": true, "save": true, "name_template": "r-", "max_files": 2, "max_file_bytes": 4},
    });
    let result = tools.call("skill_run", call).await;
    let manifest = &result["manifest"];
    assert_eq!(manifest["limits_hit"], true);
    let file = json!({
        "name": "out/a.txt", "content": "1234", "mime_type": "text/plain", "size_bytes": 8, "truncated": true,
        "ref": "workspace://out/a.txt",
    });
    assert_eq!(manifest["files"][0], file);
    assert_eq!(manifest["files"][1]["saved_as"], "r-out/b.txt");
    assert_eq!(manifest["files"].as_array().unwrap().len(), 2);
    assert_eq!(result["output_files"], manifest["files"]);
    let expected = json!([
        "1 more files matched than the limits of outputs allow",
        "out/a.txt is not saved as an artifact: it is larger than what is collected of one file",
    ]);
    assert_eq!(result["warnings"], expected);
    assert_eq!(result["artifact_files"][0]["ref"], "artifact://r-out/b.txt@0");
    let state = tools.0.session().state();
    assert_eq!(state.get("temp:skill:artifacts").unwrap()["artifacts"][0]["version"], 0);
    let metadata: serde_json::Value =
        serde_json::from_slice(&std::fs::read(place.workspace().join("metadata.json")).unwrap()).unwrap();
    assert_eq!(metadata["outputs"][0]["saved_as"], json!(["r-out/b.txt"]));
    assert_eq!(metadata["skills"]["notes"]["mounted"], true);
}

#[tokio::test]
async fn links_and_pipes_are_not_followed_out() {
    let place = Place::new();
    place.write("secret", "secret");
    let tools = place.tools().await;
    let secret = place.path().join("secret");
    let result = tools
        .call(
            "skill_run",
            json!({
                "skill": "notes",
                "command": format!(
                    "echo a > work/a; ln -s ../work/a out/in; ln -s {} out/host; ln -s /etc/passwd out/system;
                     ln -s nothing out/broken; mkfifo out/pipe; ln -s . out/loop; echo b > out/b",
                    secret.display()
                ),
                "output_files": ["out/**"],
            }),
        )
        .await;
    let files = result["output_files"].as_array().unwrap();
    let names: Vec<_> = files.iter().map(|file| file["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["out/b", "out/in"], "{result}");
    assert_eq!(files[1]["content"], "a\n");
    let warnings = result["warnings"].to_string();
    for name in ["out/host", "out/system", "out/broken", "out/pipe", "out/loop"] {
        assert!(warnings.contains(name), "{name}: {warnings}");
    }
}

#[tokio::test]
async fn empty_files_of_a_failed_command_are_left_out() {
    let place = Place::new();
    let tools = place.tools().await;
    let result = tools.run("touch out/empty; echo x > out/full; false").await;
    assert_eq!(result["output_files"].as_array().unwrap().len(), 1);
    assert_eq!(result["warnings"], json!(["empty output files are left out because the command failed"]));
    let call = json!({"skill": "notes", "command": "echo 1 > $OUTPUT_DIR/x", "env": {"OUTPUT_DIR": "work/res"}});
    let result = tools.call("skill_run", call).await;
    assert_eq!(result["output_files"][0]["name"], "work/res/x", "{result}");
}

#[tokio::test]
async fn runs_at_the_same_time_collect_their_own_files() {
    let place = Place::new();
    let tools = place.tools().await;
    let run = async |name: &str, command: &str| {
        let result = tools.run(command).await;
        assert_eq!(result["exit_code"], 0, "{result}");
        let files = result["output_files"].as_array().unwrap();
        let names: Vec<&str> = files.iter().map(|file| file["name"].as_str().unwrap()).collect();
        (name.to_owned(), names.join(" "))
    };
    // Each waits for the other's file, so that both are there when the first of them is collected.
    let wait = |file: &str| format!("until [ -e $OUTPUT_DIR/{file} ]; do sleep 0.01; done");
    let one = format!("echo 1 > out/one; {}", wait("two/moved"));
    let two = format!("mkdir work/t; echo 2 > work/t/moved; mv work/t out/two; ln -s two/moved out/l; {}", wait("one"));
    let ran = tokio::join!(run("one", &one), run("two", &two));
    assert_eq!(ran, (("one".into(), "out/one".into()), ("two".into(), "out/two/moved".into())));
    // A hard link gives an older file a new name; reading, and what was there before, is nothing new.
    let linked = run("link", "cat out/one > /dev/null; ln out/one out/same").await;
    assert_eq!(linked.1, "out/same");
    // The file that a program replaces by renaming over it is new.
    assert_eq!(run("edit", "sed -i s/1/3/ out/one").await.1, "out/one");
}
