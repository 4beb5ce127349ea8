//! Which tree lies at which guest path.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::file_system::{FileSystem, FileType, Metadata, next_device};
use super::memory::MemoryTree;
use super::path::{GuestPath, check_name, within};
use super::quota::Quota;
use crate::sandbox::clock::Clock;
use crate::sandbox::errno::{Errno, Result};

/// A tree of files and the place where it lies.
#[derive(Clone, Debug)]
pub struct Mount {
    /// Its place. Nothing need be there in the tree around it.
    pub at: GuestPath,
    /// The tree.
    pub source: Arc<dyn FileSystem>,
    /// Whether all changes are refused with `EROFS`.
    pub read_only: bool,
    /// Symbolic links laid over the tree's root directory, by name and target. They hide the tree's own entries of
    /// these names, and cannot be removed, renamed or replaced. Of two with one name, the later counts.
    pub links: Vec<(Vec<u8>, Vec<u8>)>,
}

/// All mounts of a sandbox.
///
/// The paths of mounts form a small tree of their own. What lies on it (mounts and the directories above them) always
/// exists and cannot be removed or renamed; directories above a mount that no source has are made up, read-only.
#[derive(Debug)]
pub struct MountTable {
    points: Vec<Point>,
    /// The directories made up.
    scaffold: Arc<Mount>,
    scaffold_tree: Arc<MemoryTree>,
    /// Device number of laid-over links.
    device: u64,
    last_inode: u64,
}

/// A directory on the way to a mount, or a mount's place. Number 0 is the root.
#[derive(Debug, Default)]
struct Point {
    children: BTreeMap<Box<[u8]>, usize>,
    mounted: Option<Mounted>,
}

#[derive(Debug)]
struct Mounted {
    mount: Arc<Mount>,
    links: BTreeMap<Box<[u8]>, LaidLink>,
}

/// A laid-over link.
#[derive(Debug)]
pub(super) struct LaidLink {
    pub(super) target: Vec<u8>,
    pub(super) metadata: Metadata,
}

/// Where a canonical path lies. The path's beginning `..start` leads to the mount's root.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'table> {
    table: &'table MountTable,
    /// The point on the tree of mounts, while the path has not left it.
    point: Option<usize>,
    /// The point of the mount that the path lies in; none for the scaffold.
    mount: Option<usize>,
    /// Length of the path of the mount, without a slash at its end.
    start: usize,
    /// Length of the path of the last point passed.
    trunk: usize,
}

impl Default for MountTable {
    fn default() -> Self {
        Self::new()
    }
}

impl MountTable {
    /// A table without mounts: an empty read-only root directory.
    pub fn new() -> Self {
        let tree =
            Arc::new(MemoryTree::new(Arc::new(Quota::new(0, 0, 0, Arc::default())), Arc::new(Clock::deterministic())));
        let source: Arc<dyn FileSystem> = tree.clone();
        Self {
            points: vec![Point::default()],
            scaffold: Arc::new(Mount { at: GuestPath::root(), source, read_only: true, links: Vec::new() }),
            scaffold_tree: tree,
            device: next_device(),
            last_inode: 0,
        }
    }

    /// Adds a mount, in place of one at the same path. `Invalid` when a laid-over link's name cannot be a name or its
    /// target is empty.
    pub fn add(&mut self, mount: Mount) -> Result<()> {
        let mut links = BTreeMap::new();
        for (name, target) in &mount.links {
            check_name(name)?;
            if target.is_empty() || target.contains(&0) {
                return Err(Errno::Invalid);
            }
            self.last_inode += 1;
            let metadata = Metadata {
                device: self.device,
                inode: self.last_inode,
                file_type: FileType::Symlink,
                mode: 0o777,
                links: 1,
                device_id: 0,
                size: target.len() as u64,
                blocks: 0,
                accessed: 0,
                modified: 0,
                changed: 0,
            };
            links.insert(Box::from(name.as_slice()), LaidLink { target: target.clone(), metadata });
        }
        let mut at = 0;
        for part in mount.at.relative().split(|&byte| byte == b'/').filter(|part| !part.is_empty()) {
            at = match self.points.get(at).and_then(|point| point.children.get(part)) {
                Some(below) => *below,
                None => {
                    self.points.push(Point::default());
                    let below = self.points.len() - 1;
                    if let Some(point) = self.points.get_mut(at) {
                        point.children.insert(Box::from(part), below);
                    }
                    below
                }
            };
        }
        if let Some(above) = mount.at.parent() {
            self.scaffold_tree.add_dir(above.as_bytes(), 0o755)?;
        }
        if let Some(point) = self.points.get_mut(at) {
            point.mounted = Some(Mounted { mount: Arc::new(mount), links });
        }
        Ok(())
    }

    /// All mounts, in no particular order.
    #[cfg(test)]
    pub fn mounts(&self) -> impl Iterator<Item = &Arc<Mount>> {
        self.points.iter().filter_map(|point| point.mounted.as_ref()).map(|mounted| &mounted.mount)
    }

