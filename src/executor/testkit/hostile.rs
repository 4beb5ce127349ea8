//! Names and links with which a command may want to make the host's calls reach other files.

use std::path::Path;

use super::super::{EntryKind, ExecutorError, FileError, Query, Workspace};
use super::kit::{Check, Failure, Kit, content, ensure, ensure_eq, entries, is_missing, output, run, shell};

pub async fn paths(kit: &Kit) -> Check {
    let workspace = kit.workspace().await?;
    for path in ["..", "../x", "work/../../x", "work/../x", "./work", "work/./x", "/etc", "work//x", "work/a\0b"] {
        let query = Query { below: path, depth: 1, most: 10 };
        let answers = [
            ("stat", workspace.stat(path).await.map(drop)),
            ("read", workspace.read(path, 0, 10).await.map(drop)),
            ("write", workspace.write(path, b"x", 0o644).await),
            ("make_folder", workspace.make_folder(path).await),
            ("remove", workspace.remove(path).await),
            ("list", workspace.list(&query).await.map(drop)),
            ("run", workspace.run(shell(path, "true")).await.map(drop)),
        ];
        for (call, answer) in answers {
            let refused = matches!(answer, Err(ExecutorError::File(FileError::Outside(_))));
            ensure!(refused, "{call} of {path:?} does not say that it leads outside: {answer:?}");
        }
    }
    Ok(None)
}

pub async fn links_inside(kit: &Kit) -> Check {
    let workspace = kit.workspace().await?;
    workspace.write("work/real/file", b"content", 0o644).await?;
    let line =
        format!("ln -s real near; ln -s '{}/work/real' far; ln -s ../work/near/file ../out/link", workspace.root());
    output(&*workspace, "work", &line).await?;
    for path in ["work/near/file", "work/far/file", "out/link"] {
        ensure_eq!(content(&*workspace, path).await?, "content", "{path}, through a link");
        ensure_eq!(workspace.stat(path).await?.kind, EntryKind::File, "the kind of {path}, through a link");
    }
    workspace.write("work/far/new", b"new", 0o644).await?;
    ensure_eq!(content(&*workspace, "work/real/new").await?, "new", "a file that was written through a link");
    ensure_eq!(output(&*workspace, "work/near", "cat file").await?, "content", "a working directory through a link");
    let listed = workspace.list(&Query { below: "work/near", depth: 1, most: 10 }).await?;
    ensure_eq!(listed.entries.len(), 2, "the entries of a folder through a link");
    // Whether the link is replaced or what it leads to.
    workspace.write("out/link", b"replaced", 0o644).await?;
    ensure_eq!(content(&*workspace, "out/link").await?, "replaced", "a file that was written in place of a link");
    output(&*workspace, "work", "ln -s round round; ln -s b a; ln -s a b").await?;
    ensure!(workspace.stat("work/round").await.is_err(), "a link to itself leads to something");
    ensure!(workspace.read("work/a/x", 0, 1).await.is_err(), "links in a circle lead to something");
    Ok(None)
}

pub async fn links_outside(kit: &Kit) -> Check {
    let outside = kit.host_folder(&[("secret", "secret")])?;
    let workspace = kit.workspace().await?;
    let far = outside.display();
    let up = "../".repeat(40);
    let line = format!(
        "ln -s '{far}' folder; ln -s '{far}/secret' file; ln -s '{up}{far}' up; ln -s ../../.. above; ln -s '{far}/new' new"
    );
    output(&*workspace, "work", &line).await?;
    for folder in ["work/folder", "work/up"] {
        refused_below(&*workspace, folder, &outside).await?;
    }
    ensure!(workspace.read("work/file", 0, 100).await.is_err(), "a link to a file outside was read");
    ensure!(workspace.stat("work/file").await.is_err(), "a link to a file outside was looked through");
    ensure!(workspace.stat("work/above/etc").await.is_err(), "a link above the workspace was looked through");
    let listed = workspace.list(&Query { below: "work", depth: 5, most: 100 }).await?;
    let through = listed.entries.iter().any(|entry| entry.path.contains("secret"));
    ensure!(!through, "a listing follows links outside: {listed:?}");
    for path in ["work/file", "work/new"] {
        // Either the link is replaced or the call is refused.
        if workspace.write(path, b"mine", 0o644).await.is_ok() {
            ensure_eq!(content(&*workspace, path).await?, "mine", "{path}, written in place of a link");
        }
    }
    workspace.remove("work/folder").await?;
    unchanged(&outside)?;
    Ok(None)
}

