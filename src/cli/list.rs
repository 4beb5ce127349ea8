//! `wskill list`.

use std::fmt::Write as _;

use clap::Args;
use serde::Serialize;

use super::skills::{Eligibility, SkillsArgs};
use super::{Error, clean, print, say};
use crate::repository::Reason;

/// Most characters of a description in the table.
const DESCRIPTION: usize = 100;

/// Arguments of `wskill list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    #[command(flatten)]
    skills: SkillsArgs,

    /// Also list what cannot be used, with the reasons
    #[arg(long)]
    all: bool,

    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

/// A skill in the list.
#[derive(Debug, Serialize)]
struct Row<'a> {
    name: &'a str,
    description: &'a str,
    folder: String,
    /// Why it is of no use here; empty: it can be used.
    reasons: Vec<String>,
    /// Findings in its front matter.
    warnings: u16,
}

/// The list as JSON.
#[derive(Debug, Serialize)]
struct Listing<'a> {
    skills: Vec<Row<'a>>,
    /// With --all: what was left out, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<Vec<String>>,
}

/// Lists the skills.
pub async fn list(args: ListArgs) -> Result<u8, Error> {
    let repository = args.skills.repository().await?;
    let catalogue = repository.catalogue();
    let mut eligibility = Eligibility::default();
    let mut rows = Vec::new();
    for entry in catalogue.entries() {
        let reasons = eligibility.reasons(entry)?;
        if args.all || reasons.is_empty() {
            let folder = entry.folder().display().to_string();
            let warnings = entry.summary().warnings();
            rows.push(Row { name: entry.name(), description: entry.description(), folder, reasons, warnings });
        }
    }
    let hidden = catalogue.entries().len() - rows.len();
    if args.json {
        let reports = catalogue.reports().iter().map(ToString::to_string).collect();
        let listing = Listing { skills: rows, left_out: args.all.then_some(reports) };
        return print(&(serde_json::to_string_pretty(&listing)? + "\n"));
    }
    let width = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for row in &rows {
        let _ = writeln!(text, "{:width$}  {}", clean(row.name), clean(&one_line(row.description)));
        for reason in &row.reasons {
            let _ = writeln!(text, "{:width$}  cannot be used: {}", "", clean(reason));
        }
    }
    print(&text)?;
    let mut untold = hidden;
    for report in catalogue.reports() {
        // A root that is not there is most likely a mistake in the call.
        if args.all || *report.reason() == Reason::NoRoot {
            say(&report.to_string());
        } else {
            untold += 1;
        }
    }
    if untold > 0 {
        say(&format!("{untold} more cannot be used; `wskill list --all` says why"));
    }
    Ok(0)
}

/// A description on one line, cut with an ellipsis.
fn one_line(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(DESCRIPTION) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
