//! `find`: walks directories and evaluates an expression for every file.

mod expression;
mod printf;
mod time;
mod users;

use std::fs::File;
use std::io::{self, BufWriter, Write};

use crate::glob;
use crate::output::{Output, show};
use crate::platform::{self, Metadata, mode};

use expression::{Compare, Expression, Node, Permission, Place, Time};
use printf::Owners;
use users::Names;

pub use time::{list_date, parse_date};
pub use users::Names as UserNames;

/// Bytes of arguments after which `-exec … +` runs its command.
const BATCH_BYTES: usize = 128 << 10;

/// A file found.
pub struct Entry<'a> {
    /// With the starting point in front.
    pub path: &'a [u8],
    /// The starting point.
    pub start: &'a [u8],
    /// Directories below the starting point.
    pub depth: usize,
    /// What `stat` or `lstat` says.
    pub info: Metadata,
}

impl Entry<'_> {
    /// The last part of the path.
    pub fn name(&self) -> &[u8] {
        let end = self.path.iter().rposition(|byte| *byte != b'/').map_or(self.path.len().min(1), |at| at + 1);
        let path = &self.path[..end];
        path.iter().rposition(|byte| *byte == b'/').filter(|at| at + 1 < path.len()).map_or(path, |at| &path[at + 1..])
    }

    /// What a symbolic link says; empty for others.
    pub fn link_target(&self) -> Vec<u8> {
        if self.info.kind() == mode::LINK { platform::read_link(self.path).unwrap_or_default() } else { Vec::new() }
    }

    /// The file behind a link.
    pub fn followed(&self) -> Option<Metadata> {
        platform::stat(self.path, true).ok()
    }
}

/// When links are followed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Links {
    /// `-P`
    Never,
    /// `-H`
    StartingPoints,
    /// `-L`
    Always,
}

struct Find {
    expression: Expression,
    links: Links,
    out: Output,
    files: Vec<BufWriter<File>>,
    batches: Vec<Batch>,
    owners: Owners,
    /// Nanoseconds since 1970.
    now: i64,
    status: i32,
    quit: bool,
}

/// Arguments that wait for `-exec … +`.
#[derive(Default)]
struct Batch {
    directory: Option<Vec<u8>>,
    names: Vec<Vec<u8>>,
    bytes: usize,
}

/// Runs find and gives its exit status.
pub fn run(args: &[Vec<u8>]) -> i32 {
    let mut links = Links::Never;
    let mut at = 0;
    while let Some(word) = args.get(at) {
        match word.as_slice() {
            b"-P" => links = Links::Never,
            b"-H" => links = Links::StartingPoints,
            b"-L" => links = Links::Always,
            b"--version" | b"-version" => {
                println!("find (GNU findutils) 4.9.0 compatible (wskill texttools)");
                return 0;
            }
            b"--help" | b"-help" => {
                println!("Usage: find [-H] [-L] [-P] [path...] [expression]");
                return 0;
            }
            b"-D" => at += 1,
            word if word.starts_with(b"-O") => {}
            _ => break,
        }
        at += 1;
    }
    let rest = &args[at.min(args.len())..];
    let begins_expression = |word: &Vec<u8>| {
        word.starts_with(b"-") && word.len() > 1 || matches!(word.as_slice(), b"(" | b"!" | b")" | b",")
    };
    let split = rest.iter().position(begins_expression).unwrap_or(rest.len());
    let (paths, words) = rest.split_at(split);
    let now = wskill_time::now();
    let expression = match expression::parse(words, now) {
        Ok(expression) => expression,
        Err(message) => {
            eprintln!("find: {message}");
            return 1;
        }
    };
    if expression.follow {
        links = Links::Always;
    }
    let mut files = Vec::new();
    for name in &expression.files {
        match File::create(platform::path(name)) {
            Ok(file) => files.push(BufWriter::new(file)),
            Err(error) => {
                eprintln!("find: \u{2018}{}\u{2019}: {}", show(name), platform::message(&error));
                return 1;
            }
        }
    }
    let batches = (0..expression.batches).map(|_| Batch::default()).collect();
    let mut find = Find {
        expression,
        links,
        out: Output::new("find", 1),
        files,
        batches,
        owners: Owners { users: Names::users(), groups: Names::groups() },
        now: now.saturating_mul(1_000_000_000),
        status: 0,
        quit: false,
    };
    let here = [b".".to_vec()];
    for path in if paths.is_empty() { &here } else { paths } {
        find.walk(path);
        if find.quit {
            break;
        }
    }
    find.finish()
}

/// A step of the walk: the stack holds what is still to do.
enum Step {
    /// Look at a file.
    Visit(Vec<u8>, usize),
    /// Evaluate a directory after what is in it.
    Leave(Vec<u8>, usize, Metadata),
}

