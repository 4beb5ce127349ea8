//! Variables whose value is computed: RANDOM, SECONDS, LINENO, FUNCNAME and their kin.

use super::access::Key;
use super::vars::{Assoc, Indexed, Value, Var, attr};
use crate::arith::decimal;
use crate::os;
use crate::shell::Shell;
use std::rc::Rc;

/// Their names and further attributes.
const DYNAMIC: &[(&str, u16)] = &[
    ("BASHPID", attr::INTEGER),
    ("BASH_ALIASES", 0),
    ("BASH_ARGC", 0),
    ("BASH_ARGV", 0),
    ("BASH_ARGV0", 0),
    ("BASH_CMDS", 0),
    ("BASH_COMMAND", 0),
    ("BASH_LINENO", 0),
    ("BASH_SOURCE", 0),
    ("BASH_SUBSHELL", 0),
    ("DIRSTACK", 0),
    ("EPOCHREALTIME", 0),
    ("EPOCHSECONDS", 0),
    ("FUNCNAME", 0),
    ("GROUPS", 0),
    ("HISTCMD", attr::INTEGER),
    ("LINENO", attr::INTEGER),
    ("PIPESTATUS", 0),
    ("RANDOM", attr::INTEGER),
    ("SECONDS", attr::INTEGER),
    ("SRANDOM", attr::INTEGER),
    ("BASHOPTS", attr::READONLY),
    ("SHELLOPTS", attr::READONLY),
    ("_", 0),
];

impl Shell {
    /// Enters the computed variables into the table.
    pub fn define_dynamic(&mut self) {
        let vars = Rc::make_mut(&mut self.st.vars);
        // Room for these, bash's own and a usual environment at once: growing step by step is a third of the start.
        vars.reserve(96);
        for &(name, attrs) in DYNAMIC {
            let value = match name {
                "BASH_ALIASES" | "BASH_CMDS" => Value::Assoc(Assoc::default(), true),
                "BASH_ARGC" | "BASH_ARGV" | "BASH_LINENO" | "BASH_SOURCE" | "DIRSTACK" | "FUNCNAME" | "GROUPS"
                | "PIPESTATUS" => Value::Indexed(Indexed::new(), true),
                _ => Value::Scalar(Vec::new()),
            };
            vars.insert(
                name.as_bytes().into(),
                Rc::new(Var {
                    value,
                    attrs: attrs | attr::DYNAMIC,
                    scope: 0,
                }),
            );
        }
    }

