//! A tree of files in memory.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::content::Contents;
use super::file::{Leaf, LeafKind, MemoryFile};
use super::{Attributes, MODE_MASK, Shared};
use crate::sandbox::clock::Clock;
use crate::sandbox::errno::{Errno, Result};
use crate::sandbox::vfs::file_system::{
    Access, DirEntry, File, FileSystem, FileType, Metadata, Node, SetTime, Special, next_device,
};
use crate::sandbox::vfs::path::{check_name, split_last};
use crate::sandbox::vfs::quota::{InodeCharge, Quota};

/// Length that directories show.
const DIRECTORY_SIZE: u64 = 4096;

/// A tree of files in memory. Entries are listed by name. Reading does not change times of access.
///
/// What the host adds with the `add_` methods costs the quota nothing; what guests make through [`FileSystem`] does.
/// One tree can be the source of many read-only mounts.
#[derive(Debug)]
pub struct MemoryTree {
    shared: Arc<Shared>,
    nodes: RwLock<Nodes>,
}

/// The directories by number (so that deep trees are neither walked nor dropped by recursion); 0 is the root.
#[derive(Debug)]
struct Nodes {
    directories: Vec<Option<Directory>>,
    free: Vec<usize>,
    last_inode: u64,
}

#[derive(Debug)]
struct Directory {
    inode: u64,
    parent: usize,
    entries: BTreeMap<Box<[u8]>, Entry>,
    subdirectories: u32,
    attributes: Attributes,
    _charge: InodeCharge,
}

#[derive(Clone, Debug)]
enum Entry {
    Directory(usize),
    File(Arc<MemoryFile>),
    Leaf(Arc<Leaf>),
}

impl MemoryTree {
    /// An empty tree whose root has mode 755.
    pub fn new(quota: Arc<Quota>, clock: Arc<Clock>) -> Self {
        let shared = Arc::new(Shared { device: next_device(), quota, clock });
        let root = Directory {
            inode: 1,
            parent: 0,
            entries: BTreeMap::new(),
            subdirectories: 0,
            attributes: Attributes::new(0o755, shared.now()),
            _charge: InodeCharge::default(),
        };
        let nodes = Nodes { directories: vec![Some(root)], free: Vec::new(), last_inode: 1 };
        Self { shared, nodes: RwLock::new(nodes) }
    }

    /// Adds a directory, and those above it with mode 755. One that is there gets the mode. As with the other `add_`
    /// methods, the path's slash at the beginning may be left out; `Invalid` when it is not canonical.
    pub fn add_dir(&self, path: impl AsRef<[u8]>, mode: u32) -> Result<()> {
        let mut nodes = self.nodes_mut();
        let mut at = 0;
        for part in parts(path.as_ref()) {
            check_name(part)?;
            at = match nodes.directory(at)?.entries.get(part) {
                Some(Entry::Directory(below)) => *below,
                Some(_) => return Err(Errno::NotDirectory),
                None => nodes.insert_directory(at, part, self.attributes(0o755), InodeCharge::default())?,
            };
        }
        nodes.directory_mut(at)?.attributes.mode = mode & MODE_MASK;
        Ok(())
    }

    /// Adds or replaces a file, and adds the directories above it.
    pub fn add_file(&self, path: impl AsRef<[u8]>, contents: impl Into<Contents>, mode: u32) -> Result<()> {
        let contents = contents.into();
        self.add(path.as_ref(), |tree, inode| {
            let charge = InodeCharge::default();
            Entry::File(Arc::new(MemoryFile::named(inode, Arc::clone(&tree.shared), contents, mode, charge)))
        })
    }

    /// Adds or replaces a symbolic link, and adds the directories above it.
    pub fn add_symlink(&self, path: impl AsRef<[u8]>, target: impl AsRef<[u8]>) -> Result<()> {
        let kind = LeafKind::Link(Box::from(target.as_ref()));
        self.add_leaf(path.as_ref(), kind, 0o777)
    }

    /// Adds or replaces a device file, and adds the directories above it.
    pub fn add_device(&self, path: impl AsRef<[u8]>, device_id: u64, mode: u32) -> Result<()> {
        let kind = LeafKind::Device(device_id);
        self.add_leaf(path.as_ref(), kind, mode)
    }

