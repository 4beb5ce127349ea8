//! Skills in folders: their files, and what may be read.

use std::fs;

use super::super::{DOCUMENT_LIMIT, FILES_LIMIT, Skill, SkillError, Summary};
use super::write;

const FILE: &str = "---\nname: demo\ndescription: Does it.\n---\nSee {baseDir}/x and __BASE_DIR__.\n";

#[test]
fn files_are_listed_by_kind() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("demo");
    write(&folder, "SKILL.md", FILE);
    for path in [
        "b.MD",
        "a/z.txt",
        "a.txt",
        "a/SKILL.md",
        "LICENSE.Txt",
        "scripts/run.sh",
        "logo.png",
        "md",
        ".hidden.md",
        ".git/x.md",
        "node_modules/x.md",
        "a/__pycache__/x.txt",
        ".venv/x.md",
        "noextension",
    ] {
        write(&folder, path, "1234");
    }
    let skill = Skill::open(&folder).unwrap();
    let files = skill.files();
    let paths = |list: &[super::super::DocumentEntry]| list.iter().map(|file| file.path.clone()).collect::<Vec<_>>();
    assert_eq!(paths(&files.documents), ["LICENSE.Txt", "a.txt", "a/z.txt", "b.MD"]);
    assert_eq!(paths(&files.resources), ["a/SKILL.md", "logo.png", "md", "noextension", "scripts/run.sh"]);
    assert!(files.documents.iter().chain(&files.resources).all(|file| file.bytes == 4));
    assert_eq!(files.findings, []);
    assert_eq!((skill.documents(), skill.resources()), (files.documents, files.resources));
}

#[test]
fn placeholders_become_the_path_in_the_sandbox() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "SKILL.md", FILE);
    write(root.path(), "doc.md", "{baseDir}__BASE_DIR__{{baseDir}}");
    let skill = Skill::open(root.path()).unwrap();
    assert_eq!(skill.body(), "See /workspace/skills/demo/x and /workspace/skills/demo.\n");
    assert_eq!(skill.file().body(), "See {baseDir}/x and __BASE_DIR__.\n");
    let path = "/workspace/skills/demo";
    assert_eq!(skill.document("doc.md").unwrap().text, format!("{path}{path}{{{path}}}"));
}

#[test]
fn documents_are_read_up_to_a_limit() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "SKILL.md", FILE);
    write(root.path(), "latin.txt", b"caf\xe9");
    let limit = usize::try_from(DOCUMENT_LIMIT).unwrap();
    write(root.path(), "long.md", format!("{}äb", "x".repeat(limit - 1)));
    write(root.path(), "full.md", "x".repeat(limit));
    let skill = Skill::open(root.path()).unwrap();
    let codes = |path| {
        let document = skill.document(path).unwrap();
        (document.text, document.findings.into_iter().map(|finding| finding.code).collect::<Vec<_>>())
    };
    assert_eq!(codes("latin.txt"), ("caf\u{fffd}".into(), vec!["not-utf8"]));
    assert_eq!(codes("long.md"), ("x".repeat(limit - 1), vec!["document-cut"]));
    assert_eq!(codes("full.md"), ("x".repeat(limit), vec![]));
}

#[test]
fn only_documents_can_be_read() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("demo");
    write(&folder, "SKILL.md", FILE);
    write(&folder, "doc.md", "text");
    write(&folder, "run.sh", "text");
    write(&folder, "sub/doc.md", "text");
    write(&folder, ".hidden/doc.md", "text");
    write(root.path(), "outside.md", "secret");
    let skill = Skill::open(&folder).unwrap();
    assert_eq!(skill.document("sub/doc.md").unwrap().text, "text");
    assert_eq!(skill.document("./doc.md").unwrap().text, "text");
    assert_eq!(
        skill.document("dok.md").unwrap_err().to_string(),
        "the skill `demo` has no document `dok.md`; it has doc.md, sub/doc.md"
    );
    let absolute = folder.join("doc.md");
    for path in [
        "",
        ".",
        "..",
        "../outside.md",
        "sub/../doc.md",
        "../demo/doc.md",
        absolute.to_str().unwrap(),
        "run.sh",
        "SKILL.md",
        "skill.MD",
        "sub",
        ".hidden/doc.md",
        "no.md",
        "doc.md\0",
        "doc.md/x.md",
        "a\u{1b}.md",
    ] {
        let error = skill.document(path).unwrap_err();
        assert!(matches!(error, SkillError::NoDocument { .. }), "{path}: {error}");
        assert!(!error.to_string().contains(['\u{1b}', '\0']), "{error}");
    }
}

