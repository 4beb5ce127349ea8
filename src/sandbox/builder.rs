//! Making a sandbox: what is mounted where, and what it may use.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::build_error::BuildError;
use super::clock::{Clock, FIXED_START};
use super::disk::DiskAccount;
use super::engine::Flavour;
use super::kernel::{Budget, CommandPolicy, Kernel, KernelOptions, Trace, View};
use super::limits::Limits;
use super::program::DataFile;
use super::run::RunBuilder;
use super::runtime::{Runtime, RuntimeError};
use super::tools::HostTools;
use super::vfs::{FileSystem, GuestPath, HostFile, HostFolder, MemoryTree, MountTable, Quota, Vfs};
use super::{Outcome, vfs};

/// A folder or file of the host, seen in the sandbox.
///
/// ```
/// let mount = wskill::Mount::new("notes", "/workspace/notes").writable();
/// ```
#[derive(Clone, Debug)]
pub struct Mount {
    host: PathBuf,
    guest: String,
    read_only: bool,
    links: Vec<(String, String)>,
}

impl Mount {
    /// A read-only mount of `host` (a folder or a file) at the absolute path `guest`.
    pub fn new(host: impl Into<PathBuf>, guest: impl Into<String>) -> Self {
        Self { host: host.into(), guest: guest.into(), read_only: true, links: Vec::new() }
    }

    /// Lets the guest write. What it makes counts against the limits `disk`, `inodes` and `file_size`.
    #[must_use]
    pub fn writable(mut self) -> Self {
        self.read_only = false;
        self
    }

    /// Lays a symbolic link over the mount's top folder. It hides what the folder has under that name, and nothing is
    /// created on the host.
    #[must_use]
    pub fn link(mut self, name: impl Into<String>, target: impl Into<String>) -> Self {
        self.links.push((name.into(), target.into()));
        self
    }

    /// The folder or file on the host.
    pub fn host(&self) -> &Path {
        &self.host
    }

    /// The path in the sandbox.
    pub fn guest(&self) -> &str {
        &self.guest
    }

    /// Whether the guest may not write.
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    fn source(&self, quota: &Arc<Quota>, fixed_time: Option<i64>) -> std::io::Result<Arc<dyn FileSystem>> {
        // Follows links: the host's owner says what is mounted.
        if std::fs::metadata(&self.host)?.is_dir() {
            Ok(Arc::new(HostFolder::new(&self.host, Arc::clone(quota), fixed_time)?))
        } else {
            Ok(Arc::new(HostFile::new(&self.host, Arc::clone(quota), fixed_time)?))
        }
    }
}

/// Makes a [`Sandbox`].
#[derive(Debug)]
pub struct SandboxBuilder {
    runtime: Option<Arc<Runtime>>,
    limits: Limits,
    mounts: Vec<Mount>,
    trees: Vec<vfs::Mount>,
    cwd: String,
    env: Vec<(String, String)>,
    seed: Option<u64>,
    trace: Option<Trace>,
    policy: CommandPolicy,
    tools: Option<HostTools>,
    disk: Option<DiskAccount>,
    bare: bool,
}

impl SandboxBuilder {
    /// The threads, engine and programs to use. Default: [`Runtime::shared`].
    #[must_use]
    pub fn runtime(mut self, runtime: Arc<Runtime>) -> Self {
        self.runtime = Some(runtime);
        self
    }

    /// What it may use. Default: [`Limits::default`].
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Mounts a folder or file of the host. Nothing of the host is visible but what is mounted.
    #[must_use]
    pub fn mount(mut self, mount: Mount) -> Self {
        self.mounts.push(mount);
        self
    }

    /// Mounts a tree that is there already, before those of [`mount`](Self::mount).
    #[must_use]
    pub(crate) fn tree(mut self, mount: vfs::Mount) -> Self {
        self.trees.push(mount);
        self
    }

    /// The working directory of commands. Default: `/workspace`.
    #[must_use]
    pub fn cwd(mut self, path: impl Into<String>) -> Self {
        self.cwd = path.into();
        self
    }