    /// Adds many device files (names and numbers) to a directory at once, which is cheaper than one by one.
    pub fn add_devices(&self, folder: &str, devices: impl IntoIterator<Item = (String, u64)>, mode: u32) -> Result<()> {
        self.add_dir(folder, 0o755)?;
        let attributes = self.attributes(mode);
        let mut nodes = self.nodes_mut();
        let folder = nodes.find_directory(folder.as_bytes())?;
        let mut made = BTreeMap::new();
        for (name, device) in devices {
            check_name(name.as_bytes())?;
            let leaf = Leaf::new(nodes.next_inode(), LeafKind::Device(device), attributes, InodeCharge::default());
            made.insert(name.into_bytes().into(), Entry::Leaf(Arc::new(leaf)));
        }
        nodes.directory_mut(folder)?.entries.append(&mut made);
        Ok(())
    }

    fn add_leaf(&self, path: &[u8], kind: LeafKind, mode: u32) -> Result<()> {
        let charge = InodeCharge::default();
        self.add(path, |tree, inode| Entry::Leaf(Arc::new(Leaf::new(inode, kind, tree.attributes(mode), charge))))
    }

    /// Attributes of what is made now.
    fn attributes(&self, mode: u32) -> Attributes {
        Attributes::new(mode, self.shared.now())
    }

    fn add(&self, path: &[u8], make: impl FnOnce(&Self, u64) -> Entry) -> Result<()> {
        let path = path.strip_prefix(b"/").unwrap_or(path);
        let (parent, name) = split_last(path).ok_or(Errno::Invalid)?;
        check_name(name)?;
        if self.nodes().find_directory(parent).is_err() {
            self.add_dir(parent, 0o755)?;
        }
        let mut nodes = self.nodes_mut();
        let parent = nodes.find_directory(parent)?;
        let inode = nodes.next_inode();
        let entries = &mut nodes.directory_mut(parent)?.entries;
        if let Some(Entry::Directory(_)) = entries.get(name) {
            return Err(Errno::IsDirectory);
        }
        entries.insert(Box::from(name), make(self, inode));
        Ok(())
    }

    fn nodes(&self) -> RwLockReadGuard<'_, Nodes> {
        self.nodes.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn nodes_mut(&self) -> RwLockWriteGuard<'_, Nodes> {
        self.nodes.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a name less; one that was not the last gives back the inode that `link` took for it.
    fn name_is_gone(&self, entry: &Entry) {
        let left = match entry {
            Entry::Directory(_) => 0,
            Entry::File(file) => file.remove_link(),
            Entry::Leaf(leaf) => leaf.remove_link(self.shared.now()),
        };
        if left > 0 {
            self.shared.quota.release_inode();
        }
    }

    fn make_leaf(&self, path: &[u8], kind: LeafKind, mode: u32) -> Result<()> {
        let mut nodes = self.nodes_mut();
        let (parent, name) = nodes.find_new(path)?;
        let target = if let LeafKind::Link(target) = &kind { target.len() } else { 0 };
        let charge = InodeCharge::take_with(&self.shared.quota, target)?;
        let leaf = Leaf::new(nodes.next_inode(), kind, self.attributes(mode), charge);
        nodes.insert(parent, name, Entry::Leaf(Arc::new(leaf)), self.shared.now())
    }
}

/// The parts of a host-given path.
fn parts(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let path = path.strip_prefix(b"/").unwrap_or(path);
    path.split(|&byte| byte == b'/').filter(move |_| !path.is_empty())
}

impl Nodes {
    fn directory(&self, number: usize) -> Result<&Directory> {
        self.directories.get(number).and_then(Option::as_ref).ok_or(Errno::Io)
    }

    fn directory_mut(&mut self, number: usize) -> Result<&mut Directory> {
        self.directories.get_mut(number).and_then(Option::as_mut).ok_or(Errno::Io)
    }

    fn next_inode(&mut self) -> u64 {
        self.last_inode += 1;
        self.last_inode
    }

    /// What lies at a path. The only part that may be a link is the last.
    fn find(&self, path: &[u8]) -> Result<Entry> {
        match split_last(path) {
            None => Ok(Entry::Directory(0)),
            Some((parent, name)) => {
                let parent = self.find_directory(parent)?;
                self.directory(parent)?.entries.get(name).cloned().ok_or(Errno::NoEntry)
            }
        }
    }

