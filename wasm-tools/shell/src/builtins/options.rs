//! `set` and `shopt`.

use crate::shell::{Run, Shell};
use crate::state::options::{SET_OPTIONS, SHOPTS, SetOptions};
use std::rc::Rc;

/// The compatibility level of this version.
const NO_COMPAT: &[u8] = b"52";

impl Shell {
    /// Sets an option of `set -o`; `false` when there is none of that name.
    pub fn set_option(&mut self, name: &[u8], on: bool) -> bool {
        let Some(slot) = self.st.opts.by_name(name) else {
            return false;
        };
        *slot = on;
        if name == b"posix" {
            self.set_posix(on);
        }
        if self
            .st
            .vars
            .get(&b"SHELLOPTS"[..])
            .is_some_and(|v| v.has(crate::state::vars::attr::EXPORT))
        {
            self.env_cache = None;
        }
        if on && name == b"vi" {
            self.st.opts.emacs = false;
        }
        if on && name == b"emacs" {
            self.st.opts.vi = false;
        }
        if name == b"posix" {
            let value: &[u8] = if on { b"y" } else { b"" };
            if on {
                let _ = self.set_scalar(b"POSIXLY_CORRECT", value.to_vec());
            } else {
                self.unset_var(b"POSIXLY_CORRECT");
            }
        }
        true
    }

    /// POSIX mode, and the options that come with it.
    pub fn set_posix(&mut self, on: bool) {
        self.st.opts.posix = on;
        let interactive = self.interactive;
        let shopts = Rc::make_mut(&mut self.st.shopts);
        shopts.expand_aliases = on || interactive;
        shopts.shift_verbose = on;
        if on {
            shopts.interactive_comments = true;
            shopts.sourcepath = true;
            shopts.inherit_errexit = true;
        }
    }

    /// Sets an option of `shopt`; `false` when there is none of that name.
    pub fn set_shopt(&mut self, name: &[u8], on: bool) -> Run<bool> {
        let Some(slot) = Rc::make_mut(&mut self.st.shopts).by_name(name) else {
            return Ok(false);
        };
        let before = std::mem::replace(slot, on);
        if let Some(level) = name.strip_prefix(b"compat")
            && (on || before)
        {
            self.set_scalar(b"BASH_COMPAT", if on { level } else { NO_COMPAT }.to_vec())?;
        }
        Ok(true)
    }

    /// BASH_COMPAT was set or unset: one of the options that go with it is on, or none.
    pub fn compat_changed(&mut self) {
        let value = self.plain_scalar(b"BASH_COMPAT").unwrap_or_default().to_vec();
        let level: &[u8] = match *value.as_slice() {
            [] => NO_COMPAT,
            [major, b'.', minor] => &[major, minor],
            ref other => other,
        };
        let name = [b"compat", level].concat();
        if level != NO_COMPAT && level != b"50" && level != b"51" && self.st.shopts.is_set(&name).is_none() {
            self.error_bytes(&[b"BASH_COMPAT: ", &value[..], b": compatibility value out of range"].concat());
        }
        let shopts = Rc::make_mut(&mut self.st.shopts);
        for (option, _) in SHOPTS.iter().filter(|(option, _)| option.starts_with("compat")) {
            if let Some(slot) = shopts.by_name(option.as_bytes()) {
                *slot = option.as_bytes() == name;
            }
        }
    }

    fn print_options(&mut self, commands: bool) {
        for (name, _) in SET_OPTIONS {
            let on = self.st.opts.is_set(name.as_bytes()) == Some(true);
            let line = if commands {
                format!("set {}o {name}\n", if on { '-' } else { '+' })
            } else {
                format!("{name:<15}\t{}\n", if on { "on" } else { "off" })
            };
            self.out.extend_from_slice(line.as_bytes());
        }
    }
}

