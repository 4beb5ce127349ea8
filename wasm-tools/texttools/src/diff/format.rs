//! Prints a comparison in one of diff's formats.

use super::compare::{Comparison, Hunk, expand_tabs};
use super::options::{Config, Style};
use crate::output::{Output, show};

/// Prints the hunks. `headers` are the files' names with their times.
pub fn print(comparison: &Comparison<'_>, config: &Config, headers: &[String; 2], out: &mut Output) {
    let printer = Printer { comparison, config };
    match config.style {
        Style::Normal => printer.normal(out),
        Style::Unified => printer.unified(headers, out),
        Style::Context => printer.context(headers, out),
        Style::Ed | Style::ForwardEd => printer.ed(out),
        Style::Rcs => printer.rcs(out),
        Style::SideBySide => printer.side_by_side(out),
    }
}

struct Printer<'p> {
    comparison: &'p Comparison<'p>,
    config: &'p Config,
}

/// Lines `first` and on as diff writes ranges: `5`, `5,7`; the line before for none.
fn range(first: usize, count: usize) -> String {
    match count {
        0 => first.to_string(),
        1 => (first + 1).to_string(),
        _ => format!("{},{}", first + 1, first + count),
    }
}

impl Printer<'_> {
    fn line(&self, out: &mut Output, mark: &str, line: &[u8]) {
        let color = match mark.as_bytes().first() {
            _ if !self.config.color => "",
            Some(b'<' | b'-') => "\x1b[31m",
            Some(b'>' | b'+') => "\x1b[32m",
            _ => "",
        };
        out.text(color);
        out.text(mark);
        if self.config.initial_tab {
            out.put(b"\t");
        }
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        if self.config.expand_tabs {
            out.put(&expand_tabs(text))
        } else {
            out.put(text)
        }
        if !color.is_empty() {
            out.text("\x1b[0m");
        }
        out.put(b"\n");
        if text.len() == line.len() {
            out.text("\\ No newline at end of file\n");
        }
    }

    fn heading(&self, out: &mut Output, color: &str, text: &str) {
        if self.config.color {
            out.text(&format!("\x1b[{color}m{text}\x1b[0m\n"));
        } else {
            out.text(&format!("{text}\n"));
        }
    }

    fn normal(&self, out: &mut Output) {
        let space = if self.config.initial_tab { "" } else { " " };
        for hunk in self.comparison.hunks.iter().filter(|hunk| !hunk.ignorable) {
            let letter = match (hunk.left_count, hunk.right_count) {
                (0, _) => 'a',
                (_, 0) => 'd',
                _ => 'c',
            };
            let heading =
                format!("{}{letter}{}", range(hunk.left, hunk.left_count), range(hunk.right, hunk.right_count));
            self.heading(out, "36", &heading);
            for line in &self.comparison.left[hunk.left..hunk.left + hunk.left_count] {
                self.line(out, &format!("<{space}"), line);
            }
            if letter == 'c' {
                out.text("---\n");
            }
            for line in &self.comparison.right[hunk.right..hunk.right + hunk.right_count] {
                self.line(out, &format!(">{space}"), line);
            }
        }
    }

    /// Hunks whose contexts touch, together; groups of lines that do not count are left out.
    fn groups(&self) -> Vec<&[Hunk]> {
        let hunks = self.comparison.hunks.as_slice();
        let context = self.config.context;
        let mut groups = Vec::new();
        let mut start = 0;
        for index in 1..=hunks.len() {
            let joined = hunks.get(index).is_some_and(|next| {
                let last = &hunks[index - 1];
                let gap = next.left - (last.left + last.left_count);
                let limit = if next.ignorable { context } else { context.saturating_mul(2) };
                gap <= limit
            });
            if !joined {
                let group = &hunks[start..index];
                if group.iter().any(|hunk| !hunk.ignorable) {
                    groups.push(group);
                }
                start = index;
            }
        }
        groups
    }

    /// A group's lines with context: first and behind the last, left and right.
    fn extent(&self, group: &[Hunk]) -> (usize, usize, usize, usize) {
        let (first, last) = (&group[0], &group[group.len() - 1]);
        let before = self.config.context.min(first.left).min(first.right);
        let left_end = last.left + last.left_count;
        let right_end = last.right + last.right_count;
        let after =
            self.config.context.min(self.comparison.left.len() - left_end).min(self.comparison.right.len() - right_end);
        (first.left - before, left_end + after, first.right - before, right_end + after)
    }

    /// ` @@ function`: the last line before the hunk that looks like one.
    fn function(&self, start: usize) -> String {
        let Some(regex) = &self.config.show_function else { return String::new() };
        let found = self.comparison.left[..start.min(self.comparison.left.len())]
            .iter()
            .rev()
            .find(|line| regex.is_match(line));
        found.map_or(String::new(), |line| {
            let text = show(line.trim_ascii_end());
            format!(" {}", text.chars().take(40).collect::<String>().trim_end())
        })
    }

    fn unified(&self, headers: &[String; 2], out: &mut Output) {
        self.heading(out, "1", &format!("--- {}", headers[0]));
        self.heading(out, "1", &format!("+++ {}", headers[1]));
        let numbers = |start: usize, end: usize| match end - start {
            0 => format!("{start},0"),
            1 => format!("{}", start + 1),
            count => format!("{},{count}", start + 1),
        };
        for group in self.groups() {
            let (left, left_end, right, right_end) = self.extent(group);
            let heading =
                format!("@@ -{} +{} @@{}", numbers(left, left_end), numbers(right, right_end), self.function(left));
            self.heading(out, "36", &heading);
            let mut at = left;
            for hunk in group {
                for line in &self.comparison.left[at..hunk.left] {
                    self.line(out, " ", line);
                }
                for line in &self.comparison.left[hunk.left..hunk.left + hunk.left_count] {
                    self.line(out, "-", line);
                }
                for line in &self.comparison.right[hunk.right..hunk.right + hunk.right_count] {
                    self.line(out, "+", line);
                }
                at = hunk.left + hunk.left_count;
            }
            for line in &self.comparison.left[at..left_end] {
                self.line(out, " ", line);
            }
        }
    }

    fn context(&self, headers: &[String; 2], out: &mut Output) {
        self.heading(out, "1", &format!("*** {}", headers[0]));
        self.heading(out, "1", &format!("--- {}", headers[1]));
        let numbers = |start: usize, end: usize| {
            if end - start <= 1 { format!("{end}") } else { format!("{},{end}", start + 1) }
        };
        for group in self.groups() {
            let (left, left_end, right, right_end) = self.extent(group);
            out.text(&format!("***************{}\n", self.function(left)));
            self.heading(out, "36", &format!("*** {} ****", numbers(left, left_end)));
            if group.iter().any(|hunk| hunk.left_count > 0) {
                let mut at = left;
                for hunk in group {
                    for line in &self.comparison.left[at..hunk.left] {
                        self.line(out, "  ", line);
                    }
                    let mark = if hunk.right_count > 0 { "! " } else { "- " };
                    for line in &self.comparison.left[hunk.left..hunk.left + hunk.left_count] {
                        self.line(out, mark, line);
                    }
                    at = hunk.left + hunk.left_count;
                }
                for line in &self.comparison.left[at..left_end] {
                    self.line(out, "  ", line);
                }
            }
            self.heading(out, "36", &format!("--- {} ----", numbers(right, right_end)));
            if group.iter().any(|hunk| hunk.right_count > 0) {
                let mut at = right;
                for hunk in group {
                    for line in &self.comparison.right[at..hunk.right] {
                        self.line(out, "  ", line);
                    }
                    let mark = if hunk.left_count > 0 { "! " } else { "+ " };
                    for line in &self.comparison.right[hunk.right..hunk.right + hunk.right_count] {
                        self.line(out, mark, line);
                    }
                    at = hunk.right + hunk.right_count;
                }
                for line in &self.comparison.right[at..right_end] {
                    self.line(out, "  ", line);
                }
            }
        }
    }

    /// An `ed` script, from the end so that numbers stay right; `-f` from the beginning.
    fn ed(&self, out: &mut Output) {
        let forward = self.config.style == Style::ForwardEd;
        let mut hunks: Vec<&Hunk> = self.comparison.hunks.iter().filter(|hunk| !hunk.ignorable).collect();
        if !forward {
            hunks.reverse();
        }
        for hunk in hunks {
            let letter = match (hunk.left_count, hunk.right_count) {
                (0, _) => 'a',
                (_, 0) => 'd',
                _ => 'c',
            };
            let place = range(hunk.left, hunk.left_count);
            if forward {
                out.text(&format!("{letter}{}\n", place.replace(',', " ")));
            } else {
                out.text(&format!("{place}{letter}\n"));
            }
            if letter == 'd' {
                continue;
            }
            for line in &self.comparison.right[hunk.right..hunk.right + hunk.right_count] {
                let text = line.strip_suffix(b"\n").unwrap_or(line);
                // A lone dot would end the text.
                out.put(if text == b"." { b".." } else { text });
                out.put(b"\n");
                if text == b"." && !forward {
                    out.text(".\ns/.//\na\n");
                }
            }
            out.text(".\n");
        }
    }

    fn rcs(&self, out: &mut Output) {
        for hunk in self.comparison.hunks.iter().filter(|hunk| !hunk.ignorable) {
            if hunk.left_count > 0 {
                out.text(&format!("d{} {}\n", hunk.left + 1, hunk.left_count));
            }
            if hunk.right_count > 0 {
                out.text(&format!("a{} {}\n", hunk.left + hunk.left_count, hunk.right_count));
                for line in &self.comparison.right[hunk.right..hunk.right + hunk.right_count] {
                    out.put(line);
                }
            }
        }
    }

    fn side_by_side(&self, out: &mut Output) {
        let layout = Layout::new(self.config.width, self.config.expand_tabs);
        let comparison = self.comparison;
        let (mut i, mut j) = (0, 0);
        let mut hunks = comparison.hunks.iter();
        loop {
            let next = hunks.next();
            let stop = next.map_or(comparison.left.len(), |hunk| hunk.left);
            while i < stop {
                if !self.config.suppress_common {
                    let mark = if self.config.left_column { b'(' } else { b' ' };
                    let right = if self.config.left_column { None } else { Some(comparison.right[j]) };
                    layout.print(out, Some(comparison.left[i]), mark, right);
                }
                i += 1;
                j += 1;
            }
            let Some(hunk) = next else { return };
            let both = hunk.left_count.min(hunk.right_count);
            for index in 0..hunk.left_count.max(hunk.right_count) {
                let left = (index < hunk.left_count).then(|| comparison.left[i + index]);
                let right = (index < hunk.right_count).then(|| comparison.right[j + index]);
                let mark = if index < both {
                    b'|'
                } else if left.is_some() {
                    b'<'
                } else {
                    b'>'
                };
                layout.print(out, left, mark, right);
            }
            i += hunk.left_count;
            j += hunk.right_count;
        }
    }
}

