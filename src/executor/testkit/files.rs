//! Files as the host writes and reads them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::super::{EntryKind, ExecutorError, FOLDERS, FileError, Query};
use super::kit::{Check, Kit, content, ensure, ensure_eq, entries, is_missing, output, paths};

pub async fn folders(kit: &Kit) -> Check {
    let workspace = kit.workspace().await?;
    for folder in FOLDERS {
        ensure_eq!(workspace.stat(folder).await?.kind, EntryKind::Folder, "{folder}");
    }
    ensure_eq!(workspace.stat("").await?.kind, EntryKind::Folder, "the workspace itself");
    let root = workspace.root();
    ensure!(
        root.starts_with('/') && !root.ends_with('/'),
        "root() is {root:?}, not an absolute path without / at its end"
    );
    workspace.make_folder("work/a/b").await?;
    workspace.make_folder("work/a/b").await?;
    ensure_eq!(workspace.stat("work/a/b").await?.kind, EntryKind::Folder, "a folder that was made");
    let line = format!("cd '{root}/work/a/b' && echo here > '{root}/out/x'");
    output(&*workspace, "", &line).await?;
    ensure_eq!(content(&*workspace, "out/x").await?, "here\n", "what a command writes by its absolute path");
    Ok(None)
}

pub async fn write_and_read(kit: &Kit) -> Check {
    let workspace = kit.workspace().await?;
    workspace.write("work/new/a.txt", b"0123456789", 0o644).await?;
    let entry = workspace.stat("work/new/a.txt").await?;
    ensure_eq!((entry.path.as_str(), entry.kind, entry.size), ("work/new/a.txt", EntryKind::File, 10), "stat");
    ensure!(entry.modified > 1_500_000_000_000_000_000, "modified is {} ns since 1970", entry.modified);
    for (offset, most, expected) in [(0, 100, "0123456789"), (3, 4, "3456"), (8, 100, "89"), (10, 1, ""), (99, 1, "")] {
        let found = workspace.read("work/new/a.txt", offset, most).await?;
        ensure_eq!(String::from_utf8_lossy(&found), expected, "{most} bytes from {offset} on");
    }
    workspace.write("work/new/a.txt", b"short", 0o644).await?;
    ensure_eq!(content(&*workspace, "work/new/a.txt").await?, "short", "a file that was replaced");
    workspace.write("work/empty", b"", 0o644).await?;
    ensure_eq!(workspace.stat("work/empty").await?.size, 0, "an empty file's size");
    let bytes: Vec<u8> = (0..=255).cycle().take(3 << 20).collect();
    workspace.write("work/large", &bytes, 0o644).await?;
    ensure!(workspace.read("work/large", 0, 4 << 20).await? == bytes, "3 MiB are not read as they were written");
    let sum = output(&*workspace, "work", "wc -c < large; cat new/a.txt").await?;
    ensure_eq!(sum.trim_start(), "3145728\nshort", "what a command reads");
    Ok(None)
}

pub async fn refused_calls(kit: &Kit) -> Check {
    let workspace = kit.workspace().await?;
    workspace.write("work/file", b"x", 0o644).await?;
    let missing = workspace.read("work/none", 0, 1).await;
    ensure!(
        matches!(missing, Err(ExecutorError::File(FileError::NotFound(_)))),
        "reading what is not there: {missing:?}"
    );
    ensure!(is_missing(&*workspace, "work/none/deeper").await, "stat of what is not there is no NotFound");
    ensure!(workspace.read("work", 0, 1).await.is_err(), "a folder was read");
    ensure!(workspace.write("work", b"x", 0o644).await.is_err(), "a folder was replaced by a file");
    ensure!(workspace.write("", b"x", 0o644).await.is_err(), "the workspace was replaced by a file");
    ensure!(workspace.write("work/file/below", b"x", 0o644).await.is_err(), "a file was written below a file");
    ensure!(workspace.make_folder("work/file").await.is_err(), "a folder was made in place of a file");
    ensure!(workspace.make_folder("work/file/below").await.is_err(), "a folder was made below a file");
    let query = Query { below: "work/none", depth: 1, most: 10 };
    ensure!(workspace.list(&query).await.is_err(), "a folder that is not there was listed");
    ensure!(workspace.remove("").await.is_err(), "the workspace itself was removed as a file");
    ensure_eq!(content(&*workspace, "work/file").await?, "x", "the file after all this");
    Ok(None)
}

