//! From a path that a guest gives to the place it stands for.

use std::sync::Arc;

use super::file_system::{FileType, Metadata};
use super::mount::{LaidLink, Located, Mount, MountTable, Place};
use super::path::{GuestPath, NAME_MAX, PATH_MAX, within};
use crate::sandbox::errno::{Errno, Result};

/// Links followed in one walk, as on Linux.
const LINKS_MAX: u32 = 40;

/// How often a walk begins anew, or an opening is tried again, because others changed the tree meanwhile.
pub(super) const RETRIES: usize = 16;

/// The tree of files that a sandbox's processes see.
#[derive(Debug)]
pub struct Vfs {
    pub(super) table: MountTable,
}

/// Where a path leads.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The canonical path.
    pub path: GuestPath,
    /// The mount it lies in.
    pub mount: Arc<Mount>,
    /// What is there; none when the last part does not exist but the directory before it does.
    pub metadata: Option<Metadata>,
}

/// What becomes of a link as the last part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LastLink {
    /// Followed.
    Follow,
    /// Kept, unless a slash after it asks for the directory.
    Keep,
    /// Kept: the call is about the name.
    Name,
}

/// What the last part of a path was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LastPart {
    Name,
    Dot,
    DotDot,
    /// There was none: the root.
    None,
}

impl LastLink {
    fn follows(self, slash_after: bool) -> bool {
        match self {
            Self::Follow => true,
            Self::Keep => slash_after,
            Self::Name => false,
        }
    }
}

/// The result of a walk, with more of what calls must know.
#[derive(Debug)]
pub(super) struct Walked<'vfs> {
    pub(super) path: Vec<u8>,
    pub(super) mount: &'vfs Arc<Mount>,
    pub(super) metadata: Option<Metadata>,
    pub(super) last: LastPart,
    /// A slash or a dot came after the last name.
    pub(super) must_be_dir: bool,
    /// The laid-over link that was found.
    pub(super) laid: Option<&'vfs LaidLink>,
    /// It is a mount's place or lies above one.
    pub(super) is_point: bool,
    /// Length of the part of the path that leads to the source's root.
    start: usize,
}

impl Walked<'_> {
    /// The path within the mount's source.
    pub(super) fn relative(&self) -> &[u8] {
        within(&self.path, self.start)
    }

    /// The canonical path.
    pub(super) fn guest_path(&self) -> GuestPath {
        GuestPath::from_walk(&self.path)
    }

    /// What is there.
    pub(super) fn found(&self) -> Result<Metadata> {
        self.metadata.ok_or(Errno::NoEntry)
    }
}

/// A path that needs no stepping: what its source must be asked.
pub(super) struct Direct<'vfs> {
    pub(super) path: Vec<u8>,
    pub(super) place: Place<'vfs>,
    pub(super) last: LastPart,
    /// A slash or a dot comes after the last name.
    pub(super) must_be_dir: bool,
}

impl Vfs {
    /// The tree of these mounts.
    pub fn new(table: MountTable) -> Self {
        Self { table }
    }

    /// Walks `path` from the directory `base`. A link as the last part is followed if `follow_last`, or if a slash
    /// comes after it.
    ///
    /// `NoEntry` for an empty path and when a directory on the way is missing, `NotDirectory` when it is something
    /// else, `NameTooLong`, `Loop` after 40 links, `Invalid` for NUL.
    pub fn resolve(&self, base: &GuestPath, path: &[u8], follow_last: bool) -> Result<Resolved> {
        let walked = self.walk(base, path, if follow_last { LastLink::Follow } else { LastLink::Keep })?;
        Ok(Resolved { path: walked.guest_path(), mount: Arc::clone(walked.mount), metadata: walked.metadata })
    }

    /// The mount that a canonical path lies in.
    #[cfg(test)]
    pub fn mount_of(&self, path: &GuestPath) -> Arc<Mount> {
        Arc::clone(self.table.place(walk_form(path)).mount())
    }

    /// The mounts.
    #[cfg(test)]
    pub fn mounts(&self) -> &MountTable {
        &self.table
    }

