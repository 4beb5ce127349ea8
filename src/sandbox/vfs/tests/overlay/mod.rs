//! Layers: what they show, what they keep, and what a crash leaves of them.

mod accounts;
mod crash;
mod killed;
mod layers;
mod property;
mod rules;

use std::path::Path;

use super::*;

/// An upper layer in a new folder, or in memory.
pub(super) fn upper(folder: &Path, on_host: bool, quota: &Arc<Quota>) -> Upper {
    if !on_host {
        return Upper::in_memory(quota.clone(), clock()).unwrap();
    }
    for part in ["data", "work"] {
        std::fs::create_dir_all(folder.join(part)).unwrap();
    }
    open_upper(folder, quota)
}

/// The upper layer that a folder holds.
pub(super) fn open_upper(folder: &Path, quota: &Arc<Quota>) -> Upper {
    Upper::open(Arc::new(HostFolder::new(folder, quota.clone(), None).unwrap())).unwrap()
}

pub(super) fn unlimited() -> Arc<Quota> {
    Arc::new(Quota::unlimited())
}

/// The tree of `fill` as a lower layer.
pub(super) fn lower(fill: impl FnOnce(&MemoryTree)) -> Layer {
    let tree = memory();
    fill(&tree);
    Layer::plain(tree).unwrap()
}

pub(super) fn overlay(upper: &Upper, lowers: &[Layer]) -> Vfs {
    vfs([mount("/", Arc::new(OverlayFs::new(upper.clone(), lowers.to_vec()).unwrap()))])
}
