//! Folders and archives on disk, and where the cache is.

use std::fs;

use tempfile::tempdir;
use wskill::source::{Cache, Sha256Sum, Source, SourceError};

use crate::archives::*;
use crate::{block_on, cache_in, files, leftovers, tree};

fn parse(text: impl AsRef<str>) -> Source {
    Source::parse(text.as_ref()).unwrap()
}

#[test]
fn folders_are_themselves() {
    let place = tempdir().unwrap();
    let folder = place.path().join("my skills");
    fs::create_dir(&folder).unwrap();
    let folder = folder.canonicalize().unwrap();
    let cache = cache_in(&place, |cache| cache);
    let url = format!("file://{}", folder.display()).replace(' ', "%20");
    for source in [Source::path(&folder), parse(&url), parse(url.replace("file://", "FILE://localhost"))] {
        assert_eq!(block_on(cache.resolve(&source)).unwrap(), folder);
    }
    assert_eq!(tree(cache.folder()).len(), 0);
    let sum = Sha256Sum::of(b"");
    let pinned = block_on(cache.resolve(&parse(format!("{url}#sha256={sum}"))));
    assert!(matches!(pinned, Err(SourceError::PinnedFolder { .. })));
    for gone in [place.path().join("absent"), folder.join("a/b")] {
        assert!(matches!(block_on(cache.resolve(&Source::path(gone))), Err(SourceError::NotFound { .. })));
    }
}

#[test]
fn archives_are_unpacked_and_what_changed_is_unpacked_again() {
    let place = tempdir().unwrap();
    let path = place.path().join("pdf forms.skill");
    fs::write(&path, zip_of(&[("SKILL.md", SKILL), ("scripts/run.sh", b"echo 1")])).unwrap();
    let cache = cache_in(&place, |cache| cache);
    let source = Source::path(&path);
    let first = block_on(cache.resolve(&source)).unwrap();
    assert!(first.ends_with("pdf-forms"));
    assert_eq!(files(&first), ["SKILL.md", "scripts/run.sh"]);
    assert_eq!(block_on(cache.resolve(&source)).unwrap(), first);
    let new = zip_of(&[("SKILL.md", SKILL), ("scripts/run.sh", b"echo 2")]);
    fs::write(&path, &new).unwrap();
    let second = block_on(cache.resolve(&source)).unwrap();
    assert_eq!(tree(&second)["scripts/run.sh"], b"echo 2");
    assert_eq!(tree(&first)["scripts/run.sh"], b"echo 1");
    let url = format!("file://{}", path.display()).replace(' ', "%20");
    let pinned = parse(format!("{url}#sha256={}", Sha256Sum::of(&new)));
    assert_eq!(block_on(cache.resolve(&pinned)).unwrap(), second);
    let other = parse(format!("{url}#sha256={}", Sha256Sum::of(b"")));
    assert!(matches!(block_on(cache.resolve(&other)), Err(SourceError::PinMismatch { .. })));
    assert_eq!(leftovers(&cache), [""; 0]);
}