    /// Walks as [`Vfs::resolve`] does.
    pub(super) fn walk(&self, base: &GuestPath, path: &[u8], last_link: LastLink) -> Result<Walked<'_>> {
        check_path(path)?;
        let base = walk_form(base);
        let base = if path.first() == Some(&b'/') { b"" } else { base };
        if let Some(walked) = self.walk_directly(base, path, last_link)? {
            return Ok(walked);
        }
        for _ in 0..RETRIES {
            match self.step(base, path, last_link) {
                Err(Errno::Stale) => {}
                result => return result,
            }
        }
        Err(Errno::NoEntry)
    }

    /// Tries to see the whole path as one place, without looking at anything: none when `..` or a laid-over link is in
    /// it. Whether another link is, only the source can tell.
    pub(super) fn direct(&self, base: &[u8], path: &[u8]) -> Result<Option<Direct<'_>>> {
        let mut built: Vec<u8> = Vec::with_capacity(base.len() + path.len() + 1);
        let mut place = self.table.root();
        let mut last = LastPart::None;
        let mut must_be_dir = true;
        let parts = base.split(|&byte| byte == b'/').chain(path.split(|&byte| byte == b'/'));
        for part in parts {
            must_be_dir = matches!(part, b"" | b".");
            match part {
                b"" => continue,
                b"." => {
                    last = LastPart::Dot;
                    continue;
                }
                _ => last = LastPart::Name,
            }
            if part == b".." || part.len() > NAME_MAX || place.laid_link(part, built.len()).is_some() {
                return Ok(None);
            }
            built.push(b'/');
            built.extend_from_slice(part);
            place = place.enter(part, built.len());
        }
        if built.len() > PATH_MAX {
            return Err(Errno::NameTooLong);
        }
        Ok(Some(Direct { path: built, place, last, must_be_dir }))
    }

    /// Walks in one call of the source, or two when the last part is missing. None when links must be followed.
    fn walk_directly(&self, base: &[u8], path: &[u8], last_link: LastLink) -> Result<Option<Walked<'_>>> {
        let Some(Direct { path, place, last, must_be_dir }) = self.direct(base, path)? else {
            return Ok(None);
        };
        let (located, metadata) = match place.locate(&path) {
            Ok(located) => match located.metadata.file_type {
                FileType::Symlink if last == LastPart::Dot || last_link.follows(must_be_dir) => return Ok(None),
                FileType::Directory => (located, Some(located.metadata)),
                _ if must_be_dir && (last_link != LastLink::Name || last == LastPart::Dot) => {
                    return Err(Errno::NotDirectory);
                }
                _ => (located, Some(located.metadata)),
            },
            Err(Errno::NoEntry) if last == LastPart::Name => {
                let parent = parent_of(&path);
                match self.table.place(parent).locate(parent) {
                    Ok(located) if located.metadata.file_type == FileType::Directory => (located, None),
                    Ok(_) | Err(Errno::Loop | Errno::Stale) => return Ok(None),
                    Err(error) => return Err(error),
                }
            }
            Err(Errno::Loop | Errno::Stale) => return Ok(None),
            Err(error) => return Err(error),
        };
        let Located { mount, start, .. } = located;
        let is_point = metadata.is_some() && place.is_point();
        Ok(Some(Walked { path, mount, metadata, last, must_be_dir, laid: None, is_point, start }))
    }

    /// Walks all parts before the next `..` in one call; none when that cannot be, or there is no `..`.
    fn stride(&self, built: &[u8], rest: &[u8]) -> Result<Option<Stride<'_>>> {
        let Some(length) = first_dot_dot(rest).filter(|&length| length > 0) else {
            return Ok(None);
        };
        let Some(direct) = self.direct(built, rest.get(..length).unwrap_or_default())? else {
            return Ok(None);
        };
        match direct.place.locate(&direct.path) {
            Ok(located) => match located.metadata.file_type {
                FileType::Directory => Ok(Some(Stride { path: direct.path, place: direct.place, located, length })),
                FileType::Symlink => Ok(None),
                _ => Err(Errno::NotDirectory),
            },
            Err(Errno::Loop | Errno::Stale) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Walks part by part, looking at each, until a link has been followed and the rest may be direct again. `Stale`
    /// when the tree changed in between.
    fn step(&self, base: &[u8], path: &[u8], last_link: LastLink) -> Result<Walked<'_>> {
        let mut rest = [base, b"/", path].concat();
        let mut position = 0;
        let mut built: Vec<u8> = Vec::new();
        let mut place = self.table.root();
        // What is at `built`, once it has been looked at.
        let mut here: Option<Located<'_>> = None;
        let mut links = 0;
        let mut last = LastPart::None;
        // Whether the parts from here on have not been tried in one call yet.
        let mut fresh = true;

        while let Some(end) = next_part(&rest, &mut position) {
            if std::mem::take(&mut fresh)
                && let Some(stride) = self.stride(&built, rest.get(position..).unwrap_or_default())?
            {
                (built, place, here) = (stride.path, stride.place, Some(stride.located));
                position += stride.length;
                continue;
            }
            let part = rest.get(position..end).unwrap_or_default();
            position = end;
            let after = rest.get(end..).unwrap_or_default();
            let is_last = after.iter().all(|&byte| byte == b'/');
            let slash_after = is_last && !after.is_empty();
            last = match part {
                b"." => LastPart::Dot,
                b".." => LastPart::DotDot,
                _ => LastPart::Name,
            };
            match last {
                LastPart::Dot => continue,
                LastPart::DotDot => {
                    built.truncate(parent_of(&built).len());
                    place = self.table.place(&built);
                    here = None;
                    fresh = true;
                    if let Some(walked) = self.walk_directly(&built, after, last_link)?.filter(|_| !is_last) {
                        return Ok(walked);
                    }
                    continue;
                }
                _ => {}
            }
            if part.len() > NAME_MAX || built.len() + 1 + part.len() > PATH_MAX {
                return Err(Errno::NameTooLong);
            }
            let parent_length = built.len();
            let laid = if place.has_point(part) { None } else { place.laid_link(part, parent_length) };
            built.push(b'/');
            built.extend_from_slice(part);
            let child = place.enter(part, built.len());
            if !is_last && child.has_points() {
                (place, here) = (child, None);
                continue;
            }
            let located = match laid {
                Some(link) => Ok(Located { mount: child.mount(), start: child.start(), metadata: link.metadata }),
                None => child.locate(&built),
            };
            let located = match located {
                Err(Errno::NoEntry) if is_last => {
                    // Where something could be made: in the mount of the directory.
                    let directory = match here {
                        Some(here) => here,
                        None => place.locate(parent_of(&built)).map_err(stale)?,
                    };
                    let Located { mount, start, .. } = directory;
                    let metadata = None;
                    return Ok(Walked {
                        path: built,
                        mount,
                        metadata,
                        last,
                        must_be_dir: slash_after,
                        laid: None,
                        is_point: false,
                        start,
                    });
                }
                result => result.map_err(stale)?,
            };
            match located.metadata.file_type {
                FileType::Directory => (place, here) = (child, Some(located)),
                FileType::Symlink if !is_last || last_link.follows(slash_after) => {
                    links += 1;
                    if links > LINKS_MAX {
                        return Err(Errno::Loop);
                    }
                    let mut target = match laid {
                        Some(link) => link.target.clone(),
                        None => located.mount.source.read_link(within(&built, located.start)).map_err(stale)?,
                    };
                    check_path(&target)?;
                    if target.first() == Some(&b'/') {
                        built.clear();
                        place = self.table.root();
                    } else {
                        built.truncate(parent_length);
                    }
                    here = None;
                    last = LastPart::None;
                    target.extend_from_slice(after);
                    (rest, position, fresh) = (target, 0, true);
                    if let Some(walked) = self.walk_directly(&built, &rest, last_link)? {
                        return Ok(walked);
                    }
                }
                _ if !is_last || slash_after && last_link != LastLink::Name => return Err(Errno::NotDirectory),
                _ => {
                    return Ok(Walked {
                        path: built,
                        mount: located.mount,
                        metadata: Some(located.metadata),
                        last,
                        must_be_dir: slash_after,
                        laid,
                        is_point: child.is_point(),
                        start: located.start,
                    });
                }
            }
        }
        let Located { mount, start, metadata } = match here {
            Some(here) => here,
            None => place.locate(&built).map_err(stale)?,
        };
        let must_be_dir = last != LastPart::Name || rest.last() == Some(&b'/');
        let metadata = Some(metadata);
        Ok(Walked { path: built, mount, metadata, last, must_be_dir, laid: None, is_point: place.is_point(), start })
    }
}

