//! Workspaces that come and go.

use super::super::{ExecutorError, FOLDERS, Link};
use super::Capability;
use super::kit::{Check, Kit, content, ensure, ensure_eq, is_missing, output, run};

pub async fn names_of_workspaces(kit: &Kit) -> Check {
    for name in ["", ".", "..", "a/b", "/a", ".hidden", "a\0b", "a b\n"] {
        let opened = kit.executor.open(name).await.map(drop);
        ensure!(matches!(opened, Err(ExecutorError::WorkspaceName(_))), "opening {name:?}: {opened:?}");
        let removed = kit.executor.remove(name).await;
        ensure!(matches!(removed, Err(ExecutorError::WorkspaceName(_))), "removing {name:?}: {removed:?}");
    }
    let name = kit.name();
    ensure_eq!(kit.executor.open(&name).await?.name(), name, "the name");
    Ok(None)
}

pub async fn same_workspace(kit: &Kit) -> Check {
    let name = kit.name();
    let one = kit.executor.open(&name).await?;
    one.write("work/a", b"a", 0o644).await?;
    let other = kit.executor.open(&name).await?;
    ensure_eq!(content(&*other, "work/a").await?, "a", "a file of a workspace that is opened again");
    drop(one);
    ensure_eq!(output(&*other, "work", "cat a").await?, "a", "the same for a command");
    drop(other);
    let again = kit.executor.open(&name).await?;
    ensure_eq!(content(&*again, "work/a").await?, "a", "a file of a workspace that nobody had open");
    Ok(None)
}

pub async fn workspaces_apart(kit: &Kit) -> Check {
    let (one, other) = (kit.workspace().await?, kit.workspace().await?);
    one.write("work/a", b"a", 0o644).await?;
    output(&*one, "out", "echo b > b").await?;
    ensure!(
        is_missing(&*other, "work/a").await && is_missing(&*other, "out/b").await,
        "a workspace has another's files"
    );
    Ok(None)
}

pub async fn workspace_removal(kit: &Kit) -> Check {
    let (name, kept) = (kit.name(), kit.workspace().await?);
    kept.write("work/a", b"a", 0o644).await?;
    let workspace = kit.executor.open(&name).await?;
    let folder = kit.host_folder(&[("SKILL.md", "x")])?;
    kit.stage(&*workspace, "kit", &folder, "1").await?;
    workspace.write("work/a", b"a", 0o444).await?;
    output(&*workspace, "skills/kit", "touch .venv/x; ln -s / ../../work/root").await?;
    drop(workspace);
    kit.executor.remove(&name).await?;
    kit.executor.remove(&name).await?;
    let workspace = kit.executor.open(&name).await?;
    ensure!(is_missing(&*workspace, "work/a").await, "a file is there after its workspace was removed");
    for folder in FOLDERS {
        ensure!(!is_missing(&*workspace, folder).await, "{folder} is missing in a workspace that was made again");
    }
    kit.stage(&*workspace, "kit", &folder, "1").await?;
    ensure_eq!(output(&*workspace, "skills/kit", "cat SKILL.md").await?, "x", "a skill that is staged again");
    ensure_eq!(content(&*kept, "work/a").await?, "a", "a file of another workspace");
    ensure_eq!(std::fs::read_to_string(folder.join("SKILL.md"))?, "x", "the skill's own folder");
    Ok(None)
}

pub async fn links_to_the_host(kit: &Kit) -> Check {
    let workspace = kit.workspace().await?;
    let folder = kit.host_folder(&[("file", "host")])?;
    let linked = workspace.link(&Link { host: folder.clone(), path: "work/inputs/host".into() }).await;
    if kit.lacks(Capability::Links) {
        let refused = matches!(linked, Err(ExecutorError::Unsupported { .. }));
        ensure!(refused, "a link to a file of the host is not refused: {linked:?}");
        return Ok(Some(Capability::Links));
    }
    linked?;
    ensure_eq!(output(&*workspace, "work/inputs/host", "cat file").await?, "host", "a file of the host");
    let outcome = run(&*workspace, "work/inputs/host", "echo x > file || echo y > new").await?;
    ensure!(!outcome.success(), "a command has written to a folder of the host");
    ensure_eq!(std::fs::read_to_string(folder.join("file"))?, "host", "the host's file");
    let none = Link { host: folder.join("none"), path: "work/inputs/none".into() };
    ensure!(workspace.link(&none).await.is_err(), "a file that is not there is shown");
    Ok(None)
}

pub async fn forks(kit: &Kit) -> Check {
    let (name, new) = (kit.name(), kit.name());
    let workspace = kit.executor.open(&name).await?;
    workspace.write("work/a", b"before", 0o644).await?;
    let forked = kit.executor.fork(&name, &new).await;
    if kit.lacks(Capability::Forks) {
        let refused = matches!(forked, Err(ExecutorError::Unsupported { .. }));
        ensure!(refused, "a fork is not refused: {forked:?}");
        return Ok(Some(Capability::Forks));
    }
    forked?;
    let fork = kit.executor.open(&new).await?;
    ensure_eq!(content(&*fork, "work/a").await?, "before", "a file in a fork");
    fork.write("work/a", b"fork", 0o644).await?;
    workspace.write("work/b", b"later", 0o644).await?;
    ensure_eq!(content(&*workspace, "work/a").await?, "before", "a file that its fork has changed");
    ensure!(is_missing(&*fork, "work/b").await, "a fork has a file that was written later");
    Ok(None)
}

pub async fn snapshots(kit: &Kit) -> Check {
    let workspace = kit.workspace().await?;
    workspace.write("work/a", b"before", 0o644).await?;
    let snapshot = match workspace.snapshot().await {
        Err(ExecutorError::Unsupported { .. }) if kit.lacks(Capability::Snapshots) => {
            return Ok(Some(Capability::Snapshots));
        }
        answer => answer?,
    };
    ensure!(!kit.lacks(Capability::Snapshots), "a snapshot is not refused");
    output(&*workspace, "work", "echo after > a; echo new > b").await?;
    workspace.rollback(&snapshot).await?;
    ensure_eq!(output(&*workspace, "work", "cat a").await?, "before", "a file after going back to a snapshot");
    ensure!(is_missing(&*workspace, "work/b").await, "a later file is there after going back to a snapshot");
    workspace.forget(&snapshot).await?;
    ensure!(workspace.rollback(&snapshot).await.is_err(), "there is a snapshot that was forgotten");
    Ok(None)
}

pub async fn restart(kit: &Kit) -> Check {
    if kit.lacks(Capability::Restart) {
        return Ok(Some(Capability::Restart));
    }
    let name = kit.name();
    let folder = kit.host_folder(&[("SKILL.md", "x")])?;
    let workspace = kit.executor.open(&name).await?;
    kit.stage(&*workspace, "kit", &folder, "1").await?;
    output(&*workspace, "skills/kit", "echo v > .venv/v; echo o > out/o; ln -s o out/link").await?;
    drop(workspace);
    let workspace = kit.restarted.open(&name).await?;
    ensure_eq!(content(&*workspace, "out/link").await?, "o\n", "a file after a restart");
    kit.stage(&*workspace, "kit", &folder, "1").await?;
    let found = output(&*workspace, "skills/kit", "cat SKILL.md .venv/v out/o").await?;
    ensure_eq!(found, "xv\no\n", "a skill after a restart");
    kit.restarted.remove(&name).await?;
    Ok(None)
}
