//! What the calls of a file system do with layers.

use super::*;
use crate::sandbox::vfs::path::split_last;

impl Core {
    /// Makes something new: checks that the name is free and brings its directory to the upper layer.
    fn make<T>(&self, path: &[u8], make: impl FnOnce(&State, &dyn FileSystem, &[u8]) -> Result<T>) -> Result<T> {
        let place = Place::new(path);
        let state = self.shared().state_mut();
        let parent = self.check_free(&state, &place)?;
        self.copy_directories(&state, parent)?;
        make(&state, self.upper(), place.framed())
    }

    /// Whether something can be made at a path; its directory is the answer.
    fn check_free<'p>(&self, state: &State, place: &'p Place) -> Result<&'p [u8]> {
        match self.look(state, place) {
            Ok(_) => Err(Errno::Exist),
            Err(Errno::NoEntry) => {
                let (parent, _) = split_last(place.plain()).ok_or(Errno::NoEntry)?;
                self.check_directory(state, parent)?;
                Ok(parent)
            }
            Err(error) => Err(error),
        }
    }

    fn check_directory(&self, state: &State, path: &[u8]) -> Result<()> {
        let place = Place::new(path);
        // What the upper layer has shows.
        let in_upper = self.upper().metadata(place.framed());
        let file_type = match in_upper {
            Ok(metadata) => metadata.file_type,
            Err(_) => self.look(state, &place)?.metadata.file_type,
        };
        match file_type {
            FileType::Directory => Ok(()),
            FileType::Symlink => Err(Errno::Loop),
            _ => Err(Errno::NotDirectory),
        }
    }

    /// Hides what the lower layers have at a path.
    fn cut(&self, state: &mut State, place: &Place) -> Result<()> {
        if let Some(quota) = self.upper().quota() {
            quota.charge_inode()?;
        }
        let release = |count| {
            if let Some(quota) = self.upper().quota() {
                (0..count).for_each(|_| quota.release_inode());
            }
        };
        if let Some(log) = &self.upper.log {
            log.append(place.plain()).inspect_err(|_| release(1))?;
        }
        let replaced = state.cuts.insert(place.plain());
        release(replaced);
        if let Some(held) = &self.shared().held {
            held.add(1, replaced);
        }
        Ok(())
    }

    /// Removes a name: what the lower layers have of it is hidden, then the upper layer's part goes.
    fn remove(&self, state: &mut State, place: &Place, found: &Found) -> Result<()> {
        let (parent, _) = split_last(place.plain()).ok_or(Errno::Busy)?;
        let in_lower = self.below(state, place)?.is_some();
        if in_lower {
            self.copy_directories(state, parent)?;
            self.cut(state, place)?;
        }
        let is_directory = found.metadata.file_type == FileType::Directory;
        if found.layer > 0 {
            self.shared().readers.name_is_gone(place.plain());
            // What looks for changes of a directory by its time must see this one too.
            return self.upper().set_times(Place::new(parent).framed(), SetTime::Keep, SetTime::Now);
        }
        let origin = self.last_name(place, found)?;
        if is_directory { self.upper().remove_dir(place.framed()) } else { self.upper().unlink(place.framed()) }?;
        if let Some(inode) = origin {
            state.origins.remove(&inode);
        }
        Ok(())
    }

    /// The inode in the upper layer of a file that has no other name.
    fn last_name(&self, place: &Place, found: &Found) -> Result<Option<u64>> {
        if found.layer > 0 || found.metadata.file_type == FileType::Directory || found.metadata.links > 1 {
            return Ok(None);
        }
        Ok(Some(self.upper().metadata(place.framed())?.inode))
    }

    fn is_empty(&self, state: &State, place: &Place, found: &Found) -> Result<bool> {
        Ok(self.list(state, place, &found.merged)?.is_empty())
    }

    /// Renames what has been copied up, a directory with all in it if `whole`; `Again` when that is still to be done.
    fn rename_copied(&self, path: &[u8], new: &[u8], whole: bool) -> Result<()> {
        let (old_place, new_place) = (Place::new(path), Place::new(new));
        let mut state = self.shared().state_mut();
        let (old_parent, _) = split_last(path).ok_or(Errno::Busy)?;
        let (new_parent, _) = split_last(new).ok_or(Errno::Busy)?;
        self.check_directory(&state, old_parent)?;
        self.check_directory(&state, new_parent)?;
        let moved = self.look(&state, &old_place)?;
        let replaced = match self.look(&state, &new_place) {
            Err(Errno::NoEntry) => None,
            found => Some(found?),
        };
        let is_directory = moved.metadata.file_type == FileType::Directory;
        if is_directory && path != new && lies_in(new, path) {
            return Err(Errno::Invalid);
        }
        if let Some(replaced) = &replaced {
            match (is_directory, replaced.metadata.file_type == FileType::Directory) {
                _ if replaced.metadata.inode == moved.metadata.inode => return Ok(()),
                (true, false) => return Err(Errno::NotDirectory),
                (false, true) if lies_in(path, new) => return Err(Errno::NotEmpty),
                (false, true) => return Err(Errno::IsDirectory),
                (true, true) if !self.is_empty(&state, &new_place, replaced)? => return Err(Errno::NotEmpty),
                _ => {}
            }
        }
        let in_lower = self.below(&state, &old_place)?.is_some();
        if moved.layer > 0 || is_directory && in_lower && !whole {
            return Err(Errno::Again);
        }
        self.copy_directories(&state, new_parent)?;
        if is_directory && self.below(&state, &new_place)?.is_some() {
            self.copy_directories(&state, new)?;
            self.cut(&mut state, &new_place)?;
        }
        if in_lower {
            self.cut(&mut state, &old_place)?;
        }
        let origin = match &replaced {
            Some(replaced) => self.last_name(&new_place, replaced)?,
            None => None,
        };
        self.upper().rename(old_place.framed(), new_place.framed())?;
        if let Some(inode) = origin {
            state.origins.remove(&inode);
        }
        if replaced.is_some_and(|replaced| replaced.layer > 0) {
            self.shared().readers.name_is_gone(new);
        }
        Ok(())
    }
}

