//! From the text of a SKILL.md to its fields and to what was noticed on the way.

use super::error::SkillError;
use super::finding::{Finding, Log, Severity};
use super::manifest::{self, Manifest, Spot};
use super::rules;
use super::split::{Parts, split};
use super::text::{self, lines, position, shown};
use super::yaml::{self, Value, YamlError};

/// Most bytes of a name: what file systems allow for a folder's.
const NAME_BYTES: usize = 255;

/// A header that is read, but perhaps without name or description.
pub(super) struct Draft<'a> {
    pub(super) manifest: Manifest,
    pub(super) spots: Vec<Spot>,
    pub(super) parts: Parts,
    /// Where the first list or map in brackets is.
    pub(super) flow: Option<usize>,
    /// Where the header begins.
    pub(super) begin: usize,
    pub(super) text: &'a str,
    pub(super) log: Log<'a>,
}

/// Reads the header of a text. With `complete` false it is the begin of a longer one.
pub(super) fn read(text: &str, complete: bool) -> Result<Draft<'_>, SkillError> {
    let mut log = Log::new(text);
    let parts = split(text, complete, &mut log)?;
    let range = parts.header.clone().unwrap_or(0..0);
    let begin = range.start;
    let fields = match yaml::parse(&text[range.clone()], range.start) {
        Ok(document) => match document.root {
            None => super::lines::Fields::default(),
            Some(yaml::Node { value: Value::Map(entries), .. }) => {
                super::lines::Fields { entries, cuts: document.cuts, flow: document.flow }
            }
            Some(node) => {
                let why = YamlError { at: node.start, message: "there are no fields, as `name: value`".into() };
                super::lines::parse(text, range, &why, &mut log)
            }
        },
        Err(why) => super::lines::parse(text, range, &why, &mut log),
    };
    for at in fields.cuts {
        let message = "the text from `#` on is a comment and not part of the value; put the value in quotes if it is";
        log.warn(at, "comment-cuts-value", message);
    }
    let (manifest, spots) = manifest::read(text, fields.entries, &mut log);
    Ok(Draft { manifest, spots, parts, flow: fields.flow, begin, text, log })
}

impl Draft<'_> {
    /// The header as it is used, with what the folder's name and the body give.
    pub(super) fn finish(mut self, folder: &str) -> Result<(Manifest, Parts, Vec<Finding>), SkillError> {
        if self.spots.is_empty() {
            let message = "there is no front matter: the name is the folder's and the description the body's begin; \
                           add `name` and `description` between two lines `---` at the begin of the file";
            self.log.warn(0, "no-front-matter", message);
            self.manifest.description = first_words(&self.text[self.parts.body..]);
        } else {
            self.rules(folder, Severity::Warning);
        }
        let place = |field: &str, part: fn(&Spot) -> usize| {
            let spot = self.spots.iter().find(|spot| spot.field == field);
            position(self.text, spot.map_or(self.begin, part))
        };
        if self.manifest.name.is_empty() {
            self.manifest.name = folder.to_owned();
        }
        if !is_safe_name(&self.manifest.name) {
            let (line, column) = place("name", |spot| spot.value);
            return Err(SkillError::UnsafeName { name: shown(&self.manifest.name), line, column });
        }
        if self.manifest.description.is_empty() {
            let (line, column) = place("description", |spot| spot.key);
            return Err(SkillError::NoDescription { line, column });
        }
        let mut findings = self.log.into_findings();
        findings.sort_by_key(|finding| (finding.line, finding.column));
        Ok((self.manifest, self.parts, findings))
    }

    /// Applies the specification's rules.
    pub(super) fn rules(&mut self, folder: &str, severity: Severity) {
        let header =
            rules::Header { manifest: &self.manifest, spots: &self.spots, begin: self.begin, folder, severity };
        rules::apply(&header, &mut self.log);
    }
}

/// Whether a name can be that of a folder anywhere, and be printed.
pub(super) fn is_safe_name(name: &str) -> bool {
    // Marks that change the direction of the text after them make a list show other names than there are.
    let hidden = |c: char| matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    !name.is_empty()
        && name.len() <= NAME_BYTES
        && !name.starts_with('.')
        && !name.chars().any(|c| matches!(c, '/' | '\\') || c.is_control() || hidden(c))
}

/// The first heading or paragraph of Markdown, in one line.
fn first_words(body: &str) -> String {
    let mut words = String::new();
    let mut at = body.len() - body.trim_start_matches(text::BYTE_ORDER_MARK).len();
    loop {
        let start = super::split::skip_leading(body, at);
        let Some(line) = lines(body, start).next() else { break };
        let content = line.text.trim();
        let heading = content.trim_start_matches('#');
        let level = content.len() - heading.len();
        let is_rule = content.len() >= 3 && content.bytes().all(|byte| byte == b'-' || byte == b'*');
        if is_rule {
            at = line.end;
        } else if (1..=6).contains(&level) && heading.starts_with([' ', '\t']) {
            words = heading.trim_matches(['#', ' ', '\t']).to_owned();
            at = line.end;
            if !words.is_empty() {
                break;
            }
        } else {
            let paragraph = lines(body, start).take_while(|line| !line.is_blank() && !line.text.starts_with('#'));
            words = paragraph.map(|line| line.text.trim()).collect::<Vec<_>>().join(" ");
            if words.is_empty() {
                words = content.to_owned();
            }
            break;
        }
    }
    // As much as a description may have.
    words.chars().take(1024).collect()
}