pub fn set(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    if argv.len() == 1 {
        shell.print_variables();
        if !shell.st.opts.posix {
            for name in shell.function_names() {
                if let Some(function) = shell.st.functions.get(&name) {
                    let text = crate::print::function(&function.def);
                    shell.out.extend_from_slice(&text);
                }
            }
        }
        return Ok(0);
    }
    // Check all options before any takes effect.
    let mut i = 1;
    let mut positional = None;
    let mut changes: Vec<(Option<Vec<u8>>, bool)> = Vec::new();
    while let Some(word) = argv.get(i) {
        match word.as_slice() {
            b"+" => {}
            b"--" => {
                positional = Some(argv[i + 1..].to_vec());
                break;
            }
            b"-" => {
                changes.push((Some(b"xtrace".to_vec()), false));
                changes.push((Some(b"verbose".to_vec()), false));
                if i + 1 < argv.len() {
                    positional = Some(argv[i + 1..].to_vec());
                }
                break;
            }
            [sign @ (b'-' | b'+'), letters @ ..] if !letters.is_empty() => {
                let on = *sign == b'-';
                for &letter in letters {
                    if letter == b'o' {
                        match argv.get(i + 1).filter(|w| !w.starts_with(b"-") && !w.starts_with(b"+")) {
                            Some(name) => {
                                if shell.st.opts.is_set(name).is_none() {
                                    let shown = String::from_utf8_lossy(name).into_owned();
                                    shell.builtin_error("set", &format!("{shown}: invalid option name"));
                                    return Ok(2);
                                }
                                changes.push((Some(name.clone()), on));
                                i += 1;
                            }
                            None => changes.push((None, on)),
                        }
                        continue;
                    }
                    match SetOptions::name_of(letter) {
                        Some(name) => changes.push((Some(name.as_bytes().to_vec()), on)),
                        None => {
                            let sign = if on { '-' } else { '+' };
                            shell.builtin_error("set", &format!("{sign}{}: invalid option", letter as char));
                            shell.usage("set");
                            return Ok(2);
                        }
                    }
                }
            }
            _ => {
                positional = Some(argv[i..].to_vec());
                break;
            }
        }
        i += 1;
    }
    for (name, on) in changes {
        match name {
            Some(name) => {
                shell.set_option(&name, on);
            }
            // `-o` or `+o` alone lists them.
            None => shell.print_options(!on),
        }
    }
    if let Some(words) = positional {
        shell.st.positional = Rc::new(words.into());
    }
    Ok(0)
}

pub fn shopt(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    let options = match shell.builtin_options(argv, b"supqo") {
        Ok(options) => options,
        Err(status) => return Ok(status),
    };
    let (set, unset, print, quiet, of_set) = (
        options.has(b's'),
        options.has(b'u'),
        options.has(b'p'),
        options.has(b'q'),
        options.has(b'o'),
    );
    if set && unset {
        shell.builtin_error("shopt", "cannot set and unset shell options simultaneously");
        return Ok(1);
    }
    let names = &argv[options.rest..];
    let value = |shell: &Shell, name: &[u8]| {
        if of_set {
            shell.st.opts.is_set(name)
        } else {
            shell.st.shopts.is_set(name)
        }
    };
    let show = |shell: &mut Shell, name: &str, on: bool| {
        let line = match (print, of_set) {
            (true, true) => format!("set {}o {name}\n", if on { '-' } else { '+' }),
            (true, false) => format!("shopt -{} {name}\n", if on { 's' } else { 'u' }),
            (false, _) => format!("{name:<15}\t{}\n", if on { "on" } else { "off" }),
        };
        shell.out.extend_from_slice(line.as_bytes());
    };
    if names.is_empty() {
        if quiet {
            return Ok(0);
        }
        let table = if of_set { SET_OPTIONS } else { SHOPTS };
        for (name, _) in table {
            let on = value(shell, name.as_bytes()) == Some(true);
            if set && !on || unset && on {
                continue;
            }
            if print || of_set {
                show(shell, name, on);
            } else {
                let line = format!("{name:<20}\t{}\n", if on { "on" } else { "off" });
                shell.out.extend_from_slice(line.as_bytes());
            }
        }
        return Ok(0);
    }
    let mut status = 0;
    for name in names {
        let shown = String::from_utf8_lossy(name).into_owned();
        let Some(on) = value(shell, name) else {
            shell.builtin_error("shopt", &format!("{shown}: invalid shell option name"));
            // bash does not let a bad `set -o` name fail the command.
            if !(of_set && (set || unset)) {
                status = 1;
            }
            continue;
        };
        if set || unset {
            if of_set {
                shell.set_option(name, set);
            } else {
                shell.set_shopt(name, set)?;
                if name == b"extdebug" {
                    // A debugger wants its traps everywhere.
                    shell.st.opts.functrace = set;
                    shell.st.opts.errtrace = set;
                    if set {
                        shell.keep_script_args();
                    }
                }
            }
            continue;
        }
        if !on {
            status = 1;
        }
        if !quiet {
            if print || of_set {
                show(shell, &shown, on);
            } else {
                let line = format!("{shown:<15}\t{}\n", if on { "on" } else { "off" });
                shell.out.extend_from_slice(line.as_bytes());
            }
        }
    }
    Ok(status)
}
