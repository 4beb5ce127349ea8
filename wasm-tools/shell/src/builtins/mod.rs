//! The builtin commands: one file a family, and the table that finds them.

mod alias;
mod basic;
mod bind;
mod command;
mod complete;
pub mod declare;
mod dirs;
mod getopts;
mod history;
pub mod jobs;
mod limits;
mod mapfile;
mod options;
mod printf;
mod prompt;
pub mod read;
mod test;
mod trap;
mod umask;
mod unset;

use crate::shell::{Run as Outcome, Shell};
use declare::DeclArg;

/// How a builtin is called.
#[derive(Clone, Copy)]
pub enum Run {
    /// With its words, the name first.
    Plain(fn(&mut Shell, &[Vec<u8>]) -> Outcome<i32>),
    /// With its name, and words and assignments.
    Declare(fn(&mut Shell, &[u8], Vec<DeclArg>) -> Outcome<i32>),
}

/// A builtin.
pub struct Builtin {
    pub name: &'static str,
    pub run: Run,
    /// One of POSIX's special builtins.
    pub special: bool,
    /// It changes nothing that the kernel keeps, so a subshell in place needs no context of its own for it.
    pub pure: bool,
}

const fn plain(name: &'static str, run: fn(&mut Shell, &[Vec<u8>]) -> Outcome<i32>) -> Builtin {
    Builtin {
        name,
        run: Run::Plain(run),
        special: false,
        pure: true,
    }
}

const fn special(name: &'static str, run: fn(&mut Shell, &[Vec<u8>]) -> Outcome<i32>) -> Builtin {
    Builtin {
        name,
        run: Run::Plain(run),
        special: true,
        pure: true,
    }
}

const fn impure(name: &'static str, run: fn(&mut Shell, &[Vec<u8>]) -> Outcome<i32>) -> Builtin {
    Builtin {
        name,
        run: Run::Plain(run),
        special: false,
        pure: false,
    }
}

const fn declaring(
    name: &'static str,
    run: fn(&mut Shell, &[u8], Vec<DeclArg>) -> Outcome<i32>,
    special: bool,
) -> Builtin {
    Builtin {
        name,
        run: Run::Declare(run),
        special,
        pure: true,
    }
}

/// All builtins, sorted by name.
pub static BUILTINS: &[Builtin] = &[
    special(".", basic::source),
    special(":", basic::succeed),
    plain("[", test::bracket),
    plain("alias", alias::alias),
    plain("bg", jobs::bg),
    plain("bind", bind::bind),
    special("break", basic::break_loop),
    plain("builtin", command::builtin),
    plain("caller", basic::caller),
    impure("cd", dirs::cd),
    plain("command", command::command),
    plain("compgen", complete::compgen),
    plain("complete", complete::complete),
    plain("compopt", complete::compopt),
    special("continue", basic::continue_loop),
    declaring("declare", declare::declare, false),
    plain("dirs", dirs::dirs),
    plain("disown", jobs::disown),
    plain("echo", basic::echo),
    plain("enable", command::enable),
    special("eval", basic::eval),
    special("exec", basic::succeed),
    special("exit", basic::exit),
    declaring("export", declare::export, true),
    plain("false", basic::fail),
    plain("fc", basic::fc),
    plain("fg", jobs::fg),
    plain("getopts", getopts::getopts),
    plain("hash", command::hash),
    plain("help", command::help),
    plain("history", history::history),
    plain("jobs", jobs::jobs),
    plain("kill", jobs::kill),
    plain("let", basic::let_),
    declaring("local", declare::local, false),
    plain("logout", basic::logout),
    plain("mapfile", mapfile::mapfile),
    impure("popd", dirs::popd),
    plain("printf", printf::printf),
    impure("pushd", dirs::pushd),
    plain("pwd", dirs::pwd),
    plain("read", read::read),
    plain("readarray", mapfile::mapfile),
    declaring("readonly", declare::readonly, true),
    special("return", basic::return_),
    special("set", options::set),
    special("shift", basic::shift),
    plain("shopt", options::shopt),
    special("source", basic::source),
    plain("suspend", jobs::suspend),
    plain("test", test::test),
    special("times", basic::times),
    special("trap", trap::trap),
    plain("true", basic::succeed),
    plain("type", command::type_),
    declaring("typeset", declare::declare, false),
    plain("ulimit", limits::ulimit),
    impure("umask", umask::umask),
    plain("unalias", alias::unalias),
    special("unset", unset::unset),
    plain("wait", jobs::wait),
];

/// The builtin of that name.
pub fn find(name: &[u8]) -> Option<&'static Builtin> {
    BUILTINS
        .binary_search_by(|b| b.name.as_bytes().cmp(name))
        .ok()
        .and_then(|i| BUILTINS.get(i))
}

/// Options found on a command line: letters with their arguments, and where the operands begin.
pub struct Options {
    pub list: Vec<(u8, Option<Vec<u8>>)>,
    pub rest: usize,
}

impl Options {
    /// Whether a letter was given.
    pub fn has(&self, letter: u8) -> bool {
        self.list.iter().any(|(l, _)| *l == letter)
    }

    /// The last argument of a letter.
    pub fn value(&self, letter: u8) -> Option<&[u8]> {
        self.list
            .iter()
            .rev()
            .find(|(l, _)| *l == letter)
            .and_then(|(_, v)| v.as_deref())
    }
}

impl Shell {
    /// Reads options as getopt does. `spec`: letters, each followed by `:` when it takes an argument. After a message
    /// the status is in `Err`.
    pub fn builtin_options(&mut self, argv: &[Vec<u8>], spec: &[u8]) -> Result<Options, i32> {
        let name = String::from_utf8_lossy(&argv[0]).into_owned();
        let mut list = Vec::new();
        let mut i = 1;
        while let Some(word) = argv.get(i) {
            if word == b"--" {
                i += 1;
                break;
            }
            if word.len() < 2 || word[0] != b'-' {
                break;
            }
            let mut j = 1;
            while j < word.len() {
                let letter = word[j];
                j += 1;
                let takes_value = match spec.iter().position(|&c| c == letter && c != b':') {
                    Some(at) => spec.get(at + 1) == Some(&b':'),
                    None => {
                        self.builtin_error(&name, &format!("-{}: invalid option", letter as char));
                        self.usage(&name);
                        return Err(2);
                    }
                };
                if !takes_value {
                    list.push((letter, None));
                    continue;
                }
                let value = if j < word.len() {
                    word[j..].to_vec()
                } else {
                    i += 1;
                    match argv.get(i) {
                        Some(value) => value.clone(),
                        None => {
                            self.builtin_error(&name, &format!("-{}: option requires an argument", letter as char));
                            self.usage(&name);
                            return Err(2);
                        }
                    }
                };
                list.push((letter, Some(value)));
                break;
            }
            i += 1;
        }
        Ok(Options { list, rest: i })
    }

    /// Prints the usage line.
    pub fn usage(&mut self, name: &str) {
        if let Some(usage) = command::usage_of(name) {
            let text = format!("{name}: usage: {usage}\n");
            self.write_stderr(text.as_bytes());
        }
    }
}
