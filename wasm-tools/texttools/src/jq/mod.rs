//! `jq`: filters JSON.
//!
//! An implementation of its own: the one library there is for Rust prints numbers, words errors and orders some results
//! in ways of its own, and scripts compare the output.

mod builtins;
mod check;
mod dates;
mod eval;
mod parser;
mod paths;
mod stream;
mod strings;
mod value;

use std::cell::RefCell;
use std::rc::Rc;

use crate::args::{self, Long, Value};
use crate::input;
use crate::output::{Output, show};
use crate::platform;

use eval::{Env, Interp, Stop, bind_var};
use parser::Expr;
use value::{Colors, Json, Object, Style};

const USAGE: &str = "\
Usage:\tjq [OPTIONS] FILTER [FILES...]
\tjq [OPTIONS] --args FILTER [ARGUMENTS...]
\tjq [OPTIONS] --jsonargs FILTER [JSON_VALUES...]

  -c compact output; -n use null as input; -e exit status by the last output; -s read all inputs into an array;
  -r raw strings; -j raw strings without newlines; -R raw input; -a ASCII output; -C and -M color on and off;
  -S sort keys; --tab; --indent N; --arg NAME TEXT; --argjson NAME JSON; --slurpfile NAME FILE; --rawfile NAME FILE;
  --args; --jsonargs; -f FILE filter from a file; --stream; --seq
";

const LONGS: &[Long] = &[
    ("ascii-output", Value::No, 'a'),
    ("color-output", Value::No, 'C'),
    ("compact-output", Value::No, 'c'),
    ("exit-status", Value::No, 'e'),
    ("from-file", Value::No, 'f'),
    ("help", Value::No, 'h'),
    ("indent", Value::Required, '\u{e000}'),
    ("join-output", Value::No, 'j'),
    ("monochrome-output", Value::No, 'M'),
    ("null-input", Value::No, 'n'),
    ("raw-input", Value::No, 'R'),
    ("raw-output", Value::No, 'r'),
    ("raw-output0", Value::No, '\u{e001}'),
    ("seq", Value::No, '\u{e002}'),
    ("slurp", Value::No, 's'),
    ("sort-keys", Value::No, 'S'),
    ("stream", Value::No, '\u{e003}'),
    ("tab", Value::No, '\u{e004}'),
    ("unbuffered", Value::No, '\u{e005}'),
    ("version", Value::No, 'V'),
];

#[derive(Default)]
struct Config {
    filter: Option<Vec<u8>>,
    filter_from_file: bool,
    files: Vec<Vec<u8>>,
    style: Style,
    null_input: bool,
    slurp: bool,
    raw_input: bool,
    raw_output: bool,
    join: bool,
    nul: bool,
    exit_status: bool,
    seq: bool,
    stream: bool,
    unbuffered: bool,
    named: Object,
    positional: Vec<Json>,
}

/// Whether a text is one JSON value.
pub fn is_json(text: &[u8]) -> bool {
    value::parse(text).is_ok()
}

/// Runs jq and gives its exit status: 0; with `-e` 1 for false and null, 4 for no output; 2 trouble with files or
/// usage; 3 a syntax error; 4 broken JSON; 5 an error of the filter.
pub fn run(arguments: &[Vec<u8>]) -> i32 {
    let config = match parse(arguments) {
        Ok(Some(config)) => config,
        Ok(None) => return 0,
        Err(message) => {
            eprintln!(
                "jq: error: {message}\nUse jq --help for help with command-line options,\nor see the jq manpage, or online docs  at https://stedolan.github.io/jq"
            );
            return 2;
        }
    };
    filter(config)
}

