//! What goes into a workspace.

use std::fs::{self, File};
use std::io;
use std::path::{Component, Path, PathBuf};

use super::{Workspace, WorkspaceError};

/// What an option says: which file or folder of the host, and its place in the workspace.
struct Input<'a> {
    text: &'a str,
    from: &'a Path,
    place: PathBuf,
}

impl Workspace {
    /// Copies a file or folder of the host into the workspace: `FROM`, which goes to `work/inputs/`, or `FROM=TO`.
    ///
    /// # Errors
    /// When it is not there, cannot be copied, or `TO` is outside of the workspace.
    pub fn stage_input(&self, text: &str) -> Result<(), WorkspaceError> {
        let input = parse(text)?;
        if let Some(parent) = input.place.parent() {
            self.make_folder(parent)?;
        }
        let kind = fs::metadata(input.from).map_err(|_| WorkspaceError::NoInput(text.into()))?.file_type();
        if kind.is_dir() {
            self.copy_folder(&input)
        } else if kind.is_file() {
            if self.root.is_dir(&input.place) {
                return Err(WorkspaceError::InputOnFolder { text: text.into(), path: input.place });
            }
            self.copy_file(input.from, &input.place)
        } else {
            Err(WorkspaceError::SpecialInput(text.into(), input.from.to_owned()))
        }
    }

    /// Copies content and permission bits; never a hard link, through which a guest could change the original. The copy
    /// gets its name when it is whole, in the place of what was there.
    fn copy_file(&self, from: &Path, to: &Path) -> Result<(), WorkspaceError> {
        let mut source = File::open(from).map_err(unreadable(from))?;
        let copied = (|| -> io::Result<()> {
            let permissions = source.metadata()?.permissions();
            let name = to.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy();
            let temporary = to.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
            let mut target = self.root.create(&temporary)?.into_std();
            let written = io::copy(&mut source, &mut target)
                .and_then(|_| target.set_permissions(permissions))
                .and_then(|()| self.root.rename(&temporary, &self.root, to));
            if written.is_err() {
                // The first error is the one to tell.
                let _ = self.root.remove_file(&temporary);
            }
            written
        })();
        copied.map_err(WorkspaceError::io("cannot copy to", &self.path.join(to)))
    }

    /// Copies a folder of the host's; links in it are followed, as they are the user's own.
    fn copy_folder(&self, input: &Input<'_>) -> Result<(), WorkspaceError> {
        let real = |path: &Path| path.canonicalize().map_err(unreadable(path));
        // Each folder with the real paths of those it was reached through.
        let mut folders = vec![(input.from.to_owned(), input.place.clone(), vec![real(input.from)?])];
        while let Some((from, to, above)) = folders.pop() {
            self.make_folder(&to)?;
            for entry in fs::read_dir(&from).map_err(unreadable(&from))? {
                let entry = entry.map_err(unreadable(&from))?;
                let (source, target) = (entry.path(), to.join(entry.file_name()));
                let kind = fs::metadata(&source).map_err(unreadable(&source))?.file_type();
                if kind.is_file() {
                    self.copy_file(&source, &target)?;
                } else if kind.is_dir() {
                    let place = real(&source)?;
                    if above.contains(&place) {
                        return Err(WorkspaceError::EndlessInput(input.text.into(), source));
                    }
                    folders.push((source, target, above.iter().cloned().chain([place]).collect()));
                } else {
                    return Err(WorkspaceError::SpecialInput(input.text.into(), source));
                }
            }
        }
        Ok(())
    }
}

fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> WorkspaceError {
    WorkspaceError::io("cannot read", path)
}

fn parse(text: &str) -> Result<Input<'_>, WorkspaceError> {
    // A name with `=` in it is a file when there is one.
    let (from, to) = match text.rsplit_once('=') {
        Some((from, to)) if !Path::new(text).exists() => (Path::new(from), to),
        _ => (Path::new(text), ""),
    };
    if !from.exists() {
        return Err(WorkspaceError::NoInput(text.into()));
    }
    let misplaced = || WorkspaceError::InputPlace(text.into());
    let to = to.strip_prefix("/workspace/").unwrap_or(to);
    let place = if to.is_empty() || to.ends_with('/') {
        let folder = if to.is_empty() { "work/inputs" } else { to };
        let real = from.canonicalize().map_err(|_| WorkspaceError::NoInput(text.into()))?;
        // The name that was given, unless it is none, as `..`.
        let name = from.file_name().or(real.file_name()).ok_or_else(misplaced)?;
        Path::new(folder).join(name)
    } else {
        PathBuf::from(to)
    };
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if place.file_name().is_none() || !place.components().all(plain) {
        return Err(misplaced());
    }
    Ok(Input { text, from, place })
}
