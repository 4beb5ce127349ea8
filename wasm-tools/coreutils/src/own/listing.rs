//! The order and the layout of names that `ls` prints.

use std::cmp::Ordering;

/// GNU's version order ("file9" before "file10"), as `ls -v` and `sort -V` have it.
pub fn version_cmp(a: &[u8], b: &[u8]) -> Ordering {
    if a == b {
        return Ordering::Equal;
    }
    // "" < "." < ".." < other hidden names < the rest.
    for special in [&b""[..], b".", b".."] {
        if a == special {
            return Ordering::Less;
        }
        if b == special {
            return Ordering::Greater;
        }
    }
    match (a.starts_with(b"."), b.starts_with(b".")) {
        (true, false) => return Ordering::Less,
        (false, true) => return Ordering::Greater,
        _ => {}
    }
    let (stem_a, stem_b) = (&a[..stem(a)], &b[..stem(b)]);
    verrevcmp(stem_a, stem_b).then_with(|| verrevcmp(a, b)).then_with(|| a.cmp(b))
}

/// The length of a name without its extensions: `(\.[A-Za-z~][A-Za-z0-9~]*)*$`.
fn stem(name: &[u8]) -> usize {
    let mut end = 0;
    let mut at = 0;
    while at < name.len() {
        at += 1;
        end = at;
        while at + 1 < name.len() && name[at] == b'.' && (name[at + 1].is_ascii_alphabetic() || name[at + 1] == b'~') {
            at += 2;
            while at < name.len() && (name[at].is_ascii_alphanumeric() || name[at] == b'~') {
                at += 1;
            }
        }
    }
    end
}

fn weight(c: Option<u8>) -> i32 {
    match c {
        None => -1,
        Some(b'~') => -2,
        Some(c) if c.is_ascii_digit() => 0,
        Some(c) if c.is_ascii_alphabetic() => i32::from(c),
        Some(c) => i32::from(c) + 256,
    }
}

fn verrevcmp(a: &[u8], b: &[u8]) -> Ordering {
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let mut first = Ordering::Equal;
        while (i < a.len() && !a[i].is_ascii_digit()) || (j < b.len() && !b[j].is_ascii_digit()) {
            let (x, y) = (a.get(i).copied(), b.get(j).copied());
            match weight(x).cmp(&weight(y)) {
                Ordering::Equal => {}
                other => return other,
            }
            i += 1;
            j += 1;
        }
        while a.get(i) == Some(&b'0') {
            i += 1;
        }
        while b.get(j) == Some(&b'0') {
            j += 1;
        }
        while i < a.len() && a[i].is_ascii_digit() && j < b.len() && b[j].is_ascii_digit() {
            first = first.then(a[i].cmp(&b[j]));
            i += 1;
            j += 1;
        }
        if i < a.len() && a[i].is_ascii_digit() {
            return Ordering::Greater;
        }
        if j < b.len() && b[j].is_ascii_digit() {
            return Ordering::Less;
        }
        if first != Ordering::Equal {
            return first;
        }
    }
    Ordering::Equal
}

/// How names are laid out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// One a line.
    Lines,
    /// Down, then across.
    Columns,
    /// Across, then down.
    Across,
    /// "a, b, c".
    Commas,
}

/// Lays out cells (text and its width on the screen) within `width` columns; `tab` is the tab stop, 0 for none.
pub fn lay_out(out: &mut Vec<u8>, cells: &[(Vec<u8>, usize)], layout: Layout, width: usize, tab: usize, end: u8) {
    match layout {
        Layout::Lines => {
            for (text, _) in cells {
                out.extend_from_slice(text);
                out.push(end);
            }
        }
        Layout::Commas => {
            let mut at = 0;
            for (index, (text, length)) in cells.iter().enumerate() {
                if index > 0 {
                    if width == 0 || at + length + 2 < width {
                        out.extend_from_slice(b", ");
                        at += 2;
                    } else {
                        out.extend_from_slice(b",\n");
                        at = 0;
                    }
                }
                out.extend_from_slice(text);
                at += length;
            }
            if !cells.is_empty() {
                out.push(end);
            }
        }
        Layout::Columns | Layout::Across => columns(out, cells, layout, width, tab),
    }
}

fn columns(out: &mut Vec<u8>, cells: &[(Vec<u8>, usize)], layout: Layout, width: usize, tab: usize) {
    if cells.is_empty() {
        return;
    }
    let most = if width == 0 { cells.len() } else { (width / 3).max(1).min(cells.len()) };
    let fit = (1..=most).rev().find_map(|count| {
        let rows = cells.len().div_ceil(count);
        let mut widths = vec![0usize; count];
        for (index, (_, length)) in cells.iter().enumerate() {
            let column = if layout == Layout::Columns { index / rows } else { index % count };
            let gap = if column + 1 == count { 0 } else { 2 };
            widths[column] = widths[column].max(length + gap);
        }
        let total: usize = widths.iter().sum();
        (count == 1 || width == 0 || total < width).then_some((rows, widths))
    });
    let Some((rows, widths)) = fit else { return };
    for row in 0..rows {
        let mut at = 0;
        let mut start = 0;
        for (column, column_width) in widths.iter().enumerate() {
            let index = if layout == Layout::Columns { column * rows + row } else { row * widths.len() + column };
            let Some((text, length)) = cells.get(index) else { break };
            indent(out, at, start, tab);
            out.extend_from_slice(text);
            at = start + length;
            start += column_width;
        }
        out.push(b'\n');
    }
}

/// Moves from column `from` to column `to` with tabs where they reach.
fn indent(out: &mut Vec<u8>, mut from: usize, to: usize, tab: usize) {
    while from < to {
        if tab != 0 && to / tab > (from + 1) / tab {
            out.push(b'\t');
            from += tab - from % tab;
        } else {
            out.push(b' ');
            from += 1;
        }
    }
}
