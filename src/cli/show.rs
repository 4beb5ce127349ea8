//! `wskill show`.

use std::fmt::Write as _;

use clap::Args;
use serde::Serialize;

use super::skills::SkillsArgs;
use super::{Error, clean, print, say};
use crate::prompt::estimate_tokens;
use crate::skill::{DocumentEntry, Manifest, Skill};

/// Arguments of `wskill show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// A skill: a path when it has a `/` or begins with `.`, else a name under the roots
    skill: String,

    #[command(flatten)]
    skills: SkillsArgs,

    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

/// All that is known of a skill.
#[derive(Debug, Serialize)]
struct Sheet<'a> {
    #[serde(flatten)]
    manifest: &'a Manifest,
    folder: String,
    sandbox_path: String,
    tools: Vec<String>,
    documents: Vec<DocumentEntry>,
    resources: Vec<DocumentEntry>,
    tokens: Tokens,
    warnings: Vec<String>,
}

/// What each layer of the skill costs in a prompt, estimated.
#[derive(Debug, Serialize)]
struct Tokens {
    /// Name and description.
    overview: usize,
    /// The body.
    body: usize,
    /// All documents.
    documents: usize,
}

/// Shows a skill.
pub async fn show(args: ShowArgs) -> Result<u8, Error> {
    let skill = args.skills.find(&args.skill).await?;
    let sheet = sheet(&skill);
    if args.json {
        return print(&(serde_json::to_string_pretty(&sheet)? + "\n"));
    }
    print(&text(&sheet)?)?;
    sheet.warnings.iter().for_each(|warning| say(warning));
    Ok(0)
}

fn sheet(skill: &Skill) -> Sheet<'_> {
    let manifest = skill.manifest();
    let files = skill.files();
    let mut warnings: Vec<String> =
        skill.findings().iter().map(|finding| format!("{}:{finding}", skill.path().display())).collect();
    let mut documents = 0;
    for entry in &files.documents {
        match skill.document(&entry.path) {
            Ok(document) => documents += estimate_tokens(&document.text),
            Err(error) => warnings.push(format!("warning: {error}")),
        }
    }
    warnings.extend(files.findings.iter().map(ToString::to_string));
    let overview = estimate_tokens(&manifest.name) + estimate_tokens(&manifest.description);
    Sheet {
        manifest,
        folder: skill.folder().display().to_string(),
        sandbox_path: skill.sandbox_path(),
        tools: skill.tools(),
        tokens: Tokens { overview, body: estimate_tokens(&skill.body()), documents },
        documents: files.documents,
        resources: files.resources,
        warnings,
    }
}

fn text(sheet: &Sheet<'_>) -> Result<String, Error> {
    let mut text = sheet.manifest.to_yaml();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let _ = writeln!(text, "\nfolder: {}\nin the sandbox: {}", clean(&sheet.folder), clean(&sheet.sandbox_path));
    if !sheet.tools.is_empty() {
        let _ = writeln!(text, "tools: {}", clean(&sheet.tools.join(", ")));
    }
    for (title, entries) in [("documents", &sheet.documents), ("resources", &sheet.resources)] {
        if !entries.is_empty() {
            let _ = writeln!(text, "\n{title}:");
        }
        for entry in entries {
            let _ = writeln!(text, "  {:>9}  {}", entry.bytes, clean(&entry.path));
        }
    }
    let Tokens { overview, body, documents } = sheet.tokens;
    let _ = writeln!(text, "\ntokens, about: overview {overview}, body {body}, documents {documents}");
    Ok(text)
}
