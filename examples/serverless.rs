//! A handler as serverless platforms call it: no compiler, nothing on disk, one budget a request.
//!
//! `wskill setup` (or a build step) compiles the programs ahead into a folder; the handler runs without Cranelift from
//! there: `cargo run --release --example serverless --no-default-features --features programs -- CACHE_FOLDER`.

use std::time::Duration;

use serde_json::{Value, json};
use wskill::executor::SandboxExecutor;
use wskill::repository::Repository;
use wskill::session::{SessionKey, Sessions};
use wskill::tools::{ToolOptions, Toolset};
use wskill::{Limits, Runtime};

type Error = Box<dyn std::error::Error>;

/// What lives from request to request.
struct Handler {
    sessions: Sessions,
}

impl Handler {
    fn new(cache: &str, skills: &str) -> Result<Self, Error> {
        let runtime = Runtime::builder().cache_dir(cache).threads(2).build()?;
        let limits = Limits {
            wall_time: Some(Duration::from_secs(10)),
            memory: 256 << 20,
            process_memory: 128 << 20,
            disk: 64 << 20,
            ..Limits::default()
        };
        let executor = SandboxExecutor::builder().runtime(runtime).limits(limits).in_memory().build()?;
        let repository = Repository::builder().root(skills).build();
        Ok(Self { sessions: Sessions::builder(repository).executor(executor).build()? })
    }

    /// One request: its session is gone with it.
    async fn handle(&self, id: &str, event: &Value) -> Result<Value, Error> {
        let key = SessionKey::new("serverless", "", id)?;
        let session = self.sessions.open(&key).await?;
        let toolset = Toolset::new(session, ToolOptions::default());
        let tool = event["tool"].as_str().ok_or("`tool` is missing")?;
        let answer = toolset.call(tool, event["arguments"].clone()).await;
        drop(toolset);
        self.sessions.remove(&key).await?;
        Ok(match answer {
            Ok(result) => json!({"statusCode": 200, "body": result}),
            Err(error) => json!({"statusCode": 400, "body": {"error": error.to_string()}}),
        })
    }
}

fn main() -> Result<(), Error> {
    let cache = std::env::args().nth(1).ok_or("usage: serverless CACHE_FOLDER")?;
    let handler = Handler::new(&cache, "skills")?;
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    for (number, command) in ["python3 scripts/fib.py 10", "rm -rf /; echo still here"].into_iter().enumerate() {
        let event = json!({"tool": "skill_run", "arguments": {"skill": "python-math", "command": command}});
        let began = std::time::Instant::now();
        let response = tokio.block_on(handler.handle(&format!("request-{number}"), &event))?;
        println!("{} {:?}", response["body"]["stdout"], began.elapsed());
    }
    Ok(())
}
