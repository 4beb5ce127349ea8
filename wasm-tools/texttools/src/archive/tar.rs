//! `tar`: archives of files.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};

use tar::{Archive, EntryType, Header};
use wskill_time as time;

use super::codec::{Encoder, Format};
use super::{parent, safe_name};
use crate::args::{self, Long, Value};
use crate::find::{UserNames, parse_date};
use crate::glob;
use crate::input;
use crate::output::{Output, show};
use crate::platform::{self, Metadata, mode};
use crate::sed::Transform;

/// A block of the format.
const BLOCK: usize = 512;
/// Archives are filled up to a multiple of this, as GNU does.
const RECORD: u64 = 10_240;

const LONGS: &[Long] = &[
    ("absolute-names", Value::No, 'P'),
    ("append", Value::No, 'r'),
    ("auto-compress", Value::No, 'a'),
    ("bzip2", Value::No, 'j'),
    ("catenate", Value::No, 'A'),
    ("create", Value::No, 'c'),
    ("delete", Value::No, '\u{e000}'),
    ("dereference", Value::No, 'h'),
    ("diff", Value::No, 'd'),
    ("directory", Value::Required, 'C'),
    ("exclude", Value::Required, '\u{e001}'),
    ("exclude-from", Value::Required, 'X'),
    ("exclude-vcs", Value::No, '\u{e002}'),
    ("extract", Value::No, 'x'),
    ("file", Value::Required, 'f'),
    ("files-from", Value::Required, 'T'),
    ("force-local", Value::No, '\u{e0ff}'),
    ("format", Value::Required, 'H'),
    ("get", Value::No, 'x'),
    ("group", Value::Required, '\u{e003}'),
    ("gunzip", Value::No, 'z'),
    ("gzip", Value::No, 'z'),
    ("help", Value::No, '\u{e004}'),
    ("ignore-case", Value::No, '\u{e005}'),
    ("keep-newer-files", Value::No, '\u{e006}'),
    ("keep-old-files", Value::No, 'k'),
    ("list", Value::No, 't'),
    ("lzma", Value::No, '\u{e007}'),
    ("mode", Value::Required, '\u{e008}'),
    ("mtime", Value::Required, '\u{e009}'),
    ("no-recursion", Value::No, '\u{e00a}'),
    ("no-same-owner", Value::No, 'o'),
    ("no-same-permissions", Value::No, '\u{e0ff}'),
    ("no-wildcards", Value::No, '\u{e00b}'),
    ("null", Value::No, '\u{e00c}'),
    ("numeric-owner", Value::No, '\u{e00d}'),
    ("one-file-system", Value::No, '\u{e0ff}'),
    ("one-top-level", Value::Optional, '\u{e00e}'),
    ("overwrite", Value::No, '\u{e0ff}'),
    ("owner", Value::Required, '\u{e00f}'),
    ("posix", Value::No, '\u{e0ff}'),
    ("preserve-permissions", Value::No, 'p'),
    ("remove-files", Value::No, '\u{e010}'),
    ("same-owner", Value::No, '\u{e0ff}'),
    ("same-permissions", Value::No, 'p'),
    ("show-transformed-names", Value::No, '\u{e0ff}'),
    ("skip-old-files", Value::No, '\u{e011}'),
    ("sort", Value::Required, '\u{e0fe}'),
    ("sparse", Value::No, 'S'),
    ("strip-components", Value::Required, '\u{e012}'),
    ("to-stdout", Value::No, 'O'),
    ("totals", Value::No, '\u{e0ff}'),
    ("touch", Value::No, 'm'),
    ("transform", Value::Required, '\u{e013}'),
    ("update", Value::No, 'u'),
    ("use-compress-program", Value::Required, 'I'),
    ("verbose", Value::No, 'v'),
    ("version", Value::No, '\u{e014}'),
    ("warning", Value::Required, '\u{e0fe}'),
    ("wildcards", Value::No, '\u{e015}'),
    ("xform", Value::Required, '\u{e013}'),
    ("xz", Value::No, 'J'),
    ("zstd", Value::No, '\u{e016}'),
];

const SHORTS: &str = "AcdrtuxC:f:T:X:I:H:b:g:V:K:N:zjJZvwkmopPOhSaUWinlBMRs";

