//! The command line of the shell, and what it begins with.

use crate::input::StdinLines;
use crate::os;
use crate::outline::outline;
use crate::parse::Parser;
use crate::shell::{Shell, Unwind, VERSION};
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
    login: bool,
    posix: bool,
    norc: bool,
    noprofile: bool,
    rcfile: Option<Vec<u8>>,
    set: Vec<(Vec<u8>, bool)>,
    shopt: Vec<(Vec<u8>, bool)>,
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
    let mut request = Request {
        login: base.starts_with(b"-"),
        ..Request::default()
    };
    request.posix = base == b"sh" || base == b"-sh" || os::program_name() == b"sh" && base != b"bash";
    let rest = match parse_options(&mut shell, &argv, &mut request) {
        Ok(rest) => rest,
        Err(status) => return status,
    };
    shell.import_environment();
    if request.posix {
        shell.set_option(b"posix", true);
    }
    shell.locale_changed();
    if let Some(options) = shell.inherited_options.take() {
        for name in options.split(|&c| c == b':').filter(|n| !n.is_empty()) {
            shell.set_option(name, true);
        }
    }
    for (name, on) in &request.set {
        shell.set_option(name, *on);
    }
    for (name, on) in &request.shopt {
        if let Some(slot) = Rc::make_mut(&mut shell.st.shopts).by_name(name) {
            *slot = *on;
        }
    }
    note_ignored_signals(&mut shell);
    let words = &argv[rest..];
    if request.interactive
        && let Some(status) = start_interactive(&mut shell, &request)
    {
        return status;
    }
    if request.command {
        let Some((text, words)) = words.split_first() else {
            let text = [&shell.st.arg0[..], b": -c: option requires an argument\n"].concat();
            shell.write_stderr(&text);
            return 2;
        };
        shell.from_string = true;
        shell.st.source = Rc::from(&b"environment"[..]);
        if let Some((name, args)) = words.split_first() {
            shell.st.arg0 = name.as_slice().into();
            shell.st.positional = Rc::new(args.to_vec().into());
        }
        if let Some(status) = login_files(&mut shell, &request) {
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
            if let Some(status) = login_files(&mut shell, &request) {
                return status;
            }
            let parser = Parser::from_input(Box::new(StdinLines::new()), Rc::from(&b"main"[..]));
            shell.run_main(parser)
        }
    }
}

