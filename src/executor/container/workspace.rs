//! A folder of the host that a container has mounted.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use sha2::{Digest, Sha256};

use super::super::host::HostWorkspace;
use super::super::native::{Bounds, NativeCommand, Program};
use super::super::{
    Command, Entry, EntryKind, ExecutorError, FileError, Link, Listing, Query, RunningCommand, StagedSkill, Workspace,
};
use super::Shared;
use super::cli::mount;
use super::command::{Begun, ContainerCommand, run};
use crate::Outcome;

/// Where commands see the workspace.
const ROOT: &str = "/workspace";
/// The folder of skills, which commands cannot write to.
const SKILLS: &str = "skills";
/// What a container carries to tell how it was made.
const LABEL: &str = "wskill.setup";

/// A workspace of a [`ContainerExecutor`](super::ContainerExecutor).
#[derive(Debug)]
pub(super) struct ContainerWorkspace {
    name: String,
    shared: Arc<Shared>,
    host: HostWorkspace,
    container: String,
    /// How the container is made, and a digest of that.
    setup: (Vec<String>, String),
    /// Of several commands one makes the container.
    making: tokio::sync::Mutex<()>,
}

/// The container's name. Workspaces of the same name in other folders have other containers.
pub(super) fn container_name(folder: &Path, name: &str) -> String {
    format!("wskill-{}-{name}", digest(folder.as_os_str().as_encoded_bytes()))
}

/// The first digits of a SHA-256.
fn digest(bytes: &[u8]) -> String {
    const BYTES: usize = 6;
    Sha256::digest(bytes).iter().take(BYTES).map(|byte| format!("{byte:02x}")).collect()
}

impl ContainerWorkspace {
    /// Takes up the workspace or makes it.
    pub(super) fn open(name: &str, shared: Arc<Shared>) -> Result<Self, ExecutorError> {
        let host = HostWorkspace::open(&shared.root.join(name), Some(ROOT), Arc::clone(&shared.stager))?;
        host.files.make_folder(SKILLS)?;
        let container = container_name(&host.folder, name);
        let setup = setup(&shared, &host.folder)?;
        Ok(Self { name: name.to_owned(), shared, host, container, setup, making: tokio::sync::Mutex::default() })
    }

    /// Makes the container when it does not run, or was made in another way.
    async fn ready(&self) -> Result<(), ExecutorError> {
        let _one = self.making.lock().await;
        let cli = &self.shared.cli;
        let (arguments, digest) = &self.setup;
        let format = format!("{{{{.State.Running}}}} {{{{index .Config.Labels \"{LABEL}\"}}}}");
        let found = cli.ask(&["inspect", "--type", "container", "--format", &format, &self.container]).await?;
        if found.success() && String::from_utf8_lossy(&found.stdout).trim() == format!("true {digest}") {
            return Ok(());
        }
        cli.remove(&self.container).await?;
        let label = format!("{LABEL}={digest}");
        let mut all = vec!["run", "-d", "--name", &self.container, "--label", &label];
        all.extend(arguments.iter().map(String::as_str));
        cli.must("make a container", &all).await.map(drop)
    }

    fn check(&self, command: &Command) -> Result<(), ExecutorError> {
        if !command.policy.is_empty() {
            return Err(unsupported("policy of commands"));
        }
        match self.host.files.stat(&command.cwd)?.kind {
            EntryKind::Folder => Ok(()),
            _ => Err(FileError::NotAFolder(command.cwd.clone()).into()),
        }
    }

