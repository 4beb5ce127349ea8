//! What is run, and what it sees.

use std::path::PathBuf;
use std::time::Duration;

use crate::{CommandPolicy, HostTools, Limits};

/// A command to be run in a workspace.
#[derive(Clone, Debug, Default)]
pub struct Command {
    /// Its name and arguments.
    pub argv: Vec<String>,
    /// The working directory, as a path in the workspace.
    pub cwd: String,
    /// Variables, set over the executor's own. Nothing of the host's environment is passed on.
    pub env: Vec<(String, String)>,
    /// Standard input.
    pub stdin: Vec<u8>,
    /// Wall time. `None`: the executor's own limit.
    pub timeout: Option<Duration>,
    /// What the run may use. `None`: the executor's own limits. An executor without such limits holds `wall_time` and
    /// `output` alone.
    pub limits: Option<Limits>,
    /// Which commands may run. An executor that cannot see to it refuses a policy that is not empty.
    pub policy: CommandPolicy,
    /// What the command may ask of the host. An executor that cannot pass it on leaves it out.
    pub host_tools: Option<HostTools>,
    /// Whether the standard streams are a terminal, for commands that are [started](super::Workspace::start): then
    /// standard error comes with standard output.
    pub tty: bool,
}

/// A skill to be staged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StagedSkill {
    /// Its name, which is the name of its folder in `skills/`.
    pub name: String,
    /// Its folder on the host.
    pub folder: PathBuf,
    /// The SHA-256 of its files; the same digest need not be staged again.
    pub digest: String,
}

/// A file or folder of the host that a workspace shows read-only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// On the host.
    pub host: PathBuf,
    /// In the workspace.
    pub path: String,
}
