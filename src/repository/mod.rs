//! Many skills under one or more roots: finding them, which of two counts, noticing changes, and who sees which.
//!
//! A [`Repository`] looks at its roots at each use and answers with a [`Catalogue`]: what there is now, sorted by name,
//! and [`Report`]s of everything that was left out and why. Of each skill it keeps a
//! [`Summary`](crate::skill::Summary) only; bodies and documents are read when asked for.
//!
//! ```
//! use wskill::repository::Repository;
//!
//! let repository = Repository::builder().root("skills").build();
//! let catalogue = repository.catalogue();
//! assert!(catalogue.entries().iter().any(|entry| entry.name() == "python-math"));
//! assert!(catalogue.reports().is_empty());
//! let skill = repository.open("python-math")?;
//! assert!(skill.body().contains("fib.py"));
//! # Ok::<(), wskill::repository::RepositoryError>(())
//! ```

mod catalogue;
mod entry;
mod nearest;
mod places;
mod report;
mod scan;
mod scope;
mod search;
mod stamp;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests;
mod visibility;
mod words;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

pub use catalogue::{Catalogue, RepositoryError};
pub use entry::Entry;
pub(crate) use nearest::nearest;
pub use places::{Origin, WellKnown, well_known};
pub use report::{FOLDER_LIMIT, Reason, Report};
pub use scope::Scope;
pub use search::{Hit, search};
pub(crate) use search::{NAME_WEIGHT, Query};
pub use visibility::{Caller, View};

use crate::skill::Skill;
use scan::Scan;
use visibility::Filter;

/// Skills under some roots. Cheap to share behind an [`Arc`]; all methods may be called from many threads at once.
pub struct Repository {
    roots: Vec<PathBuf>,
    nested: bool,
    filter: Option<Box<Filter>>,
    state: Mutex<State>,
}

/// What the last look found.
struct State {
    scan: Scan,
    catalogue: Arc<Catalogue>,
}

impl Repository {
    /// A repository without roots.
    pub fn builder() -> RepositoryBuilder {
        RepositoryBuilder { roots: Vec::new(), nested: false, filter: None }
    }

    /// The roots, in the order in which they count.
    pub fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    /// What there is now, whoever asks. Reads the file system; what did not change since the last time is not read
    /// again.
    pub fn catalogue(&self) -> Arc<Catalogue> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.scan.refresh(&self.roots, self.nested) {
            state.catalogue = Arc::new(Catalogue::of(&state.scan));
        }
        Arc::clone(&state.catalogue)
    }

    /// What a caller can see now.
    pub fn view(&self, caller: Caller<'_>) -> View {
        View::new(self.catalogue(), self.filter.as_deref(), caller)
    }

    /// Opens a skill by name, as a caller without app, user and session.
    ///
    /// # Errors
    /// When there is none that this caller can see, or it cannot be read any more.
    pub fn open(&self, name: &str) -> Result<Skill, RepositoryError> {
        self.view(Caller::default()).open(name)
    }
}

impl std::fmt::Debug for Repository {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Repository").field("roots", &self.roots).field("nested", &self.nested).finish_non_exhaustive()
    }
}

/// Says where a [`Repository`] looks and what it shows.
pub struct RepositoryBuilder {
    roots: Vec<PathBuf>,
    nested: bool,
    filter: Option<Box<Filter>>,
}

impl RepositoryBuilder {
    /// Adds a root: a skill, a collection of skills, or a collection of collections. Earlier roots count more. It may be
    /// missing now and come later.
    #[must_use]
    pub fn root(mut self, root: impl Into<PathBuf>) -> Self {
        self.roots.push(root.into());
        self
    }

    /// Adds roots, as [`root`](Self::root) does.
    #[must_use]
    pub fn roots<P: AsRef<Path>>(mut self, roots: impl IntoIterator<Item = P>) -> Self {
        self.roots.extend(roots.into_iter().map(|root| root.as_ref().to_owned()));
        self
    }

    /// Looks for further skills below a skill too. Default: false.
    #[must_use]
    pub fn nested(mut self, nested: bool) -> Self {
        self.nested = nested;
        self
    }

    /// Who sees which skill. A skill that a caller does not see is as unknown to it as one that is not there. Default:
    /// everyone sees all.
    #[must_use]
    pub fn visible(mut self, filter: impl Fn(&Caller<'_>, &Entry) -> bool + Send + Sync + 'static) -> Self {
        self.filter = Some(Box::new(filter));
        self
    }

    /// The repository. Nothing is read before it is used.
    pub fn build(self) -> Repository {
        let state = State { scan: Scan::default(), catalogue: Arc::default() };
        Repository { roots: self.roots, nested: self.nested, filter: self.filter, state: Mutex::new(state) }
    }
}
