//! What the command line and the environment say.

use std::path::PathBuf;

use wskill::agent::Settings;

use super::Error;

/// What `--help` prints.
pub const USAGE: &str = "\
usage: agent [--executor sandbox|local|container] [--transcript FILE] [QUESTION...]

  --executor NAME    where commands run [default: sandbox]; `local` has no isolation at all
  --transcript FILE  write the conversation to this file, and go on with what is in it

Without a question each line of standard input is one.";

/// Where commands of skills run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExecutorName {
    Sandbox,
    Local,
    Container,
}

/// What the program is to do.
#[derive(Debug)]
pub struct Config {
    pub executor: ExecutorName,
    pub transcript: Option<PathBuf>,
    /// `None`: questions come from standard input.
    pub question: Option<String>,
    /// The model, its key, and where skills are.
    pub settings: Settings,
}

impl Config {
    /// Reads the arguments and the environment; `None` when help is asked for.
    ///
    /// # Errors
    /// When an option is wrong or a setting is missing.
    pub fn read(mut arguments: impl Iterator<Item = String>) -> Result<Option<Self>, Error> {
        let (mut executor, mut transcript, mut words) = (ExecutorName::Sandbox, None, Vec::new());
        while let Some(argument) = arguments.next() {
            let (name, value) = match argument.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
                _ => (argument.as_str(), None),
            };
            let mut value = || value.clone().or_else(|| arguments.next()).ok_or(format!("{name}: a value is missing"));
            match name {
                "--help" | "-h" => return Ok(None),
                "--executor" => executor = parse_executor(&value()?)?,
                "--transcript" => transcript = Some(PathBuf::from(value()?)),
                "--" => words.extend(arguments.by_ref()),
                option if option.starts_with('-') => return Err(format!("unknown option `{option}`\n\n{USAGE}").into()),
                _ => words.push(argument),
            }
        }
        let question = (!words.is_empty()).then(|| words.join(" "));
        Ok(Some(Self { executor, transcript, question, settings: Settings::load()? }))
    }
}

fn parse_executor(name: &str) -> Result<ExecutorName, Error> {
    match name {
        "sandbox" => Ok(ExecutorName::Sandbox),
        "local" => Ok(ExecutorName::Local),
        "container" => Ok(ExecutorName::Container),
        other => Err(format!("--executor: `{other}` is none; there are sandbox, local and container").into()),
    }
}
