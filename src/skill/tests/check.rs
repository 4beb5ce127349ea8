//! The findings for authors.

use super::super::{Severity, check};
use super::write;

/// The findings for a SKILL.md in a folder `skill`, as `LINE:COLUMN severity code`.
fn findings(text: impl AsRef<[u8]>) -> Vec<String> {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("skill");
    write(&folder, "SKILL.md", text);
    write(&folder, "docs/a file.md", "");
    let findings = check(&folder);
    assert!(findings.iter().all(|found| found.file == "SKILL.md"));
    let shown = |finding: super::super::Finding| {
        format!("{}:{} {} {}", finding.line, finding.column, finding.severity, finding.code)
    };
    findings.into_iter().map(|found| shown(found.finding)).collect()
}

#[test]
fn rules_come_in_the_validators_order() {
    let long = "x".repeat(1025);
    let text =
        format!("---\ncompatibility: {long}\nversion: 1\nname: -A--b_\ndescription: {long}\nmodel: x\n---\nBody\n");
    assert_eq!(
        findings(text),
        [
            "3:1 error unexpected-field",
            "6:1 error unexpected-field",
            "4:7 error name-not-lowercase",
            "4:7 error name-hyphen-edge",
            "4:7 error name-double-hyphen",
            "4:7 error name-characters",
            "4:7 error name-folder-mismatch",
            "5:14 error description-too-long",
            "2:16 error compatibility-too-long",
        ]
    );
    assert_eq!(findings("---\nlicense: MIT\n---\nBody\n"), ["2:1 error name-missing", "2:1 error description-missing"]);
    assert_eq!(
        findings("---\nname:\ndescription: [a]\n---\nBody\n"),
        ["2:5 error name-empty", "3:14 error description-empty", "3:14 warning not-text", "3:14 warning flow-style"]
    );
}

#[test]
fn syntax_is_an_error() {
    assert_eq!(findings("---\nname: skill\ndescription: a: b\n---\nBody\n"), ["3:15 error yaml-syntax"]);
    assert_eq!(findings("\n---\nname: skill\ndescription: x\n---\nBody\n"), ["2:1 error leading-content"]);
    assert_eq!(findings("name: skill\ndescription: x\n\nBody\n"), ["1:1 error no-fences"]);
    assert_eq!(findings("# Skill\n"), ["1:1 error no-front-matter"]);
    assert_eq!(
        findings("---\nname: skill\ndescription: x\n"),
        ["1:1 error no-closing-fence", "4:1 warning body-empty"]
    );
    assert_eq!(findings("---\nname: a\nname: skill\ndescription: x\n---\nBody\n"), ["3:1 error duplicate-field"]);
    assert_eq!(findings(b"---\nname: \xff\n---\n"), ["2:7 error not-utf8"]);
    assert_eq!(findings(vec![b'x'; (10 << 20) + 1]), ["1:1 error too-large"]);
}

#[test]
fn other_clients_are_warned_of() {
    assert_eq!(
        findings(
            "---\nname: skill\ndescription: a <b> c # d\ncompatibility: ''\n\
             allowed-tools:\n  - a\nmetadata:\n  a: 1\n---\nBody\n"
        ),
        [
            "3:14 warning description-angle-brackets",
            "3:22 warning comment-cuts-value",
            "4:16 warning compatibility-empty",
            "6:3 warning allowed-tools-list",
            "8:3 warning metadata-not-text",
        ]
    );
    assert_eq!(
        findings("---\nname: claude-ö\ndescription: x\n---\nBody\n"),
        ["2:7 error name-folder-mismatch", "2:7 warning name-not-ascii", "2:7 warning name-reserved"]
    );
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("skill");
    write(&folder, "skill.md", "---\nname: skill\ndescription: x\n---\nBody\n");
    let shown: Vec<_> = check(&folder).iter().map(ToString::to_string).collect();
    let expected = "skill.md:1:1: warning: the file is named `skill.md`, which many clients do not look \
         for; name it `SKILL.md` [file-name]";
    assert_eq!(shown, [expected]);
}

#[test]
fn bodies_are_looked_at() {
    let head = "---\nname: skill\ndescription: x\n---\n";
    let body = "[ok](docs/a%20file.md#top) [no](docs/no.md \"t\") ![pic](<a b.png>) `[code](x.md)`\n\
                [web](https://example.org/x.md) [top](#top) [mail](mailto:a@b) [abs](/etc/passwd) [var]({name}.md)\n\
                [up](../other/x.md) [base]({baseDir}/docs/none.md) [again](docs/../docs/a%20file.md)\n\
                ```\n[code](y.md)\n```\n[ref]: z.md\n[^1]: note\n(see [paren](a(b).md))\n";
    assert_eq!(
        findings(format!("{head}{body}")),
        [
            "5:33 warning broken-link",
            "5:56 warning broken-link",
            "7:6 warning link-outside",
            "7:28 warning broken-link",
            "11:8 warning broken-link",
            "13:14 warning broken-link",
        ]
    );
    assert_eq!(findings(format!("{head}{}", "a\n".repeat(501))), ["505:1 warning body-lines"]);
    assert_eq!(findings(format!("{head}{}", "a".repeat(20_004))), ["5:1 warning body-tokens"]);
    assert_eq!(findings(format!("{head}Tools:\n- a b c\n")), ["6:1 warning tool-name"]);
}

#[test]
fn what_cannot_be_opened_is_told() {
    let root = tempfile::tempdir().unwrap();
    let code = |path: &str| {
        let findings = check(&root.path().join(path));
        assert_eq!((findings.len(), findings[0].finding.severity), (1, Severity::Error));
        findings[0].finding.code
    };
    write(root.path(), "file", "");
    std::fs::create_dir(root.path().join("empty")).unwrap();
    assert_eq!([code("none"), code("file"), code("empty")], ["no-folder", "no-folder", "no-skill-file"]);
}
