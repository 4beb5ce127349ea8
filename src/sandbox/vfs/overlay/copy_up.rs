//! Bringing files and directories of lower layers to the upper one.

use super::file::Reader;
use super::*;
use crate::sandbox::vfs::path::split_last;

/// How often a copy is tried again because others changed the name meanwhile.
const RETRIES: usize = 16;

/// The most names that a directory has that is copied to be renamed, its own and all in it.
const MOVED_NAMES: usize = 1000;

/// The most bytes that such a copy takes.
const MOVED_BYTES: u64 = 64 << 20;

/// Times to be set on directories of the upper layer when everything in them is made: path, access and change.
type Times = Vec<(Vec<u8>, i64, i64)>;

impl Core {
    /// Copies what lower layers have at a path, unless the upper layer has it. A file comes without its content if
    /// `with_data` is false.
    pub(super) fn copy_up(&self, path: &[u8], with_data: bool) -> Result<()> {
        let place = Place::new(path);
        for _ in 0..RETRIES {
            let _copying = self.shared().copying();
            let found = self.look(&self.shared().state(), &place)?;
            if found.layer == 0 {
                return Ok(());
            }
            if found.metadata.file_type == FileType::Directory {
                return self.copy_directories(&self.shared().state_mut(), path);
            }
            let temporary = self.shared().temporary();
            let result = self
                .copy_to(&found, &place, &temporary, with_data)
                .and_then(|()| self.move_into_place(&temporary, &place, &found));
            match result {
                Ok(()) => return Ok(()),
                Err(error) => drop(self.upper().unlink(&temporary).map_err(|_| error)),
            }
            if result != Err(Errno::Stale) {
                return result;
            }
        }
        Err(Errno::Stale)
    }

    /// Copies what is to be renamed, a directory with everything in it: what is made there later is in the upper layer
    /// anyway. `CrossDevice` when that is too much for one call.
    pub(super) fn copy_tree(&self, path: &[u8]) -> Result<()> {
        let mut paths = vec![path.to_vec()];
        let mut bytes = 0;
        let mut next = 0;
        while let Some(place) = paths.get(next).map(|path| Place::new(path)) {
            next += 1;
            let state = self.shared().state();
            let found = match self.look(&state, &place) {
                // Another was faster.
                Err(Errno::NoEntry) if next > 1 => continue,
                found => found?,
            };
            if found.layer > 0 && found.metadata.file_type == FileType::Regular && next > 1 {
                bytes += found.metadata.size;
            }
            if found.metadata.file_type == FileType::Directory {
                let entries = self.list(&state, &place, &found.merged)?;
                paths.extend(entries.iter().map(|entry| join(place.plain(), &entry.name)));
            }
            let is_device = found.metadata.file_type == FileType::CharDevice;
            if bytes > MOVED_BYTES || paths.len() > MOVED_NAMES || is_device && next > 1 {
                return Err(Errno::CrossDevice);
            }
        }
        for (number, path) in paths.iter().enumerate() {
            match self.copy_up(path, true) {
                Err(Errno::NoEntry | Errno::NotDirectory | Errno::Loop) if number > 0 => {}
                result => result?,
            }
        }
        Ok(())
    }

    /// Makes the copy, complete but for its place.
    fn copy_to(&self, found: &Found, place: &Place, temporary: &[u8], with_data: bool) -> Result<()> {
        let (tree, path) = self.at(found.layer, place);
        let Metadata { accessed, modified, mode, size, .. } = found.metadata;
        match found.metadata.file_type {
            FileType::Regular => {
                let Node::File(file) = tree.open(path, Access { read: true, ..Access::default() })? else {
                    return Err(Errno::Stale);
                };
                let access = Access { write: true, ..Access::default() };
                let copy = self.upper().create(temporary, mode, access)?;
                if with_data {
                    copy.fill(&*file, size)?;
                }
            }
            FileType::Symlink => self.upper().symlink(&tree.read_link(path)?, temporary)?,
            FileType::Fifo => self.upper().make_fifo(temporary, mode)?,
            FileType::CharDevice => return Err(Errno::NotPermitted),
            FileType::Directory => return Err(Errno::IsDirectory),
        }
        self.upper().set_times(temporary, SetTime::At(accessed), SetTime::At(modified))
    }