/// What the answer means that a name, seen a moment ago, is gone.
fn gone(error: Errno) -> Errno {
    if error == Errno::NoEntry { Errno::Stale } else { error }
}

/// Whether `path` lies below the directory `other`.
fn lies_in(path: &[u8], other: &[u8]) -> bool {
    other.is_empty() || path.strip_prefix(other).is_some_and(|rest| rest.first() == Some(&b'/'))
}

impl FileSystem for OverlayFs {
    fn metadata(&self, path: &[u8]) -> Result<Metadata> {
        let core = &self.core;
        Ok(core.look(&core.shared().state(), &Place::new(path))?.metadata)
    }

    fn open(&self, path: &[u8], access: Access) -> Result<Node> {
        let core = &self.core;
        let place = Place::new(path);
        {
            let state = core.shared().state();
            let found = core.look(&state, &place)?;
            let Metadata { device, inode, .. } = found.metadata;
            match found.metadata.file_type {
                FileType::Directory => return Ok(Node::Directory),
                FileType::Symlink => return Err(Errno::Loop),
                FileType::Fifo => return Ok(Node::Special(Special::Fifo { device, inode })),
                FileType::Regular if found.layer == 0 => return core.open_upper(&state, &place, access),
                FileType::Regular if access.write || access.truncate => {}
                FileType::Regular | FileType::CharDevice => {
                    let (tree, path) = core.at(found.layer, &place);
                    let node = tree.open(path, access)?;
                    let Node::File(file) = node else { return Ok(node) };
                    let reader = core.shared().readers.enter(place.plain());
                    let path = Box::from(place.plain());
                    let file = LowerFile { file, inode, path, reader, core: Arc::clone(core) };
                    return Ok(Node::File(Arc::new(file)));
                }
            }
        }
        // What is cut to nothing is not copied first.
        core.copy_up(path, !access.truncate)?;
        core.open_upper(&core.shared().state(), &place, access).map_err(gone)
    }