#[cfg(unix)]
#[test]
fn links_lead_nowhere_outside() {
    use std::os::unix::fs::symlink;
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("demo");
    write(&folder, "SKILL.md", FILE);
    write(&folder, "sub/doc.md", "text");
    write(root.path(), "outside/secret.md", "secret");
    symlink("sub/doc.md", folder.join("link.md")).unwrap();
    symlink("../outside/secret.md", folder.join("out.md")).unwrap();
    symlink("../outside", folder.join("outside")).unwrap();
    symlink("../demo", folder.join("loop")).unwrap();
    symlink("loop.md", folder.join("loop.md")).unwrap();
    symlink("nowhere", folder.join("broken.md")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, folder.join("pipe.md"), rustix::fs::Mode::RUSR).unwrap();
    assert!(Summary::read(&folder.join("pipe.md"), "demo").unwrap_err().to_string().ends_with("it is no file"));
    let skill = Skill::open(&folder).unwrap();
    let files = skill.files();
    let paths: Vec<_> = files.documents.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["link.md", "sub/doc.md"]);
    let findings: Vec<_> = files.findings.iter().map(|found| (found.file.as_str(), found.finding.code)).collect();
    let expected = [
        ("broken.md", "unreadable"),
        ("loop", "link"),
        ("loop.md", "unreadable"),
        ("out.md", "link"),
        ("outside", "link"),
        ("pipe.md", "special-file"),
    ];
    assert_eq!(findings, expected);
    assert_eq!(skill.document("link.md").unwrap().text, "text");
    for path in ["out.md", "outside/secret.md", "broken.md", "loop.md", "pipe.md", "loop/../../outside/secret.md"] {
        assert!(skill.document(path).is_err(), "{path}");
    }
    // Nor does a SKILL.md.
    write(root.path(), "private/notes", "# Private notes\n");
    fs::create_dir(root.path().join("bad")).unwrap();
    symlink("../private/notes", root.path().join("bad/SKILL.md")).unwrap();
    let error = Skill::open(&root.path().join("bad")).unwrap_err().to_string();
    assert!(
        error.ends_with("bad/SKILL.md: the file is a link that leads out of the skill's folder; copy the file here")
    );
    assert!(Summary::read(&root.path().join("bad/SKILL.md"), "bad").is_err());
    assert_eq!(super::super::check(&root.path().join("bad"))[0].finding.code, "link-outside");
    fs::rename(folder.join("SKILL.md"), folder.join("sub/own.txt")).unwrap();
    symlink("sub/own.txt", folder.join("SKILL.md")).unwrap();
    assert_eq!(Summary::read(&folder.join("SKILL.md"), "demo").unwrap().name(), "demo");
    // A skill's folder may be a link itself.
    symlink("demo", root.path().join("other")).unwrap();
    let other = Skill::open(&root.path().join("other")).unwrap();
    assert_eq!(other, skill);
    assert_eq!(other.folder(), skill.folder());
    assert_eq!(other.document("link.md").unwrap().text, "text");
}

#[test]
fn many_and_deep_files_are_cut() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "SKILL.md", FILE);
    write(root.path(), &format!("{}deep.md", "d/".repeat(40)), "");
    let skill = Skill::open(root.path()).unwrap();
    assert_eq!(skill.files().findings[0].finding.code, "too-deep");
    for number in 0..=FILES_LIMIT {
        fs::write(root.path().join(format!("{number}.md")), "").unwrap();
    }
    let files = skill.files();
    assert_eq!(files.documents.len(), FILES_LIMIT);
    assert!(files.findings.iter().any(|found| found.finding.code == "too-many-files"));
}

#[test]
fn folders_are_skills_or_not() {
    let root = tempfile::tempdir().unwrap();
    let open = |path: &str| Skill::open(&root.path().join(path));
    assert!(matches!(open("none"), Err(SkillError::NoFolder(_))));
    fs::create_dir_all(root.path().join("folder/SKILL.md")).unwrap();
    assert!(matches!(open("folder"), Err(SkillError::NoSkillFile(_))));
    write(root.path(), "lower/skill.md", "# Lower\n");
    let lower = open("lower").unwrap();
    assert_eq!((lower.name(), lower.manifest().description.as_str()), ("lower", "Lower"));
    write(root.path(), "bad/SKILL.md", "---\nname: bad\n---\n");
    let error = open("bad").unwrap_err().to_string();
    assert!(error.contains("SKILL.md: 2:1: there is no description"), "{error}");
    write(root.path(), "latin/SKILL.md", b"---\nname: \xe9\n---\n");
    assert!(open("latin").unwrap_err().to_string().contains("2:7: the text is not UTF-8"));
    // A folder with an unsafe name gives no name.
    write(root.path(), ".hidden/SKILL.md", "# Hidden\n");
    assert!(open(".hidden").unwrap_err().to_string().contains("not safe"));
    write(root.path(), "tools/SKILL.md", "---\ndescription: x\n---\nTools:\n- a\n");
    assert_eq!(open("tools").unwrap().tools(), ["a"]);
}
