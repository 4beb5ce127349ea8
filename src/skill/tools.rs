//! The tools that a skill's body declares.
//!
//! A section begins with a line `Tools:`, as trpc-agent-python reads it, or with a heading `Tools`. Its list items are
//! names of tools, perhaps with a description after them. Lines that begin with `#` in the former and HTML comments in
//! both are comments.

use super::finding::Log;
use super::text::{Line, lines, shown};

/// The headings without `#` that end a `Tools:` section in trpc-agent-python.
const ENDS: [&str; 5] = ["Overview", "Examples", "Usage", "Description", "Installation"];

/// Where a line is.
#[derive(Clone, Copy, PartialEq)]
enum Section {
    Other,
    /// Below a line `Tools:`.
    Label,
    /// Below a heading.
    Heading,
}

/// The names in the `Tools` sections of a body, each once, in their order. `body` is an offset in the log's text.
pub(super) fn parse(text: &str, body: usize, log: &mut Log<'_>) -> Vec<String> {
    let mut tools: Vec<String> = Vec::new();
    let mut section = Section::Other;
    let mut first_indent = None;
    let mut blocks = Blocks::default();
    for line in lines(text, body) {
        let content = line.text.trim();
        if blocks.hides(content) || content.is_empty() {
            continue;
        }
        if let Some(next) = begins(content, section) {
            section = next;
            first_indent = None;
            continue;
        }
        if section == Section::Other || content.starts_with('#') {
            continue;
        }
        if let Some(item) = item(content) {
            // What is deeper describes the tool above it.
            if line.indent() > *first_indent.get_or_insert(line.indent()) {
                continue;
            }
            match tool(item) {
                Some(tool) if !tools.iter().any(|known| known == tool) => tools.push(tool.to_owned()),
                Some(_) => {}
                None if item.is_empty() || item.starts_with('#') => {}
                None => not_a_name(&line, item, log),
            }
        } else if section == Section::Label
            && (content.contains(':') || ENDS.iter().any(|end| content.starts_with(end)))
        {
            section = Section::Other;
        }
    }
    tools
}

fn not_a_name(line: &Line<'_>, item: &str, log: &mut Log<'_>) {
    let message = format!(
        "`{}` in the section Tools is no name of a tool and is ignored; write `- name: description`",
        shown(item)
    );
    log.warn(line.start + line.indent(), "tool-name", message);
}

/// What a line begins, when it is a heading or a label.
fn begins(content: &str, section: Section) -> Option<Section> {
    let is_tools = |title: &str| title.trim_end_matches(':').trim().eq_ignore_ascii_case("tools");
    if content.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("tools:")) {
        return Some(Section::Label);
    }
    let title = content.trim_start_matches('#');
    let level = content.len() - title.len();
    if !(1..=6).contains(&level) || !title.starts_with([' ', '\t']) {
        return None;
    }
    let title = title.trim_matches(['#', ' ', '\t', '*']);
    if is_tools(title) {
        return Some(Section::Heading);
    }
    // `# - name` and, below a label, `# text` are comments.
    let comment = item(title).is_some() || (section == Section::Label && level == 1);
    (!comment).then_some(Section::Other)
}

/// The text of a list item.
fn item(content: &str) -> Option<&str> {
    let rest = content.strip_prefix(['-', '*', '+'])?;
    // trpc-agent-python wants no blank after the `-`.
    let spaced = rest.is_empty() || rest.starts_with([' ', '\t']);
    (spaced || (content.starts_with('-') && !rest.starts_with('-'))).then(|| rest.trim())
}

/// The name at the begin of an item, when it is one: `name`, `` `name` ``, `**name**: what it does`.
fn tool(item: &str) -> Option<&str> {
    let marks = ['`', '*', '"', '\''];
    let bare = item.trim_start_matches(marks);
    let end =
        bare.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':'))).unwrap_or(bare.len());
    let name = bare[..end].trim_end_matches(':');
    let rest = bare[name.len()..].trim_start_matches(marks).trim_start();
    let described =
        rest.is_empty() || [":", "-", "–", "—", "(", "#", ",", "="].iter().any(|mark| rest.starts_with(mark));
    (name.starts_with(|c: char| c.is_alphanumeric() || c == '_') && described).then_some(name)
}

/// Code blocks and HTML comments, over lines.
#[derive(Default)]
pub(super) struct Blocks {
    fence: Option<(char, usize)>,
    comment: bool,
}

impl Blocks {
    /// Whether a line belongs to a code block or a comment. To be asked for each line in turn, without its blanks.
    pub(super) fn hides(&mut self, content: &str) -> bool {
        if let Some((mark, length)) = self.fence {
            let closes = content.len() >= length && content.chars().all(|c| c == mark);
            if closes {
                self.fence = None;
            }
            return true;
        }
        if self.comment {
            self.comment = !content.contains("-->");
            return true;
        }
        for mark in ['`', '~'] {
            let length = content.len() - content.trim_start_matches(mark).len();
            // A code span in backticks may stand alone in a line.
            if length >= 3 && !(mark == '`' && content[length..].contains('`')) {
                self.fence = Some((mark, length));
                return true;
            }
        }
        if let Some(rest) = content.strip_prefix("<!--") {
            self.comment = !rest.contains("-->");
            return true;
        }
        false
    }
}