#[derive(Default)]
struct Config {
    action: Option<char>,
    archive: Option<Vec<u8>>,
    format: Option<Format>,
    auto_format: bool,
    verbose: u32,
    excludes: Vec<Vec<u8>>,
    strip: usize,
    to_stdout: bool,
    keep_old: bool,
    skip_old: bool,
    keep_newer: bool,
    touch: bool,
    absolute: bool,
    dereference: bool,
    wildcards: bool,
    ignore_case: bool,
    recursion: bool,
    numeric: bool,
    remove: bool,
    owner: Option<(u32, String)>,
    group: Option<(u32, String)>,
    mode: Option<u32>,
    mtime: Option<i64>,
    top_level: Option<Vec<u8>>,
    transforms: Vec<Transform>,
    /// Names with the directory they are relative to.
    names: Vec<(Vec<u8>, Vec<u8>)>,
    directory: Vec<u8>,
}

/// An error that ends the run.
struct Fatal(String);

impl From<io::Error> for Fatal {
    fn from(error: io::Error) -> Self {
        Fatal(platform::message(&error))
    }
}

/// Runs tar and gives its exit status: 0, or 2 for errors.
pub fn run(arguments: &[Vec<u8>]) -> i32 {
    let result = parse(arguments).and_then(|config| match config {
        Some(config) => act(config),
        None => Ok(0),
    });
    match result {
        Ok(0) => 0,
        Ok(status) => {
            eprintln!("tar: Exiting with failure status due to previous errors");
            status
        }
        Err(Fatal(message)) => {
            eprintln!("tar: {message}");
            2
        }
    }
}

/// `tar xzf a` is `tar -x -z -f a`: in a first word without a dash, letters take the words that follow.
fn expand_old_style(arguments: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let Some((first, rest)) = arguments.split_first() else { return Vec::new() };
    if first.is_empty() || first.starts_with(b"-") {
        return arguments.to_vec();
    }
    let mut result = Vec::new();
    let mut rest = rest.iter();
    for letter in first {
        result.push(vec![b'-', *letter]);
        let place = SHORTS.bytes().position(|known| known == *letter);
        if place.is_some_and(|place| SHORTS.as_bytes().get(place + 1) == Some(&b':')) {
            result.extend(rest.next().cloned());
        }
    }
    result.extend(rest.cloned());
    result
}

