//! `wskill check`.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use super::{Error, clean, print};
use crate::skill::{FileFinding, Severity, check as check_skill};

/// Arguments of `wskill check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Folders of skills, or their SKILL.md
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,

    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

/// What was found about one skill.
#[derive(Debug, Serialize)]
struct Verdict {
    path: String,
    /// Whether it keeps the rules of the specification.
    valid: bool,
    findings: Vec<FileFinding>,
}

/// Checks skills; 1 when one breaks a rule of the specification.
pub fn check(args: &CheckArgs) -> Result<u8, Error> {
    let verdicts: Vec<Verdict> = args.paths.iter().map(|path| verdict(path)).collect();
    let status = u8::from(verdicts.iter().any(|verdict| !verdict.valid));
    if args.json {
        print(&(serde_json::to_string_pretty(&verdicts)? + "\n"))?;
        return Ok(status);
    }
    let mut text = String::new();
    for Verdict { path, valid, findings } in &verdicts {
        for found in findings {
            let place = Path::new(path).join(&found.file);
            let finding = &found.finding;
            let line = match found.file.as_str() {
                "" => format!("{path}: {}: {} [{}]", finding.severity, finding.message, finding.code),
                _ => format!("{}:{finding}", place.display()),
            };
            text += &format!("{}\n", clean(&line));
        }
        text += &format!("{}: {}\n", clean(path), if *valid { "valid" } else { "not valid" });
    }
    print(&text)?;
    Ok(status)
}

fn verdict(path: &Path) -> Verdict {
    // The file is what editors give.
    let is_file = path.file_name().is_some_and(|name| name.eq_ignore_ascii_case("SKILL.md")) && path.is_file();
    let folder = match path.parent().filter(|_| is_file) {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => path,
    };
    let findings = check_skill(folder);
    let valid = findings.iter().all(|found| found.finding.severity != Severity::Error);
    Verdict { path: folder.display().to_string(), valid, findings }
}
