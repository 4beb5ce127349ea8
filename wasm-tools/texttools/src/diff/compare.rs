//! Compares the lines of two texts.

use std::collections::HashMap;

use super::myers;
use super::options::Config;

/// A run of lines that differ: the first line and how many, in both texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Hunk {
    pub left: usize,
    pub left_count: usize,
    pub right: usize,
    pub right_count: usize,
    /// Only lines that do not count (`-B`, `-I`): shown only inside of the context of others.
    pub ignorable: bool,
}

/// Two texts as lines, with what differs.
pub struct Comparison<'t> {
    /// Lines with their newline, if they have one.
    pub left: Vec<&'t [u8]>,
    /// The other text's.
    pub right: Vec<&'t [u8]>,
    /// In order. Empty when nothing that counts differs.
    pub hunks: Vec<Hunk>,
}

/// The lines of a text.
pub fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

impl<'t> Comparison<'t> {
    /// Compares.
    pub fn new(a: &'t [u8], b: &'t [u8], config: &Config) -> Self {
        let (left, right) = (lines(a), lines(b));
        let mut numbers = HashMap::new();
        let mut number = |line: &&'t [u8]| -> u32 {
            let next = numbers.len() as u32;
            *numbers.entry(normalise(line, config)).or_insert(next)
        };
        let left_numbers: Vec<u32> = left.iter().map(&mut number).collect();
        let right_numbers: Vec<u32> = right.iter().map(&mut number).collect();
        let (changed_left, changed_right) = myers::changes(&left_numbers, &right_numbers);
        let mut hunks = Vec::new();
        let (mut i, mut j) = (0, 0);
        while i < left.len() || j < right.len() {
            let (start_left, start_right) = (i, j);
            while changed_left.get(i).copied().unwrap_or(false) {
                i += 1;
            }
            while changed_right.get(j).copied().unwrap_or(false) {
                j += 1;
            }
            if i > start_left || j > start_right {
                let ignorable =
                    left[start_left..i].iter().chain(&right[start_right..j]).all(|line| ignored(line, config));
                hunks.push(Hunk {
                    left: start_left,
                    left_count: i - start_left,
                    right: start_right,
                    right_count: j - start_right,
                    ignorable,
                });
            } else {
                i += 1;
                j += 1;
            }
        }
        if hunks.iter().all(|hunk| hunk.ignorable) {
            hunks.clear();
        }
        Self { left, right, hunks }
    }
}

fn ignored(line: &[u8], config: &Config) -> bool {
    let text = line.strip_suffix(b"\n").unwrap_or(line);
    config.ignore_blank_lines && normalise(text, config).iter().all(u8::is_ascii_whitespace) && text.is_empty()
        || config.ignore_matching.iter().any(|regex| regex.is_match(text))
}

/// A line as it is compared.
fn normalise(line: &[u8], config: &Config) -> Vec<u8> {
    let plain = !(config.ignore_case
        || config.ignore_all_space
        || config.ignore_space_change
        || config.ignore_trailing_space
        || config.ignore_tab_expansion
        || config.strip_carriage_return);
    if plain {
        return line.to_vec();
    }
    let mut text = line.to_vec();
    if config.strip_carriage_return && text.ends_with(b"\r\n") {
        text.truncate(text.len() - 2);
        text.push(b'\n');
    }
    if config.ignore_tab_expansion {
        text = expand_tabs(&text);
    }
    if config.ignore_all_space {
        text.retain(|byte| !byte.is_ascii_whitespace() || *byte == b'\n');
    } else if config.ignore_space_change {
        let mut squeezed = Vec::with_capacity(text.len());
        for byte in text {
            let blank = byte.is_ascii_whitespace() && byte != b'\n';
            if blank {
                if squeezed.last() != Some(&b' ') {
                    squeezed.push(b' ');
                }
            } else {
                if byte == b'\n' && squeezed.last() == Some(&b' ') {
                    squeezed.pop();
                }
                squeezed.push(byte);
            }
        }
        if squeezed.last() == Some(&b' ') {
            squeezed.pop();
        }
        text = squeezed;
    } else if config.ignore_trailing_space {
        let ended = text.last() == Some(&b'\n');
        text.truncate(text.trim_ascii_end().len());
        if ended {
            text.push(b'\n');
        }
    }
    if config.ignore_all_space || config.ignore_space_change || config.ignore_trailing_space {
        // A missing newline at the end is white space, too.
        if text.last() == Some(&b'\n') {
            text.pop();
        }
    }
    if config.ignore_case {
        text = String::from_utf8_lossy(&text).to_lowercase().into_bytes();
    }
    text
}

/// Tabs as blanks, to multiples of eight columns.
pub fn expand_tabs(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut column = 0;
    for byte in text {
        if *byte == b'\t' {
            let width = 8 - column % 8;
            out.resize(out.len() + width, b' ');
            column += width;
        } else {
            out.push(*byte);
            column += 1;
        }
    }
    out
}