    fn find_directory(&self, path: &[u8]) -> Result<usize> {
        let mut at = 0;
        for part in parts(path) {
            at = match self.directory(at)?.entries.get(part) {
                Some(Entry::Directory(below)) => *below,
                Some(Entry::Leaf(leaf)) if leaf.file_type() == FileType::Symlink => return Err(Errno::Loop),
                Some(_) => return Err(Errno::NotDirectory),
                None => return Err(Errno::NoEntry),
            };
        }
        Ok(at)
    }

    /// The directory and the name of an entry to be made.
    fn find_new<'p>(&self, path: &'p [u8]) -> Result<(usize, &'p [u8])> {
        let (parent, name) = split_last(path).ok_or(Errno::Exist)?;
        let parent = self.find_directory(parent)?;
        if self.directory(parent)?.entries.contains_key(name) {
            return Err(Errno::Exist);
        }
        Ok((parent, name))
    }

    fn insert(&mut self, parent: usize, name: &[u8], entry: Entry, now: i64) -> Result<()> {
        let directory = self.directory_mut(parent)?;
        directory.entries.insert(Box::from(name), entry);
        directory.attributes.touch_content(now);
        Ok(())
    }

    fn insert_directory(
        &mut self,
        parent: usize,
        name: &[u8],
        attributes: Attributes,
        charge: InodeCharge,
    ) -> Result<usize> {
        let directory = Directory {
            inode: self.next_inode(),
            parent,
            entries: BTreeMap::new(),
            subdirectories: 0,
            attributes,
            _charge: charge,
        };
        let number = match self.free.pop() {
            Some(number) => number,
            None => {
                self.directories.push(None);
                self.directories.len() - 1
            }
        };
        if let Some(place) = self.directories.get_mut(number) {
            *place = Some(directory);
        }
        self.insert(parent, name, Entry::Directory(number), attributes.changed)?;
        self.directory_mut(parent)?.subdirectories += 1;
        Ok(number)
    }

    fn take(&mut self, parent: usize, name: &[u8], now: i64) -> Result<Entry> {
        let directory = self.directory_mut(parent)?;
        let entry = directory.entries.remove(name).ok_or(Errno::NoEntry)?;
        directory.attributes.touch_content(now);
        if let Entry::Directory(_) = entry {
            directory.subdirectories -= 1;
        }
        Ok(entry)
    }

    fn free_directory(&mut self, number: usize) {
        if let Some(place) = self.directories.get_mut(number) {
            *place = None;
            self.free.push(number);
        }
    }

    fn is_empty(&self, number: usize) -> Result<bool> {
        Ok(self.directory(number)?.entries.is_empty())
    }

    /// Whether `number` is `ancestor` or lies below it.
    fn lies_in(&self, number: usize, ancestor: usize) -> Result<bool> {
        let mut at = number;
        while at != ancestor {
            if at == 0 {
                return Ok(false);
            }
            at = self.directory(at)?.parent;
        }
        Ok(true)
    }

    fn metadata(&self, device: u64, entry: &Entry) -> Result<Metadata> {
        match entry {
            Entry::File(file) => file.metadata(),
            Entry::Leaf(leaf) => Ok(leaf.metadata(device)),
            Entry::Directory(number) => {
                let directory = self.directory(*number)?;
                Ok(Metadata {
                    device,
                    inode: directory.inode,
                    file_type: FileType::Directory,
                    mode: directory.attributes.mode,
                    links: directory.subdirectories.saturating_add(2),
                    device_id: 0,
                    size: DIRECTORY_SIZE,
                    blocks: 0,
                    accessed: directory.attributes.accessed,
                    modified: directory.attributes.modified,
                    changed: directory.attributes.changed,
                })
            }
        }
    }
}

impl FileSystem for MemoryTree {
    fn metadata(&self, path: &[u8]) -> Result<Metadata> {
        let nodes = self.nodes();
        let entry = nodes.find(path)?;
        nodes.metadata(self.shared.device, &entry)
    }