    fn create(&self, path: &[u8], mode: u32, access: Access) -> Result<Arc<dyn File>> {
        self.core.make(path, |state, upper, path| self.core.wrap(state, upper.create(path, mode, access)?))
    }

    fn read_link(&self, path: &[u8]) -> Result<Vec<u8>> {
        let core = &self.core;
        let place = Place::new(path);
        let state = core.shared().state();
        let found = core.look(&state, &place)?;
        if found.metadata.file_type != FileType::Symlink {
            return Err(Errno::Invalid);
        }
        let (tree, path) = core.at(found.layer, &place);
        tree.read_link(path)
    }

    fn read_dir(&self, path: &[u8]) -> Result<Vec<DirEntry>> {
        let core = &self.core;
        let place = Place::new(path);
        let state = core.shared().state();
        let found = core.look(&state, &place)?;
        match found.metadata.file_type {
            FileType::Directory => core.list(&state, &place, &found.merged),
            FileType::Symlink => Err(Errno::Loop),
            _ => Err(Errno::NotDirectory),
        }
    }

    fn make_dir(&self, path: &[u8], mode: u32) -> Result<()> {
        self.core.make(path, |_, upper, path| upper.make_dir(path, mode))
    }

    fn make_fifo(&self, path: &[u8], mode: u32) -> Result<()> {
        self.core.make(path, |_, upper, path| upper.make_fifo(path, mode))
    }

    fn symlink(&self, target: &[u8], path: &[u8]) -> Result<()> {
        self.core.make(path, |_, upper, path| upper.symlink(target, path))
    }

    fn link(&self, path: &[u8], new: &[u8]) -> Result<()> {
        let core = &self.core;
        {
            let state = core.shared().state();
            let found = core.look(&state, &Place::new(path))?;
            core.check_free(&state, &Place::new(new))?;
            if found.metadata.file_type == FileType::Directory {
                return Err(Errno::NotPermitted);
            }
        }
        core.copy_up(path, true)?;
        core.make(new, |_, upper, new| upper.link(Place::new(path).framed(), new))
    }

    fn unlink(&self, path: &[u8]) -> Result<()> {
        let core = &self.core;
        let place = Place::new(path);
        let mut state = core.shared().state_mut();
        let found = core.look(&state, &place)?;
        if found.metadata.file_type == FileType::Directory {
            return Err(Errno::IsDirectory);
        }
        core.remove(&mut state, &place, &found)
    }

    fn remove_dir(&self, path: &[u8]) -> Result<()> {
        let core = &self.core;
        let place = Place::new(path);
        let mut state = core.shared().state_mut();
        let found = core.look(&state, &place)?;
        if found.metadata.file_type != FileType::Directory {
            return Err(Errno::NotDirectory);
        }
        if path.is_empty() {
            return Err(Errno::Busy);
        }
        if !core.is_empty(&state, &place, &found)? {
            return Err(Errno::NotEmpty);
        }
        core.remove(&mut state, &place, &found)
    }

    fn rename(&self, path: &[u8], new: &[u8]) -> Result<()> {
        if path.is_empty() || new.is_empty() {
            return Err(Errno::Busy);
        }
        match self.core.rename_copied(path, new, false) {
            Err(Errno::Again) => {}
            result => return result,
        }
        self.core.copy_tree(path)?;
        match self.core.rename_copied(path, new, true) {
            Err(Errno::Again) => Err(Errno::Stale),
            result => result,
        }
    }

    fn set_times(&self, path: &[u8], accessed: SetTime, modified: SetTime) -> Result<()> {
        self.core.copy_up(path, true)?;
        let _state = self.core.shared().state();
        self.core.upper().set_times(Place::new(path).framed(), accessed, modified).map_err(gone)
    }

    fn set_mode(&self, path: &[u8], mode: u32) -> Result<()> {
        if self.metadata(path)?.file_type == FileType::Symlink {
            return Err(Errno::NotSupported);
        }
        self.core.copy_up(path, true)?;
        let _state = self.core.shared().state();
        self.core.upper().set_mode(Place::new(path).framed(), mode).map_err(gone)
    }

    fn quota(&self) -> Option<&Quota> {
        self.core.upper().quota()
    }
}
