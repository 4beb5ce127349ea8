//! `test` and `[`.

use crate::exec::cond::compare_files;
use crate::shell::{Run, Shell};

/// Depth of parentheses and negations.
const MAX_DEPTH: u32 = 100;

pub fn bracket(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    match argv.split_last() {
        Some((last, rest)) if last == b"]" && !rest.is_empty() => evaluate(shell, "[", &rest[1..]),
        _ => {
            shell.builtin_error("[", "missing `]'");
            Ok(2)
        }
    }
}

pub fn test(shell: &mut Shell, argv: &[Vec<u8>]) -> Run<i32> {
    evaluate(shell, "test", &argv[1..])
}

fn evaluate(shell: &mut Shell, name: &str, words: &[Vec<u8>]) -> Run<i32> {
    let mut parser = Parser {
        shell,
        words,
        pos: 0,
        depth: 0,
    };
    let result = parser.by_count();
    match result {
        Ok(holds) => Ok(i32::from(!holds)),
        Err(message) => {
            shell.builtin_error(name, &message);
            Ok(2)
        }
    }
}

struct Parser<'a> {
    shell: &'a mut Shell,
    words: &'a [Vec<u8>],
    pos: usize,
    depth: u32,
}

type Outcome = Result<bool, String>;

fn is_binary(op: &[u8]) -> bool {
    matches!(
        op,
        b"=" | b"=="
            | b"!="
            | b"<"
            | b">"
            | b"-eq"
            | b"-ne"
            | b"-lt"
            | b"-le"
            | b"-gt"
            | b"-ge"
            | b"-nt"
            | b"-ot"
            | b"-ef"
    )
}

fn is_unary(op: &[u8]) -> bool {
    matches!(op, [b'-', c] if b"abcdefghknoprstuvwxzGLNORS".contains(c))
}

impl Parser<'_> {
    /// POSIX's rules by number of arguments.
    fn by_count(&mut self) -> Outcome {
        let words = self.words;
        match words.len() {
            0 => Ok(false),
            1 => Ok(!words[0].is_empty()),
            2 => self.two(&words[0], &words[1]),
            3 => self.three(words),
            4 if words[0] == b"!" => self.three(&words[1..]).map(|r| !r),
            4 if words[0] == b"(" && words[3] == b")" => self.two(&words[1], &words[2]),
            _ => {
                let result = self.or()?;
                match self.words.get(self.pos) {
                    None => Ok(result),
                    Some(_) => Err("too many arguments".into()),
                }
            }
        }
    }

    fn two(&mut self, a: &[u8], b: &[u8]) -> Outcome {
        if a == b"!" {
            return Ok(b.is_empty());
        }
        if is_unary(a) {
            return self.unary(a[1], b);
        }
        Err(format!("{}: unary operator expected", String::from_utf8_lossy(a)))
    }

    fn three(&mut self, w: &[Vec<u8>]) -> Outcome {
        if is_binary(&w[1]) {
            return self.binary(&w[0], &w[1], &w[2]);
        }
        match w[1].as_slice() {
            b"-a" => return Ok(!w[0].is_empty() && !w[2].is_empty()),
            b"-o" => return Ok(!w[0].is_empty() || !w[2].is_empty()),
            _ => {}
        }
        if w[0] == b"!" {
            return self.two(&w[1], &w[2]).map(|r| !r);
        }
        if w[0] == b"(" && w[2] == b")" {
            return Ok(!w[1].is_empty());
        }
        Err(format!("{}: binary operator expected", String::from_utf8_lossy(&w[1])))
    }

    fn or(&mut self) -> Outcome {
        let mut left = self.and()?;
        while self.words.get(self.pos).is_some_and(|w| w == b"-o") {
            self.pos += 1;
            let right = self.and()?;
            left |= right;
        }
        Ok(left)
    }

    fn and(&mut self) -> Outcome {
        let mut left = self.term()?;
        while self.words.get(self.pos).is_some_and(|w| w == b"-a") {
            self.pos += 1;
            let right = self.term()?;
            left &= right;
        }
        Ok(left)
    }

    fn term(&mut self) -> Outcome {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("too many arguments".into());
        }
        let result = self.term_inner();
        self.depth -= 1;
        result
    }

    fn term_inner(&mut self) -> Outcome {
        let words = self.words;
        let Some(first) = words.get(self.pos) else {
            return Err("argument expected".into());
        };
        if first == b"!" {
            self.pos += 1;
            return self.term().map(|r| !r);
        }
        if first == b"(" {
            self.pos += 1;
            let result = self.or()?;
            if self.words.get(self.pos).is_none_or(|w| w != b")") {
                return Err("`)' expected".into());
            }
            self.pos += 1;
            return Ok(result);
        }
        if let (Some(op), Some(right)) = (words.get(self.pos + 1), words.get(self.pos + 2))
            && is_binary(op)
        {
            self.pos += 3;
            return self.binary(first, op, right);
        }
        if is_unary(first)
            && let Some(operand) = words.get(self.pos + 1)
        {
            self.pos += 2;
            return self.unary(first[1], operand);
        }
        self.pos += 1;
        Ok(!first.is_empty())
    }

    fn unary(&mut self, op: u8, operand: &[u8]) -> Outcome {
        if op == b't' {
            let number = crate::arith::integer(operand).and_then(|n| i32::try_from(n).ok());
            return Ok(number.is_some_and(crate::os::isatty));
        }
        Ok(self.shell.test_unary(op, operand))
    }

    fn binary(&mut self, a: &[u8], op: &[u8], b: &[u8]) -> Outcome {
        let number = |text: &[u8]| {
            crate::arith::integer(text)
                .ok_or_else(|| format!("{}: integer expression expected", String::from_utf8_lossy(text)))
        };
        Ok(match op {
            b"=" | b"==" => a == b,
            b"!=" => a != b,
            b"<" => a < b,
            b">" => a > b,
            b"-nt" => compare_files("-nt", a, b),
            b"-ot" => compare_files("-ot", a, b),
            b"-ef" => compare_files("-ef", a, b),
            _ => {
                let (x, y) = (number(a)?, number(b)?);
                match op {
                    b"-eq" => x == y,
                    b"-ne" => x != y,
                    b"-lt" => x < y,
                    b"-le" => x <= y,
                    b"-gt" => x > y,
                    _ => x >= y,
                }
            }
        })
    }
}
