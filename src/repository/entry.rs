//! A skill in a catalogue.

use std::path::Path;

use crate::skill::Summary;

/// A skill, as far as a catalogue knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub(super) summary: Summary,
    pub(super) folder: Box<Path>,
    pub(super) root: usize,
}

impl Entry {
    /// The skill's name.
    pub fn name(&self) -> &str {
        self.summary.name()
    }

    /// What the skill does and when to use it. A very long one is cut; see [`Summary::description`].
    pub fn description(&self) -> &str {
        self.summary.description()
    }

    /// What else is known without opening it.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Its folder on the host, without links.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The index of the root under which it was found.
    pub fn root(&self) -> usize {
        self.root
    }

    /// Whether the folder has the skill's name, as the specification wants it.
    pub(super) fn is_well_named(&self) -> bool {
        self.folder.file_name().is_some_and(|name| name == self.name())
    }
}
