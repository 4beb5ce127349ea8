//! `[[ … ]]`, and the file tests it shares with `test`.

use crate::ast::{Cond, CondOp, Word};
use crate::os;
use crate::regex::Regex;
use crate::shell::{Run, Shell, Unwind};
use crate::state::vars::{Value, attr};

impl Shell {
    /// Evaluates a conditional command: 0 true, 1 false, 2 when the expression is not valid.
    #[inline(never)]
    pub(super) fn run_cond(&mut self, cond: &Cond) -> Run<i32> {
        match self.cond(cond) {
            Ok(holds) => Ok(i32::from(!holds)),
            Err(CondStop::Status(status)) => Ok(status),
            Err(CondStop::Unwind(Unwind::Discard(status))) if self.cond_soft => {
                self.cond_soft = false;
                Ok(status)
            }
            Err(CondStop::Unwind(unwind)) => Err(unwind),
        }
    }

    fn cond(&mut self, cond: &Cond) -> Result<bool, CondStop> {
        Ok(match cond {
            Cond::And(a, b) => self.cond(a)? && self.cond(b)?,
            // What is not valid is not true: the rest decides.
            Cond::Or(a, b) => match self.cond(a) {
                Err(CondStop::Status(_)) => self.cond(b)?,
                holds => holds? || self.cond(b)?,
            },
            Cond::Not(a) => {
                self.cond_negated = !self.cond_negated;
                match self.cond(a) {
                    Err(CondStop::Status(_)) => true,
                    holds => !holds?,
                }
            }
            Cond::Group(a) => {
                self.cond_negated = false;
                self.cond(a)?
            }
            Cond::Word(word) => {
                let text = self.expand_single(word)?;
                self.trace_cond(|| [b"-n ", traced(&text)].concat());
                !text.is_empty()
            }
            Cond::Unary(op, word) => self.cond_unary(*op, word)?,
            Cond::Binary(op, left, right) => self.cond_binary(*op, left, right)?,
        })
    }

    fn trace_cond(&mut self, text: impl FnOnce() -> Vec<u8>) {
        let negated = std::mem::take(&mut self.cond_negated);
        if self.st.opts.xtrace {
            let not: &[u8] = if negated { b"! " } else { b"" };
            let line = [b"[[ ", not, text().as_slice(), b" ]]"].concat();
            self.trace(&line);
        }
    }

    fn cond_unary(&mut self, op: u8, word: &Word) -> Result<bool, CondStop> {
        let text = self.expand_single(word)?;
        self.trace_cond(|| [&[b'-', op, b' '], traced(&text)].concat());
        Ok(match op {
            b'v' => self.is_variable_set(&text)?,
            _ => self.test_unary(op, &text),
        })
    }

    fn cond_binary(&mut self, op: CondOp, left: &Word, right: &Word) -> Result<bool, CondStop> {
        let fold = self.st.shopts.nocasematch;
        let name = crate::print::cond_operator(op);
        if op == CondOp::Regex {
            let text = self.expand_single(left)?;
            let regex = self.expand_regex(right)?;
            self.trace_cond(|| [traced(&text), b" =~ ", &regex].concat());
            return self.match_regex(&text, &regex, fold);
        }
        if let CondOp::Match { .. } | CondOp::NotMatch = op {
            let text = self.expand_single(left)?;
            let field = self.expand_marked(right)?;
            let pattern = field.pattern();
            self.trace_cond(|| [traced(&text), b" ", name.as_bytes(), b" ", &field.escaped()].concat());
            let hit = self.matches(&pattern, &text, true, fold);
            return Ok(hit == matches!(op, CondOp::Match { .. }));
        }
        let a = self.expand_single(left)?;
        let b = self.expand_single(right)?;
        self.trace_cond(|| [traced(&a), b" ", name.as_bytes(), b" ", traced(&b)].concat());
        Ok(match op {
            CondOp::Less => a < b,
            CondOp::Greater => a > b,
            CondOp::Newer | CondOp::Older | CondOp::SameFile => compare_files(name, &a, &b),
            _ => {
                self.cond_soft = true;
                let x = self.eval_text_for(&a, "[[: ")?;
                let y = self.eval_text_for(&b, "[[: ")?;
                self.cond_soft = false;
                match op {
                    CondOp::Eq => x == y,
                    CondOp::Ne => x != y,
                    CondOp::Lt => x < y,
                    CondOp::Le => x <= y,
                    CondOp::Gt => x > y,
                    _ => x >= y,
                }
            }
        })
    }

