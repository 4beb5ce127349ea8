//! What both trpc-agent frameworks promise to every skill, on each of the skills that come with the project.

use serde_json::json;
use wskill::executor::SandboxExecutor;
use wskill::repository::{Caller, Repository};
use wskill::session::{SessionKey, Sessions};
use wskill::tools::{ToolOptions, Toolset};

/// A command line, and what it prints.
const PROMISES: [(&str, &str); 9] = [
    ("test -L out && test -L work && test -L inputs && echo links", "links\n"),
    ("readlink -f out work inputs", "/workspace/out\n/workspace/work\n/workspace/work/inputs\n"),
    ("mkdir -p .venv/bin && echo 1 > .venv/mark && cat .venv/mark", "1\n"),
    ("echo x >> SKILL.md || echo read-only", "read-only\n"),
    ("touch new 2> /dev/null || echo read-only", "read-only\n"),
    ("ls -d ../*/ | wc -l", "8\n"),
    ("head -c 3 ../csv-insight/SKILL.md", "---"),
    (
        "printf 'a\\nb\\n' > work/lines && awk 'BEGIN { while ((getline line < \"work/lines\") > 0) print \"<\" line \">\" }'",
        "<a>\n<b>\n",
    ),
    (
        "python3 - <<'PY'\nimport os\nprint(os.getcwd() == os.environ['SKILLS_DIR'] + '/' + os.environ['SKILL_NAME'])\nPY",
        "True\n",
    ),
];

#[tokio::test]
async fn every_bundled_skill_has_what_was_promised() {
    let repository = Repository::builder().root("skills").build();
    let names: Vec<String> =
        repository.view(Caller::default()).entries().map(|entry| entry.name().to_owned()).collect();
    assert_eq!(names.len(), 8);
    let executor = SandboxExecutor::builder().in_memory().build().unwrap();
    let sessions = Sessions::builder(repository).executor(executor).build().unwrap();
    for name in &names {
        let session = sessions.open(&SessionKey::new("", "", name).unwrap()).await.unwrap();
        let tools = Toolset::new(session, ToolOptions::default());
        // A sibling is visible once it is staged.
        for sibling in &names {
            tools.call("skill_load", json!({"skill": sibling})).await.unwrap();
        }
        for (command, stdout) in PROMISES {
            let result = tools.call("skill_run", json!({"skill": name, "command": command})).await.unwrap();
            assert_eq!(result["stdout"], stdout, "{name}: {command}: {result}");
        }
    }
}
