//! Brace expansion: `{a,b}`, `{1..9..2}`, `{a..e}`.

use crate::ast::{ParamName, Part};

/// Words beyond which an expansion is refused instead of filling the memory.
const MAX_WORDS: usize = 4_000_000;

/// A word as characters that may be braces and parts that may not.
#[derive(Clone, Copy)]
enum Token<'a> {
    Char(u8),
    Part(&'a Part),
    /// Nothing, in a word that is there all the same.
    Empty,
}

/// What a word is a row of: tokens, or plain characters where there are no other parts.
trait Symbol: Copy {
    fn char(self) -> Option<u8>;
    fn of_char(c: u8) -> Self;
    /// What stands for nothing, in a word that is there all the same.
    fn nothing() -> Option<Self>;
}

impl Symbol for Token<'_> {
    fn char(self) -> Option<u8> {
        match self {
            Token::Char(c) => Some(c),
            Token::Part(_) | Token::Empty => None,
        }
    }

    fn of_char(c: u8) -> Self {
        Token::Char(c)
    }

    fn nothing() -> Option<Self> {
        Some(Token::Empty)
    }
}

impl Symbol for u8 {
    fn char(self) -> Option<u8> {
        Some(self)
    }

    fn of_char(c: u8) -> Self {
        c
    }

    fn nothing() -> Option<Self> {
        None
    }
}

/// Expands the braces of a word; `None` when there are none to expand.
pub fn expand(parts: &[Part]) -> Option<Result<Vec<Vec<Part>>, String>> {
    // Between letters there is a backslash, which goes, and the word stays.
    let is_plain = |text: &[u8]| {
        !text
            .windows(3)
            .any(|w| w.starts_with(b"..") && w[2].is_ascii_alphabetic())
    };
    if let [Part::Lit(text)] = parts
        && is_plain(text)
    {
        find(text, 0)?;
        let words = expand_tokens(text, 0).map(|words| {
            words
                .into_iter()
                .map(|lit| {
                    let mut parts = Vec::with_capacity(1);
                    if !lit.is_empty() {
                        push_literal(&mut parts, lit, true);
                    }
                    parts
                })
                .collect()
        });
        return Some(words);
    }
    let mut tokens = Vec::new();
    for part in parts {
        match part {
            Part::Lit(text) => tokens.extend(text.iter().map(|&c| Token::Char(c))),
            other => tokens.push(Token::Part(other)),
        }
    }
    find(&tokens, 0)?;
    let words = match expand_tokens(&tokens, 0) {
        Ok(words) => words,
        Err(message) => return Some(Err(message)),
    };
    Some(Ok(words
        .into_iter()
        .map(|tokens| {
            let mut parts = Vec::new();
            let mut lit = Vec::new();
            let mut first = true;
            let mut joins = false;
            for token in tokens {
                match token {
                    Token::Char(c) if joins && crate::parse::is_name_char(c) => {
                        // `$a` and the text behind it are read as one name, as if the text had been there before.
                        if let Some(Part::Param(p)) = parts.last_mut()
                            && let ParamName::Var(name) = &mut p.name
                        {
                            name.push(c);
                        }
                        continue;
                    }
                    Token::Char(c) => {
                        joins = false;
                        lit.push(c);
                    }
                    Token::Empty => {
                        push_literal(&mut parts, std::mem::take(&mut lit), first);
                        parts.push(Part::Quoted(Vec::new()));
                        first = false;
                        joins = false;
                    }
                    Token::Part(part) => {
                        if !lit.is_empty() {
                            push_literal(&mut parts, std::mem::take(&mut lit), first);
                        }
                        first = false;
                        parts.push(part.clone());
                        joins = matches!(part, Part::Param(p) if !p.braced && matches!(p.name, ParamName::Var(_)));
                        continue;
                    }
                }
            }
            if !lit.is_empty() {
                push_literal(&mut parts, lit, first);
            }
            parts
        })
        .collect()))
}

/// A `~` that comes to stand at the beginning is a tilde prefix.
fn push_literal(parts: &mut Vec<Part>, lit: Vec<u8>, first: bool) {
    if first && parts.is_empty() && lit.first() == Some(&b'~') {
        let end = lit.iter().position(|&c| c == b'/').unwrap_or(lit.len());
        parts.push(Part::Tilde(lit[1..end].to_vec()));
        if end < lit.len() {
            parts.push(Part::Lit(lit[end..].to_vec()));
        }
    } else {
        parts.push(Part::Lit(lit));
    }
}

/// The first brace expression at or after `from`: its opening and closing place.
fn find<T: Symbol>(tokens: &[T], from: usize) -> Option<(usize, usize)> {
    let mut start = from;
    while start < tokens.len() {
        if is(tokens, start, b'{')
            && let Some(end) = closing(tokens, start)
        {
            return Some((start, end));
        }
        start += 1;
    }
    None
}

fn is<T: Symbol>(tokens: &[T], i: usize, c: u8) -> bool {
    tokens.get(i).is_some_and(|t| t.char() == Some(c))
}