    fn match_regex(&mut self, text: &[u8], regex: &[u8], fold: bool) -> Result<bool, CondStop> {
        let Some(regex) = Regex::new(regex, fold) else {
            return Err(CondStop::Status(2));
        };
        match regex.find(text) {
            None => {
                self.set_array(b"BASH_REMATCH", Vec::new())?;
                Ok(false)
            }
            Some(groups) => {
                let values = groups
                    .into_iter()
                    .map(|g| g.map_or(Vec::new(), |(a, b)| text[a..b].to_vec()))
                    .collect();
                self.set_array(b"BASH_REMATCH", values)?;
                Ok(true)
            }
        }
    }

    /// `-v name`
    pub fn is_variable_set(&mut self, text: &[u8]) -> Run<bool> {
        if let Some(open) = text.iter().position(|&c| c == b'[')
            && text.ends_with(b"]")
        {
            let (name, index) = (&text[..open], &text[open + 1..text.len() - 1]);
            if index == b"@" || index == b"*" {
                let place = self.resolve(name);
                let Some(var) = self.get_var(&place.name) else {
                    return Ok(false);
                };
                if let Value::Assoc(array, _) = &var.value {
                    return Ok(array.get(index).is_some());
                }
                return Ok(!var.values().is_empty());
            }
            return Ok(self.get_element_text(name, index)?.is_some());
        }
        if text.iter().all(u8::is_ascii_digit) && !text.is_empty() {
            let n: usize = std::str::from_utf8(text).ok().and_then(|t| t.parse().ok()).unwrap_or(0);
            return Ok(n == 0 || n <= self.st.positional.len());
        }
        Ok(self.get_scalar(text).is_some())
    }

    /// The tests with one operand.
    pub fn test_unary(&mut self, op: u8, text: &[u8]) -> bool {
        let mode = |bits: u32| os::stat(text).is_ok_and(|s| s.mode & os::S_IFMT == bits);
        match op {
            b'n' => !text.is_empty(),
            b'z' => text.is_empty(),
            b'a' | b'e' => os::stat(text).is_ok(),
            b'f' => mode(os::S_IFREG),
            b'd' => mode(os::S_IFDIR),
            b'b' => mode(os::S_IFBLK),
            b'c' => mode(os::S_IFCHR),
            b'p' => mode(os::S_IFIFO),
            b'S' => mode(os::S_IFSOCK),
            b'h' | b'L' => os::lstat(text).is_ok_and(|s| s.mode & os::S_IFMT == os::S_IFLNK),
            b's' => os::stat(text).is_ok_and(|s| s.size > 0),
            b'r' => !text.is_empty() && os::access(text, os::R_OK),
            b'w' => !text.is_empty() && os::access(text, os::W_OK),
            b'x' => !text.is_empty() && os::access(text, os::X_OK),
            b'g' => os::stat(text).is_ok_and(|s| s.mode & 0o2000 != 0),
            b'u' => os::stat(text).is_ok_and(|s| s.mode & 0o4000 != 0),
            b'k' => os::stat(text).is_ok_and(|s| s.mode & 0o1000 != 0),
            b'O' | b'G' => os::stat(text).is_ok(),
            b'N' => os::stat(text).is_ok_and(|s| s.mtime_ns > s.atime_ns),
            b't' => crate::arith::integer(text)
                .and_then(|n| i32::try_from(n).ok())
                .is_some_and(os::isatty),
            b'o' => self.st.opts.is_set(text) == Some(true),
            b'R' => {
                let var = self.st.vars.get(text);
                var.is_some_and(|v| v.has(attr::NAMEREF) && !matches!(v.value, Value::Unset))
            }
            b'v' => self.is_variable_set(text).unwrap_or(false),
            _ => false,
        }
    }
}

/// An operand in the trace: as it is, but that something stands there.
fn traced(text: &[u8]) -> &[u8] {
    if text.is_empty() { b"''" } else { text }
}

/// Why evaluation stopped.
enum CondStop {
    Status(i32),
    Unwind(Unwind),
}

impl From<Unwind> for CondStop {
    fn from(unwind: Unwind) -> Self {
        Self::Unwind(unwind)
    }
}

/// `-nt`, `-ot`, `-ef`
pub fn compare_files(op: &str, a: &[u8], b: &[u8]) -> bool {
    let (a, b) = (os::stat(a), os::stat(b));
    match (op, a, b) {
        ("-ef", Ok(a), Ok(b)) => a.dev == b.dev && a.ino == b.ino,
        ("-nt", Ok(a), Ok(b)) => a.mtime_ns > b.mtime_ns,
        ("-nt", Ok(_), Err(_)) => true,
        ("-ot", Ok(a), Ok(b)) => a.mtime_ns < b.mtime_ns,
        ("-ot", Err(_), Ok(_)) => true,
        _ => false,
    }
}
