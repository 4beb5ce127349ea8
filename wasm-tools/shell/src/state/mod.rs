//! What a shell environment is: everything a subshell gets a copy of.

pub mod access;
pub mod dynamic;
pub mod jobs;
pub mod options;
pub mod positional;
pub mod scope;
pub mod transfer;
pub mod vars;

use crate::ast::FunctionDef;
use crate::parse::Aliases;
use jobs::Jobs;
use options::{SetOptions, Shopts};
use positional::Positional;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::rc::Rc;
use vars::{FxMap, Name, Vars};

/// Pseudo signals of `trap`.
pub const TRAP_EXIT: i32 = 0;
pub const TRAP_DEBUG: i32 = 1001;
pub const TRAP_ERR: i32 = 1002;
pub const TRAP_RETURN: i32 = 1003;

/// Signals and what `trap` set for them; empty means ignored.
pub type Traps = BTreeMap<i32, Rc<[u8]>>;

/// A function as the shell keeps it.
#[derive(Debug, Clone)]
pub struct Function {
    pub def: Rc<FunctionDef>,
    pub exported: bool,
    pub readonly: bool,
    pub trace: bool,
}

/// Why a scope was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScopeKind {
    Function,
    /// Assignments before a command.
    Temporary,
}

/// Variables to restore when a function or a command with assignments ends.
#[derive(Debug, Clone)]
pub struct Scope {
    pub kind: ScopeKind,
    pub saved: Vec<(Name, Option<Rc<vars::Var>>)>,
    /// Options that `local -` restores.
    pub options: Option<Box<SetOptions>>,
}

/// A function call or a sourced file, for FUNCNAME, BASH_SOURCE and `caller`.
#[derive(Debug, Clone)]
pub struct Call {
    pub name: Rc<[u8]>,
    pub source: Rc<[u8]>,
    pub line: u32,
    pub function: bool,
    /// Arguments for BASH_ARGV, when `extdebug` was set at the call.
    pub args: Option<Rc<Vec<Vec<u8>>>>,
}

/// The lines of `history`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct History {
    pub lines: Vec<Vec<u8>>,
    /// How many older ones were dropped.
    pub dropped: usize,
    /// How many of the last ones no file has yet.
    pub added: usize,
    /// Lines of the file that were read or written.
    pub in_file: usize,
}

/// State of `getopts` between calls.
#[derive(Debug, Clone, Default)]
pub struct Getopts {
    pub index: usize,
    pub offset: usize,
}

/// Soft and hard value of a resource; `None` is unlimited.
pub type Limit = (Option<u64>, Option<u64>);

/// A shell environment.
#[derive(Clone)]
pub struct State {
    pub vars: Rc<Vars>,
    pub scopes: Vec<Scope>,
    pub functions: Rc<FxMap<Name, Function>>,
    pub aliases: Rc<Aliases>,
    pub opts: SetOptions,
    pub shopts: Rc<Shopts>,
    pub arg0: Rc<[u8]>,
    pub positional: Rc<Positional>,
    pub traps: Rc<Traps>,
    /// The parent's traps, which a subshell lists until it sets one of its own.
    pub inherited_traps: Option<Rc<Traps>>,
    pub jobs: Jobs,
    pub status: i32,
    pub pipe_status: Vec<i32>,
    pub last_background: Option<i32>,
    /// `$_`
    pub last_argument: Rc<[u8]>,
    /// `$_` is readonly.
    pub frozen_argument: bool,
    pub calls: Vec<Call>,
    /// The script's arguments for BASH_ARGV, as they were when somebody first asked.
    pub script_args: Option<Rc<Vec<Vec<u8>>>>,
    pub source: Rc<[u8]>,
    pub line: u32,
    pub dirs: Rc<Vec<Vec<u8>>>,
    pub hash: Rc<BTreeMap<Vec<u8>, (Vec<u8>, u32)>>,
    pub disabled: Rc<Vec<Vec<u8>>>,
    pub getopts: Getopts,
    pub loops: u32,
    /// Whether standard input is what a compound command or a pipeline made it: background commands keep it then.
    pub stdin_redirected: bool,
    /// Depth of conditions in which `set -e` is off.
    pub errexit_off: u32,
    pub subshell: u32,
    /// Depth of command substitutions, for the trace.
    pub substitutions: u32,
    pub bash_pid: i32,
    pub random: u32,
    pub seconds_base: i64,
    /// Whether a DEBUG, ERR or RETURN trap is running.
    pub in_trap: bool,
    pub completions: Rc<BTreeMap<Vec<u8>, Vec<u8>>>,
    pub history: Rc<History>,
    /// Logical working directory.
    pub cwd: Rc<[u8]>,
    pub command_text: Rc<[u8]>,
    /// What `ulimit` has set, by the resource's letter.
    pub limits: Rc<BTreeMap<u8, Limit>>,
}

impl State {
    /// Whether a function is being executed.
    pub fn in_function(&self) -> bool {
        self.calls.iter().any(|c| c.function)
    }
}