fn parse(arguments: &[Vec<u8>]) -> Result<Option<Config>, Fatal> {
    // Operands and -C are in order: the parser hands operands out as an option of their own.
    let expanded = expand_old_style(arguments);
    let mut config = Config { recursion: true, ..Config::default() };
    let mut lists: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    let mut null = false;
    let mut rest: &[Vec<u8>] = &expanded;
    loop {
        let parsed = args::parse(rest, SHORTS, LONGS, false)
            .map_err(|message| Fatal(format!("{message}\nTry 'tar --help' or 'tar --usage' for more information.")))?;
        for (letter, value) in parsed.options {
            let value = value.unwrap_or_default();
            match letter {
                'A' | 'c' | 'd' | 'r' | 't' | 'u' | 'x' | '\u{e000}' => {
                    if config.action.is_some_and(|action| action != letter) {
                        return Err(Fatal(
                            "You may not specify more than one '-Acdtrux', '--delete' or  '--test-label' option".into(),
                        ));
                    }
                    config.action = Some(letter);
                }
                'C' => {
                    config.directory = if value.starts_with(b"/") { value } else { join(&config.directory, &value) };
                    if !platform::stat(&config.directory, true).is_ok_and(|info| info.is_dir()) {
                        let shown = show(&config.directory);
                        return Err(Fatal(format!(
                            "{shown}: Cannot open: No such file or directory\ntar: Error is not recoverable: exiting now"
                        )));
                    }
                }
                'f' => config.archive = Some(value),
                'z' => config.format = Some(Format::Gzip),
                'j' => config.format = Some(Format::Bzip2),
                'J' => config.format = Some(Format::Xz),
                '\u{e007}' => config.format = Some(Format::Lzma),
                '\u{e016}' => config.format = Some(Format::Zstd),
                'I' => {
                    let program = show(&value);
                    config.format = Some(match program.split_whitespace().next().unwrap_or_default() {
                        "gzip" | "pigz" => Format::Gzip,
                        "bzip2" | "pbzip2" => Format::Bzip2,
                        "xz" | "pxz" => Format::Xz,
                        "zstd" => Format::Zstd,
                        other => return Err(Fatal(format!("{other}: Cannot exec: No such file or directory"))),
                    });
                }
                'a' => config.auto_format = true,
                'v' => config.verbose += 1,
                'T' => lists.push((value, config.directory.clone())),
                '\u{e00c}' => null = true,
                'X' => {
                    let text = input::read(&value).map_err(|error| cannot_use("open", &value, &error))?;
                    config
                        .excludes
                        .extend(text.split(|byte| *byte == b'\n').filter(|l| !l.is_empty()).map(<[u8]>::to_vec));
                }
                '\u{e001}' => config.excludes.push(value),
                '\u{e002}' => config.excludes.extend([b".git", b".svn"].map(|name| name.to_vec())),
                '\u{e012}' => {
                    config.strip = args::number(&value)
                        .and_then(|count| usize::try_from(count).ok())
                        .ok_or_else(|| Fatal(format!("{}: Invalid number of elements", show(&value))))?;
                }
                'O' => config.to_stdout = true,
                'k' => config.keep_old = true,
                '\u{e011}' => config.skip_old = true,
                '\u{e006}' => config.keep_newer = true,
                'm' => config.touch = true,
                'P' => config.absolute = true,
                'h' => config.dereference = true,
                '\u{e015}' => config.wildcards = true,
                '\u{e00b}' => config.wildcards = false,
                '\u{e005}' => config.ignore_case = true,
                '\u{e00a}' | 'n' => config.recursion = letter == 'n',
                '\u{e00d}' => config.numeric = true,
                '\u{e010}' => config.remove = true,
                '\u{e00f}' => config.owner = Some(owner(&value, UserNames::users())),
                '\u{e003}' => config.group = Some(owner(&value, UserNames::groups())),
                '\u{e008}' => {
                    config.mode = Some(
                        u32::from_str_radix(&show(&value), 8)
                            .map_err(|_| Fatal("Invalid mode given on option".into()))?,
                    );
                }
                '\u{e009}' => {
                    config.mtime = Some(parse_date(&show(&value), time::now()).ok_or_else(|| {
                        Fatal(format!("Option --mtime: Treating date '{}' as invalid", show(&value)))
                    })?);
                }
                '\u{e00e}' => config.top_level = Some(value),
                '\u{e013}' => config.transforms.push(Transform::parse(&value).map_err(Fatal)?),
                '\u{e004}' => {
                    println!("Usage: tar [OPTION...] [FILE]...");
                    return Ok(None);
                }
                '\u{e014}' => {
                    println!("tar (GNU tar) 1.34 compatible (wskill texttools)");
                    return Ok(None);
                }
                _ => {}
            }
        }
        let Some((first, after)) = parsed.operands.split_first() else { break };
        config.names.push((first.clone(), config.directory.clone()));
        // Behind `--` all are operands; the parser does not tell, so options that follow are read again.
        let consumed = expanded.len() - after.len();
        if expanded[..consumed].iter().any(|word| word == b"--") {
            config.names.extend(after.iter().map(|name| (name.clone(), config.directory.clone())));
            break;
        }
        rest = &expanded[consumed..];
    }
    for (list, directory) in lists {
        let text = input::read(&list).map_err(|error| cannot_use("stat", &list, &error))?;
        let end = if null { 0 } else { b'\n' };
        let names = text.split(|byte| *byte == end).filter(|name| !name.is_empty());
        config.names.extend(names.map(|name| (name.to_vec(), directory.clone())));
    }
    Ok(Some(config))
}

fn cannot_use(how: &str, name: &[u8], error: &io::Error) -> Fatal {
    Fatal(format!(
        "{}: Cannot {how}: {}\ntar: Error is not recoverable: exiting now",
        show(name),
        platform::message(error)
    ))
}

/// `name`, `name:id` or `id`.
fn owner(value: &[u8], mut names: UserNames) -> (u32, String) {
    let text = show(value);
    match text.split_once(':') {
        Some((name, id)) => (id.parse().unwrap_or(0), name.to_string()),
        None => match text.parse() {
            Ok(id) => (id, names.name(id).unwrap_or_default()),
            Err(_) => (names.id(&text).unwrap_or(0), text),
        },
    }
}

fn join(directory: &[u8], name: &[u8]) -> Vec<u8> {
    if directory.is_empty() || name.starts_with(b"/") {
        return name.to_vec();
    }
    [directory.strip_suffix(b"/").unwrap_or(directory), b"/", name].concat()
}

fn act(config: Config) -> Result<i32, Fatal> {
    match config.action {
        None => Err(Fatal(
            "You must specify one of the '-Acdtrux', '--delete' or '--test-label' options\nTry 'tar --help' or 'tar --usage' for more information."
                .into(),
        )),
        Some('c' | 'r' | 'u') => create(config),
        Some('x' | 't') => read(config),
        Some(_) => Err(Fatal("this operation is not supported".into())),
    }
}

// ---- Creating ----

struct Creator {
    config: Config,
    out: Box<dyn Write>,
    written: u64,
    listing: Option<Output>,
    status: i32,
    warned: bool,
    users: UserNames,
    groups: UserNames,
    /// Files with more names, by device and inode.
    links: HashMap<(u64, u64), Vec<u8>>,
    /// The archive itself is not put into the archive.
    archive: Option<(u64, u64)>,
}

