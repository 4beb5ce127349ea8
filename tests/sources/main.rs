//! Where skills come from: archives made to do harm, a server that misbehaves, processes that race, installing.
//! Nothing here needs the internet.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod archives;
mod cached;
#[cfg(feature = "fetch")]
mod download;
mod hostile;
mod install;
mod mutated;
mod pack;
#[cfg(feature = "fetch")]
mod race;
#[cfg(feature = "fetch")]
mod redirect;
#[cfg(feature = "fetch")]
mod server;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tempfile::TempDir;
use wskill::source::{Cache, CacheBuilder};

/// Runs a future as the command line does.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// A cache in a folder of its own, which is `place/cache`.
fn cache_in(place: &TempDir, change: impl FnOnce(CacheBuilder) -> CacheBuilder) -> Cache {
    change(Cache::builder().folder(place.path().join("cache"))).open().unwrap()
}

/// All files below `folder` with their contents, and all folders with a `/` at the end.
fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut left = vec![folder.to_owned()];
    while let Some(next) = left.pop() {
        for entry in fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(folder).unwrap().to_string_lossy().replace('\\', "/");
            if path.is_symlink() || !path.is_dir() {
                found.insert(name, fs::read(&path).unwrap_or_default());
            } else {
                found.insert(format!("{name}/"), Vec::new());
                left.push(path);
            }
        }
    }
    found
}

/// The names of [`tree`], without folders.
fn files(folder: &Path) -> Vec<String> {
    tree(folder).into_keys().filter(|name| !name.ends_with('/')).collect()
}

/// What a cache holds that is neither an entry nor its lock: nothing, when all is well.
fn leftovers(cache: &Cache) -> Vec<String> {
    tree(cache.folder()).into_keys().filter(|name| name.contains("tmp-")).collect()
}
