//! `df`: the mounts that `/proc/mounts` lists.

use std::ffi::OsString;

use wskill_sys::fs::{self, StatVfs};

use super::opts::{Spec, Takes};
use super::say;
use super::text::{Unit, quote};

const DF: Spec = Spec {
    name: "df",
    usage: "df [OPTION]... [FILE]...",
    short: "aB:hHiklmPt:Tvx:",
    long: &[
        ("all", Takes::No, 'a'),
        ("block-size", Takes::Arg, 'B'),
        ("human-readable", Takes::No, 'h'),
        ("si", Takes::No, 'H'),
        ("inodes", Takes::No, 'i'),
        ("local", Takes::No, 'l'),
        ("no-sync", Takes::No, 'n'),
        ("output", Takes::Maybe, 'o'),
        ("portability", Takes::No, 'P'),
        ("print-type", Takes::No, 'T'),
        ("sync", Takes::No, 'y'),
        ("total", Takes::No, 'O'),
        ("type", Takes::Arg, 't'),
        ("exclude-type", Takes::Arg, 'x'),
    ],
    failure: 1,
};

struct Mount {
    source: String,
    target: String,
    kind: String,
}

struct Row {
    mount: Mount,
    st: StatVfs,
    file: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Source,
    Type,
    Size,
    Used,
    Avail,
    Percent,
    Inodes,
    InodesUsed,
    InodesFree,
    InodesPercent,
    File,
    Target,
}

const FIELDS: [(&str, Field); 12] = [
    ("source", Field::Source),
    ("fstype", Field::Type),
    ("itotal", Field::Inodes),
    ("iused", Field::InodesUsed),
    ("iavail", Field::InodesFree),
    ("ipcent", Field::InodesPercent),
    ("size", Field::Size),
    ("used", Field::Used),
    ("avail", Field::Avail),
    ("pcent", Field::Percent),
    ("file", Field::File),
    ("target", Field::Target),
];

fn mounts() -> Vec<Mount> {
    let text = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
    let mut list: Vec<Mount> = text
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ');
            let unescape = |w: &str| w.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\");
            let (source, target) = (unescape(words.next()?), unescape(words.next()?));
            Some(Mount { source, target, kind: words.next()?.to_owned() })
        })
        .collect();
    if list.is_empty() {
        list.push(Mount { source: "wskill".into(), target: "/".into(), kind: "wskill".into() });
    }
    list
}

/// `df`.
pub fn df(_: &str, args: Vec<OsString>) -> i32 {
    run(args).unwrap_or_else(|status| status)
}

fn run(args: Vec<OsString>) -> Result<i32, i32> {
    let parsed = DF.parse(args)?;
    let (mut unit, mut inodes, mut types, mut portable, mut total, mut all) =
        (Unit::Blocks(1024, ""), false, false, false, false, false);
    let mut fields: Option<Vec<Field>> = None;
    let (mut only, mut except) = (Vec::new(), Vec::new());
    for (option, value) in parsed.options {
        let text = value.to_string_lossy().into_owned();
        match option {
            'a' => all = true,
            'B' => {
                unit = Unit::parse(&text).ok_or_else(|| {
                    eprintln!("df: invalid --block-size argument {}", quote(&value));
                    1
                })?;
            }
            'h' => unit = Unit::Human { si: false },
            'H' => unit = Unit::Human { si: true },
            'i' => inodes = true,
            'k' => unit = Unit::Blocks(1024, ""),
            'm' => unit = Unit::Blocks(1 << 20, ""),
            'P' => portable = true,
            'T' => types = true,
            'O' => total = true,
            't' => only.push(text),
            'x' => except.push(text),
            'o' if text.is_empty() => fields = Some(FIELDS.iter().map(|f| f.1).collect()),
            'o' => {
                for word in text.split(',') {
                    let Some((_, field)) = FIELDS.iter().find(|f| f.0 == word) else {
                        eprintln!("df: option --output: field '{word}' unknown");
                        return Err(DF.try_help());
                    };
                    fields.get_or_insert_default().push(*field);
                }
            }
            _ => {}
        }
    }
    let fields = fields.unwrap_or_else(|| {
        let mut list = vec![Field::Source];
        if types {
            list.push(Field::Type);
        }
        list.extend(if inodes {
            [Field::Inodes, Field::InodesUsed, Field::InodesFree, Field::InodesPercent]
        } else {
            [Field::Size, Field::Used, Field::Avail, Field::Percent]
        });
        list.push(Field::Target);
        list
    });
    let mut status = 0;
    let mut rows = Vec::new();
    if parsed.operands.is_empty() {
        for mount in mounts() {
            if let Ok(st) = fs::statvfs(&mount.target)
                && (all || st.blocks > 0)
            {
                rows.push(Row { mount, st, file: "-".into() });
            }
        }
    }
    for operand in &parsed.operands {
        let found = fs::realpath(operand).and_then(|path| Ok((path, fs::statvfs(operand)?)));
        match found {
            Ok((path, st)) => {
                let best = mounts().into_iter().filter(|m| path.starts_with(&m.target)).max_by_key(|m| m.target.len());
                let mount = best.unwrap_or_else(|| Mount {
                    source: "wskill".into(),
                    target: "/".into(),
                    kind: "wskill".into(),
                });
                rows.push(Row { mount, st, file: operand.to_string_lossy().into_owned() });
            }
            Err(e) => {
                eprintln!("df: {}: {e}", super::text::in_message(operand));
                status = 1;
            }
        }
    }
    rows.retain(|r| (only.is_empty() || only.contains(&r.mount.kind)) && !except.contains(&r.mount.kind));
    if rows.is_empty() {
        if status == 0 {
            eprintln!("df: no file systems processed");
        }
        return Ok(1);
    }
    if total {
        let sum = |f: fn(&StatVfs) -> u64| rows.iter().map(|r| f(&r.st)).sum::<u64>();
        let st = StatVfs {
            block_size: 1,
            blocks: sum(|s| s.blocks * s.block_size),
            blocks_free: sum(|s| s.blocks_free * s.block_size),
            files: sum(|s| s.files),
            files_free: sum(|s| s.files_free),
            name_max: 0,
            read_only: false,
        };
        let mount = Mount { source: "total".into(), target: "-".into(), kind: "-".into() };
        rows.push(Row { mount, st, file: "-".into() });
    }
    print(&rows, &fields, unit, portable);
    Ok(status)
}