fn create(mut config: Config) -> Result<i32, Fatal> {
    let names = std::mem::take(&mut config.names);
    if names.is_empty() && config.action == Some('c') {
        return Err(Fatal(
            "Cowardly refusing to create an empty archive\nTry 'tar --help' or 'tar --usage' for more information."
                .into(),
        ));
    }
    let archive_name = config.archive.clone().unwrap_or_else(|| b"-".to_vec());
    if config.auto_format && config.format.is_none() {
        config.format = Format::by_name(&archive_name);
    }
    let to_stdout = archive_name == b"-";
    let mut newer = HashMap::new();
    let mut offset = 0;
    let file: Box<dyn Write> = if to_stdout {
        Box::new(platform::standard_file(1))
    } else if config.action == Some('c') {
        Box::new(
            File::create(platform::path(&archive_name)).map_err(|error| cannot_use("open", &archive_name, &error))?,
        )
    } else {
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(platform::path(&archive_name))
            .map_err(|error| cannot_use("open", &archive_name, &error))?;
        offset = end_of_members(&mut file, &mut newer)?;
        file.seek(SeekFrom::Start(offset))?;
        file.set_len(offset)?;
        Box::new(file)
    };
    let archive = platform::stat(&archive_name, true).ok().filter(|_| !to_stdout).map(|info| (info.dev, info.ino));
    let listing = (config.verbose > 0).then(|| Output::new("tar", 2));
    let format = config.format;
    let update = config.action == Some('u');
    let file = BufWriter::with_capacity(64 << 10, file);
    let shared = Shared(std::rc::Rc::new(std::cell::RefCell::new(None)));
    let out: Box<dyn Write> = match format {
        Some(format) => {
            *shared.0.borrow_mut() = Some(format.writer(file, None)?);
            Box::new(shared.clone())
        }
        None => Box::new(file),
    };
    let mut creator = Creator {
        config,
        out,
        written: offset,
        listing: if to_stdout { None } else { listing },
        status: 0,
        warned: false,
        users: UserNames::users(),
        groups: UserNames::groups(),
        links: HashMap::new(),
        archive,
    };
    for (name, directory) in &names {
        if update && !is_newer(&join(directory, name), name, &newer) {
            continue;
        }
        creator.add(name, directory)?;
    }
    creator.finish()?;
    if let Some(encoder) = shared.0.borrow_mut().take() {
        encoder.finish()?;
    }
    Ok(creator.status)
}

