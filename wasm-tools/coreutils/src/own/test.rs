//! `test` and `[`: POSIX's rules by the number of arguments, then the full grammar with `-a`, `-o`, `(`.

use std::cmp::Ordering;
use std::ffi::{OsStr, OsString};
use std::os::wasi::ffi::OsStrExt;

use wskill_sys::fs::{self, Stat};

/// Deepest nesting of parentheses and `!`: far above what scripts write, far below what the stack holds.
const DEPTH: usize = 500;

/// `test` and `[`.
pub fn test(name: &str, mut args: Vec<OsString>) -> i32 {
    if name == "[" && args.pop().as_deref() != Some(OsStr::new("]")) {
        eprintln!("[: missing ']'");
        return 2;
    }
    let mut parser = Parser { args: &args, at: 0, depth: 0 };
    match parser.top() {
        Ok(true) => 0,
        Ok(false) => 1,
        Err(message) => {
            eprintln!("{name}: {message}");
            2
        }
    }
}

struct Parser<'a> {
    args: &'a [OsString],
    at: usize,
    depth: usize,
}

type Answer = Result<bool, String>;

fn shown(arg: &OsStr) -> String {
    super::text::quote(arg)
}

impl Parser<'_> {
    fn top(&mut self) -> Answer {
        let args = self.args;
        if args.is_empty() {
            return Ok(false);
        }
        let answer = self.counted(args.len())?;
        match args.get(self.at) {
            Some(extra) => Err(format!("extra argument {}", shown(extra))),
            None => Ok(answer),
        }
    }

    /// POSIX's rules for one to four arguments, starting at the current one.
    fn counted(&mut self, count: usize) -> Answer {
        let rest = &self.args[self.at..];
        match count {
            1 => self.one(),
            2 if rest[0] == "!" => {
                self.at += 1;
                self.one().map(|b| !b)
            }
            2 => match unary(&rest[0]) {
                Some(op) => {
                    self.at += 2;
                    evaluate_unary(op, &rest[1])
                }
                None => Err(format!("{}: unary operator expected", shown(&rest[0]))),
            },
            3 if is_binary(&rest[1]) => {
                self.at += 3;
                binary(&rest[0], &rest[1], &rest[2])
            }
            3 if rest[1] == "-a" || rest[1] == "-o" => self.or(),
            3 if rest[0] == "!" => {
                self.at += 1;
                self.counted(2).map(|b| !b)
            }
            3 if rest[0] == "(" && rest[2] == ")" => {
                self.at += 1;
                let answer = self.one();
                self.at += 1;
                answer
            }
            3 => Err(format!("{}: binary operator expected", shown(&rest[1]))),
            4 if rest[0] == "!" => {
                self.at += 1;
                self.counted(3).map(|b| !b)
            }
            4 if rest[0] == "(" && rest[3] == ")" => {
                self.at += 1;
                let answer = self.counted(2);
                self.at += 1;
                answer
            }
            _ => self.or(),
        }
    }

    fn one(&mut self) -> Answer {
        let answer = !self.args[self.at].is_empty();
        self.at += 1;
        Ok(answer)
    }

    fn or(&mut self) -> Answer {
        let mut answer = self.and()?;
        while self.args.get(self.at).is_some_and(|a| a == "-o") {
            self.at += 1;
            let right = self.and()?;
            answer |= right;
        }
        Ok(answer)
    }

    fn and(&mut self) -> Answer {
        let mut answer = self.term()?;
        while self.args.get(self.at).is_some_and(|a| a == "-a") {
            self.at += 1;
            let right = self.term()?;
            answer &= right;
        }
        Ok(answer)
    }

    fn term(&mut self) -> Answer {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err("too many nested parentheses".into());
        }
        let answer = self.nested_term();
        self.depth -= 1;
        answer
    }

    fn nested_term(&mut self) -> Answer {
        let rest = &self.args[self.at..];
        let Some(first) = rest.first() else {
            return Err(format!("missing argument after {}", self.args.last().map_or(String::new(), |a| shown(a))));
        };
        if rest.len() >= 3 && is_binary(&rest[1]) {
            self.at += 3;
            return binary(&rest[0], &rest[1], &rest[2]);
        }
        if first == "!" {
            self.at += 1;
            return self.term().map(|b| !b);
        }
        if first == "(" && rest.len() > 1 {
            self.at += 1;
            let answer = self.or()?;
            if self.args.get(self.at).is_none_or(|a| a != ")") {
                return Err(match self.args.get(self.at) {
                    Some(other) => format!("')' expected, found {}", other.to_string_lossy()),
                    None => "')' expected".into(),
                });
            }
            self.at += 1;
            return Ok(answer);
        }
        if rest.len() >= 2
            && let Some(op) = unary(first)
        {
            self.at += 2;
            return evaluate_unary(op, &rest[1]);
        }
        self.one()
    }
}