/// The columns of the side-by-side format.
struct Layout {
    half: usize,
    second: usize,
    expand_tabs: bool,
}

impl Layout {
    fn new(width: usize, expand_tabs: bool) -> Self {
        let tab = if expand_tabs { 1 } else { 8 };
        let tab_and_gutter = tab + 3;
        let unaligned = (width >> 1) + (tab_and_gutter >> 1) + (width & tab_and_gutter & 1);
        let offset = unaligned - unaligned % tab;
        let half = offset.saturating_sub(3).min(width.saturating_sub(offset));
        Self { half, second: if half > 0 { offset } else { width }, expand_tabs }
    }

    /// Moves from one column to another, with tabs where they fit.
    fn move_to(&self, out: &mut Output, mut from: usize, to: usize) -> usize {
        if !self.expand_tabs {
            let mut tab = from + 8 - from % 8;
            while tab <= to {
                out.put(b"\t");
                from = tab;
                tab += 8;
            }
        }
        while from < to {
            out.put(b" ");
            from += 1;
        }
        to.max(from)
    }

    /// Prints as much of a line as fits into half the width; the column behind it.
    fn half_line(&self, out: &mut Output, line: &[u8], start: usize) -> usize {
        let mut column = 0;
        let mut position = 0;
        for chunk in line.strip_suffix(b"\n").unwrap_or(line).utf8_chunks() {
            for c in chunk.valid().chars() {
                if c == '\t' {
                    let stop = column + 8 - column % 8;
                    if stop > self.half {
                        return start + position;
                    }
                    position = self.move_to(out, start + position, start + stop) - start;
                    column = stop;
                    continue;
                }
                if column + 1 > self.half {
                    return start + position;
                }
                column += 1;
                position = column;
                out.put(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        start + position
    }

    fn print(&self, out: &mut Output, left: Option<&[u8]>, mark: u8, right: Option<&[u8]>) {
        let mut column = 0;
        if let Some(left) = left {
            column = self.half_line(out, left, 0);
        }
        if mark != b' ' {
            column = self.move_to(out, column, (self.half + self.second - 1) / 2) + 1;
            out.put(&[mark]);
        }
        if let Some(right) = right
            && right != b"\n"
        {
            column = self.move_to(out, column, self.second);
            self.half_line(out, right, column);
        }
        out.put(b"\n");
    }
}
