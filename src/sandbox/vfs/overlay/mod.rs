//! Copy-on-write layers: one tree of files over a stack of trees, of which only the uppermost is written.
//!
//! The terms and the rules are those of Linux's overlayfs:
//!
//! - A name is looked up from the upper layer down; the first layer that has it decides. Directories that several
//!   layers have are merged.
//! - What is changed is first copied to the upper layer (*copy-up*), with the directories above it: when a file is
//!   opened for writing, when its mode or times are set, when it gets a second name or another one. An opening that
//!   cuts the file copies no bytes. Lower layers are never written.
//! - What is removed from a lower layer leaves a *whiteout* in the upper one; a directory that is made where another
//!   was removed is *opaque*. Both are one kind of mark here, a cut: beneath it no lower layer shows.
//! - A directory that a lower layer has a part in is copied with everything in it when it is renamed, up to 1,000 names
//!   and 64 MiB. What is more answers `CrossDevice`, as on Linux all such directories do, and `mv` copies it then.
//! - A file of a lower layer with several names loses its other names when it is copied: each name is a file for itself
//!   from then on. Files of the upper layer keep all their names.
//! - A file keeps its inode number when it is copied (unless it had several names), for as long as the upper layer is
//!   not opened anew; directories keep that of their lowest layer for ever.
//! - A descriptor that reads a file of a lower layer reads the copy as soon as there is one. (On Linux it reads the old
//!   content for ever.)
//! - A copy gets the times that the file shows: made-up ones, where the mount has those.
//!
//! What the upper layer gains is charged to its account: copies with all their bytes, and each whiteout and opaque
//! mark as an inode (with the bytes of its path when it is kept in a file). Lower layers cost nothing. So removing a
//! file of a lower layer can fail with `NoSpace`, as it can on Linux.
//!
//! # Layers on the host
//!
//! A layer's folder holds `data/`, the only part that guests see; `work/`, where copies lie until they are whole; and
//! the file `marks`, to which each cut is added in one write. Guests can reach neither of the last two, and so can
//! neither see nor forge a mark.
//!
//! A crash between any two steps leaves either what was before or what was to be, because a step that shows is always
//! one call of the host's file system, and everything before it changes nothing that shows:
//!
//! - Copy-up: make the copy in `work/`, make the directories above it (which are merged with those of the lower layers,
//!   so that nothing changes), rename the copy into place: same content, same mode, same times.
//! - Removing: write the cut, then remove what the upper layer has. Between the two the upper layer's file shows, which
//!   is what showed before. The other order would bring back the lower layer's.
//! - Renaming: copy up, of a directory everything in it; write the cut at the old name (the copy still shows there);
//!   rename within the upper layer. Where a directory replaces an empty one that a lower layer has, that one is made in
//!   the upper layer and cut first, still empty.
//! - Making a directory in place of one that was removed is one step: the cut that removed the old one stays, and makes
//!   the new one opaque.
//!
//! This holds for a process that is killed. When the whole machine fails, the host's file system may have kept a later
//! step and lost an earlier one.

mod changes;
mod copy_up;
mod cuts;
mod file;
mod layer;
#[cfg(unix)]
mod layers;
mod marks;

pub use layer::{Layer, Upper};
#[cfg(unix)]
pub use layers::{DEPTH_MAX, Id, Layers, LayersError, collect};

use std::fmt;
use std::sync::Arc;

use self::cuts::Cuts;
use self::file::{LowerFile, UpperFile};
use self::layer::{DATA, Shared, State};
use super::file_system::{Access, DirEntry, File, FileSystem, FileType, Metadata, Node, SetTime, Special, next_device};
use super::quota::Quota;
use crate::sandbox::errno::{Errno, Result};

/// A tree over layers: see the module's documentation.
pub struct OverlayFs {
    core: Arc<Core>,
}

