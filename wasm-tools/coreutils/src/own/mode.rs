//! File modes as `chmod` reads them: octal or symbolic ("u=rwx,go-w,a+X").

/// A parsed mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// An octal number; `digits` above four set the special bits of directories too.
    Octal {
        /// The bits.
        bits: u32,
        /// How many digits it was written with.
        digits: usize,
        /// `=`, `+` or `-` before the digits.
        op: u8,
    },
    /// Clauses, each applied to what the one before gave.
    Symbolic(Vec<Clause>),
}

/// "u+x": who (as permission bits; `None` when left out), what to do, which bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    who: Option<u32>,
    op: u8,
    bits: u32,
    /// `X`.
    conditional: bool,
    /// `u`, `g` or `o` as the source: the shift of its bits.
    copy: Option<u32>,
}

impl Mode {
    /// Reads a mode; `None` when it is none.
    pub fn parse(text: &str) -> Option<Mode> {
        let (op, digits) = match text.as_bytes().first()? {
            op @ (b'+' | b'-' | b'=') if text[1..].starts_with(|c: char| c.is_ascii_digit()) => (*op, &text[1..]),
            _ => (b'=', text),
        };
        if digits.starts_with(|c: char| c.is_ascii_digit()) {
            let bits = u32::from_str_radix(digits, 8).ok().filter(|b| *b <= 0o7777)?;
            // A written operator keeps a directory's special bits, as five digits do.
            let length = if digits.len() == text.len() { digits.len() } else { 5 };
            return Some(Mode::Octal { bits, digits: length, op });
        }
        let mut clauses = Vec::new();
        for part in text.split(',') {
            parse_clauses(part.as_bytes(), &mut clauses)?;
        }
        Some(Mode::Symbolic(clauses))
    }

    /// The permission bits (12) that this mode makes of `old`. `umask` masks clauses without a "who".
    pub fn apply(&self, old: u32, is_dir: bool, umask: u32) -> u32 {
        let old = old & 0o7777;
        match self {
            Mode::Octal { bits, digits, op } => match op {
                b'+' => old | bits,
                b'-' => old & !bits,
                _ if is_dir && *digits < 5 => bits | (old & 0o6000),
                _ => *bits,
            },
            Mode::Symbolic(clauses) => clauses.iter().fold(old, |mode, clause| clause.apply(mode, is_dir, umask)),
        }
    }
}

impl Clause {
    fn apply(&self, mode: u32, is_dir: bool, umask: u32) -> u32 {
        let who = self.who.unwrap_or(0o7777);
        let mut bits = self.bits;
        if self.conditional && (is_dir || mode & 0o111 != 0) {
            bits |= 0o111;
        }
        if let Some(shift) = self.copy {
            let source = (mode >> shift) & 7;
            bits |= source << 6 | source << 3 | source;
        }
        bits &= who;
        if self.who.is_none() {
            bits &= !umask;
        }
        match self.op {
            b'+' => mode | bits,
            b'-' => mode & !bits,
            _ => {
                // `=` leaves a directory's set-id bits alone unless they are named.
                let keep = if is_dir { 0o6000 & !self.bits } else { 0 };
                (mode & (!who | keep)) | bits
            }
        }
    }
}

fn parse_clauses(text: &[u8], clauses: &mut Vec<Clause>) -> Option<()> {
    let mut at = 0;
    let mut who = None;
    while let Some(&c) = text.get(at) {
        let bits = match c {
            b'u' => 0o4700,
            b'g' => 0o2070,
            b'o' => 0o1007,
            b'a' => 0o7777,
            _ => break,
        };
        who = Some(who.unwrap_or(0) | bits);
        at += 1;
    }
    if !matches!(text.get(at), Some(b'+' | b'-' | b'=')) {
        return None;
    }
    while let Some(&op @ (b'+' | b'-' | b'=')) = text.get(at) {
        at += 1;
        let mut clause = Clause { who, op, bits: 0, conditional: false, copy: None };
        if let Some(&copy @ (b'u' | b'g' | b'o')) = text.get(at) {
            clause.copy = Some(match copy {
                b'u' => 6,
                b'g' => 3,
                _ => 0,
            });
            at += 1;
        } else {
            while let Some(&c) = text.get(at) {
                match c {
                    b'r' => clause.bits |= 0o444,
                    b'w' => clause.bits |= 0o222,
                    b'x' => clause.bits |= 0o111,
                    b's' => clause.bits |= 0o6000,
                    b't' => clause.bits |= 0o1000,
                    b'X' => clause.conditional = true,
                    _ => break,
                }
                at += 1;
            }
        }
        clauses.push(clause);
    }
    (at == text.len()).then_some(())
}
