//! An agent that uses skills: `cargo run --release --example agent -- 'What is the 30th Fibonacci number?'`.
//!
//! The model and its key come from the environment, or from `.env` in the current folder: `TRPC_AGENT_API_KEY`,
//! `TRPC_AGENT_BASE_URL`, `TRPC_AGENT_MODEL_NAME`. Skills are looked for in `$SKILLS_ROOT`, else `./skills`.

use std::io::Write;
use std::sync::Arc;

use wskill::agent::{Agent, Cancel, Client, Event, Settings};
use wskill::executor::SandboxExecutor;
use wskill::repository::Repository;
use wskill::session::{SessionKey, Sessions};
use wskill::tools::{ToolOptions, Toolset};

type Error = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let question = std::env::args().skip(1).collect::<Vec<_>>().join(" ");
    if question.is_empty() {
        return Err("say what to ask".into());
    }
    let settings = Settings::load()?;
    let roots = std::env::split_paths(settings.skills_root()).collect::<Vec<_>>();
    let executor = SandboxExecutor::builder().in_memory().build()?;
    let sessions = Sessions::builder(Repository::builder().roots(roots).build()).executor(executor).build()?;
    let session = sessions.open(&SessionKey::new("example", "", "agent")?).await?;
    let toolset = Toolset::new(session, ToolOptions::default());

    // The toolset is what the model calls, and puts skills and what is loaded into the system message.
    let mut agent = Agent::builder(Client::new(settings)?, Arc::new(toolset.clone())).prompt(Arc::new(toolset)).build();
    let show = |event: Event<'_>| match event {
        Event::Text(text) => {
            print!("{text}");
            // Nothing can be done about a terminal that is gone.
            let _ = std::io::stdout().flush();
        }
        Event::ToolBegin { name, arguments, .. } => eprintln!("[{name} {arguments}]"),
        Event::ToolEnd { name, summary, .. } => eprintln!("[{name}: {summary}]"),
        _ => {}
    };
    let run = agent.run(&question, &show, &Cancel::new()).await?;
    println!();
    eprintln!("[{:?} after {} requests]", run.ending, run.steps);
    Ok(())
}
