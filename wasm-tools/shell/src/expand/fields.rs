//! Fields under construction: text with the knowledge which bytes were quoted, and splitting by IFS.

use crate::pattern::decode;

/// A field and its quoting.
#[derive(Debug, Clone, Default)]
pub struct Field {
    pub text: Vec<u8>,
    /// Whether all of the text was quoted, as long as there are no runs.
    quoted: bool,
    /// Runs of equal quoting, where it changes: where each ends, and whether it was quoted.
    runs: Vec<(usize, bool)>,
}

impl Field {
    fn push(&mut self, text: &[u8], quoted: bool) {
        if text.is_empty() {
            return;
        }
        let before = self.text.len();
        self.text.extend_from_slice(text);
        let end = self.text.len();
        match self.runs.last_mut() {
            Some((last, q)) if *q == quoted => *last = end,
            Some(_) => self.runs.push((end, quoted)),
            None if before == 0 => self.quoted = quoted,
            None if self.quoted == quoted => {}
            None => self.runs.extend([(before, self.quoted), (end, quoted)]),
        }
    }

    /// The runs: text and whether it was quoted.
    pub fn runs(&self) -> impl Iterator<Item = (&[u8], bool)> {
        let whole = (self.runs.is_empty() && !self.text.is_empty()).then_some((self.text.as_slice(), self.quoted));
        let mut start = 0;
        whole.into_iter().chain(self.runs.iter().map(move |&(end, quoted)| {
            let run = &self.text[start..end];
            start = end;
            (run, quoted)
        }))
    }

    /// A quick check whether pathname expansion could apply.
    pub fn may_glob(&self) -> bool {
        self.runs()
            .any(|(text, quoted)| !quoted && text.iter().any(|c| matches!(c, b'*' | b'?' | b'[' | b'(')))
    }

    /// The text as a pattern: quoted special characters escaped.
    pub fn pattern(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.text.len() + 8);
        for (text, quoted) in self.runs() {
            if quoted {
                for &c in text {
                    if c.is_ascii_punctuation() && c != b'/' {
                        out.push(b'\\');
                    }
                    out.push(c);
                }
            } else {
                out.extend_from_slice(text);
            }
        }
        out
    }

    /// The text as the trace shows a pattern: with a backslash before each quoted character.
    pub fn escaped(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.text.len() * 2);
        for (text, quoted) in self.runs() {
            for &c in text {
                if quoted {
                    out.push(b'\\');
                }
                out.push(c);
            }
        }
        if out.is_empty() { b"''".to_vec() } else { out }
    }

    /// The text as a regular expression: quoted special characters escaped.
    pub fn regex(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.text.len() + 8);
        let mut in_bracket = false;
        for (text, quoted) in self.runs() {
            for (i, &c) in text.iter().enumerate() {
                if quoted {
                    if !in_bracket
                        && matches!(
                            c,
                            b'.' | b'[' | b'\\' | b'(' | b')' | b'*' | b'+' | b'?' | b'{' | b'}' | b'^' | b'$' | b'|'
                        )
                    {
                        out.push(b'\\');
                    }
                } else if c == b'[' && !in_bracket {
                    in_bracket = true;
                } else if c == b']' && in_bracket {
                    let before: &[u8] = if i > 0 { &text[..i] } else { &out };
                    if !matches!(before.last(), Some(b'[' | b'^')) || text[i + 1..].iter().all(|&c| c != b']') {
                        in_bracket = false;
                    }
                }
                out.push(c);
            }
        }
        out
    }
}

/// A state of a builder.
pub struct Mark {
    elements: usize,
    length: usize,
    started: bool,
}

/// Collects fields.
#[derive(Debug)]
pub struct Builder {
    fields: Vec<Field>,
    current: Field,
    /// Whether the current field exists even if its text is empty.
    started: bool,
    /// The last field was ended by IFS white space; one more separator belongs to it.
    after_blank: bool,
    split: bool,
    /// Literal text is split as well: it is the word of an unquoted `${x:-word}`.
    split_literals: bool,
    /// How many elements of quoted lists there were.
    elements: usize,
    /// The word is assigned: lists that an operator changed are joined by IFS.
    assigned: bool,
}