    /// The call that runs a command. Standard input is always passed on: without it some engines read the terminal's.
    fn exec(&self, command: &Command, begun: &Begun) -> Result<Program, ExecutorError> {
        let entry = self.host.files.stat(&command.cwd)?;
        let cwd = if entry.path.is_empty() { ROOT.to_owned() } else { format!("{ROOT}/{}", entry.path) };
        let mut arguments = vec!["exec".to_owned(), "-i".to_owned(), "--workdir".to_owned(), cwd];
        let own = [("HOME", ROOT), ("LANG", "C.UTF-8")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        for (name, value) in own.iter().chain(&command.env) {
            arguments.extend(["--env".to_owned(), format!("{name}={value}")]);
        }
        arguments.push(self.container.clone());
        arguments.extend(begun.argv(&command.argv));
        Ok(self.shared.cli.call(arguments))
    }

    fn begin(&self) -> Begun {
        Begun::new(Arc::clone(&self.shared), self.container.clone())
    }
}

/// The arguments that make a container, and a digest of them.
fn setup(shared: &Shared, folder: &Path) -> Result<(Vec<String>, String), ExecutorError> {
    let (user, group) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    let limits = &shared.limits;
    let options = [
        ("--user", format!("{user}:{group}")),
        ("--network", "none".to_owned()),
        ("--cap-drop", "ALL".to_owned()),
        ("--security-opt", "no-new-privileges".to_owned()),
        ("--pids-limit", limits.processes.to_string()),
        ("--memory", format!("{}b", limits.memory)),
        // Without swap beyond it.
        ("--memory-swap", format!("{}b", limits.memory)),
        ("--ulimit", format!("nofile={0}:{0}", limits.open_files)),
        ("--tmpfs", "/tmp:rw,exec,nosuid,nodev,mode=1777".to_owned()),
        ("--mount", mount(folder, ROOT, false)?),
        ("--mount", mount(&folder.join(SKILLS), &format!("{ROOT}/{SKILLS}"), true)?),
        ("--workdir", ROOT.to_owned()),
        ("--entrypoint", "sleep".to_owned()),
    ];
    // The first process must take care of processes whose parents have ended.
    let mut arguments = vec!["--init".to_owned(), "--read-only".to_owned()];
    if shared.cli.is_podman() {
        // Files in the workspace belong to the user of this process, within and without.
        arguments.push("--userns=keep-id".to_owned());
    }
    for (name, value) in options {
        arguments.extend([name.to_owned(), value]);
    }
    arguments.extend([shared.image.clone(), "infinity".to_owned()]);
    let digest = digest(arguments.join("\0").as_bytes());
    Ok((arguments, digest))
}

fn unsupported(what: &'static str) -> ExecutorError {
    ExecutorError::Unsupported { executor: "container".to_owned(), what }
}

#[async_trait]
impl Workspace for ContainerWorkspace {
    fn name(&self) -> &str {
        &self.name
    }

    fn root(&self) -> &str {
        ROOT
    }

    async fn stage(&self, skill: &StagedSkill) -> Result<(), ExecutorError> {
        self.host.stage(skill).await
    }

    async fn list(&self, query: &Query<'_>) -> Result<Listing, ExecutorError> {
        self.host.files.list(query)
    }

    async fn stat(&self, path: &str) -> Result<Entry, ExecutorError> {
        self.host.files.stat(path)
    }

    async fn read(&self, path: &str, offset: u64, most: usize) -> Result<Vec<u8>, ExecutorError> {
        self.host.files.read(path, offset, most)
    }

    async fn write(&self, path: &str, content: &[u8], mode: u32) -> Result<(), ExecutorError> {
        self.host.files.write(path, content, mode)
    }

    async fn make_folder(&self, path: &str) -> Result<(), ExecutorError> {
        self.host.files.make_folder(path)
    }

    async fn remove(&self, path: &str) -> Result<(), ExecutorError> {
        self.host.files.remove(path)
    }

    async fn link(&self, _: &Link) -> Result<(), ExecutorError> {
        Err(unsupported("links to files of the host"))
    }

    async fn run(&self, command: Command) -> Result<Outcome, ExecutorError> {
        self.check(&command)?;
        self.ready().await?;
        let begun = self.begin();
        let call = self.exec(&command, &begun)?;
        let bounds = Bounds::of(&command, &self.shared.limits);
        run(begun, call, command.stdin, bounds).await
    }

    async fn start(&self, command: Command) -> Result<Box<dyn RunningCommand>, ExecutorError> {
        if command.tty {
            return Err(unsupported("terminal"));
        }
        self.check(&command)?;
        self.ready().await?;
        let begun = self.begin();
        let call = self.exec(&command, &begun)?;
        let wall_time = Bounds::of(&command, &self.shared.limits).wall_time;
        let client = NativeCommand::start(&call, wall_time);
        let client = client.map_err(ExecutorError::io("cannot run a command in", &self.host.folder))?;
        Ok(Box::new(ContainerCommand { client, begun }))
    }
}