/// A compressor that is finished when all members are written.
#[derive(Clone)]
struct Shared(std::rc::Rc<std::cell::RefCell<Option<Box<dyn Encoder>>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.borrow_mut().as_mut() {
            Some(encoder) => encoder.write(bytes),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn is_newer(path: &[u8], name: &[u8], known: &HashMap<Vec<u8>, u64>) -> bool {
    let Ok(info) = platform::stat(path, false) else { return true };
    known.get(&safe_name(name)).is_none_or(|time| info.mtime.div_euclid(1_000_000_000) > *time as i64)
}

/// Where the last member of an archive ends; `times` gets when its members were changed.
fn end_of_members(file: &mut File, times: &mut HashMap<Vec<u8>, u64>) -> Result<u64, Fatal> {
    let mut end = 0;
    let mut archive = Archive::new(&*file);
    for entry in archive.entries()? {
        let entry = entry.map_err(|_| Fatal("This does not look like a tar archive".into()))?;
        times.insert(safe_name(&entry.path_bytes()), entry.header().mtime().unwrap_or(0));
        end = entry.raw_file_position() + entry.size().div_ceil(BLOCK as u64) * BLOCK as u64;
    }
    Ok(end)
}

impl Creator {
    fn complain(&mut self, name: &[u8], what: &str, error: &io::Error) {
        eprintln!("tar: {}: {what}: {}", show(name), platform::message(error));
        self.status = 2;
    }

    fn excluded(&self, name: &[u8]) -> bool {
        is_excluded(&self.config, name)
    }

    /// Adds a file and, for a directory, what is in it.
    fn add(&mut self, name: &[u8], directory: &[u8]) -> Result<(), Fatal> {
        let mut pending = vec![name.to_vec()];
        let mut visited = HashSet::new();
        while let Some(name) = pending.pop() {
            if self.excluded(&name) {
                continue;
            }
            let path = join(directory, &name);
            let info = match platform::stat(&path, self.config.dereference) {
                Ok(info) => info,
                Err(error) => {
                    self.complain(&name, "Cannot stat", &error);
                    continue;
                }
            };
            if self.archive == Some((info.dev, info.ino)) {
                eprintln!("tar: {}: archive cannot contain itself; not dumped", show(&name));
                continue;
            }
            if !self.member(&name, &path, &info)? || !info.is_dir() || !self.config.recursion {
                continue;
            }
            if !visited.insert((info.dev, info.ino)) {
                continue;
            }
            match platform::list(&path) {
                Ok(mut names) => {
                    names.sort_unstable_by(|a, b| b.cmp(a));
                    pending.extend(names.iter().map(|child| join(name.strip_suffix(b"/").unwrap_or(&name), child)));
                }
                Err(error) => self.complain(&name, "Cannot open", &error),
            }
        }
        Ok(())
    }

    /// The name in the archive.
    fn stored_name(&mut self, name: &[u8]) -> Vec<u8> {
        let mut stored = name.to_vec();
        if !self.config.absolute {
            let from = memchr::memmem::rfind(&stored, b"../").map_or(0, |at| at + 3);
            let from = from + stored[from..].iter().take_while(|byte| **byte == b'/').count();
            if from > 0 {
                if !self.warned {
                    eprintln!("tar: Removing leading `{}' from member names", show(&stored[..from]));
                    self.warned = true;
                }
                stored.drain(..from);
            }
        }
        for transform in &self.config.transforms {
            stored = transform.apply(&stored);
        }
        if stored.is_empty() { b".".to_vec() } else { stored }
    }

    fn member(&mut self, name: &[u8], path: &[u8], info: &Metadata) -> Result<bool, Fatal> {
        let mut header = Header::new_gnu();
        let mut stored = self.stored_name(name);
        let mut link = Vec::new();
        let mut size = 0;
        let kind = match info.kind() {
            mode::DIRECTORY => {
                if !stored.ends_with(b"/") {
                    stored.push(b'/');
                }
                EntryType::Directory
            }
            mode::LINK => {
                link = platform::read_link(path)?;
                EntryType::Symlink
            }
            mode::FIFO => EntryType::Fifo,
            mode::FILE => {
                let known = if info.nlink > 1 { self.links.get(&(info.dev, info.ino)) } else { None };
                match known {
                    Some(first) => {
                        link.clone_from(first);
                        EntryType::Link
                    }
                    None => {
                        if info.nlink > 1 {
                            self.links.insert((info.dev, info.ino), stored.clone());
                        }
                        size = info.size;
                        EntryType::Regular
                    }
                }
            }
            _ => {
                eprintln!("tar: {}: socket ignored", show(name));
                return Ok(false);
            }
        };
        let mut file = None;
        if kind == EntryType::Regular {
            match input::open_file(path) {
                Ok(opened) => file = Some(opened),
                Err(error) => {
                    self.complain(name, "Cannot open", &error);
                    return Ok(false);
                }
            }
        }
        let (uid, user) = match &self.config.owner {
            Some((id, name)) => (*id, name.clone()),
            None => (info.uid, self.users.name(info.uid).unwrap_or_default()),
        };
        let (gid, group) = match &self.config.group {
            Some((id, name)) => (*id, name.clone()),
            None => (info.gid, self.groups.name(info.gid).unwrap_or_default()),
        };
        header.set_entry_type(kind);
        header.set_mode(self.config.mode.unwrap_or(info.mode) & 0o7777);
        header.set_uid(u64::from(uid));
        header.set_gid(u64::from(gid));
        header.set_size(size);
        let mtime = self.config.mtime.unwrap_or(info.mtime.div_euclid(1_000_000_000));
        header.set_mtime(mtime.max(0) as u64);
        if !self.config.numeric {
            header.set_username(&user)?;
            header.set_groupname(&group)?;
        }
        self.long_name(b'K', &link)?;
        self.long_name(b'L', &stored)?;
        if let Some(gnu) = header.as_gnu_mut() {
            let length = stored.len().min(gnu.name.len());
            gnu.name[..length].copy_from_slice(&stored[..length]);
            let length = link.len().min(gnu.linkname.len());
            gnu.linkname[..length].copy_from_slice(&link[..length]);
        }
        header.set_cksum();
        self.write(header.as_bytes())?;
        if let Some(mut file) = file {
            self.data(name, &mut file, size)?;
        }
        if let Some(listing) = &mut self.listing {
            if self.config.verbose > 1 {
                listing.text(&long_line(&header, &stored, &link, self.config.numeric));
            } else {
                listing.put(&stored);
                listing.put(b"\n");
            }
        } else if self.config.verbose > 0 {
            eprintln!("{}", show(&stored));
        }
        if self.config.remove && !info.is_dir() {
            fs::remove_file(platform::path(path))?;
        }
        Ok(true)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Fatal> {
        self.out.write_all(bytes)?;
        self.written += bytes.len() as u64;
        Ok(())
    }

    fn pad(&mut self, size: u64) -> Result<(), Fatal> {
        let rest = (size % BLOCK as u64) as usize;
        if rest > 0 { self.write(&[0; BLOCK][rest..]) } else { Ok(()) }
    }

    /// GNU's member before a member whose name does not fit.
    fn long_name(&mut self, kind: u8, name: &[u8]) -> Result<(), Fatal> {
        if name.len() <= 100 {
            return Ok(());
        }
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::new(kind));
        header.set_mode(0o644);
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(0);
        header.set_size(name.len() as u64 + 1);
        if let Some(gnu) = header.as_gnu_mut() {
            gnu.name[..13].copy_from_slice(b"././@LongLink");
        }
        header.set_cksum();
        self.write(header.as_bytes())?;
        self.write(name)?;
        self.write(b"\0")?;
        self.pad(name.len() as u64 + 1)
    }

    /// The text of a file; exactly `size` bytes, whatever the file has become.
    fn data(&mut self, name: &[u8], file: &mut File, size: u64) -> Result<(), Fatal> {
        let copied = io::copy(&mut file.take(size), &mut self.out)?;
        self.written += copied;
        if copied < size {
            eprintln!("tar: {}: File shrank by {} bytes; padding with zeros", show(name), size - copied);
            self.status = 1;
            let padded = io::copy(&mut io::repeat(0).take(size - copied), &mut self.out)?;
            self.written += padded;
        }
        self.pad(size)
    }

    fn finish(&mut self) -> Result<(), Fatal> {
        self.write(&[0; 2 * BLOCK])?;
        let rest = (RECORD - self.written % RECORD) % RECORD;
        io::copy(&mut io::repeat(0).take(rest), &mut self.out)?;
        self.out.flush()?;
        if let Some(listing) = &mut self.listing {
            listing.flush_all();
        }
        Ok(())
    }
}

fn is_excluded(config: &Config, name: &[u8]) -> bool {
    let name = name.strip_suffix(b"/").unwrap_or(name);
    let options = glob::Options { ignore_case: config.ignore_case, keep_slash: false };
    config.excludes.iter().any(|pattern| {
        let pattern = pattern.strip_suffix(b"/").unwrap_or(pattern);
        // A pattern may begin at any part of the name.
        let starts = std::iter::once(0).chain(memchr::memchr_iter(b'/', name).map(|at| at + 1));
        starts.into_iter().any(|start| glob::matches(pattern, &name[start..], options))
    })
}

// ---- Reading ----

fn read(mut config: Config) -> Result<i32, Fatal> {
    let archive_name = config.archive.clone().unwrap_or_else(|| b"-".to_vec());
    let mut stream: Box<dyn Read> = if archive_name == b"-" {
        Box::new(io::stdin())
    } else {
        input::open(&archive_name).map_err(|error| cannot_use("open", &archive_name, &error))?
    };
    let mut start = [0; 6];
    let mut filled = 0;
    while filled < start.len() {
        match stream.read(&mut start[filled..])? {
            0 => break,
            count => filled += count,
        }
    }
    let found = Format::detect(&start[..filled]);
    if let (Some(wanted), None) = (config.format, found) {
        let program = match wanted {
            Format::Gzip => "gzip: stdin: not in gzip format",
            Format::Bzip2 => "bzip2: (stdin) is not a bzip2 file.",
            Format::Xz | Format::Lzma => "xz: (stdin): File format not recognized",
            Format::Zstd => "zstd: /*stdin*\\: unsupported format",
        };
        eprintln!("\n{program}");
        return Err(Fatal("Child returned status 1\ntar: Error is not recoverable: exiting now".into()));
    }
    let stream: Box<dyn Read> = Box::new(io::Cursor::new(start[..filled].to_vec()).chain(stream));
    let stream = match found {
        Some(format) => format.reader(stream)?,
        None => stream,
    };
    let wanted = std::mem::take(&mut config.names);
    if let Some(top) = &mut config.top_level
        && top.is_empty()
    {
        let base = archive_name.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let end = memchr::memmem::find(base, b".t").or_else(|| memchr::memchr(b'.', base)).unwrap_or(base.len());
        *top = base[..end].to_vec();
    }
    let mut extractor = Extractor {
        out: Output::new("tar", 2),
        found: vec![false; wanted.len()],
        wanted,
        directories: Vec::new(),
        status: 0,
        warned: false,
        config,
    };
    let result = extractor.all(stream);
    extractor.out.flush_all();
    extractor.finish_directories();
    result?;
    for (index, (name, _)) in extractor.wanted.iter().enumerate() {
        if !extractor.found[index] {
            eprintln!("tar: {}: Not found in archive", show(name));
            extractor.status = 2;
        }
    }
    Ok(extractor.status)
}

struct Extractor {
    config: Config,
    out: Output,
    wanted: Vec<(Vec<u8>, Vec<u8>)>,
    found: Vec<bool>,
    /// Modes and times of directories are set when all is in them.
    directories: Vec<(Vec<u8>, u32, i64)>,
    status: i32,
    warned: bool,
}

impl Extractor {
    fn all(&mut self, stream: Box<dyn Read>) -> Result<(), Fatal> {
        let broken = |error: &io::Error| {
            if error.raw_os_error().is_some() {
                return Fatal(platform::message(error));
            }
            Fatal(match error.kind() {
                io::ErrorKind::UnexpectedEof => {
                    "Unexpected EOF in archive\ntar: Error is not recoverable: exiting now".into()
                }
                _ => "This does not look like a tar archive\ntar: Exiting with failure status due to previous errors"
                    .into(),
            })
        };
        let mut archive = Archive::new(stream);
        for entry in archive.entries()? {
            let mut entry = entry.map_err(|error| broken(&error))?;
            let name = entry.path_bytes().into_owned();
            let link = entry.link_name_bytes().map(|link| link.into_owned()).unwrap_or_default();
            let Some(directory) = self.select(&name) else { continue };
            if is_excluded(&self.config, &name) {
                continue;
            }
            let header = entry.header().clone();
            if self.config.action == Some('t') {
                if self.config.verbose > 0 {
                    let line = long_line(&header, &name, &link, self.config.numeric);
                    self.out.text(&line);
                } else {
                    self.out.put(&name);
                    self.out.put(b"\n");
                }
                continue;
            }
            self.extract(&header, &name, &link, &directory, &mut entry).map_err(|error| broken(&error))?;
        }
        Ok(())
    }

    /// The directory a wanted member is extracted to; `None` for one that is not wanted.
    fn select(&mut self, name: &[u8]) -> Option<Vec<u8>> {
        if self.wanted.is_empty() {
            return Some(self.config.directory.clone());
        }
        let plain = name.strip_suffix(b"/").unwrap_or(name);
        let mut directory = None;
        for (index, (wanted, place)) in self.wanted.iter().enumerate() {
            let wanted = wanted.strip_suffix(b"/").unwrap_or(wanted);
            let below = plain.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"));
            let options = glob::Options { ignore_case: self.config.ignore_case, keep_slash: false };
            if below || self.config.wildcards && glob::matches(wanted, plain, options) {
                self.found[index] = true;
                directory.get_or_insert_with(|| place.clone());
            }
        }
        directory
    }

    fn target(&mut self, name: &[u8]) -> Option<Vec<u8>> {
        let mut name = name.to_vec();
        if self.config.strip > 0 {
            let parts: Vec<&[u8]> = name.split(|byte| *byte == b'/').filter(|part| !part.is_empty()).collect();
            name = parts.get(self.config.strip..).unwrap_or_default().join(&b'/');
        }
        for transform in &self.config.transforms {
            name = transform.apply(&name);
        }
        if name.is_empty() {
            return None;
        }
        if !self.config.absolute {
            if name.starts_with(b"/") && !self.warned {
                eprintln!("tar: Removing leading `/' from member names");
                self.warned = true;
            }
            if name.split(|byte| *byte == b'/').any(|part| part == b"..") {
                eprintln!("tar: {}: Member name contains '..'", show(&name));
                self.status = 2;
                return None;
            }
            name = safe_name(&name);
            if name.is_empty() {
                name = b".".to_vec();
            }
        }
        Some(match &self.config.top_level {
            Some(top) if !name.starts_with(top) => join(top, &name),
            _ => name,
        })
    }

    fn extract(
        &mut self,
        header: &Header,
        name: &[u8],
        link: &[u8],
        directory: &[u8],
        data: &mut dyn Read,
    ) -> io::Result<()> {
        let kind = header.entry_type();
        if self.config.to_stdout {
            if kind.is_file() {
                io::copy(data, &mut self.out)?;
            }
            return Ok(());
        }
        let Some(stored) = self.target(name) else { return Ok(()) };
        if self.config.verbose > 0 {
            if self.config.verbose > 1 {
                let line = long_line(header, name, link, self.config.numeric);
                self.out.text(&line);
            } else {
                self.out.put(name);
                self.out.put(b"\n");
            }
        }
        let path = join(directory, &stored);
        let bits = header.mode().unwrap_or(0o644) & 0o7777;
        let mtime = (header.mtime().unwrap_or(0) as i64).saturating_mul(1_000_000_000);
        if let Err(error) = self.place(&path, kind, link, directory, bits, mtime, data) {
            if error.raw_os_error().is_none() && error.kind() != io::ErrorKind::AlreadyExists {
                return Err(error);
            }
            self.out.flush_all();
            let what = if kind.is_symlink() || kind.is_hard_link() { "Cannot create link" } else { "Cannot open" };
            eprintln!("tar: {}: {what}: {}", show(&stored), platform::message(&error));
            self.status = 2;
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments, reason = "all of a member's properties")]
    fn place(
        &mut self,
        path: &[u8],
        kind: EntryType,
        link: &[u8],
        directory: &[u8],
        bits: u32,
        mtime: i64,
        data: &mut dyn Read,
    ) -> io::Result<()> {
        let above = parent(path);
        if !above.is_empty() {
            fs::create_dir_all(platform::path(above))?;
        }
        let existing = platform::stat(path, false).ok();
        if kind.is_dir() {
            if existing.is_none_or(|info| !info.is_dir()) && !platform::stat(path, true).is_ok_and(|info| info.is_dir())
            {
                fs::create_dir_all(platform::path(path))?;
            }
            self.directories.push((path.to_vec(), bits, mtime));
            return Ok(());
        }
        if let Some(info) = existing {
            if self.config.skip_old || self.config.keep_newer && info.mtime > mtime {
                return Ok(());
            }
            if self.config.keep_old {
                return Err(io::Error::from(io::ErrorKind::AlreadyExists));
            }
            if info.is_dir() {
                fs::remove_dir(platform::path(path))?;
            } else {
                fs::remove_file(platform::path(path))?;
            }
        }
        if kind.is_symlink() {
            return platform::symlink(link, path);
        }
        if kind.is_hard_link() {
            let Some(target) = self.target(link) else { return Ok(()) };
            return platform::hard_link(&join(directory, &target), path);
        }
        if kind.is_fifo() {
            return platform::mkfifo(path, bits);
        }
        let mut file = BufWriter::with_capacity(64 << 10, File::create(platform::path(path))?);
        io::copy(data, &mut file)?;
        file.flush()?;
        drop(file);
        // Mode and time are a courtesy: not every file system has them.
        let _ = platform::chmod(path, bits);
        if !self.config.touch {
            let _ = platform::set_times(path, mtime, mtime, false);
        }
        Ok(())
    }

    fn finish_directories(&mut self) {
        for (path, bits, mtime) in self.directories.drain(..).rev() {
            let _ = platform::chmod(&path, bits);
            if !self.config.touch {
                let _ = platform::set_times(&path, mtime, mtime, false);
            }
        }
    }
}

/// A line of `tar -tv`.
fn long_line(header: &Header, name: &[u8], link: &[u8], numeric: bool) -> String {
    let kind = header.entry_type();
    let kind_bits = match kind {
        EntryType::Directory => mode::DIRECTORY,
        EntryType::Symlink => mode::LINK,
        EntryType::Fifo => mode::FIFO,
        EntryType::Char => mode::CHARACTER,
        EntryType::Block => mode::BLOCK,
        _ => mode::FILE,
    };
    let info = Metadata { mode: kind_bits | header.mode().unwrap_or(0) & 0o7777, ..Metadata::default() };
    let mut modes = info.mode_string();
    if kind.is_hard_link() {
        modes.replace_range(..1, "h");
    }
    let named = |name: Option<&str>, id: u64| match name {
        Some(name) if !numeric && !name.is_empty() => name.to_string(),
        _ => id.to_string(),
    };
    let user = named(header.username().ok().flatten(), header.uid().unwrap_or(0));
    let group = named(header.groupname().ok().flatten(), header.gid().unwrap_or(0));
    let size = header.size().unwrap_or(0).to_string();
    let width = 19usize.saturating_sub(user.len() + group.len() + 1).max(size.len() + 1);
    let seconds = header.mtime().unwrap_or(0) as i64;
    let date = time::strftime(b"%Y-%m-%d %H:%M", &time::local(seconds));
    let mut line = format!("{modes} {user}/{group} {size:>width$} {} {}", show(&date), show(name), width = width - 1);
    if kind.is_symlink() {
        line.push_str(&format!(" -> {}", show(link)));
    } else if kind.is_hard_link() {
        line.push_str(&format!(" link to {}", show(link)));
    }
    line.push('\n');
    line
}
