//! `patch`: applies what `diff` wrote.

use std::fs;
use std::io::Write;

use crate::args::{self, Long, Value};
use crate::input;
use crate::output::{Output, show};
use crate::platform;

const LONGS: &[Long] = &[
    ("backup", Value::No, 'b'),
    ("batch", Value::No, 't'),
    ("directory", Value::Required, 'd'),
    ("dry-run", Value::No, '\u{e000}'),
    ("force", Value::No, 'f'),
    ("forward", Value::No, 'N'),
    ("fuzz", Value::Required, 'F'),
    ("help", Value::No, 'h'),
    ("ignore-whitespace", Value::No, 'l'),
    ("input", Value::Required, 'i'),
    ("merge", Value::Optional, '\u{e001}'),
    ("no-backup-if-mismatch", Value::No, '\u{e002}'),
    ("output", Value::Required, 'o'),
    ("quiet", Value::No, 's'),
    ("reject-file", Value::Required, 'r'),
    ("remove-empty-files", Value::No, 'E'),
    ("reverse", Value::No, 'R'),
    ("silent", Value::No, 's'),
    ("strip", Value::Required, 'p'),
    ("suffix", Value::Required, 'z'),
    ("unified", Value::No, 'u'),
    ("verbose", Value::No, 'V'),
    ("version", Value::No, 'v'),
];

struct Config {
    strip: Option<usize>,
    reverse: bool,
    forward: bool,
    dry_run: bool,
    quiet: bool,
    force: bool,
    backup: bool,
    suffix: Vec<u8>,
    fuzz: usize,
    output: Option<Vec<u8>>,
    reject: Option<Vec<u8>>,
    remove_empty: bool,
    ignore_space: bool,
    directory: Vec<u8>,
    file: Option<Vec<u8>>,
    patch: Vec<u8>,
}

/// A change: lines of the old and the new text with context, and where they are thought to be.
#[derive(Clone, Default)]
struct Hunk {
    /// From 0.
    old_start: usize,
    new_start: usize,
    /// The marks ` `, `-` and `+` with the lines, their newlines with them.
    lines: Vec<(u8, Vec<u8>)>,
}

impl Hunk {
    fn side(&self, mark: u8) -> Vec<&[u8]> {
        self.lines.iter().filter(|(kind, _)| *kind == b' ' || *kind == mark).map(|(_, line)| line.as_slice()).collect()
    }

    fn leading(&self) -> usize {
        self.lines.iter().take_while(|(kind, _)| *kind == b' ').count()
    }

    fn trailing(&self) -> usize {
        self.lines.iter().rev().take_while(|(kind, _)| *kind == b' ').count()
    }

    fn reversed(&self) -> Self {
        let swap = |kind: u8| match kind {
            b'-' => b'+',
            b'+' => b'-',
            other => other,
        };
        let lines = self.lines.iter().map(|(kind, line)| (swap(*kind), line.clone())).collect();
        Self { old_start: self.new_start, new_start: self.old_start, lines }
    }
}

/// The changes of one file.
#[derive(Default)]
struct FilePatch {
    old: Option<Vec<u8>>,
    new: Option<Vec<u8>>,
    index: Option<Vec<u8>>,
    hunks: Vec<Hunk>,
}

/// Runs patch and gives its exit status: 0; 1 when hunks failed; 2 for trouble.
pub fn run(arguments: &[Vec<u8>]) -> i32 {
    let config = match parse_arguments(arguments) {
        Ok(Some(config)) => config,
        Ok(None) => return 0,
        Err(message) => {
            eprintln!("patch: **** {message}");
            return 2;
        }
    };
    let text = match input::read(&config.patch) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("patch: **** Can't open patch file {} : {}", show(&config.patch), platform::message(&error));
            return 2;
        }
    };
    let patches = parse_patch(&text);
    if patches.is_empty() {
        if !text.is_empty() {
            eprintln!("patch: **** Only garbage was found in the patch input.");
            return 2;
        }
        return 0;
    }
    let mut out = Output::new("patch", 2);
    let mut status = 0;
    for patch in &patches {
        match apply_file(&config, patch, &mut out) {
            Ok(failed) => status = status.max(i32::from(failed)),
            Err(message) => {
                out.flush_all();
                eprintln!("patch: **** {message}");
                return 2;
            }
        }
    }
    out.flush_all();
    status
}