impl Find {
    fn complain(&mut self, path: &[u8], error: &io::Error) {
        self.out.flush_all();
        eprintln!("find: \u{2018}{}\u{2019}: {}", show(path), platform::message(error));
        self.status = 1;
    }

    fn stat(&self, path: &[u8], depth: usize) -> io::Result<Metadata> {
        let follow = self.links == Links::Always || self.links == Links::StartingPoints && depth == 0;
        match platform::stat(path, follow) {
            // A link that leads nowhere is still a file.
            Err(_) if follow => platform::stat(path, false),
            result => result,
        }
    }

    fn walk(&mut self, start: &[u8]) {
        let mut steps = vec![Step::Visit(start.to_vec(), 0)];
        // Directories above the one at hand, for loops of links.
        let mut above: Vec<(u64, u64)> = Vec::new();
        let mut device = None;
        while let Some(step) = steps.pop() {
            if self.quit {
                return;
            }
            let (path, depth) = match step {
                Step::Leave(path, depth, info) => {
                    self.visit(&Entry { path: &path, start, depth, info });
                    continue;
                }
                Step::Visit(path, depth) => (path, depth),
            };
            let info = match self.stat(&path, depth) {
                Ok(info) => info,
                Err(error) => {
                    self.complain(&path, &error);
                    continue;
                }
            };
            let mut enter = info.is_dir() && depth < self.expression.max_depth;
            if enter && self.expression.one_device {
                enter = *device.get_or_insert(info.dev) == info.dev;
            }
            above.truncate(depth);
            if enter && self.links == Links::Always && above.contains(&(info.dev, info.ino)) {
                self.out.flush_all();
                eprintln!(
                    "find: File system loop detected; \u{2018}{}\u{2019} is part of the same file system loop as an ancestor.",
                    show(&path)
                );
                self.status = 1;
                continue;
            }
            above.push((info.dev, info.ino));
            let depth_first = self.expression.depth_first;
            let mut pruned = false;
            if !(enter && depth_first) {
                pruned = self.visit(&Entry { path: &path, start, depth, info });
            }
            if !enter || pruned || self.quit {
                continue;
            }
            let mut names = match platform::list(&path) {
                Ok(names) => names,
                Err(error) => {
                    self.complain(&path, &error);
                    Vec::new()
                }
            };
            names.sort_unstable_by(|a, b| b.cmp(a));
            if depth_first {
                steps.push(Step::Leave(path.clone(), depth, info));
            }
            for name in names {
                let mut child = path.clone();
                if !child.ends_with(b"/") {
                    child.push(b'/');
                }
                child.extend_from_slice(&name);
                steps.push(Step::Visit(child, depth + 1));
            }
        }
    }

    /// Evaluates the expression; whether the directory is pruned.
    fn visit(&mut self, entry: &Entry<'_>) -> bool {
        if entry.depth < self.expression.min_depth {
            return false;
        }
        let mut pruned = false;
        // The tree is taken out while it is walked, as actions change the rest.
        let root = std::mem::replace(&mut self.expression.root, Node::True);
        self.evaluate(&root, entry, &mut pruned);
        self.expression.root = root;
        pruned
    }

