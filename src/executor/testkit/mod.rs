//! Checks whether an executor keeps what [the module above](super) says.
//!
//! For the tests of whoever writes an [`Executor`]:
//!
//! ```no_run
//! use std::sync::Arc;
//! use wskill::executor::testkit::{Capability::*, check};
//! use wskill::executor::{Executor, ExecutorError, LocalExecutor};
//!
//! # async fn example() {
//! // Called once, and once more for the executor after a restart: both must use the same storage.
//! let make = || -> Result<Arc<dyn Executor>, ExecutorError> {
//!     Ok(Arc::new(LocalExecutor::without_any_isolation().root("/tmp/testkit").build()))
//! };
//! let report = check(make, &[Terminal, Policy, HostTools, Links, Forks, Snapshots]).await;
//! println!("{report}");
//! assert!(report.passed());
//! # }
//! ```

mod files;
mod hostile;
mod interactive;
mod kit;
mod lifetime;
mod report;
mod runs;
mod skills;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use kit::{Check, Kit};
pub use report::{CheckResult, Report, Verdict};

use super::{Executor, ExecutorError};

/// What an executor may lack. Such an executor must say so in its own words: what is asked of it is an error, or left
/// out where the trait says that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Capability {
    /// Commands with a terminal: [`Command::tty`](super::Command::tty).
    Terminal,
    /// A policy of commands: [`Command::policy`](super::Command::policy).
    Policy,
    /// Tools of the host: [`Command::host_tools`](super::Command::host_tools).
    HostTools,
    /// Files of the host that are shown: [`Workspace::link`](super::Workspace::link).
    Links,
    /// Forks: [`Executor::fork`].
    Forks,
    /// Snapshots: [`Workspace::snapshot`](super::Workspace::snapshot).
    Snapshots,
    /// Workspaces that are there after a restart.
    Restart,
    /// Skills that no command can write to. Without it they have no write bits, which do not bind the superuser.
    ReadOnlySkills,
}

impl Capability {
    /// Its name in a [`Report`].
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::Policy => "policy",
            Self::HostTools => "host_tools",
            Self::Links => "links",
            Self::Forks => "forks",
            Self::Snapshots => "snapshots",
            Self::Restart => "restart",
            Self::ReadOnlySkills => "read_only_skills",
        }
    }
}

/// The longest time that a check may take.
const TIMEOUT: Duration = Duration::from_secs(120);

type Running<'a> = Pin<Box<dyn Future<Output = Check> + Send + 'a>>;

macro_rules! checks {
    ($($module:ident: $($name:ident),+;)+) => {
        /// The checks, by name.
        const CHECKS: &[(&str, for<'a> fn(&'a Kit) -> Running<'a>)] = &[$($(
            (concat!(stringify!($module), "::", stringify!($name)), |kit| Box::pin($module::$name(kit))),
        )+)+];
    };
}

checks! {
    files: folders, write_and_read, refused_calls, atomic_writes, modes, listings, removal;
    hostile: paths, links_inside, links_outside, names, special_files, deep_folders;
    skills: staging, read_only, restaging, siblings, refused_skills;
    runs: streams, arguments, exit_codes, working_directories, environment, standard_input, timeouts, output_limit,
        dropped_runs, processes_left_behind, policy, host_tools, many_at_once;
    interactive: conversation, signals, dropped_commands, timeouts_of_commands, terminal;
    lifetime: names_of_workspaces, same_workspace, workspaces_apart, workspace_removal, links_to_the_host, forks, snapshots,
        restart;
}

/// Checks an executor. `make` answers executors over the same storage; it is called twice. What is in `without` it need
/// not be able to do.
///
/// Commands are given to `sh`, with the usual small tools beside it. Workspaces have names that begin with `testkit-`,
/// and are removed. To be called within a tokio runtime with timers, best with several threads.
pub async fn check<F>(make: F, without: &[Capability]) -> Report
where
    F: Fn() -> Result<Arc<dyn Executor>, ExecutorError>,
{
    let mut report = Report::default();
    let kit = match make().and_then(|first| Kit::new(first, make()?, without)) {
        Ok(kit) => kit,
        Err(error) => {
            report.add("make", Verdict::Failed(format!("the executor cannot be made: {error}")));
            return report;
        }
    };
    for (name, run) in CHECKS {
        let verdict = match tokio::time::timeout(TIMEOUT, run(&kit)).await {
            Ok(Ok(None)) => Verdict::Passed,
            Ok(Ok(Some(lacking))) => Verdict::Skipped(lacking),
            Ok(Err(failure)) => Verdict::Failed(failure.to_string()),
            Err(_) => Verdict::Failed(format!("took longer than {} s", TIMEOUT.as_secs())),
        };
        report.add(name, verdict);
        kit.clean().await;
    }
    report
}