#[test]
fn honest_archives_keep_their_files() {
    let place = tempdir().unwrap();
    let cache = cache_in(&place, |cache| cache);
    let long = "directory/".repeat(12) + "file.md";
    let zip = zip(&[
        ZipEntry::folder("demo/"),
        ZipEntry::new("demo/SKILL.md", SKILL),
        ZipEntry::new("demo/run.sh", b"#!/bin/sh").mode(0o104_777),
        ZipEntry::new("demo/no-mode", b"x").mode(0),
        ZipEntry::new(&long, b"x"),
        // The format's own code page, in which 0x81 is an umlaut.
        ZipEntry::new(b"demo/\x81ber.md", b"x").with(|entry| entry.flags = 0),
        ZipEntry::new("demo/stored", b"x").with(|entry| (entry.method, entry.stored) = (0, b"x".to_vec())),
        ZipEntry::new("demo/empty", b""),
    ]);
    let head = [tar_entry("pax_global_header", b'g', pax_record(&[("comment", "0123")]).as_bytes())];
    let tar = tar(&[
        head[0].clone(),
        tar_entry("./", b'5', b""),
        tar_entry("./demo/", b'5', b""),
        tar_entry("./demo/", b'5', b""),
        tar_entry("./demo/SKILL.md", b'0', SKILL),
        tar_raw(b"./demo/run.sh", b'0', b"#!/bin/sh", b"00000000011\0", 0o6777),
        tar_raw(b"demo/no-mode", 0, b"x", b"\x80\0\0\0\0\0\0\0\0\0\0\x01", 0o644),
        tar_entry("././@LongLink", b'L', format!("{long}\0").as_bytes()),
        tar_entry("cut", b'0', b"x"),
        pax(&[("mtime", "1.5"), ("path", "demo/über.md")]),
        tar_entry("cut", b'0', b"x"),
        tar_entry("demo/stored", b'0', b"x"),
        tar_entry("demo/empty", b'0', b""),
    ]);
    let mut wanted = vec!["demo/SKILL.md", "demo/empty", "demo/no-mode", "demo/run.sh", "demo/stored", "demo/über.md"];
    wanted.push(&long);
    for (name, archive) in [("a.zip", zip), ("a.tar", tar.clone()), ("a.tar.gz", gzip(&tar)), ("b.zip", Vec::new())] {
        if archive.is_empty() {
            continue;
        }
        let path = place.path().join(name);
        fs::write(&path, archive).unwrap();
        let folder = block_on(cache.resolve(&Source::path(path))).unwrap();
        assert_eq!(files(&folder), wanted, "{name}");
        assert_eq!(tree(&folder)["demo/SKILL.md"], SKILL);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |name: &str| fs::metadata(folder.join(name)).unwrap().permissions().mode() & 0o7777;
            let modes = ["demo/run.sh", "demo/SKILL.md", "demo/no-mode", "demo"].map(mode);
            assert_eq!(modes, [0o755, 0o644, 0o644, 0o755], "{name}");
        }
    }
}

#[test]
fn a_skill_file_stands_for_its_folder() {
    let place = tempdir().unwrap();
    let folder = place.path().join("demo");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("SKILL.md"), SKILL).unwrap();
    fs::write(folder.join("other.md"), SKILL).unwrap();
    let cache = cache_in(&place, |cache| cache);
    let folder = folder.canonicalize().unwrap();
    assert_eq!(block_on(cache.resolve(&Source::path(folder.join("SKILL.md")))).unwrap(), folder);
    let other = block_on(cache.resolve(&Source::path(folder.join("other.md")))).unwrap();
    assert!(other.ends_with("other") && files(&other) == ["SKILL.md"]);
}

#[cfg(unix)]
#[test]
fn one_archive_under_two_names() {
    let place = tempdir().unwrap();
    fs::write(place.path().join("blob"), zip_of(&[("SKILL.md", SKILL)])).unwrap();
    let cache = cache_in(&place, |cache| cache);
    let mut folders = Vec::new();
    for name in ["one.zip", "two.skill"] {
        std::os::unix::fs::symlink("blob", place.path().join(name)).unwrap();
        folders.push(block_on(cache.resolve(&Source::path(place.path().join(name)))).unwrap());
    }
    assert!(folders[0].ends_with("one") && folders[1].ends_with("two"));
    assert!(folders.iter().all(|folder| files(folder) == ["SKILL.md"]));
}

#[cfg(unix)]
#[test]
fn a_cache_that_others_can_write_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let place = tempdir().unwrap();
    let folder = place.path().join("cache");
    fs::create_dir(&folder).unwrap();
    for (mode, fits) in [(0o777, false), (0o770, false), (0o755, true), (0o700, true)] {
        fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
        match Cache::builder().folder(&folder).open() {
            Ok(_) => assert!(fits, "{mode:o}"),
            Err(error) => assert!(!fits && matches!(error, SourceError::CacheNotPrivate { .. }), "{error}"),
        }
    }
}

#[cfg(not(feature = "fetch"))]
#[test]
fn addresses_without_a_client() {
    let place = tempdir().unwrap();
    let cache = cache_in(&place, |cache| cache);
    let error = block_on(cache.resolve(&parse("https://example.com/a.zip"))).unwrap_err();
    assert!(matches!(error, SourceError::FetchDisabled { .. }));
}
