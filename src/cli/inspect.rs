//! `wskill inspect`.

use std::fmt::Write as _;

use clap::Args;

use super::options::runtime;
use super::skills::SkillsArgs;
use super::{Error, clean, print};
use crate::inspect::{PermissionReport, Use, inspect as inspect_skill};

/// Most places of one thing that are printed.
const PLACES: usize = 3;

/// Arguments of `wskill inspect`.
#[derive(Debug, Args)]
pub struct InspectArgs {
    /// A skill: a path when it has a `/` or begins with `.`, else a name under the roots
    skill: String,

    #[command(flatten)]
    skills: SkillsArgs,

    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

/// Tells what a skill's scripts use.
pub async fn inspect(args: InspectArgs) -> Result<u8, Error> {
    let skill = args.skills.find(&args.skill).await?;
    let report = inspect_skill(&skill, &runtime()?).await?;
    if args.json {
        return print(&(serde_json::to_string_pretty(&report)? + "\n"));
    }
    print(&text(&report))
}

fn text(report: &PermissionReport) -> String {
    let parts = [
        ("scripts", &report.scripts, "nothing in the sandbox runs it"),
        ("commands", &report.commands, "not in the sandbox"),
        ("Python modules", &report.modules, "not in the sandbox"),
        ("Python packages", &report.packages, ""),
        ("WebAssembly imports", &report.wasm_imports, "not in the sandbox"),
        ("files outside the skill", &report.files, "not in the sandbox"),
        ("hosts", &report.hosts, "the sandbox has no network"),
        ("unknown without running", &report.unknown, ""),
        ("not read", &report.errors, ""),
    ];
    let mut text = String::new();
    for (title, uses, missing) in parts.into_iter().filter(|(_, uses, _)| !uses.is_empty()) {
        let _ = writeln!(text, "{title}:");
        for found in uses {
            let missing = if found.available == Some(false) { format!("  ({missing})") } else { String::new() };
            let _ = writeln!(text, "  {}{missing}{}", clean(&found.name), clean(&places(found)));
        }
    }
    if text.is_empty() { "no scripts\n".into() } else { text }
}

fn places(found: &Use) -> String {
    let shown: Vec<String> =
        found.places.iter().take(PLACES).map(|place| format!("{}:{}", place.file, place.line)).collect();
    let more = if found.places.len() > PLACES { ", …" } else { "" };
    if shown.is_empty() { String::new() } else { format!("  {}{more}", shown.join(", ")) }
}
