//! What calls may do: policy, restrictions of skills, hooks, the log, and functions of the host.

use std::sync::Arc;

use serde_json::{Value, json};
use wskill::audit::AuditLog;
use wskill::policy::{After, Before, CommandPolicy, Hooks};
use wskill::tools::{FunctionPool, FunctionSet, Guards, HostFunction};

use super::support::Place;

#[tokio::test]
async fn commands_are_checked_where_they_start() {
    let place = Place::new();
    let commands = CommandPolicy::new(Some(["cat", "echo", "python3"]), ["rm"]).unwrap();
    let guards = Guards { commands, ..Guards::default() };
    let tools = place.tools_with(|options| options.guards(guards)).await;
    assert_eq!(tools.run("echo a | cat").await["stdout"], "a\n");
    let result = tools.run("rm x; sh -c 'ls'; python3 -c 'import subprocess; subprocess.run([\"ls\"])'").await;
    let stderr = result["stderr"].as_str().unwrap();
    assert!(stderr.contains("rm: not allowed by the policy of this sandbox"), "{stderr}");
    assert!(stderr.contains("ls: not allowed by the policy of this sandbox") && stderr.contains("PermissionError"));
    assert!(result["limits_hit"]["policy"].as_u64().unwrap() >= 3, "{result}");
}

#[tokio::test]
async fn a_skill_restricts_the_calls_for_it() {
    let place = Place::new();
    place.write(
        "skills/tight/SKILL.md",
        "---\nname: tight\ndescription: T.\nallowed-tools: Bash(cat:*) Read\n---\nText.\n",
    );
    let tools = place.tools().await;
    tools.call("skill_load", json!({"skill": "tight"})).await;
    let run = |command: &str| json!({"skill": "tight", "command": command});
    assert_eq!(tools.call("skill_run", run("cat SKILL.md | cat | tail -1")).await["exit_code"], 126);
    assert_eq!(tools.call("skill_run", run("cat SKILL.md")).await["exit_code"], 0);
    let error = tools.error("workspace_write", json!({"path": "work/a", "content": ""})).await;
    assert!(error.contains("is not among the allowed tools of the skill `tight`"), "{error}");
    // It is not the business of other skills, and gone with the turn.
    assert_eq!(tools.run("ls SKILL.md").await["exit_code"], 0);
    tools.0.session().begin_turn().await.unwrap();
    tools.call("workspace_write", json!({"path": "work/a", "content": ""})).await;
}

#[tokio::test]
async fn hooks_deny_rewrite_and_replace_and_all_is_written_down() {
    let place = Place::new();
    let hooks = Hooks::new()
        .with_before("no-code", |call| async move {
            match call.tool.as_str() {
                "execute_code" => Before::Deny("only skills run here".into()),
                "skill_run" => {
                    let mut arguments = call.arguments.clone();
                    arguments["env"] = json!({"WHO": "hook"});
                    Before::Rewrite(arguments)
                }
                _ => Before::Approve,
            }
        })
        .with_after("shout", |_, result: Arc<Value>| async move {
            match result["stdout"].as_str() {
                Some(text) => {
                    let mut shouted = Value::clone(&result);
                    shouted["stdout"] = json!(text.to_uppercase());
                    After::Replace(shouted)
                }
                None => After::Keep,
            }
        });
    let log = place.path().join("audit.jsonl");
    let audit = Some(Arc::new(AuditLog::builder(&log).open().unwrap()));
    let guards = Guards { hooks, audit, ..Guards::default() };
    let counters = Arc::clone(&guards.counters);
    let tools = place.tools_with(|options| options.guards(guards)).await;
    assert_eq!(tools.run("echo $WHO; exit 3").await["stdout"], "HOOK\n");
    let error = tools.error("execute_code", json!({"code": "1"})).await;
    assert_eq!(error, "execute_code: the hook `no-code` denies the call: only skills run here");
    let text = std::fs::read_to_string(log).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        (&lines[0]["tool"], &lines[0]["session"], &lines[0]["skill"]),
        (&json!("skill_run"), &json!("s"), &json!("notes"))
    );
    assert_eq!((&lines[0]["exit_code"], &lines[0]["command"]["text"]), (&json!(3), &json!("echo $WHO; exit 3")));
    assert_eq!((&lines[1]["verdicts"][0]["gate"], &lines[1]["verdicts"][0]["passed"]), (&json!("hook"), &json!(false)));
    assert!(counters.prometheus().contains("skill_run"));
}

fn echo(name: &str) -> HostFunction {
    let said = name.to_owned();
    HostFunction::new(name, "Says its name.", json!({"type": "object"}), move |arguments| {
        let said = said.clone();
        async move {
            match arguments.get("fail") {
                Some(_) => Err("asked to fail".to_owned()),
                None => Ok(json!({"name": said, "given": arguments})),
            }
        }
    })
}

#[derive(Debug)]
struct Late;

impl FunctionSet for Late {
    fn functions(&self) -> Vec<HostFunction> {
        vec![echo("find_note")]
    }
}

#[tokio::test]
async fn functions_of_the_host_are_active_with_their_skills() {
    let place = Place::new();
    let pool =
        || FunctionPool::new().function(echo("add_note")).function(echo("undeclared")).set(Late).for_scripts(true);
    let tools = place.tools_with(|options| options.functions(pool())).await;
    let offered = || {
        let names: Vec<_> = tools.0.active_functions().iter().map(|function| function.spec().name.clone()).collect();
        names.join(" ")
    };
    assert_eq!(offered(), "");
    assert!(tools.error("add_note", json!({})).await.contains("there is no tool `add_note`"));
    tools.call("skill_load", json!({"skill": "notes"})).await;
    assert_eq!(offered(), "add_note find_note");
    assert_eq!(tools.call("find_note", json!({"a": 1})).await, json!({"name": "find_note", "given": {"a": 1}}));
    assert_eq!(tools.error("add_note", json!({"fail": 1})).await, "add_note: asked to fail");
    let script =
        "wskill-tool add_note '{\"b\": 2}'; python3 -c 'from host import tools; print(tools.find_note(c=3)[\"given\"])'
        wskill-tool undeclared";
    let result = tools.run(script).await;
    assert!(
        result["stdout"].as_str().unwrap().starts_with("{\"given\":{\"b\":2},\"name\":\"add_note\"}\n{'c': 3}\n"),
        "{result}"
    );
    assert_eq!(result["exit_code"], 1);
    tools.call("skill_select_tools", json!({"skill": "notes", "tools": ["add_note"], "mode": "clear"})).await;
    tools.call("skill_select_tools", json!({"skill": "notes", "tools": ["add_note"]})).await;
    assert_eq!(offered(), "add_note");
    assert!(tools.0.specs().iter().any(|spec| spec.name == "add_note"));
    let tools = place.tools_with(|options| options.functions(pool().only_active_skills(false))).await;
    tools.0.session().begin_turn().await.unwrap();
    assert_eq!(tools.0.active_functions().len(), 2);
}
