//! Archives that chance has changed: whatever becomes of them, nothing panics, nothing is written outside, and no limit
//! is passed. The sequence is always the same; `WSKILL_MUTATIONS` makes it longer.

use std::fs;
use std::path::Path;

use tempfile::tempdir;
use wskill::source::{ArchiveError, Limits, unpack};

use crate::archives::*;
use crate::tree;

/// xorshift64*: good enough to spread changes, and the same everywhere.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    fn below(&mut self, bound: usize) -> usize {
        self.next() as usize % bound.max(1)
    }
}

/// What is likely to matter when it appears somewhere.
const PIECES: [&[u8]; 16] = [
    b"../",
    b"/",
    b"..",
    b"\\",
    b"C:",
    b"\0",
    b"PK\x01\x02",
    b"PK\x03\x04",
    b"PK\x05\x06",
    b"\xff\xff\xff\xff",
    b"00000000000",
    b"77777777777",
    b"12 path=/etc\n",
    b"5",
    b"2",
    b"\x80",
];

fn mutate(archive: &[u8], chance: &mut Chance) -> Vec<u8> {
    let mut changed = archive.to_vec();
    for _ in 0..=chance.below(4) {
        let at = chance.below(changed.len());
        match chance.below(7) {
            0 => changed[at] ^= 1 << chance.below(8),
            1 => changed[at] = chance.next() as u8,
            2 => changed.truncate(at.max(1)),
            3 => {
                let end = (at + chance.below(600)).min(changed.len());
                let piece = changed[at..end].to_vec();
                let to = chance.below(changed.len());
                changed.splice(to..to, piece);
            }
            4 => drop(changed.splice(at..at, PIECES[chance.below(PIECES.len())].iter().copied())),
            5 => {
                let piece = PIECES[chance.below(PIECES.len())];
                let end = (at + piece.len()).min(changed.len());
                changed[at..end].copy_from_slice(&piece[..end - at]);
            }
            _ => drop(changed.drain(at..(at + chance.below(64)).min(changed.len()))),
        }
        if changed.is_empty() {
            changed.push(0);
        }
    }
    changed
}

/// Makes the sums of headers fit again, so that changes get beyond them.
fn reseal(archive: &mut [u8]) {
    for block in archive.chunks_exact_mut(512) {
        if &block[257..262] == b"ustar" {
            seal(block);
        }
    }
}

fn check(place: &Path, name: &str, archive: &[u8], limits: &Limits) -> Result<(), ArchiveError> {
    let (file, target) = (place.join("archive"), place.join("target"));
    fs::write(&file, archive).unwrap();
    let result = unpack(&file, name, &target, limits);
    let mut names: Vec<_> = fs::read_dir(place).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names.retain(|name| name != "target");
    assert_eq!(names, ["archive"], "written outside");
    if target.exists() {
        let written = tree(&target);
        assert!(written.len() <= 3 * limits.entries + limits.depth);
        // What is refused may have one piece too much.
        assert!(written.values().map(Vec::len).sum::<usize>() as u64 <= limits.total + (64 << 10));
        for name in written.keys() {
            assert!(!target.join(name).is_symlink(), "{name}");
            assert!(name.is_ascii() || name.chars().all(|c| !c.is_control()), "{name:?}");
        }
        fs::remove_dir_all(&target).unwrap();
    }
    result
}

#[test]
fn whatever_becomes_of_archives() {
    let rounds = std::env::var("WSKILL_MUTATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(400);
    let long = "long/".repeat(30) + "name";
    let zip = zip(&[
        ZipEntry::folder("demo/"),
        ZipEntry::new("demo/SKILL.md", SKILL),
        ZipEntry::new("demo/a", &[b'x'; 3000]),
        ZipEntry::new("demo/b", b"stored").with(|entry| (entry.method, entry.stored) = (0, b"stored".to_vec())),
    ]);
    let tar = tar(&[
        tar_entry("demo/", b'5', b""),
        tar_entry("demo/SKILL.md", b'0', SKILL),
        pax(&[("path", &long), ("mtime", "1")]),
        tar_entry("cut", b'0', &[b'x'; 1500]),
        tar_entry("././@LongLink", b'L', b"demo/other\0"),
        tar_entry("cut", b'0', b"x"),
    ]);
    let mut limits = Limits::default();
    limits.entries = 50;
    limits.file = 100_000;
    limits.total = 200_000;
    let place = tempdir().unwrap();
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
    let (mut whole, mut refused) = (0, 0);
    for round in 0..rounds {
        let (name, archive) = match round % 4 {
            0 => ("a.zip", mutate(&zip, &mut chance)),
            1 => {
                let mut archive = mutate(&tar, &mut chance);
                reseal(&mut archive);
                ("a.tar", archive)
            }
            2 => {
                let mut archive = mutate(&tar, &mut chance);
                reseal(&mut archive);
                ("a", gzip(&archive))
            }
            _ => ("a.tgz", mutate(&gzip(&tar), &mut chance)),
        };
        match check(place.path(), name, &archive, &limits) {
            Ok(()) => whole += 1,
            Err(_) => refused += 1,
        }
    }
    assert!(whole > rounds / 100 && refused > rounds / 4, "{whole} {refused}");
}
