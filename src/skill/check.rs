//! The strict reading of a skill, for its author.

use std::path::Path;

use super::error::SkillError;
use super::finding::{FileFinding, Finding, Log, Severity};
use super::folder::{folder_name, locate};
use super::header::{self, Draft, is_safe_name};
use super::manifest::{Shape, Spot};
use super::split::Fence;
use super::text::{lines, shown};
use super::{documents, file, links, tools};

/// Most lines of a body (specification, "progressive disclosure").
const BODY_LINES: usize = 500;
/// Most tokens of a body, as the specification recommends.
const BODY_TOKENS: usize = 5000;
/// Bytes of English text for each token, about.
const TOKEN_BYTES: usize = 4;
/// Repairs of a header that the reference validator refuses.
const REFUSED: [&str; 8] = [
    "byte-order-mark",
    "leading-content",
    "no-fences",
    "no-closing-fence",
    "fence-dots",
    "yaml-syntax",
    "ignored-line",
    "duplicate-field",
];
/// Words that Anthropic's API refuses in names.
const RESERVED: [&str; 2] = ["anthropic", "claude"];

/// Checks a skill. Errors are broken rules of the specification, in the order in which its reference validator
/// (skills-ref) has them; then come warnings, by file and line: what other clients refuse, and what does not do what
/// its author meant.
///
/// Where the validator stops at the first error of syntax, the others are told too. Some YAML that its parser refuses
/// is no error here: lists and maps in brackets (`flow-style`, a warning), tags such as `!!str`, a tab within a value
/// (`description-tab`, a warning), and `---` within a value.
///
/// ```
/// let findings = wskill::skill::check("skills/python-math".as_ref());
/// assert!(findings.is_empty(), "{findings:?}");
/// let findings = wskill::skill::check("no/such/folder".as_ref());
/// assert_eq!(findings[0].finding.code, "no-folder");
/// ```
pub fn check(folder: &Path) -> Vec<FileFinding> {
    let (real, path) = match locate(folder) {
        Ok(found) => found,
        Err(error) => return vec![failure("", &error)],
    };
    let file_name = folder_name(&path).into_owned();
    let text = match file::read_text(&path) {
        Ok(text) => text,
        Err(error) => return vec![failure(&file_name, &error)],
    };
    let name = folder_name(&real);
    let draft = match header::read(&text, true) {
        Ok(draft) => draft,
        Err(error) => return vec![failure(&file_name, &error)],
    };
    let begin = draft.parts.body;
    let mut findings = header(draft, &name);
    findings.1.extend(body(&text, begin, &real));
    if file_name != "SKILL.md" {
        let message = "the file is named `skill.md`, which many clients do not look for; name it `SKILL.md`".to_owned();
        findings.1.push(Finding { severity: Severity::Warning, code: "file-name", line: 1, column: 1, message });
    }
    findings.1.sort_by_key(|finding| (finding.line, finding.column));
    let in_file = |finding| FileFinding { file: file_name.clone(), finding };
    let findings = findings.0.into_iter().chain(findings.1).map(in_file);
    findings.chain(documents::list(&real).findings).collect()
}

/// Errors, and warnings.
type Findings = (Vec<Finding>, Vec<Finding>);

fn failure(file: &str, error: &SkillError) -> FileFinding {
    let inner = match error {
        SkillError::In { source, .. } => source,
        error => error,
    };
    let (code, line, column) = match inner {
        SkillError::NoFolder(_) => ("no-folder", 1, 1),
        SkillError::NoSkillFile(_) => ("no-skill-file", 1, 1),
        SkillError::TooLarge { .. } => ("too-large", 1, 1),
        SkillError::HeaderTooLarge => ("header-too-large", 1, 1),
        SkillError::NotUtf8 { line, column, .. } => ("not-utf8", *line, *column),
        SkillError::LinkOutside => ("link-outside", 1, 1),
        _ => ("unreadable", 1, 1),
    };
    let message = match inner {
        SkillError::NotUtf8 { hint, .. } => format!("the text is not UTF-8{hint}"),
        other => other.to_string(),
    };
    FileFinding { file: file.to_owned(), finding: Finding { severity: Severity::Error, code, line, column, message } }
}

