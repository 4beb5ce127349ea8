//! Programs in strings and here-documents of scripts.

use super::commands::{Reads, invocations, reads};
use super::facts::{Fact, Program, Word};
use super::scripts::Language;

/// The programs, by the language that reads them.
#[derive(Debug, Default)]
pub struct Nested {
    /// Lines for a shell.
    pub shell: Vec<Program>,
    /// Python.
    pub python: Vec<Program>,
}

impl Nested {
    fn add(&mut self, language: &Language, fact: &Fact, offset: u32, text: String) {
        let list = if *language == Language::Python { &mut self.python } else { &mut self.shell };
        list.push(Program { file: fact.file.clone(), offset, text });
    }
}

/// Finds the programs whose text is certain: in strings for interpreters, in Python's `os.system`, and in the
/// here-documents of commands that read their input.
pub fn find(facts: &[Fact]) -> Nested {
    let mut nested = Nested::default();
    // Who reads its input, and where: a here-document follows its command.
    let mut reader: Option<(Language, &str, u32)> = None;
    for fact in facts {
        let before = fact.line.saturating_sub(1);
        for command in fact.words.iter().flat_map(|words| invocations(words)) {
            let (language, read) = reads(command);
            for read in read {
                match read {
                    Reads::Text(text) => nested.add(&language, fact, before, text),
                    Reads::Input => reader = Some((language.clone(), &fact.file, fact.line)),
                    Reads::Unknown | Reads::File(_) => {}
                }
            }
        }
        if let Some(text) = &fact.shell {
            nested.add(&Language::Shell, fact, before, text.clone());
        }
        if let (Some("<<"), Some(Word::Certain(text)), Some((language, file, line))) =
            (fact.redirect.as_deref(), &fact.target, &reader)
            && (*file, *line) == (fact.file.as_str(), fact.line)
        {
            nested.add(language, fact, fact.line, text.clone());
        }
    }
    nested
}