fn parse(arguments: &[Vec<u8>]) -> Result<Option<Config>, String> {
    let mut config = Config::default();
    let mut indent = Some(2);
    let mut tab = false;
    // After --args and --jsonargs words are values.
    let mut values: Option<bool> = None;
    let mut only_operands = false;
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let option = !only_operands && word.len() > 1 && word.starts_with(b"-");
        if !option {
            if config.filter.is_none() {
                config.filter = Some(word.clone());
            } else {
                match values {
                    None => config.files.push(word.clone()),
                    Some(false) => config.positional.push(Json::string(show(word))),
                    Some(true) => {
                        let value = value::parse(word)
                            .map_err(|_| format!("Invalid JSON text passed to --jsonargs: {}", show(word)))?;
                        config.positional.push(value);
                    }
                }
            }
            continue;
        }
        let mut two = |name: &str| match (words.next(), words.next()) {
            (Some(first), Some(second)) => Ok((Rc::<str>::from(show(first)), second.clone())),
            _ => Err(format!("{name} takes two parameters (e.g. {name} varname value)")),
        };
        match word.as_slice() {
            b"--" => only_operands = true,
            b"--args" => values = Some(false),
            b"--jsonargs" => values = Some(true),
            b"--arg" => {
                let (name, text) = two("--arg")?;
                config.named.entry(name).or_insert(Json::string(show(&text)));
            }
            b"--argjson" => {
                let (name, text) = two("--argjson")?;
                let value = value::parse(&text).map_err(|_| "Invalid JSON text passed to --argjson".to_string())?;
                config.named.entry(name).or_insert(value);
            }
            b"--slurpfile" | b"--rawfile" => {
                let option = show(word);
                let (name, file) = two(&option)?;
                let bad = |message: String| format!("Bad JSON in --{} {name} {}: {message}", &option[2..], show(&file));
                let text = input::read(&file)
                    .map_err(|error| bad(format!("Could not open {}: {}", show(&file), platform::message(&error))))?;
                let value = if option == "--rawfile" {
                    Json::string(show(&text))
                } else {
                    Json::array(read_all(&text).map_err(bad)?)
                };
                config.named.entry(name).or_insert(value);
            }
            b"-L" | b"--library-path" => {
                words.next();
            }
            word if word.starts_with(b"-L") => {}
            _ => {
                let rest: Vec<Vec<u8>> = std::iter::once(word.clone()).chain(words.clone().take(1).cloned()).collect();
                let takes = word.as_slice() == b"--indent";
                let list = if takes { &rest[..] } else { &rest[..1] };
                let parsed =
                    args::parse(list, "acCeEfhjMnrRsSV", LONGS, true).map_err(|_| "Unknown arguments".to_string())?;
                for (letter, value) in parsed.options {
                    match letter {
                        'a' => config.style.ascii = true,
                        'c' => indent = None,
                        'C' => {
                            let settings =
                                platform::variable("JQ_COLORS").map(|bytes| show(&bytes)).unwrap_or_default();
                            config.style.color = Some(Colors::new(&settings));
                        }
                        'e' => config.exit_status = true,
                        'f' => config.filter_from_file = true,
                        'h' => {
                            print!("{USAGE}");
                            return Ok(None);
                        }
                        'j' => {
                            config.raw_output = true;
                            config.join = true;
                        }
                        'M' => config.style.color = None,
                        'n' => config.null_input = true,
                        'r' => config.raw_output = true,
                        'R' => config.raw_input = true,
                        's' => config.slurp = true,
                        'S' => config.style.sort_keys = true,
                        'V' => {
                            println!("jq-1.6");
                            return Ok(None);
                        }
                        '\u{e000}' => {
                            words.next();
                            let count = value.as_deref().and_then(args::number).ok_or("--indent takes a number")?;
                            if count < 0 {
                                return Err("Cannot indent less than zero".into());
                            }
                            if count > 7 {
                                return Err("Cannot indent more than 7 characters".into());
                            }
                            indent = (count > 0).then_some(count as usize);
                        }
                        '\u{e001}' => {
                            config.raw_output = true;
                            config.nul = true;
                        }
                        '\u{e002}' => config.seq = true,
                        '\u{e003}' => config.stream = true,
                        '\u{e004}' => tab = true,
                        '\u{e005}' => config.unbuffered = true,
                        _ => {}
                    }
                }
            }
        }
    }
    config.style.indent = if tab { Some("\t".into()) } else { indent.map(|count| " ".repeat(count)) };
    if config.filter.is_none() {
        eprint!("{USAGE}");
        return Err("no filter given".into());
    }
    Ok(Some(config))
}

fn read_all(text: &[u8]) -> Result<Vec<Json>, String> {
    let mut reader = value::Reader::new(text);
    let mut values = Vec::new();
    while let Some(value) = reader.next()? {
        values.push(value);
    }
    Ok(values)
}

