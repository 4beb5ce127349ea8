//! The command line of the shell, and what it begins with.

use crate::builtins;
use crate::input::StdinLines;
use crate::os::{self, Errno};
use crate::outline::outline;
use crate::parse::Parser;
use crate::shell::{Shell, Unwind, VERSION};
use crate::startup::StartFiles;
use crate::state::options::SetOptions;
use crate::state::vars::Var;
use std::mem::ManuallyDrop;
use std::rc::Rc;

/// Option under which a parent shell hands over its state.
const STATE_OPTION: &[u8] = b"--wskill-state=";

/// Option that prints what scripts would call instead of running them; see `outline`.
const OUTLINE_OPTION: &[u8] = b"--wskill-outline";

/// What the command line asks for.
#[derive(Default)]
struct Request {
    command: bool,
    stdin: bool,
    interactive: bool,
    noediting: bool,
    files: StartFiles,
    set: Vec<(Vec<u8>, bool)>,
    shopt: Vec<(Vec<u8>, bool)>,
    /// Options to list, by builtin, and whether as commands.
    list: Vec<(&'static [u8], bool)>,
}

impl Request {
    /// The status after a message about the command line.
    fn failure(&self) -> i32 {
        if self.set.iter().any(|(name, on)| name == b"errexit" && *on) {
            1
        } else {
            2
        }
    }
}

/// Runs the shell; its exit status.
pub fn run(argv: Vec<Vec<u8>>) -> i32 {
    let arg0 = argv.first().cloned().unwrap_or_else(|| b"bash".to_vec());
    if let Some(number) = argv.get(1).and_then(|a| a.strip_prefix(STATE_OPTION)) {
        return run_inherited(number);
    }
    if argv.get(1).is_some_and(|a| a == OUTLINE_OPTION) {
        return outline_files(&argv[2..]);
    }
    // The process ends with the shell: to free its memory piece by piece would only take time.
    let mut shell = ManuallyDrop::new(Shell::new(&arg0));
    let base = arg0.rsplit(|&c| c == b'/').next().unwrap_or_default();
    let mut request = Request::default();
    request.files.login = base.starts_with(b"-");
    request.files.sh = base == b"sh" || base == b"-sh" || os::program_name() == b"sh" && base != b"bash";
    let rest = match parse_options(&mut shell, &argv, &mut request) {
        Ok(rest) => rest,
        Err(status) => return status,
    };
    shell.import_environment();
    if shell.get_scalar(b"POSIXLY_CORRECT").is_some() {
        request.files.posix = true;
    }
    if request.files.posix || request.files.sh {
        shell.set_option(b"posix", true);
    }
    shell.locale_changed();
    if let Err(status) = set_options(&mut shell, &request) {
        return status;
    }
    request.files.privileged = shell.st.opts.privileged;
    shell.note_ignored_signals();
    if request.interactive {
        shell.start_interactive();
    }
    let words = &argv[rest..];
    if request.command {
        let Some((text, words)) = words.split_first() else {
            let text = [&shell.st.arg0[..], b": -c: option requires an argument\n"].concat();
            shell.write_stderr(&text);
            return request.failure();
        };
        shell.from_string = true;
        shell.st.source = Rc::from(&b"environment"[..]);
        if let Some((name, args)) = words.split_first() {
            shell.st.arg0 = name.as_slice().into();
            shell.st.positional = Rc::new(args.to_vec().into());
        }
        if let Some(status) = shell.read_start_files(&request.files) {
            return status;
        }
        let var = Var::scalar(text.as_slice());
        Rc::make_mut(&mut shell.st.vars).insert(Rc::from(&b"BASH_EXECUTION_STRING"[..]), Rc::new(var));
        let parser = Parser::new(text.clone(), 1, shell.st.source.clone());
        return shell.run_main(parser);
    }
    match words.split_first().filter(|_| !request.stdin) {
        Some((script, args)) => run_script(&mut shell, &request, script, args),
        None => {
            shell.from_stdin = true;
            shell.st.positional = Rc::new(words.to_vec().into());
            if let Some(status) = shell.read_start_files(&request.files) {
                return status;
            }
            let prompts = request.interactive.then(|| shell.use_prompts(!request.noediting));
            let parser = Parser::from_input(Box::new(StdinLines::new(prompts)), Rc::from(&b"main"[..]));
            shell.run_main(parser)
        }
    }
}

/// Sets the options that the environment and the command line ask for, and lists them when that is asked for.
fn set_options(shell: &mut Shell, request: &Request) -> Result<(), i32> {
    if let Some(names) = shell.inherited_shopts.take() {
        for name in names.split(|&c| c == b':') {
            if let Some(slot) = Rc::make_mut(&mut shell.st.shopts).by_name(name) {
                *slot = true;
            }
        }
    }
    if let Some(names) = shell.inherited_options.take() {
        for name in names.split(|&c| c == b':').filter(|n| !n.is_empty()) {
            if shell.st.opts.is_set(name).is_some() {
                shell.set_option(name, true);
            } else {
                let shown = String::from_utf8_lossy(name).into_owned();
                shell.write_stderr(format!("bash: line 0: {shown}: invalid option name\n").as_bytes());
            }
        }
    }
    for (name, on) in &request.set {
        shell.set_option(name, *on);
    }
    if shell.plain_scalar(b"BASH_COMPAT").is_some() {
        shell.compat_changed();
    }
    for (name, on) in &request.shopt {
        // A readonly BASH_COMPAT cannot come from the environment.
        let _ = shell.set_shopt(name, *on);
    }
    // Without a terminal there is nothing to control jobs with.
    if shell.st.opts.monitor {
        shell.set_option(b"monitor", false);
        if !request.interactive {
            shell.say_no_job_control();
        }
    }
    for &(builtin, commands) in &request.list {
        let argv: Vec<Vec<u8>> = match (builtin, commands) {
            (b"set", false) => vec![b"set".to_vec(), b"-o".to_vec()],
            (b"set", true) => vec![b"set".to_vec(), b"+o".to_vec()],
            (_, false) => vec![b"shopt".to_vec()],
            (_, true) => vec![b"shopt".to_vec(), b"-p".to_vec()],
        };
        if let Some(found) = builtins::find(builtin) {
            shell.call_builtin(found, &argv, None).map_err(|_| 1)?;
            shell.flush_out();
        }
    }
    Ok(())
}

fn run_script(shell: &mut Shell, request: &Request, script: &[u8], args: &[Vec<u8>]) -> i32 {
    // A name without slash is also looked up along PATH.
    let mut path = script.to_vec();
    if !script.contains(&b'/')
        && !script.is_empty()
        && os::stat(script).is_err()
        && let Some(found) = shell.search_path(script).into_iter().next()
    {
        path = found;
    }
    let own_name = shell.st.arg0.to_vec();
    let fail = |name: &[u8], message: &str, status: i32| {
        let text = [name, b": ", script, b": ", message.as_bytes(), b"\n"].concat();
        os::write_error(&text);
        status
    };
    if !path.is_empty() && os::is_dir(&path) {
        return fail(script, "Is a directory", 126);
    }
    let text = match os::read_file(&path) {
        Ok(_) if path.is_empty() => return fail(&own_name, os::message(Errno::ENOENT), 127),
        Ok(text) => text,
        Err(error) => {
            let absent = error == Errno::ENOENT || path.is_empty();
            return fail(&own_name, os::message(error), if absent { 127 } else { 126 });
        }
    };
    if is_binary(&text) {
        return fail(script, "cannot execute binary file", 126);
    }
    shell.st.arg0 = script.into();
    shell.st.source = script.into();
    shell.main_source = Some(script.into());
    shell.st.positional = Rc::new(args.to_vec().into());
    if let Some(status) = shell.read_start_files(&request.files) {
        return status;
    }
    let mut text = text;
    text.retain(|&c| c != 0);
    if text.last().is_some_and(|&c| c != b'\n') {
        text.push(b'\n');
    }
    let parser = Parser::new(text, 1, script.into());
    shell.run_main(parser)
}

/// Whether a file looks like anything but a script: a NUL before the first newline.
fn is_binary(text: &[u8]) -> bool {
    let head = &text[..text.len().min(80)];
    let line = head.iter().position(|&c| c == b'\n').unwrap_or(head.len());
    head[..line].contains(&0)
}

/// Prints the outlines of files; 1 when one could not be read, 2 when nobody takes the output.
fn outline_files(files: &[Vec<u8>]) -> i32 {
    let mut status = 0;
    for file in files {
        match os::read_file(file) {
            Ok(text) => {
                if os::write_all(1, &outline(file, text)).is_err() {
                    return 2;
                }
            }
            Err(error) => {
                os::write_error(&[file, &b": "[..], os::message(error).as_bytes(), b"\n"].concat());
                status = 1;
            }
        }
    }
    status
}

/// Runs the part of a script that another shell handed over.
fn run_inherited(number: &[u8]) -> i32 {
    let fd = std::str::from_utf8(number)
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(-1);
    match crate::state::transfer::decode(fd) {
        Some((shell, list)) => {
            let mut shell = ManuallyDrop::new(shell);
            let result = shell.run_list(&list);
            let result = match result {
                // A subshell's break leaves its loop only.
                Err(Unwind::Break(_) | Unwind::Continue(_)) => Ok(0),
                other => other,
            };
            let status = shell.end_of_environment(result);
            shell.flush_out();
            status
        }
        None => {
            os::write_error(b"bash: cannot read the state of the parent shell\n");
            2
        }
    }
}

/// A long option, which one or two dashes introduce. `Ok(false)`: it is none.
fn parse_long_option(
    argv: &[Vec<u8>],
    at: &mut usize,
    name: &[u8],
    request: &mut Request,
    own_name: &str,
) -> Result<bool, i32> {
    match name {
        b"norc" => request.files.norc = true,
        b"noprofile" => request.files.noprofile = true,
        b"noediting" => request.noediting = true,
        b"posix" => request.files.posix = true,
        b"login" => request.files.login = true,
        b"debug" => {}
        b"verbose" => request.set.push((b"verbose".to_vec(), true)),
        b"rcfile" | b"init-file" => {
            *at += 1;
            let Some(file) = argv.get(*at) else {
                let shown = String::from_utf8_lossy(name);
                os::write_error(format!("{own_name}: {shown}: option requires an argument\n").as_bytes());
                return Err(2);
            };
            request.files.rcfile = Some(file.clone());
        }
        b"version" => {
            os_out(format!("GNU bash, version {VERSION} (wskill)\n").as_bytes());
            return Err(0);
        }
        b"help" => {
            os_out(format!("GNU bash, version {VERSION} (wskill)\n{}", usage(own_name)).as_bytes());
            return Err(0);
        }
        b"restricted" => return Err(not_supported(own_name, "--restricted", "restricted shells")),
        b"debugger" => return Err(not_supported(own_name, "--debugger", "a debugger's profile")),
        b"pretty-print" | b"dump-strings" | b"dump-po-strings" => {
            let option = format!("--{}", String::from_utf8_lossy(name));
            return Err(not_supported(
                own_name,
                &option,
                "printing scripts instead of running them",
            ));
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// What bash can do and this shell cannot is refused, never left out in silence.
fn not_supported(own_name: &str, option: &str, what: &str) -> i32 {
    os::write_error(format!("{own_name}: {option}: not supported in the sandbox: {what}\n").as_bytes());
    2
}

fn parse_options(shell: &mut Shell, argv: &[Vec<u8>], request: &mut Request) -> Result<usize, i32> {
    let mut i = 1;
    let own_name = String::from_utf8_lossy(&shell.st.arg0).into_owned();
    let invalid = |option: &str, request: &Request| {
        os::write_error(format!("{own_name}: {option}: invalid option\n{}", usage(&own_name)).as_bytes());
        request.failure()
    };
    while let Some(word) = argv.get(i) {
        let Some(name) = word.strip_prefix(b"-").filter(|n| !n.is_empty() && *n != b"-") else {
            break;
        };
        let (name, long) = match name.strip_prefix(b"-") {
            Some(name) => (name, true),
            None => (name, false),
        };
        if !parse_long_option(argv, &mut i, name, request, &own_name)? {
            if long {
                return Err(invalid(&String::from_utf8_lossy(word), request));
            }
            break;
        }
        i += 1;
    }
    while let Some(word) = argv.get(i) {
        let on = match word.first() {
            Some(b'-') if word.len() > 1 => true,
            Some(b'+') if word.len() > 1 => false,
            _ => {
                if word == b"-" {
                    i += 1;
                }
                break;
            }
        };
        i += 1;
        if word == b"--" {
            break;
        }
        for &letter in &word[1..] {
            match letter {
                b'c' => request.command = true,
                b's' => request.stdin = true,
                b'l' => request.files.login = true,
                b'i' => request.interactive = true,
                b'r' => return Err(not_supported(&own_name, "-r", "restricted shells")),
                b'D' => {
                    return Err(not_supported(
                        &own_name,
                        "-D",
                        "printing scripts instead of running them",
                    ));
                }
                b'o' | b'O' => {
                    let of_set = letter == b'o';
                    let Some(name) = argv.get(i) else {
                        request.list.push((if of_set { b"set" } else { b"shopt" }, !on));
                        continue;
                    };
                    i += 1;
                    let known = if of_set {
                        shell.st.opts.is_set(name).is_some()
                    } else {
                        shell.st.shopts.is_set(name).is_some()
                    };
                    if !known {
                        let shown = String::from_utf8_lossy(name).into_owned();
                        let text = if of_set {
                            format!("{own_name}: line 0: {own_name}: {shown}: invalid option name\n")
                        } else {
                            format!("{own_name}: line 0: {shown}: invalid shell option name\n")
                        };
                        os::write_error(text.as_bytes());
                        return Err(request.failure());
                    }
                    let list = if of_set { &mut request.set } else { &mut request.shopt };
                    list.push((name.clone(), on));
                }
                _ => match SetOptions::name_of(letter) {
                    Some(name) => request.set.push((name.as_bytes().to_vec(), on)),
                    None => return Err(invalid(&format!("-{}", letter as char), request)),
                },
            }
        }
    }
    Ok(i)
}

/// How the shell is called, as bash tells it.
fn usage(name: &str) -> String {
    const LONG: [&str; 16] = [
        "debug",
        "debugger",
        "dump-po-strings",
        "dump-strings",
        "help",
        "init-file",
        "login",
        "noediting",
        "noprofile",
        "norc",
        "posix",
        "pretty-print",
        "rcfile",
        "restricted",
        "verbose",
        "version",
    ];
    let mut text = format!("Usage:\t{name} [GNU long option] [option] ...\n");
    text += &format!("\t{name} [GNU long option] [option] script-file ...\nGNU long options:\n");
    for option in LONG {
        text += &format!("\t--{option}\n");
    }
    text += "Shell options:\n\t-ilrsD or -c command or -O shopt_option\t\t(invocation only)\n";
    text + "\t-abefhkmnptuvxBCEHPT or -o option\n"
}

fn os_out(text: &[u8]) {
    let _ = os::write_all(1, text);
}
