//! `awk`: an interpreter of the language of POSIX with the extensions of gawk that scripts use.
//!
//! A program is parsed into a tree with names resolved to slots ([`ast`]) and walked ([`interp`]).

mod array;
mod ast;
mod builtins;
mod call;
mod expr;
mod fields;
mod format;
mod input;
mod interp;
mod io;
mod lexer;
mod parser;
mod text;
mod value;

pub use format::sprintf;
pub use value::Value;

use crate::input as files;
use crate::output::show;
use crate::platform;

use interp::Interp;

const USAGE: &str = "\
Usage: awk [POSIX or GNU style options] -f progfile [--] file ...
Usage: awk [POSIX or GNU style options] [--] 'program' file ...
  -f progfile    --file=progfile      read the program from a file
  -F fs          --field-separator=fs what separates fields
  -v var=val     --assign=var=val     set a variable before the program runs
  -e 'program'   --source='program'   the program's text
  -i inplace     --include=inplace    replace the files by what is printed
";

/// The command line.
#[derive(Default)]
struct Command {
    source: Option<Vec<u8>>,
    assignments: Vec<Vec<u8>>,
    separator: Option<Vec<u8>>,
    operands: Vec<Vec<u8>>,
    in_place: bool,
}

/// Runs awk and gives its exit status: the program's; 1 for a syntax error; 2 for a fatal one.
pub fn run(arguments: &[Vec<u8>]) -> i32 {
    let command = match parse_arguments(arguments) {
        Ok(Some(command)) => command,
        Ok(None) => return 0,
        Err(message) => {
            eprint!("{message}");
            return 2;
        }
    };
    let Some(source) = command.source else {
        eprint!("{USAGE}");
        return 1;
    };
    let program = match parser::parse(&source) {
        Ok(program) => program,
        Err((line, message)) => {
            let shown = source.split(|byte| *byte == b'\n').nth(line - 1).unwrap_or_default();
            eprintln!("awk: cmd. line:{line}: {}", show(shown));
            eprintln!("awk: cmd. line:{line}: {message}");
            // gawk finds an unknown function only when all is read, and ends with another status.
            return if message.ends_with("not defined") { 2 } else { 1 };
        }
    };
    let mut interp = Interp::new(&program, command.operands);
    interp.main.in_place = command.in_place;
    if let Err(message) = interp.check_regexes() {
        eprintln!("awk: cmd. line:1: error: {message}");
        return 1;
    }
    let status = start(&mut interp, command.separator, &command.assignments);
    interp.streams.close_all();
    match status {
        Ok(status) => status,
        Err(message) => {
            eprintln!("awk: fatal: {message}");
            2
        }
    }
}

fn start(interp: &mut Interp<'_>, separator: Option<Vec<u8>>, assignments: &[Vec<u8>]) -> Result<i32, String> {
    let mut assign = |name: &[u8], value: &[u8]| match interp.assign_by_name(name, value) {
        Err(interp::Unwind::Fatal(message)) => Err(message),
        _ => Ok(()),
    };
    if let Some(separator) = separator {
        assign(b"FS", &separator)?;
    }
    for assignment in assignments {
        let at = assignment.iter().position(|byte| *byte == b'=');
        let Some(at) = at.filter(|at| *at > 0) else {
            return Err(format!("`{}' argument to `-v' not in `var=value' form", show(assignment)));
        };
        assign(&assignment[..at], &assignment[at + 1..])?;
    }
    interp.run()
}

fn parse_arguments(arguments: &[Vec<u8>]) -> Result<Option<Command>, String> {
    let mut command = Command::default();
    let mut rest = arguments.iter();
    let add_source = |command: &mut Command, text: &[u8]| {
        let source = command.source.get_or_insert_default();
        source.extend_from_slice(text);
        source.push(b'\n');
    };
    let read_program = |name: &[u8]| {
        files::read(name).map_err(|error| {
            format!("awk: fatal: cannot open source file `{}' for reading: {}\n", show(name), platform::message(&error))
        })
    };
    while let Some(argument) = rest.next() {
        if argument == b"--" {
            break;
        }
        if argument == b"-" || argument.first() != Some(&b'-') {
            rest = arguments[arguments.len() - rest.len() - 1..].iter();
            break;
        }
        let (name, attached) = split_option(argument);
        let mut value = || {
            attached.clone().or_else(|| rest.next().cloned()).ok_or_else(|| {
                format!("awk: option requires an argument -- {}\n{USAGE}", show(&name).trim_start_matches('-'))
            })
        };
        match name.as_slice() {
            b"-f" | b"--file" => {
                let text = read_program(&value()?)?;
                add_source(&mut command, &text);
            }
            b"-E" | b"--exec" => {
                let text = read_program(&value()?)?;
                add_source(&mut command, &text);
                break;
            }
            b"-e" | b"--source" => {
                let text = value()?;
                add_source(&mut command, &text);
            }
            b"-F" | b"--field-separator" => command.separator = Some(value()?),
            b"-v" | b"--assign" => command.assignments.push(value()?),
            b"-i" | b"--include" => {
                let name = value()?;
                if name != b"inplace" {
                    let text = read_program(&name)?;
                    add_source(&mut command, &text);
                } else {
                    command.in_place = true;
                }
            }
            b"-l" | b"--load" | b"-m" | b"-W" => drop(value()?),
            b"--version" | b"-V" => {
                println!("GNU Awk 5.2.1 compatible (wskill texttools)");
                return Ok(None);
            }
            b"--help" | b"-h" => {
                print!("{USAGE}");
                return Ok(None);
            }
            // What these switch on is always on, or only warns.
            b"--posix"
            | b"-P"
            | b"--traditional"
            | b"-c"
            | b"--re-interval"
            | b"-r"
            | b"--lint"
            | b"-L"
            | b"-t"
            | b"--characters-as-bytes"
            | b"-b"
            | b"--non-decimal-data"
            | b"-n"
            | b"--optimize"
            | b"-O"
            | b"-s"
            | b"--sandbox"
            | b"-S"
            | b"--bignum"
            | b"-M"
            | b"--use-lc-numeric"
            | b"-N"
            | b"-g"
            | b"-C"
            | b"--csv" => {}
            _ => return Err(format!("awk: unknown option `{}'\n{USAGE}", show(&name))),
        }
    }
    let mut operands: Vec<Vec<u8>> = rest.cloned().collect();
    if command.source.is_none() && !operands.is_empty() {
        command.source = Some(operands.remove(0));
    }
    command.operands = operands;
    Ok(Some(command))
}

/// An option's name and the value attached to it.
fn split_option(argument: &[u8]) -> (Vec<u8>, Option<Vec<u8>>) {
    if argument.starts_with(b"--") {
        return match argument.iter().position(|byte| *byte == b'=') {
            Some(at) => (argument[..at].to_vec(), Some(argument[at + 1..].to_vec())),
            None => (argument.to_vec(), None),
        };
    }
    let takes_value = matches!(argument[1], b'f' | b'F' | b'v' | b'e' | b'i' | b'E' | b'l' | b'm' | b'W');
    if takes_value && argument.len() > 2 {
        return (argument[..2].to_vec(), Some(argument[2..].to_vec()));
    }
    (argument[..2.min(argument.len())].to_vec(), None)
}
