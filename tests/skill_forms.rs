//! Every form of SKILL.md that is read: the bytes, and what comes of them. The rows are in `skill_forms/*.toml`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;
use std::path::Path;

use wskill::skill::{Severity, SkillFile, Summary};

/// The forms that must be read, or refused with a reason. Each has a row at least.
const FORMS: &[&str] = &[
    // Around the front matter.
    "plain",
    "byte order mark",
    "CRLF",
    "CR",
    "blank lines before the fence",
    "HTML comment before the fence",
    "blanks after a fence",
    "closing fence at the end of the file",
    "dots as closing fence",
    "empty front matter",
    "no closing fence",
    "fields without fences",
    "no front matter, heading",
    "no front matter, paragraph",
    "dashes in a value",
    "rule in the body",
    // Values.
    "block scalar |",
    "block scalar |-",
    "block scalar |+",
    "block scalar |2",
    "block scalar >",
    "block scalar >-",
    "block scalar >+",
    "block scalar >2-",
    "multi-line plain value",
    "multi-line double-quoted value",
    "multi-line single-quoted value",
    "number with a zero as name",
    "number as name",
    "date as name",
    "# inside a value",
    "# cuts a value",
    // Lines that are not YAML.
    "unquoted colon",
    "unbalanced double quote",
    "unbalanced single quote",
    "quotes inside quotes",
    "@",
    "backtick",
    "percent sign",
    "asterisk",
    "ampersand",
    "exclamation mark",
    "tab",
    "[a] [b]",
    "list as text",
    "value that goes on without indentation",
    "colon without blank",
    "line that is no field",
    "broken nested line",
    "control character",
    "alias bomb",
    "second document",
    // Fields.
    "license",
    "compatibility",
    "metadata, nested",
    "metadata in braces",
    "metadata as JSON text",
    "metadata that is no map",
    "allowed-tools with blanks",
    "allowed-tools with commas",
    "allowed-tools with parentheses",
    "allowed-tools as list",
    "unknown fields",
    "disable-model-invocation",
    "user-invocable",
    "argument-hint",
    "model",
    "context",
    "truth value that is none",
    "field twice",
    "field in other spelling",
    // Names.
    "no name",
    "name is not the folder's",
    "name in upper case",
    "name with underscore",
    "name with blank",
    "name too long",
    "name in another script",
    "name ../x",
    "name with slash",
    "name with control character",
    // What is refused.
    "over 10 MiB",
    "header over 64 KiB",
    "not UTF-8",
    "UTF-16",
    "no description",
    "empty description",
    "empty file",
];

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Rows {
    row: Vec<Row>,
}

/// An input, and what it gives.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    form: String,
    #[serde(default)]
    input: String,
    /// Bytes instead of text.
    #[serde(default)]
    bytes: Vec<u8>,
    /// The input is filled up to so many bytes with `x`.
    #[serde(default)]
    pad: usize,
    /// Default: `skill`.
    folder: Option<String>,
    /// Default: `skill`.
    name: Option<String>,
    /// Default: `Does it.`
    description: Option<String>,
    /// Default: `Body.` and a line feed.
    body: Option<String>,
    /// Other fields of the manifest, as JSON has them.
    #[serde(default)]
    fields: toml::Table,
    /// `LINE:COLUMN code`, all of them.
    #[serde(default)]
    findings: Vec<String>,
    /// The message, when the file is refused.
    error: Option<String>,
}

fn rows() -> Vec<(String, Row)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/skill_forms");
    let mut rows = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        let parsed: Rows =
            toml::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap_or_else(|e| panic!("{file}: {e}"));
        rows.extend(parsed.row.into_iter().map(|row| (format!("{file}: {}", row.form), row)));
    }
    rows
}

impl Row {
    fn input(&self) -> Vec<u8> {
        let mut bytes = if self.bytes.is_empty() { self.input.clone().into_bytes() } else { self.bytes.clone() };
        bytes.resize(bytes.len().max(self.pad), b'x');
        bytes
    }

    fn folder(&self) -> &str {
        self.folder.as_deref().unwrap_or("skill")
    }
}

#[test]
fn each_form_has_a_row() {
    let named: BTreeSet<String> = rows().into_iter().map(|(_, row)| row.form).collect();
    let missing: Vec<_> = FORMS.iter().filter(|form| !named.contains(**form)).collect();
    let unknown: Vec<_> = named.iter().filter(|form| !FORMS.contains(&form.as_str())).collect();
    assert!(missing.is_empty() && unknown.is_empty(), "without a row: {missing:?}; not in the list: {unknown:?}");
}

#[test]
fn each_form_is_read() {
    let mut wrong = Vec::new();
    for (place, row) in rows() {
        let got = describe(&SkillFile::parse(&row.input(), row.folder()), &row.fields);
        let expected = expected(&row);
        if got != expected {
            wrong.push(format!("{place}: {:?}\n  expected {expected}\n  got      {got}", row.input));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn describe(result: &Result<SkillFile, wskill::skill::SkillError>, fields: &toml::Table) -> String {
    let file = match result {
        Ok(file) => file,
        Err(error) => return error.to_string(),
    };
    assert!(file.findings().iter().all(|finding| finding.severity == Severity::Warning));
    let findings: Vec<_> =
        file.findings().iter().map(|finding| format!("{}:{} {}", finding.line, finding.column, finding.code)).collect();
    let manifest = serde_json::to_value(file.manifest()).unwrap();
    let fields: Vec<_> = fields.keys().map(|key| format!("{key}={}", manifest[key])).collect();
    let manifest = file.manifest();
    format!("{:?} {:?} {:?} {fields:?} {findings:?}", manifest.name, manifest.description, file.body())
}

fn expected(row: &Row) -> String {
    if let Some(error) = &row.error {
        return error.clone();
    }
    let fields: Vec<_> =
        row.fields.iter().map(|(key, value)| format!("{key}={}", serde_json::to_value(value).unwrap())).collect();
    let name = row.name.as_deref().unwrap_or("skill");
    let description = row.description.as_deref().unwrap_or("Does it.");
    let body = row.body.as_deref().unwrap_or("Body.\n");
    format!("{name:?} {description:?} {body:?} {fields:?} {:?}", row.findings)
}

#[test]
fn summaries_say_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("SKILL.md");
    for (place, row) in rows() {
        let mut input = row.input();
        let whole = SkillFile::parse(&input, row.folder());
        // A summary does not read the body: it may be long, or not UTF-8.
        let has_header = |file: &SkillFile| !file.findings().iter().any(|finding| finding.code == "no-front-matter");
        if whole.as_ref().is_ok_and(has_header) && row.input.contains("---\n") {
            input.resize(100_000, b'x');
            input.push(0xff);
        }
        std::fs::write(&path, &input).unwrap();
        match (whole, Summary::read(&path, row.folder())) {
            (Ok(file), Ok(summary)) => {
                assert_eq!(summary.name(), file.manifest().name, "{place}");
                assert_eq!(summary.description(), file.manifest().description, "{place}");
                assert_eq!(usize::from(summary.warnings()), file.findings().len(), "{place}");
                assert_eq!(summary.bytes(), input.len() as u64, "{place}");
            }
            (Err(whole), Err(summary)) => {
                assert!(summary.to_string().ends_with(&whole.to_string()), "{place}: {summary}")
            }
            (whole, summary) => panic!("{place}: {whole:?} but {summary:?}"),
        }
    }
}
