//! What processes do with names: POSIX's calls over the walk, with the rights of mounts.

use std::sync::Arc;

use super::file_system::{Access, DirEntry, FileSystem, FileType, Metadata, Node, SetTime};
use super::mount::Mount;
use super::path::{GuestPath, NAME_MAX, PATH_MAX, within};
use super::walk::{LastLink, LastPart, RETRIES, Vfs, Walked, check_path, walk_form};
use crate::sandbox::errno::{Errno, Result};

/// Unit in which [`StatVfs`] counts, in bytes.
const BLOCK: u64 = 4096;

/// What a file system without a limit shows as its size, in blocks: 16 TiB.
const UNLIMITED_BLOCKS: u64 = 1 << 32;

/// How a file is opened; the names are those of `open(2)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// For reading.
    pub read: bool,
    /// For writing.
    pub write: bool,
    /// Writes go to the end; the kernel sees to that, here it changes nothing.
    pub append: bool,
    /// Make a regular file when nothing is there.
    pub create: bool,
    /// With `create`: fail with `Exist` when something is there, even a link that leads nowhere.
    pub exclusive: bool,
    /// Cut a regular file to nothing.
    pub truncate: bool,
    /// Fail with `NotDirectory` when it is none.
    pub directory: bool,
    /// Fail with `Loop` when the last part is a link.
    pub no_follow: bool,
    /// Permission bits of a file made, without those of the umask.
    pub mode: u32,
}

/// What was opened.
#[derive(Clone, Debug)]
pub struct Opened {
    /// Its canonical path.
    pub path: GuestPath,
    /// The file, or what the kernel serves.
    pub node: Node,
    /// What `fstat` tells.
    pub metadata: Metadata,
    /// Whether its mount is read-only: then calls on the descriptor that change the file are `EROFS` too.
    pub read_only: bool,
}

/// What `statvfs` tells: a mount's storage account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatVfs {
    /// Unit of `blocks` and `blocks_free`, in bytes.
    pub block_size: u64,
    /// Size of the account.
    pub blocks: u64,
    /// What is left of it.
    pub blocks_free: u64,
    /// Number of inodes it may have.
    pub files: u64,
    /// How many are left.
    pub files_free: u64,
    /// Longest name, in bytes.
    pub name_max: u64,
    /// Whether the mount is read-only.
    pub read_only: bool,
}

impl Vfs {
    /// Opens a file, or makes it. `path` is walked from the directory `base`.
    pub fn open(&self, base: &GuestPath, path: &[u8], options: &OpenOptions) -> Result<Opened> {
        check_path(path)?;
        if options.create && options.directory {
            return Err(Errno::Invalid);
        }
        if let Some(opened) = self.open_directly(base, path, options)? {
            return Ok(opened);
        }
        retry(|| self.open_walked(base, path, options))
    }

    /// Opens without looking first, when nothing that an opened file would have to be refused for can be in the way.
    fn open_directly(&self, base: &GuestPath, path: &[u8], options: &OpenOptions) -> Result<Option<Opened>> {
        if options.exclusive || options.directory {
            return Ok(None);
        }
        let base = if path.first() == Some(&b'/') { b"" } else { walk_form(base) };
        let Some(direct) = self.direct(base, path)? else {
            return Ok(None);
        };
        let mount = direct.place.mount();
        let changes = options.write || options.truncate;
        if direct.must_be_dir || direct.place.is_point() || changes && mount.read_only {
            return Ok(None);
        }
        let relative = direct.place.relative(&direct.path);
        let node = match mount.source.open(relative, access_of(options)) {
            Ok(node) => node,
            Err(Errno::NoEntry) if options.create => return Ok(None),
            Err(Errno::Loop | Errno::Stale) => return Ok(None),
            Err(error) => return Err(error),
        };
        let metadata = match &node {
            Node::Directory if changes || options.create => return Err(Errno::IsDirectory),
            Node::File(file) => file.metadata()?,
            _ => mount.source.metadata(relative)?,
        };
        let path = GuestPath::from_walk(&direct.path);
        Ok(Some(Opened { path, node, metadata, read_only: mount.read_only }))
    }

