//! Where clients keep skills by convention.

use std::path::{Path, PathBuf};

/// The folders, below a project and below a home, in the order in which they count.
const FOLDERS: [&str; 3] = [".agents/skills", ".agent/skills", ".claude/skills"];

/// Whose skills a well-known folder holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Those of a project. Whoever wrote the project wrote them: they are to be used only when the user trusts it.
    Project,
    /// The user's own.
    User,
}

/// A well-known folder that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WellKnown {
    /// The folder.
    pub path: PathBuf,
    /// Whose skills it holds.
    pub origin: Origin,
}

/// The well-known folders of a project and of a home that are there, those of the project first: its skills count more
/// than the user's.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// std::fs::create_dir_all(folder.path().join(".claude/skills"))?;
/// let places = wskill::repository::well_known(Some(folder.path()), None);
/// assert_eq!(places[0].path, folder.path().join(".claude/skills"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn well_known(project: Option<&Path>, home: Option<&Path>) -> Vec<WellKnown> {
    // Who works in the home itself trusts it.
    let project = project.filter(|project| home.is_none_or(|home| !same(project, home)));
    let below = |base: Option<&Path>, origin| {
        let paths: Vec<_> = base.iter().flat_map(|base| FOLDERS.map(|folder| base.join(folder))).collect();
        paths.into_iter().filter(|path| path.is_dir()).map(move |path| WellKnown { path, origin })
    };
    below(project, Origin::Project).chain(below(home, Origin::User)).collect()
}

fn same(a: &Path, b: &Path) -> bool {
    a.canonicalize().ok().zip(b.canonicalize().ok()).is_some_and(|(a, b)| a == b)
}
