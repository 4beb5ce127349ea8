//! Who sees which skill.

use std::path::Path;
use std::sync::Arc;

use super::catalogue::{Catalogue, RepositoryError};
use super::entry::Entry;
use crate::skill::Skill;

/// Decides whether a caller sees a skill.
pub(super) type Filter = dyn Fn(&Caller<'_>, &Entry) -> bool + Send + Sync;

/// On whose behalf a repository is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caller<'a> {
    /// The app's name. Default: empty.
    pub app: &'a str,
    /// The user's name. Default: empty.
    pub user: &'a str,
    /// The session's name. Default: empty.
    pub session: &'a str,
}

/// What a caller can see, as it was when it was asked for.
///
/// ```
/// use wskill::repository::{Caller, Repository};
///
/// let repository = Repository::builder()
///     .root("skills")
///     .visible(|caller, entry| caller.user == "anna" || entry.name() != "log-triage")
///     .build();
/// let view = repository.view(Caller { user: "ben", ..Caller::default() });
/// let error = view.get("log-triage").unwrap_err();
/// assert!(error.to_string().starts_with("unknown skill `log-triage`"));
/// assert!(repository.view(Caller { user: "anna", ..Caller::default() }).get("log-triage").is_ok());
/// ```
#[derive(Clone, Debug)]
pub struct View {
    catalogue: Arc<Catalogue>,
    /// Which entries the caller sees; all, when there is no filter.
    shown: Option<Vec<u32>>,
}

impl View {
    pub(super) fn new(catalogue: Arc<Catalogue>, filter: Option<&Filter>, caller: Caller<'_>) -> Self {
        let shown = filter.map(|filter| {
            let entries = (0_u32..).zip(catalogue.entries());
            entries.filter(|(_, entry)| filter(&caller, entry)).map(|(index, _)| index).collect()
        });
        Self { catalogue, shown }
    }

    /// The skills that the caller sees, sorted by name.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.indexed().map(|(_, entry)| entry)
    }

    /// The same, with their places in the catalogue.
    pub(super) fn indexed(&self) -> impl Iterator<Item = (usize, &Entry)> {
        let all = self.catalogue.entries();
        let (whole, some) = match &self.shown {
            None => (all, &[][..]),
            Some(shown) => (&[][..], shown.as_slice()),
        };
        let some = some.iter().filter_map(|index| Some((*index as usize, all.get(*index as usize)?)));
        whole.iter().enumerate().chain(some).map(|(index, entry)| (index, &**entry))
    }

    pub(super) fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// A view of those of the skills that a condition holds for; the others are unknown to it.
    ///
    /// ```
    /// use wskill::repository::{Caller, Repository};
    ///
    /// let view = Repository::builder().root("skills").build().view(Caller::default());
    /// let for_models = view.only(|entry| entry.summary().is_model_invocable());
    /// assert!(for_models.len() <= view.len());
    /// ```
    #[must_use]
    pub fn only(&self, condition: impl Fn(&Entry) -> bool) -> Self {
        let kept = self.indexed().filter(|(_, entry)| condition(entry));
        let shown = kept.filter_map(|(index, _)| u32::try_from(index).ok()).collect();
        Self { catalogue: Arc::clone(&self.catalogue), shown: Some(shown) }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.shown.as_ref().map_or(self.catalogue.entries().len(), Vec::len)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A skill by name.
    ///
    /// # Errors
    /// When the caller sees none of that name; the error names the nearest and how many there are.
    pub fn get(&self, name: &str) -> Result<&Entry, RepositoryError> {
        let found = self.catalogue.position(name).and_then(|at| {
            let seen = self.shown.as_ref().is_none_or(|shown| shown.iter().any(|index| *index as usize == at));
            self.catalogue.entries().get(at).filter(|_| seen)
        });
        found.map(Arc::as_ref).ok_or_else(|| {
            let names = self.entries().map(Entry::name);
            RepositoryError::unknown(name, names, self.catalogue.roots())
        })
    }

    /// A skill's folder on the host, without links.
    ///
    /// # Errors
    /// Those of [`get`](Self::get).
    pub fn folder(&self, name: &str) -> Result<&Path, RepositoryError> {
        self.get(name).map(Entry::folder)
    }

    /// Opens a skill by name.
    ///
    /// # Errors
    /// Those of [`get`](Self::get), and when the skill cannot be read any more.
    pub fn open(&self, name: &str) -> Result<Skill, RepositoryError> {
        Skill::open(self.folder(name)?).map_err(RepositoryError::Skill)
    }
}
