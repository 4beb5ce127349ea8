//! Every archive that is refused, with its error; and that nothing of it stays anywhere.

use std::fs;

use tempfile::tempdir;
use wskill::source::{ArchiveError as E, Limits, Source, SourceError};

use crate::archives::*;
use crate::{block_on, cache_in, leftovers, tree};

type Fits = fn(&E) -> bool;

/// Resolves the archive and checks its error and what is left.
fn refused_within(limits: &Limits, label: &str, name: &str, archive: &[u8], fits: impl FnOnce(&E) -> bool) {
    let place = tempdir().unwrap();
    fs::create_dir(place.path().join("files")).unwrap();
    let path = place.path().join("files").join(name);
    fs::write(&path, archive).unwrap();
    let cache = cache_in(&place, |cache| cache.limits(limits.clone()));
    let before = tree(place.path());
    match block_on(cache.resolve(&Source::path(&path))) {
        Err(SourceError::Archive { error, .. }) => assert!(fits(&error), "{label}: {error:?}"),
        other => panic!("{label}: {other:?}"),
    }
    assert_eq!(leftovers(&cache), [""; 0], "{label}");
    assert!(tree(place.path()) == before, "{label}: something was left behind");
}

fn refused(label: &str, name: &str, archive: &[u8], fits: Fits) {
    refused_within(&Limits::default(), label, name, archive, fits);
}

const NAMES: &[&str] = &[
    "/etc/cron.d/x",
    "//host/share/x",
    "../x",
    "a/../../x",
    "a/..",
    "..",
    "C:/x",
    "C:x",
    "c:",
    "file.txt:stream",
    "..\\x",
    "a\\..\\..\\x",
    "\\\\host\\share",
    "a\nb",
    "a\u{1b}[2Jb",
    "a\u{85}b",
    "trailing.",
    "trailing ",
    "dir. /x",
    "con",
    "sub/NUL.md",
    "Com1.txt",
];

#[test]
fn names_that_lead_out_or_are_none_somewhere() {
    let long = "x".repeat(256);
    let longer = ["x"; 600].join("/");
    let deep = ["x"; 40].join("/");
    for name in NAMES.iter().copied().chain([long.as_str(), longer.as_str(), deep.as_str()]) {
        let fits: Fits = |error| matches!(error, E::Name { .. });
        let good = ("SKILL.md", SKILL);
        refused(name, "a.zip", &zip_of(&[good, (name, b"x")]), fits);
        let entries = [tar_entry("SKILL.md", b'0', SKILL), pax(&[("path", name)]), tar_entry("x", b'0', b"x")];
        refused(name, "a.tar", &tar(&entries), fits);
        let gnu = [tar_entry("././@LongLink", b'L', name.as_bytes()), tar_entry("x", b'0', b"x")];
        refused(name, "a.tar", &tar(&gnu), fits);
        if name.len() < 100 {
            refused(name, "a.tar.gz", &gzip(&tar_of(&[good, (name, b"x")])), fits);
            refused(name, "a.tar", &tar(&[tar_entry("SKILL.md", b'0', SKILL), tar_entry(name, b'5', b"")]), fits);
        }
        let folder = format!("{name}/");
        refused(name, "a.zip", &zip(&[ZipEntry::new("SKILL.md", SKILL), ZipEntry::folder(&folder)]), |error| {
            matches!(error, E::Name { .. })
        });
    }
    for raw in [&b"a\xffb"[..], b"a\xc0\xaeb"] {
        refused("not UTF-8", "a.tar", &tar(&[tar_entry(raw, b'0', b"x")]), |error| matches!(error, E::Name { .. }));
    }
    // The name's two halves in a header of POSIX.
    let mut split = tar_entry("x", b'0', b"x");
    split[345..347].copy_from_slice(b"..");
    seal(&mut split);
    refused("prefix", "a.tar", &tar(&[split]), |error| matches!(error, E::Name { .. }));
}

#[test]
fn nul_in_names() {
    let nul = zip(&[ZipEntry::new(b"a\0b", b"x")]);
    refused("zip", "a.zip", &nul, |error| matches!(error, E::Name { .. } | E::Malformed(_)));
    let attribute = tar(&[pax(&[("path", "a\0b")]), tar_entry("x", b'0', b"x")]);
    refused("tar", "a.tar", &attribute, |error| matches!(error, E::Name { .. }));
}

