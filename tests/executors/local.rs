//! Commands without a sandbox.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use wskill::executor::testkit::Capability;
use wskill::executor::{Executor, ExecutorError, FileError, LocalExecutor, LocalExecutorBuilder, StagedSkill, Stager};

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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_passes() {
    let folder = tempfile::tempdir().unwrap();
    let make = || Ok(Arc::new(local(folder.path()).build()) as Arc<_>);
    let mut without = WITHOUT.to_vec();
    without.extend(is_superuser().then_some(Capability::ReadOnlySkills));
    passes(make, &without).await;
}

fn local(folder: &Path) -> LocalExecutorBuilder {
    LocalExecutor::without_any_isolation().root(folder).on_warning(|_| {})
}

/// Puts a skill elsewhere, and counts how often.
#[derive(Debug)]
struct Elsewhere {
    place: &'static str,
    count: Arc<AtomicUsize>,
}

#[async_trait::async_trait]
impl Stager for Elsewhere {
    async fn stage(&self, workspace: &Path, skill: &StagedSkill) -> Result<PathBuf, ExecutorError> {
        self.count.fetch_add(1, Ordering::Relaxed);
        let folder = workspace.join(self.place);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::copy(skill.folder.join("SKILL.md"), folder.join("SKILL.md")).unwrap();
        Ok(folder)
    }
}

#[tokio::test]
async fn a_stager_may_put_skills_elsewhere_in_the_workspace() {
    let (folder, skill) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(skill.path().join("SKILL.md"), "skill").unwrap();
    let staged = |digest: &str| StagedSkill { name: "s".into(), folder: skill.path().into(), digest: digest.into() };
    for (place, inside) in [("work/of/skills", true), ("skills/s", true), ("", false), ("../elsewhere", false)] {
        let count = Arc::<AtomicUsize>::default();
        let root = folder.path().join(place.replace(['/', '.'], "_"));
        let executor = local(&root).stager(Elsewhere { place, count: Arc::clone(&count) }).build();
        let workspace = executor.open("ws").await.unwrap();
        let answer = workspace.stage(&staged("1")).await;
        if !inside {
            let error = answer.unwrap_err();
            assert!(matches!(error, ExecutorError::File(FileError::Outside(_))), "{place}: {error}");
            continue;
        }
        answer.unwrap();
        workspace.stage(&staged("1")).await.unwrap();
        assert_eq!(count.load(Ordering::Relaxed), 1, "{place}");
        workspace.stage(&staged("2")).await.unwrap();
        assert_eq!(count.load(Ordering::Relaxed), 2, "{place}");
        assert_eq!(workspace.read("skills/s/SKILL.md", 0, 10).await.unwrap(), b"skill", "{place}");
    }
}

#[tokio::test]
async fn it_warns_once() {
    let folder = tempfile::tempdir().unwrap();
    let (send, warnings) = std::sync::mpsc::channel();
    let warn = move |text: &str| send.send(text.to_owned()).unwrap();
    let executor = LocalExecutor::without_any_isolation().root(folder.path()).on_warning(warn).build();
    executor.open("ws_1").await.unwrap();
    executor.open("ws_2").await.unwrap();
    let expected = "commands of skills run without a sandbox: they may read, change and send all that you may";
    assert_eq!(warnings.iter().collect::<Vec<_>>(), [expected]);
}

#[tokio::test]
async fn a_skills_links_are_copied_and_not_followed() {
    let (folder, skill) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(folder.path().join("secret"), "secret").unwrap();
    std::fs::write(skill.path().join("SKILL.md"), "skill").unwrap();
    std::os::unix::fs::symlink(folder.path().join("secret"), skill.path().join("file")).unwrap();
    std::os::unix::fs::symlink("SKILL.md", skill.path().join("near")).unwrap();
    std::os::unix::fs::symlink("/", skill.path().join("out")).unwrap();
    let workspace = local(&folder.path().join("workspaces")).build().open("ws").await.unwrap();
    let folder = skill.path().to_owned();
    workspace.stage(&StagedSkill { name: "s".into(), folder, digest: "1".into() }).await.unwrap();
    assert_eq!(workspace.read("skills/s/near", 0, 10).await.unwrap(), b"skill");
    assert!(workspace.read("skills/s/file", 0, 10).await.is_err());
    assert_eq!(workspace.stat("skills/s/out").await.unwrap().path, "out");
}
