//! What is done in the folder. Everything here blocks.
//!
//! ```text
//! drafts/<random>/{data,meta.json}                                  being written or deleted
//! sessions/<app>/<user>/<session>/<name>/<version>/{data,meta.json}
//! ```
//!
//! A version is written as a draft and gets its place by one rename, which fails when that version is there: so it
//! appears whole or not at all, and no two savers get one number. The process may end anywhere.

use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::encode::{folder_of, is_own};
use super::version::{DATA, META, Meta, child, entries_of, name_in, numbers_in, read_version, versions_in};
use crate::artifact::{Artifact, ArtifactError, ArtifactName, SessionKey};
use crate::source::Sha256Sum;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, OpenOptions};

const DRAFTS: &str = "drafts";
const SESSIONS: &str = "sessions";
/// After this time a draft belongs to a process that has ended: no save takes that long.
const ABANDONED: Duration = Duration::from_secs(60 * 60);
/// How often a save begins again because what it found was deleted or taken by another in the meantime.
const ATTEMPTS: usize = 10_000;

/// How often a load begins again because files were deleted while it read them.
const RELOADS: usize = 50;

/// The open folder. Nothing is reached but through this handle, and no link leads out of it.
#[derive(Debug)]
pub struct Disk {
    root: Dir,
    path: PathBuf,
}

impl Disk {
    pub fn open(path: &Path) -> Result<Self, ArtifactError> {
        make_private(path).map_err(fault("make", path))?;
        let root = Dir::open_ambient_dir(path, ambient_authority()).map_err(fault("open", path))?;
        let disk = Self { root, path: path.to_owned() };
        for folder in [DRAFTS, SESSIONS] {
            child(&disk.root, folder, true).map_err(fault("make", &path.join(folder)))?;
        }
        disk.clean();
        Ok(disk)
    }

    /// Removes drafts of processes that have ended.
    fn clean(&self) {
        let Ok(Some(drafts)) = child(&self.root, DRAFTS, false) else { return };
        let Ok(entries) = drafts.entries() else { return };
        for entry in entries.flatten() {
            let modified = entry.metadata().and_then(|metadata| metadata.modified());
            let age = modified.ok().and_then(|time| SystemTime::now().duration_since(time.into_std()).ok());
            if age.is_some_and(|age| age > ABANDONED) {
                let _ = drafts.remove_dir_all(entry.file_name());
            }
        }
    }

    pub fn save(
        &self,
        session: &SessionKey,
        name: &ArtifactName,
        bytes: &[u8],
        mime: &str,
    ) -> Result<u64, ArtifactError> {
        let drafts = self.drafts()?;
        let draft = random_name().map_err(fault("write", &self.path))?;
        let result = self.write_draft(&drafts, &draft, name, bytes, mime).and_then(|()| {
            let placed = self.place(&drafts, &draft, session, name);
            placed.map_err(fault("write", &self.place_of(session, Some(name))))
        });
        if result.is_err() {
            let _ = drafts.remove_dir_all(&draft);
        }
        result
    }

    fn write_draft(
        &self,
        drafts: &Dir,
        draft: &str,
        name: &ArtifactName,
        bytes: &[u8],
        mime: &str,
    ) -> Result<(), ArtifactError> {
        let saved = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let (name, mime, size) = (name.clone(), mime.to_owned(), bytes.len() as u64);
        let meta = Meta { name, mime, size, sha256: Sha256Sum::of(bytes), saved };
        let write = || {
            let meta = serde_json::to_vec(&meta)?;
            drafts.create_dir(draft)?;
            let folder = drafts.open_dir(draft)?;
            let mut files = Vec::new();
            for (file, content) in [(DATA, bytes), (META, &meta)] {
                let mut file = folder.open_with(file, OpenOptions::new().write(true).create_new(true))?;
                file.write_all(content)?;
                files.push(file);
            }
            // The rename must not outlive a loss of power that the content does not.
            files.iter().try_for_each(File::sync_data)
        };
        write().map_err(fault("write", &self.path.join(DRAFTS).join(draft)))
    }

