//! Where configuration files are.

use std::path::{Path, PathBuf};

/// The name of a configuration file.
pub const FILE_NAME: &str = "wskill.toml";

/// The files that are looked for; they need not exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The user's.
    pub user: Option<PathBuf>,
    /// The project's.
    pub project: Option<PathBuf>,
}

impl Places {
    /// The user's file in the platform's folder for configuration (`$XDG_CONFIG_HOME/wskill/wskill.toml`), and the
    /// project's, looked for from `start`.
    pub fn of(start: &Path) -> Self {
        use etcetera::BaseStrategy;
        let own = etcetera::choose_base_strategy().ok();
        let user = own.map(|place| place.config_dir().join("wskill").join(FILE_NAME));
        let home = etcetera::home_dir().ok();
        Self { project: project_file(start, home.as_deref(), user.as_deref()), user }
    }
}

/// The nearest `wskill.toml` in `start` or a folder above it. The way up goes as far as the root of the repository that
/// `start` is in; without a repository, to below `home`; outside of both nowhere, as folders such as `/tmp` are
/// everybody's. The user's own file is not the project's.
pub fn project_file(start: &Path, home: Option<&Path>, user: Option<&Path>) -> Option<PathBuf> {
    let start = start.canonicalize().ok()?;
    let home = home.and_then(|home| home.canonicalize().ok());
    let user = user.and_then(|user| user.canonicalize().ok());
    let repository = start.ancestors().find(|folder| folder.join(".git").exists());
    let below_home = |home: &PathBuf| start.ancestors().take_while(|folder| folder != home).last();
    let last = match (repository, home.as_ref().filter(|home| start.starts_with(home))) {
        (Some(root), _) => root,
        (None, Some(home)) => below_home(home).unwrap_or(&start),
        (None, None) => &start,
    };
    let folders = start.ancestors().take_while(|folder| folder.starts_with(last));
    let mut files = folders.map(|folder| folder.join(FILE_NAME)).filter(|file| file.is_file());
    files.find(|file| file.canonicalize().ok() != user || user.is_none())
}
