//! An agent that uses skills: `cargo run --release --example agent -- 'What is the 30th Fibonacci number?'`.
//!
//! ```text
//! agent [--executor sandbox|local|container] [--transcript FILE] [QUESTION...]
//! ```
//!
//! Without a question each line of standard input is one. Calls of tools are shown on standard error as they happen.
//! Ctrl-C stops what the agent does and not the program; at the prompt it ends the program, as the end of the input
//! does.
//!
//! The model and its key come from the environment, or from `.env` in the current folder: `TRPC_AGENT_API_KEY` (or
//! `OPENAI_API_KEY`), `TRPC_AGENT_BASE_URL`, `TRPC_AGENT_MODEL_NAME`. Skills are looked for in `$SKILLS_ROOT`, else in
//! `./skills`.
//!
//! `config` reads what the user says, `tools` makes what the model calls, `prompts` what it is told, and this file runs
//! the conversation. It exits with 0 when the last question was answered, 130 when it was stopped, else with 1.

mod config;
mod prompts;
mod tools;

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Arc;

use tokio::sync::mpsc;
use wskill::agent::{Agent, Cancel, Client, Ending, Event, Transcript};
use wskill::tools::Toolset;

use config::Config;

type Error = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> ExitCode {
    match start().await {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            eprintln!("agent: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn start() -> Result<u8, Error> {
    let Some(config) = Config::read(std::env::args().skip(1))? else {
        println!("{}", config::USAGE);
        return Ok(0);
    };
    let (sessions, key) = tools::sessions(config.executor, config.settings.skills_root())?;
    let toolset = tools::toolset(&sessions, &key).await?;
    let status = talk(config, &toolset).await;
    drop(toolset);
    // The files of the conversation end with it.
    sessions.remove(&key).await?;
    status
}

/// Asks the question, or one after the other.
async fn talk(config: Config, toolset: &Toolset) -> Result<u8, Error> {
    let secret = config.settings.api_key().clone();
    let prompt = Arc::new(prompts::AgentPrompt(toolset.clone()));
    let mut builder = Agent::builder(Client::new(config.settings)?, Arc::new(toolset.clone())).prompt(prompt);
    if let Some(path) = &config.transcript {
        let unusable = |error: io::Error| format!("--transcript {}: {error}", path.display());
        if path.exists() {
            builder = builder.messages(Transcript::read(path).map_err(unusable)?);
        }
        builder = builder.transcript(Transcript::open(path, secret).map_err(unusable)?);
    }
    let mut agent = builder.build();
    if let Some(question) = config.question {
        return ask(&mut agent, toolset, &question).await;
    }
    let (mut lines, mut status) = (lines(), 0);
    loop {
        if io::stdin().is_terminal() {
            eprint!("> ");
        }
        let line = tokio::select! {
            line = lines.recv() => line,
            _ = tokio::signal::ctrl_c() => return Ok(130),
        };
        let Some(line) = line.transpose()? else { return Ok(status) };
        if !line.trim().is_empty() {
            // A model that cannot be asked now may answer the next question.
            status = ask(&mut agent, toolset, line.trim()).await.unwrap_or_else(|error| {
                eprintln!("error: {error}");
                1
            });
        }
    }
}

/// Asks one question, shows what happens, and answers the exit status.
async fn ask(agent: &mut Agent, toolset: &Toolset, question: &str) -> Result<u8, Error> {
    toolset.session().begin_turn().await?;
    let cancel = Cancel::new();
    let run = agent.run(question, &show, &cancel);
    tokio::pin!(run);
    let run = loop {
        tokio::select! {
            run = &mut run => break run?,
            _ = tokio::signal::ctrl_c() => cancel.cancel(),
        }
    };
    println!();
    for warning in toolset.session().take_warnings() {
        eprintln!("warning: {}", plain(&warning));
    }
    Ok(match run.ending {
        Ending::Answered => 0,
        Ending::Cancelled => 130,
        other => {
            eprintln!("[{other:?} after {} requests]", run.steps);
            1
        }
    })
}

/// Shows what happens while it does.
fn show(event: Event<'_>) {
    match event {
        Event::Text(text) => {
            print!("{}", plain(text));
            // Nothing can be done about a terminal that is gone.
            let _ = io::stdout().flush();
        }
        Event::ToolBegin { name, arguments, .. } => eprintln!("[{} {}]", plain(name), plain(&arguments.to_string())),
        Event::ToolEnd { name, duration, summary, .. } => {
            eprintln!("[{} took {} ms: {}]", plain(name), duration.as_millis(), plain(summary));
        }
        Event::Retry { reason, .. } => eprintln!("[trying again: {}]", plain(reason)),
        Event::Cancelled => eprintln!("[stopped]"),
        _ => {}
    }
}

/// A text of strangers without what controls a terminal.
fn plain(text: &str) -> String {
    text.chars().filter(|&c| c == '\n' || c == '\t' || !c.is_control()).collect()
}

/// The lines of standard input, read on a thread that the program need not wait for.
fn lines() -> mpsc::Receiver<io::Result<String>> {
    let (sender, receiver) = mpsc::channel(1);
    std::thread::spawn(move || {
        for line in io::stdin().lines() {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    receiver
}
