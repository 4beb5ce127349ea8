//! What a run led to, as a result.

use super::super::output::Manifest;
use super::super::output::{Inline, OutputFile, primary, stream};
use super::super::{Call, ToolError};
use super::outputs::Wanted;
use super::{Job, RunResult};
use crate::artifact::{ArtifactName, SavedArtifact};
use crate::session::SessionError;
use crate::workspace::{Collected, CollectedFile, OutputRecord, now_ms};
use crate::{LimitName, Outcome};

/// The most bytes of standard output, and of standard error, in a result.
const STREAM_MAX: usize = 16 << 10;

impl Job {
    /// Puts what was collected into the result, and saves it.
    pub(super) async fn deliver(
        &self,
        mut collected: Collected,
        wanted: Option<&Wanted>,
        outcome: &Outcome,
        result: &mut RunResult,
        context: &mut Call,
    ) -> Result<(), ToolError> {
        let defaults = &self.toolset.options().run;
        if !outcome.success() {
            let before = collected.files.len();
            collected.files.retain(|file| file.size > 0);
            if collected.files.len() < before {
                result.warnings.push("empty output files are left out because the command failed".to_owned());
            }
        }
        result.warnings.append(&mut collected.warnings);
        let mut inline = wanted.map_or(Inline { text: true, images: false }, |wanted| wanted.inline);
        if self.call.omit_inline_content.unwrap_or(defaults.omit_inline_content) {
            inline = Inline::default();
        }
        let mut files: Vec<_> = collected.files.iter().map(|file| OutputFile::new(file, inline)).collect();
        let save = self.call.save_as_artifacts.unwrap_or(defaults.save_as_artifacts)
            || wanted.is_some_and(|wanted| wanted.save);
        if save {
            let prefix = self.call.artifact_prefix.as_ref().unwrap_or(&defaults.artifact_prefix);
            let prefix = format!("{prefix}{}", wanted.map_or("", |wanted| wanted.prefix.as_str()));
            self.save(&collected.files, &prefix, &mut files, result, context).await?;
        }
        if inline.text {
            result.primary_output = primary(&collected.files);
        }
        if wanted.is_some_and(|wanted| wanted.manifest) {
            result.manifest = Some(Manifest { files: files.clone(), limits_hit: collected.limits_hit });
        }
        if let Some(wanted) = wanted {
            let record = OutputRecord {
                globs: wanted.globs.clone(),
                saved_as: result.artifact_files.iter().map(|file| file.name.to_string()).collect(),
                versions: result.artifact_files.iter().map(|file| file.version).collect(),
                limits_hit: collected.limits_hit,
                ts: now_ms(),
            };
            if let Err(error) = self.session().record_outputs(record).await {
                result.warnings.push(format!("the workspace's metadata could not be updated: {error}"));
            }
        }
        result.output_files = files;
        Ok(())
    }

    async fn save(
        &self,
        collected: &[CollectedFile],
        prefix: &str,
        files: &mut [OutputFile],
        result: &mut RunResult,
        context: &mut Call,
    ) -> Result<(), ToolError> {
        for (file, shown) in collected.iter().zip(files) {
            if file.is_truncated() {
                let reason = "it is larger than what is collected of one file";
                result.warnings.push(format!("{} is not saved as an artifact: {reason}", file.name));
                continue;
            }
            match self.save_one(&format!("{prefix}{}", file.name), file).await {
                Ok(saved) => {
                    shown.saved_as = Some(saved.name.to_string());
                    shown.version = Some(saved.version);
                    result.artifact_files.push(saved);
                }
                Err(error) => result.warnings.push(format!("{} is not saved as an artifact: {error}", file.name)),
            }
        }
        let saved = result.artifact_files.clone();
        context.delta.merge(self.session().remember_artifacts(&context.id, saved).await?);
        Ok(())
    }

    async fn save_one(&self, name: &str, file: &CollectedFile) -> Result<SavedArtifact, SessionError> {
        let version = self.session().save_artifact(name, file.bytes.clone(), &file.mime_type).await?;
        Ok(SavedArtifact { name: ArtifactName::new(name)?, version })
    }
}

/// Puts the streams into a result.
pub(super) fn report_streams(result: &mut RunResult, outcome: &Outcome) {
    let (stdout, stdout_cut) = stream(&outcome.stdout, STREAM_MAX);
    let (stderr, stderr_cut) = stream(&outcome.stderr, STREAM_MAX);
    for (name, cut) in [("stdout", stdout_cut), ("stderr", stderr_cut)] {
        if cut {
            let advice = "write long output to a file in out/";
            result.warnings.push(format!("{name} was cut after {STREAM_MAX} bytes; {advice}"));
        }
    }
    result.stdout = stdout;
    result.stderr = stderr;
}

/// Puts what is known of a run's end into a result.
pub(super) fn report(result: &mut RunResult, outcome: &Outcome) {
    result.exit_code = outcome.exit_code;
    result.timed_out = outcome.timed_out();
    result.duration_ms = u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX);
    result.limit = outcome.limit.map(LimitName::as_str);
    result.limits_hit = outcome.limits_hit.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    if !outcome.success() {
        result.hints = outcome.hints.clone();
    }
}
