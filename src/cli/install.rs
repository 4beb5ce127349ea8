//! `wskill add`, `remove` and `update`.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;

use super::skills::FetchArgs;
use super::{Error, chain, clean, print, say};
use crate::skill::Skill;
use crate::source::{Difference, Installer, Source, UpdateState};

/// Where skills are installed.
#[derive(Debug, Args)]
pub struct RootArgs {
    /// The folder of installed skills, with their lock file
    #[arg(long, value_name = "DIR", default_value = "skills")]
    root: PathBuf,

    #[command(flatten)]
    fetch: FetchArgs,
}

/// Arguments of `wskill add`.
#[derive(Debug, Args)]
pub struct AddArgs {
    /// A folder, an archive (zip, tar, tar.gz, .skill) or an http(s) address of one, with `#sha256=…` to pin it
    source: String,

    /// Only these skills of a collection
    #[arg(value_name = "SKILL")]
    names: Vec<String>,

    #[command(flatten)]
    root: RootArgs,
}

/// Arguments of `wskill remove`.
#[derive(Debug, Args)]
pub struct RemoveArgs {
    /// An installed skill
    name: String,

    /// Remove it even if it was changed since it was installed
    #[arg(long)]
    discard_changes: bool,

    #[command(flatten)]
    root: RootArgs,
}

/// Arguments of `wskill update`.
#[derive(Debug, Args)]
pub struct UpdateArgs {
    /// An installed skill [default: all]
    name: Option<String>,

    /// Install what has changed; without it the changes are only shown
    #[arg(long)]
    trust: bool,

    /// Replace skills that were changed here since they were installed
    #[arg(long)]
    discard_changes: bool,

    #[command(flatten)]
    root: RootArgs,
}

impl RootArgs {
    fn installer(&self, discard_changes: bool) -> Result<Installer, Error> {
        let installer = Installer::new(&self.root, self.fetch.cache()?.open()?);
        Ok(installer.discard_changes(discard_changes))
    }
}

/// Installs skills.
pub async fn add(args: AddArgs) -> Result<u8, Error> {
    let installer = args.root.installer(false)?;
    let added = installer.add(&Source::parse(&args.source)?, &args.names).await?;
    let mut text = String::new();
    for skill in added {
        let _ = writeln!(text, "added {} (sha256:{})", skill.name, skill.sha256);
        // It is there for its author to mend.
        if let Err(error) = Skill::open(&installer.root().join(&skill.name)) {
            say(&format!("warning: {}: cannot be used: {}", skill.name, chain(&error)));
        }
    }
    print(&text)
}

/// Removes an installed skill.
pub async fn remove(args: RemoveArgs) -> Result<u8, Error> {
    let removed = args.root.installer(args.discard_changes)?.remove(&args.name).await?;
    print(&format!("removed {}\n", removed.name))
}

/// Shows what has changed at the sources, and installs it when it is trusted. 1 when something is left to do.
pub async fn update(args: UpdateArgs) -> Result<u8, Error> {
    let updates = args.root.installer(args.discard_changes)?.update(args.name.as_deref(), args.trust).await?;
    let mut text = String::new();
    let mut status = 0;
    for update in updates {
        let name = &update.name;
        match update.state {
            UpdateState::Current => {
                let _ = writeln!(text, "{name}: up to date");
            }
            UpdateState::Edited => {
                let _ = writeln!(text, "{name}: up to date, but edited here");
                text += &files(&update.difference);
            }
            UpdateState::Changed => {
                status = 1;
                let _ = writeln!(text, "{name}: changed; look at it and add --trust to install it");
                text += &files(&update.difference);
            }
            UpdateState::Updated => {
                let _ = writeln!(text, "{name}: updated");
                text += &files(&update.difference);
            }
            UpdateState::Failed(error) => {
                status = 1;
                say(&format!("error: {name}: {}", chain(&error)));
            }
        }
    }
    print(&text)?;
    Ok(status)
}

fn files(difference: &Difference) -> String {
    let lists = [('+', &difference.added), ('-', &difference.removed), ('~', &difference.changed)];
    lists.iter().flat_map(|(sign, names)| names.iter().map(move |name| format!("  {sign} {}\n", clean(name)))).collect()
}