    fn open_walked(&self, base: &GuestPath, path: &[u8], options: &OpenOptions) -> Result<Opened> {
        if options.create && path.ends_with(b"/") && self.walk(base, path, LastLink::Name)?.last == LastPart::Name {
            return Err(Errno::IsDirectory);
        }
        let exclusive = options.create && options.exclusive;
        let keep = options.no_follow || exclusive;
        let walked = self.walk(base, path, if keep { LastLink::Keep } else { LastLink::Follow })?;
        let mount = walked.mount;
        let changes = options.write || options.truncate;
        if exclusive && walked.last != LastPart::Name {
            return Err(Errno::Exist);
        }
        if options.create && walked.must_be_dir {
            return Err(Errno::IsDirectory);
        }
        let Some(metadata) = walked.metadata else {
            if !options.create {
                return Err(Errno::NoEntry);
            }
            if mount.read_only {
                return Err(Errno::ReadOnly);
            }
            let file = match mount.source.create(walked.relative(), options.mode, access_of(options)) {
                // Another was faster; a link may have been, too.
                Err(Errno::Exist) => return Err(Errno::Stale),
                result => result.map_err(moved)?,
            };
            let metadata = file.metadata()?;
            return Ok(Opened { path: walked.guest_path(), node: Node::File(file), metadata, read_only: false });
        };
        if exclusive {
            return Err(Errno::Exist);
        }
        match metadata.file_type {
            FileType::Directory if options.create || changes => return Err(Errno::IsDirectory),
            FileType::Directory => {
                let (path, read_only) = (walked.guest_path(), mount.read_only);
                return Ok(Opened { path, node: Node::Directory, metadata, read_only });
            }
            _ if options.directory || walked.must_be_dir => return Err(Errno::NotDirectory),
            FileType::Symlink => return Err(Errno::Loop),
            // Devices and pipes may be written to wherever they lie.
            FileType::Regular if changes && mount.read_only => return Err(Errno::ReadOnly),
            _ => {}
        }
        let node = match mount.source.open(walked.relative(), access_of(options)) {
            Err(Errno::NoEntry) => return Err(Errno::Stale),
            result => result.map_err(moved)?,
        };
        let metadata = match &node {
            Node::File(_) if mount.read_only && changes => return Err(Errno::ReadOnly),
            Node::File(file) => file.metadata()?,
            Node::Directory => return Err(Errno::Stale),
            Node::Special(_) => metadata,
        };
        Ok(Opened { path: walked.guest_path(), node, metadata, read_only: mount.read_only })
    }

    /// `stat`, or `lstat` unless `follow`.
    pub fn metadata(&self, base: &GuestPath, path: &[u8], follow: bool) -> Result<Metadata> {
        self.walk(base, path, last_link(follow))?.found()
    }

    /// The entries of a directory, without `.` and `..`: its source's, and what is mounted in it or laid over it.
    pub fn read_dir(&self, path: &GuestPath) -> Result<Vec<DirEntry>> {
        let path = walk_form(path);
        let place = self.table.place(path);
        let mut entries = retry(|| {
            let located = place.locate(path).map_err(moved)?;
            located.mount.source.read_dir(within(path, located.start)).map_err(moved)
        })?;
        let laid: Vec<_> = place.laid_links(path.len()).filter(|(name, _)| !place.has_point(name)).collect();
        let points: Vec<_> = place.point_names().collect();
        if laid.is_empty() && points.is_empty() {
            return Ok(entries);
        }
        entries.retain(|entry| {
            let name = entry.name.as_slice();
            !place.has_point(name) && laid.iter().all(|(laid, _)| *laid != name)
        });
        for (name, link) in laid {
            let Metadata { inode, file_type, .. } = link.metadata;
            entries.push(DirEntry { name: name.to_vec(), inode, file_type });
        }
        for name in points {
            let below = [path, b"/", name].concat();
            if let Ok(located) = place.enter(name, below.len()).locate(&below) {
                let Metadata { inode, file_type, .. } = located.metadata;
                entries.push(DirEntry { name: name.to_vec(), inode, file_type });
            }
        }
        Ok(entries)
    }

    /// Makes a directory; `mode` is without the bits of the umask.
    pub fn make_dir(&self, base: &GuestPath, path: &[u8], mode: u32) -> Result<()> {
        self.make(base, path, true, |source, relative| source.make_dir(relative, mode))
    }

    /// Makes a named pipe; `mode` is without the bits of the umask.
    pub fn make_fifo(&self, base: &GuestPath, path: &[u8], mode: u32) -> Result<()> {
        self.make(base, path, false, |source, relative| source.make_fifo(relative, mode))
    }

    /// Makes a link at `path` that says `target`.
    pub fn symlink(&self, target: &[u8], base: &GuestPath, path: &[u8]) -> Result<()> {
        check_path(target)?;
        if target.len() >= PATH_MAX {
            return Err(Errno::NameTooLong);
        }
        self.make(base, path, false, |source, relative| source.symlink(target, relative))
    }