    fn open(&self, path: &[u8], access: Access) -> Result<Node> {
        let entry = self.nodes().find(path)?;
        match entry {
            Entry::Directory(_) => Ok(Node::Directory),
            Entry::File(file) => {
                if access.truncate {
                    file.set_len(0)?;
                }
                Ok(Node::File(file))
            }
            Entry::Leaf(leaf) => match leaf.kind {
                LeafKind::Link(_) => Err(Errno::Loop),
                LeafKind::Fifo => Ok(Node::Special(Special::Fifo { device: self.shared.device, inode: leaf.inode })),
                LeafKind::Device(id) => Ok(Node::Special(Special::Device(id))),
            },
        }
    }

    fn create(&self, path: &[u8], mode: u32, _access: Access) -> Result<Arc<dyn File>> {
        let mut nodes = self.nodes_mut();
        let (parent, name) = nodes.find_new(path)?;
        let charge = InodeCharge::take(&self.shared.quota)?;
        let (inode, shared) = (nodes.next_inode(), Arc::clone(&self.shared));
        let file = Arc::new(MemoryFile::named(inode, shared, Contents::Static(&[]), mode, charge));
        nodes.insert(parent, name, Entry::File(Arc::clone(&file)), self.shared.now())?;
        Ok(file)
    }

    fn read_link(&self, path: &[u8]) -> Result<Vec<u8>> {
        match self.nodes().find(path)? {
            Entry::Leaf(leaf) => match &leaf.kind {
                LeafKind::Link(target) => Ok(target.to_vec()),
                _ => Err(Errno::Invalid),
            },
            _ => Err(Errno::Invalid),
        }
    }

    fn read_dir(&self, path: &[u8]) -> Result<Vec<DirEntry>> {
        let nodes = self.nodes();
        let Entry::Directory(number) = nodes.find(path)? else {
            return Err(Errno::NotDirectory);
        };
        let directory = nodes.directory(number)?;
        let mut list = Vec::with_capacity(directory.entries.len());
        for (name, entry) in &directory.entries {
            let (inode, file_type) = match entry {
                Entry::Directory(number) => (nodes.directory(*number)?.inode, FileType::Directory),
                Entry::File(file) => (file.inode(), FileType::Regular),
                Entry::Leaf(leaf) => (leaf.inode, leaf.file_type()),
            };
            list.push(DirEntry { name: name.to_vec(), inode, file_type });
        }
        Ok(list)
    }

    fn make_dir(&self, path: &[u8], mode: u32) -> Result<()> {
        let mut nodes = self.nodes_mut();
        let (parent, name) = nodes.find_new(path)?;
        let charge = InodeCharge::take(&self.shared.quota)?;
        nodes.insert_directory(parent, name, self.attributes(mode), charge)?;
        Ok(())
    }

    fn make_fifo(&self, path: &[u8], mode: u32) -> Result<()> {
        self.make_leaf(path, LeafKind::Fifo, mode)
    }

    fn symlink(&self, target: &[u8], path: &[u8]) -> Result<()> {
        self.make_leaf(path, LeafKind::Link(Box::from(target)), 0o777)
    }

    fn link(&self, path: &[u8], new: &[u8]) -> Result<()> {
        let mut nodes = self.nodes_mut();
        let entry = nodes.find(path)?;
        let (parent, name) = nodes.find_new(new)?;
        if matches!(entry, Entry::Directory(_)) {
            return Err(Errno::NotPermitted);
        }
        self.shared.quota.charge_inode()?;
        match &entry {
            Entry::Directory(_) => {}
            Entry::File(file) => file.add_link(),
            Entry::Leaf(leaf) => leaf.add_link(self.shared.now()),
        }
        nodes.insert(parent, name, entry, self.shared.now())
    }

    fn unlink(&self, path: &[u8]) -> Result<()> {
        // Dropped after the lock: freeing a large file takes time.
        let _gone;
        let mut nodes = self.nodes_mut();
        let (parent, name) = split_last(path).ok_or(Errno::IsDirectory)?;
        let parent = nodes.find_directory(parent)?;
        match nodes.directory(parent)?.entries.get(name) {
            None => return Err(Errno::NoEntry),
            Some(Entry::Directory(_)) => return Err(Errno::IsDirectory),
            Some(_) => {}
        }
        _gone = nodes.take(parent, name, self.shared.now())?;
        self.name_is_gone(&_gone);
        Ok(())
    }

