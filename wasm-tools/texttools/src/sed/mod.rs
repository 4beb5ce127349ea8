//! `sed`: edits a stream by a script.

mod execute;
mod files;
mod script;

use crate::args::{self, Long, Value};
use crate::input;
use crate::output::{Output, show};
use crate::platform;

use execute::Machine;
use script::{Piece, Syntax};

/// An `s` command alone, for tar's `--transform`.
pub struct Transform {
    command: Box<script::Substitution>,
}

impl Transform {
    /// Parses `s/old/new/flags`.
    ///
    /// # Errors
    /// The message.
    pub fn parse(expression: &[u8]) -> Result<Self, String> {
        let syntax = Syntax { extended: expression.ends_with(b"x"), sandbox: true };
        let expression = expression.strip_suffix(b"x").unwrap_or(expression);
        let script = script::parse(&[Piece::Expression(expression.to_vec())], syntax)?;
        match script.commands.into_iter().next().map(|command| command.action) {
            Some(script::Action::Substitute(command)) => Ok(Self { command }),
            _ => Err("Invalid transform expression".into()),
        }
    }

    /// The text after it.
    pub fn apply(&self, text: &[u8]) -> Vec<u8> {
        let Some(regex) = &self.command.pattern else { return text.to_vec() };
        execute::replace(&self.command, regex, text).unwrap_or_else(|| text.to_vec())
    }
}

const USAGE: &str = "\
Usage: sed [OPTION]... {script-only-if-no-other-script} [input-file]...

  -n, --quiet, --silent      suppress automatic printing of pattern space
  -e script                  add the script to the commands to be executed
  -f script-file             add the contents of script-file to the commands to be executed
  -E, -r, --regexp-extended  use extended regular expressions in the script
  -i[SUFFIX], --in-place[=SUFFIX]
                             edit files in place (makes backup if SUFFIX supplied)
  -l N, --line-length=N      specify the desired line-wrap length for the `l' command
  -s, --separate             consider files as separate rather than as a single continuous long stream
  -u, --unbuffered           flush the output buffers at every line
  -z, --null-data            separate lines by NUL characters
      --posix                disable all GNU extensions
      --sandbox              operate in sandbox mode (disable e/r/w commands)
      --help                 display this help and exit
      --version              output version information and exit

If no -e, --expression, -f, or --file option is given, then the first non-option argument is taken as the sed
script to interpret.  All remaining arguments are names of input files; if no input files are specified, then the
standard input is read.
";

const LONGS: &[Long] = &[
    ("binary", Value::No, 'b'),
    ("debug", Value::No, 'b'),
    ("expression", Value::Required, 'e'),
    ("file", Value::Required, 'f'),
    ("follow-symlinks", Value::No, '\u{e000}'),
    ("help", Value::No, 'h'),
    ("in-place", Value::Optional, 'i'),
    ("line-length", Value::Required, 'l'),
    ("null-data", Value::No, 'z'),
    ("posix", Value::No, 'p'),
    ("quiet", Value::No, 'n'),
    ("regexp-extended", Value::No, 'E'),
    ("sandbox", Value::No, '\u{e001}'),
    ("separate", Value::No, 's'),
    ("silent", Value::No, 'n'),
    ("unbuffered", Value::No, 'u'),
    ("version", Value::No, '\u{e002}'),
    ("zero-terminated", Value::No, 'z'),
];

/// The settings of a run.
pub struct Config {
    /// `-n`
    pub quiet: bool,
    /// `-i`, with the suffix of backups.
    pub in_place: Option<Vec<u8>>,
    /// `-s` or `-i`
    pub separate: bool,
    /// A newline, or NUL with `-z`.
    pub delimiter: u8,
    /// Where `l` wraps; 0 or 1 never.
    pub width: usize,
    /// `-u`
    pub unbuffered: bool,
    /// `--posix`
    pub posix: bool,
}

/// Runs sed and gives its exit status: 0; 1 wrong usage; 2 an input file is missing; 4 an I/O error; or `q`'s.
pub fn run(args: &[Vec<u8>]) -> i32 {
    match try_run(args) {
        Ok(status) => status,
        Err((message, status)) => {
            eprintln!("sed: {message}");
            status
        }
    }
}

fn try_run(arguments: &[Vec<u8>]) -> Result<i32, (String, i32)> {
    let parsed = match args::parse(arguments, "bsnrzuEe:f:l:i::h", LONGS, true) {
        Ok(parsed) => parsed,
        Err(message) => {
            eprint!("sed: {message}\n{USAGE}");
            return Ok(1);
        }
    };
    let mut config = Config {
        quiet: false,
        in_place: None,
        separate: false,
        delimiter: b'\n',
        width: 70,
        unbuffered: false,
        posix: false,
    };
    let mut syntax = Syntax { extended: false, sandbox: false };
    let mut pieces = Vec::new();
    for (letter, value) in parsed.options {
        let value = value.unwrap_or_default();
        match letter {
            'n' => config.quiet = true,
            's' => config.separate = true,
            'r' | 'E' => syntax.extended = true,
            'z' => config.delimiter = 0,
            'u' => config.unbuffered = true,
            'e' => pieces.push(Piece::Expression(value)),
            'f' => {
                let text = input::read(&value).map_err(|error| {
                    (format!("couldn't open file {}: {}", show(&value), platform::message(&error)), 1)
                })?;
                pieces.push(Piece::File(value, text));
            }
            'l' => {
                config.width =
                    script::parse_width(&value).ok_or_else(|| (format!("invalid line length: {}", show(&value)), 1))?;
            }
            'i' => {
                config.in_place = Some(value);
                config.separate = true;
            }
            'p' => config.posix = true,
            '\u{e001}' => syntax.sandbox = true,
            '\u{e002}' => {
                Output::new("sed", 4).text("sed (GNU sed) 4.9 compatible (wskill texttools)\n");
                return Ok(0);
            }
            'h' => {
                Output::new("sed", 4).text(USAGE);
                return Ok(0);
            }
            _ => {}
        }
    }
    let mut operands = parsed.operands.into_iter();
    if pieces.is_empty() {
        let Some(script) = operands.next() else {
            eprint!("{USAGE}");
            return Ok(1);
        };
        pieces.push(Piece::Expression(script));
    }
    let mut files: Vec<Vec<u8>> = operands.collect();
    if files.is_empty() {
        files.push(b"-".to_vec());
    }
    let script = script::parse(&pieces, syntax).map_err(|message| {
        // GNU finds a missing label only when all is read, and ends with another status.
        let status = if message.starts_with("can't find label") { 4 } else { 1 };
        (message, status)
    })?;
    config.quiet |= script.quiet;
    let mut machine = Machine::new(&script, &config, files).map_err(|message| (message, 4))?;
    machine.run()
}

/// Bytes of the first character; 1 for what is not UTF-8.
fn char_length(text: &[u8]) -> usize {
    let length = match text[0] {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return 1,
    };
    if text.get(..length).is_some_and(|bytes| std::str::from_utf8(bytes).is_ok()) { length } else { 1 }
}
