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
mod tree;
mod vfs;
mod wasi;

pub use build_error::BuildError;
pub use builder::{Mount, Sandbox, SandboxBuilder};
pub use disk::DiskAccount;
pub use engine::Flavour;
pub(crate) use errno::Errno;
#[cfg(feature = "cli")]
pub(crate) use hints::host_path as host_path_hint;
pub use kernel::{CommandPolicy, Trace, TraceEvent};
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
pub(crate) use tree::Tree;
pub(crate) use vfs::{FileSystem, FileType, GuestPath, HostFolder, Metadata, Mount as TreeMount, Quota};
