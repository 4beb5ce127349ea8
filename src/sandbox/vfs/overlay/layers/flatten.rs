//! Making one layer of many.

use super::*;
use crate::sandbox::vfs::file_system::{FileSystem, FileType};

impl Layers {
    /// Makes one layer of all frozen ones, so that names are found sooner. That copies what they show together (where
    /// the host's file system can share storage, without its bytes), so it takes time in proportion to that, and is
    /// something for idle moments: once there are more than [`DEPTH_MAX`] layers. Snapshots keep the layers that they
    /// have.
    pub fn flatten(&mut self) -> Result<(), LayersError> {
        self.check_idle()?;
        if self.depth() < 2 {
            return Ok(());
        }
        let mut next = self.manifest.clone();
        let id = Id::new()?;
        let new = self.pool.begin(&id, &next)?;
        let cuts = self.merge_into(&new).inspect_err(|_| drop(remove_folder(&new)))?;
        self.pool.finish(&id, &new)?;
        next.layers = vec![id];
        next.write()?;
        self.cuts = vec![Arc::new(cuts)];
        self.replace_manifest(next)
    }

    /// Copies what all frozen layers show together, without the base, into a new layer.
    fn merge_into(&self, new: &Path) -> Result<Cuts, LayersError> {
        let quota = Arc::new(Quota::unlimited());
        let folder = HostFolder::new(new, Arc::clone(&quota), None).failed("open", new)?;
        let mut lowers = Vec::with_capacity(self.cuts.len());
        for (layer, cuts) in self.manifest.layers.iter().zip(&self.cuts).rev() {
            let path = self.pool.layer(layer);
            let folder = folder.beside(&path, Arc::clone(&quota)).failed("open", &path)?;
            lowers.push(Layer::with_cuts(Arc::new(folder), Arc::clone(cuts)).failed("open", &path)?);
        }
        let upper = Upper::open(Arc::new(folder)).failed("open", new)?;
        upper.lie_on(&lowers).failed("open", new)?;
        let tree = OverlayFs::new(upper.clone(), lowers).failed("open", new)?;
        let mut open = vec![Vec::new()];
        while let Some(at) = open.pop() {
            for entry in tree.read_dir(&at).failed("read", new)? {
                let path = super::super::join(&at, &entry.name);
                // Sockets, which only the host can have made there, are no part of a workspace.
                match tree.core.copy_up(&path, true) {
                    Err(Errno::NotPermitted) if entry.file_type == FileType::CharDevice => {}
                    result => result.failed("write", new)?,
                }
                if entry.file_type == FileType::Directory {
                    open.push(path);
                }
            }
        }
        // Only what the base has is still to be hidden.
        let mut cuts = Cuts::default();
        if self.manifest.base.is_some() {
            for layer in &self.cuts {
                layer.paths().iter().for_each(|path| {
                    cuts.insert(path);
                });
            }
            upper.write_cuts(&cuts).failed("write", new)?;
        }
        Ok(cuts)
    }
}
