//! What scripts name, as the readers in the sandbox tell it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

/// A word of a command.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Word {
    /// Its value is certain.
    Certain(String),
    /// Only running would tell; this is how it is written.
    Raw {
        /// The source text.
        raw: String,
    },
}

impl Word {
    /// The value, when it is certain.
    pub fn certain(&self) -> Option<&str> {
        match self {
            Self::Certain(text) => Some(text),
            Self::Raw { .. } => None,
        }
    }

    /// The value, or how it is written.
    pub fn text(&self) -> &str {
        match self {
            Self::Certain(text) | Self::Raw { raw: text } => text,
        }
    }
}

/// One thing that a script names; one of the fields besides `file` and `line` is there.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Fact {
    /// The script's path in the skill, or the key of a [`Program`] in it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// A command.
    pub words: Option<Vec<Word>>,
    /// A redirection's operator; its `target` is there too.
    pub redirect: Option<String>,
    /// A redirection's target: a file, or a here-document's text.
    pub target: Option<Word>,
    /// A function of the script.
    pub function: Option<String>,
    /// A command line in a string.
    pub shell: Option<String>,
    /// A Python module.
    pub import: Option<String>,
    /// A string in a Python script.
    pub string: Option<String>,
    /// A Python package that a script says it needs.
    pub package: Option<String>,
    /// An import of a WebAssembly module.
    pub wasm: Option<String>,
    /// Something that only running would tell, in words.
    pub unknown: Option<String>,
    /// Where reading ended, and why.
    pub error: Option<String>,
}

/// Everything that scripts name, and what the sandbox has of it.
#[derive(Debug, Default)]
pub struct Facts {
    /// What the scripts name.
    pub facts: Vec<Fact>,
    /// The commands of the sandbox.
    pub commands: BTreeSet<String>,
    /// Python modules that are imported somewhere: whether the sandbox has them.
    pub modules: BTreeMap<String, bool>,
    /// Files that are named somewhere: whether they are in the sandbox.
    pub paths: BTreeMap<String, bool>,
}

/// A program in a string of a script.
#[derive(Debug)]
pub struct Program {
    /// The script.
    pub file: String,
    /// How many lines of the script come before its first.
    pub offset: u32,
    /// Its text.
    pub text: String,
}

impl Program {
    /// A key that stands for file and offset: both with a NUL between them.
    pub fn key(&self) -> String {
        format!("{}\0{}", self.file, self.offset)
    }
}
