//! `wskill prompt`.

use clap::{Args, ValueEnum};

use super::skills::{Eligibility, SkillsArgs};
use super::{Error, print};
use crate::prompt::{Overview, OverviewItem};
use crate::skill::SANDBOX_FOLDER;

/// Arguments of `wskill prompt`.
#[derive(Debug, Args)]
pub struct PromptArgs {
    #[command(flatten)]
    skills: SkillsArgs,

    /// As lines for a system prompt, as the specification's XML, or as JSON
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Format {
    #[default]
    Text,
    Xml,
    Json,
}

/// Prints what a model is told of the skills at first: names, descriptions and where they are in the sandbox.
pub async fn prompt(args: PromptArgs) -> Result<u8, Error> {
    let repository = args.skills.repository().await?;
    let catalogue = repository.catalogue();
    let mut eligibility = Eligibility::default();
    let mut items = Vec::new();
    for entry in catalogue.entries() {
        // What only users may call, and what cannot work here, is not for the model.
        if entry.summary().is_model_invocable() && eligibility.reasons(entry)?.is_empty() {
            items.push(OverviewItem {
                name: entry.name().to_owned(),
                description: entry.description().to_owned(),
                location: format!("{SANDBOX_FOLDER}/{}/SKILL.md", entry.name()),
            });
        }
    }
    let overview = Overview::new(items);
    print(&match args.format {
        Format::Text => overview.to_text(),
        Format::Xml => overview.to_xml(),
        Format::Json => serde_json::to_string_pretty(overview.items())? + "\n",
    })
}
