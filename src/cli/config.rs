//! `wskill config`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use clap::Args;
use serde::Serialize;

use super::{Error, clean, print, say};
use crate::config::{Amount, Config, Layer, LimitRules, Origin, Places, Settings, Value};
use crate::policy::redact;
use crate::{LimitName, Limits, parse_size};

/// Arguments of `wskill config`.
#[derive(Debug, Args)]
pub struct ConfigArgs {
    /// What holds for this skill
    #[arg(long, value_name = "NAME")]
    skill: Option<String>,

    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

/// A file that is looked for.
#[derive(Debug, Serialize)]
struct File<'a> {
    layer: Layer,
    path: &'a Path,
    found: bool,
}

/// A setting.
#[derive(Debug, Serialize)]
struct Row<'a> {
    value: Value,
    /// Where it comes from; empty: it is the default.
    origins: &'a [Origin],
}

/// All that is printed as JSON.
#[derive(Debug, Serialize)]
struct Listing<'a> {
    files: Vec<File<'a>>,
    /// With --skill: whose settings these are.
    #[serde(skip_serializing_if = "Option::is_none")]
    skill: Option<&'a str>,
    settings: BTreeMap<&'a str, Row<'a>>,
    /// The skills that have tables of their own.
    skills: Vec<&'a str>,
    warnings: Vec<String>,
}

/// Prints the merged configuration.
pub fn config(args: &ConfigArgs) -> Result<u8, Error> {
    let places = Places::of(Path::new("."));
    let config = Config::load(&places, &SandboxLimits)?;
    let settings = config.settings(args.skill.as_deref());
    let rows = rows(&settings);
    if args.json {
        let read = |layer| config.files().any(|(read, _)| read == layer);
        let looked = [(&places.user, Layer::User), (&places.project, Layer::Project)].into_iter();
        let files = looked.filter_map(|(path, layer)| Some(File { layer, path: path.as_ref()?, found: read(layer) }));
        let listing = Listing {
            files: files.collect(),
            skill: args.skill.as_deref(),
            settings: rows,
            skills: config.skills(),
            warnings: settings.warnings().iter().map(ToString::to_string).collect(),
        };
        return print(&(serde_json::to_string_pretty(&listing)? + "\n"));
    }
    let lines: Vec<(String, String)> = rows
        .iter()
        .map(|(key, row)| {
            let places: Vec<String> = row.origins.iter().map(ToString::to_string).collect();
            let from = if places.is_empty() { "default".to_owned() } else { places.join(", ") };
            (format!("{key} = {}", row.value), from)
        })
        .collect();
    // Long values do not push everything aside.
    let width = lines.iter().map(|(text, _)| text.chars().count()).filter(|width| *width <= 60).max().unwrap_or(0);
    let mut text = String::new();
    for (line, from) in &lines {
        let _ = writeln!(text, "{:width$}  {}", clean(line), clean(from));
    }
    print(&text)?;
    for warning in settings.warnings() {
        say(&format!("warning: {warning}"));
    }
    let skills = config.skills();
    if args.skill.is_none() && !skills.is_empty() {
        say(&format!("there are settings for {}; see them with `wskill config --skill NAME`", skills.join(", ")));
    }
    Ok(0)
}

/// The settings, without the values of secrets.
fn rows(settings: &Settings) -> BTreeMap<&str, Row<'_>> {
    let shown = |key: &str, value: &Value| match (key.strip_prefix("env."), value) {
        (Some(name), Value::Text(text)) => Value::Text(redact(name, text).into_owned()),
        (_, value) => value.clone(),
    };
    settings.iter().map(|(key, set)| (key, Row { value: shown(key, &set.value), origins: &set.origins })).collect()
}

/// The rules of the sandbox's limits.
#[derive(Debug)]
pub struct SandboxLimits;

impl LimitRules for SandboxLimits {
    fn names(&self) -> Vec<&'static str> {
        let fixed = [LimitName::HostFiles, LimitName::Path, LimitName::Stack, LimitName::Policy];
        LimitName::ALL.iter().filter(|name| !fixed.contains(name)).map(|name| name.as_str()).collect()
    }

    fn default_text(&self, name: &str) -> String {
        match name.parse().ok().and_then(|name| amount(&Limits::default(), name)) {
            Some(Amount::Finite(nanoseconds)) if name == "wall_time" => (nanoseconds / 1_000_000_000).to_string(),
            Some(Amount::Finite(number)) => number.to_string(),
            Some(Amount::Unlimited) | None => "off".into(),
        }
    }

    fn amount(&self, name: &str, value: &str) -> Result<Amount, String> {
        let mut limits = Limits::default();
        let name: LimitName = name.parse().map_err(|error: crate::LimitError| error.to_string())?;
        limits.set(name, value).map_err(|error| error.to_string())?;
        amount(&limits, name).ok_or_else(|| format!("the limit `{name}` is fixed"))
    }

    fn size(&self, text: &str) -> Option<u64> {
        parse_size(text)
    }
}

/// How much a limit allows; nothing for those that are fixed.
fn amount(limits: &Limits, name: LimitName) -> Option<Amount> {
    let number = match name {
        LimitName::WallTime => {
            return Some(limits.wall_time.map_or(Amount::Unlimited, |time| Amount::Finite(time.as_nanos())));
        }
        LimitName::Fuel => {
            return Some(limits.fuel.map_or(Amount::Unlimited, |fuel| Amount::Finite(fuel.into())));
        }
        LimitName::Output => limits.output,
        LimitName::Memory => limits.memory,
        LimitName::ProcessMemory => limits.process_memory,
        LimitName::Processes => limits.processes.into(),
        LimitName::Spawns => limits.spawns,
        LimitName::OpenFiles => limits.open_files.into(),
        LimitName::Disk => limits.disk,
        LimitName::Inodes => limits.inodes,
        LimitName::FileSize => limits.file_size,
        LimitName::Args => limits.args,
        LimitName::Pipes => limits.pipes,
        LimitName::Module => limits.module,
        LimitName::ToolCalls => limits.tool_calls,
        LimitName::ToolBytes => limits.tool_bytes,
        LimitName::HostFiles | LimitName::Path | LimitName::Stack | LimitName::Policy => return None,
    };
    Some(Amount::Finite(number.into()))
}
