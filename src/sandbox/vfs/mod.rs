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
mod overlay;
mod part;
mod path;
mod quota;
mod tree;
mod walk;

pub use file_system::{DirEntry, File, FileSystem, FileType, Metadata, Node, SetTime, Special};
#[cfg(unix)]
pub use host::{HostFile, HostFolder};
pub use memory::{MemoryFile, MemoryTree};
pub use mount::{Mount, MountTable};
pub use operations::OpenOptions;
pub use overlay::{DEPTH_MAX, Id, Layer, Layers, LayersError, OverlayFs, Upper, collect};
pub use part::Part;
pub use path::GuestPath;
pub use quota::Quota;
pub use tree::{Tree, WalkLimits};
#[cfg(test)]
pub use tree::{Walk, remove_tree};
pub use walk::Vfs;

#[cfg(test)]
mod tests;