fn unary(arg: &OsStr) -> Option<u8> {
    match arg.as_bytes() {
        [b'-', op] if b"bcdefghknoprstuvwxzGLNOSR".contains(op) && *op != b'o' => Some(*op),
        _ => None,
    }
}

fn is_binary(arg: &OsStr) -> bool {
    let ops: [&[u8]; 15] =
        [b"=", b"==", b"!=", b"<", b">", b"-eq", b"-ne", b"-lt", b"-le", b"-gt", b"-ge", b"-nt", b"-ot", b"-ef", b"=~"];
    ops[..14].contains(&arg.as_bytes())
}

fn evaluate_unary(op: u8, arg: &OsStr) -> Answer {
    let file = |wanted: &dyn Fn(&Stat) -> bool| fs::stat(arg).is_ok_and(|st| wanted(&st));
    Ok(match op {
        b'n' => !arg.is_empty(),
        b'z' => arg.is_empty(),
        b'e' => file(&|_| true),
        b'f' => file(&Stat::is_file),
        b'd' => file(&Stat::is_dir),
        b'b' => file(&Stat::is_block_device),
        b'c' => file(&Stat::is_char_device),
        b'p' => file(&Stat::is_fifo),
        b'S' => file(&Stat::is_socket),
        b's' => file(&|st| st.size > 0),
        b'g' => file(&|st| st.mode & 0o2000 != 0),
        b'u' => file(&|st| st.mode & 0o4000 != 0),
        b'k' => file(&|st| st.mode & 0o1000 != 0),
        b'h' | b'L' => fs::lstat(arg).is_ok_and(|st| st.is_symlink()),
        b'r' => fs::access(arg, fs::R_OK).is_ok(),
        b'w' => fs::access(arg, fs::W_OK).is_ok(),
        b'x' => fs::access(arg, fs::X_OK).is_ok(),
        b'O' | b'G' => file(&|_| true),
        b'N' => file(&|st| st.mtime_ns > st.atime_ns),
        b't' => wskill_sys::fd::isatty(i32::try_from(integer(arg)?).unwrap_or(-1)),
        // -v and -R ask about a shell's variables: none here.
        _ => false,
    })
}

fn binary(left: &OsStr, op: &OsStr, right: &OsStr) -> Answer {
    let times = |wanted: Ordering, missing: (bool, bool)| match (fs::stat(left), fs::stat(right)) {
        (Ok(a), Ok(b)) => a.mtime_ns.cmp(&b.mtime_ns) == wanted,
        (Ok(_), Err(_)) => missing.0,
        (Err(_), Ok(_)) => missing.1,
        _ => false,
    };
    let numbers = || Ok::<_, String>(compare_integers(&digits(left)?, &digits(right)?));
    Ok(match op.as_bytes() {
        b"=" | b"==" => left == right,
        b"!=" => left != right,
        b"<" => left.as_bytes() < right.as_bytes(),
        b">" => left.as_bytes() > right.as_bytes(),
        b"-eq" => numbers()?.is_eq(),
        b"-ne" => numbers()?.is_ne(),
        b"-lt" => numbers()?.is_lt(),
        b"-le" => numbers()?.is_le(),
        b"-gt" => numbers()?.is_gt(),
        b"-ge" => numbers()?.is_ge(),
        b"-nt" => times(Ordering::Greater, (true, false)),
        b"-ot" => times(Ordering::Less, (false, true)),
        _ => matches!((fs::stat(left), fs::stat(right)), (Ok(a), Ok(b)) if a.same_file(&b)),
    })
}

/// An integer of any length: its sign, and its digits without leading zeros.
fn digits(arg: &OsStr) -> Result<(bool, Vec<u8>), String> {
    let invalid = || format!("invalid integer {}", shown(arg));
    let text = arg.as_bytes().trim_ascii();
    let (negative, digits) = match text.first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(invalid());
    }
    let start = digits.iter().position(|&d| d != b'0').unwrap_or(digits.len());
    let digits = digits[start..].to_vec();
    Ok((negative && !digits.is_empty(), digits))
}

fn integer(arg: &OsStr) -> Result<i64, String> {
    digits(arg)?;
    Ok(arg.to_string_lossy().trim().parse().unwrap_or(i64::MAX))
}

fn compare_integers(a: &(bool, Vec<u8>), b: &(bool, Vec<u8>)) -> Ordering {
    let size = |x: &Vec<u8>, y: &Vec<u8>| x.len().cmp(&y.len()).then_with(|| x.cmp(y));
    match (a.0, b.0) {
        (false, true) => Ordering::Greater,
        (true, false) => Ordering::Less,
        (false, false) => size(&a.1, &b.1),
        (true, true) => size(&b.1, &a.1),
    }
}