fn parse_arguments(arguments: &[Vec<u8>]) -> Result<Option<Config>, String> {
    let parsed = args::parse(arguments, "bcd:D:eEfF:g:hi:lnNo:p:r:RstuvV:Y:z:Z", LONGS, true)?;
    let mut config = Config {
        strip: None,
        reverse: false,
        forward: false,
        dry_run: false,
        quiet: false,
        force: false,
        backup: false,
        suffix: b".orig".to_vec(),
        fuzz: 2,
        output: None,
        reject: None,
        remove_empty: false,
        ignore_space: false,
        directory: Vec::new(),
        file: None,
        patch: b"-".to_vec(),
    };
    for (letter, value) in parsed.options {
        let value = value.unwrap_or_default();
        let number = || args::number(&value).and_then(|number| usize::try_from(number).ok());
        match letter {
            'b' => config.backup = true,
            'd' => config.directory = value,
            'E' => config.remove_empty = true,
            'f' | 't' => config.force = true,
            'F' => config.fuzz = number().ok_or_else(|| format!("fuzz factor {} is not a number", show(&value)))?,
            'h' => {
                println!("Usage: patch [OPTION]... [ORIGFILE [PATCHFILE]]");
                return Ok(None);
            }
            'i' => config.patch = value,
            'l' => config.ignore_space = true,
            'N' => config.forward = true,
            'o' => config.output = Some(value),
            'p' => {
                config.strip = Some(number().ok_or_else(|| format!("strip count {} is not a number", show(&value)))?)
            }
            'r' => config.reject = Some(value),
            'R' => config.reverse = true,
            's' => config.quiet = true,
            'v' => {
                println!("GNU patch 2.7.6 compatible (wskill texttools)");
                return Ok(None);
            }
            'z' => config.suffix = value,
            '\u{e000}' => config.dry_run = true,
            _ => {}
        }
    }
    let mut operands = parsed.operands.into_iter();
    config.file = operands.next();
    if let Some(patch) = operands.next() {
        config.patch = patch;
    }
    Ok(Some(config))
}

/// The name in a header line: up to a tab, or to blanks before a date.
fn header_name(line: &[u8]) -> Vec<u8> {
    let line = line.trim_ascii_end();
    let end = memchr::memchr(b'\t', line).unwrap_or_else(|| {
        // `name 2024-01-01 …`
        line.windows(5)
            .position(|part| part[0] == b' ' && part[1..].iter().all(u8::is_ascii_digit))
            .unwrap_or(line.len())
    });
    let name = &line[..end];
    let quoted = name.len() >= 2 && name.starts_with(b"\"") && name.ends_with(b"\"");
    if quoted { name[1..name.len() - 1].to_vec() } else { name.to_vec() }
}

fn parse_patch(text: &[u8]) -> Vec<FilePatch> {
    let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    let mut patches: Vec<FilePatch> = Vec::new();
    let mut index = None;
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        let next = lines.get(at + 1).copied().unwrap_or_default();
        if let Some(name) = line.strip_prefix(b"Index: ") {
            index = Some(header_name(name));
            at += 1;
        } else if line.starts_with(b"--- ") && next.starts_with(b"+++ ") {
            let patch = FilePatch {
                old: Some(header_name(&line[4..])),
                new: Some(header_name(&next[4..])),
                index: index.take(),
                hunks: Vec::new(),
            };
            patches.push(patch);
            at += 2;
        } else if line.starts_with(b"*** ") && next.starts_with(b"--- ") && !line.starts_with(b"*** 0") {
            let patch = FilePatch {
                old: Some(header_name(&line[4..])),
                new: Some(header_name(&next[4..])),
                index: index.take(),
                hunks: Vec::new(),
            };
            patches.push(patch);
            at += 2;
        } else if line.starts_with(b"@@ -") {
            match parse_unified(&lines, &mut at) {
                Some(hunk) => current(&mut patches, &mut index).hunks.push(hunk),
                None => at += 1,
            }
        } else if line.starts_with(b"***************") {
            match parse_context(&lines, &mut at) {
                Some(hunk) => current(&mut patches, &mut index).hunks.push(hunk),
                None => at += 1,
            }
        } else if line.first().is_some_and(u8::is_ascii_digit) {
            match parse_normal(&lines, &mut at) {
                Some(hunk) => current(&mut patches, &mut index).hunks.push(hunk),
                None => at += 1,
            }
        } else {
            at += 1;
        }
    }
    patches.retain(|patch| !patch.hunks.is_empty());
    patches
}

