//! Searches one stream: buffers of whole lines, searched at once where the pattern allows it.

use std::io::{self, Read};

use super::matcher::Matcher;
use super::options::{Binary, Config, ListFiles};
use crate::output::Output;

/// The buffer's size from the start, which most files fit in: to clear a large one takes longer than to search them.
const FIRST: usize = 8 << 10;
/// Its size for larger files; it grows further for longer lines.
const BUFFER: usize = 128 << 10;

/// What the search of one stream found.
#[derive(Default)]
pub struct Outcome {
    /// Lines selected.
    pub selected: u64,
    /// A binary file has a selected line that was not printed.
    pub binary_matched: bool,
}

/// Keeps the buffer, and whether a group of lines was printed, from file to file.
pub struct Searcher {
    /// Columns that `-T` gives to line numbers and offsets; 0 without it.
    pub number_width: usize,
    buffer: Vec<u8>,
    printed_before: bool,
}

/// The state within one stream.
struct Stream<'a> {
    name: &'a [u8],
    matcher: &'a Matcher,
    config: &'a Config,
    out: &'a mut Output,
    outcome: Outcome,
    binary: bool,
    delimiter: u8,
    /// Lines printed, not only counted.
    prints: bool,
    number_width: usize,
    /// The stream's offset of the buffer's first byte.
    base: u64,
    /// Number of lines before `counted` (a place in the buffer).
    lines: u64,
    counted: usize,
    /// Where the first line that was not printed begins.
    unprinted: usize,
    after_left: usize,
    printed_before: &'a mut bool,
    /// Whether a line of this stream was printed: then a gap needs a separator.
    stopped: bool,
}

impl Default for Searcher {
    fn default() -> Self {
        Self::new()
    }
}

impl Searcher {
    /// A searcher with no buffer yet.
    pub fn new() -> Self {
        Self { number_width: 0, buffer: Vec::new(), printed_before: false }
    }

    /// Searches a stream and prints what the options ask for.
    ///
    /// # Errors
    /// When reading fails.
    pub fn search(
        &mut self,
        mut stream: Box<dyn Read>,
        name: &[u8],
        matcher: &Matcher,
        config: &Config,
        out: &mut Output,
    ) -> io::Result<Outcome> {
        let delimiter = if config.null_data { 0 } else { b'\n' };
        let prints = !config.count && !config.quiet && config.list == ListFiles::No;
        let mut state = Stream {
            name,
            matcher,
            config,
            out,
            outcome: Outcome::default(),
            binary: false,
            delimiter,
            prints,
            number_width: self.number_width,
            base: 0,
            lines: 0,
            counted: 0,
            unprinted: 0,
            after_left: 0,
            printed_before: &mut self.printed_before,
            stopped: false,
        };
        if self.buffer.is_empty() {
            self.buffer.resize(FIRST, 0);
        }
        // buffer[..done] was searched and is kept for -B; buffer[done..filled] was read.
        let (mut done, mut filled) = (0, 0);
        loop {
            if filled == self.buffer.len() && filled < BUFFER {
                self.buffer.resize(BUFFER, 0);
            }
            if filled == self.buffer.len() {
                let keep = state.keep_from(&self.buffer[..done]);
                if keep > self.buffer.len() / 2 {
                    self.buffer.copy_within(keep..filled, 0);
                } else if keep > 0 {
                    self.buffer.copy_within(keep..filled, 0);
                } else {
                    self.buffer.resize(self.buffer.len() * 2, 0);
                }
                state.shift(keep, &self.buffer);
                done -= keep;
                filled -= keep;
                continue;
            }
            let count = match stream.read(&mut self.buffer[filled..]) {
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if !state.binary && config.binary != Binary::Text && !config.null_data {
                state.binary = memchr::memchr(0, &self.buffer[filled..filled + count]).is_some();
            }
            filled += count;
            let at_end = count == 0;
            let end = if at_end {
                filled
            } else {
                match memchr::memrchr(delimiter, &self.buffer[done.max(filled - count)..filled]) {
                    Some(at) => done.max(filled - count) + at + 1,
                    None => continue,
                }
            };
            if state.binary && config.binary == Binary::Skip {
                return Ok(Outcome::default());
            }
            state.region(&self.buffer, done, end);
            done = end;
            if state.stopped || at_end {
                return Ok(state.outcome);
            }
        }
    }
}

impl Stream<'_> {
    /// The start of the part of a searched buffer that may still be printed as context.
    fn keep_from(&mut self, searched: &[u8]) -> usize {
        self.count_to(searched, searched.len());
        if !self.prints || self.config.before == 0 {
            return searched.len();
        }
        self.lines_back(searched, searched.len(), self.config.before).max(self.unprinted)
    }

