//! What a repository found at one look.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use super::entry::Entry;
use super::nearest::nearest;
use super::report::{Reason, Report};
use super::scan::Scan;
use super::search::Index;
use crate::skill::SkillError;

/// Up to how many skills an error lists all of them.
const FEW: usize = 12;
/// How many names an error suggests otherwise.
const SUGGESTIONS: usize = 5;

/// Why a repository has no such skill.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RepositoryError {
    /// There is no skill of this name, or the caller does not see it.
    #[error("unknown skill `{name}`; {hint}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is, in words.
        hint: String,
    },
    /// The skill cannot be read any more.
    #[error(transparent)]
    Skill(SkillError),
}

impl RepositoryError {
    pub(super) fn unknown<'a>(name: &str, names: impl Iterator<Item = &'a str>, roots: &[PathBuf]) -> Self {
        let names: Vec<_> = names.collect();
        let hint = match names.len() {
            0 if roots.is_empty() => "there are no folders to look for skills in".to_owned(),
            0 => {
                let roots: Vec<_> = roots.iter().map(|root| root.display().to_string()).collect();
                format!("there are no skills in {}", roots.join(", "))
            }
            count if count <= FEW => format!("known are {}", names.join(", ")),
            count => match nearest(name, names.into_iter(), SUGGESTIONS) {
                near if near.is_empty() => format!("there are {count} others, none with a similar name"),
                near => format!("the nearest of {count} are {}", near.join(", ")),
            },
        };
        Self::Unknown { name: name.to_owned(), hint }
    }
}

/// Everything under the roots at one time.
#[derive(Debug, Default)]
pub struct Catalogue {
    entries: Vec<Arc<Entry>>,
    reports: Vec<Report>,
    roots: Vec<PathBuf>,
    /// Made when it is first searched.
    index: OnceLock<Index>,
}

impl Catalogue {
    /// Of skills with the same name the one under the first root counts; under one root the one whose folder has the
    /// skill's name, then the one that is less deep, then the first by path.
    pub(super) fn of(scan: &Scan) -> Self {
        let mut reports: Vec<Report> = scan.reports().cloned().collect();
        let mut candidates: Vec<&Arc<Entry>> = scan.entries().collect();
        let depth = |entry: &Entry| entry.folder.components().count();
        candidates.sort_by_key(|entry| (entry.root, !entry.is_well_named(), depth(entry), &entry.folder));
        let mut winners: HashMap<&str, &Arc<Entry>> = HashMap::with_capacity(candidates.len());
        for entry in candidates {
            match winners.get(entry.name()) {
                None => {
                    winners.insert(entry.name(), entry);
                }
                Some(winner) => {
                    let reason =
                        Reason::Duplicate { name: entry.name().to_owned(), winner: winner.folder.to_path_buf() };
                    reports.push(Report::new(&*entry.folder, reason));
                }
            }
        }
        let mut entries: Vec<_> = winners.into_values().map(Arc::clone).collect();
        entries.sort_unstable_by(|a, b| a.name().cmp(b.name()));
        Self { entries, reports, roots: scan.roots().to_vec(), index: OnceLock::new() }
    }

    /// The skills, sorted by name.
    pub fn entries(&self) -> &[Arc<Entry>] {
        &self.entries
    }

    /// What was left out, and why.
    pub fn reports(&self) -> &[Report] {
        &self.reports
    }

    /// The roots, in the order in which they count.
    pub fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    /// The words of the skills.
    pub(super) fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::of(&self.entries))
    }

    /// Where a skill is among the [`entries`](Self::entries).
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.entries.binary_search_by(|entry| entry.name().cmp(name)).ok()
    }
}
