//! Staging by copy.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, DirBuilder, DirBuilderExt, OpenOptions, OpenOptionsExt, Permissions, PermissionsExt};

use super::super::{ExecutorError, StagedSkill};
use super::{SKILLS, Stager, native, remove, skill_name};

/// The names that are laid over a skill's folder, with where each link points.
const LINKS: [(&str, &str); 3] = [("out", "../../out"), ("work", "../../work"), ("inputs", "../../work/inputs")];
/// The writable folder that each skill has, for Python's virtual environments.
const VENV: &str = ".venv";
/// Where these folders are: beside the skills, so that they stay when a skill is staged again and can be written to when
/// `skills` is mounted read-only.
const VENVS: &str = ".venvs";
/// The deepest folder, the most files and folders, and the most bytes of a skill.
const DEPTH_MAX: usize = 64;
const ENTRIES_MAX: u64 = 100_000;
const BYTES_MAX: u64 = 1 << 30;

/// Copies a skill to `skills/NAME`. Files and folders lose their write bits; links are copied as they are and never
/// followed; pipes and devices are left out. In place of the skill's own there are the links `out`, `work` and `inputs`
/// to the workspace's folders, and `.venv` to a writable folder that stays when the skill is staged again. The new copy
/// takes the old one's place when it is complete.
#[derive(Clone, Copy, Debug, Default)]
pub struct CopyStager;

#[async_trait]
impl Stager for CopyStager {
    async fn stage(&self, workspace: &Path, skill: &StagedSkill) -> Result<PathBuf, ExecutorError> {
        let name = skill_name(&skill.name)?.to_owned();
        let (root, folder) = (workspace.to_owned(), skill.folder.clone());
        let copied =
            native::on_thread(move || stage(&root, &folder, &name).map(|()| root.join(SKILLS).join(name))).await;
        copied.and_then(|copied| copied).map_err(ExecutorError::io("cannot stage the skill in", &skill.folder))
    }
}

fn stage(workspace: &Path, folder: &Path, name: &str) -> io::Result<()> {
    let from = Dir::open_ambient_dir(folder, ambient_authority())?;
    let root = Dir::open_ambient_dir(workspace, ambient_authority())?;
    root.create_dir_all(SKILLS)?;
    root.create_dir_all(format!("{VENVS}/{name}"))?;
    let skills = root.open_dir(SKILLS)?;
    // Names that no skill has; what a process that was killed has left goes away with the next copy.
    let (new, old) = (format!(".wskill-new-{name}"), format!(".wskill-old-{name}"));
    remove::name(&skills, &new)?;
    remove::name(&skills, &old)?;
    skills.create_dir(&new)?;
    let copied = copy(&from, &skills.open_dir(&new)?, name).and_then(|()| swap(&skills, &new, name, &old));
    let cleaned = remove::name(&skills, &new).and_then(|()| remove::name(&skills, &old));
    copied.and(cleaned)
}

/// Puts `new` in the place of `name`, and what was there at `new` or `old`.
fn swap(skills: &Dir, new: &str, name: &str, old: &str) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    if rustix::fs::renameat_with(skills, new, skills, name, rustix::fs::RenameFlags::EXCHANGE).is_ok() {
        return Ok(());
    }
    // There is nothing yet, or the file system cannot do it in one step.
    match skills.rename(name, skills, old) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    skills.rename(new, skills, name)
}

/// Copies a skill's folder, lays the links over it, and takes the write bits from its folders.
fn copy(from: &Dir, to: &Dir, name: &str) -> io::Result<()> {
    let mut left = Left { entries: ENTRIES_MAX, bytes: BYTES_MAX };
    let mut folders = vec![PathBuf::from(".")];
    let mut next = 0;
    while let Some(path) = folders.get(next).cloned() {
        next += 1;
        let (source, target) = (from.open_dir(&path)?, to.open_dir(&path)?);
        for entry in source.entries()? {
            let entry = entry?;
            let file = entry.file_name();
            if next == 1 && is_laid_over(&file) {
                continue;
            }
            left.take_entry()?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                if path.components().count() >= DEPTH_MAX {
                    return Err(too_much(format!("{DEPTH_MAX} folders below one another")));
                }
                target.create_dir_with(&file, DirBuilder::new().mode(0o755))?;
                folders.push(path.join(file));
            } else if kind.is_symlink() {
                target.symlink_contents(source.read_link_contents(&file)?, &file)?;
            } else if kind.is_file() {
                copy_file(&source, &target, &file, &mut left)?;
            }
        }
    }
    for (link, place) in LINKS {
        to.symlink_contents(place, link)?;
    }
    to.symlink_contents(format!("../../{VENVS}/{name}"), VENV)?;
    folders.iter().rev().try_for_each(|path| to.set_permissions(path, Permissions::from_mode(0o555)))
}

fn copy_file(source: &Dir, target: &Dir, name: &OsString, left: &mut Left) -> io::Result<()> {
    // It was a file a moment ago; a pipe in its place must not be waited for.
    let nonblocking = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default();
    let mut file = source.open_with(name, OpenOptions::new().read(true).custom_flags(nonblocking))?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Ok(());
    }
    let mut copy = target.open_with(name, OpenOptions::new().write(true).create_new(true).mode(0o600))?;
    let mut limited = io::Read::take(&mut file, left.bytes + 1);
    let copied = io::copy(&mut limited, &mut copy)?;
    left.take_bytes(copied)?;
    let executable = metadata.permissions().mode() & 0o111 != 0;
    copy.set_permissions(Permissions::from_mode(if executable { 0o555 } else { 0o444 }))
}

fn is_laid_over(name: &OsString) -> bool {
    name == VENV || LINKS.iter().any(|(link, _)| name == link)
}

/// What may be copied yet.
struct Left {
    entries: u64,
    bytes: u64,
}

impl Left {
    fn take_entry(&mut self) -> io::Result<()> {
        let too_many = || too_much(format!("{ENTRIES_MAX} files and folders"));
        self.entries = self.entries.checked_sub(1).ok_or_else(too_many)?;
        Ok(())
    }

    fn take_bytes(&mut self, count: u64) -> io::Result<()> {
        self.bytes = self.bytes.checked_sub(count).ok_or_else(|| too_much(format!("{BYTES_MAX} bytes")))?;
        Ok(())
    }
}

fn too_much(limit: String) -> io::Error {
    io::Error::other(format!("it has more than {limit}"))
}