    /// The root's place.
    pub(super) fn root(&self) -> Place<'_> {
        let mount = self.points.first().and_then(|point| point.mounted.as_ref()).map(|_| 0);
        Place { table: self, point: Some(0), mount, start: 0, trunk: 0 }
    }

    /// The place of a path that the walk has built (`""` is the root).
    pub(super) fn place(&self, path: &[u8]) -> Place<'_> {
        let mut place = self.root();
        let mut end = 0;
        for part in path.split(|&byte| byte == b'/').skip(1) {
            end += 1 + part.len();
            place = place.enter(part, end);
            if place.point.is_none() {
                break;
            }
        }
        place
    }
}

impl<'table> Place<'table> {
    /// The place of the entry `name`, whose path has `length` bytes. Entries that are no points lie in the same mount.
    pub(super) fn enter(self, name: &[u8], length: usize) -> Self {
        let Some(point) = self.child(name) else {
            return Self { point: None, ..self };
        };
        let mounted = self.table.points.get(point).is_some_and(|point| point.mounted.is_some());
        if mounted {
            Self { table: self.table, point: Some(point), mount: Some(point), start: length, trunk: length }
        } else {
            Self { point: Some(point), trunk: length, ..self }
        }
    }

    fn child(&self, name: &[u8]) -> Option<usize> {
        self.table.points.get(self.point?)?.children.get(name).copied()
    }

    /// Whether the entry `name` is a mount's place or lies above one.
    pub(super) fn has_point(&self, name: &[u8]) -> bool {
        self.child(name).is_some()
    }

    /// Whether this is a mount's place or lies above one.
    pub(super) fn is_point(&self) -> bool {
        self.point.is_some()
    }

    /// The names of points in this directory.
    pub(super) fn point_names(&self) -> impl Iterator<Item = &'table [u8]> + use<'table> {
        let point = self.point.and_then(|point| self.table.points.get(point));
        point.into_iter().flat_map(|point| point.children.keys().map(AsRef::as_ref))
    }

    fn mounted(&self) -> Option<&'table Mounted> {
        self.table.points.get(self.mount?)?.mounted.as_ref()
    }

    /// The mount that the path lies in.
    pub(super) fn mount(&self) -> &'table Arc<Mount> {
        self.mounted().map_or(&self.table.scaffold, |mounted| &mounted.mount)
    }

    /// The path within the mount's source.
    pub(super) fn relative<'p>(&self, path: &'p [u8]) -> &'p [u8] {
        within(path, self.start)
    }

    /// The link laid over the entry `name` of this directory, whose path has `length` bytes.
    pub(super) fn laid_link(&self, name: &[u8], length: usize) -> Option<&'table LaidLink> {
        if length != self.start {
            return None;
        }
        let mounted = self.mounted()?;
        if mounted.links.is_empty() { None } else { mounted.links.get(name) }
    }

    /// All links laid over this directory, whose path has `length` bytes.
    pub(super) fn laid_links(&self, length: usize) -> impl Iterator<Item = (&'table [u8], &'table LaidLink)> {
        let mounted = if length == self.start { self.mounted() } else { None };
        mounted.into_iter().flat_map(|mounted| mounted.links.iter().map(|(name, link)| (name.as_ref(), link)))
    }

    /// Looks at what is at this place, `path` being its path. A directory on the way to a mount that the source around
    /// it does not have is found in the scaffold.
    pub(super) fn locate(self, path: &[u8]) -> Result<Located<'table>> {
        let mount = self.mount();
        let found = mount.source.metadata(self.relative(path));
        let is_mount = self.mount.is_some() && self.mount == self.point;
        if self.is_point() && !is_mount && !matches!(found, Ok(Metadata { file_type: FileType::Directory, .. })) {
            let mount = &self.table.scaffold;
            let metadata = mount.source.metadata(path.strip_prefix(b"/").unwrap_or(path))?;
            return Ok(Located { mount, start: 0, metadata });
        }
        // Below a directory that was made up there is nothing, whatever the source has in that directory's place.
        if self.trunk > self.start && matches!(found, Err(Errno::Loop | Errno::NotDirectory)) {
            let trunk = mount.source.metadata(self.relative(path.get(..self.trunk).unwrap_or_default()));
            if !matches!(trunk, Ok(Metadata { file_type: FileType::Directory, .. })) {
                return Err(Errno::NoEntry);
            }
        }
        Ok(Located { mount, start: self.start, metadata: found? })
    }

    /// Whether this is surely a directory: one that a mount lies in.
    pub(super) fn has_points(&self) -> bool {
        let point = self.point.and_then(|point| self.table.points.get(point));
        point.is_some_and(|point| !point.children.is_empty())
    }

    /// Length of the path of the mount.
    pub(super) fn start(&self) -> usize {
        self.start
    }
}

/// What is at a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Located<'table> {
    pub(super) mount: &'table Arc<Mount>,
    /// Length of the part of the path that leads to the source's root.
    pub(super) start: usize,
    pub(super) metadata: Metadata,
}