impl Builder {
    /// `split`: unquoted expansions are split and lists make several fields.
    pub fn new(split: bool) -> Self {
        Self {
            fields: Vec::new(),
            current: Field::default(),
            started: false,
            after_blank: false,
            split,
            split_literals: false,
            elements: 0,
            assigned: false,
        }
    }

    /// For the value of an assignment.
    pub fn assigned() -> Self {
        Self {
            assigned: true,
            ..Self::new(false)
        }
    }

    pub fn is_assigned(&self) -> bool {
        self.assigned
    }

    pub fn splits(&self) -> bool {
        self.split
    }

    /// Whether literal text is to be split.
    pub fn splits_literals(&self) -> bool {
        self.split_literals
    }

    /// Sets that; the old value.
    pub fn set_split_literals(&mut self, on: bool) -> bool {
        std::mem::replace(&mut self.split_literals, on && self.split)
    }

    /// An element of a quoted list.
    pub fn push_element(&mut self, text: &[u8]) {
        self.elements += 1;
        self.push_quoted(text);
    }

    /// What tells whether quotes around a list made anything.
    pub fn mark(&self) -> Mark {
        Mark {
            elements: self.elements,
            length: self.current.text.len(),
            started: self.started,
        }
    }

    /// Quotes around a list without elements, and without other text, make no field.
    pub fn drop_empty(&mut self, mark: &Mark) {
        if self.elements == mark.elements && self.current.text.len() == mark.length {
            self.started = mark.started;
        }
    }

    pub fn push_quoted(&mut self, text: &[u8]) {
        self.started = true;
        self.after_blank = false;
        self.current.push(text, true);
    }

    /// Unquoted text of the script, or an expansion where nothing is split.
    pub fn push_literal(&mut self, text: &[u8]) {
        if !text.is_empty() {
            self.started = true;
            self.after_blank = false;
            self.current.push(text, false);
        }
    }

    /// The result of an unquoted expansion.
    pub fn push_split(&mut self, text: &[u8], ifs: &[u8]) {
        if ifs.is_empty() {
            self.push_literal(text);
            return;
        }
        let ascii = ifs.is_ascii();
        let mut run = 0;
        let mut i = 0;
        while i < text.len() {
            let (is_separator, length) = if ascii {
                (ifs.contains(&text[i]), 1)
            } else {
                let n = decode(&text[i..]).1;
                let mut j = 0;
                let mut hit = false;
                while j < ifs.len() {
                    let m = decode(&ifs[j..]).1;
                    hit |= ifs[j..j + m] == text[i..i + n];
                    j += m;
                }
                (hit, n)
            };
            if !is_separator {
                i += length;
                continue;
            }
            self.push_literal(&text[run..i]);
            if matches!(text[i], b' ' | b'\t' | b'\n') {
                if self.started {
                    self.end_field();
                    self.after_blank = true;
                }
            } else if self.started {
                self.end_field();
                self.after_blank = false;
            } else if self.after_blank {
                self.after_blank = false;
            } else {
                self.started = true;
                self.end_field();
            }
            i += length;
            run = i;
        }
        self.push_literal(&text[run..]);
    }

    /// Ends the current field, which exists even if empty.
    fn end_field(&mut self) {
        self.fields.push(std::mem::take(&mut self.current));
        self.started = false;
    }

    /// Between two elements of a list: `force` keeps an empty field.
    pub fn break_field(&mut self, force: bool) {
        if self.started || force {
            self.end_field();
        }
        self.after_blank = false;
    }

    /// All fields: those before the last one, and that. Usually there is one only, which so needs no list.
    pub fn finish(self) -> (Vec<Field>, Option<Field>) {
        (self.fields, self.started.then_some(self.current))
    }

    /// The only field, where nothing was split.
    pub fn into_single(self) -> Field {
        self.current
    }
}