    fn shift(&mut self, by: usize, _buffer: &[u8]) {
        self.base += by as u64;
        self.counted -= by;
        self.unprinted = self.unprinted.saturating_sub(by);
    }

    /// The start of the line `count` lines before the one that begins at `at`.
    fn lines_back(&self, text: &[u8], at: usize, count: usize) -> usize {
        let mut start = at;
        for _ in 0..count {
            if start == 0 {
                break;
            }
            start = memchr::memrchr(self.delimiter, &text[..start - 1]).map_or(0, |place| place + 1);
        }
        start
    }

    fn count_to(&mut self, text: &[u8], to: usize) {
        if self.config.line_numbers && to > self.counted {
            self.lines += memchr::memchr_iter(self.delimiter, &text[self.counted..to]).count() as u64;
        }
        self.counted = self.counted.max(to);
    }

    /// Searches `buffer[from..to]`, whole lines.
    fn region(&mut self, buffer: &[u8], from: usize, to: usize) {
        let text = &buffer[..to];
        let mut at = from;
        // The next line that matches, for -v.
        while at < to {
            let Some((start, end)) = self.next_matching(text, at) else {
                if self.config.invert {
                    self.select_all(text, at, to);
                }
                break;
            };
            if self.config.invert {
                if start > at {
                    self.select_all(text, at, start);
                }
            } else {
                self.select(text, start, end);
            }
            if self.stopped {
                return;
            }
            at = end;
        }
        if self.after_left > 0 {
            self.print_after(text, to);
        }
    }

    /// The next line, with its delimiter, that matches.
    fn next_matching(&self, text: &[u8], mut at: usize) -> Option<(usize, usize)> {
        if self.matcher.whole_buffer {
            let place = self.matcher.find_line(text, at)?;
            if place == text.len() && text.last() == Some(&self.delimiter) {
                // An empty match behind the last line, unless the match ends with that line's end.
                let last = memchr::memrchr(self.delimiter, &text[at..text.len() - 1]).map_or(at, |p| at + p + 1);
                let line = &text[last..text.len() - 1];
                return self.matcher.find_line(line, 0).map(|_| (last, text.len()));
            }
            let start = memchr::memrchr(self.delimiter, &text[at..place]).map_or(at, |p| at + p + 1);
            let end = self.line_end(text, place);
            return Some((start, end));
        }
        while at < text.len() {
            let end = self.line_end(text, at);
            if self.matcher.find_at(self.content(&text[at..end]), 0).is_some() {
                return Some((at, end));
            }
            at = end;
        }
        None
    }

    fn line_end(&self, text: &[u8], at: usize) -> usize {
        memchr::memchr(self.delimiter, &text[at..]).map_or(text.len(), |place| at + place + 1)
    }