fn run_script(shell: &mut Shell, request: &Request, script: &[u8], args: &[Vec<u8>]) -> i32 {
    // A name without slash is also looked up along PATH.
    let mut path = script.to_vec();
    if !script.contains(&b'/')
        && os::stat(script).is_err()
        && let Some(found) = shell.search_path(script).into_iter().next()
    {
        path = found;
    }
    let own_name = shell.st.arg0.to_vec();
    let fail = |message: &str, status: i32| {
        let text = [own_name.as_slice(), b": ", script, b": ", message.as_bytes(), b"\n"].concat();
        os::write_error(&text);
        status
    };
    if os::is_dir(&path) {
        return fail("Is a directory", 126);
    }
    let text = match os::read_file(&path) {
        Ok(text) => text,
        Err(error) => return fail(os::message(error), if error == os::Errno::ENOENT { 127 } else { 126 }),
    };
    if is_binary(&text) {
        return fail("cannot execute binary file", 126);
    }
    shell.st.arg0 = path.as_slice().into();
    shell.st.source = path.as_slice().into();
    shell.st.last_argument = own_name.as_slice().into();
    shell.main_source = Some(path.as_slice().into());
    shell.st.positional = Rc::new(args.to_vec().into());
    if let Some(status) = login_files(shell, request) {
        return status;
    }
    if let Some(file) = shell
        .get_scalar(b"BASH_ENV")
        .filter(|f| !f.is_empty() && !request.posix)
        && let Ok(name) = shell.expand_text(&file)
        && let Ok(text) = os::read_file(&name)
        && let Err(Unwind::Exit(status)) = shell.run_sourced(&name, text, None)
    {
        return shell.end_of_environment(Err(Unwind::Exit(status)));
    }
    let text = if text.contains(&0) {
        text.into_iter().filter(|&c| c != 0).collect()
    } else {
        text
    };
    let parser = Parser::new(text, 1, path.as_slice().into());
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

fn parse_options(shell: &mut Shell, argv: &[Vec<u8>], request: &mut Request) -> Result<usize, i32> {
    let mut i = 1;
    let own_name = String::from_utf8_lossy(&shell.st.arg0).into_owned();
    let invalid = |option: &str| {
        os::write_error(format!("{own_name}: {option}: invalid option\n{}", usage(&own_name)).as_bytes());
        2
    };
    while let Some(word) = argv.get(i) {
        if let Some(name) = word.strip_prefix(b"--").filter(|n| !n.is_empty()) {
            match name {
                b"norc" => request.norc = true,
                b"noprofile" => request.noprofile = true,
                b"noediting" => {}
                b"posix" => request.posix = true,
                b"login" => request.login = true,
                b"verbose" => request.set.push((b"verbose".to_vec(), true)),
                b"rcfile" | b"init-file" => {
                    i += 1;
                    request.rcfile = argv.get(i).cloned();
                }
                b"version" => {
                    os_out(format!("GNU bash, version {VERSION} (wskill)\n").as_bytes());
                    return Err(0);
                }
                b"help" => {
                    os_out(format!("GNU bash, version {VERSION} (wskill)\n{}", usage(&own_name)).as_bytes());
                    return Err(0);
                }
                _ => return Err(invalid(&String::from_utf8_lossy(word))),
            }
            i += 1;
            continue;
        }
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
        if word == b"--" {
            i += 1;
            break;
        }
        for &letter in &word[1..] {
            match letter {
                b'c' => request.command = true,
                b's' => request.stdin = true,
                b'l' => request.login = true,
                b'r' | b'D' => {}
                b'i' => request.interactive = true,
                b'o' | b'O' => {
                    i += 1;
                    let Some(name) = argv.get(i) else {
                        return Err(invalid(&format!("-{}", letter as char)));
                    };
                    let known = if letter == b'o' {
                        shell.st.opts.is_set(name).is_some()
                    } else {
                        shell.st.shopts.is_set(name).is_some()
                    };
                    if !known {
                        let shown = String::from_utf8_lossy(name).into_owned();
                        let kind = if letter == b'o' {
                            "invalid option name"
                        } else {
                            "invalid shell option name"
                        };
                        os::write_error(format!("{own_name}: {shown}: {kind}\n").as_bytes());
                        return Err(2);
                    }
                    let list = if letter == b'o' {
                        &mut request.set
                    } else {
                        &mut request.shopt
                    };
                    list.push((name.clone(), on));
                }
                _ => match SetOptions::name_of(letter) {
                    Some(name) => request.set.push((name.as_bytes().to_vec(), on)),
                    None => return Err(invalid(&format!("-{}", letter as char))),
                },
            }
        }
        i += 1;
    }
    Ok(i.min(argv.len()))
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

/// Reads `/etc/profile` and the user's profile for `-l`. `Some`: one of them ended the shell.
fn login_files(shell: &mut Shell, request: &Request) -> Option<i32> {
    if !request.login {
        return None;
    }
    Rc::make_mut(&mut shell.st.shopts).login_shell = true;
    if request.noprofile {
        return None;
    }
    let home = shell.get_scalar(b"HOME").unwrap_or_default();
    let mut files = vec![b"/etc/profile".to_vec()];
    let user = [&b"/.bash_profile"[..], b"/.bash_login", b"/.profile"];
    files.extend(
        user.iter()
            .map(|f| [home.as_slice(), f].concat())
            .find(|f| os::is_file(f)),
    );
    for file in files {
        if let Ok(text) = os::read_file(&file)
            && let Err(Unwind::Exit(status)) = shell.run_sourced(&file, text, None)
        {
            return Some(shell.end_of_environment(Err(Unwind::Exit(status))));
        }
    }
    None
}

/// `-i`: what scripts and start files can see of it. Nothing is prompted for, and there is no job control.
/// `Some`: the start file ended the shell.
fn start_interactive(shell: &mut Shell, request: &Request) -> Option<i32> {
    shell.interactive = true;
    shell.set_option(b"histexpand", true);
    Rc::make_mut(&mut shell.st.shopts).expand_aliases = true;
    if shell.get_scalar(b"PS1").is_none() {
        let var = Var::scalar(&b"\\s-\\v\\$ "[..]);
        Rc::make_mut(&mut shell.st.vars).insert(Rc::from(&b"PS1"[..]), Rc::new(var));
    }
    if request.login || request.norc {
        return None;
    }
    let file = match &request.rcfile {
        Some(file) => file.clone(),
        None => [shell.get_scalar(b"HOME").unwrap_or_default().as_slice(), b"/.bashrc"].concat(),
    };
    if let Ok(text) = os::read_file(&file)
        && let Err(Unwind::Exit(status)) = shell.run_sourced(&file, text, None)
    {
        return Some(shell.end_of_environment(Err(Unwind::Exit(status))));
    }
    None
}

/// Signals that are ignored from the start stay so.
fn note_ignored_signals(shell: &mut Shell) {
    // Only those that parents really ignore; asking for all 64 would cost more than the shell's start.
    for signal in [1, 2, 3, 10, 12, 13, 14, 15] {
        if let Ok(old) = os::set_signal(signal, os::Disposition::Default)
            && old == os::Disposition::Ignore
        {
            let _ = os::set_signal(signal, os::Disposition::Ignore);
            shell.ignored_at_start |= 1 << (signal - 1);
        }
    }
    shell.sync_signals();
}
