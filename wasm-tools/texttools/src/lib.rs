//! The Unix text and archive tools of the sandbox that are not coreutils.
//!
//! Each tool is a module with a `run(…, args) -> status`; the binaries in `src/bin` dispatch on the name they were
//! started as. Logic and system are apart: everything a tool needs from the kernel goes through [`platform`], which
//! has a native twin, so that the tools can be tested where they are built.

pub mod archive;
pub mod args;
pub mod awk;
pub mod bc;
pub mod cmp;
pub mod column;
pub mod diff;
pub mod file;
pub mod find;
pub mod glob;
pub mod grep;
pub mod input;
pub mod jq;
pub mod output;
pub mod pager;
pub mod patch;
pub mod platform;
pub mod regex;
pub mod sed;
pub mod strings;
pub mod tree;
pub mod xargs;
