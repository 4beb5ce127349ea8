//! `wskill trust`.

use clap::Args;

use super::settings::Configured;
use super::skills::SkillsArgs;
use super::{Error, clean, print};
use crate::source::trust_digest;

/// Arguments of `wskill trust`.
#[derive(Debug, Args)]
pub struct TrustArgs {
    /// The skills to trust as they are now; without any, those that are trusted are listed
    names: Vec<String>,

    /// Trust them no longer
    #[arg(long)]
    remove: bool,

    #[command(flatten)]
    skills: SkillsArgs,
}

/// Trusts skills by the digest of their files, for `trust.mode` of `wskill.toml`.
pub async fn trust(args: TrustArgs) -> Result<u8, Error> {
    let store = Configured::load()?.trust_store()?;
    if args.names.is_empty() {
        let lines = store
            .list()?
            .into_iter()
            .map(|skill| format!("{}  sha256:{}  since {}\n", clean(&skill.name), skill.sha256, skill.since));
        return print(&lines.collect::<String>());
    }
    if args.remove {
        for name in &args.names {
            if store.untrust(name, None)? == 0 {
                return Err(format!("`{name}` is not trusted").into());
            }
        }
        return Ok(0);
    }
    for name in &args.names {
        let skill = args.skills.find(name).await?;
        let digest = trust_digest(skill.folder())?;
        store.trust(skill.name(), &digest)?;
        print(&format!("{}  sha256:{digest}\n", clean(skill.name())))?;
    }
    Ok(0)
}
