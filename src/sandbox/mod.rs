//! Runs commands as WebAssembly processes over mounts, under limits. It knows nothing of skills.
//!
//! [`Sandbox`] is what a host uses. Below it: the `kernel` (processes, descriptors, pipes, signals), the `vfs` (mounts
//! and files), the two import modules of guests (`wasi`, `abi`), and `program` (what is installed, compiled and kept).

mod abi;
mod build_error;
mod builder;
mod clock;
#[cfg(feature = "component")]
mod component;
mod disk;
mod engine;
mod errno;
mod guest;
mod hints;
mod kernel;
mod limits;
mod outcome;
mod program;
mod root;
mod run;
mod running;
mod runtime;
mod stdio;
mod tools;
mod vfs;
mod wasi;

pub use build_error::BuildError;
pub use builder::{Mount, Sandbox, SandboxBuilder};
pub(crate) use clock::Clock;
pub use disk::DiskAccount;
pub use engine::Flavour;
pub(crate) use errno::Errno;
#[cfg(feature = "cli")]
pub(crate) use hints::host_path as host_path_hint;
pub use kernel::{CommandPolicy, Trace, TraceEvent};
pub(crate) use limits::LimitCounters;
pub use limits::{LimitError, LimitName, Limits, parse_size};
pub use outcome::Outcome;
#[cfg(feature = "cli")]
pub(crate) use program::serve_compiler;
pub use program::{CommandInfo, ProgramError, Programs, Progress, ProgressEvent};
pub use run::RunBuilder;
pub use running::{Chunk, Running, Stream};
pub use runtime::{Runtime, RuntimeBuilder, RuntimeError};
pub use stdio::{Input, Output};
pub use tools::{HostTool, HostTools};
pub(crate) use vfs::{
    DEPTH_MAX as LAYERS_MAX, FileSystem, FileType, GuestPath, HostFolder, Id, Layer, Layers, LayersError, Metadata,
    Mount as TreeMount, MountTable, OverlayFs, Part, Quota, Tree, Upper, Vfs, WalkLimits, collect as collect_layers,
};
