//! The parser of arithmetic expressions.

use super::{ArithError, Binary, Expr, Target, Unary};
use crate::parse::{is_name_char, is_name_start};

type Result<T> = std::result::Result<T, ArithError>;

/// Nesting beyond which an expression is refused, as bash does.
const MAX_DEPTH: u32 = 2000;

struct Parser<'a> {
    text: &'a [u8],
    pos: usize,
    /// Start of the last token, for messages.
    last: usize,
    depth: u32,
}

/// Parses a whole text.
pub fn parse(text: &[u8]) -> Result<Expr> {
    let mut parser = Parser {
        text,
        pos: 0,
        last: 0,
        depth: 0,
    };
    parser.blank();
    if parser.pos == text.len() {
        return Ok(Expr::Empty);
    }
    let expr = parser.comma()?;
    parser.blank();
    if parser.pos < text.len() {
        let rest = &text[parser.pos..];
        let message = match rest[0] {
            b'=' => "attempted assignment to non-variable",
            b'(' | b')' | b'~' | b'!' | b':' | b'?' => "syntax error in expression",
            c if is_name_char(c) => "syntax error in expression",
            _ => "syntax error: invalid arithmetic operator",
        };
        return Err(ArithError::new(message, rest));
    }
    Ok(expr)
}

/// Parses an integer constant: decimal, `0…`, `0x…` or `base#digits`.
pub fn parse_constant(text: &[u8]) -> Result<i64> {
    let bad = |message: &str| ArithError::new(message, text);
    if let Some(i) = text.iter().position(|&c| c == b'#') {
        let base: u32 = std::str::from_utf8(&text[..i])
            .ok()
            .and_then(|s| s.parse().ok())
            .unwrap_or(0);
        if text.first() == Some(&b'0') && i > 1 || !(2..=64).contains(&base) {
            return Err(bad(if text.first() == Some(&b'0') && i > 1 {
                "invalid number"
            } else {
                "invalid arithmetic base"
            }));
        }
        if i + 1 == text.len() {
            return Err(bad("invalid integer constant"));
        }
        let mut value = 0i64;
        for &c in &text[i + 1..] {
            let digit = match c {
                b'0'..=b'9' => u32::from(c - b'0'),
                b'a'..=b'z' => u32::from(c - b'a') + 10,
                b'A'..=b'Z' if base <= 36 => u32::from(c - b'A') + 10,
                b'A'..=b'Z' => u32::from(c - b'A') + 36,
                b'@' => 62,
                b'_' => 63,
                _ => return Err(bad("invalid number")),
            };
            if digit >= base {
                return Err(bad("value too great for base"));
            }
            value = value.wrapping_mul(i64::from(base)).wrapping_add(i64::from(digit));
        }
        return Ok(value);
    }
    let (base, digits) = match text {
        [b'0', b'x' | b'X', rest @ ..] => (16, rest),
        [b'0', rest @ ..] if !rest.is_empty() => (8, rest),
        _ => (10, text),
    };
    let mut value = 0i64;
    for &c in digits {
        let Some(digit) = (c as char).to_digit(36) else {
            return Err(bad("syntax error: invalid arithmetic operator"));
        };
        if digit >= base {
            return Err(bad("value too great for base"));
        }
        value = value.wrapping_mul(i64::from(base)).wrapping_add(i64::from(digit));
    }
    Ok(value)
}

