//! Properties of reading and printing, over generated input.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Map, Value as Json};

use super::super::manifest::FIELDS;
use super::super::{Manifest, SkillError, SkillFile};

/// Headers that are read without a finding, to be damaged.
const VALID: [&str; 4] = [
    "---\nname: skill\ndescription: Does it.\n---\nBody.\n",
    "---\nname: skill\ndescription: >-\n  Does\n  it.\nmetadata:\n  a: {b: [1, true]}\n  c:\n    - d\n---\n# Body\n",
    "---\r\nname: \"skill\"\r\ndescription: 'Does'\r\nallowed-tools: Bash(a b), Read\r\n---\r\nBody.\r\n",
    "---\ndescription: |\n  Does: it\n\n  # more\nname: skill # c\nlicense: a\n  b\n---\n\nTools:\n- a\n",
];
/// What damages are made of.
const PIECES: [&str; 24] = [
    "---\n", "...\n", "\n", "\r", "\t", " ", ": ", ":", "#", " #", "\"", "'", "[", "]", "{", "}", "- ", "|\n", ">\n",
    "&a ", "*a", "!x ", "\u{feff}", "ä",
];

/// What must hold whatever the input is.
fn holds(bytes: &[u8]) -> Result<(), TestCaseError> {
    let file = match SkillFile::parse(bytes, "skill") {
        Ok(file) => file,
        Err(SkillError::In { .. } | SkillError::Read { .. }) => {
            return Err(TestCaseError::fail("no file is read here"));
        }
        Err(_) => return Ok(()),
    };
    prop_assert!(bytes.ends_with(file.body().as_bytes()));
    let before = bytes.len() - file.body().len();
    let lines = bytes[..before].iter().enumerate().filter(|(at, byte)| match byte {
        b'\n' => true,
        b'\r' => bytes.get(at + 1) != Some(&b'\n'),
        _ => false,
    });
    prop_assert_eq!(file.body_line() as usize, 1 + lines.count());
    prop_assert!(!file.manifest().description.is_empty());
    for finding in file.findings() {
        prop_assert!(
            finding.line >= 1 && finding.column >= 1 && !finding.message.contains(char::is_control),
            "{}",
            finding
        );
    }
    // Printed and read again it is the same, and nothing is repaired.
    let printed = format!("---\n{}---\n{}", file.manifest().to_yaml(), file.body());
    let again = SkillFile::parse(printed.as_bytes(), "skill")
        .map_err(|error| TestCaseError::fail(format!("{error}: {printed}")))?;
    prop_assert_eq!(again.manifest(), file.manifest(), "{}", printed);
    prop_assert_eq!(again.body(), file.body());
    let repairs = ["yaml-syntax", "ignored-line", "comment-cuts-value", "duplicate-field", "not-text"];
    prop_assert!(!again.findings().iter().any(|finding| repairs.contains(&finding.code)), "{:?}", again.findings());
    super::super::tools::parse(file.body(), 0, &mut super::super::finding::Log::new(file.body()));
    super::super::links::parse(file.body(), 0);
    Ok(())
}

fn json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        text().prop_map(Json::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Json::from),
            btree_map(text(), inner, 0..4).prop_map(|map| Json::Object(map.into_iter().collect())),
        ]
    })
}

/// Text that is hard to print.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        vec(prop::sample::select(&PIECES[..]), 0..6).prop_map(|pieces| pieces.concat()),
        prop::sample::select(vec![
            "yes",
            "null",
            "~",
            "0123",
            "1.10",
            "1e3",
            "0x1F",
            "2026-01-01",
            "true",
            "---",
            "- a",
            "a: b",
            "<<",
            "? x",
            "1_0",
            ".5",
            "+1"
        ])
        .prop_map(str::to_owned),
        "[a-z]{1,10}( [a-z]{1,10}){0,40}",
    ]
}

/// A part of a header that is likely to be broken.
fn piece() -> impl Strategy<Value = String> {
    let known = prop::sample::select(&PIECES[..]).prop_map(str::to_owned);
    prop_oneof![known, "name: |description: |metadata:\n|[a-z]{1,5}"]
}

prop_compose! {
    fn manifest()(
        description in text().prop_map(|text| text.trim().to_owned()).prop_filter("empty", |text| !text.is_empty()),
        license in proptest::option::of(text()),
        hint in proptest::option::of(text()),
        tools in vec("[A-Za-z]{1,8}(\\([a-z :*,]{0,12}\\))?|[ -~]{0,8}", 0..4),
        flags in any::<(bool, bool)>(),
        metadata in btree_map(text(), json(), 0..4),
        extra in btree_map("[a-z]{1,6}-[a-z]{1,6}", json(), 0..3),
    ) -> Manifest {
        let trimmed = |text: Option<String>| text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        Manifest {
            license: trimmed(license),
            argument_hint: trimmed(hint),
            allowed_tools: tools.iter().map(|tool| tool.trim().to_owned()).filter(|tool| !tool.is_empty()).collect(),
            disable_model_invocation: flags.0,
            user_invocable: flags.1,
            metadata: metadata.into_iter().collect::<Map<_, _>>(),
            extra: extra.into_iter().filter(|(key, _)| !FIELDS.contains(&key.as_str())).collect(),
            ..Manifest::new("skill", description)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..200)) {
        holds(&bytes)?;
    }

    #[test]
    fn any_text_is_read_or_refused(pieces in vec(piece(), 0..30)) {
        holds(pieces.concat().as_bytes())?;
        holds(format!("---\ndescription: x\n{}\n---\n", pieces.concat()).as_bytes())?;
    }

    #[test]
    fn damaged_headers_are_read_or_refused(
        valid in prop::sample::select(&VALID[..]),
        damages in vec((any::<prop::sample::Index>(), 0..6_usize, prop::sample::select(&PIECES[..])), 1..5),
    ) {
        let mut bytes = valid.as_bytes().to_vec();
        for (at, length, piece) in damages {
            let start = at.index(bytes.len() + 1);
            let end = (start + length).min(bytes.len());
            bytes.splice(start..end, piece.bytes());
        }
        holds(&bytes)?;
    }

    #[test]
    fn printed_manifests_are_read_as_they_were(manifest in manifest()) {
        let text = format!("---\n{}---\nBody.\n", manifest.to_yaml());
        let file = SkillFile::parse(text.as_bytes(), "skill").map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(file.manifest(), &manifest, "{}", text);
        let rules = ["description-too-long", "comment-cuts-value"];
        prop_assert!(file.findings().iter().all(|finding| finding.code == rules[0]), "{:?}", file.findings());
        prop_assert_eq!(file.body(), "Body.\n");
    }
}
