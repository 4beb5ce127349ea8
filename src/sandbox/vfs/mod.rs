//! The virtual file system: one tree of guest paths over mounts whose files lie in memory or in host folders.
//!
//! All calls are synchronous and none waits: pipes, FIFOs, devices and `/proc/self` are recognised here and served by
//! the kernel. Paths are bytes. Names are POSIX's.

mod file_system;
#[cfg(unix)]
mod host;
mod inodes;
mod memory;
mod mount;
mod operations;
// Sessions keep their workspaces with these two; nothing in this crate uses all of it.
#[allow(dead_code)]
mod overlay;
mod path;
mod quota;
#[allow(dead_code)]
mod tree;
mod walk;

pub use file_system::{Access, DirEntry, File, FileSystem, FileType, Metadata, Node, SetTime, Special};
#[cfg(unix)]
pub use host::{HostFile, HostFolder};
pub use memory::{MemoryFile, MemoryTree};
pub use mount::{Mount, MountTable};
pub use operations::OpenOptions;
#[cfg(unix)]
#[allow(unused_imports)]
pub use overlay::{DEPTH_MAX, Id, Layers, LayersError, Snapshot, collect};
#[allow(unused_imports)]
pub use overlay::{Layer, OverlayFs, Upper};
pub use path::GuestPath;
pub use quota::Quota;
#[allow(unused_imports)]
pub use tree::{Tree, Visit, Walk, WalkLimits, remove_tree};
pub use walk::Vfs;

#[cfg(test)]
mod tests;