fn header(mut draft: Draft<'_>, folder: &str) -> Findings {
    if draft.parts.header.is_none() {
        let message = match draft.parts.fence {
            Fence::NoEnd => "the front matter is not closed; put a line `---` after its last field",
            _ => "there is no front matter; put `name` and `description` between two lines `---` at the file's begin",
        };
        draft.log.add(Severity::Error, 0, "no-front-matter", message);
    } else {
        draft.rules(folder, Severity::Error);
        clients(&mut draft);
    }
    let refuse = |mut finding: Finding| {
        if REFUSED.contains(&finding.code) {
            finding.severity = Severity::Error;
        }
        finding
    };
    let findings = draft.log.into_findings().into_iter().map(refuse);
    findings.partition(|finding| finding.severity == Severity::Error)
}

/// What other clients refuse or misread, beyond the rules.
fn clients(draft: &mut Draft<'_>) {
    let Draft { manifest, spots, log, .. } = draft;
    let spot = |field: &str| spots.iter().find(|spot| spot.field == field);
    let shape = |spot: Option<&Spot>| spot.map(|spot| spot.shape);
    let mut warn = |spot: Option<&Spot>, code, message: String| {
        if let Some(spot) = spot {
            log.warn(spot.value, code, message);
        }
    };
    let (name, description) = (spot("name"), spot("description"));
    if !manifest.name.is_empty() && !is_safe_name(&manifest.name) {
        warn(
            name,
            "name-unsafe",
            "the name cannot be that of a folder, so no client loads the skill; rename it".into(),
        );
    }
    if !manifest.name.is_ascii() {
        warn(
            name,
            "name-not-ascii",
            "Anthropic's validator accepts a-z, 0-9 and hyphens only; rename the skill".into(),
        );
    }
    if let Some(word) = RESERVED.iter().find(|word| manifest.name.to_lowercase().contains(*word)) {
        warn(name, "name-reserved", format!("Anthropic's API refuses names with `{word}`; rename the skill"));
    }
    if manifest.description.contains(['<', '>']) {
        let message = "Anthropic's validator refuses `<` and `>` in descriptions; write it without";
        warn(description, "description-angle-brackets", message.into());
    }
    if manifest.description.contains('\t') {
        let message = "there is a tab in the description, which Python's YAML parsers refuse; write a blank";
        warn(description, "description-tab", message.into());
    }
    if spot("compatibility").is_some() && manifest.compatibility.is_none() {
        warn(spot("compatibility"), "compatibility-empty", "`compatibility` is empty; remove it".into());
    }
    if shape(spot("allowed-tools")) == Some(Shape::List) {
        let message = "the specification wants one text with blanks between the tools; some clients read no list";
        warn(spot("allowed-tools"), "allowed-tools-list", message.into());
    }
    if let Some((key, _)) = manifest.metadata.iter().find(|(_, value)| !value.is_string()) {
        let message =
            format!("the value of `{}` is no text, and the specification wants text; put it in quotes", shown(key));
        warn(spot("metadata"), "metadata-not-text", message);
    }
    if let Some(at) = draft.flow {
        let message =
            "the reference validator reads no lists and maps in brackets; write one line for each value, or quotes";
        log.warn(at, "flow-style", message);
    }
}

fn body(text: &str, begin: usize, folder: &Path) -> Vec<Finding> {
    let mut log = Log::new(text);
    let body = &text[begin..];
    if body.trim().is_empty() {
        log.warn(begin, "body-empty", "there is no text after the front matter; say how the skill is used");
    }
    let count = lines(text, begin).count();
    if count > BODY_LINES {
        let at = lines(text, begin).nth(BODY_LINES).map_or(begin, |line| line.start);
        log.warn(
            at,
            "body-lines",
            format!("the body has {count} lines, and {BODY_LINES} are advised; move details into documents"),
        );
    } else if body.len() / TOKEN_BYTES > BODY_TOKENS {
        let tokens = body.len() / TOKEN_BYTES;
        log.warn(
            begin,
            "body-tokens",
            format!("the body has about {tokens} tokens, and {BODY_TOKENS} are advised; move details into documents"),
        );
    }
    tools::parse(text, begin, &mut log);
    for link in links::parse(text, begin) {
        let path = shown(&link.path);
        if links::leads_out(&link.path) {
            log.warn(
                link.at,
                "link-outside",
                format!("`{path}` is outside of the skill's folder, so it is not there for others; copy it here"),
            );
        } else if !folder.join(&link.path).exists() {
            log.warn(link.at, "broken-link", format!("there is no file `{path}`; correct the link"));
        }
    }
    log.into_findings()
}
