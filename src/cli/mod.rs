//! The command line: one file a subcommand.
//!
//! Exit statuses are a contract. `run`, `exec` and `wasm` exit with the command's own status, 124 when its time was over,
//! 137 after another limit or a kill, 126 and 127 as a shell, and 125 for failures of wskill itself and wrong usage.
//! Other subcommands exit with 0, 1, or 2 for wrong usage.

#[cfg(feature = "agent")]
mod chat;
mod check;
mod config;
mod hints;
mod inspect;
mod install;
mod list;
mod new;
mod options;
mod pack;
mod programs;
mod prompt;
mod report;
mod run;
mod session;
mod settings;
mod setup;
mod show;
mod signals;
mod skills;
mod state;
mod test;
mod tool;
mod trust;
mod wasm;
mod workspace;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use crate::Flavour;

/// Run untrusted Agent Skills as WebAssembly processes.
#[derive(Debug, Parser)]
#[command(name = "wskill", version, about, max_term_width = 110)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a command with a skill: its folder is read-only, `work/` and `out/` are writable.
    Run(run::RunArgs),
    /// Run a command in a sandbox without a skill.
    Exec(run::ExecArgs),
    /// Run a WASI module or component as it is: it sees only the folders given with --mount.
    Wasm(wasm::WasmArgs),
    /// List the skills.
    List(list::ListArgs),
    /// Show a skill: its front matter, documents, tools, resources and what they cost in tokens.
    Show(show::ShowArgs),
    /// Tell what a skill's scripts call and need, and what of it the sandbox has, without running them.
    Inspect(inspect::InspectArgs),
    /// Print what a model is told of the skills at first.
    Prompt(prompt::PromptArgs),
    /// Check skills against the specification of the Agent Skills format.
    Check(check::CheckArgs),
    /// Run the cases of a skill's tests/cases.toml in the sandbox.
    Test(test::TestArgs),
    /// Make a skill to begin with.
    New(new::NewArgs),
    /// Pack a skill into a `.skill` archive.
    Pack(pack::PackArgs),
    /// Install skills from a folder, an archive or an http(s) address.
    Add(install::AddArgs),
    /// Remove an installed skill.
    Remove(install::RemoveArgs),
    /// Show what has changed at the sources of installed skills, and install it.
    Update(install::UpdateArgs),
    /// Compile the built-in programs ahead, so that the first run need not.
    Setup(setup::SetupArgs),
    /// List the commands that exist in the sandbox.
    Programs(programs::ProgramsArgs),
    /// Call one of the tools that a model calls, in a session.
    Tool(tool::ToolArgs),
    /// List, show, fork or delete the sessions of `tool` and `chat`.
    Session(session::SessionArgs),
    /// Trust skills as they are now, for `trust.mode` of wskill.toml.
    Trust(trust::TrustArgs),
    /// Talk with a model that uses skills, over an OpenAI-compatible endpoint.
    #[cfg(feature = "agent")]
    Chat(chat::ChatArgs),
    /// Print what wskill.toml of the user and of the project set, and where each value comes from.
    Config(config::ConfigArgs),
    /// Compile a module from standard input to standard output: what wskill calls for modules of skills.
    #[command(hide = true)]
    CompileModule {
        /// `epoch` or `fuel`
        flavour: String,
    },
}

/// Failures of wskill itself, for the subcommands that run something.
const OWN_FAILURE: u8 = 125;

/// An error with all its causes in one line.
type Error = Box<dyn std::error::Error + Send + Sync>;