    /// Gives a draft the first version that is free.
    fn place(&self, drafts: &Dir, draft: &str, session: &SessionKey, name: &ArtifactName) -> io::Result<u64> {
        for _ in 0..ATTEMPTS {
            let Some(folder) = self.walk(session, Some(name), true)? else { continue };
            let next = match numbers_in(&folder)?.into_iter().max() {
                None => 0,
                Some((last, _)) => last.checked_add(1).ok_or_else(|| io::Error::other("there is no higher version"))?,
            };
            let Err(error) = drafts.rename(draft, &folder, next.to_string()) else { return Ok(next) };
            // Another took this version, or deleted the artifact; systems have many errors for the former.
            let is_taken = matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::DirectoryNotEmpty)
                || folder.symlink_metadata(next.to_string()).is_ok();
            let is_deleted = error.kind() == ErrorKind::NotFound && drafts.symlink_metadata(draft).is_ok();
            if !is_taken && !is_deleted {
                return Err(error);
            }
        }
        Err(io::Error::other("others save and delete this artifact all the time"))
    }

    pub fn load(
        &self,
        session: &SessionKey,
        name: &ArtifactName,
        version: Option<u64>,
        limit: u64,
    ) -> Result<Artifact, ArtifactError> {
        self.load_within(session, name, version, limit, RELOADS)
    }

    fn load_within(
        &self,
        session: &SessionKey,
        name: &ArtifactName,
        version: Option<u64>,
        limit: u64,
        attempts: usize,
    ) -> Result<Artifact, ArtifactError> {
        let place = self.place_of(session, Some(name));
        let found = self.walk(session, Some(name), false).map_err(fault("open", &place))?;
        let Some(folder) = found else { return Err(ArtifactError::not_found(name, version, &[])) };
        let versions = versions_in(&folder).map_err(fault("list", &place))?;
        let wanted = version.or(versions.last().copied()).filter(|version| versions.contains(version));
        let Some(wanted) = wanted else { return Err(ArtifactError::not_found(name, version, &versions)) };
        let damaged =
            |reason: &str| ArtifactError::Damaged { name: name.clone(), version: wanted, reason: reason.to_owned() };
        match read_version(&folder, wanted, limit) {
            Ok((meta, _)) if meta.name != *name => Err(damaged("its meta.json is another artifact's")),
            Ok((meta, _)) if meta.size > limit => {
                Err(ArtifactError::TooLarge { name: name.clone(), size: meta.size, limit })
            }
            Ok((meta, bytes)) if Sha256Sum::of(&bytes) != meta.sha256 => {
                Err(damaged("its content has another digest than when it was saved"))
            }
            Ok((meta, bytes)) => Ok(Artifact::new(bytes, meta.mime, wanted)),
            // It may have been deleted, and saved again, while it was read.
            Err(error) if error.kind() == ErrorKind::NotFound && attempts > 0 => {
                self.load_within(session, name, version, limit, attempts - 1)
            }
            Err(error) if matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::NotFound) => {
                Err(damaged(&error.to_string()))
            }
            Err(error) => Err(fault("read", &place.join(wanted.to_string()))(error)),
        }
    }

    pub fn names(&self, session: &SessionKey) -> Result<Vec<ArtifactName>, ArtifactError> {
        let list = || -> io::Result<_> {
            let mut names = Vec::new();
            let Some(folder) = self.walk(session, None, false)? else { return Ok(names) };
            for entry in entries_of(&folder)? {
                let Ok(entry) = entry.file_name().into_string() else { continue };
                let Some(artifact) = child(&folder, &entry, false)? else { continue };
                let Some(last) = versions_in(&artifact)?.last().copied() else { continue };
                let name = if is_own(&entry) { ArtifactName::new(&*entry).ok() } else { name_in(&artifact, last) };
                names.extend(name.filter(|name| folder_of(name.as_str()) == entry));
            }
            names.sort_unstable();
            Ok(names)
        };
        list().map_err(fault("list", &self.place_of(session, None)))
    }

    pub fn versions(&self, session: &SessionKey, name: &ArtifactName) -> Result<Vec<u64>, ArtifactError> {
        let folder = self.walk(session, Some(name), false);
        let versions = folder.and_then(|folder| folder.map_or(Ok(Vec::new()), |folder| versions_in(&folder)));
        versions.map_err(fault("list", &self.place_of(session, Some(name))))
    }

    pub fn delete(&self, session: &SessionKey, name: &ArtifactName) -> Result<bool, ArtifactError> {
        let existed = !self.versions(session, name)?.is_empty();
        let parent = self.walk(session, None, false);
        self.discard(parent, &folder_of(name.as_str()))
            .map_err(fault("delete", &self.place_of(session, Some(name))))?;
        Ok(existed)
    }

    pub fn delete_session(&self, session: &SessionKey) -> Result<bool, ArtifactError> {
        let existed = !self.names(session)?.is_empty();
        let [app, user, session_folder] = folders_of(session);
        let parent = self.descend(&[SESSIONS, &app, &user], false);
        self.discard(parent, &session_folder).map_err(fault("delete", &self.place_of(session, None)))?;
        Ok(existed)
    }

    /// Takes a folder out of sight in one step and deletes it then.
    fn discard(&self, parent: io::Result<Option<Dir>>, folder: &str) -> io::Result<()> {
        let Some(parent) = parent? else { return Ok(()) };
        let Some(drafts) = child(&self.root, DRAFTS, true)? else { return Ok(()) };
        let aside = random_name()?;
        match parent.rename(folder, &drafts, &aside) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            result => result?,
        }
        if !drafts.symlink_metadata(&aside)?.is_dir() {
            return drafts.remove_file(&aside);
        }
        for _ in 0..ATTEMPTS {
            match drafts.remove_dir_all(&aside) {
                // Who had a folder in it open has put a version there, which so was saved before it was deleted, or has
                // taken something out to delete it too.
                Err(error) if matches!(error.kind(), ErrorKind::DirectoryNotEmpty | ErrorKind::NotFound) => {
                    if drafts.symlink_metadata(&aside).is_err() {
                        return Ok(());
                    }
                }
                result => return result,
            }
        }
        Err(ErrorKind::DirectoryNotEmpty.into())
    }

    fn drafts(&self) -> Result<Dir, ArtifactError> {
        let gone = || io::Error::from(ErrorKind::NotFound);
        let drafts = child(&self.root, DRAFTS, true).and_then(|drafts| drafts.ok_or_else(gone));
        drafts.map_err(fault("make", &self.path.join(DRAFTS)))
    }

    /// The folder of a session or of an artifact.
    fn walk(&self, session: &SessionKey, name: Option<&ArtifactName>, make: bool) -> io::Result<Option<Dir>> {
        let [app, user, session] = folders_of(session);
        let name = name.map(|name| folder_of(name.as_str()));
        let parts: Vec<&str> = [SESSIONS, &app, &user, &session].into_iter().chain(name.as_deref()).collect();
        self.descend(&parts, make)
    }

    fn descend(&self, parts: &[&str], make: bool) -> io::Result<Option<Dir>> {
        let mut folder: Option<Dir> = None;
        for part in parts {
            folder = child(folder.as_ref().unwrap_or(&self.root), part, make)?;
            if folder.is_none() {
                break;
            }
        }
        Ok(folder)
    }

    /// Where the folder of [`walk`](Self::walk) is, for messages.
    fn place_of(&self, session: &SessionKey, name: Option<&ArtifactName>) -> PathBuf {
        let mut place = self.path.join(SESSIONS);
        place.extend(folders_of(session));
        place.extend(name.map(|name| folder_of(name.as_str())));
        place
    }
}

fn folders_of(session: &SessionKey) -> [String; 3] {
    [folder_of(session.app()), folder_of(session.user()), folder_of(session.session())]
}

fn fault(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> ArtifactError {
    let path = path.to_owned();
    move |source| ArtifactError::Io { action, path, source }
}

fn random_name() -> io::Result<String> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    Ok(format!("{:032x}", u128::from_le_bytes(random)))
}

/// Makes a folder that only its owner can enter, with those above it.
fn make_private(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)
}
