//! Runs untrusted Agent Skills as WebAssembly processes: bash and Python scripts, unmodified, calling each other and the
//! Unix tools, in a sandbox that a skill cannot leave.

#[cfg(feature = "agent")]
pub mod agent;
pub mod artifact;
pub mod audit;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
#[cfg(feature = "cli")]
pub mod config;
pub mod executor;
#[cfg(feature = "cli")]
pub mod inspect;
pub mod policy;
pub mod prompt;
pub mod repository;
mod sandbox;
pub mod session;
pub mod skill;
pub mod source;
pub mod tools;
pub mod workspace;

pub use sandbox::{
    BuildError, Chunk, CommandInfo, CommandPolicy, DiskAccount, Flavour, HostTool, HostTools, Input, LimitError,
    LimitName, Limits, Mount, Outcome, Output, ProgramError, Programs, Progress, ProgressEvent, RunBuilder, Running,
    Runtime, RuntimeBuilder, RuntimeError, Sandbox, SandboxBuilder, Stream, Trace, TraceEvent, parse_size,
};

/// The examples of the README are tests too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