fn current<'p>(patches: &'p mut Vec<FilePatch>, index: &mut Option<Vec<u8>>) -> &'p mut FilePatch {
    if patches.is_empty() || index.is_some() {
        patches.push(FilePatch { index: index.take(), ..FilePatch::default() });
    }
    let last = patches.len() - 1;
    &mut patches[last]
}

/// `3` or `3,4` as first line and count.
fn parse_range(text: &str, separator: char) -> Option<(usize, usize)> {
    match text.split_once(separator) {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}

fn parse_unified(lines: &[&[u8]], at: &mut usize) -> Option<Hunk> {
    let head = show(lines[*at]);
    let mut words = head.split_whitespace().skip(1);
    let (old_start, mut old_left) = parse_range(words.next()?.strip_prefix('-')?, ',')?;
    let (new_start, mut new_left) = parse_range(words.next()?.strip_prefix('+')?, ',')?;
    let from_zero = |start: usize, count: usize| if count == 0 { start } else { start.saturating_sub(1) };
    let mut hunk = Hunk {
        old_start: from_zero(old_start, old_left),
        new_start: from_zero(new_start, new_left),
        lines: Vec::new(),
    };
    *at += 1;
    while old_left > 0 || new_left > 0 {
        let line = lines.get(*at)?;
        let (mark, rest) = match line.first() {
            // Mailers cut the blank of an empty line.
            Some(b'\n') | None => (b' ', line.to_vec()),
            Some(mark) => (*mark, line[1..].to_vec()),
        };
        match mark {
            b' ' => {
                old_left = old_left.checked_sub(1)?;
                new_left = new_left.checked_sub(1)?;
            }
            b'-' => old_left = old_left.checked_sub(1)?,
            b'+' => new_left = new_left.checked_sub(1)?,
            b'\\' => {
                cut_newline(&mut hunk.lines);
                *at += 1;
                continue;
            }
            _ => return None,
        }
        hunk.lines.push((mark, rest));
        *at += 1;
    }
    if lines.get(*at).is_some_and(|line| line.starts_with(b"\\")) {
        cut_newline(&mut hunk.lines);
        *at += 1;
    }
    Some(hunk)
}

fn cut_newline(lines: &mut [(u8, Vec<u8>)]) {
    if let Some((_, last)) = lines.last_mut()
        && last.last() == Some(&b'\n')
    {
        last.pop();
    }
}

fn parse_context(lines: &[&[u8]], at: &mut usize) -> Option<Hunk> {
    let start = *at;
    let head = |line: &[u8], marks: char| -> Option<(usize, usize)> {
        let text = show(line);
        let range = text.trim().trim_matches(marks).trim().to_string();
        match range.split_once(',') {
            Some((first, last)) => Some((first.parse().ok()?, last.parse().ok()?)),
            None => range.parse().ok().map(|line: usize| (line, line)),
        }
    };
    let mut place = start + 1;
    let (old_first, old_last) = head(lines.get(place)?, '*')?;
    place += 1;
    let part = |place: &mut usize, first: usize, last: usize| {
        let mut part: Vec<(u8, Vec<u8>)> = Vec::new();
        let count = if last == 0 { 0 } else { last + 1 - first };
        while part.len() < count {
            match lines.get(*place) {
                Some(line) if line.len() >= 2 && matches!(line[0], b' ' | b'!' | b'-' | b'+') && line[1] == b' ' => {
                    if line.starts_with(b"--- ") && line.trim_ascii_end().ends_with(b"----") {
                        break;
                    }
                    part.push((line[0], line[2..].to_vec()));
                    *place += 1;
                }
                Some(line) if line.starts_with(b"\\") => {
                    cut_newline(&mut part);
                    *place += 1;
                }
                _ => break,
            }
        }
        if lines.get(*place).is_some_and(|line| line.starts_with(b"\\")) {
            cut_newline(&mut part);
            *place += 1;
        }
        part
    };
    let mut old = part(&mut place, old_first, old_last);
    let (new_first, new_last) = head(lines.get(place)?, '-')?;
    place += 1;
    let mut new = part(&mut place, new_first, new_last);
    // A side without changes is left out: it is the context of the other.
    if old.is_empty() {
        old = new.iter().filter(|(mark, _)| *mark == b' ').cloned().collect();
    }
    if new.is_empty() {
        new = old.iter().filter(|(mark, _)| *mark == b' ').cloned().collect();
    }
    let mut hunk =
        Hunk { old_start: old_first.saturating_sub(1), new_start: new_first.saturating_sub(1), lines: Vec::new() };
    let (mut i, mut j) = (0, 0);
    while i < old.len() || j < new.len() {
        if i < old.len() && old[i].0 != b' ' {
            hunk.lines.push((b'-', old[i].1.clone()));
            i += 1;
        } else if j < new.len() && new[j].0 != b' ' {
            hunk.lines.push((b'+', new[j].1.clone()));
            j += 1;
        } else {
            hunk.lines.push((b' ', old.get(i).or(new.get(j))?.1.clone()));
            i += 1;
            j += 1;
        }
    }
    *at = place;
    Some(hunk)
}

fn parse_normal(lines: &[&[u8]], at: &mut usize) -> Option<Hunk> {
    let head = show(lines[*at]);
    let head = head.trim();
    let letter = head.find(['a', 'c', 'd'])?;
    let range = |text: &str| -> Option<(usize, usize)> {
        let (first, last) = text.split_once(',').unwrap_or((text, text));
        Some((first.parse().ok()?, last.parse().ok()?))
    };
    let (old_first, _) = range(&head[..letter])?;
    let (new_first, _) = range(&head[letter + 1..])?;
    let kind = head.as_bytes()[letter];
    let mut hunk = Hunk {
        old_start: if kind == b'a' { old_first } else { old_first.saturating_sub(1) },
        new_start: if kind == b'd' { new_first } else { new_first.saturating_sub(1) },
        lines: Vec::new(),
    };
    *at += 1;
    while let Some(line) = lines.get(*at) {
        match line {
            [b'<', b' ', rest @ ..] => hunk.lines.push((b'-', rest.to_vec())),
            [b'>', b' ', rest @ ..] => hunk.lines.push((b'+', rest.to_vec())),
            [b'\\', ..] => cut_newline(&mut hunk.lines),
            _ if line.starts_with(b"---\n") && kind == b'c' => {}
            _ => break,
        }
        *at += 1;
    }
    (!hunk.lines.is_empty()).then_some(hunk)
}

/// A name without its first parts; `None` when it has fewer. Without a count only the last part counts.
fn stripped(name: &[u8], strip: Option<usize>) -> Option<Vec<u8>> {
    match strip {
        None => name.rsplit(|byte| *byte == b'/').next().map(<[u8]>::to_vec),
        Some(count) => {
            let mut rest = name;
            for _ in 0..count {
                let at = memchr::memchr(b'/', rest)?;
                rest = &rest[at..];
                while rest.first() == Some(&b'/') {
                    rest = &rest[1..];
                }
            }
            (!rest.is_empty()).then(|| rest.to_vec())
        }
    }
}

/// The file to change.
fn choose(config: &Config, patch: &FilePatch) -> Result<Vec<u8>, String> {
    if let Some(file) = &config.file {
        return Ok(in_directory(config, file));
    }
    let real = |name: &Option<Vec<u8>>| name.clone().filter(|name| name != b"/dev/null");
    let mut candidates: Vec<Vec<u8>> = Vec::new();
    for name in [real(&patch.old), real(&patch.new), real(&patch.index)].into_iter().flatten() {
        candidates.extend(stripped(&name, config.strip).map(|name| in_directory(config, &name)));
        // Without -p the whole name counts, too, when its directory is there.
        if config.strip.is_none() {
            candidates.insert(0, in_directory(config, &name));
        }
    }
    // An absolute name or one with `..` is not taken from a patch.
    candidates.retain(|name| !name.split(|byte| *byte == b'/').any(|part| part == b"..") && !name.starts_with(b"/"));
    // Of those that exist the one with the fewest parts, then the shortest last part, then the shortest.
    let rank = |name: &&Vec<u8>| {
        let base = name.rsplit(|byte| *byte == b'/').next().map_or(0, <[u8]>::len);
        (name.iter().filter(|byte| **byte == b'/').count(), base, name.len())
    };
    let existing = candidates.iter().filter(|name| platform::stat(name, true).is_ok()).min_by_key(rank);
    let creates =
        patch.old.as_deref() == Some(b"/dev/null") || patch.hunks.iter().all(|hunk| hunk.side(b'-').is_empty());
    match (existing, candidates.last()) {
        (Some(name), _) => Ok(name.clone()),
        (None, Some(name)) if creates || config.reverse => Ok(name.clone()),
        _ => Err("File to patch: skipped".into()),
    }
}

fn in_directory(config: &Config, name: &[u8]) -> Vec<u8> {
    if config.directory.is_empty() || name.starts_with(b"/") {
        return name.to_vec();
    }
    [config.directory.as_slice(), b"/", name].concat()
}

fn same_line(a: &[u8], b: &[u8], ignore_space: bool) -> bool {
    if !ignore_space {
        return a == b;
    }
    let words = |line: &[u8]| -> Vec<Vec<u8>> {
        line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).map(<[u8]>::to_vec).collect()
    };
    words(a) == words(b)
}

