//! Many processes want one archive, and some of them are killed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::tempdir;
use wskill::source::{Cache, Source};

use crate::archives::*;
use crate::download::quick;
use crate::server::{Reply, Server};
use crate::{block_on, cache_in, files, leftovers};

const SOURCE: &str = "WSKILL_TEST_SOURCE";
const CACHE: &str = "WSKILL_TEST_CACHE";
const ANSWER: &str = "the folder is ";

/// What each of the processes does; without the variables it is no test.
#[test]
fn process() {
    let (Ok(source), Ok(cache)) = (std::env::var(SOURCE), std::env::var(CACHE)) else { return };
    let cache = Cache::builder().folder(cache).allow_private(true).open().unwrap();
    let folder = block_on(cache.resolve(&Source::parse(&source).unwrap())).unwrap();
    // Whoever has the folder has all of it.
    assert_eq!(files(&folder).len(), 101);
    println!("{ANSWER}{}", folder.display());
}

fn start(source: &str, cache: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["race::process", "--exact", "--nocapture"])
        .env(SOURCE, source)
        .env(CACHE, cache)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn answer(child: Child) -> PathBuf {
    let output = child.wait_with_output().unwrap();
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}{errors}");
    // The test harness begins the line.
    let line = text.lines().find_map(|line| Some(line.split_once(ANSWER)?.1.to_owned()));
    PathBuf::from(line.unwrap_or_else(|| panic!("{text}")))
}

/// A skill of 101 files.
fn archive() -> Vec<u8> {
    let data = vec![b'x'; 1000];
    let mut entries = vec![ZipEntry::new("SKILL.md", SKILL)];
    entries.extend((0..100).map(|number| ZipEntry::new(format!("data/{number}.txt"), &data)));
    zip(&entries)
}

#[test]
fn thirty_two_processes_download_once() {
    let place = tempdir().unwrap();
    let cache = cache_in(&place, |cache| cache);
    // Slow enough for all of them to arrive.
    let (head, body) = (format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", archive().len()), archive());
    let server = Server::fixed(Reply::raw(head).wait(Duration::from_millis(500)).then(body));
    let children: Vec<_> = (0..32).map(|_| start(&server.url("/demo.zip"), cache.folder())).collect();
    let folders: Vec<_> = children.into_iter().map(answer).collect();
    assert!(folders.iter().all(|folder| *folder == folders[0] && folder.ends_with("demo")), "{folders:?}");
    assert_eq!(server.count(), 1);
    assert_eq!(leftovers(&cache), [""; 0]);
}

#[test]
fn processes_unpack_one_file_at_once() {
    let place = tempdir().unwrap();
    let cache = cache_in(&place, |cache| cache);
    let path = place.path().join("demo.zip");
    fs::write(&path, archive()).unwrap();
    let children: Vec<_> = (0..16).map(|_| start(&path.display().to_string(), cache.folder())).collect();
    let folders: Vec<_> = children.into_iter().map(answer).collect();
    assert!(folders.iter().all(|folder| *folder == folders[0]), "{folders:?}");
    assert_eq!(leftovers(&cache), [""; 0]);
}

#[test]
fn what_a_killed_process_leaves_is_cleaned_and_what_a_living_one_has_is_not() {
    let place = tempdir().unwrap();
    let cache = cache_in(&place, quick);
    let stalling = Server::fixed(
        Reply::raw("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n").then("some").wait(Duration::from_secs(100)),
    );
    let mut killed = start(&stalling.url("/killed.zip"), cache.folder());
    let mut living = start(&stalling.url("/living.zip"), cache.folder());
    let begin = Instant::now();
    let downloading = || leftovers(&cache).iter().filter(|name| name.ends_with("/archive")).count();
    while downloading() < 2 {
        assert!(begin.elapsed() < Duration::from_secs(60), "they do not download");
        std::thread::sleep(Duration::from_millis(20));
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(downloading(), 2);
    let server = Server::fixed(Reply::ok(&archive()));
    // The killed one's own address is free again too.
    block_on(cache.resolve(&Source::parse(&server.url("/demo.zip")).unwrap())).unwrap();
    assert_eq!(downloading(), 1, "{:?}", leftovers(&cache));
    assert!(living.try_wait().unwrap().is_none());
    living.kill().unwrap();
    living.wait().unwrap();
    block_on(cache.resolve(&Source::parse(&server.url("/other.zip")).unwrap())).unwrap();
    assert_eq!(leftovers(&cache), [""; 0]);
}
