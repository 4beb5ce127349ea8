//! Evaluation against the shell's variables.

use super::decimal;
use super::{ArithError, Binary, Expr, Target, Unary, parse};
use crate::ast::Arith;
use crate::shell::{Run, Shell, Unwind};
use std::rc::Rc;

/// How often a variable's value may be an expression that names another one.
const MAX_INDIRECTION: u32 = 100;

enum Stop {
    Error(ArithError),
    Unwind(Unwind),
}

impl From<ArithError> for Stop {
    fn from(error: ArithError) -> Self {
        Self::Error(error)
    }
}

impl From<Unwind> for Stop {
    fn from(unwind: Unwind) -> Self {
        Self::Unwind(unwind)
    }
}

type Result<T> = std::result::Result<T, Stop>;

impl Shell {
    /// Expands and evaluates an expression. An error abandons the command, as in `$((…))`.
    pub fn eval_arith(&mut self, arith: &Arith) -> Run<i64> {
        self.eval_arith_for(arith, "")
    }

    /// The same with a prefix for messages, such as `((: `.
    pub fn eval_arith_for(&mut self, arith: &Arith, prefix: &str) -> Run<i64> {
        self.eval_arith_with(arith, || prefix.to_owned())
    }

    /// The same with a prefix that is made when there is a message.
    #[inline(never)]
    pub fn eval_arith_with(&mut self, arith: &Arith, prefix: impl FnOnce() -> String) -> Run<i64> {
        let parsed = arith.parsed.get_or_init(|| match arith.text.parts.as_slice() {
            [] => Some(Rc::new(Expr::Empty)),
            [crate::ast::Part::Quoted(text) | crate::ast::Part::Lit(text)] => parse(text).ok().map(Rc::new),
            _ => None,
        });
        if let Some(expr) = parsed.clone() {
            return match self.eval(&expr, 0) {
                Ok(value) => Ok(value),
                Err(stop) => Err(self.arith_failed(stop, &arith.text.raw, &prefix())),
            };
        }
        let text = self.expand_arith_text(&arith.text)?;
        self.eval_text_for(&text, &prefix())
    }

    /// Evaluates a text as an expression.
    pub fn eval_text(&mut self, text: &[u8]) -> Run<i64> {
        self.eval_text_for(text, "")
    }

    /// The same with a prefix for messages.
    pub fn eval_text_for(&mut self, text: &[u8], prefix: &str) -> Run<i64> {
        match self.eval_nested(text, 0) {
            Ok(value) => Ok(value),
            Err(stop) => Err(self.arith_failed(stop, text, prefix)),
        }
    }

    /// Evaluates a subscript or an integer variable's value: an error leads back to the top level.
    pub fn eval_inner(&mut self, text: &[u8]) -> Run<i64> {
        self.eval_text(text).map_err(Unwind::to_top)
    }

    #[inline(never)]
    fn arith_failed(&mut self, stop: Stop, text: &[u8], prefix: &str) -> Unwind {
        match stop {
            Stop::Unwind(unwind) => unwind,
            Stop::Error(error) => {
                let mut message = prefix.as_bytes().to_vec();
                let text = error.text.as_deref().unwrap_or(text);
                let from = text.iter().position(|c| !matches!(c, b' ' | b'\t')).unwrap_or(0);
                message.extend_from_slice(&text[from..]);
                message.extend_from_slice(b": ");
                message.extend_from_slice(error.message.as_bytes());
                if let Some(token) = error.token {
                    message.extend_from_slice(b" (error token is \"");
                    message.extend_from_slice(&token);
                    message.extend_from_slice(b"\")");
                }
                self.error_bytes(&message);
                Unwind::Discard(1)
            }
        }
    }

    #[inline(never)]
    fn eval_nested(&mut self, text: &[u8], depth: u32) -> Result<i64> {
        if depth > MAX_INDIRECTION || crate::stack::is_short() {
            return Err(ArithError::new("expression recursion level exceeded", text).into());
        }
        // Plain numbers are the usual case.
        if let Some(value) = plain_number(text) {
            return Ok(value);
        }
        let value = parse(text).map_err(Stop::from).and_then(|expr| self.eval(&expr, depth));
        value.map_err(|stop| match stop {
            // Messages show the expression that went wrong, not the one that names it.
            Stop::Error(mut error) => {
                error.text.get_or_insert_with(|| text.to_vec());
                Stop::Error(error)
            }
            unwind => unwind,
        })
    }

