//! The options that say where skills are, and what they lead to.

use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use clap::Args;

use super::options::runtime;
use super::{Error, say};
use crate::repository::{Entry, Origin, Reason, Report, Repository, well_known};
use crate::skill::{Host, Skill};
use crate::source::{Cache, CacheBuilder, Place, Progress, Source};

/// The system that scripts see in the sandbox.
const SANDBOX_OS: &str = "linux";

/// Where skills are looked for.
#[derive(Debug, Args)]
pub struct SkillsArgs {
    /// Folders, archives or http(s) addresses of skills, several with `:` between them; earlier ones count more
    /// [default: $SKILLS_ROOT, else ./skills]
    #[arg(long = "skills", value_name = "SOURCE")]
    sources: Vec<OsString>,

    /// Also look where other clients keep skills: .agents/skills, .agent/skills and .claude/skills of the user
    #[arg(long)]
    well_known: bool,

    /// With --well-known, use those of the current folder too: whoever wrote the project wrote them
    #[arg(long, requires = "well_known")]
    trust_project: bool,

    /// Look for further skills below skills
    #[arg(long)]
    nested: bool,

    #[command(flatten)]
    fetch: FetchArgs,
}

/// How archives are fetched.
#[derive(Debug, Args)]
pub struct FetchArgs {
    /// Ask servers whether an archive in the cache is still the newest
    #[arg(long)]
    refresh: bool,

    /// Connect to private addresses too, such as localhost
    #[arg(long)]
    allow_private: bool,
}

impl SkillsArgs {
    /// The skills under all roots.
    pub async fn repository(&self) -> Result<Repository, Error> {
        Ok(Repository::builder().roots(self.roots().await?).nested(self.nested).build())
    }

    /// A skill by path when it has a `/` or begins with `.`, else by name.
    pub async fn find(&self, name: &str) -> Result<Skill, Error> {
        if name.contains('/') || name.starts_with('.') {
            return Ok(Skill::open(Path::new(name))?);
        }
        let repository = self.repository().await?;
        repository.open(name).map_err(|error| {
            let catalogue = repository.catalogue();
            let named = |folder: &OsStr| folder == name;
            let skipped = catalogue.reports().iter().find(|report| report.path().file_name().is_some_and(named));
            match skipped.map(Report::reason) {
                Some(Reason::Unusable(cause)) => cause.clone().into(),
                _ => format!("{error}; give a path (`./{name}`) or --skills SOURCE").into(),
            }
        })
    }

    /// The folders of skills, the first counts most. Archives are fetched.
    async fn roots(&self) -> Result<Vec<PathBuf>, Error> {
        let mut sources = Vec::new();
        let from_environment = std::env::var_os("SKILLS_ROOT").filter(|roots| !roots.is_empty());
        match (&*self.sources, from_environment) {
            ([], Some(roots)) => sources.extend(parse(&roots, "SKILLS_ROOT")?),
            ([], None) => sources.push(Source::path("skills")),
            (given, _) => {
                for text in given {
                    sources.extend(parse(text, "--skills")?);
                }
            }
        }
        let mut roots = Vec::with_capacity(sources.len());
        let mut cache = None;
        for source in sources {
            match source.place() {
                // A folder may be missing; what is not there holds no skills.
                Place::Path(path) if !path.is_file() => roots.push(path.clone()),
                _ => {
                    let cache = match &mut cache {
                        Some(cache) => cache,
                        none => none.insert(self.fetch.cache()?.open()?),
                    };
                    roots.push(cache.resolve(&source).await?);
                }
            }
        }
        if self.well_known {
            let home = etcetera::home_dir().ok();
            for place in well_known(Some(Path::new(".")), home.as_deref()) {
                if place.origin == Origin::Project && !self.trust_project {
                    say(&format!(
                        "warning: {} is not used: it is the project's, not yours; add --trust-project if you trust it",
                        place.path.display()
                    ));
                    continue;
                }
                roots.push(place.path);
            }
        }
        Ok(roots)
    }
}

impl FetchArgs {
    /// A cache that shows on a terminal what it fetches.
    pub fn cache(&self) -> Result<CacheBuilder, Error> {
        let mut builder = Cache::builder().refresh(self.refresh).allow_private(self.allow_private);
        if std::io::stderr().is_terminal() {
            builder = builder.on_progress(progress_bar());
        }
        Ok(builder)
    }
}

fn parse(text: &OsStr, origin: &str) -> Result<Vec<Source>, Error> {
    match text.to_str() {
        Some("") => Err(format!("{origin}: must not be empty").into()),
        Some(text) => Ok(Source::parse_list(text).map_err(|error| format!("{origin}: {error}"))?),
        // A path only.
        None => Ok(std::env::split_paths(text).map(Source::path).collect()),
    }
}

fn progress_bar() -> impl Fn(Progress<'_>) + Send + Sync + 'static {
    use indicatif::{ProgressBar, ProgressStyle};
    let bar = Mutex::new(None::<ProgressBar>);
    move |progress| {
        let mut bar = bar.lock().unwrap_or_else(PoisonError::into_inner);
        match progress {
            Progress::Downloading { url, received, total } => {
                let bar = bar.get_or_insert_with(|| {
                    let bar = ProgressBar::new(total.unwrap_or(0));
                    let template = if total.is_some() {
                        "{msg} {bar:30} {bytes}/{total_bytes}"
                    } else {
                        "{msg} {bytes} {elapsed}"
                    };
                    // Templates of our own are valid.
                    if let Ok(style) = ProgressStyle::with_template(template) {
                        bar.set_style(style);
                    }
                    bar.set_message(url.chars().filter(|c| !c.is_control()).collect::<String>());
                    bar
                });
                bar.set_position(received);
            }
            Progress::Unpacking { .. } => {
                if let Some(bar) = bar.take() {
                    bar.finish_and_clear();
                }
            }
        }
    }
}

/// Whether skills have in the sandbox what they need.
#[derive(Default)]
pub struct Eligibility {
    /// The sandbox's commands, sorted; asked for by the first skill that needs some.
    commands: Option<Vec<String>>,
}

impl Eligibility {
    /// Why a skill is of no use in the sandbox, one sentence a reason.
    pub fn reasons(&mut self, entry: &Entry) -> Result<Vec<String>, Error> {
        if !entry.summary().has_requirements() {
            return Ok(Vec::new());
        }
        let skill = Skill::open(entry.folder())?;
        let commands = match &mut self.commands {
            Some(commands) => commands,
            none => none.insert(sandbox_commands()?),
        };
        let has = |name: &str| commands.binary_search_by(|command| command.as_str().cmp(name)).is_ok();
        Ok(skill.manifest().requirements().unwrap_or_default().unmet(&Host {
            commands: &has,
            // What wskill's own environment has can be given on with --env.
            env: &|name| std::env::var_os(name).is_some(),
            config: &|_| false,
            os: SANDBOX_OS,
        }))
    }
}

fn sandbox_commands() -> Result<Vec<String>, Error> {
    let commands = runtime()?.programs().commands();
    let mut names: Vec<String> = commands.into_iter().map(|command| command.name).collect();
    names.sort();
    Ok(names)
}
