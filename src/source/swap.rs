//! Putting a folder in its place in one step.

use std::fs;
use std::io;
use std::path::Path;

/// Renames `new` to `target`, which must not exist; else [`io::ErrorKind::AlreadyExists`].
pub fn place(new: &Path, target: &Path) -> io::Result<()> {
    match kernel::place(new, target) {
        Some(result) => result,
        None if fs::symlink_metadata(target).is_ok() => Err(io::ErrorKind::AlreadyExists.into()),
        None => fs::rename(new, target),
    }
}

/// Exchanges two folders. Where the system cannot do it in one step, there is a moment without `target`.
pub fn exchange(new: &Path, target: &Path) -> io::Result<()> {
    match kernel::exchange(new, target) {
        Some(result) => result,
        None => exchange_in_steps(new, target),
    }
}

fn exchange_in_steps(new: &Path, target: &Path) -> io::Result<()> {
    let aside = new.with_extension("former");
    fs::rename(target, &aside)?;
    if let Err(error) = fs::rename(new, target) {
        fs::rename(&aside, target)?;
        return Err(error);
    }
    fs::rename(&aside, new)
}

/// What the kernel does in one step; nothing where it or the file system cannot.
#[cfg(any(target_os = "linux", target_os = "macos"))]
mod kernel {
    use std::io;
    use std::path::Path;

    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;

    fn rename(new: &Path, target: &Path, flags: RenameFlags) -> Option<io::Result<()>> {
        match renameat_with(CWD, new, CWD, target, flags) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => None,
            result => Some(result.map_err(Into::into)),
        }
    }

    pub fn place(new: &Path, target: &Path) -> Option<io::Result<()>> {
        rename(new, target, RenameFlags::NOREPLACE)
    }

    pub fn exchange(new: &Path, target: &Path) -> Option<io::Result<()>> {
        rename(new, target, RenameFlags::EXCHANGE)
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
mod kernel {
    use std::io;
    use std::path::Path;

    pub fn place(_new: &Path, _target: &Path) -> Option<io::Result<()>> {
        None
    }

    pub fn exchange(_new: &Path, _target: &Path) -> Option<io::Result<()>> {
        None
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_to_exchange() {
        for exchange in [exchange, exchange_in_steps] {
            let place = tempfile::tempdir().unwrap();
            let (one, other) = (place.path().join("one"), place.path().join("other"));
            fs::create_dir(&one).unwrap();
            fs::create_dir(&other).unwrap();
            fs::write(one.join("file"), "one").unwrap();
            exchange(&one, &other).unwrap();
            assert_eq!(fs::read_to_string(other.join("file")).unwrap(), "one");
            assert_eq!(fs::read_dir(&one).unwrap().count(), 0);
            assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2);
            assert!(exchange(&one, &place.path().join("absent")).is_err());
            assert!(one.is_dir());
        }
    }

    #[test]
    fn a_place_that_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let (new, target) = (folder.path().join("new"), folder.path().join("target"));
        fs::create_dir(&new).unwrap();
        fs::create_dir(&target).unwrap();
        assert_eq!(place(&new, &target).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        fs::remove_dir(&target).unwrap();
        place(&new, &target).unwrap();
        assert!(target.is_dir() && !new.exists());
    }
}
