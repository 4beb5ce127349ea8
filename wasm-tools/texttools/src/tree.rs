//! `tree`: directories as a tree.

use crate::args::{self, Long, Value};
use crate::glob;
use crate::output::{Output, show};
use crate::platform::{self, Metadata, mode};

const LONGS: &[Long] = &[
    ("charset", Value::Required, '\u{e000}'),
    ("dirsfirst", Value::No, '\u{e001}'),
    ("du", Value::No, '\u{e002}'),
    ("filelimit", Value::Required, '\u{e000}'),
    ("help", Value::No, 'H'),
    ("noreport", Value::No, '\u{e003}'),
    ("prune", Value::No, '\u{e004}'),
    ("sort", Value::Required, '\u{e000}'),
    ("version", Value::No, 'V'),
];

#[derive(Default)]
struct Config {
    all: bool,
    directories_only: bool,
    full_path: bool,
    level: Option<usize>,
    ignore: Vec<String>,
    only: Vec<String>,
    sizes: bool,
    human: bool,
    modes: bool,
    classify: bool,
    no_indent: bool,
    directories_first: bool,
    no_report: bool,
    prune: bool,
    reverse: bool,
    by_time: bool,
    quote: bool,
    ascii: bool,
}

struct Tree {
    config: Config,
    out: Output,
    directories: usize,
    files: usize,
    status: i32,
}

/// What is still to print: a line, and what is below it.
struct Pending {
    path: Vec<u8>,
    name: Vec<u8>,
    prefix: String,
    last: bool,
    depth: usize,
}

/// Runs tree and gives its exit status.
pub fn run(arguments: &[Vec<u8>]) -> i32 {
    let parsed = match args::parse(arguments, "aAcCdDfFghHiI:JL:lnNpP:qQrRsStuUvxo:", LONGS, true) {
        Ok(parsed) => parsed,
        Err(message) => {
            eprintln!("tree: {message}");
            return 1;
        }
    };
    let mut config = Config::default();
    for (letter, value) in parsed.options {
        let text = value.as_deref().map(show).unwrap_or_default();
        match letter {
            'a' => config.all = true,
            'd' => config.directories_only = true,
            'f' => config.full_path = true,
            'F' => config.classify = true,
            'h' => {
                config.sizes = true;
                config.human = true;
            }
            'i' => config.no_indent = true,
            'I' => config.ignore.extend(text.split('|').map(String::from)),
            'P' => config.only.extend(text.split('|').map(String::from)),
            'L' => match text.parse::<usize>() {
                Ok(level) if level > 0 => config.level = Some(level),
                _ => {
                    eprintln!("tree: Invalid level, must be greater than 0.");
                    return 1;
                }
            },
            'p' => config.modes = true,
            'Q' => config.quote = true,
            'r' => config.reverse = true,
            's' => config.sizes = true,
            't' => config.by_time = true,
            '\u{e000}' => config.ascii |= text == "ascii" || text == "ASCII",
            '\u{e001}' => config.directories_first = true,
            '\u{e003}' => config.no_report = true,
            '\u{e004}' => config.prune = true,
            'H' => {
                println!(
                    "usage: tree [-adfFhipQrst] [-L level] [-P pattern] [-I pattern] [--dirsfirst] [--noreport] [directory ...]"
                );
                return 0;
            }
            'V' => {
                println!("tree v2.1.0 compatible (wskill texttools)");
                return 0;
            }
            _ => {}
        }
    }
    let mut roots = parsed.operands;
    if roots.is_empty() {
        roots.push(b".".to_vec());
    }
    let mut tree = Tree { config, out: Output::new("tree", 1), directories: 0, files: 0, status: 0 };
    for root in &roots {
        tree.root(root);
    }
    if !tree.config.no_report {
        let plural = |count: usize, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
        let mut report = format!("\n{}", plural(tree.directories, "directory", "directories"));
        if !tree.config.directories_only {
            report.push_str(&format!(", {}", plural(tree.files, "file", "files")));
        }
        tree.out.text(&report);
        tree.out.put(b"\n");
    }
    tree.out.flush_all();
    tree.status
}

