//! Command line options as GNU's getopt_long reads them: clusters of short ones, abbreviated long ones, operands
//! between options, `--` ends them.

use std::ffi::{OsStr, OsString};
use std::os::wasi::ffi::{OsStrExt, OsStringExt};

/// Does a long option take an argument?
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// None.
    No,
    /// Always.
    Arg,
    /// Only with `=`.
    Maybe,
}

/// A long option: its name, its argument, and the character that stands for it in [`Parsed::options`].
pub type Long = (&'static str, Takes, char);

/// A command's options and what `--help` says.
pub struct Spec {
    /// The command's name, for messages.
    pub name: &'static str,
    /// What follows "Usage: ".
    pub usage: &'static str,
    /// Short options as getopt's string: a `:` behind one that takes an argument, `::` behind one that may. A leading
    /// `+` ends the options at the first operand.
    pub short: &'static str,
    /// Long options.
    pub long: &'static [Long],
    /// Exit status of wrong usage.
    pub failure: i32,
}

/// Options in their order, then the operands.
pub struct Parsed {
    /// Each with its argument, empty when it has none.
    pub options: Vec<(char, OsString)>,
    /// What is left.
    pub operands: Vec<OsString>,
}

impl Spec {
    /// Reads the arguments (without argv[0]); `Err` is the exit status of a command that ends here.
    pub fn parse(&self, args: impl IntoIterator<Item = OsString>) -> Result<Parsed, i32> {
        let (posix, short) = match self.short.strip_prefix('+') {
            Some(rest) => (true, rest),
            None => (std::env::var_os("POSIXLY_CORRECT").is_some(), self.short),
        };
        let mut parsed = Parsed { options: Vec::new(), operands: Vec::new() };
        let mut args = args.into_iter();
        while let Some(arg) = args.next() {
            let bytes = arg.as_bytes();
            if bytes == b"--" {
                break;
            }
            if let Some(long) = bytes.strip_prefix(b"--") {
                let option = self.long_option(long, &mut args)?;
                parsed.options.push(option);
            } else if bytes.len() > 1 && bytes[0] == b'-' {
                self.cluster(short, &bytes[1..], &mut args, &mut parsed.options)?;
            } else {
                parsed.operands.push(arg);
                if posix {
                    break;
                }
            }
        }
        parsed.operands.extend(args);
        Ok(parsed)
    }

    fn cluster(
        &self,
        short: &str,
        letters: &[u8],
        args: &mut impl Iterator<Item = OsString>,
        options: &mut Vec<(char, OsString)>,
    ) -> Result<(), i32> {
        for (index, &letter) in letters.iter().enumerate() {
            let known = if letter == b':' { None } else { short.as_bytes().iter().position(|&c| c == letter) };
            let Some(at) = known else {
                eprintln!("{}: invalid option -- '{}'", self.name, letter as char);
                return Err(self.try_help());
            };
            let colons = short.as_bytes()[at + 1..].iter().take_while(|&&c| c == b':').count();
            let rest = &letters[index + 1..];
            if colons == 0 {
                options.push((letter as char, OsString::new()));
                continue;
            }
            let value = if !rest.is_empty() || colons == 2 {
                OsString::from_vec(rest.to_vec())
            } else if let Some(next) = args.next() {
                next
            } else {
                eprintln!("{}: option requires an argument -- '{}'", self.name, letter as char);
                return Err(self.try_help());
            };
            options.push((letter as char, value));
            break;
        }
        Ok(())
    }

    fn long_option(&self, text: &[u8], args: &mut impl Iterator<Item = OsString>) -> Result<(char, OsString), i32> {
        let (name, value) = match text.iter().position(|&b| b == b'=') {
            Some(at) => (&text[..at], Some(OsStr::from_bytes(&text[at + 1..]).to_owned())),
            None => (text, None),
        };
        let shown = String::from_utf8_lossy(name);
        let exact = self.long.iter().find(|l| l.0.as_bytes() == name);
        let starting: Vec<&Long> = self.long.iter().filter(|l| l.0.as_bytes().starts_with(name)).collect();
        let one_meaning = starting.iter().all(|l| l.2 == starting[0].2 && l.1 == starting[0].1);
        let found = exact.or_else(|| (!starting.is_empty() && one_meaning).then(|| starting[0]));
        let Some(&(full, takes, id)) = found else {
            if name.len() > 1 && b"help".starts_with(name) {
                return Err(self.help());
            }
            if name.len() > 2 && b"version".starts_with(name) {
                println!("{} (wskill coreutils) {}", self.name, env!("CARGO_PKG_VERSION"));
                return Err(0);
            }
            if starting.is_empty() {
                eprintln!("{}: unrecognized option '--{shown}'", self.name);
            } else {
                let all: Vec<String> = starting.iter().map(|l| format!("'--{}'", l.0)).collect();
                eprintln!("{}: option '--{shown}' is ambiguous; possibilities: {}", self.name, all.join(" "));
            }
            return Err(self.try_help());
        };
        match (takes, value) {
            (Takes::No, Some(_)) => {
                eprintln!("{}: option '--{full}' doesn't allow an argument", self.name);
                Err(self.try_help())
            }
            (Takes::Arg, None) => match args.next() {
                Some(next) => Ok((id, next)),
                None => {
                    eprintln!("{}: option '--{full}' requires an argument", self.name);
                    Err(self.try_help())
                }
            },
            (_, value) => Ok((id, value.unwrap_or_default())),
        }
    }

    fn help(&self) -> i32 {
        println!("Usage: {}", self.usage);
        let short = self.short.trim_start_matches('+').as_bytes();
        if !short.is_empty() {
            let letters: String = short.iter().filter(|&&c| c != b':').map(|&c| format!(" -{}", c as char)).collect();
            println!("Short options:{letters}");
        }
        if !self.long.is_empty() {
            let names: String = self
                .long
                .iter()
                .map(|l| match l.1 {
                    Takes::No => format!(" --{}", l.0),
                    Takes::Arg => format!(" --{}=ARG", l.0),
                    Takes::Maybe => format!(" --{}[=ARG]", l.0),
                })
                .collect();
            println!("Long options:{names}");
        }
        0
    }

    /// Prints where help is to be had, and returns the exit status of wrong usage.
    pub fn try_help(&self) -> i32 {
        eprintln!("Try '{} --help' for more information.", self.name);
        self.failure
    }

    /// Says that operands are missing.
    pub fn missing_operand(&self) -> i32 {
        eprintln!("{}: missing operand", self.name);
        self.try_help()
    }

    /// Says that an operand is too much.
    pub fn extra_operand(&self, operand: &OsStr) -> i32 {
        eprintln!("{}: extra operand {}", self.name, super::text::quote(operand));
        self.try_help()
    }

    /// Picks one of several words, which may be abbreviated; says so when it is none.
    pub fn choice<'a>(&self, option: &str, value: &OsStr, words: &[&'a str]) -> Result<&'a str, i32> {
        let text = value.to_string_lossy();
        if let Some(word) = words.iter().find(|w| **w == text) {
            return Ok(word);
        }
        let starting: Vec<&&str> = words.iter().filter(|w| w.starts_with(&*text)).collect();
        if let [word] = starting[..] {
            return Ok(word);
        }
        let what = if starting.is_empty() || text.is_empty() { "invalid" } else { "ambiguous" };
        eprintln!("{}: {what} argument {} for '{option}'", self.name, super::text::quote(value));
        eprintln!("Valid arguments are:");
        for word in words {
            eprintln!("  - '{word}'");
        }
        Err(self.try_help())
    }
}