    fn eval(&mut self, expr: &Expr, depth: u32) -> Result<i64> {
        Ok(match expr {
            Expr::Empty => 0,
            Expr::Num(n) => *n,
            Expr::Var(target) => self.arith_get(target, depth)?,
            Expr::Unary(op, inner) => {
                let value = self.eval(inner, depth)?;
                match op {
                    Unary::Neg => value.wrapping_neg(),
                    Unary::Plus => value,
                    Unary::Not => i64::from(value == 0),
                    Unary::Complement => !value,
                }
            }
            Expr::Binary(op, left, right, rest) => {
                let left = self.eval(left, depth)?;
                let right = self.eval(right, depth)?;
                apply(*op, left, right, rest)?
            }
            Expr::And(left, right) => i64::from(self.eval(left, depth)? != 0 && self.eval(right, depth)? != 0),
            Expr::Or(left, right) => i64::from(self.eval(left, depth)? != 0 || self.eval(right, depth)? != 0),
            Expr::Cond(cond, yes, no) => {
                if self.eval(cond, depth)? != 0 {
                    self.eval(yes, depth)?
                } else {
                    self.eval(no, depth)?
                }
            }
            Expr::Comma(left, right) => {
                self.eval(left, depth)?;
                self.eval(right, depth)?
            }
            Expr::Assign(op, target, value, rest) => {
                let value = match op {
                    None => self.eval(value, depth)?,
                    Some(op) => {
                        let old = self.arith_get(target, depth)?;
                        let value = self.eval(value, depth)?;
                        apply(*op, old, value, rest)?
                    }
                };
                self.arith_set(target, value)?;
                value
            }
            Expr::Step { target, delta, postfix } => {
                let old = self.arith_get(target, depth)?;
                let new = old.wrapping_add(*delta);
                self.arith_set(target, new)?;
                if *postfix { old } else { new }
            }
        })
    }

    fn arith_get(&mut self, target: &Target, depth: u32) -> Result<i64> {
        let text = match &target.index {
            None => {
                // Numbers are read in place, without a copy of the value.
                match self.plain_scalar(&target.name) {
                    Some(text) => {
                        if let Some(value) = plain_number(text) {
                            return Ok(value);
                        }
                        text.to_vec()
                    }
                    None => match self.get_scalar(&target.name) {
                        Some(text) => text,
                        None if self.st.opts.nounset => {
                            let name = String::from_utf8_lossy(&target.name).into_owned();
                            return Err(self.unbound(&name).into());
                        }
                        None => return Ok(0),
                    },
                }
            }
            Some(index) => match self.get_element_text(&target.name, index)? {
                Some(text) => text,
                None => return Ok(0),
            },
        };
        self.eval_nested(&text, depth + 1)
    }

    fn arith_set(&mut self, target: &Target, value: i64) -> Result<()> {
        match &target.index {
            None => self.set_number(&target.name, value)?,
            Some(index) => self.set_element_text(&target.name, index, decimal(value), false)?,
        }
        Ok(())
    }
}

/// A decimal number without leading zero, sign allowed; anything else takes the long way.
fn plain_number(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    if digits.is_empty() || digits.len() > 18 || digits.len() > 1 && digits[0] == b'0' {
        return None;
    }
    let mut value = 0i64;
    for &c in digits {
        if !c.is_ascii_digit() {
            return None;
        }
        value = value * 10 + i64::from(c - b'0');
    }
    Some(if negative { -value } else { value })
}

fn apply(op: Binary, a: i64, b: i64, rest: &[u8]) -> std::result::Result<i64, ArithError> {
    Ok(match op {
        Binary::Add => a.wrapping_add(b),
        Binary::Sub => a.wrapping_sub(b),
        Binary::Mul => a.wrapping_mul(b),
        Binary::Div | Binary::Rem if b == 0 => return Err(ArithError::new("division by 0", rest)),
        Binary::Div => a.wrapping_div(b),
        Binary::Rem => a.wrapping_rem(b),
        Binary::Pow => {
            if b < 0 {
                return Err(ArithError::new("exponent less than 0", &decimal(b)));
            }
            let (mut base, mut exponent, mut value) = (a, b, 1i64);
            while exponent > 0 {
                if exponent & 1 == 1 {
                    value = value.wrapping_mul(base);
                }
                base = base.wrapping_mul(base);
                exponent >>= 1;
            }
            value
        }
        Binary::Shl => a.wrapping_shl(b as u32),
        Binary::Shr => a.wrapping_shr(b as u32),
        Binary::BitAnd => a & b,
        Binary::BitOr => a | b,
        Binary::BitXor => a ^ b,
        Binary::Eq => i64::from(a == b),
        Binary::Ne => i64::from(a != b),
        Binary::Lt => i64::from(a < b),
        Binary::Le => i64::from(a <= b),
        Binary::Gt => i64::from(a > b),
        Binary::Ge => i64::from(a >= b),
    })
}