/// Where the old lines of a hunk are: the place nearest to the one it names, and the fuzz that was needed.
fn locate(lines: &[Vec<u8>], hunk: &Hunk, guess: isize, least: usize, config: &Config) -> Option<(usize, usize)> {
    let old = hunk.side(b'-');
    let context = hunk.leading().max(hunk.trailing());
    for fuzz in 0..=config.fuzz.min(context) {
        let (front, back) = (fuzz.min(hunk.leading()), fuzz.min(hunk.trailing()));
        if front + back > old.len() {
            break;
        }
        let wanted = &old[front..old.len() - back];
        if wanted.is_empty() && fuzz > 0 {
            break;
        }
        let fits = |at: isize| {
            let at = at + front as isize;
            if at < least as isize || at as usize + wanted.len() > lines.len() {
                return false;
            }
            let found = &lines[at as usize..at as usize + wanted.len()];
            found.iter().zip(wanted).all(|(line, wanted)| same_line(line, wanted, config.ignore_space))
        };
        let limit = lines.len() as isize + guess.abs() + 1;
        for distance in 0..=limit {
            for at in [guess + distance, guess - distance] {
                if fits(at) {
                    return usize::try_from(at + front as isize).ok().map(|place| (place - front.min(place), fuzz));
                }
                if distance == 0 {
                    break;
                }
            }
        }
    }
    None
}

