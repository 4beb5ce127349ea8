//! Which files a run is to return.

use std::collections::BTreeSet;

use super::super::ToolError;
use super::super::output::Inline;
use super::{Job, Outputs};
use crate::executor::{Entry, EntryKind, ExecutorError, Query, Workspace};
use crate::workspace::{Collected, OutputLimits, Patterns, Variables, collect};

/// The most files that are collected when a call says nothing about outputs.
const EXPORT_MAX: usize = 20;
/// By how much the clock of files may be behind the clock of runs, ns.
const CLOCK_SLACK: i64 = 20_000_000;

/// What is to be collected, and how it is shown.
#[derive(Debug)]
pub(super) struct Wanted {
    pub patterns: Patterns,
    pub globs: Vec<String>,
    pub limits: OutputLimits,
    pub inline: Inline,
    pub save: bool,
    pub prefix: String,
    pub manifest: bool,
}

impl Wanted {
    fn of(outputs: &Outputs, patterns: Patterns) -> Self {
        let defaults = OutputLimits::default();
        let positive = |given: Option<usize>, default: usize| given.filter(|given| *given > 0).unwrap_or(default);
        Self {
            patterns,
            globs: outputs.globs.clone(),
            limits: OutputLimits {
                max_files: positive(outputs.max_files, defaults.max_files),
                max_file_bytes: positive(outputs.max_file_bytes, defaults.max_file_bytes),
                max_total_bytes: positive(outputs.max_total_bytes, defaults.max_total_bytes),
            },
            inline: Inline { text: outputs.inline, images: outputs.images },
            save: outputs.save,
            prefix: outputs.name_template.clone(),
            manifest: true,
        }
    }
}

impl Job {
    /// What the call, else the toolset, says about outputs.
    pub(super) fn wanted(&self, variables: &Variables) -> Result<Option<Wanted>, ToolError> {
        let defaults = &self.toolset.options().run;
        let patterns = |field: &str, globs: &[String]| {
            Patterns::new(globs, variables).map_err(|(index, reason)| self.wrong(format!("{field}[{index}]"), reason))
        };
        let outputs = self.call.outputs.as_ref().filter(|outputs| !outputs.globs.is_empty());
        if let Some(outputs) = outputs {
            if !self.call.output_files.is_empty() {
                return Err(self.wrong("output_files", "cannot be combined with `outputs`; leave one out"));
            }
            return Ok(Some(Wanted::of(outputs, patterns("outputs.globs", &outputs.globs)?)));
        }
        if !self.call.output_files.is_empty() {
            return Ok(Some(Wanted {
                patterns: patterns("output_files", &self.call.output_files)?,
                globs: self.call.output_files.clone(),
                limits: OutputLimits::default(),
                inline: Inline { text: true, images: false },
                save: false,
                prefix: String::new(),
                manifest: false,
            }));
        }
        match defaults.outputs.as_ref().filter(|outputs| !outputs.globs.is_empty()) {
            Some(outputs) => Ok(Some(Wanted::of(outputs, patterns("outputs.globs", &outputs.globs)?))),
            None => Ok(None),
        }
    }
}

/// Which files are a run's own.
#[derive(Debug)]
pub(super) enum Own<'a> {
    /// Those under these absolute paths.
    Written(&'a BTreeSet<String>),
    /// Nobody followed what it wrote: those that have changed since it began, ns since 1970.
    ChangedSince(i64),
}

impl Own<'_> {
    fn has(&self, entry: &Entry, variables: &Variables) -> bool {
        match self {
            Self::ChangedSince(began) => entry.modified >= began - CLOCK_SLACK,
            // The path, or that of a folder that was renamed with the file in it.
            Self::Written(paths) => {
                let path = variables.absolute(&entry.path);
                std::iter::successors(Some(path.as_str()), |path| path.rsplit_once('/').map(|(folder, _)| folder))
                    .any(|path| paths.contains(path))
            }
        }
    }
}

/// Collects the files in the folder for outputs that are a run's own.
pub(super) async fn export(
    workspace: &dyn Workspace,
    variables: &Variables,
    own: &Own<'_>,
) -> Result<Collected, ExecutorError> {
    const DEPTH_MAX: usize = 64;
    const LOOKED_AT_MAX: usize = 10_000;
    let query = Query { below: &variables.output, depth: DEPTH_MAX, most: LOOKED_AT_MAX };
    let listing = match workspace.list(&query).await {
        Ok(listing) => listing,
        // The command has removed the folder.
        Err(ExecutorError::File(_)) => return Ok(Collected::default()),
        Err(error) => return Err(error),
    };
    let is_own = |entry: &Entry| entry.kind == EntryKind::File && own.has(entry, variables);
    let names: Vec<String> =
        listing.entries.into_iter().filter(is_own).map(|entry| globset::escape(&entry.path)).collect();
    if names.is_empty() {
        return Ok(Collected::default());
    }
    let limits = OutputLimits { max_files: EXPORT_MAX, ..OutputLimits::default() };
    match Patterns::new(&names, variables) {
        Ok(patterns) => collect(workspace, &patterns, variables, &limits).await,
        Err((_, reason)) => Ok(Collected { warnings: vec![reason], ..Collected::default() }),
    }
}