    fn evaluate(&mut self, node: &Node, entry: &Entry<'_>, pruned: &mut bool) -> bool {
        if self.quit {
            return false;
        }
        let info = &entry.info;
        match node {
            Node::True => true,
            Node::False => false,
            Node::And(parts) => parts.iter().all(|part| self.evaluate(part, entry, pruned)),
            Node::Or(parts) => parts.iter().any(|part| self.evaluate(part, entry, pruned)),
            Node::Comma(parts) => parts.iter().fold(true, |_, part| self.evaluate(part, entry, pruned)),
            Node::Not(part) => !self.evaluate(part, entry, pruned),
            Node::Name(pattern, ignore_case) => {
                glob::matches(pattern, entry.name(), glob::Options { ignore_case: *ignore_case, keep_slash: false })
            }
            Node::Path(pattern, ignore_case) => {
                glob::matches(pattern, entry.path, glob::Options { ignore_case: *ignore_case, keep_slash: false })
            }
            Node::LinkName(pattern, ignore_case) => {
                let options = glob::Options { ignore_case: *ignore_case, keep_slash: false };
                info.kind() == mode::LINK && glob::matches(pattern, &entry.link_target(), options)
            }
            Node::Regex(regex) => regex.is_match(entry.path),
            Node::Type(kinds) => kinds.contains(&info.kind()),
            Node::XType(kinds) => {
                let followed =
                    if self.links == Links::Always { platform::stat(entry.path, false).ok() } else { entry.followed() };
                kinds.contains(&followed.unwrap_or(*info).kind())
            }
            Node::Size(compare, unit) => compare.fits(info.size.div_ceil(*unit) as i64),
            Node::Age(time, compare, unit) => self.age_fits(time_of(info, *time), *compare, *unit),
            Node::Newer(time, than) => time_of(info, *time) > *than,
            Node::Permission(permission) => {
                let bits = info.mode & 0o7777;
                match *permission {
                    Permission::Exactly(wanted) => bits == wanted,
                    Permission::All(wanted) => bits & wanted == wanted,
                    Permission::Any(wanted) => wanted == 0 || bits & wanted != 0,
                }
            }
            Node::User(id) => info.uid == *id,
            Node::Group(id) => info.gid == *id,
            Node::NoUser => self.owners.users.name(info.uid).is_none(),
            Node::NoGroup => self.owners.groups.name(info.gid).is_none(),
            Node::Uid(compare) => compare.fits(i64::from(info.uid)),
            Node::Gid(compare) => compare.fits(i64::from(info.gid)),
            Node::Links(compare) => compare.fits(info.nlink as i64),
            Node::Inode(compare) => compare.fits(info.ino as i64),
            Node::SameFile(dev, ino) => (info.dev, info.ino) == (*dev, *ino),
            Node::Empty => match info.kind() {
                mode::FILE => info.size == 0,
                mode::DIRECTORY => platform::list(entry.path).is_ok_and(|names| names.is_empty()),
                _ => false,
            },
            // The guest is root: what has any right bit is accessible, and x wants one.
            Node::Access(1) => info.mode & 0o111 != 0 || info.is_dir(),
            Node::Access(_) => true,
            Node::Prune => {
                *pruned = true;
                true
            }
            Node::Quit => {
                self.quit = true;
                true
            }
            _ => self.act(node, entry),
        }
    }

    fn age_fits(&self, time: i64, compare: Compare, unit: i64) -> bool {
        let age = self.now - time;
        let unit = unit * 1_000_000_000;
        if unit > 60_000_000_000 {
            return compare.fits(age.div_euclid(unit));
        }
        // Minutes are compared as they are, days as whole ones.
        match compare {
            Compare::More(count) => age > count * unit,
            Compare::Less(count) => age < count * unit,
            Compare::Equal(count) => age > (count - 1) * unit && age <= count * unit,
        }
    }

    fn write(&mut self, place: Place, bytes: &[u8]) {
        let Some(file) = place.and_then(|index| self.files.get_mut(index)) else { return self.out.put(bytes) };
        if let Err(error) = file.write_all(bytes) {
            eprintln!("find: write error: {}", platform::message(&error));
            self.status = 1;
        }
    }

    fn act(&mut self, node: &Node, entry: &Entry<'_>) -> bool {
        match node {
            Node::Print(place) | Node::Print0(place) => {
                let end: &[u8] = if matches!(node, Node::Print(_)) { b"\n" } else { b"\0" };
                self.write(*place, entry.path);
                self.write(*place, end);
                true
            }
            Node::Printf(parts, place) => {
                let mut text = Vec::new();
                printf::format(parts, entry, &mut self.owners, &mut text);
                self.write(*place, &text);
                true
            }
            Node::List(place) => {
                let line = self.list_line(entry);
                self.write(*place, &line);
                true
            }
            Node::Exec(words, in_directory, asks) => self.exec(words, *in_directory, *asks, entry),
            Node::ExecBatch(words, in_directory, batch) => {
                self.add_to_batch(words, *in_directory, *batch, entry);
                true
            }
            Node::Delete => {
                if entry.path == b"." {
                    return true;
                }
                let path = platform::path(entry.path);
                let done = if entry.info.is_dir() { std::fs::remove_dir(path) } else { std::fs::remove_file(path) };
                match done {
                    Ok(()) => true,
                    Err(error) => {
                        self.out.flush_all();
                        eprintln!(
                            "find: cannot delete \u{2018}{}\u{2019}: {}",
                            show(entry.path),
                            platform::message(&error)
                        );
                        self.status = 1;
                        false
                    }
                }
            }
            _ => false,
        }
    }

    fn list_line(&mut self, entry: &Entry<'_>) -> Vec<u8> {
        let info = &entry.info;
        let mut line = format!(
            "{:>9} {:>6} {} {:>3} {:<8} {:<8} {:>8} {} ",
            info.ino,
            info.blocks.div_ceil(2),
            info.mode_string(),
            info.nlink,
            self.owners.users.shown(info.uid),
            self.owners.groups.shown(info.gid),
            info.size,
            list_date(info.mtime.div_euclid(1_000_000_000), self.now / 1_000_000_000),
        )
        .into_bytes();
        line.extend_from_slice(entry.path);
        if info.kind() == mode::LINK {
            line.extend_from_slice(b" -> ");
            line.extend_from_slice(&entry.link_target());
        }
        line.push(b'\n');
        line
    }