impl OverlayFs {
    /// The tree of `upper` over `lowers`, the uppermost first. Only what changes is in `upper`.
    pub fn new(upper: Upper, lowers: Vec<Layer>) -> Result<Self> {
        let upper_device = upper.tree.metadata(DATA.as_bytes())?.device;
        let mut devices = vec![upper_device];
        for lower in &lowers {
            if !devices.contains(&lower.device) {
                devices.push(lower.device);
            }
        }
        Ok(Self { core: Arc::new(Core { upper, lowers, device: next_device(), devices }) })
    }
}

impl fmt::Debug for OverlayFs {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("OverlayFs").field("lowers", &self.core.lowers.len()).finish_non_exhaustive()
    }
}

/// What an overlay and its open files share.
#[derive(Debug)]
struct Core {
    upper: Upper,
    lowers: Vec<Layer>,
    /// The overlay's device number.
    device: u64,
    /// Those of the layers, the upper layer's first.
    devices: Vec<u64>,
}

/// What the layers have at a path.
#[derive(Debug)]
struct Found {
    /// As guests see it.
    metadata: Metadata,
    /// The layer that decides: 0 is the upper one.
    layer: usize,
    /// For a directory, the layers that have it.
    merged: Vec<usize>,
}

/// A path in its two forms.
struct Place {
    /// `data/` and the path.
    framed: Vec<u8>,
    skip: usize,
}

impl Place {
    fn new(path: &[u8]) -> Self {
        if path.is_empty() {
            return Self { framed: DATA.into(), skip: DATA.len() };
        }
        Self { framed: join(DATA.as_bytes(), path), skip: DATA.len() + 1 }
    }

    /// In a layer.
    fn framed(&self) -> &[u8] {
        &self.framed
    }

    /// As the guest says it.
    fn plain(&self) -> &[u8] {
        self.framed.get(self.skip..).unwrap_or_default()
    }
}

/// The path of the entry `name` of a directory.
fn join(directory: &[u8], name: &[u8]) -> Vec<u8> {
    if directory.is_empty() { name.to_vec() } else { [directory, b"/", name].concat() }
}

impl Core {
    fn shared(&self) -> &Shared {
        &self.upper.shared
    }

    fn device(&self) -> u64 {
        self.device
    }

    fn upper(&self) -> &dyn FileSystem {
        &*self.upper.tree
    }

