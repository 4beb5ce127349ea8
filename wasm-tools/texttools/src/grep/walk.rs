//! `grep -r`: the files below a directory, in the order of their names.

use std::io;

use super::options::Config;
use crate::output::show;
use crate::platform;

/// A file to open and the name to print.
pub type Found = (Vec<u8>, Vec<u8>);

/// Appends the files below `directory`. `shown` is what names are printed with; empty for an implied `.`.
pub fn walk(
    directory: &[u8],
    shown: &[u8],
    config: &Config,
    found: &mut Vec<Found>,
    errors: &mut Vec<(Vec<u8>, io::Error)>,
) {
    let mut pending = vec![(directory.to_vec(), shown.to_vec(), 0)];
    // The directories above, by device and inode: a link to one of them would be followed for ever.
    let mut above: Vec<(u64, u64)> = Vec::new();
    while let Some((path, shown, depth)) = pending.pop() {
        above.truncate(depth);
        let info = match platform::stat(&path, config.follow_links || path == directory) {
            Ok(info) => info,
            Err(error) => {
                errors.push((shown, error));
                continue;
            }
        };
        if !info.is_dir() {
            if info.is_file() || config.read_devices {
                found.push((path, shown));
            }
            continue;
        }
        if config.follow_links && above.contains(&(info.dev, info.ino)) {
            eprintln!("grep: {}: warning: recursive directory loop", show(&shown));
            continue;
        }
        above.push((info.dev, info.ino));
        let mut names = match platform::list(&path) {
            Ok(names) => names,
            Err(error) => {
                errors.push((shown, error));
                continue;
            }
        };
        names.sort_unstable_by(|a, b| b.cmp(a));
        for name in names {
            let child = join(&path, &name);
            let Ok(info) = platform::stat(&child, config.follow_links) else {
                if config.follow_links {
                    pending.push((child, join(&shown, &name), depth + 1));
                }
                continue;
            };
            let wanted = if info.is_dir() { config.globs.directory(&name) } else { config.globs.file(&name) };
            if wanted {
                pending.push((child, join(&shown, &name), depth + 1));
            }
        }
    }
}

fn join(directory: &[u8], name: &[u8]) -> Vec<u8> {
    let mut path = directory.to_vec();
    if !path.is_empty() && !path.ends_with(b"/") {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}
