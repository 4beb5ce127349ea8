//! `workspace_save_artifact`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::files::file_error;
use super::{Call, ToolError, ToolName, Toolset};
use crate::artifact::{ArtifactName, ArtifactRef, SavedArtifact};
use crate::executor::EntryKind;
use crate::session::SessionError;
use crate::workspace::{Variables, mime_type, strict_cwd};

/// The most bytes of a file that is saved.
const SIZE_MAX: usize = 64 << 20;

/// Arguments of `workspace_save_artifact`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SaveArtifact {
    /// The file's path in the workspace, below work/, out/ or runs/.
    pub path: String,
}

/// What `workspace_save_artifact` answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SavedFile {
    /// The file's path in the workspace.
    pub path: String,
    /// The artifact's name.
    pub saved_as: String,
    /// Its version, from 0.
    pub version: u64,
    /// How later calls name it.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Its media type.
    pub mime_type: String,
    /// Its size in bytes.
    pub size_bytes: u64,
}

impl Toolset {
    /// Saves a file of the workspace as an artifact, so that it outlives the workspace.
    ///
    /// # Errors
    /// When there is no such file below work/, out/ or runs/, or it has more than 64 MiB.
    pub async fn workspace_save_artifact(
        &self,
        call: SaveArtifact,
        context: &mut Call,
    ) -> Result<SavedFile, ToolError> {
        let tool = ToolName::WorkspaceSaveArtifact.as_str();
        let wrong = |reason: String| ToolError::argument(tool, "path", reason);
        let workspace = self.session().workspace().await?;
        let plain = call.path.trim().strip_prefix("workspace://").unwrap_or(call.path.trim());
        let path =
            strict_cwd(plain, &Variables::new(workspace.root(), "runs")).map_err(|error| wrong(error.to_string()))?;
        let top = path.split('/').next().unwrap_or_default();
        if !["work", "out", "runs"].contains(&top) || !path.contains('/') {
            return Err(wrong(format!("`{}` is not below work/, out/ or runs/", call.path)));
        }
        let entry = workspace.stat(&path).await.map_err(|error| file_error(tool, error))?;
        if entry.kind != EntryKind::File {
            return Err(wrong(format!("{path} is no file; name one file")));
        }
        if entry.size > SIZE_MAX as u64 {
            return Err(wrong(format!("{path} has {} bytes, and {SIZE_MAX} are allowed", entry.size)));
        }
        let bytes = workspace.read(&path, 0, SIZE_MAX).await.map_err(|error| file_error(tool, error))?;
        let (mime_type, size_bytes) = (mime_type(&path, &bytes), bytes.len() as u64);
        let version = self.session().save_artifact(&path, bytes, &mime_type).await?;
        let name = ArtifactName::new(path.clone()).map_err(SessionError::from)?;
        let saved = SavedArtifact { name: name.clone(), version };
        context.delta.merge(self.session().remember_artifacts(&context.id, vec![saved]).await?);
        let reference = ArtifactRef::at(name, version).to_string();
        Ok(SavedFile { saved_as: path.clone(), path, version, reference, mime_type, size_bytes })
    }
}
