//! `column`: lines in columns, or as a table.

use crate::args::{self, Long, Value};
use crate::input;
use crate::output::{Output, show};
use crate::platform;

const LONGS: &[Long] = &[
    ("columns", Value::Required, 'c'),
    ("fillrows", Value::No, 'x'),
    ("help", Value::No, 'h'),
    ("keep-empty-lines", Value::No, 'L'),
    ("output-separator", Value::Required, 'o'),
    ("output-width", Value::Required, 'c'),
    ("separator", Value::Required, 's'),
    ("table", Value::No, 't'),
    ("table-columns", Value::Required, 'N'),
    ("table-noheadings", Value::No, 'd'),
    ("table-right", Value::Required, 'R'),
    ("version", Value::No, 'V'),
];

/// Runs column and gives its exit status.
pub fn run(arguments: &[Vec<u8>]) -> i32 {
    let parsed = match args::parse(arguments, "c:dhLlN:no:R:s:txV", LONGS, true) {
        Ok(parsed) => parsed,
        Err(message) => {
            eprintln!("column: {message}");
            return 1;
        }
    };
    let (mut table, mut rows, mut keep_empty, mut no_headings) = (false, false, false, false);
    let mut width = platform::terminal_width().unwrap_or(80);
    let (mut separators, mut between) = (None, "  ".to_string());
    let (mut names, mut right): (Option<String>, Vec<String>) = (None, Vec::new());
    for (letter, value) in parsed.options {
        let text = value.as_deref().map(show).unwrap_or_default();
        match letter {
            'c' => width = text.parse().unwrap_or(80),
            'd' => no_headings = true,
            'L' => keep_empty = true,
            'N' => names = Some(text),
            'o' => between = text,
            'R' => right = text.split(',').map(String::from).collect(),
            's' => separators = Some(text),
            't' => table = true,
            'x' => rows = true,
            'h' | 'V' => {
                println!("Usage: column [options] [<file>...]");
                return 0;
            }
            _ => {}
        }
    }
    let mut files = parsed.operands;
    if files.is_empty() {
        files.push(b"-".to_vec());
    }
    let mut lines: Vec<String> = Vec::new();
    let mut status = 0;
    for name in &files {
        match input::read(name) {
            Ok(text) => {
                let text = show(&text);
                lines.extend(text.lines().filter(|line| keep_empty || !line.trim().is_empty()).map(String::from));
            }
            Err(error) => {
                eprintln!("column: {}: {}", show(name), platform::message(&error));
                status = 1;
            }
        }
    }
    let mut out = Output::new("column", 1);
    if table {
        let headings = names.filter(|_| !no_headings);
        print_table(&lines, separators.as_deref(), &between, headings.as_deref(), &right, &mut out);
    } else {
        print_columns(&lines, width, rows, &mut out);
    }
    out.flush_all();
    status
}

/// Columns a text takes; East Asian wide characters two.
fn width_of(text: &str) -> usize {
    let wide = |c: char| matches!(c as u32, 0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0xfe30..=0xfe6f | 0xff00..=0xff60 | 0xffe0..=0xffe6 | 0x1f300..=0x1f64f | 0x1f900..=0x1f9ff | 0x20000..=0x3fffd);
    text.chars().map(|c| if wide(c) { 2 } else { 1 }).sum()
}

fn print_table(
    lines: &[String],
    separators: Option<&str>,
    between: &str,
    headings: Option<&str>,
    right: &[String],
    out: &mut Output,
) {
    let mut rows: Vec<Vec<String>> = Vec::new();
    if let Some(headings) = headings {
        rows.push(headings.split(',').map(String::from).collect());
    }
    for line in lines {
        rows.push(match separators {
            None => line.split_whitespace().map(String::from).collect(),
            // Each separator counts: there may be empty cells.
            Some(separators) => line.split(|c| separators.contains(c)).map(String::from).collect(),
        });
    }
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut widths = vec![0; columns];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(width_of(cell));
        }
    }
    let heading_names: Vec<&str> = headings.map(|names| names.split(',').collect()).unwrap_or_default();
    let is_right = |index: usize| {
        right.iter().any(|name| {
            name.parse() == Ok(index + 1)
                || heading_names.get(index) == Some(&name.as_str())
                || name == "-" && index + 1 == columns
        })
    };
    for row in &rows {
        let mut line = String::new();
        for index in 0..columns {
            let cell = row.get(index).map_or("", String::as_str);
            let fill = " ".repeat(widths[index] - width_of(cell));
            if is_right(index) {
                line.push_str(&fill);
                line.push_str(cell);
            } else {
                line.push_str(cell);
                // The last column is not filled.
                if index + 1 < columns {
                    line.push_str(&fill);
                }
            }
            if index + 1 < columns {
                line.push_str(between);
            }
        }
        if row.is_empty() {
            line.clear();
        }
        out.text(&line);
        out.put(b"\n");
    }
}

fn print_columns(lines: &[String], width: usize, rows: bool, out: &mut Output) {
    let longest = lines.iter().map(|line| width_of(line)).max().unwrap_or(0);
    // Columns begin at tab stops.
    let step = (longest / 8 + 1) * 8;
    let columns = (width / step).max(1);
    if columns == 1 || lines.is_empty() {
        for line in lines {
            out.text(line);
            out.put(b"\n");
        }
        return;
    }
    let height = lines.len().div_ceil(columns);
    for row in 0..height {
        let indexes: Vec<usize> = if rows {
            (row * columns..((row + 1) * columns).min(lines.len())).collect()
        } else {
            (0..columns).map(|column| column * height + row).filter(|index| *index < lines.len()).collect()
        };
        for (place, index) in indexes.iter().enumerate() {
            let line = &lines[*index];
            out.text(line);
            if place + 1 < indexes.len() {
                let mut at = width_of(line);
                while at < step {
                    out.put(b"\t");
                    at = (at / 8 + 1) * 8;
                }
            }
        }
        out.put(b"\n");
    }
}