impl Tree {
    fn root(&mut self, root: &[u8]) {
        let shown = self.shown(root, platform::stat(root, true).ok().as_ref());
        self.out.text(&shown);
        if !platform::stat(root, true).is_ok_and(|info| info.is_dir()) {
            self.out.text("  [error opening dir]\n");
            self.status = 2;
            return;
        }
        self.out.put(b"\n");
        self.directories += 1;
        let mut pending = self.children(root, String::new(), 1);
        while let Some(item) = pending.pop() {
            let info = platform::stat(&item.path, false).ok();
            let is_dir = info.is_some_and(|info| info.is_dir());
            let (branch, below) = match (self.config.ascii, item.last) {
                (false, false) => ("├── ", "│\u{a0}\u{a0} "),
                (false, true) => ("└── ", "    "),
                (true, false) => ("|-- ", "|   "),
                (true, true) => ("`-- ", "    "),
            };
            if !self.config.no_indent {
                self.out.text(&format!("{}{branch}", item.prefix));
            }
            let name = if self.config.full_path { item.path.clone() } else { item.name.clone() };
            let mut shown = self.shown(&name, info.as_ref());
            if info.is_some_and(|info| info.kind() == mode::LINK) {
                let target = platform::read_link(&item.path).unwrap_or_default();
                shown.push_str(&format!(" -> {}", show(&target)));
            }
            self.out.text(&shown);
            self.out.put(b"\n");
            // A link counts as what it leads to.
            if platform::stat(&item.path, true).is_ok_and(|info| info.is_dir()) {
                self.directories += 1;
            } else {
                self.files += 1;
            }
            if is_dir && self.config.level.is_none_or(|level| item.depth < level) {
                let prefix = format!("{}{below}", item.prefix);
                pending.extend(self.children(&item.path, prefix, item.depth + 1));
            }
        }
    }

    /// A name with what the options put around it.
    fn shown(&self, name: &[u8], info: Option<&Metadata>) -> String {
        let mut fields = Vec::new();
        if let Some(info) = info {
            if self.config.modes {
                fields.push(info.mode_string());
            }
            if self.config.sizes {
                fields.push(if self.config.human { human(info.size) } else { format!("{:>11}", info.size) });
            }
        }
        let name = if self.config.quote { format!("\"{}\"", show(name)) } else { show(name) };
        let mark = match info {
            Some(info) if self.config.classify => match info.kind() {
                mode::DIRECTORY => "/",
                mode::LINK => "",
                mode::FIFO => "|",
                _ if info.mode & 0o111 != 0 => "*",
                _ => "",
            },
            _ => "",
        };
        if fields.is_empty() { format!("{name}{mark}") } else { format!("[{}]  {name}{mark}", fields.join(" ")) }
    }

    /// The entries of a directory, the first one last.
    fn children(&mut self, directory: &[u8], prefix: String, depth: usize) -> Vec<Pending> {
        let Ok(names) = platform::list(directory) else {
            self.status = 2;
            return Vec::new();
        };
        let matches = |patterns: &[String], name: &[u8]| {
            patterns.iter().any(|pattern| glob::matches(pattern.as_bytes(), name, glob::Options::default()))
        };
        let mut items: Vec<(Vec<u8>, Vec<u8>, Option<Metadata>)> = Vec::new();
        for name in names {
            let path = [directory.strip_suffix(b"/").unwrap_or(directory), b"/", &name].concat();
            let info = platform::stat(&path, false).ok();
            let is_dir = info.is_some_and(|info| info.is_dir());
            let hidden = name.starts_with(b".") && !self.config.all;
            let unwanted = matches(&self.config.ignore, &name)
                || !is_dir && !self.config.only.is_empty() && !matches(&self.config.only, &name)
                || !is_dir && self.config.directories_only;
            let empty = self.config.prune && is_dir && platform::list(&path).is_ok_and(|names| names.is_empty());
            if !hidden && !unwanted && !empty {
                items.push((path, name, info));
            }
        }
        let time = |info: &Option<Metadata>| info.map_or(0, |info| info.mtime);
        items.sort_by(|a, b| if self.config.by_time { time(&a.2).cmp(&time(&b.2)) } else { a.1.cmp(&b.1) });
        if self.config.reverse {
            items.reverse();
        }
        if self.config.directories_first {
            items.sort_by_key(|(_, _, info)| !info.is_some_and(|info| info.is_dir()));
        }
        let count = items.len();
        let mut pending: Vec<Pending> = items
            .into_iter()
            .enumerate()
            .map(|(index, (path, name, _))| Pending {
                path,
                name,
                prefix: prefix.clone(),
                last: index + 1 == count,
                depth,
            })
            .collect();
        pending.reverse();
        pending
    }
}

fn human(size: u64) -> String {
    if size < 1024 {
        return format!("{size:>4}");
    }
    let mut value = size as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit < 6 {
        value /= 1024.0;
        unit += 1;
    }
    let letter = b" KMGTPE"[unit] as char;
    if value < 10.0 { format!("{value:>3.1}{letter}") } else { format!("{value:>3.0}{letter}") }
}