fn heading(field: Field, unit: Unit, portable: bool) -> String {
    match field {
        Field::Source => "Filesystem".into(),
        Field::Type => "Type".into(),
        Field::Size => match unit {
            Unit::Human { .. } => "Size".into(),
            Unit::Blocks(size, _) if portable => format!("{size}-blocks"),
            Unit::Blocks(size, _) => format!("{}-blocks", block_name(size)),
        },
        Field::Used => "Used".into(),
        Field::Avail => if matches!(unit, Unit::Human { .. }) && !portable { "Avail" } else { "Available" }.into(),
        Field::Percent => if portable { "Capacity" } else { "Use%" }.into(),
        Field::Inodes => "Inodes".into(),
        Field::InodesUsed => "IUsed".into(),
        Field::InodesFree => "IFree".into(),
        Field::InodesPercent => "IUse%".into(),
        Field::File => "File".into(),
        Field::Target => "Mounted on".into(),
    }
}

/// 1024 → "1K", 1048576 → "1M", 1000 → "1kB", 512 → "512B".
fn block_name(size: u64) -> String {
    for (base, tail) in [(1024u64, ""), (1000, "B")] {
        let mut unit = base;
        let mut best = None;
        for letter in ["K", "M", "G", "T", "P"] {
            if size.is_multiple_of(unit) {
                best = Some((unit, if base == 1000 && letter == "K" { "k" } else { letter }));
            }
            unit = unit.saturating_mul(base);
        }
        if let Some((unit, letter)) = best {
            return format!("{}{letter}{tail}", size / unit);
        }
    }
    format!("{size}B")
}

fn percent(used: u64, free: u64) -> String {
    let all = u128::from(used) + u128::from(free);
    if all == 0 { "-".into() } else { format!("{}%", (u128::from(used) * 100).div_ceil(all)) }
}

fn print(rows: &[Row], fields: &[Field], unit: Unit, portable: bool) {
    let mut table: Vec<Vec<String>> = vec![fields.iter().map(|f| heading(*f, unit, portable)).collect()];
    for row in rows {
        let st = &row.st;
        let used = st.blocks.saturating_sub(st.blocks_free);
        let inodes_used = st.files.saturating_sub(st.files_free);
        table.push(
            fields
                .iter()
                .map(|field| match field {
                    Field::Source => row.mount.source.clone(),
                    Field::Type => row.mount.kind.clone(),
                    Field::Size => unit.show(st.blocks.saturating_mul(st.block_size)),
                    Field::Used => unit.show(used.saturating_mul(st.block_size)),
                    Field::Avail => unit.show(st.blocks_free.saturating_mul(st.block_size)),
                    Field::Percent => percent(used, st.blocks_free),
                    Field::Inodes => st.files.to_string(),
                    Field::InodesUsed => inodes_used.to_string(),
                    Field::InodesFree => st.files_free.to_string(),
                    Field::InodesPercent => percent(inodes_used, st.files_free),
                    Field::File => row.file.clone(),
                    Field::Target => row.mount.target.clone(),
                })
                .collect(),
        );
    }
    let widths: Vec<usize> = (0..fields.len())
        .map(|column| {
            let widest = table.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
            match fields[column] {
                Field::Source => widest.max(14),
                Field::Size | Field::Used | Field::Avail | Field::Inodes | Field::InodesUsed | Field::InodesFree => {
                    widest.max(5)
                }
                _ => widest,
            }
        })
        .collect();
    for row in &table {
        let mut line = String::new();
        for (column, text) in row.iter().enumerate() {
            if column > 0 {
                line.push(' ');
            }
            let (width, last) = (widths[column], column + 1 == row.len());
            match fields[column] {
                Field::Source | Field::Type | Field::File | Field::Target if last => line.push_str(text),
                Field::Source | Field::Type | Field::File | Field::Target => line.push_str(&format!("{text:<width$}")),
                _ => line.push_str(&format!("{text:>width$}")),
            }
        }
        say(format_args!("{line}\n"));
    }
}
