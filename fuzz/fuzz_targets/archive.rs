//! Any bytes as an archive: never a panic, and nothing outside of the target.
#![no_main]

use std::fs;

use libfuzzer_sys::fuzz_target;
use wskill::source::{Limits, unpack};

fuzz_target!(|bytes: &[u8]| {
    // The first byte chooses the name, and so the kind that is expected.
    let Some((choice, bytes)) = bytes.split_first() else { return };
    let name = ["a.zip", "a.tar", "a.tar.gz", "a.skill", "SKILL.md", "a"][usize::from(*choice) % 6];
    let place = tempfile::tempdir().unwrap();
    let archive = place.path().join("archive");
    fs::write(&archive, bytes).unwrap();
    let _ = unpack(&archive, name, &place.path().join("target"), &Limits::default());
    for entry in fs::read_dir(place.path()).unwrap() {
        let name = entry.unwrap().file_name();
        assert!(name == "archive" || name == "target", "{name:?}");
    }
});
