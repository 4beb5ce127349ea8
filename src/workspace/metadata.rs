//! The file that tells what a workspace holds: `metadata.json`.
//!
//! Commands can write to it as to any file of the workspace, so nothing in it is trusted: it is a record for people and
//! for pinned inputs, and what it says of the host is checked again.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::inputs::{InputMode, InputRef, InputSpec};
use crate::executor::{ExecutorError, FileError, Workspace};

/// Its path in the workspace.
pub const METADATA_FILE: &str = "metadata.json";
/// The version of the file's format.
const VERSION: u32 = 1;
/// The most bytes that are read of it.
const SIZE_MAX: usize = 4 << 20;
/// The most inputs and outputs that are recorded, the newest ones.
const RECORDS_MAX: usize = 1000;

/// What a workspace holds. Times are milliseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Metadata {
    /// The version of the format: 1.
    pub version: u32,
    /// When the workspace was made.
    pub created_at: u64,
    /// When this was written.
    pub updated_at: u64,
    /// When a call used the workspace last.
    pub last_access: u64,
    /// The skills that were staged, by name.
    pub skills: BTreeMap<String, SkillRecord>,
    /// The inputs, in the order in which they came.
    pub inputs: Vec<InputRecord>,
    /// The outputs that were asked for, in the order of the last calls that did.
    pub outputs: Vec<OutputRecord>,
}

/// A skill that was staged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillRecord {
    /// Its name.
    pub name: String,
    /// Its folder in the workspace.
    pub rel_path: String,
    /// The SHA-256 of its files.
    pub digest: String,
    /// Whether it is mounted; else it was copied.
    pub mounted: bool,
    /// When.
    pub staged_at: u64,
}

/// An input that was staged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputRecord {
    /// What was asked for.
    pub from: String,
    /// Where it is in the workspace.
    pub to: String,
    /// What it stood for: an artifact with its version, a path.
    pub resolved: String,
    /// The version of an artifact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// `copy` or `link`.
    pub mode: String,
    /// When.
    pub ts: u64,
}

/// Outputs that were collected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputRecord {
    /// The patterns.
    pub globs: Vec<String>,
    /// The names of the artifacts they were saved as.
    pub saved_as: Vec<String>,
    /// The versions of these.
    pub versions: Vec<u64>,
    /// Whether a limit left something out.
    pub limits_hit: bool,
    /// When.
    pub ts: u64,
}

impl Default for Metadata {
    fn default() -> Self {
        let now = now_ms();
        Self {
            version: VERSION,
            created_at: now,
            updated_at: now,
            last_access: now,
            skills: BTreeMap::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
        }
    }
}

impl Metadata {
    /// Reads it. One that is not there is new; one that cannot be read is new as well, with a warning.
    ///
    /// # Errors
    /// When the workspace cannot be reached.
    pub async fn read(workspace: &dyn Workspace) -> Result<(Self, Option<String>), ExecutorError> {
        let bytes = match workspace.read(METADATA_FILE, 0, SIZE_MAX).await {
            Ok(bytes) => bytes,
            Err(ExecutorError::File(FileError::NotFound(_))) => return Ok((Self::default(), None)),
            Err(ExecutorError::File(error)) => return Ok((Self::default(), Some(rebuilt(&error)))),
            Err(error) => return Err(error),
        };
        Ok(match serde_json::from_slice::<Self>(&bytes) {
            Ok(metadata) if metadata.version == VERSION => (metadata, None),
            Ok(metadata) => (Self::default(), Some(rebuilt(&format!("its version is {}", metadata.version)))),
            Err(error) => (Self::default(), Some(rebuilt(&error))),
        })
    }

    /// The inputs that are views of the host.
    pub(crate) fn links(&self) -> Vec<InputSpec> {
        let links = self.inputs.iter().filter(|record| record.mode == "link");
        let spec = |record: &InputRecord| {
            Some(InputSpec {
                text: record.from.clone(),
                from: InputRef::parse(&record.from).ok()?,
                to: Some(record.to.clone()),
                mode: InputMode::Link,
                pin: false,
            })
        };
        links.filter_map(spec).collect()
    }

    /// Records outputs, in place of what was recorded the last time they were asked for and saved alike: an agent that
    /// does the same again and again does not make the file grow.
    pub(crate) fn add_outputs(&mut self, record: OutputRecord) {
        self.outputs.retain(|known| known.globs != record.globs || known.saved_as != record.saved_as);
        self.outputs.push(record);
    }

    /// Writes it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub async fn write(&mut self, workspace: &dyn Workspace) -> Result<(), ExecutorError> {
        self.updated_at = now_ms();
        self.last_access = self.updated_at;
        let cut = self.inputs.len().saturating_sub(RECORDS_MAX);
        self.inputs.drain(..cut);
        let cut = self.outputs.len().saturating_sub(RECORDS_MAX);
        self.outputs.drain(..cut);
        let bytes = serde_json::to_vec(self).unwrap_or_default();
        workspace.write(METADATA_FILE, &bytes, 0o600).await
    }
}

fn rebuilt(reason: &dyn std::fmt::Display) -> String {
    format!("{METADATA_FILE} could not be read ({reason}) and was begun anew")
}

/// The present, in milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}