    fn content<'t>(&self, line: &'t [u8]) -> &'t [u8] {
        line.strip_suffix(&[self.delimiter]).unwrap_or(line)
    }

    fn select_all(&mut self, text: &[u8], mut at: usize, to: usize) {
        if !self.prints && self.config.max_count.is_none() && !self.config.quiet && self.config.list == ListFiles::No {
            let ended = memchr::memchr_iter(self.delimiter, &text[at..to]).count() as u64;
            self.outcome.selected += ended + u64::from(text[to - 1] != self.delimiter);
            return;
        }
        while at < to && !self.stopped {
            let end = self.line_end(&text[..to], at);
            self.select(text, at, end);
            at = end;
        }
    }

    /// Takes a selected line; `end` is behind its delimiter.
    fn select(&mut self, text: &[u8], start: usize, end: usize) {
        self.outcome.selected += 1;
        if !self.prints {
            let enough = self.config.quiet || self.config.list != ListFiles::No;
            self.stopped = enough || self.config.max_count == Some(self.outcome.selected);
            return;
        }
        let content = self.content(&text[start..end]);
        let unprintable = self.binary || std::str::from_utf8(content).is_err();
        if unprintable && self.config.binary != Binary::Text && !self.config.null_data {
            if self.config.binary == Binary::Report {
                self.outcome.binary_matched = true;
            }
            self.stopped = true;
            return;
        }
        if self.after_left > 0 {
            self.print_after(text, start);
        }
        let context = self.config.before > 0 || self.config.after > 0;
        let first = self.lines_back(text, start, self.config.before).max(self.unprinted);
        if context && *self.printed_before && (first > self.unprinted || self.outcome.selected == 1) {
            if let Some(separator) =
                self.config.group_separator.clone().filter(|_| !self.config.only_matching || context)
            {
                self.config.colors.separator(self.out, &separator);
                self.out.put(b"\n");
            }
        }
        let mut at = first;
        while at < start {
            let line_end = self.line_end(text, at);
            self.print_line(text, at, line_end, b"-");
            at = line_end;
        }
        self.print_line(text, start, end, b":");
        *self.printed_before = true;
        self.unprinted = end;
        self.after_left = self.config.after;
        if self.config.max_count == Some(self.outcome.selected) {
            if self.after_left > 0 {
                // Context after the last selected line ends at the next one.
                let stop =
                    self.next_matching(text, end).filter(|_| !self.config.invert).map_or(text.len(), |line| line.0);
                self.print_after(text, stop);
            }
            self.stopped = true;
        }
    }

    fn print_after(&mut self, text: &[u8], to: usize) {
        while self.after_left > 0 && self.unprinted < to {
            let end = self.line_end(&text[..to], self.unprinted);
            self.print_line(text, self.unprinted, end, b"-");
            self.unprinted = end;
            self.after_left -= 1;
        }
    }

    fn print_prefix(&mut self, text: &[u8], start: usize, offset: usize, mark: &[u8]) {
        let config = self.config;
        if config.with_filename {
            config.colors.name(self.out, self.name);
            if config.null_after_name { self.out.put(b"\0") } else { config.colors.separator(self.out, mark) }
        }
        if config.line_numbers {
            self.count_to(text, start);
            // Lines of context were counted when a later line was selected first.
            let number = self.lines + 1 - self.lines_between(text, start);
            self.print_number(number);
            config.colors.separator(self.out, mark);
        }
        if config.byte_offsets {
            self.print_number(self.base + offset as u64);
            config.colors.separator(self.out, mark);
        }
        if config.initial_tab && (config.with_filename || config.line_numbers || config.byte_offsets) {
            self.out.put(b"\t");
        }
    }

    /// A line number or offset; `-T` aligns them.
    fn print_number(&mut self, number: u64) {
        let width = self.number_width;
        self.config.colors.number(self.out, format!("{number:>width$}").as_bytes());
    }

    /// Lines between `start` and the place counted to.
    fn lines_between(&self, text: &[u8], start: usize) -> u64 {
        if self.counted <= start {
            return 0;
        }
        memchr::memchr_iter(self.delimiter, &text[start..self.counted]).count() as u64
    }

    fn print_line(&mut self, text: &[u8], start: usize, end: usize, mark: &[u8]) {
        let content = self.content(&text[start..end]);
        let selected = mark == b":";
        if self.config.only_matching {
            if selected && !self.config.invert {
                self.print_matches(text, start, content);
            }
            return;
        }
        self.print_prefix(text, start, start, mark);
        if self.config.colors.on && selected != self.config.invert {
            let mut last = 0;
            for (from, to) in Matches::new(self.matcher, content) {
                self.out.put(&content[last..from]);
                self.config.colors.matched(self.out, &content[from..to]);
                last = to;
            }
            self.out.put(&content[last..]);
        } else {
            self.out.put(content);
        }
        self.out.put(&[self.delimiter]);
    }

    fn print_matches(&mut self, text: &[u8], start: usize, content: &[u8]) {
        for (from, to) in Matches::new(self.matcher, content) {
            self.print_prefix(text, start, start + from, b":");
            self.config.colors.matched(self.out, &content[from..to]);
            self.out.put(&[self.delimiter]);
        }
    }
}

/// The matches of a line that are not empty.
struct Matches<'a> {
    matcher: &'a Matcher,
    text: &'a [u8],
    at: usize,
}

impl<'a> Matches<'a> {
    fn new(matcher: &'a Matcher, text: &'a [u8]) -> Self {
        Self { matcher, text, at: 0 }
    }
}

impl Iterator for Matches<'_> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<(usize, usize)> {
        while self.at <= self.text.len() {
            let (from, to) = self.matcher.find_at(self.text, self.at)?;
            if to > from {
                self.at = to;
                return Some((from, to));
            }
            self.at = to + 1;
        }
        None
    }
}
