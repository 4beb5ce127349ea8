//! `skill_run` and `execute_code`.

use serde_json::json;
use wskill::tools::RunDefaults;

use super::support::Place;

#[tokio::test]
async fn a_command_runs_in_the_skills_folder() {
    let place = Place::new();
    let tools = place.tools().await;
    let result = tools.run("bash scripts/note.sh hi; pwd; echo bad >&2; exit 3").await;
    assert_eq!(result["stdout"], "note: hi\n/workspace/skills/notes\n");
    assert_eq!((&result["stderr"], &result["exit_code"]), (&json!("bad\n"), &json!(3)));
    assert_eq!(result["timed_out"], json!(false));
    assert!(result["duration_ms"].is_u64());
    assert_eq!(result["output_files"], json!([]));
}

#[tokio::test]
async fn the_workspace_is_laid_out_around_the_skill() {
    let place = Place::new();
    let tools = place.tools().await;
    // As trpc-agent-go's benchmark checks each skill.
    let result = tools
        .run(
            "set -e; test -L out; test -L work; test -L inputs; test -d .venv; test -e scripts; mkdir -p out/bench
             printf OK > out/bench/notes_ok.txt; printf OK > .venv/bench.txt
             set +e; (echo no >> SKILL.md) 2>/dev/null; code=$?; set -e
             if [ \"$code\" -eq 0 ]; then exit 1; fi; printf OK",
        )
        .await;
    assert_eq!((&result["stdout"], &result["exit_code"]), (&json!("OK"), &json!(0)), "{result}");
    assert_eq!(result["output_files"][0]["name"], "out/bench/notes_ok.txt");
    let result = tools.run("cat .venv/bench.txt; env | grep -E '_DIR=|SKILL_NAME|VIRTUAL_ENV' | sort").await;
    let text = result["stdout"].as_str().unwrap();
    let run = text.lines().find_map(|line| line.strip_prefix("RUN_DIR=/workspace/")).unwrap();
    assert!(place.workspace().join(run).is_dir(), "{run}");
    assert_eq!(
        text.replace(run, "RUN"),
        "OKOUTPUT_DIR=/workspace/out\nRUN_DIR=/workspace/RUN\nSKILLS_DIR=/workspace/skills\nSKILL_NAME=notes\n\
         VIRTUAL_ENV=/workspace/skills/notes/.venv\nWORKSPACE_DIR=/workspace\nWORK_DIR=/workspace/work\n"
    );
}

#[tokio::test]
async fn skills_that_were_used_see_each_other() {
    let place = Place::new();
    let tools = place.tools().await;
    tools.call("skill_load", json!({"skill": "other"})).await;
    assert_eq!(tools.run("tail -1 ../other/SKILL.md; ls ..").await["stdout"], "Nothing.\nnotes\nother\n");
}

#[tokio::test]
async fn input_environment_and_directory_are_the_calls() {
    let place = Place::new();
    let tools = place.tools().await;
    for (arguments, stdout, warning) in [
        (json!({"command": "cat", "stdin": "text"}), "text", None),
        (json!({"command": "echo $A", "env": {"A": "1 2"}}), "1 2\n", None),
        (json!({"command": "pwd", "cwd": "scripts"}), "/workspace/skills/notes/scripts\n", None),
        (json!({"command": "pwd", "cwd": "$WORK_DIR/new"}), "/workspace/work/new\n", None),
        (json!({"command": "pwd -P", "cwd": "out/x"}), "/workspace/out/x\n", None),
        (json!({"command": "pwd", "cwd": "/"}), "/workspace\n", None),
        (
            json!({"command": "pwd", "cwd": "/etc"}),
            "/workspace/skills/notes\n",
            Some("cwd `/etc` leads out of the workspace; the command ran in skills/notes/"),
        ),
        (
            json!({"command": "echo ${LD_PRELOAD-unset}", "env": {"LD_PRELOAD": "x"}}),
            "unset\n",
            Some("env.LD_PRELOAD is not passed on: it changes how programs are loaded"),
        ),
        (json!({"command": "printf old > f; $EDITOR f; cat f", "cwd": "/work", "editor_text": "new"}), "new", None),
    ] {
        let mut call = arguments.clone();
        call["skill"] = json!("notes");
        let result = tools.call("skill_run", call).await;
        assert_eq!(result["stdout"], stdout, "{arguments}: {result}");
        assert_eq!(result["warnings"].get(0).and_then(|text| text.as_str()), warning, "{arguments}");
    }
    for (arguments, expected) in [
        (json!({"cwd": "nowhere"}), "skill_run: cwd: the skill `notes` has no folder `nowhere`"),
        (
            json!({"env": {"A-B": ""}}),
            "skill_run: env.A-B: is no name of a variable: letters, digits and `_`, not beginning with a digit",
        ),
        (
            json!({"env": {"OUTPUT_DIR": "/etc"}}),
            "skill_run: env.OUTPUT_DIR: `/etc` is outside of the workspace's folders work/, out/ and runs/",
        ),
        (
            json!({"env": {"EDITOR": "vi"}, "editor_text": "x"}),
            "skill_run: editor_text: cannot be combined with `env.EDITOR`; leave one out",
        ),
    ] {
        let mut call = arguments;
        call["skill"] = json!("notes");
        call["command"] = json!("true");
        assert_eq!(tools.error("skill_run", call).await, expected);
    }
}

#[tokio::test]
async fn time_and_output_are_limited() {
    let place = Place::new();
    let tools = place.tools().await;
    let result = tools.call("skill_run", json!({"skill": "notes", "command": "sleep 9", "timeout": 0.05})).await;
    assert_eq!((&result["timed_out"], &result["exit_code"]), (&json!(true), &json!(124)));
    assert_eq!(result["limit"], "wall_time");
    let result = tools.run("yes ä | head -c 20001; yes e | head -c 20000 >&2").await;
    let stdout = result["stdout"].as_str().unwrap();
    // The first ends with a character of two bytes.
    assert_eq!((stdout.len(), result["stderr"].as_str().unwrap().len()), (16383, 16384));
    let warnings = json!([
        "stdout was cut after 16384 bytes; write long output to a file in out/",
        "stderr was cut after 16384 bytes; write long output to a file in out/",
    ]);
    assert_eq!(result["warnings"], warnings);
    let result = tools.run("nosuchcommand").await;
    assert_eq!(result["exit_code"], 127);
    assert!(result["hints"][0].as_str().unwrap().contains("`nosuchcommand` does not exist"), "{result}");
}

#[tokio::test]
async fn a_toolset_has_defaults_and_conditions() {
    let place = Place::new();
    let defaults = RunDefaults {
        timeout: Some(std::time::Duration::from_millis(50)),
        save_as_artifacts: true,
        artifact_prefix: "p/".into(),
        omit_inline_content: true,
        outputs: None,
    };
    let tools = place.tools_with(|options| options.run_defaults(defaults).require_skill_loaded(true)).await;
    let call = json!({"skill": "notes", "command": "sleep 9"});
    assert_eq!(
        tools.error("skill_run", call.clone()).await,
        "skill_run: the skill `notes` is not loaded; call skill_load with it first"
    );
    tools.call("skill_load", json!({"skill": "notes"})).await;
    assert_eq!(tools.call("skill_run", call).await["timed_out"], true);
    let result =
        tools.call("skill_run", json!({"skill": "notes", "command": "echo a > out/a.txt", "timeout": 60})).await;
    assert_eq!(
        result["artifact_files"],
        json!([{"name": "p/out/a.txt", "version": 0, "ref": "artifact://p/out/a.txt@0"}])
    );
    assert_eq!((result["output_files"][0].get("content"), result.get("primary_output")), (None, None));
}

#[tokio::test]
async fn code_runs_without_a_skill() {
    let place = Place::new();
    let tools = place.tools().await;
    let code = "import os\nprint(os.getcwd(), input())\nopen(os.environ['OUTPUT_DIR'] + '/a.txt', 'w').write('x')\n";
    let result = tools.call("execute_code", json!({"code": code, "stdin": "in\n"})).await;
    assert_eq!(result["stdout"], "/workspace/work in\n", "{result}");
    assert_eq!(result["output_files"][0]["content"], "x");
    let result = tools.call("execute_code", json!({"code": "echo $((6*7))", "language": "bash"})).await;
    assert_eq!(result["stdout"], "42\n");
    let error = tools.error("execute_code", json!({"code": "1", "language": "perl"})).await;
    let expected = "execute_code: language: unknown variant `perl`, expected `python` or `bash`; given was \"perl\"";
    assert_eq!(error, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_at_once_share_the_workspace_and_nothing_else() {
    let place = Place::new();
    let tools = std::sync::Arc::new(place.tools().await);
    tools.run("true").await;
    let calls = (0..8).map(|number| {
        let tools = std::sync::Arc::clone(&tools);
        tokio::spawn(async move {
            let command =
                format!("echo {number} > $RUN_DIR/own; echo {number} > work/{number}; cat $RUN_DIR/own; ls $RUN_DIR");
            tools.run(&command).await["stdout"].as_str().unwrap().to_owned()
        })
    });
    for (number, call) in calls.collect::<Vec<_>>().into_iter().enumerate() {
        assert_eq!(call.await.unwrap(), format!("{number}\nown\n"));
    }
    assert_eq!(tools.run("ls work | wc -w").await["stdout"].as_str().unwrap().trim(), "9");
}
