//! diff's command line.

use crate::args::{self, Long, Value};
use crate::output::show;
use crate::regex::{Dialect, Options, Regex};

/// How differences are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Style {
    Normal,
    Unified,
    Context,
    Ed,
    ForwardEd,
    Rcs,
    SideBySide,
}

/// A comparison as asked for.
#[allow(missing_docs, reason = "the names of the options")]
pub struct Config {
    pub style: Style,
    pub context: usize,
    pub left: Vec<u8>,
    pub right: Vec<u8>,
    pub labels: Vec<Vec<u8>>,
    pub brief: bool,
    pub report_identical: bool,
    pub recursive: bool,
    pub new_file: bool,
    pub text: bool,
    pub ignore_case: bool,
    pub ignore_all_space: bool,
    pub ignore_space_change: bool,
    pub ignore_trailing_space: bool,
    pub ignore_tab_expansion: bool,
    pub ignore_blank_lines: bool,
    pub ignore_matching: Vec<Regex>,
    pub strip_carriage_return: bool,
    pub expand_tabs: bool,
    pub initial_tab: bool,
    pub show_function: Option<Regex>,
    pub width: usize,
    pub left_column: bool,
    pub suppress_common: bool,
    pub excludes: Vec<Vec<u8>>,
    pub color: bool,
    /// The options as the line `diff -r a b` repeats them.
    pub shown_options: String,
}

const LONGS: &[Long] = &[
    ("brief", Value::No, 'q'),
    ("color", Value::Optional, '\u{e000}'),
    ("context", Value::Optional, '\u{e001}'),
    ("ed", Value::No, 'e'),
    ("exclude", Value::Required, 'x'),
    ("expand-tabs", Value::No, 't'),
    ("forward-ed", Value::No, 'f'),
    ("help", Value::No, '\u{e002}'),
    ("horizon-lines", Value::Required, '\u{e003}'),
    ("ignore-all-space", Value::No, 'w'),
    ("ignore-blank-lines", Value::No, 'B'),
    ("ignore-case", Value::No, 'i'),
    ("ignore-matching-lines", Value::Required, 'I'),
    ("ignore-space-change", Value::No, 'b'),
    ("ignore-tab-expansion", Value::No, 'E'),
    ("ignore-trailing-space", Value::No, 'Z'),
    ("initial-tab", Value::No, 'T'),
    ("label", Value::Required, 'L'),
    ("left-column", Value::No, '\u{e004}'),
    ("minimal", Value::No, 'd'),
    ("new-file", Value::No, 'N'),
    ("no-dereference", Value::No, '\u{e003}'),
    ("normal", Value::No, '\u{e005}'),
    ("rcs", Value::No, 'n'),
    ("recursive", Value::No, 'r'),
    ("report-identical-files", Value::No, 's'),
    ("show-c-function", Value::No, 'p'),
    ("show-function-line", Value::Required, 'F'),
    ("side-by-side", Value::No, 'y'),
    ("speed-large-files", Value::No, 'H'),
    ("strip-trailing-cr", Value::No, '\u{e006}'),
    ("suppress-common-lines", Value::No, '\u{e007}'),
    ("text", Value::No, 'a'),
    ("unified", Value::Optional, '\u{e008}'),
    ("version", Value::No, '\u{e009}'),
    ("width", Value::Required, 'W'),
];