/// Parts walked in one call.
struct Stride<'vfs> {
    path: Vec<u8>,
    place: Place<'vfs>,
    located: Located<'vfs>,
    /// How much of the rest they were.
    length: usize,
}

/// Where the first `..` of a path begins.
fn first_dot_dot(path: &[u8]) -> Option<usize> {
    let mut start = 0;
    for part in path.split(|&byte| byte == b'/') {
        if part == b".." {
            return Some(start);
        }
        start += part.len() + 1;
    }
    None
}

/// How the walk writes a canonical path: the root is empty.
pub(super) fn walk_form(path: &GuestPath) -> &[u8] {
    if path.is_root() { b"" } else { path.as_bytes() }
}

/// The directory of a path as the walk writes it.
pub(super) fn parent_of(path: &[u8]) -> &[u8] {
    let end = path.iter().rposition(|&byte| byte == b'/').unwrap_or(0);
    path.get(..end).unwrap_or_default()
}

/// Whether a guest's path can be walked at all.
pub(super) fn check_path(path: &[u8]) -> Result<()> {
    if path.is_empty() {
        return Err(Errno::NoEntry);
    }
    if path.len() > PATH_MAX {
        return Err(Errno::NameTooLong);
    }
    if path.contains(&0) {
        return Err(Errno::Invalid);
    }
    Ok(())
}

/// Moves `position` to the next part, and tells that part's end.
fn next_part(path: &[u8], position: &mut usize) -> Option<usize> {
    let rest = path.get(*position..)?;
    let slashes = rest.iter().position(|&byte| byte != b'/')?;
    let rest = rest.get(slashes..)?;
    *position += slashes;
    Some(*position + rest.iter().position(|&byte| byte == b'/').unwrap_or(rest.len()))
}

/// A source's answer that shows that another part has changed since it was looked at: a directory before it has become
/// a link, or a link another thing.
fn stale(error: Errno) -> Errno {
    match error {
        Errno::Loop | Errno::Invalid => Errno::Stale,
        error => error,
    }
}