pub async fn atomic_writes(kit: &Kit) -> Check {
    const SIZE: usize = 300_000;
    const WRITES: usize = 40;
    let workspace = kit.workspace().await?;
    workspace.write("out/file", &[b'a'; SIZE], 0o644).await?;
    let done = Arc::new(AtomicBool::new(false));
    let (writing, is_done) = (Arc::clone(&workspace), Arc::clone(&done));
    let writer = tokio::spawn(async move {
        let mut result = Ok(());
        for round in 0..WRITES {
            let letter = if round % 2 == 0 { b'b' } else { b'a' };
            result = result.and(writing.write("out/file", &[letter; SIZE], 0o644).await);
            tokio::task::yield_now().await;
        }
        is_done.store(true, Ordering::Relaxed);
        result
    });
    while !done.load(Ordering::Relaxed) {
        // Whole in one call: a file that is replaced between two of them is another file.
        let found = workspace.read("out/file", 0, SIZE + 1).await?;
        let first = found.first().copied().unwrap_or_default();
        ensure_eq!(found.len(), SIZE, "a reader sees a part of a file");
        ensure!(found.iter().all(|&byte| byte == first), "a reader sees the old and the new content in one file");
        let listed = entries(&*workspace, "out").await?;
        ensure_eq!(paths(&listed), ["out/file"], "the listing while a file is written");
        tokio::task::yield_now().await;
    }
    writer.await??;
    Ok(None)
}

pub async fn modes(kit: &Kit) -> Check {
    let workspace = kit.workspace().await?;
    workspace.write("work/run.sh", b"#!/bin/sh\necho \"ran $1\"\n", 0o755).await?;
    ensure_eq!(output(&*workspace, "work", "./run.sh it").await?, "ran it\n", "a script of mode 755");
    workspace.write("work/fixed", b"fixed", 0o444).await?;
    let mode = output(&*workspace, "work", "ls -l fixed").await?;
    ensure_eq!(mode.get(..10), Some("-r--r--r--"), "`ls -l` of a file of mode 444");
    workspace.write("work/fixed", b"new", 0o644).await?;
    ensure_eq!(content(&*workspace, "work/fixed").await?, "new", "a read-only file that the host replaces");
    Ok(None)
}

pub async fn listings(kit: &Kit) -> Check {
    let workspace = kit.workspace().await?;
    for path in ["work/b.txt", "work/a/one", "work/a/deep/two", "work/c", "work/inputs/i"] {
        workspace.write(path, b"12", 0o644).await?;
    }
    output(&*workspace, "work", "ln -s a to_a; ln -s none broken").await?;
    let listing = workspace.list(&Query { below: "work", depth: 1, most: 100 }).await?;
    let expected = ["work/a", "work/b.txt", "work/broken", "work/c", "work/inputs", "work/to_a"];
    ensure_eq!(paths(&listing.entries), expected, "one level");
    let kinds: Vec<_> = listing.entries.iter().map(|entry| entry.kind).collect();
    let (file, folder, link) = (EntryKind::File, EntryKind::Folder, EntryKind::Link);
    ensure_eq!(kinds, [folder, file, link, file, folder, link], "their kinds");
    ensure_eq!(listing.entries.get(1).map(|entry| entry.size), Some(2), "a file's size");
    ensure!(!listing.is_cut && listing.notes.is_empty(), "a whole listing is cut or has notes: {listing:?}");
    let listed = entries(&*workspace, "work/a").await?;
    ensure_eq!(paths(&listed), ["work/a/deep", "work/a/deep/two", "work/a/one"], "all levels");
    let listing = workspace.list(&Query { below: "work", depth: 2, most: 3 }).await?;
    ensure!(listing.is_cut && listing.entries.len() == 3, "a listing of 3 entries: {listing:?}");
    let sorted = listing.entries.windows(2).all(|pair| pair.first() < pair.last());
    ensure!(sorted, "the entries are not sorted: {listing:?}");
    ensure!(!entries(&*workspace, "").await?.is_empty(), "nothing is below the workspace itself");
    Ok(None)
}

pub async fn removal(kit: &Kit) -> Check {
    let workspace = kit.workspace().await?;
    workspace.write("work/keep/file", b"x", 0o644).await?;
    workspace.write("work/gone/a/b/file", b"x", 0o444).await?;
    output(&*workspace, "work", "ln -s ../keep gone/to_keep; ln -s keep link; chmod 555 gone/a/b").await?;
    for path in ["work/gone", "work/gone", "work/link", "work/none/deeper"] {
        workspace.remove(path).await?;
        ensure!(is_missing(&*workspace, path).await, "{path} is there after it was removed");
    }
    ensure_eq!(content(&*workspace, "work/keep/file").await?, "x", "what removed links led to");
    workspace.remove("work/keep/file").await?;
    ensure!(is_missing(&*workspace, "work/keep/file").await, "a file is there after it was removed");
    Ok(None)
}