    /// A layer's tree and the path in it.
    fn at<'a>(&'a self, layer: usize, place: &'a Place) -> (&'a dyn FileSystem, &'a [u8]) {
        match layer.checked_sub(1).and_then(|lower| self.lowers.get(lower)) {
            None => (self.upper(), place.framed()),
            Some(lower) if lower.framed => (lower.tree(), place.framed()),
            Some(lower) => (lower.tree(), place.plain()),
        }
    }

    fn cuts<'a>(&'a self, state: &'a State, layer: usize) -> &'a Cuts {
        layer.checked_sub(1).and_then(|lower| self.lowers.get(lower)).map_or(&state.cuts, |lower| &lower.cuts)
    }

    /// The inode number that guests see of a layer's file. Layers on one host file system need no distinction; of the
    /// others each has its own first byte, which hosts do not use.
    fn number(&self, state: &State, layer: usize, device: u64, inode: u64) -> u64 {
        let known = self.devices.iter().position(|known| *known == device);
        if layer == 0
            && known == Some(0)
            && let Some(origin) = state.origins.get(&inode)
        {
            return *origin;
        }
        let tag = known.map_or(128 + device % 128, |known| known as u64);
        (inode ^ tag << 56).max(1)
    }

    fn found(&self, state: &State, layer: usize, metadata: Metadata) -> Found {
        let inode = self.number(state, layer, metadata.device, metadata.inode);
        let merged = if metadata.file_type == FileType::Directory { vec![layer] } else { Vec::new() };
        Found { metadata: Metadata { device: self.device, inode, ..metadata }, layer, merged }
    }

    /// What is at a path.
    fn look(&self, state: &State, place: &Place) -> Result<Found> {
        self.look_from(state, place, 0)
    }

    /// What would be at a path if the upper layer had nothing there.
    fn below(&self, state: &State, place: &Place) -> Result<Option<Found>> {
        if state.cuts.hide(place.plain()) {
            return Ok(None);
        }
        match self.look_from(state, place, 1) {
            Ok(found) => Ok(Some(found)),
            Err(Errno::NoEntry | Errno::NotDirectory | Errno::Loop) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn look_from(&self, state: &State, place: &Place, first: usize) -> Result<Found> {
        let mut found: Option<Found> = None;
        for layer in first..=self.lowers.len() {
            let (tree, path) = self.at(layer, place);
            match (tree.metadata(path), &mut found) {
                (Ok(metadata), None) if metadata.file_type == FileType::Directory => {
                    found = Some(self.found(state, layer, metadata));
                }
                (Ok(metadata), Some(found)) if metadata.file_type == FileType::Directory => {
                    found.metadata.inode = self.number(state, layer, metadata.device, metadata.inode);
                    // How many directories lie in a merged one is not known; programs take 1 for that.
                    found.metadata.links = 1;
                    found.merged.push(layer);
                }
                (Ok(metadata), None) => return Ok(self.found(state, layer, metadata)),
                (Err(Errno::NoEntry), _) => {}
                // Something that is no directory ends the merging.
                (Ok(_) | Err(Errno::NotDirectory | Errno::Loop), Some(_)) => break,
                (Err(error), _) => return Err(error),
            }
            if self.cuts(state, layer).hide(place.plain()) {
                break;
            }
        }
        found.ok_or(Errno::NoEntry)
    }

    /// Opens a file of the upper layer.
    fn open_upper(self: &Arc<Self>, state: &State, place: &Place, access: Access) -> Result<Node> {
        Ok(match self.upper().open(place.framed(), access)? {
            Node::File(file) => Node::File(self.wrap(state, file)?),
            node => node,
        })
    }

    fn wrap(self: &Arc<Self>, state: &State, file: Arc<dyn File>) -> Result<Arc<dyn File>> {
        let Metadata { device, inode, .. } = file.metadata()?;
        let inode = self.number(state, 0, device, inode);
        Ok(Arc::new(UpperFile { file, inode, core: Arc::clone(self) }))
    }

    /// The merged entries of a directory by name.
    fn list(&self, state: &State, place: &Place, merged: &[usize]) -> Result<Vec<DirEntry>> {
        let mut entries: Vec<DirEntry> = Vec::new();
        for (position, &layer) in merged.iter().enumerate() {
            let (tree, path) = self.at(layer, place);
            let device = match layer.checked_sub(1).and_then(|lower| self.lowers.get(lower)) {
                Some(lower) => lower.device,
                None => self.devices.first().copied().unwrap_or_default(),
            };
            let above: Vec<_> =
                merged.iter().take(position).map(|&above| self.cuts(state, above).names(place.plain())).collect();
            let known = entries.len();
            for mut entry in tree.read_dir(path)? {
                entry.inode = self.number(state, layer, device, entry.inode);
                if above.iter().any(|cuts| cuts.contains(&entry.name)) {
                    continue;
                }
                let listed = entries.get(..known).unwrap_or_default();
                match listed.binary_search_by(|listed| listed.name.cmp(&entry.name)) {
                    Err(_) => entries.push(entry),
                    Ok(position) => {
                        let merges = |entry: &DirEntry| entry.file_type == FileType::Directory;
                        if let Some(listed) =
                            entries.get_mut(position).filter(|listed| merges(listed) && merges(&entry))
                        {
                            listed.inode = entry.inode;
                        }
                    }
                }
            }
            entries.sort_by(|one, other| one.name.cmp(&other.name));
        }
        Ok(entries)
    }
}