/// Parses the command line; `None` when help was printed.
///
/// # Errors
/// The message without the program's name.
pub fn parse(arguments: &[Vec<u8>]) -> Result<Option<Config>, String> {
    let parsed = args::parse(arguments, "0123456789abBcC:dEefF:hHiI:lL:nNpqrsS:tTuU:vwW:x:X:yZ", LONGS, true)?;
    let mut config = Config {
        style: Style::Normal,
        context: 3,
        left: Vec::new(),
        right: Vec::new(),
        labels: Vec::new(),
        brief: false,
        report_identical: false,
        recursive: false,
        new_file: false,
        text: false,
        ignore_case: false,
        ignore_all_space: false,
        ignore_space_change: false,
        ignore_trailing_space: false,
        ignore_tab_expansion: false,
        ignore_blank_lines: false,
        ignore_matching: Vec::new(),
        strip_carriage_return: false,
        expand_tabs: false,
        initial_tab: false,
        show_function: None,
        width: 130,
        left_column: false,
        suppress_common: false,
        excludes: Vec::new(),
        color: false,
        shown_options: String::new(),
    };
    let mut digits = String::new();
    for (letter, value) in parsed.options {
        let text = value.as_deref().map(show);
        let number = |text: Option<String>, default: usize| match text {
            None => Ok(default),
            Some(text) => text.parse().map_err(|_| format!("invalid context length '{text}'")),
        };
        let regex = |text: Option<String>| {
            let text = text.unwrap_or_default();
            Regex::new(text.as_bytes(), &Options::new(Dialect::Grep, false))
                .map_err(|message| format!("{text}: {message}"))
        };
        match letter {
            '0'..='9' => {
                digits.push(letter);
                config.context = digits.parse().unwrap_or(3);
            }
            'a' => config.text = true,
            'b' => config.ignore_space_change = true,
            'B' => config.ignore_blank_lines = true,
            'c' => config.style = Style::Context,
            'C' | '\u{e001}' => {
                config.style = Style::Context;
                config.context = number(text, 3)?;
            }
            'E' => config.ignore_tab_expansion = true,
            'e' => config.style = Style::Ed,
            'f' => config.style = Style::ForwardEd,
            'F' => config.show_function = Some(regex(text)?),
            'i' => config.ignore_case = true,
            'I' => config.ignore_matching.push(regex(text)?),
            'L' => config.labels.push(value.unwrap_or_default()),
            'n' => config.style = Style::Rcs,
            'N' => config.new_file = true,
            'p' => {
                config.show_function = Some(regex(Some("^[[:alpha:]$_]".into()))?);
                if config.style == Style::Normal {
                    config.style = Style::Context;
                }
            }
            'q' => config.brief = true,
            'r' => config.recursive = true,
            's' => config.report_identical = true,
            't' => config.expand_tabs = true,
            'T' => config.initial_tab = true,
            'u' => config.style = Style::Unified,
            'U' | '\u{e008}' => {
                config.style = Style::Unified;
                config.context = number(text, 3)?;
            }
            'w' => config.ignore_all_space = true,
            'W' => config.width = number(text, 130)?,
            'x' => config.excludes.push(value.unwrap_or_default()),
            'X' => {
                let name = value.unwrap_or_default();
                let list = crate::input::read(&name)
                    .map_err(|error| format!("{}: {}", show(&name), crate::platform::message(&error)))?;
                config.excludes.extend(list.split(|byte| *byte == b'\n').filter(|l| !l.is_empty()).map(<[u8]>::to_vec));
            }
            'y' => config.style = Style::SideBySide,
            'Z' => config.ignore_trailing_space = true,
            '\u{e000}' => config.color = value.as_deref() == Some(b"always"),
            '\u{e002}' => {
                println!("Usage: diff [OPTION]... FILES");
                return Ok(None);
            }
            '\u{e004}' => config.left_column = true,
            '\u{e006}' => config.strip_carriage_return = true,
            '\u{e007}' => config.suppress_common = true,
            'v' | '\u{e009}' => {
                println!("diff (GNU diffutils) 3.8 compatible (wskill texttools)");
                return Ok(None);
            }
            _ => {}
        }
    }
    let mut operands = parsed.operands.into_iter();
    let (Some(left), Some(right)) = (operands.next(), operands.next()) else {
        return Err(match arguments.last() {
            Some(last) => format!("missing operand after '{}'", show(last)),
            None => "missing operand after 'diff'".into(),
        });
    };
    if let Some(extra) = operands.next() {
        return Err(format!("extra operand '{}'", show(&extra)));
    }
    config.shown_options = shown(arguments, [&left, &right]);
    config.left = left;
    config.right = right;
    Ok(Some(config))
}

/// All words but the two files, quoted as a shell would need them.
fn shown(arguments: &[Vec<u8>], files: [&Vec<u8>; 2]) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:,+=@%".contains(&byte);
    let mut text = String::new();
    for word in arguments.iter().filter(|word| !files.contains(word)) {
        let word = show(word);
        if !word.is_empty() && word.bytes().all(plain) {
            text.push_str(&format!(" {word}"));
        } else {
            text.push_str(&format!(" '{}'", word.replace('\'', "'\\''")));
        }
    }
    text
}
