//! `wskill session`.

use clap::{Args, Subcommand};
use serde_json::json;

use super::settings::Configured;
use super::state::{ExecutorArgs, open_sessions, session_key};
use super::{Error, clean, print};
use crate::repository::Repository;
use crate::session::Sessions;
use crate::session::state::Selection;
use crate::session::store::SessionFilter;

/// Arguments of `wskill session`.
#[derive(Debug, Args)]
pub struct SessionArgs {
    #[command(flatten)]
    executor: ExecutorArgs,

    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the sessions.
    List {
        /// Print them as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what is loaded in a session, and what its workspace holds.
    Show {
        /// The session
        name: String,
    },
    /// Make a session that begins as another is now, with its files.
    Fork {
        /// The session
        name: String,
        /// The new one
        new: String,
    },
    /// Delete sessions with their workspaces and artifacts.
    Rm {
        /// The sessions
        #[arg(required = true)]
        names: Vec<String>,
    },
}

/// Lists, shows, forks or deletes sessions.
pub async fn session(args: SessionArgs) -> Result<u8, Error> {
    let sessions = open_sessions(Repository::builder().build(), args.executor, &Configured::load()?, &[]).await?;
    match args.action {
        Action::List { json } => list(&sessions, json).await,
        Action::Show { name } => show(&sessions, &name).await,
        Action::Fork { name, new } => {
            check_known(&sessions, &name).await?;
            let session = sessions.open(&session_key(&name)?).await?;
            sessions.fork(&session, &session_key(&new)?).await?;
            Ok(0)
        }
        Action::Rm { names } => {
            for name in &names {
                check_known(&sessions, name).await?;
            }
            for name in &names {
                sessions.remove(&session_key(name)?).await?;
            }
            Ok(0)
        }
    }
}

async fn check_known(sessions: &Sessions, name: &str) -> Result<(), Error> {
    let known = sessions.list(&SessionFilter::default()).await?;
    let names: Vec<_> = known.iter().map(|info| info.key.session()).collect();
    if names.contains(&name) {
        return Ok(());
    }
    let there = if names.is_empty() { "there is none".to_owned() } else { format!("there are {}", names.join(", ")) };
    Err(format!("unknown session `{name}`; {there}").into())
}

async fn list(sessions: &Sessions, as_json: bool) -> Result<u8, Error> {
    let known = sessions.list(&SessionFilter::default()).await?;
    if as_json {
        let rows: Vec<_> = known
            .iter()
            .map(|info| {
                json!({
                    "name": info.key.session(),
                    "created": seconds(info.created),
                    "updated": seconds(info.updated),
                    "workspace": info.workspace,
                })
            })
            .collect();
        return print(&(serde_json::to_string_pretty(&rows)? + "\n"));
    }
    let lines = known.iter().map(|info| {
        let workspace = info.workspace.as_deref().unwrap_or("no workspace yet");
        format!("{}  {workspace}\n", clean(info.key.session()))
    });
    print(&lines.collect::<String>())
}

async fn show(sessions: &Sessions, name: &str) -> Result<u8, Error> {
    check_known(sessions, name).await?;
    let session = sessions.open(&session_key(name)?).await?;
    session.workspace().await?;
    let selection = |selection: &Selection| match selection {
        Selection::All => json!("*"),
        some => json!(some.items()),
    };
    let loaded: Vec<_> = session
        .loaded()
        .iter()
        .map(|skill| json!({"name": skill.name, "docs": selection(&skill.documents), "tools": selection(&skill.tools)}))
        .collect();
    let shown = json!({
        "name": name,
        "loaded": loaded,
        "workspace": session.metadata().await,
    });
    print(&(serde_json::to_string_pretty(&shown)? + "\n"))
}

/// Seconds since 1970.
fn seconds(time: std::time::SystemTime) -> u64 {
    time.duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_secs()
}