#[test]
fn links_and_special_files() {
    let link: Fits = |error| matches!(error, E::Link(_));
    let special: Fits = |error| matches!(error, E::Special(_));
    for target in ["/etc/passwd", "../../..", "SKILL.md"] {
        let entry = ZipEntry::new("link", target.as_bytes()).mode(0o120_777);
        refused("zip link", "a.zip", &zip(&[ZipEntry::new("SKILL.md", SKILL), entry]), link);
    }
    for mode in [0o020_644, 0o060_644, 0o010_644, 0o140_644] {
        refused("zip special", "a.zip", &zip(&[ZipEntry::new("x", b"").mode(mode)]), special);
    }
    for kind in *b"12" {
        refused("tar link", "a.tar", &tar(&[tar_entry("x", kind, b"")]), link);
    }
    let long_link = [tar_entry("././@LongLink", b'K', b"/etc/passwd\0"), tar_entry("x", b'2', b"")];
    refused("tar long link", "a.tar", &tar(&long_link), link);
    for kind in *b"3467DMNVXZ" {
        refused("tar special", "a.tgz", &gzip(&tar(&[tar_entry("x", kind, b"")])), special);
    }
    // A file through a link that would have been made before it.
    let through = [tar_entry("d", b'2', b""), tar_entry("d/x", b'0', b"x")];
    refused("through a link", "a.tar", &tar(&through), link);
}

#[test]
fn sparse_files() {
    let fits: Fits = |error| matches!(error, E::Unsupported(_));
    refused("GNU", "a.tar", &tar(&[tar_entry("x", b'S', b"")]), fits);
    let entries =
        [pax(&[("GNU.sparse.major", "1"), ("GNU.sparse.realsize", "99999999999")]), tar_entry("x", b'0', b"")];
    refused("pax", "a.tar", &tar(&entries), fits);
}

#[test]
fn names_that_are_one_file() {
    let fits: Fits = |error| matches!(error, E::Duplicate { .. });
    for (one, other) in [
        ("SKILL.md", "skill.md"),
        ("a/B.txt", "a/b.TXT"),
        ("\u{e9}.md", "e\u{301}.md"),
        ("Dir/x", "dir/y"),
        ("straße", "STRASSE"),
    ] {
        refused(one, "a.zip", &zip_of(&[(one, b"1"), (other, b"2")]), fits);
        refused(one, "a.tar", &tar_of(&[(one, b"1"), (other, b"2")]), fits);
    }
    refused("the same", "a.tar", &tar_of(&[("x", b"1"), ("x", b"2")]), fits);
    refused("the same", "a.tar", &tar_of(&[("x", b"1"), ("./x", b"2")]), fits);
    refused("the same", "a.zip", &zip_of(&[("x", b"1"), ("x", b"2")]), |error| {
        matches!(error, E::Duplicate { .. } | E::Malformed(_))
    });
}

#[test]
fn files_that_are_folders() {
    let fits: Fits = |error| matches!(error, E::FileAndFolder(_));
    for names in [["x", "x/y"], ["x/y", "x"], ["X", "x/y"], ["x/y/z", "x/Y"]] {
        let files = names.map(|name| (name, &b"1"[..]));
        refused(names[0], "a.zip", &zip_of(&files), fits);
        refused(names[0], "a.tar", &tar_of(&files), fits);
    }
    refused("file with a slash", "a.tar", &tar(&[tar_entry("x/", b'0', b"1")]), fits);
    refused("folder by mode", "a.zip", &zip(&[ZipEntry::new("x", b"").mode(0o040_755)]), fits);
    refused("file by mode", "a.zip", &zip(&[ZipEntry::folder("x/").mode(0o100_644)]), fits);
}

#[test]
fn encrypted_entries() {
    let entry = ZipEntry::new("x", b"secret").with(|entry| entry.flags |= 1);
    refused("flag", "a.zip", &zip(&[entry]), |error| matches!(error, E::Encrypted(name) if name == "x"));
}

#[test]
fn zips_that_two_readers_read_differently() {
    let malformed: Fits = |error| matches!(error, E::Malformed(_));
    let with = |change: fn(&mut ZipEntry)| zip(&[ZipEntry::new("SKILL.md", SKILL).with(change)]);
    refused("names differ", "a.zip", &with(|entry| entry.local_name = Some(b"evil.sh".to_vec())), malformed);
    refused("sizes differ", "a.zip", &with(|entry| entry.local_size = Some(1)), malformed);
    refused("wrong sum", "a.zip", &with(|entry| entry.crc ^= 1), |error| matches!(error, E::Malformed(_) | E::Io(_)));
    let hidden = [zip_of(&[("hidden", b"x")])[..37].to_vec(), Vec::new()].concat();
    let mut before = hidden.clone();
    before.extend(zip_of(&[("SKILL.md", SKILL)]));
    refused("something before", "a.zip", &before, malformed);
    let overlap = [ZipEntry::new("a", b"data"), ZipEntry::new("b", b"data").with(|entry| entry.offset = Some(0))];
    refused("shared data", "a.zip", &zip(&overlap), malformed);
    let mut cut = zip_of(&[("SKILL.md", SKILL)]);
    cut.truncate(cut.len() - 10);
    refused("cut", "a.zip", &cut, |error| matches!(error, E::Malformed(_) | E::Truncated));
    refused("method", "a.zip", &with(|entry| entry.method = 93), |error| matches!(error, E::Unsupported(_)));
    let folder = ZipEntry::new("x/", b"content").mode(0o040_755);
    refused("folder with content", "a.zip", &zip(&[folder]), |error| matches!(error, E::Malformed(_)));
}

