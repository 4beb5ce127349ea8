//! The little that a catalogue of many skills keeps of each.

use std::io::Read;
use std::path::Path;
use std::time::SystemTime;

use super::error::SkillError;
use super::file::{not_utf8, open};
use super::text::cut;
use super::{HEADER_WINDOW, SKILL_FILE_LIMIT, header};

/// What is read at first, in bytes: more than name, description and compatibility may have in ASCII together.
const FIRST_READ: usize = 4096;
/// Most bytes of a description that are kept, so that a summary stays below 2 KB. The specification allows 1,024
/// characters; what is longer is whole in [`SkillFile`](super::SkillFile).
const DESCRIPTION_BYTES: usize = 1_536;

/// Name, description and the like of a skill: at most 2 KB of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    name: Box<str>,
    description: Box<str>,
    bytes: u64,
    modified: Option<SystemTime>,
    warnings: u16,
    model_invocable: bool,
    user_invocable: bool,
    requirements: bool,
}

impl Summary {
    /// Reads the header of a SKILL.md, and of its body no more than comes with it.
    ///
    /// ```
    /// let path = std::path::Path::new("skills/python-math/SKILL.md");
    /// let summary = wskill::skill::Summary::read(path, "python-math")?;
    /// assert_eq!(summary.name(), "python-math");
    /// # Ok::<(), wskill::skill::SkillError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`SkillFile::parse`](super::SkillFile::parse), but for a body that is not UTF-8.
    pub fn read(path: &Path, folder_name: &str) -> Result<Self, SkillError> {
        let failed = |source| SkillError::Read { path: path.to_owned(), source };
        let file = open(path)?;
        let metadata = file.metadata().map_err(failed)?;
        let bytes = metadata.len();
        if bytes > SKILL_FILE_LIMIT {
            return Err(SkillError::TooLarge { bytes }.in_file(path));
        }
        let mut buffer = Vec::with_capacity(FIRST_READ);
        let mut known = Self { modified: metadata.modified().ok(), bytes, ..Self::empty() };
        for limit in [FIRST_READ, HEADER_WINDOW] {
            let complete = bytes <= limit as u64;
            let more = bytes.min(limit as u64).saturating_sub(buffer.len() as u64);
            (&file).take(more).read_to_end(&mut buffer).map_err(failed)?;
            let last = complete || limit == HEADER_WINDOW;
            let done = known.fill(&buffer, complete, last, folder_name).map_err(|error| error.in_file(path))?;
            if done || last {
                break;
            }
        }
        Ok(known)
    }

    fn empty() -> Self {
        Self {
            name: Box::default(),
            description: Box::default(),
            bytes: 0,
            modified: None,
            warnings: 0,
            model_invocable: true,
            user_invocable: true,
            requirements: false,
        }
    }

    /// Takes over what the begin of a file says. Answers whether it was enough.
    fn fill(&mut self, bytes: &[u8], complete: bool, last: bool, folder_name: &str) -> Result<bool, SkillError> {
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            // A character that is cut is not wrong.
            Err(error) if !complete && error.error_len().is_none() => {
                std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
            }
            Err(error) => return Err(not_utf8(bytes, error)),
        };
        let draft = match header::read(text, complete) {
            Ok(draft) if draft.parts.closed || last => draft,
            Err(error) if last => return Err(error),
            _ => return Ok(false),
        };
        let (manifest, _, findings) = draft.finish(folder_name)?;
        self.name = manifest.name.as_str().into();
        self.description = cut(&manifest.description, DESCRIPTION_BYTES).into();
        self.warnings = u16::try_from(findings.len()).unwrap_or(u16::MAX);
        self.model_invocable = !manifest.disable_model_invocation;
        self.user_invocable = manifest.user_invocable;
        self.requirements = manifest.requirements().is_some();
        Ok(true)
    }

    /// The skill's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the skill does and when to use it: at most 1,536 bytes of it.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The size of the SKILL.md in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// When the SKILL.md was changed last, where the system knows.
    pub fn modified(&self) -> Option<SystemTime> {
        self.modified
    }

    /// How many findings its front matter has; [`SkillFile::findings`](super::SkillFile::findings) tells them.
    pub fn warnings(&self) -> u16 {
        self.warnings
    }

    /// Whether the model may load the skill by itself.
    pub fn is_model_invocable(&self) -> bool {
        self.model_invocable
    }

    /// Whether the user can call the skill as a command.
    pub fn is_user_invocable(&self) -> bool {
        self.user_invocable
    }

    /// Whether the skill says what it needs; [`Manifest::requirements`](super::Manifest::requirements) tells it.
    pub fn has_requirements(&self) -> bool {
        self.requirements
    }
}