    /// The value of a computed variable now.
    pub fn dynamic_value(&mut self, name: &[u8]) -> Value {
        let number = |n: i64| Value::Scalar(decimal(n));
        match name {
            b"BASHPID" => number(i64::from(self.st.bash_pid)),
            b"BASH_COMMAND" => Value::Scalar(self.st.command_text.to_vec()),
            b"BASH_SUBSHELL" => number(i64::from(self.st.subshell)),
            b"BASH_ARGV0" => Value::Scalar(self.st.arg0.to_vec()),
            b"EPOCHSECONDS" => number((os::now_ns() / 1_000_000_000) as i64),
            b"EPOCHREALTIME" => {
                let micros = os::now_ns() / 1000;
                Value::Scalar(format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000).into_bytes())
            }
            b"HISTCMD" => number(1),
            b"LINENO" => number(i64::from(self.st.line)),
            b"RANDOM" => number(i64::from(self.next_random())),
            b"SRANDOM" => number(i64::from(os::random_u32())),
            b"SECONDS" => number((os::now_ns() / 1_000_000_000) as i64 - self.st.seconds_base),
            b"PIPESTATUS" => array(self.st.pipe_status.iter().map(|&s| decimal(i64::from(s)))),
            b"GROUPS" => array([b"0".to_vec()]),
            b"_" => Value::Scalar(self.st.last_argument.to_vec()),
            b"SHELLOPTS" => Value::Scalar(self.shellopts()),
            b"BASHOPTS" => Value::Scalar(self.bashopts()),
            b"FUNCNAME" => {
                if !self.st.in_function() {
                    return Value::Indexed(Indexed::new(), false);
                }
                let mut names: Vec<Vec<u8>> = self.st.calls.iter().rev().map(|c| c.name.to_vec()).collect();
                if self.main_source.is_some() {
                    names.push(b"main".to_vec());
                }
                array(names)
            }
            b"BASH_SOURCE" => {
                let mut sources: Vec<Vec<u8>> = self.st.calls.iter().rev().map(|c| c.source.to_vec()).collect();
                if let Some(main) = &self.main_source {
                    sources.push(main.to_vec());
                }
                array(sources)
            }
            b"BASH_LINENO" => {
                let mut lines: Vec<Vec<u8>> = self.st.calls.iter().rev().map(|c| decimal(i64::from(c.line))).collect();
                if self.main_source.is_some() {
                    lines.push(b"0".to_vec());
                }
                array(lines)
            }
            b"BASH_ARGC" => array(self.argument_frames().iter().map(|a| decimal(a.len() as i64))),
            b"BASH_ARGV" => array(
                self.argument_frames()
                    .iter()
                    .flat_map(|a| a.iter().rev().cloned().collect::<Vec<_>>()),
            ),
            b"DIRSTACK" => {
                let mut all = vec![self.display_cwd()];
                all.extend(self.st.dirs.iter().cloned());
                array(all)
            }
            b"BASH_ALIASES" => {
                let mut map = Assoc::default();
                for (k, v) in self.st.aliases.iter() {
                    map.insert(k.clone(), v.clone());
                }
                Value::Assoc(map, true)
            }
            b"BASH_CMDS" => {
                let mut map = Assoc::default();
                for (k, (path, _)) in self.st.hash.iter() {
                    map.insert(k.clone(), path.clone());
                }
                Value::Assoc(map, true)
            }
            _ => Value::Unset,
        }
    }

    /// The arguments of the calls on the stack, innermost first, then the script's.
    fn argument_frames(&mut self) -> Vec<Rc<Vec<Vec<u8>>>> {
        if !self.st.in_function() {
            self.keep_script_args();
        }
        let calls = self.st.calls.iter().rev().filter_map(|c| c.args.clone());
        calls.chain(self.st.script_args.clone()).collect()
    }

    /// Notes the script's arguments for BASH_ARGV: once, outside of functions or when `extdebug` is switched on.
    pub fn keep_script_args(&mut self) {
        if self.st.script_args.is_none() {
            self.st.script_args = Some(Rc::new(self.st.positional.to_vec()));
        }
    }

    /// Takes assignments to computed variables and their elements; `true` when nothing else is to be done.
    pub fn special_assignment(&mut self, name: &[u8], key: Option<&Key>, value: &[u8]) -> bool {
        let dynamic = self.st.vars.get(name).is_some_and(|v| v.has(attr::DYNAMIC));
        if !dynamic {
            return false;
        }
        match key {
            Some(Key::Text(key)) => match name {
                b"BASH_ALIASES" => drop(Rc::make_mut(&mut self.st.aliases).insert(key.clone(), value.to_vec())),
                b"BASH_CMDS" => drop(Rc::make_mut(&mut self.st.hash).insert(key.clone(), (value.to_vec(), 0))),
                _ => {}
            },
            Some(Key::Number(n)) if name == b"DIRSTACK" => {
                // The working directory at its top stays.
                let index = usize::try_from(n - 1).ok();
                if let Some(dir) = index.and_then(|i| Rc::make_mut(&mut self.st.dirs).get_mut(i)) {
                    *dir = value.to_vec();
                }
            }
            _ => {}
        }
        match name {
            b"RANDOM" => self.st.random = crate::arith::integer(value).unwrap_or(0) as u32,
            b"SECONDS" => {
                let n = crate::arith::integer(value).unwrap_or(0);
                self.st.seconds_base = (os::now_ns() / 1_000_000_000) as i64 - n;
            }
            b"BASH_ARGV0" => self.st.arg0 = value.into(),
            b"LINENO" => self.st.line = crate::arith::integer(value).unwrap_or(0) as u32,
            b"_" => self.st.last_argument = value.into(),
            _ => {}
        }
        true
    }

    /// The generator of RANDOM: minimal standard, folded to 15 bits.
    fn next_random(&mut self) -> u32 {
        let mut seed = self.st.random;
        if seed == 0 {
            seed = 123_459_876;
        }
        let (high, low) = ((seed / 127_773) as i64, (seed % 127_773) as i64);
        let next = 16_807 * low - 2_836 * high;
        let next = if next < 0 { next + 0x7fff_ffff } else { next };
        self.st.random = next as u32;
        ((next >> 16) as u32 ^ (next as u32 & 0xffff)) & 0x7fff
    }

    fn shellopts(&self) -> Vec<u8> {
        super::options::SET_OPTIONS
            .iter()
            .filter(|(name, _)| self.st.opts.is_set(name.as_bytes()) == Some(true))
            .map(|(name, _)| *name)
            .collect::<Vec<_>>()
            .join(":")
            .into_bytes()
    }

    fn bashopts(&self) -> Vec<u8> {
        super::options::SHOPTS
            .iter()
            .filter(|(name, _)| self.st.shopts.is_set(name.as_bytes()) == Some(true))
            .map(|(name, _)| *name)
            .collect::<Vec<_>>()
            .join(":")
            .into_bytes()
    }
}

fn array(values: impl IntoIterator<Item = Vec<u8>>) -> Value {
    Value::Indexed(
        values.into_iter().enumerate().map(|(i, v)| (i as i64, v)).collect(),
        true,
    )
}
