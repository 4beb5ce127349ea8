//! Any bytes as a SKILL.md: never a panic, places are real, and what is read is read again from what is printed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wskill::skill::SkillFile;

fuzz_target!(|bytes: &[u8]| {
    let Ok(file) = SkillFile::parse(bytes, "folder") else { return };
    assert!(bytes.ends_with(file.body().as_bytes()), "the body is not the file's");
    for finding in file.findings() {
        assert!(finding.line >= 1 && finding.column >= 1, "{finding}");
    }
    let printed = format!("---\n{}\n---\n", file.manifest().to_yaml().trim_end());
    match SkillFile::parse(printed.as_bytes(), "folder") {
        Ok(again) => assert_eq!(again.manifest(), file.manifest(), "{printed}"),
        Err(error) => panic!("{error}: {printed}"),
    }
});