    /// The directory of a file and its name there, `./name`.
    fn in_directory(entry: &Entry<'_>) -> (Vec<u8>, Vec<u8>) {
        let trimmed = entry.path.strip_suffix(b"/").filter(|rest| !rest.is_empty()).unwrap_or(entry.path);
        let (directory, name) = match trimmed.iter().rposition(|byte| *byte == b'/') {
            Some(0) => (b"/".to_vec(), &trimmed[1..]),
            Some(at) => (trimmed[..at].to_vec(), &trimmed[at + 1..]),
            None => (b".".to_vec(), trimmed),
        };
        (directory, [b"./", name].concat())
    }

    fn exec(&mut self, words: &[Vec<u8>], in_directory: bool, asks: bool, entry: &Entry<'_>) -> bool {
        let (directory, name) = if in_directory {
            let (directory, name) = Self::in_directory(entry);
            (Some(directory), name)
        } else {
            (None, entry.path.to_vec())
        };
        let argv: Vec<Vec<u8>> = words.iter().map(|word| replace_all(word, &name)).collect();
        if asks && !self.confirm(&argv) {
            return false;
        }
        self.spawn(&argv, directory.as_deref()) == Some(0)
    }

    fn confirm(&mut self, argv: &[Vec<u8>]) -> bool {
        self.out.flush_all();
        eprint!("< {} ... {} > ? ", show(&argv[0]), show(argv.last().unwrap_or(&argv[0])));
        let mut answer = String::new();
        io::stdin().read_line(&mut answer).is_ok() && answer.trim_start().starts_with(['y', 'Y'])
    }

    /// Runs a command and gives its status.
    fn spawn(&mut self, argv: &[Vec<u8>], directory: Option<&[u8]>) -> Option<i32> {
        self.out.flush_all();
        let mut command = platform::Command::new(argv);
        command.directory = directory;
        match command.spawn().and_then(|mut child| child.wait()) {
            Ok(status) => Some(status.code()),
            Err(error) => {
                eprintln!("find: \u{2018}{}\u{2019}: {}", show(&argv[0]), platform::message(&error));
                None
            }
        }
    }

    fn add_to_batch(&mut self, words: &[Vec<u8>], in_directory: bool, index: usize, entry: &Entry<'_>) {
        let (directory, name) = if in_directory {
            let (directory, name) = Self::in_directory(entry);
            (Some(directory), name)
        } else {
            (None, entry.path.to_vec())
        };
        let batch = &self.batches[index];
        if !batch.names.is_empty() && (batch.directory != directory || batch.bytes + name.len() > BATCH_BYTES) {
            self.run_batch(words, index);
        }
        let batch = &mut self.batches[index];
        batch.directory = directory;
        batch.bytes += name.len() + 1;
        batch.names.push(name);
    }

    fn run_batch(&mut self, words: &[Vec<u8>], index: usize) {
        let batch = std::mem::take(&mut self.batches[index]);
        if batch.names.is_empty() {
            return;
        }
        let mut argv = words.to_vec();
        argv.extend(batch.names);
        if self.spawn(&argv, batch.directory.as_deref()) != Some(0) {
            self.status = 1;
        }
    }

    fn run_batches(&mut self, node: &Node) {
        match node {
            Node::And(parts) | Node::Or(parts) | Node::Comma(parts) => {
                parts.iter().for_each(|part| self.run_batches(part))
            }
            Node::Not(part) => self.run_batches(part),
            Node::ExecBatch(words, _, index) => self.run_batch(words, *index),
            _ => {}
        }
    }

    fn finish(mut self) -> i32 {
        let root = std::mem::replace(&mut self.expression.root, Node::True);
        self.run_batches(&root);
        for file in &mut self.files {
            if let Err(error) = file.flush() {
                eprintln!("find: write error: {}", platform::message(&error));
                self.status = 1;
            }
        }
        self.out.flush_all();
        self.status
    }
}

fn time_of(info: &Metadata, time: Time) -> i64 {
    match time {
        Time::Access => info.atime,
        Time::Change => info.ctime,
        Time::Modification => info.mtime,
    }
}

fn replace_all(word: &[u8], name: &[u8]) -> Vec<u8> {
    let mut result = Vec::new();
    let mut rest = word;
    while let Some(at) = memchr::memmem::find(rest, b"{}") {
        result.extend_from_slice(&rest[..at]);
        result.extend_from_slice(name);
        rest = &rest[at + 2..];
    }
    result.extend_from_slice(rest);
    result
}
