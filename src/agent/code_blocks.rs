//! The fenced code of an answer.

/// A fenced block of code in Markdown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeBlock {
    /// The first word after the opening fence, as it is written; empty when there is none.
    pub language: String,
    /// The lines between the fences, each with its end.
    pub code: String,
    /// The line of the opening fence, counted from 1.
    pub line: usize,
    /// Whether a fence closes it. An answer that was cut off ends in a block that is not closed.
    pub is_closed: bool,
}

impl CodeBlock {
    /// The command that runs the block: `python` for `python`, `py` and `python3`, `bash` for `bash`, `sh` and `shell`,
    /// in any case. None for other languages, and for a block that is not closed, as its end may be missing.
    pub fn interpreter(&self) -> Option<&str> {
        if !self.is_closed {
            return None;
        }
        match self.language.to_ascii_lowercase().as_str() {
            "python" | "py" | "python3" => Some("python"),
            "bash" | "sh" | "shell" => Some("bash"),
            _ => None,
        }
    }
}

/// Finds the fenced blocks of a Markdown text, in their order, by the rules of CommonMark 0.31 (section 4.5): a fence
/// is three or more `` ` `` or `~`, indented by at most three spaces; what closes it has the same sign, is at least as
/// long and has nothing after it. Fences inside of lists that are indented further, and inside of quotes, do not count.
///
/// ```
/// let answer = "Run this:\n```python\nprint(1)\n```\nand see.\n";
/// let blocks = wskill::agent::code_blocks(answer);
/// assert_eq!(blocks.len(), 1);
/// assert_eq!((blocks[0].code.as_str(), blocks[0].line), ("print(1)\n", 2));
/// assert_eq!(blocks[0].interpreter(), Some("python"));
/// ```
pub fn code_blocks(text: &str) -> Vec<CodeBlock> {
    let mut blocks = Vec::new();
    let mut open: Option<(Fence<'_>, CodeBlock)> = None;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let fence = Fence::read(line);
        match &mut open {
            None => {
                let Some(fence) = fence.filter(Fence::opens) else { continue };
                let language = fence.info.split_whitespace().next().unwrap_or_default().to_owned();
                let block = CodeBlock { language, code: String::new(), line: index + 1, is_closed: false };
                open = Some((fence, block));
            }
            Some((opening, block)) => {
                if fence.is_some_and(|fence| fence.closes(opening)) {
                    block.is_closed = true;
                    blocks.extend(open.take().map(|(_, block)| block));
                } else {
                    block.code.push_str(without_indent(line, opening.indent));
                }
            }
        }
    }
    blocks.extend(open.map(|(_, block)| block));
    blocks
}

/// A line that has the form of a fence.
struct Fence<'a> {
    indent: usize,
    sign: char,
    length: usize,
    info: &'a str,
}

impl<'a> Fence<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let fence = line.trim_start_matches(' ');
        let indent = line.len() - fence.len();
        let sign = fence.chars().next().filter(|sign| matches!(sign, '`' | '~'))?;
        let info = fence.trim_start_matches(sign);
        let length = fence.len() - info.len();
        (indent <= 3 && length >= 3).then(|| Self { indent, sign, length, info: info.trim() })
    }

    /// Code in a line, such as ```` ```x``` ````, is no fence.
    fn opens(&self) -> bool {
        self.sign == '~' || !self.info.contains('`')
    }

    fn closes(&self, opening: &Fence<'_>) -> bool {
        self.sign == opening.sign && self.length >= opening.length && self.info.is_empty()
    }
}

/// A line without the spaces that the opening fence has too.
fn without_indent(line: &str, indent: usize) -> &str {
    let spaces = line.bytes().take(indent).take_while(|byte| *byte == b' ').count();
    &line[spaces..]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Language, code, line and whether it is closed.
    fn found(text: &str) -> Vec<(String, String, usize, bool)> {
        code_blocks(text).into_iter().map(|block| (block.language, block.code, block.line, block.is_closed)).collect()
    }

    #[test]
    fn fences() {
        type Block<'a> = (&'a str, &'a str, usize, bool);
        let cases: &[(&str, &[Block<'_>])] = &[
            ("", &[]),
            ("no code, `a` and ```b``` here", &[]),
            ("```\na\n```", &[("", "a\n", 1, true)]),
            ("x\n\n~~~ sh -x\na\nb\n~~~\n", &[("sh", "a\nb\n", 3, true)]),
            ("```python title=\"a b\"\r\na\r\n```\r\n", &[("python", "a\r\n", 1, true)]),
            // A longer fence holds shorter ones, and the other sign.
            ("````md\n```sh\na\n```\n````\n", &[("md", "```sh\na\n```\n", 1, true)]),
            ("```\n~~~\n```\n", &[("", "~~~\n", 1, true)]),
            ("```sh\na\n`````\n", &[("sh", "a\n", 1, true)]),
            ("```sh\na\n``` x\n```\n", &[("sh", "a\n``` x\n", 1, true)]),
            // Indentation, up to three.
            ("   ```sh\n   a\n     b\n c\n  ```\n", &[("sh", "a\n  b\nc\n", 1, true)]),
            ("    ```sh\n    a\n    ```\n", &[]),
            ("\t```sh\n", &[]),
            ("```sh\na\n    ```\n", &[("sh", "a\n    ```\n", 1, false)]),
            // Not closed.
            ("```sh\na", &[("sh", "a", 1, false)]),
            ("```sh", &[("sh", "", 1, false)]),
            // No fences.
            ("``\na\n``\n", &[]),
            ("```a`b\nc\n", &[]),
            ("> ```sh\n> a\n> ```\n", &[]),
            ("~~~a`b\nc\n~~~", &[("a`b", "c\n", 1, true)]),
            // Several, with text between them.
            ("```py\n1\n```\nx\n```bash\n2\n```\n", &[("py", "1\n", 1, true), ("bash", "2\n", 5, true)]),
            ("```é\nü\n```", &[("é", "ü\n", 1, true)]),
        ];
        for (text, wanted) in cases {
            let wanted: Vec<_> = wanted.iter().map(|(a, b, c, d)| ((*a).to_owned(), (*b).to_owned(), *c, *d)).collect();
            assert_eq!(found(text), wanted, "{text:?}");
        }
    }

    #[test]
    fn what_runs() {
        for (language, wanted) in [
            ("python", Some("python")),
            ("py", Some("python")),
            ("python3", Some("python")),
            ("Python", Some("python")),
            ("bash", Some("bash")),
            ("sh", Some("bash")),
            ("shell", Some("bash")),
            ("", None),
            ("text", None),
            ("console", None),
            ("python2", None),
            ("pythonx", None),
        ] {
            let blocks = code_blocks(&format!("```{language}\n1\n```"));
            assert_eq!(blocks[0].interpreter(), wanted, "{language}");
        }
        assert_eq!(code_blocks("```python\nprint(").first().and_then(CodeBlock::interpreter), None);
    }
}
