//! `wskill tool`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::Value;

use super::settings::Configured;
use super::skills::SkillsArgs;
use super::state::{ExecutorArgs, open_sessions, session_key};
use super::{Error, print};
use crate::tools::{Compat, Profile, ToolOptions, Toolset};

/// Arguments of `wskill tool`.
#[derive(Debug, Args)]
pub struct ToolArgs {
    /// The tool's name; without one all are listed with their schemas
    name: Option<String>,

    /// Its arguments, a JSON object; `-` reads them from standard input
    #[arg(value_name = "JSON", default_value = "{}")]
    arguments: String,

    /// The session: what is loaded and the workspace stay from call to call
    #[arg(long, default_value = "default")]
    session: String,

    /// Which tools there are
    #[arg(long, value_enum, default_value_t)]
    profile: ProfileName,

    /// Whose forms results have, where frameworks differ
    #[arg(long, value_enum, default_value_t)]
    compat: CompatName,

    /// Let inputs host:// lead below this folder
    #[arg(long, value_name = "DIR")]
    host_root: Vec<PathBuf>,

    /// Begin a turn before the call: what was loaded for the last one is gone
    #[arg(long)]
    begin_turn: bool,

    #[command(flatten)]
    executor: ExecutorArgs,

    #[command(flatten)]
    skills: SkillsArgs,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum ProfileName {
    Run,
    Knowledge,
    #[default]
    Full,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum CompatName {
    #[default]
    Python,
    Go,
}

/// Calls a tool in a session and prints its result as JSON.
pub async fn tool(args: ToolArgs) -> Result<u8, Error> {
    let repository = args.skills.repository().await?;
    let configured = Configured::load()?;
    let sessions = open_sessions(repository, args.executor, &configured, &args.host_root).await?;
    let session = sessions.open(&session_key(&args.session)?).await?;
    let profile = match args.profile {
        ProfileName::Run => Profile::Run,
        ProfileName::Knowledge => Profile::Knowledge,
        ProfileName::Full => Profile::Full,
    };
    let compat = match args.compat {
        CompatName::Python => Compat::Python,
        CompatName::Go => Compat::Go,
    };
    if args.begin_turn {
        session.begin_turn().await?;
    }
    let options = configured.tools(ToolOptions::builder().profile(profile).compat(compat))?.build();
    let toolset = Toolset::new(session, options);
    let Some(name) = args.name else {
        return print(&(serde_json::to_string_pretty(&toolset.specs())? + "\n"));
    };
    let text = match args.arguments.as_str() {
        "-" => std::io::read_to_string(std::io::stdin())?,
        given => given.to_owned(),
    };
    let result = toolset.call(&name, Value::String(text)).await?;
    for warning in toolset.session().take_warnings() {
        super::say(&format!("warning: {warning}"));
    }
    print(&(serde_json::to_string_pretty(&result)? + "\n"))
}
