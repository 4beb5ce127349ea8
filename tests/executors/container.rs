//! Commands in containers: with a program that stands for Docker's, and with the real one where it is.
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use wskill::executor::testkit::Capability;
use wskill::executor::{Command, ContainerExecutor, ContainerExecutorBuilder, Executor, Workspace};

use crate::support::{is_superuser, passes};

/// What it lacks.
const WITHOUT: [Capability; 6] = [
    Capability::Terminal,
    Capability::Policy,
    Capability::HostTools,
    Capability::Links,
    Capability::Forks,
    Capability::Snapshots,
];

/// The fake program in a folder of its own.
struct Fake(tempfile::TempDir);

impl Fake {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/executors/fake_cli.sh");
        std::fs::copy(script, folder.path().join("docker")).unwrap();
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn builder(&self) -> ContainerExecutorBuilder {
        ContainerExecutor::builder().cli(self.path("docker")).root(self.path("workspaces"))
    }

    /// What the program was asked, a line for each call.
    fn calls(&self) -> Vec<String> {
        let calls = std::fs::read_to_string(self.path("fake/calls")).unwrap_or_default();
        calls.lines().map(|line| line.trim().to_owned()).collect()
    }

    /// The first words of that.
    fn verbs(&self) -> Vec<String> {
        self.calls().iter().map(|call| call.split(' ').next().unwrap_or_default().to_owned()).collect()
    }
}

async fn run(workspace: &dyn Workspace, line: &str) -> wskill::Outcome {
    let argv = ["sh", "-c", line].map(str::to_owned).to_vec();
    workspace.run(Command { argv, cwd: "work".into(), ..Command::default() }).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_the_fake_program_it_passes() {
    let fake = Fake::new();
    let make = || Ok(Arc::new(fake.builder().build()) as Arc<_>);
    let mut without = WITHOUT.to_vec();
    without.extend(is_superuser().then_some(Capability::ReadOnlySkills));
    passes(make, &without).await;
}

#[tokio::test]
async fn a_container_is_made_before_the_first_command_and_removed_with_its_workspace() {
    let fake = Fake::new();
    let executor = fake.builder().image("img:1").build();
    let workspace = executor.open("ws_1").await.unwrap();
    assert!(fake.calls().is_empty());
    assert_eq!(run(&*workspace, "echo one").await.stdout, b"one\n");
    assert_eq!(fake.verbs(), ["inspect", "rm", "run", "exec", "exec"]);
    assert_eq!(run(&*workspace, "echo two").await.stdout, b"two\n");
    assert_eq!(fake.verbs()[5..], ["inspect", "exec", "exec"]);

    let made = fake.calls()[2].clone();
    let folder = fake.path("workspaces").join("ws_1").canonicalize().unwrap();
    let (folder, user) = (folder.display(), rustix::process::getuid().as_raw());
    for part in [
        "run -d --name wskill-",
        "--network none ",
        "--cap-drop ALL ",
        "--security-opt no-new-privileges ",
        "--pids-limit 128 ",
        "--memory 1073741824b ",
        "--memory-swap 1073741824b ",
        "--ulimit nofile=256:256 ",
        "--read-only ",
        "--init ",
        "--entrypoint sleep img:1 infinity",
        &format!("--user {user}:"),
        &format!("source={folder}\\,target=/workspace "),
        &format!("source={folder}/skills\\,target=/workspace/skills\\,readonly "),
    ] {
        assert!(made.contains(part), "{part}: {made}");
    }
    executor.remove("ws_1").await.unwrap();
    assert_eq!(fake.verbs().last().unwrap(), "rm");
    assert!(!Path::new(&folder.to_string()).exists());
}

#[tokio::test]
async fn a_container_that_is_gone_is_made_again_and_no_command_runs_twice() {
    let fake = Fake::new();
    let executor = fake.builder().build();
    let workspace = executor.open("ws_1").await.unwrap();
    run(&*workspace, "echo x >> ran").await;
    let remove = |path: PathBuf| {
        for entry in std::fs::read_dir(path).unwrap() {
            std::fs::remove_file(entry.unwrap().path()).unwrap();
        }
    };
    remove(fake.path("fake/containers"));
    run(&*workspace, "echo x >> ran").await;
    assert_eq!(fake.verbs().iter().filter(|verb| *verb == "run").count(), 2);
    assert_eq!(workspace.read("work/ran", 0, 10).await.unwrap(), b"x\nx\n");

    // Gone while a command runs: that is an error, and the command is not run again.
    let line = format!("echo x >> ran; rm -f {}/*; exit 1", fake.path("fake/containers").display());
    let argv = ["sh", "-c", &line].map(str::to_owned).to_vec();
    let ran = workspace.run(Command { argv, cwd: "work".into(), ..Command::default() }).await;
    let error = ran.unwrap_err().to_string();
    assert!(
        error.contains("could not reach the container after a command") && error.contains("No such container"),
        "{error}"
    );
    assert_eq!(workspace.read("work/ran", 0, 10).await.unwrap(), b"x\nx\nx\n");
    assert!(run(&*workspace, "true").await.success());
}

#[tokio::test]
async fn a_container_that_was_made_in_another_way_is_made_again() {
    let fake = Fake::new();
    for (image, runs) in [("one", 1), ("one", 1), ("two", 2)] {
        let executor = fake.builder().image(image).build();
        run(&*executor.open("ws_1").await.unwrap(), "true").await;
        assert_eq!(fake.verbs().iter().filter(|verb| *verb == "run").count(), runs, "{image}");
    }
}

#[tokio::test]
async fn errors_of_the_program_are_told() {
    let fake = Fake::new();
    let executor = fake.builder().build();
    let workspace = executor.open("ws_1").await.unwrap();
    std::fs::create_dir_all(fake.path("fake")).unwrap();
    std::fs::write(fake.path("fake/broken"), "").unwrap();
    let command = || Command { argv: vec!["true".into()], ..Command::default() };
    let error = workspace.run(command()).await.unwrap_err().to_string();
    let program = fake.path("docker").display().to_string();
    let message = "docker: Error response from daemon: no space left on device.";
    assert_eq!(error, format!("{program} could not make a container: {message}"));

    let executor = ContainerExecutor::builder().cli("no-such-engine").root(fake.path("workspaces")).build();
    let error = executor.open("ws_1").await.unwrap().run(command()).await.unwrap_err().to_string();
    let advice = "the program is not installed; install Docker or Podman, or name another with `cli`";
    assert_eq!(error, format!("no-such-engine could not be started: {advice}"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_the_real_program_it_passes() {
    const NAME: &str = "with_the_real_program_it_passes";
    if !crate::common::client_tests(NAME, "Docker or Podman, and the network for an image") {
        return;
    }
    let works =
        |cli: &&str| std::process::Command::new(cli).arg("info").output().is_ok_and(|info| info.status.success());
    let Some(cli) = ["docker", "podman"].into_iter().find(works) else {
        eprintln!("{NAME}: skipped: neither `docker info` nor `podman info` succeeds here");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let builder = || ContainerExecutor::builder().cli(cli).image("docker.io/library/debian:stable-slim");
    let make = || Ok(Arc::new(builder().root(folder.path()).build()) as Arc<_>);
    passes(make, &WITHOUT).await;
}