    /// Gives the copy its name, if the name still stands for what was copied.
    fn move_into_place(&self, temporary: &[u8], place: &Place, found: &Found) -> Result<()> {
        let mut state = self.shared().state_mut();
        let now = self.look(&state, place)?;
        if (now.layer, now.metadata.inode) != (found.layer, found.metadata.inode) {
            return Err(Errno::Stale);
        }
        let (parent, _) = split_last(place.plain()).ok_or(Errno::Busy)?;
        self.copy_directories(&state, parent)?;
        let parent = Place::new(parent);
        let Metadata { accessed, modified, .. } = self.upper().metadata(parent.framed())?;
        self.upper().rename(temporary, place.framed())?;
        self.set_all_times(vec![(parent.framed, accessed, modified)])?;
        let copy = self.upper().metadata(place.framed())?;
        if found.metadata.links == 1 && self.devices.first() == Some(&copy.device) {
            state.origins.insert(copy.inode, found.metadata.inode);
        }
        if let Some(reader) = self.shared().readers.take(place.plain()) {
            let access = Access { read: true, ..Access::default() };
            if let Node::File(file) = self.upper().open(place.framed(), access)? {
                reader.switch(file);
            }
        }
        Ok(())
    }

    /// Copies a lower layer's file whose name is gone, for a descriptor that wants to change it.
    pub(super) fn copy_nameless(&self, file: &dyn File, reader: &Reader) -> Result<()> {
        let _copying = self.shared().copying();
        let temporary = self.shared().temporary();
        let metadata = file.metadata()?;
        let copy =
            self.upper().create(&temporary, metadata.mode, Access { read: true, write: true, truncate: false })?;
        let times = (SetTime::At(metadata.accessed), SetTime::At(metadata.modified));
        let result = copy.fill(file, metadata.size).and_then(|()| copy.set_times(times.0, times.1));
        self.upper().unlink(&temporary)?;
        result?;
        reader.switch(copy);
        Ok(())
    }

    /// Makes the directory at `path`, which some layer has, and those above it in the upper layer. Nothing that shows
    /// changes but, after a crash, the times of the directories.
    pub(super) fn copy_directories(&self, state: &State, path: &[u8]) -> Result<()> {
        let mut missing = Vec::new();
        let mut at = path;
        let mut times = Times::new();
        loop {
            let place = Place::new(at);
            match self.upper().metadata(place.framed()) {
                Ok(metadata) if metadata.file_type == FileType::Directory => {
                    if missing.is_empty() {
                        return Ok(());
                    }
                    times.push((place.framed, metadata.accessed, metadata.modified));
                    break;
                }
                Ok(_) => return Err(Errno::NotDirectory),
                Err(Errno::NoEntry) => missing.push(place),
                Err(error) => return Err(error),
            }
            at = split_last(at).ok_or(Errno::NoEntry)?.0;
        }
        for place in missing.into_iter().rev() {
            let Metadata { file_type, mode, accessed, modified, .. } = self.look(state, &place)?.metadata;
            if file_type != FileType::Directory {
                return Err(Errno::NotDirectory);
            }
            self.upper().make_dir(place.framed(), mode)?;
            times.push((place.framed, accessed, modified));
        }
        self.set_all_times(times)
    }

    fn set_all_times(&self, times: Times) -> Result<()> {
        for (path, accessed, modified) in times {
            self.upper().set_times(&path, SetTime::At(accessed), SetTime::At(modified))?;
        }
        Ok(())
    }
}