    fn remove_dir(&self, path: &[u8]) -> Result<()> {
        let mut nodes = self.nodes_mut();
        let (parent, name) = split_last(path).ok_or(Errno::Busy)?;
        let parent = nodes.find_directory(parent)?;
        let number = match nodes.directory(parent)?.entries.get(name) {
            None => return Err(Errno::NoEntry),
            Some(Entry::Directory(number)) => *number,
            Some(_) => return Err(Errno::NotDirectory),
        };
        if !nodes.is_empty(number)? {
            return Err(Errno::NotEmpty);
        }
        nodes.take(parent, name, self.shared.now())?;
        nodes.free_directory(number);
        Ok(())
    }

    fn rename(&self, path: &[u8], new: &[u8]) -> Result<()> {
        let _gone;
        let mut nodes = self.nodes_mut();
        let (old_parent, old_name) = split_last(path).ok_or(Errno::Busy)?;
        let (new_parent, new_name) = split_last(new).ok_or(Errno::Busy)?;
        let old_parent = nodes.find_directory(old_parent)?;
        let new_parent = nodes.find_directory(new_parent)?;
        let moved = nodes.directory(old_parent)?.entries.get(old_name).cloned().ok_or(Errno::NoEntry)?;
        let replaced = nodes.directory(new_parent)?.entries.get(new_name).cloned();
        if let Entry::Directory(number) = moved
            && (new_parent == number || nodes.lies_in(new_parent, number)?)
        {
            return Err(Errno::Invalid);
        }
        match (&moved, &replaced) {
            (_, None) => {}
            (Entry::Directory(number), Some(Entry::Directory(other))) => {
                if number == other {
                    return Ok(());
                }
                if !nodes.is_empty(*other)? {
                    return Err(Errno::NotEmpty);
                }
            }
            (Entry::Directory(_), Some(_)) => return Err(Errno::NotDirectory),
            (_, Some(Entry::Directory(other))) => {
                // A directory above the file is never empty, and that is what Linux says.
                let above = nodes.lies_in(old_parent, *other)?;
                return Err(if above { Errno::NotEmpty } else { Errno::IsDirectory });
            }
            (Entry::File(file), Some(Entry::File(other))) if Arc::ptr_eq(file, other) => return Ok(()),
            (Entry::Leaf(leaf), Some(Entry::Leaf(other))) if Arc::ptr_eq(leaf, other) => return Ok(()),
            (_, Some(_)) => {}
        }
        if replaced.is_some() {
            match nodes.take(new_parent, new_name, self.shared.now())? {
                Entry::Directory(number) => nodes.free_directory(number),
                entry => self.name_is_gone(&entry),
            }
        }
        _gone = replaced;
        let entry = nodes.take(old_parent, old_name, self.shared.now())?;
        if let Entry::Directory(number) = entry {
            nodes.directory_mut(number)?.parent = new_parent;
            nodes.directory_mut(new_parent)?.subdirectories += 1;
        }
        nodes.insert(new_parent, new_name, entry, self.shared.now())
    }

    fn set_times(&self, path: &[u8], accessed: SetTime, modified: SetTime) -> Result<()> {
        let mut nodes = self.nodes_mut();
        match nodes.find(path)? {
            Entry::Directory(number) => {
                nodes.directory_mut(number)?.attributes.set_times(accessed, modified, self.shared.now())
            }
            Entry::File(file) => file.set_times(accessed, modified)?,
            Entry::Leaf(leaf) => leaf.change(|attributes| attributes.set_times(accessed, modified, self.shared.now())),
        }
        Ok(())
    }

    fn set_mode(&self, path: &[u8], mode: u32) -> Result<()> {
        let mut nodes = self.nodes_mut();
        match nodes.find(path)? {
            Entry::Directory(number) => {
                let attributes = &mut nodes.directory_mut(number)?.attributes;
                attributes.mode = mode & MODE_MASK;
                attributes.touch_status(self.shared.now());
                Ok(())
            }
            Entry::File(file) => file.set_mode(mode),
            Entry::Leaf(leaf) => leaf.set_mode(mode, self.shared.now()),
        }
    }

    fn quota(&self) -> Option<&Quota> {
        Some(&self.shared.quota)
    }
}