/// The closing brace of a valid expression that opens at `start`.
fn closing<T: Symbol>(tokens: &[T], start: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut comma = false;
    for i in start..tokens.len() {
        match tokens[i].char() {
            Some(b'{') => depth += 1,
            Some(b'}') => {
                depth -= 1;
                if depth == 0 {
                    return (comma || sequence(&tokens[start + 1..i]).is_some()).then_some(i).or({
                        // `{a}b,c}` is an expression up to a later brace.
                        None
                    });
                }
            }
            Some(b',') if depth == 1 => comma = true,
            _ => {}
        }
    }
    None
}

fn expand_tokens<T: Symbol>(tokens: &[T], depth: u32) -> Result<Vec<Vec<T>>, String> {
    if depth > 60 {
        return Ok(vec![tokens.to_vec()]);
    }
    let Some((start, end)) = find(tokens, 0) else {
        return Ok(vec![tokens.to_vec()]);
    };
    let inner = &tokens[start + 1..end];
    let mut middles: Vec<Vec<T>> = Vec::new();
    if let Some(sequence) = sequence(inner) {
        for item in sequence.generate()? {
            // A backslash between two letters quotes nothing, and goes.
            middles.push(match item.as_slice() {
                [b'\\'] => T::nothing().into_iter().collect(),
                _ => item.into_iter().map(T::of_char).collect(),
            });
        }
    } else {
        let mut depth_here = 0usize;
        let mut from = 0;
        for (i, token) in inner.iter().enumerate() {
            match token.char() {
                Some(b'{') => depth_here += 1,
                Some(b'}') => depth_here = depth_here.saturating_sub(1),
                Some(b',') if depth_here == 0 => {
                    middles.extend(expand_tokens(&inner[from..i], depth + 1)?);
                    from = i + 1;
                }
                _ => {}
            }
        }
        middles.extend(expand_tokens(&inner[from..], depth + 1)?);
    }
    let tails = expand_tokens(&tokens[end + 1..], depth + 1)?;
    if middles.len().saturating_mul(tails.len()) > MAX_WORDS {
        return Err(too_many(middles.len() as u128 * tails.len() as u128));
    }
    let mut out = Vec::with_capacity(middles.len() * tails.len());
    for middle in &middles {
        for tail in &tails {
            let mut word = Vec::with_capacity(start + middle.len() + tail.len());
            word.extend_from_slice(&tokens[..start]);
            word.extend_from_slice(middle);
            word.extend_from_slice(tail);
            out.push(word);
        }
    }
    Ok(out)
}

fn too_many(n: u128) -> String {
    format!("brace expansion: failed to allocate memory for {n} elements")
}

struct Sequence {
    from: i64,
    to: i64,
    step: i64,
    /// Digits to pad to.
    width: usize,
    chars: bool,
}

/// Reads `a..b` or `a..b..step`.
fn sequence<T: Symbol>(tokens: &[T]) -> Option<Sequence> {
    let mut text = Vec::with_capacity(tokens.len());
    for token in tokens {
        text.push(token.char()?);
    }
    let text = std::str::from_utf8(&text).ok()?;
    let mut pieces = text.split("..");
    let (from, to) = (pieces.next()?, pieces.next()?);
    let step = match pieces.next() {
        Some(step) => step.parse::<i64>().ok()?,
        None => 1,
    };
    if pieces.next().is_some() {
        return None;
    }
    if let (Some(a), Some(b)) = (number(from), number(to)) {
        let padded = |s: &str| {
            let digits = s.trim_start_matches(['-', '+']);
            digits.len() > 1 && digits.starts_with('0')
        };
        let width = if padded(from) || padded(to) {
            from.len().max(to.len())
        } else {
            0
        };
        return Some(Sequence {
            from: a,
            to: b,
            step,
            width,
            chars: false,
        });
    }
    if let ([a], [b]) = (from.as_bytes(), to.as_bytes())
        && a.is_ascii_alphabetic()
        && b.is_ascii_alphabetic()
    {
        return Some(Sequence {
            from: i64::from(*a),
            to: i64::from(*b),
            step,
            width: 0,
            chars: true,
        });
    }
    None
}

fn number(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|c| c.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

impl Sequence {
    fn generate(&self) -> Result<Vec<Vec<u8>>, String> {
        let step = i128::from(self.step.unsigned_abs().max(1));
        let (from, to) = (i128::from(self.from), i128::from(self.to));
        let count = (to - from).unsigned_abs() / step.unsigned_abs() + 1;
        if count > MAX_WORDS as u128 {
            return Err(too_many(count));
        }
        let mut out = Vec::with_capacity(count as usize);
        for i in 0..count as i128 {
            let value = if from <= to { from + i * step } else { from - i * step };
            out.push(if self.chars {
                vec![value as u8]
            } else if self.width > 0 {
                let digits = value.unsigned_abs().to_string();
                let sign = if value < 0 { "-" } else { "" };
                format!("{sign}{digits:0>width$}", width = self.width - sign.len()).into_bytes()
            } else {
                crate::arith::decimal(value as i64)
            });
        }
        Ok(out)
    }
}