/// The program with the definitions it needs in front.
fn load(source: &str, variables: &[&str]) -> Result<Expr, String> {
    let mut program = parser::parse(source)?;
    // A definition may need others; those come in front of it.
    let mut missing = check::missing(&program, variables)?;
    let mut rounds = 0;
    while !missing.is_empty() {
        for (name, arity) in missing {
            let known = builtins::PRELUDE.iter().find(|(known, count, _)| *known == name && *count == arity);
            let Some((_, _, text)) = known else {
                return Err(format!("{name}/{arity} is not defined"));
            };
            for function in parser::parse_definitions(text)?.into_iter().rev() {
                program = Expr::Define(Rc::new(function), Box::new(program));
            }
        }
        missing = check::missing(&program, variables)?;
        rounds += 1;
        if rounds > 20 {
            return Err("definitions need each other".into());
        }
    }
    Ok(program)
}

fn filter(config: Config) -> i32 {
    let source = config.filter.clone().unwrap_or_default();
    let mut files = config.files.clone();
    let source = if config.filter_from_file {
        match input::read(&source) {
            Ok(text) => text,
            Err(error) => {
                eprintln!("jq: error: Could not open {}: {}", show(&source), platform::message(&error));
                return 2;
            }
        }
    } else {
        source
    };
    let source = show(&source);
    let mut args = Object::new();
    args.insert("positional".into(), Json::array(config.positional.clone()));
    args.insert("named".into(), Json::object(config.named.clone()));
    let mut variables: Vec<&str> = config.named.keys().map(|name| &**name).collect();
    variables.extend(["ENV", "ARGS"]);
    let program = match load(&source, &variables) {
        Ok(program) => program,
        Err(message) => {
            eprintln!("jq: error: {message} at <top-level>, line 1:\n{source}\njq: 1 compile error");
            return 3;
        }
    };
    let mut env: Env<'_> = None;
    for (name, value) in &config.named {
        env = bind_var(&env, name, value.clone());
    }
    env = bind_var(&env, "ARGS", Json::object(args));
    if files.is_empty() {
        files.push(b"-".to_vec());
    }
    let source = Rc::new(RefCell::new(stream::Source::new(files, config.raw_input, config.slurp, config.stream)));
    let shared = source.clone();
    let interp = Interp::new(Box::new(move || shared.borrow_mut().next()));
    let mut printer = Printer { out: Output::new("jq", 2), config: &config, last: None };
    let mut status = 0;
    loop {
        let value = if config.null_input {
            Some(Ok(Json::Null))
        } else {
            // Its own statement: the borrow must end before the filter asks for inputs.
            let next = source.borrow_mut().next();
            next
        };
        let value = match value {
            None => break,
            Some(Ok(value)) => value,
            Some(Err(message)) => {
                printer.out.flush_all();
                eprintln!("{message}");
                status = 4;
                break;
            }
        };
        *interp.file_name.borrow_mut() = source.borrow().file_name();
        let flow = interp.values(&program, &env, &value, &mut |value| {
            printer.print(value);
            Ok(())
        });
        match flow {
            Ok(()) | Err(Stop::Break(_)) => {}
            Err(Stop::Halt(code)) => {
                printer.out.flush_all();
                return code;
            }
            Err(Stop::Error(error)) => {
                printer.out.flush_all();
                let place = source.borrow().place();
                match &error {
                    Json::String(text) => eprintln!("jq: error (at {place}): {text}"),
                    other => eprintln!("jq: error (at {place}) (not a string): {}", other.to_text()),
                }
                status = 5;
            }
        }
        if config.null_input {
            break;
        }
    }
    printer.out.flush_all();
    if source.borrow().trouble {
        status = 2;
    }
    match (status, config.exit_status, &printer.last) {
        (0, true, None) => 4,
        (0, true, Some(false)) => 1,
        (status, ..) => status,
    }
}

struct Printer<'c> {
    out: Output,
    config: &'c Config,
    /// Whether the last output was true.
    last: Option<bool>,
}

impl Printer<'_> {
    fn print(&mut self, value: Json) {
        self.last = Some(value.is_true());
        let mut text = String::new();
        if self.config.seq {
            text.push('\u{1e}');
        }
        match &value {
            Json::String(plain) if self.config.raw_output && !self.config.style.ascii => text.push_str(plain),
            other => value::write(other, &self.config.style, 0, &mut text),
        }
        if self.config.nul {
            text.push('\0');
        } else if !self.config.join {
            text.push('\n');
        }
        self.out.text(&text);
        if self.config.unbuffered {
            self.out.flush_all();
        }
    }
}