impl Parser<'_> {
    fn blank(&mut self) {
        while matches!(self.text.get(self.pos), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.pos += 1;
        }
    }

    fn peek(&mut self) -> u8 {
        self.blank();
        self.text.get(self.pos).copied().unwrap_or(0)
    }

    fn next_is(&self, n: usize, c: u8) -> bool {
        self.text.get(self.pos + n) == Some(&c)
    }

    /// What messages show: the text from here, or the last token at its end.
    fn rest(&mut self) -> &[u8] {
        self.blank();
        let from = if self.pos < self.text.len() {
            self.pos
        } else {
            self.last
        };
        &self.text[from..]
    }

    fn take(&mut self, n: usize) {
        self.last = self.pos;
        self.pos += n;
    }

    fn comma(&mut self) -> Result<Expr> {
        let mut left = self.assignment()?;
        while self.peek() == b',' {
            self.take(1);
            let right = self.assignment()?;
            left = Expr::Comma(Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn assignment(&mut self) -> Result<Expr> {
        self.depth += 1;
        if self.depth > MAX_DEPTH || crate::stack::is_short() {
            return Err(ArithError::new(
                "expression recursion level exceeded",
                &self.text[self.pos..],
            ));
        }
        let left = self.ternary()?;
        let op = match self.peek() {
            b'=' if !self.next_is(1, b'=') => Some((None, 1)),
            b'+' if self.next_is(1, b'=') => Some((Some(Binary::Add), 2)),
            b'-' if self.next_is(1, b'=') => Some((Some(Binary::Sub), 2)),
            b'*' if self.next_is(1, b'=') => Some((Some(Binary::Mul), 2)),
            b'/' if self.next_is(1, b'=') => Some((Some(Binary::Div), 2)),
            b'%' if self.next_is(1, b'=') => Some((Some(Binary::Rem), 2)),
            b'&' if self.next_is(1, b'=') => Some((Some(Binary::BitAnd), 2)),
            b'|' if self.next_is(1, b'=') => Some((Some(Binary::BitOr), 2)),
            b'^' if self.next_is(1, b'=') => Some((Some(Binary::BitXor), 2)),
            b'<' if self.next_is(1, b'<') && self.next_is(2, b'=') => Some((Some(Binary::Shl), 3)),
            b'>' if self.next_is(1, b'>') && self.next_is(2, b'=') => Some((Some(Binary::Shr), 3)),
            _ => None,
        };
        let expr = match op {
            Some((op, n)) => {
                let Expr::Var(target) = left else {
                    return Err(ArithError::new(
                        "attempted assignment to non-variable",
                        &self.text[self.pos..],
                    ));
                };
                self.take(n);
                let value = self.assignment()?;
                let rest = match op {
                    Some(Binary::Div | Binary::Rem) => self.rest().into(),
                    _ => Box::default(),
                };
                Expr::Assign(op, target, Box::new(value), rest)
            }
            None => left,
        };
        self.depth -= 1;
        Ok(expr)
    }

    fn ternary(&mut self) -> Result<Expr> {
        let cond = self.binary(0)?;
        if self.peek() != b'?' {
            return Ok(cond);
        }
        self.take(1);
        if self.peek() == b':' || self.peek() == 0 {
            return Err(ArithError::new("expression expected", &self.text[self.pos..]));
        }
        let yes = self.comma()?;
        if self.peek() != b':' {
            return Err(ArithError::new("`:' expected for conditional expression", self.rest()));
        }
        self.take(1);
        if self.peek() == 0 {
            return Err(ArithError::new("expression expected", &self.text[self.last..]));
        }
        let no = self.ternary()?;
        Ok(Expr::Cond(Box::new(cond), Box::new(yes), Box::new(no)))
    }

    /// The operator at the current position: its level (higher binds tighter), its length.
    fn operator(&mut self) -> Option<(u8, usize, Op)> {
        use Binary as B;
        let c = self.peek();
        let (n1, n2) = (
            self.text.get(self.pos + 1).copied().unwrap_or(0),
            self.text.get(self.pos + 2).copied().unwrap_or(0),
        );
        Some(match (c, n1) {
            (b'|', b'|') => (1, 2, Op::Or),
            (b'&', b'&') => (2, 2, Op::And),
            (b'|', b'=') | (b'^', b'=') | (b'&', b'=') => return None,
            (b'|', _) => (3, 1, Op::Bin(B::BitOr)),
            (b'^', _) => (4, 1, Op::Bin(B::BitXor)),
            (b'&', _) => (5, 1, Op::Bin(B::BitAnd)),
            (b'=', b'=') => (6, 2, Op::Bin(B::Eq)),
            (b'!', b'=') => (6, 2, Op::Bin(B::Ne)),
            (b'<', b'<') if n2 != b'=' => (8, 2, Op::Bin(B::Shl)),
            (b'>', b'>') if n2 != b'=' => (8, 2, Op::Bin(B::Shr)),
            (b'<', b'<') | (b'>', b'>') => return None,
            (b'<', b'=') => (7, 2, Op::Bin(B::Le)),
            (b'>', b'=') => (7, 2, Op::Bin(B::Ge)),
            (b'<', _) => (7, 1, Op::Bin(B::Lt)),
            (b'>', _) => (7, 1, Op::Bin(B::Gt)),
            (b'+' | b'-' | b'*' | b'/' | b'%', b'=') => return None,
            (b'+', _) => (9, 1, Op::Bin(B::Add)),
            (b'-', _) => (9, 1, Op::Bin(B::Sub)),
            (b'*', b'*') => (11, 2, Op::Bin(B::Pow)),
            (b'*', _) => (10, 1, Op::Bin(B::Mul)),
            (b'/', _) => (10, 1, Op::Bin(B::Div)),
            (b'%', _) => (10, 1, Op::Bin(B::Rem)),
            _ => return None,
        })
    }

    /// Binary operators of at least the given level.
    fn binary(&mut self, min: u8) -> Result<Expr> {
        let mut left = self.unary()?;
        while let Some((level, length, op)) = self.operator() {
            if level < min || level == 0 {
                break;
            }
            self.take(length);
            let rest = match op {
                Op::Bin(Binary::Div | Binary::Rem) => {
                    let rest = &self.text[self.pos..];
                    let from = rest
                        .iter()
                        .position(|c| !matches!(c, b' ' | b'\t'))
                        .unwrap_or(rest.len());
                    rest[from..].into()
                }
                _ => Box::default(),
            };
            // `**` is right-associative.
            let right = if level == 11 {
                self.binary(level)?
            } else {
                self.binary(level + 1)?
            };
            let (l, r) = (Box::new(left), Box::new(right));
            left = match op {
                Op::And => Expr::And(l, r),
                Op::Or => Expr::Or(l, r),
                Op::Bin(op) => Expr::Binary(op, l, r, rest),
            };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expr> {
        self.depth += 1;
        if self.depth > MAX_DEPTH || crate::stack::is_short() {
            return Err(ArithError::new(
                "expression recursion level exceeded",
                &self.text[self.pos..],
            ));
        }
        let c = self.peek();
        let expr = match c {
            b'+' | b'-' if self.next_is(1, c) => {
                // `++x`; of anything else it is two signs.
                let start = self.pos;
                self.take(2);
                if is_name_start(self.peek()) {
                    let target = self.target()?;
                    Expr::Step {
                        target,
                        delta: if c == b'+' { 1 } else { -1 },
                        postfix: false,
                    }
                } else {
                    self.pos = start;
                    self.take(1);
                    let inner = self.unary()?;
                    Expr::Unary(if c == b'+' { Unary::Plus } else { Unary::Neg }, Box::new(inner))
                }
            }
            b'+' | b'-' | b'!' | b'~' => {
                self.take(1);
                let op = match c {
                    b'+' => Unary::Plus,
                    b'-' => Unary::Neg,
                    b'!' => Unary::Not,
                    _ => Unary::Complement,
                };
                Expr::Unary(op, Box::new(self.unary()?))
            }
            _ => self.primary()?,
        };
        self.depth -= 1;
        Ok(expr)
    }

    fn target(&mut self) -> Result<Target> {
        let start = self.pos;
        while self.text.get(self.pos).is_some_and(|&c| is_name_char(c)) {
            self.pos += 1;
        }
        self.last = start;
        let name = self.text[start..self.pos].to_vec();
        let mut index = None;
        if self.text.get(self.pos) == Some(&b'[') {
            let open = self.pos + 1;
            let mut depth = 0;
            let mut p = self.pos;
            loop {
                match self.text.get(p) {
                    None => return Err(ArithError::new("bad array subscript", &self.text[start..])),
                    Some(b'[') => depth += 1,
                    Some(b']') => {
                        depth -= 1;
                        if depth == 0 {
                            break;
                        }
                    }
                    Some(_) => {}
                }
                p += 1;
            }
            index = Some(self.text[open..p].to_vec());
            self.pos = p + 1;
        }
        Ok(Target { name, index })
    }

    fn primary(&mut self) -> Result<Expr> {
        let c = self.peek();
        if c == b'(' {
            self.take(1);
            let inner = self.comma()?;
            if self.peek() != b')' {
                return Err(ArithError::new("missing `)'", self.rest()));
            }
            self.take(1);
            return Ok(inner);
        }
        if is_name_start(c) {
            let target = self.target()?;
            let mut n = self.pos;
            while matches!(self.text.get(n), Some(b' ' | b'\t')) {
                n += 1;
            }
            if let (Some(&a @ (b'+' | b'-')), Some(&b)) = (self.text.get(n), self.text.get(n + 1)) {
                // `x++`, but `x++y` is x + (+y).
                if a == b {
                    let after = self.text[n + 2..].iter().find(|c| !matches!(c, b' ' | b'\t'));
                    if !after.is_some_and(|&c| is_name_char(c) || c == b'(') {
                        self.pos = n + 2;
                        return Ok(Expr::Step {
                            target,
                            delta: if a == b'+' { 1 } else { -1 },
                            postfix: true,
                        });
                    }
                }
            }
            return Ok(Expr::Var(target));
        }
        if c.is_ascii_digit() {
            let start = self.pos;
            while self
                .text
                .get(self.pos)
                .is_some_and(|&c| is_name_char(c) || c == b'#' || c == b'@')
            {
                self.pos += 1;
            }
            self.last = start;
            return parse_constant(&self.text[start..self.pos])
                .map(Expr::Num)
                // What follows the constant is not shown.
                .map_err(|error| ArithError {
                    text: Some(self.text[..self.pos].to_vec()),
                    ..error
                });
        }
        Err(ArithError::new("syntax error: operand expected", self.rest()))
    }
}

enum Op {
    And,
    Or,
    Bin(Binary),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants() {
        assert_eq!(parse_constant(b"0x1f").ok(), Some(31));
        assert_eq!(parse_constant(b"017").ok(), Some(15));
        assert_eq!(parse_constant(b"36#z").ok(), Some(35));
        assert_eq!(parse_constant(b"64#_").ok(), Some(63));
        assert!(parse_constant(b"08").is_err());
        assert!(parse_constant(b"2#2").is_err());
    }

    #[test]
    fn deep_nesting_is_an_error() {
        // A test's thread has two MiB, and frames without optimisation are large.
        let deep = || parse(&[b'('].repeat(10_000)).is_err() && parse(&[b'-'].repeat(10_000)).is_err();
        let thread = std::thread::Builder::new().stack_size(256 << 20).spawn(deep);
        assert!(matches!(thread.map(|thread| thread.join()), Ok(Ok(true))));
    }
}