#[test]
fn sizes_that_lie() {
    let wrong: Fits = |error| matches!(error, E::Size { .. } | E::Malformed(_) | E::Truncated);
    let lie = |size: u32| zip(&[ZipEntry::new("x", b"four").with(|entry| entry.size = size)]);
    refused("zip, less", "a.zip", &lie(3), wrong);
    refused("zip, more", "a.zip", &lie(5), wrong);
    let more = tar_raw(b"x", b'0', b"four", b"00000001000\0", 0o644);
    refused("tar, more than there is", "a.tar", &more, wrong);
    let text = tar_raw(b"x", b'0', b"four", b"nonsense\0", 0o644);
    refused("tar, no number", "a.tar", &tar(&[text]), wrong);
    let huge = tar_raw(b"x", b'0', b"", b"\x80\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 0o644);
    refused("tar, beyond 64 bits", "a.tar", &tar(&[huge]), wrong);
    let attribute = [pax(&[("size", "2")]), tar_entry("x", b'0', b"four")];
    refused("tar, two sizes", "a.tar", &tar(&attribute), wrong);
}

#[test]
fn tars_that_are_none_or_not_whole() {
    let whole = tar_of(&[("SKILL.md", SKILL), ("x", b"x")]);
    let truncated: Fits = |error| matches!(error, E::Truncated | E::Size { .. });
    for length in [100, 513, 700, 1024, 1100, 2048] {
        refused("cut", "a.tar", &whole[..length], truncated);
        refused("cut", "a.tgz", &gzip(&whole[..length]), truncated);
    }
    let packed = gzip(&whole);
    for length in [20, packed.len() / 2, packed.len() - 1] {
        refused("cut gzip", "a.tgz", &packed[..length], |error| matches!(error, E::Truncated | E::Malformed(_)));
    }
    let malformed: Fits = |error| matches!(error, E::Malformed(_));
    refused("no tar", "a.tar", &[b'x'; 1024], malformed);
    refused("no tar inside", "a.tgz", &gzip(&[b'x'; 1024]), malformed);
    let mut sum = whole.clone();
    sum[0] ^= 1;
    refused("wrong sum", "a.tar", &sum, malformed);
    refused("something after", "a.tar", &[whole.clone(), tar_of(&[("y", b"y")])].concat(), malformed);
    refused("lone long name", "a.tar", &tar(&[tar_entry("L", b'L', b"x")]), malformed);
    let twice = [tar_entry("L", b'L', b"x"), pax(&[("path", "y")]), tar_entry("z", b'0', b"")];
    refused("two long names", "a.tar", &tar(&twice), malformed);
    for record in ["", "5", "x path=y\n", "99 path=y\n", "3 \n", "8 path=y", "11 path=\n\n\n\n"] {
        let entries = [tar_entry("pax", b'x', record.as_bytes()), tar_entry("SKILL.md", b'0', SKILL)];
        if !record.is_empty() {
            refused(record, "a.tar", &tar(&entries), malformed);
        }
    }
    let all = [tar_entry("pax", b'g', pax_record(&[("path", "evil")]).as_bytes()), tar_entry("x", b'0', b"")];
    refused("a name for all", "a.tar", &tar(&all), malformed);
    let mut other_sum = gzip(&whole);
    let sum = other_sum.len() - 8;
    other_sum[sum] ^= 1;
    refused("gzip's sum", "a.tgz", &other_sum, malformed);
}

#[test]
fn bombs() {
    let zeros = vec![0; 40 << 20];
    let fits: Fits = |error| matches!(error, E::Bomb(_));
    refused("zip", "a.zip", &zip_of(&[("x", &zeros)]), fits);
    refused("tar.gz", "a.tar.gz", &gzip(&tar_of(&[("x", &zeros)])), fits);
    refused("gzip of zeros", "a.tar.gz", &gzip(&[tar_of(&[("x", b"")]), zeros.clone()].concat()), fits);
    // A name of 40 MiB, which a reader that trusts its size keeps in memory.
    let name = vec![b'a'; 40 << 20];
    let entries = [tar_entry("L", b'L', &name), tar_entry("x", b'0', b"")];
    refused("long name", "a.tar.gz", &gzip(&tar(&entries)), |error| matches!(error, E::Bomb(_) | E::Malformed(_)));
    // The classic one: many entries that are one piece of data.
    let mut entries = vec![ZipEntry::new("0", &zeros[..1 << 20])];
    entries.extend(
        (1..500)
            .map(|number| ZipEntry::new(number.to_string(), &zeros[..1 << 20]).with(|entry| entry.offset = Some(0))),
    );
    refused("shared data", "a.zip", &zip(&entries), |error| matches!(error, E::Malformed(_)));
    // Archives inside are not unpacked.
    let inner = zip_of(&[("x", &zeros[..1 << 20])]);
    let place = tempdir().unwrap();
    let path = place.path().join("a.zip");
    fs::write(&path, zip_of(&[("SKILL.md", SKILL), ("inner.zip", &inner)])).unwrap();
    let folder = block_on(cache_in(&place, |cache| cache).resolve(&Source::path(path))).unwrap();
    assert_eq!(tree(&folder)["inner.zip"], inner);
}

#[test]
fn limits_are_those_that_are_set() {
    let mut limits = Limits::default();
    limits.file = 1000;
    limits.total = 2500;
    limits.entries = 10;
    let data = [b'x'; 1001];
    let one: Fits = |error| matches!(error, E::FileTooLarge { limit: 1000, .. });
    refused_within(&limits, "file", "a.zip", &zip_of(&[("x", &data)]), one);
    refused_within(&limits, "file", "a.tar", &tar_of(&[("x", &data)]), one);
    refused_within(&limits, "file", "demo.md", &data, one);
    let three: Vec<(&str, &[u8])> = ["a", "b", "c"].map(|name| (name, &data[..1000])).to_vec();
    let total: Fits = |error| matches!(error, E::TotalTooLarge(2500));
    refused_within(&limits, "total", "a.zip", &zip_of(&three), total);
    refused_within(&limits, "total", "a.tar.gz", &gzip(&tar_of(&three)), total);
    let names: Vec<String> = (0..11).map(|number| number.to_string()).collect();
    let many: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b""[..])).collect();
    let entries: Fits = |error| matches!(error, E::TooManyEntries(10));
    refused_within(&limits, "entries", "a.zip", &zip_of(&many), entries);
    refused_within(&limits, "entries", "a.tar", &tar_of(&many), entries);
    let folders: Vec<_> = names.iter().map(|name| tar_entry(name, b'5', b"")).collect();
    refused_within(&limits, "folders", "a.tar", &tar(&folders), entries);
    let attributes: Vec<_> = (0..11).map(|_| tar_entry("g", b'g', b"")).collect();
    refused_within(&limits, "attributes", "a.tar", &tar(&attributes), entries);
    let implied = ["a/b/c/d/e/f/g/h/i/j/k/l", "m/n/o/p/q/r/s/t/u/v/w/x", "1/2/3/4"].map(|name| (name, &b""[..]));
    refused_within(&limits, "implied folders", "a.tar", &tar_of(&implied), entries);
    // A directory too large to be read at all.
    let mut signatures = zip_of(&[("x", b"x")]);
    signatures.splice(30..30, b"PK\x01\x02".repeat(41));
    refused_within(&limits, "directory", "a.zip", &signatures, entries);
}

#[test]
fn what_is_no_archive() {
    let fits: Fits = |error| matches!(error, E::UnknownKind(_));
    for (name, content) in [
        ("a.zip", &b"<!DOCTYPE html><title>Sign in</title>"[..]),
        ("a", b"<html>"),
        ("a.tar.gz", b"PK\x03\x04"),
        ("a.md", b"<!doctype html>"),
        ("a.md", b"---\0"),
        ("a", b"name: demo\n"),
        ("a", b"\x7fELF"),
        ("a.gz", b"plain"),
        ("a", b""),
        ("a.zip", b""),
    ] {
        refused(name, name, content, fits);
    }
    let empty: Fits = |error| matches!(error, E::Empty);
    refused("empty", "a.zip", &zip(&[]), empty);
    refused("only folders", "a.zip", &zip(&[ZipEntry::folder("x/")]), empty);
    refused("empty", "a.tar", &tar(&[]), empty);
    refused("only the root", "a.tar", &tar(&[tar_entry("./", b'5', b"")]), empty);
}