/// No call reaches anything below a link to the folder `outside`.
async fn refused_below(workspace: &dyn Workspace, link: &str, outside: &Path) -> Result<(), Failure> {
    let (secret, new) = (format!("{link}/secret"), format!("{link}/new"));
    ensure!(workspace.read(&secret, 0, 100).await.is_err(), "{secret} was read");
    ensure!(workspace.stat(&secret).await.is_err(), "stat has answered for {secret}");
    ensure!(workspace.write(&new, b"x", 0o644).await.is_err(), "{new} was written");
    ensure!(workspace.write(&secret, b"x", 0o644).await.is_err(), "{secret} was written");
    ensure!(workspace.make_folder(&new).await.is_err(), "the folder {new} was made");
    let query = Query { below: link, depth: 3, most: 10 };
    ensure!(workspace.list(&query).await.is_err(), "{link} was listed");
    ensure!(workspace.run(shell(link, "true")).await.is_err(), "a command ran in {link}");
    // Whether it is an error or not, nothing is removed.
    let _ = workspace.remove(&secret).await;
    unchanged(outside)
}

fn unchanged(outside: &Path) -> Result<(), Failure> {
    let names: Vec<_> = std::fs::read_dir(outside)?.filter_map(Result::ok).map(|entry| entry.file_name()).collect();
    ensure_eq!(names, ["secret"], "the folder outside");
    ensure_eq!(std::fs::read_to_string(outside.join("secret"))?, "secret", "the file outside");
    Ok(())
}

pub async fn names(kit: &Kit) -> Check {
    let workspace = kit.workspace().await?;
    let line = r#"touch -- '-rf' 'a b' "it's" '"' '*' '$(x)' 'ü' "$(printf 'new\nline')" '\'; mkdir '...'"#;
    output(&*workspace, "work", line).await?;
    let listed = entries(&*workspace, "work").await?;
    let mut expected = vec!["-rf", "a b", "it's", "\"", "*", "$(x)", "ü", "new\nline", "\\", "...", "inputs"];
    expected.sort_unstable();
    let found: Vec<_> = listed.iter().filter_map(|entry| entry.path.strip_prefix("work/")).collect();
    ensure_eq!(found, expected, "the names");
    for entry in listed.iter().filter(|entry| entry.kind == EntryKind::File) {
        workspace.write(&entry.path, b"x", 0o644).await?;
        ensure_eq!(content(&*workspace, &entry.path).await?, "x", "{:?}", entry.path);
        workspace.remove(&entry.path).await?;
        ensure!(is_missing(&*workspace, &entry.path).await, "{:?} is there after it was removed", entry.path);
    }
    // A file system may refuse the name; one that takes it must not break the listing.
    run(&*workspace, "out", r#"touch "$(printf 'not\377utf8')""#).await?;
    workspace.write("out/fine", b"x", 0o644).await?;
    let listing = workspace.list(&Query { below: "out", depth: 1, most: 10 }).await?;
    let fine = listing.entries.iter().any(|entry| entry.path == "out/fine");
    ensure!(fine, "a name that is not UTF-8 hides others: {listing:?}");
    Ok(None)
}

pub async fn special_files(kit: &Kit) -> Check {
    let workspace = kit.workspace().await?;
    if !run(&*workspace, "work", "mkfifo pipe").await?.success() {
        return Ok(None);
    }
    ensure_eq!(workspace.stat("work/pipe").await?.kind, EntryKind::Special, "the kind of a pipe");
    ensure!(workspace.read("work/pipe", 0, 1).await.is_err(), "a pipe was read");
    // Either the pipe is replaced or the call is refused; it does not wait for a reader.
    if workspace.write("work/pipe", b"x", 0o644).await.is_ok() {
        ensure_eq!(content(&*workspace, "work/pipe").await?, "x", "a file in place of a pipe");
    }
    workspace.remove("work/pipe").await?;
    ensure!(is_missing(&*workspace, "work/pipe").await, "a pipe is there after it was removed");
    Ok(None)
}

pub async fn deep_folders(kit: &Kit) -> Check {
    let name = kit.name();
    let workspace = kit.executor.open(&name).await?;
    let line =
        "n=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; i=0; while [ $i -lt 60 ]; do mkdir $n && cd $n; i=$((i+1)); done";
    output(&*workspace, "work", line).await?;
    let listing = workspace.list(&Query { below: "work", depth: 100, most: 1000 }).await?;
    ensure!(listing.entries.len() > 50, "a deep folder has {} entries", listing.entries.len());
    output(&*workspace, "out", "mkdir -p closed/in; touch closed/in/x; chmod 000 closed/in closed").await?;
    workspace.remove("out/closed").await?;
    output(&*workspace, "out", "mkdir -p closed/in; touch closed/in/x; chmod 000 closed/in closed").await?;
    kit.executor.remove(&name).await?;
    let workspace = kit.executor.open(&name).await?;
    ensure!(
        is_missing(&*workspace, "out/closed").await,
        "a folder without rights is there after the workspace was removed"
    );
    Ok(None)
}