    /// Sets a variable for all commands. `PATH`, `HOME`, `LANG`, `PWD` and a few more have defaults; nothing of the
    /// host's environment is passed on.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Makes runs repeatable: processes take turns in the order of their numbers, fuel is counted, time is made up (it
    /// begins with 2026 and passes with instructions, questions and sleep), files of the host show that time and
    /// numbers of their own, and randomness comes from `seed`. Standard input is read to its end first. The limit
    /// `wall_time` stays real, and a run that meets it ends anywhere. WASI 0.2 components are refused.
    #[must_use]
    pub fn deterministic(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Told of processes, files and refusals.
    #[must_use]
    pub fn trace(mut self, trace: Trace) -> Self {
        self.trace = Some(trace);
        self
    }

    /// An account of disk space that other sandboxes share, in place of the limits `disk` and `inodes`. Those then
    /// count what lies in memory (`/tmp`, `/home/user`, a workspace without a folder of the host), which stays this
    /// sandbox's own.
    #[must_use]
    pub fn disk(mut self, account: &DiskAccount) -> Self {
        self.disk = Some(account.clone());
        self
    }

    /// Which commands may run. Default: all.
    #[must_use]
    pub fn commands(mut self, policy: CommandPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// What guests may ask of the host. Default: nothing.
    #[must_use]
    pub fn host_tools(mut self, tools: HostTools) -> Self {
        self.tools = Some(tools);
        self
    }

    /// Leaves out the little Linux: guests see the mounts and nothing else, each as a preopened directory under its
    /// path.
    #[must_use]
    pub fn bare(mut self) -> Self {
        self.bare = true;
        self
    }

    /// Makes it.
    ///
    /// # Errors
    /// When a mount is not there or its path is no path, or the runtime cannot be made.
    pub fn build(self) -> Result<Sandbox, BuildError> {
        let runtime = match self.runtime {
            Some(runtime) => runtime,
            None => Runtime::shared()?,
        };
        check_overlap(&self.mounts)?;
        let clock = Arc::new(if self.seed.is_some() { Clock::deterministic() } else { Clock::real() });
        let budget = Budget::new(&self.limits, &clock, self.trace.as_ref(), self.disk.as_ref());
        let fixed_time = self.seed.map(|_| FIXED_START as i64);
        let mut table = MountTable::new();
        let mut preopens = Vec::new();
        if self.bare {
            let nothing = MemoryTree::new(Arc::new(Quota::unlimited()), Arc::clone(&clock));
            add(&mut table, GuestPath::root(), Arc::new(nothing), true, Vec::new())?;
        } else {
            mount_system(&mut table, &runtime, &budget.memory_trees, &clock)?;
            preopens.push(GuestPath::root());
        }
        for mount in self.trees {
            let place = mount.at.to_string();
            table.add(mount).map_err(|_| BuildError::Place(place))?;
        }
        for mount in &self.mounts {
            let at = guest_path(&mount.guest)?;
            let failed = |source| BuildError::Mount { host: mount.host.clone(), guest: mount.guest.clone(), source };
            let source = mount.source(&budget.disk, fixed_time).map_err(failed)?;
            let links =
                mount.links.iter().map(|(name, target)| (name.clone().into_bytes(), target.clone().into_bytes()));
            if self.bare {
                preopens.push(at.clone());
            }
            add(&mut table, at, source, mount.read_only, links.collect())?;
        }
        let cwd = guest_path(&self.cwd)?;
        let flavour = if self.limits.fuel.is_some() || self.seed.is_some() { Flavour::Fuel } else { Flavour::Epoch };
        let view = View { preopens: preopens.into(), guess_relative: !self.bare };
        let kernel = Kernel::new(KernelOptions {
            ticking: runtime.ticking()?,
            runtime,
            vfs: Vfs::new(table),
            view,
            limits: self.limits,
            budget,
            flavour,
            clock,
            seed: self.seed,
            trace: self.trace,
            policy: self.policy,
            tools: self.tools,
        });
        let mut env = if self.bare { Vec::new() } else { default_env(&self.cwd) };
        for (name, value) in self.env {
            set_env(&mut env, name, value);
        }
        Ok(Sandbox {
            kernel,
            cwd,
            env,
            #[cfg(feature = "component")]
            mounts: self.mounts,
        })
    }
}

/// A read-only mount that another one makes writable by a second way would be no read-only mount.
fn check_overlap(mounts: &[Mount]) -> Result<(), BuildError> {
    let real = |mount: &Mount| std::fs::canonicalize(&mount.host).ok();
    for writable in mounts.iter().filter(|mount| !mount.read_only) {
        let Some(open) = real(writable) else { continue };
        for guarded in mounts.iter().filter(|mount| mount.read_only) {
            let Some(closed) = real(guarded) else { continue };
            if closed.starts_with(&open) || open.starts_with(&closed) {
                return Err(BuildError::Overlap(guarded.host.clone()));
            }
        }
    }
    Ok(())
}

fn guest_path(path: &str) -> Result<GuestPath, BuildError> {
    let plain = if path == "/" { path } else { path.trim_end_matches('/') };
    GuestPath::new(plain.as_bytes()).map_err(|_| BuildError::GuestPath(path.into()))
}

/// The system's tree, the programs' data and the writable folders of a small Linux.
fn mount_system(
    table: &mut MountTable,
    runtime: &Arc<Runtime>,
    quota: &Arc<Quota>,
    clock: &Arc<Clock>,
) -> Result<(), BuildError> {
    add(table, GuestPath::root(), runtime.system_tree()?, true, Vec::new())?;
    for (path, file) in runtime.programs().data().map_err(RuntimeError::from)? {
        if let DataFile::Mounted(source) = file {
            add(table, guest_path(path)?, Arc::clone(source), true, Vec::new())?;
        }
    }
    for (path, mode) in [("/tmp", 0o1777), ("/home/user", 0o755), ("/workspace", 0o755)] {
        let source = Arc::new(MemoryTree::new(Arc::clone(quota), Arc::clone(clock)));
        source.add_dir("/", mode).map_err(|_| BuildError::Place(path.into()))?;
        add(table, guest_path(path)?, source, false, Vec::new())?;
    }
    Ok(())
}

type Links = Vec<(Vec<u8>, Vec<u8>)>;

fn add(
    table: &mut MountTable,
    at: GuestPath,
    source: Arc<dyn FileSystem>,
    read_only: bool,
    links: Links,
) -> Result<(), BuildError> {
    let place = at.to_string();
    table.add(vfs::Mount { at, source, read_only, links }).map_err(|_| BuildError::Place(place))
}

fn default_env(cwd: &str) -> Vec<(String, String)> {
    [
        ("PATH", "/usr/local/bin:/usr/bin:/bin"),
        ("HOME", "/home/user"),
        ("USER", "root"),
        ("SHELL", "/bin/bash"),
        ("LANG", "C.UTF-8"),
        ("TERM", "dumb"),
        ("PWD", cwd),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .to_vec()
}

/// Sets a variable, in the place of one with the same name.
pub fn set_env(env: &mut Vec<(String, String)>, name: String, value: String) {
    match env.iter_mut().find(|(known, _)| *known == name) {
        Some((_, old)) => *old = value,
        None => env.push((name, value)),
    }
}

/// A sandbox: a process table, mounts and a budget. Dropping it ends all that runs in it.
///
/// It may be used from any number of tasks at once; runs share its files and its memory budget.
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let sandbox = wskill::Sandbox::builder().build()?;
/// let outcome = sandbox.run(["bash", "-c", "echo hi | tr a-z A-Z"]).await?;
/// assert_eq!(outcome.stdout, b"HI\n");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Sandbox {
    pub(super) kernel: Arc<Kernel>,
    pub(super) cwd: GuestPath,
    pub(super) env: Vec<(String, String)>,
    #[cfg(feature = "component")]
    pub(super) mounts: Vec<Mount>,
}

impl Sandbox {
    /// Begins to make one.
    pub fn builder() -> SandboxBuilder {
        SandboxBuilder {
            runtime: None,
            limits: Limits::default(),
            mounts: Vec::new(),
            trees: Vec::new(),
            cwd: "/workspace".into(),
            env: Vec::new(),
            seed: None,
            trace: None,
            policy: CommandPolicy::new(),
            tools: None,
            disk: None,
            bare: false,
        }
    }

    /// A command to be run: its name and arguments.
    pub fn command<A: Into<Vec<u8>>>(&self, argv: impl IntoIterator<Item = A>) -> RunBuilder<'_> {
        RunBuilder::new(self, argv.into_iter().map(Into::into).collect())
    }

    /// Runs a command without standard input and captures its output. Dropping the future ends the run.
    ///
    /// # Errors
    /// When the host fails; a command that fails is an [`Outcome`].
    pub async fn run<A: Into<Vec<u8>>>(&self, argv: impl IntoIterator<Item = A>) -> Result<Outcome, BuildError> {
        self.command(argv).run().await
    }

    /// Bytes that the guest's files take now, of the limit `disk` or the account that it shares.
    pub fn disk_used(&self) -> u64 {
        self.kernel.budget.disk.used().bytes
    }

    /// Whether `path` is a folder in the sandbox.
    pub fn has_folder(&self, path: &Path) -> bool {
        let Some(path) = path.to_str() else { return false };
        let found = self.kernel.vfs.metadata(&self.cwd, path.as_bytes(), true);
        found.is_ok_and(|metadata| metadata.file_type == vfs::FileType::Directory)
    }

    /// Ends all that runs and waits until everything is given back.
    pub async fn close(self) {
        self.kernel.doom_all();
        self.kernel.idle().await;
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        self.kernel.doom_all();
    }
}