/// Parses the command line and does what it says.
pub fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let runs = arguments.get(1).is_some_and(|name| name == "run" || name == "exec" || name == "wasm");
    let failure = if runs { OWN_FAILURE } else { 1 };
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) if !error.use_stderr() || arguments.len() < 2 => {
            // Nothing can be done about a stream that is gone.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
        Err(error) => {
            let text = usage_error(&error, &arguments);
            say(&format!("error: {text}"));
            let status = if runs { OWN_FAILURE } else { 2 };
            if runs && arguments.iter().any(|argument| argument == "--json") {
                // As above.
                let _ = report::Report::failure(status, text).print();
            }
            return ExitCode::from(status);
        }
    };
    let done = match cli.command {
        Command::Run(args) => block_on(run::run(args)),
        Command::Exec(args) => block_on(run::exec(args)),
        Command::Wasm(args) => block_on(wasm::wasm(args)),
        Command::List(args) => block_on(list::list(args)),
        Command::Show(args) => block_on(show::show(args)),
        Command::Inspect(args) => block_on(inspect::inspect(args)),
        Command::Prompt(args) => block_on(prompt::prompt(args)),
        Command::Check(args) => check::check(&args),
        Command::Test(args) => block_on(test::test(args)),
        Command::New(args) => new::new(&args),
        Command::Pack(args) => pack::pack(&args),
        Command::Add(args) => block_on(install::add(args)),
        Command::Remove(args) => block_on(install::remove(args)),
        Command::Update(args) => block_on(install::update(args)),
        Command::Setup(args) => block_on(setup::setup(args)),
        Command::Programs(args) => programs::programs(&args),
        Command::Tool(args) => block_on(tool::tool(args)),
        Command::Trust(args) => block_on(trust::trust(args)),
        Command::Session(args) => block_on(session::session(args)),
        #[cfg(feature = "agent")]
        Command::Chat(args) => block_on(chat::chat(args)),
        Command::Config(args) => config::config(&args),
        Command::CompileModule { flavour } => return compile_module(&flavour),
    };
    match done {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            say(&format!("error: {}", chain(&*error)));
            ExitCode::from(failure)
        }
    }
}

/// What is wrong with a call, in one line.
fn usage_error(error: &clap::Error, arguments: &[OsString]) -> String {
    let text = error.to_string();
    // The first paragraph says what is wrong; a tip, the usage and a hint at --help follow.
    let (what, rest) = text.split_once("\n\n").unwrap_or((&text, ""));
    let what = what.strip_prefix("error: ").unwrap_or(what).split_whitespace().collect::<Vec<_>>().join(" ");
    let tip = rest.lines().find_map(|line| line.trim().strip_prefix("tip: ")).filter(|tip| tip.contains("similar"));
    let tip = tip.map(|tip| format!(" ({tip})")).unwrap_or_default();
    let known = Cli::command();
    let name = arguments.get(1).and_then(|name| name.to_str());
    let name = name.and_then(|name| known.find_subcommand(name)).map(|command| format!(" {}", command.get_name()));
    format!("{what}{tip}; see `wskill{} --help`", name.unwrap_or_default())
}

fn compile_module(flavour: &str) -> ExitCode {
    let done = match Flavour::from_name(flavour) {
        Some(flavour) => crate::sandbox::serve_compiler(flavour),
        None => Err(format!("unknown flavour `{flavour}`")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The parent puts its own words before it.
            let _ = write!(std::io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a future on this thread. Guests have threads of their own.
fn block_on<T>(future: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(future)
}

/// A text of a stranger's for one line of a terminal: without characters that control it, break the line, or turn the
/// direction of what follows.
fn clean(text: &str) -> std::borrow::Cow<'_, str> {
    let controls = |c: char| {
        c.is_control()
            || matches!(c, '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if text.contains(controls) { text.replace(controls, "\u{fffd}").into() } else { text.into() }
}

/// Prints a text to standard output; 0.
fn print(text: &str) -> Result<u8, Error> {
    match std::io::stdout().write_all(text.as_bytes()) {
        // Who reads no further (`| head`) has got what it wanted.
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(0),
    }
}

/// Prints a line of wskill's own to standard error.
fn say(text: &str) {
    // Names of strangers are in many messages. Nothing can be done about a standard error that is gone.
    let _ = writeln!(std::io::stderr(), "wskill: {}", clean(&text.replace('\n', " ")));
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let more = next.to_string();
        // Some messages hold their cause's already.
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = next.source();
    }
    text
}
