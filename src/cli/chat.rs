//! `wskill chat`.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use clap::Args;
use serde_json::json;

use super::settings::Configured;
use super::state::{ExecutorArgs, open_sessions, session_key};
use super::{Error, clean, say};
use crate::agent::{Agent, Cancel, Client, Ending, Environment, Event, Settings, Transcript, code_blocks};
use crate::repository::Repository;
use crate::tools::{Profile, ToolOptions, Toolset};

/// The most characters of a result that is shown.
const SHOWN_MAX: usize = 300;

/// Arguments of `wskill chat`.
#[derive(Debug, Args)]
pub struct ChatArgs {
    /// What to ask; without it lines of standard input are asked one after the other
    message: Vec<String>,

    /// The session: what is loaded and the workspace stay
    #[arg(long, default_value = "chat")]
    session: String,

    #[command(flatten)]
    executor: ExecutorArgs,

    /// The model [default: $TRPC_AGENT_MODEL_NAME]
    #[arg(long)]
    model: Option<String>,

    /// Folders of skills, with `:` between them [default: $SKILLS_ROOT, else ./skills]
    #[arg(long)]
    skills: Option<String>,

    /// Write the conversation to this file as lines of JSON, and go on with what is in it
    #[arg(long, value_name = "FILE")]
    transcript: Option<PathBuf>,

    /// Run the bash and Python code blocks of answers in the sandbox
    #[arg(long)]
    run_code_blocks: bool,

    /// The most requests to the model for one message [default: 32]
    #[arg(long)]
    max_steps: Option<u32>,
}

/// Talks with a model that uses skills.
pub async fn chat(args: ChatArgs) -> Result<u8, Error> {
    let mut environment = Environment::load()?;
    for (name, value) in [("TRPC_AGENT_MODEL_NAME", &args.model), ("SKILLS_ROOT", &args.skills)] {
        if let Some(value) = value {
            environment.set(name, value);
        }
    }
    let settings = Settings::from_environment(&environment)?;
    let configured = Configured::load()?;
    let roots = std::env::split_paths(settings.skills_root());
    let sessions = open_sessions(Repository::builder().roots(roots).build(), args.executor, &configured, &[]).await?;
    let session = sessions.open(&session_key(&args.session)?).await?;
    let toolset = Toolset::new(session, configured.tools(ToolOptions::builder().profile(Profile::Full))?.build());
    let secret = settings.api_key().clone();
    let client = Client::new(settings)?;
    let mut builder = Agent::builder(client, Arc::new(toolset.clone())).prompt(Arc::new(toolset.clone()));
    if let Some(steps) = args.max_steps {
        builder = builder.max_steps(steps);
    }
    if let Some(path) = &args.transcript {
        if path.exists() {
            builder = builder.messages(Transcript::read(path).map_err(|error| unusable(path, &error))?);
        }
        builder = builder.transcript(Transcript::open(path, secret).map_err(|error| unusable(path, &error))?);
    }
    let mut chat =
        Chat { agent: builder.build(), toolset, run_code_blocks: args.run_code_blocks, cancel: Interrupt::listen() };
    if !args.message.is_empty() {
        return chat.ask(&args.message.join(" ")).await;
    }
    let is_terminal = std::io::stdin().is_terminal();
    let mut status = 0;
    loop {
        if is_terminal {
            write!(std::io::stderr(), "> ")?;
        }
        let Some(line) = read_line().await? else { return Ok(status) };
        if !line.trim().is_empty() {
            status = chat.ask(line.trim()).await?;
        }
    }
}

fn unusable(path: &Path, error: &std::io::Error) -> String {
    format!("--transcript {}: {error}", path.display())
}

/// A line of standard input; `None` at its end.
async fn read_line() -> Result<Option<String>, Error> {
    let read = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).map(|count| (count > 0).then_some(line))
    });
    Ok(read.await??)
}

/// A conversation.
struct Chat {
    agent: Agent,
    toolset: Toolset,
    run_code_blocks: bool,
    cancel: Interrupt,
}

impl Chat {
    /// Asks, shows what happens, and answers the exit status.
    async fn ask(&mut self, text: &str) -> Result<u8, Error> {
        self.toolset.session().begin_turn().await?;
        let cancel = self.cancel.begin();
        let run = self.agent.run(text, &show, &cancel).await;
        self.cancel.end();
        let run = run?;
        println_flush("\n")?;
        for warning in self.toolset.session().take_warnings() {
            say(&format!("warning: {warning}"));
        }
        if self.run_code_blocks && run.ending == Ending::Answered {
            self.run_blocks(&run.text).await?;
        }
        Ok(match run.ending {
            Ending::Answered => 0,
            Ending::Cancelled => 130,
            _ => 1,
        })
    }

    async fn run_blocks(&self, text: &str) -> Result<(), Error> {
        for block in code_blocks(text) {
            let Some(language) = block.interpreter() else { continue };
            say(&format!("running the {language} block of line {}", block.line));
            let call = json!({"language": language, "code": block.code});
            match self.toolset.call("execute_code", call).await {
                Ok(result) => {
                    for stream in ["stdout", "stderr"] {
                        println_flush(result[stream].as_str().unwrap_or_default())?;
                    }
                    if result["exit_code"] != 0 {
                        say(&format!("exit status {}", result["exit_code"]));
                    }
                }
                Err(error) => say(&format!("error: {error}")),
            }
        }
        Ok(())
    }
}

/// Shows what happens while it does.
fn show(event: Event<'_>) {
    match event {
        // Nothing can be done about a stream that is gone.
        Event::Text(text) => drop(println_flush(&visible(text))),
        Event::ToolBegin { name, arguments, .. } => {
            let text: String = arguments.to_string().chars().take(SHOWN_MAX).collect();
            say(&format!("{name} {}", clean(&text)));
        }
        Event::ToolEnd { name, duration, summary, .. } => {
            say(&format!("{name} took {} ms: {summary}", duration.as_millis()));
        }
        Event::Retry { reason, .. } => say(&format!("trying again: {reason}")),
        Event::StepLimit { .. } => say("the most requests for one message are made; say more to go on"),
        Event::Cancelled => say("stopped"),
        _ => {}
    }
}

/// A model's text without what controls a terminal.
fn visible(text: &str) -> String {
    text.split_inclusive('\n')
        .map(|line| {
            line.strip_suffix('\n').map_or_else(|| clean(line).into_owned(), |line| format!("{}\n", clean(line)))
        })
        .collect()
}

fn println_flush(text: &str) -> std::io::Result<()> {
    let mut stdout = std::io::stdout();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// Ctrl-C stops the run that goes on; without one it ends the program.
struct Interrupt(Arc<Mutex<Option<Cancel>>>);

impl Interrupt {
    fn listen() -> Self {
        let current = Arc::new(Mutex::new(None::<Cancel>));
        let shared = Arc::clone(&current);
        tokio::spawn(async move {
            while tokio::signal::ctrl_c().await.is_ok() {
                match &*shared.lock().unwrap_or_else(PoisonError::into_inner) {
                    Some(cancel) => cancel.cancel(),
                    None => std::process::exit(130),
                }
            }
        });
        Self(current)
    }

    fn begin(&self) -> Cancel {
        let cancel = Cancel::new();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(cancel.clone());
        cancel
    }

    fn end(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