    fn make(
        &self,
        base: &GuestPath,
        path: &[u8],
        directory: bool,
        make: impl Fn(&dyn FileSystem, &[u8]) -> Result<()>,
    ) -> Result<()> {
        retry(|| {
            let walked = self.walk(base, path, LastLink::Name)?;
            check_new(&walked, directory)?;
            make(&*walked.mount.source, walked.relative()).map_err(moved)
        })
    }

    /// A link's target.
    pub fn read_link(&self, base: &GuestPath, path: &[u8]) -> Result<Vec<u8>> {
        retry(|| {
            let walked = self.walk(base, path, LastLink::Keep)?;
            match (walked.laid, walked.found()?.file_type) {
                (Some(link), _) => Ok(link.target.clone()),
                (None, FileType::Symlink) => walked.mount.source.read_link(walked.relative()).map_err(moved),
                (None, _) => Err(Errno::Invalid),
            }
        })
    }

    /// Gives the file at `path` (what a link there leads to, if `follow`) the second name `new_path`.
    pub fn link(
        &self,
        base: &GuestPath,
        path: &[u8],
        follow: bool,
        new_base: &GuestPath,
        new_path: &[u8],
    ) -> Result<()> {
        retry(|| {
            let old = self.walk(base, path, last_link(follow))?;
            let metadata = old.found()?;
            let new = self.walk(new_base, new_path, LastLink::Name)?;
            check_new(&new, false)?;
            if metadata.file_type == FileType::Directory {
                return Err(Errno::NotPermitted);
            }
            if old.laid.is_some() || old.is_point || !Arc::ptr_eq(old.mount, new.mount) {
                return Err(Errno::CrossDevice);
            }
            new.mount.source.link(old.relative(), new.relative()).map_err(moved)
        })
    }

    /// Removes a name that is no directory.
    pub fn unlink(&self, base: &GuestPath, path: &[u8]) -> Result<()> {
        retry(|| {
            let walked = self.walk(base, path, LastLink::Name)?;
            if walked.last != LastPart::Name {
                return Err(Errno::IsDirectory);
            }
            match walked.found()?.file_type {
                FileType::Directory => return Err(Errno::IsDirectory),
                _ if walked.must_be_dir => return Err(Errno::NotDirectory),
                _ => check_removable(&walked)?,
            }
            walked.mount.source.unlink(walked.relative()).map_err(moved)
        })
    }

    /// Removes an empty directory.
    pub fn remove_dir(&self, base: &GuestPath, path: &[u8]) -> Result<()> {
        retry(|| {
            let walked = self.walk(base, path, LastLink::Name)?;
            match walked.last {
                LastPart::Name => {}
                LastPart::Dot => return Err(Errno::Invalid),
                LastPart::DotDot => return Err(Errno::NotEmpty),
                LastPart::None => return Err(Errno::Busy),
            }
            if walked.found()?.file_type != FileType::Directory {
                return Err(Errno::NotDirectory);
            }
            check_removable(&walked)?;
            walked.mount.source.remove_dir(walked.relative()).map_err(moved)
        })
    }

    /// Renames, replacing what is at `new_path` as rename(2) does.
    pub fn rename(&self, base: &GuestPath, path: &[u8], new_base: &GuestPath, new_path: &[u8]) -> Result<()> {
        retry(|| {
            let old = self.walk(base, path, LastLink::Name)?;
            let new = self.walk(new_base, new_path, LastLink::Name)?;
            for end in [&old, &new] {
                match end.last {
                    LastPart::Name => {}
                    LastPart::None => return Err(Errno::Busy),
                    LastPart::Dot | LastPart::DotDot => return Err(Errno::Invalid),
                }
            }
            let moved_directory = old.found()?.file_type == FileType::Directory;
            if !moved_directory && (old.must_be_dir || new.must_be_dir) {
                return Err(Errno::NotDirectory);
            }
            check_removable(&old)?;
            check_removable(&new)?;
            if !Arc::ptr_eq(old.mount, new.mount) {
                return Err(Errno::CrossDevice);
            }
            let (from, to) = (old.guest_path(), new.guest_path());
            if from != to {
                if moved_directory && to.starts_with(&from) {
                    return Err(Errno::Invalid);
                }
                if from.starts_with(&to) {
                    return Err(Errno::NotEmpty);
                }
            }
            old.mount.source.rename(old.relative(), new.relative()).map_err(moved)
        })
    }