fn apply_file(config: &Config, patch: &FilePatch, out: &mut Output) -> Result<bool, String> {
    let name = choose(config, patch)?;
    let text = match input::read(&name) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(format!("Can't open file {} : {}", show(&name), platform::message(&error))),
    };
    let existed = platform::stat(&name, true).ok();
    let mut hunks: Vec<Hunk> = patch.hunks.clone();
    if config.reverse {
        hunks = hunks.iter().map(Hunk::reversed).collect();
    }
    if !config.quiet {
        let verb = if config.dry_run { "checking" } else { "patching" };
        out.text(&format!("{verb} file {}\n", show(&name)));
    }
    let lines: Vec<Vec<u8>> = text.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    // A first hunk that fits reversed was applied before.
    if let Some(first) = hunks.first()
        && locate(&lines, first, first.old_start as isize, 0, config).is_none()
        && locate(&lines, &first.reversed(), first.new_start as isize, 0, config).is_some()
    {
        let kind = if config.reverse { "Unreversed" } else { "Reversed (or previously applied)" };
        if config.forward {
            out.text(&format!("{kind} patch detected!  Skipping patch.\n"));
            let count = hunks.len();
            let plural = if count == 1 { "" } else { "s" };
            out.text(&format!("{count} out of {count} hunk{plural} ignored"));
            reject(config, &name, &hunks, patch, out)?;
            return Ok(true);
        }
        if config.force {
            out.text(&format!("{kind} patch detected!  Assuming -R.\n"));
            hunks = hunks.iter().map(Hunk::reversed).collect();
        } else {
            // Nobody answers in a sandbox: as at the end of the input.
            out.text(&format!("{kind} patch detected!  Assume -R? [n] \nApply anyway? [n] \nSkipping patch.\n"));
            let count = hunks.len();
            let plural = if count == 1 { "" } else { "s" };
            out.text(&format!("{count} out of {count} hunk{plural} ignored"));
            reject(config, &name, &hunks, patch, out)?;
            return Ok(true);
        }
    }
    let mut result: Vec<Vec<u8>> = Vec::new();
    let mut taken = 0;
    let mut offset = 0isize;
    let mut failed = Vec::new();
    let mut fuzzy = false;
    for (index, hunk) in hunks.iter().enumerate() {
        let guess = hunk.old_start as isize + offset;
        let Some((place, fuzz)) = locate(&lines, hunk, guess, taken, config) else {
            let line = (hunk.old_start as isize + offset + 1).max(1);
            out.text(&format!("Hunk #{} FAILED at {line}.\n", index + 1));
            failed.push(hunk.clone());
            continue;
        };
        let moved = place as isize - hunk.old_start as isize;
        if (moved != 0 || fuzz > 0) && !config.quiet {
            let mut note = format!("Hunk #{} succeeded at {}", index + 1, place + 1);
            if fuzz > 0 {
                note.push_str(&format!(" with fuzz {fuzz}"));
            }
            if moved - offset != 0 || moved != 0 {
                let plural = if moved.abs() == 1 { "" } else { "s" };
                note.push_str(&format!(" (offset {moved} line{plural})"));
            }
            out.text(&format!("{note}.\n"));
        }
        fuzzy |= moved != 0 || fuzz > 0;
        offset = moved;
        result.extend_from_slice(&lines[taken.min(place)..place]);
        let mut at = place;
        for (kind, line) in &hunk.lines {
            match kind {
                // The file's own line stays, not the patch's context.
                b' ' => {
                    result.push(lines.get(at).cloned().unwrap_or_else(|| line.clone()));
                    at += 1;
                }
                b'-' => at += 1,
                _ => result.push(line.clone()),
            }
        }
        taken = at.min(lines.len());
    }
    result.extend_from_slice(&lines[taken..]);
    if !failed.is_empty() {
        let plural = if hunks.len() == 1 { "" } else { "s" };
        out.text(&format!("{} out of {} hunk{plural} FAILED", failed.len(), hunks.len()));
        reject(config, &name, &failed, patch, out)?;
    }
    if config.dry_run {
        return Ok(!failed.is_empty());
    }
    let write = |name: &[u8], bytes: &[u8]| {
        fs::write(platform::path(name), bytes)
            .map_err(|error| format!("Can't create file {} : {}", show(name), platform::message(&error)))
    };
    if (config.backup || !failed.is_empty() || fuzzy) && existed.is_some() {
        write(&[name.as_slice(), &config.suffix].concat(), &text)?;
    }
    let bytes = result.concat();
    let target = config.output.clone().unwrap_or_else(|| name.clone());
    if target == b"-" {
        out.put(&bytes);
        return Ok(!failed.is_empty());
    }
    let deleted = if config.reverse { &patch.old } else { &patch.new };
    let removes = deleted.as_deref() == Some(b"/dev/null") || config.remove_empty;
    if bytes.is_empty() && removes && failed.is_empty() && config.output.is_none() {
        return match fs::remove_file(platform::path(&name)) {
            Ok(()) => Ok(false),
            Err(error) => Err(format!("Can't remove file {} : {}", show(&name), platform::message(&error))),
        };
    }
    if let Some(at) = target.iter().rposition(|byte| *byte == b'/') {
        // A failure shows when the file is written.
        let _ = fs::create_dir_all(platform::path(&target[..at]));
    }
    write(&target, &bytes)?;
    if let Some(info) = existed {
        // The mode is a courtesy.
        let _ = platform::chmod(&target, info.mode & 0o7777);
    }
    Ok(!failed.is_empty())
}

/// Saves hunks that could not be applied, and ends the line that counts them.
fn reject(config: &Config, name: &[u8], hunks: &[Hunk], patch: &FilePatch, out: &mut Output) -> Result<(), String> {
    if config.dry_run {
        out.text("\n");
        return Ok(());
    }
    let target = config.reject.clone().unwrap_or_else(|| [name, b".rej"].concat());
    let old = patch.old.clone().unwrap_or_else(|| name.to_vec());
    let new = patch.new.clone().unwrap_or_else(|| name.to_vec());
    let mut text = format!("--- {}\n+++ {}\n", show(&old), show(&new)).into_bytes();
    for hunk in hunks {
        let range = |start: usize, count: usize| {
            let first = if count == 0 { start } else { start + 1 };
            if count == 1 { first.to_string() } else { format!("{first},{count}") }
        };
        let (old, new) = (hunk.side(b'-').len(), hunk.side(b'+').len());
        text.extend_from_slice(
            format!("@@ -{} +{} @@\n", range(hunk.old_start, old), range(hunk.new_start, new)).as_bytes(),
        );
        for (kind, line) in &hunk.lines {
            text.push(*kind);
            text.extend_from_slice(line);
            if line.last() != Some(&b'\n') {
                text.extend_from_slice(b"\n\\ No newline at end of file\n");
            }
        }
    }
    out.text(&format!(" -- saving rejects to file {}\n", show(&target)));
    fs::File::create(platform::path(&target))
        .and_then(|mut file| file.write_all(&text))
        .map_err(|error| format!("Can't create file {} : {}", show(&target), platform::message(&error)))
}