    /// Sets times of access and change.
    pub fn set_times(
        &self,
        base: &GuestPath,
        path: &[u8],
        follow: bool,
        accessed: SetTime,
        modified: SetTime,
    ) -> Result<()> {
        retry(|| {
            let walked = self.walk(base, path, last_link(follow))?;
            check_attributes(&walked)?;
            walked.mount.source.set_times(walked.relative(), accessed, modified).map_err(moved)
        })
    }

    /// Sets permission bits. A link has none to set: `NotSupported`.
    pub fn set_mode(&self, base: &GuestPath, path: &[u8], follow: bool, mode: u32) -> Result<()> {
        retry(|| {
            let walked = self.walk(base, path, last_link(follow))?;
            check_attributes(&walked)?;
            walked.mount.source.set_mode(walked.relative(), mode).map_err(moved)
        })
    }

    /// Whether uid 0 may read, write or execute: reading always, writing except in a read-only mount, executing a file
    /// if anyone may.
    pub fn access(
        &self,
        base: &GuestPath,
        path: &[u8],
        follow: bool,
        _read: bool,
        write: bool,
        execute: bool,
    ) -> Result<()> {
        let walked = self.walk(base, path, last_link(follow))?;
        let metadata = walked.found()?;
        if execute && metadata.file_type != FileType::Directory && metadata.mode & 0o111 == 0 {
            return Err(Errno::Access);
        }
        let special = matches!(metadata.file_type, FileType::Fifo | FileType::CharDevice);
        if write && walked.mount.read_only && !special {
            return Err(Errno::ReadOnly);
        }
        Ok(())
    }

    /// The canonical path of what exists at `path`, links followed.
    pub fn real_path(&self, base: &GuestPath, path: &[u8]) -> Result<GuestPath> {
        let walked = self.walk(base, path, LastLink::Follow)?;
        walked.found()?;
        Ok(walked.guest_path())
    }

    /// The storage account of the mount that `path` lies in.
    pub fn statvfs(&self, base: &GuestPath, path: &[u8]) -> Result<StatVfs> {
        let walked = self.walk(base, path, LastLink::Follow)?;
        walked.found()?;
        Ok(storage(walked.mount))
    }
}

/// A mount's storage account. A tree without one is full.
fn storage(mount: &Mount) -> StatVfs {
    let (limit, used) = match mount.source.quota() {
        Some(quota) => (quota.limit(), quota.used()),
        None => Default::default(),
    };
    let unlimited = |limit: u64, instead: u64| if limit == u64::MAX { instead } else { limit };
    let bytes = unlimited(limit.bytes, UNLIMITED_BLOCKS * BLOCK);
    let files = unlimited(limit.inodes, UNLIMITED_BLOCKS);
    StatVfs {
        block_size: BLOCK,
        blocks: bytes / BLOCK,
        blocks_free: bytes.saturating_sub(used.bytes) / BLOCK,
        files,
        files_free: files.saturating_sub(used.inodes),
        name_max: NAME_MAX as u64,
        read_only: mount.read_only,
    }
}

fn access_of(options: &OpenOptions) -> Access {
    Access { read: options.read, write: options.write, truncate: options.truncate }
}

fn last_link(follow: bool) -> LastLink {
    if follow { LastLink::Follow } else { LastLink::Keep }
}

/// Whether something may be made at the end of this walk.
fn check_new(walked: &Walked<'_>, directory: bool) -> Result<()> {
    if walked.metadata.is_some() {
        return Err(Errno::Exist);
    }
    if walked.must_be_dir && !directory {
        return Err(Errno::NoEntry);
    }
    if walked.mount.read_only {
        return Err(Errno::ReadOnly);
    }
    Ok(())
}

/// Whether the name at the end of this walk may go away.
pub(super) fn check_removable(walked: &Walked<'_>) -> Result<()> {
    if walked.is_point || walked.laid.is_some() {
        return Err(Errno::Busy);
    }
    if walked.mount.read_only {
        return Err(Errno::ReadOnly);
    }
    Ok(())
}

/// Whether the attributes of what the walk found may change.
fn check_attributes(walked: &Walked<'_>) -> Result<()> {
    walked.found()?;
    if walked.mount.read_only || walked.laid.is_some() {
        return Err(Errno::ReadOnly);
    }
    Ok(())
}

/// A source's answer to a path that the walk had found: a link in it shows that the tree has changed since.
fn moved(error: Errno) -> Errno {
    if error == Errno::Loop { Errno::Stale } else { error }
}

/// Tries again while the tree changes between walk and call.
fn retry<T>(mut call: impl FnMut() -> Result<T>) -> Result<T> {
    for _ in 0..RETRIES {
        match call() {
            Err(Errno::Stale) => {}
            result => return result,
        }
    }
    Err(Errno::NoEntry)
}
