//! `unzip` and `zipinfo`: lists and extracts zip archives.

use std::fs::{self, File};
use std::io::{self, BufRead, BufWriter, Read, Write};

use wskill_time as time;
use zip::read::ZipFile;
use zip::{CompressionMethod, DateTime, ZipArchive};

use super::{member_name, parent, safe_name};
use crate::glob;
use crate::output::{Output, show};
use crate::platform::{self, Metadata, mode};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Action {
    Extract,
    List,
    ListVerbose,
    Test,
    Pipe,
    Info,
    Names,
}

struct Config {
    action: Action,
    archive: Vec<u8>,
    members: Vec<Vec<u8>>,
    excludes: Vec<Vec<u8>>,
    directory: Vec<u8>,
    overwrite: bool,
    never: bool,
    quiet: u32,
    junk: bool,
    update: bool,
    freshen: bool,
    ignore_case: bool,
}

type Archive = ZipArchive<File>;

/// Runs unzip and gives its exit status: 0; 1 a warning; 3 a broken archive; 9 no archive; 10 wrong usage; 11 no
/// member matched.
pub fn run(program: &str, arguments: &[Vec<u8>]) -> i32 {
    let config = match parse(program, arguments) {
        Ok(config) => config,
        Err(status) => return status,
    };
    let Some((name, file)) = open(&config.archive) else {
        let name = show(&config.archive);
        eprintln!("{program}:  cannot find or open {name}, {name}.zip or {name}.ZIP.");
        return 9;
    };
    let Ok(archive) = ZipArchive::new(file) else {
        eprintln!(
            "  End-of-central-directory signature not found.  Either this file is not\n  a zipfile, or it constitutes one disk of a multi-part archive.\n{program}:  cannot find zipfile directory in {0},\n        and cannot find {0}.zip, period.",
            show(&name)
        );
        return 9;
    };
    let mut unzip = Unzip { config, name, archive, out: Output::new("unzip", 50), status: 0 };
    let status = unzip.act();
    unzip.out.flush_all();
    status
}

fn parse(program: &str, arguments: &[Vec<u8>]) -> Result<Config, i32> {
    let mut config = Config {
        action: if program == "zipinfo" { Action::Info } else { Action::Extract },
        archive: Vec::new(),
        members: Vec::new(),
        excludes: Vec::new(),
        directory: Vec::new(),
        overwrite: false,
        never: false,
        quiet: 0,
        junk: false,
        update: false,
        freshen: false,
        ignore_case: false,
    };
    let usage = || {
        println!("Usage: unzip [-Z] [-opts[modifiers]] file[.zip] [list] [-x xlist] [-d exdir]");
        10
    };
    let mut archive: Option<Vec<u8>> = None;
    let mut excluding = false;
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if word.len() < 2 || !word.starts_with(b"-") {
            match (&archive, excluding) {
                (None, _) => archive = Some(word.clone()),
                (_, true) => config.excludes.push(word.clone()),
                (_, false) => config.members.push(word.clone()),
            }
            continue;
        }
        let mut letters = word[1..].iter();
        while let Some(letter) = letters.next() {
            match letter {
                b'l' if config.action == Action::Info => {}
                b'l' => config.action = Action::List,
                b'v' => config.action = Action::ListVerbose,
                b't' => config.action = Action::Test,
                b'p' | b'c' => config.action = Action::Pipe,
                b'Z' => config.action = Action::Info,
                b'1' => config.action = Action::Names,
                b'o' => config.overwrite = true,
                b'n' => config.never = true,
                b'q' => config.quiet += 1,
                b'j' => config.junk = true,
                b'u' => config.update = true,
                b'f' => {
                    config.update = true;
                    config.freshen = true;
                }
                b'C' => config.ignore_case = true,
                b'x' => excluding = true,
                b'd' => {
                    let attached: Vec<u8> = letters.by_ref().copied().collect();
                    config.directory =
                        if attached.is_empty() { words.next().cloned().ok_or_else(usage)? } else { attached };
                }
                b'h' => {
                    return Err({
                        usage();
                        0
                    });
                }
                b'a' | b'b' | b'D' | b'K' | b'L' | b'M' | b'U' | b'V' | b'W' | b'X' | b'B' | b's' | b'm' | b'z' => {}
                _ => return Err(usage()),
            }
        }
    }
    config.archive = archive.ok_or_else(usage)?;
    Ok(config)
}

fn open(name: &[u8]) -> Option<(Vec<u8>, File)> {
    [b"".as_slice(), b".zip", b".ZIP"].iter().find_map(|suffix| {
        let name = [name, suffix].concat();
        crate::input::open_file(&name).ok().map(|file| (name, file))
    })
}

struct Unzip {
    config: Config,
    name: Vec<u8>,
    archive: Archive,
    out: Output,
    status: i32,
}

impl Unzip {
    fn act(&mut self) -> i32 {
        let mut wanted = Vec::new();
        let mut found = vec![false; self.config.members.len()];
        let options = glob::Options { ignore_case: self.config.ignore_case, keep_slash: false };
        for index in 0..self.archive.len() {
            let Ok(file) = self.archive.by_index_raw(index) else { continue };
            let name = member_name(&file).into_bytes();
            let mut selected = self.config.members.is_empty();
            for (place, pattern) in self.config.members.iter().enumerate() {
                if glob::matches(pattern, &name, options) {
                    found[place] = true;
                    selected = true;
                }
            }
            if selected && !self.config.excludes.iter().any(|pattern| glob::matches(pattern, &name, options)) {
                wanted.push(index);
            }
        }
        let heading = format!("Archive:  {}\n", show(&self.name));
        match self.config.action {
            Action::Names => self.names(&wanted),
            Action::Info => self.info(&heading, &wanted),
            Action::List | Action::ListVerbose => self.list(&heading, &wanted),
            Action::Pipe => self.each(&wanted, Self::pipe),
            Action::Test => {
                if self.config.quiet == 0 {
                    self.out.text(&heading);
                }
                self.each(&wanted, Self::test);
                let text = match (self.status, self.config.members.is_empty()) {
                    (0, true) => format!("No errors detected in compressed data of {}.\n", show(&self.name)),
                    (0, false) => {
                        format!(
                            "No errors detected in {} for the {} file{} tested.\n",
                            show(&self.name),
                            wanted.len(),
                            if wanted.len() == 1 { "" } else { "s" }
                        )
                    }
                    _ => format!("At least one error was detected in {}.\n", show(&self.name)),
                };
                if self.config.quiet < 2 {
                    self.out.text(&text);
                }
            }
            Action::Extract => {
                if self.config.quiet == 0 {
                    self.out.text(&heading);
                }
                self.each(&wanted, Self::extract);
            }
        }
        for (index, pattern) in self.config.members.iter().enumerate() {
            if !found[index] {
                self.out.flush_all();
                eprintln!("caution: filename not matched:  {}", show(pattern));
                self.status = 11;
            }
        }
        self.status
    }

    fn each(&mut self, wanted: &[usize], mut act: impl FnMut(&mut Self, usize) -> io::Result<()>) {
        for index in wanted {
            if let Err(error) = act(self, *index) {
                self.out.flush_all();
                let name = self.archive.by_index_raw(*index).map(|file| member_name(&file)).unwrap_or_default();
                eprintln!("error:  {name}: {}", platform::message(&error));
                self.status = self.status.max(if error.raw_os_error().is_some() { 50 } else { 3 });
            }
        }
    }

    fn pipe(&mut self, index: usize) -> io::Result<()> {
        let mut file = self.archive.by_index(index).map_err(io::Error::other)?;
        io::copy(&mut file, &mut self.out)?;
        Ok(())
    }

    fn test(&mut self, index: usize) -> io::Result<()> {
        let mut file = self.archive.by_index(index).map_err(io::Error::other)?;
        let name = member_name(&file);
        // Reading to the end checks the sum.
        io::copy(&mut file, &mut io::sink())?;
        if self.config.quiet == 0 {
            self.out.text(&format!("    testing: {name:<22}   OK\n"));
        }
        Ok(())
    }

    fn extract(&mut self, index: usize) -> io::Result<()> {
        let mut file = self.archive.by_index(index).map_err(io::Error::other)?;
        let stored = member_name(&file).into_bytes();
        let mut name = safe_name(&stored);
        if self.config.junk {
            name = name.rsplit(|byte| *byte == b'/').next().unwrap_or_default().to_vec();
        }
        if name.is_empty() || self.config.junk && file.is_dir() {
            return Ok(());
        }
        let directory = self.config.directory.strip_suffix(b"/").unwrap_or(&self.config.directory);
        let path = if directory.is_empty() { name } else { [directory, b"/", &name].concat() };
        let quiet = self.config.quiet > 0;
        let existing = platform::stat(&path, false).ok();
        if file.is_dir() {
            if existing.is_none() {
                fs::create_dir_all(platform::path(&path))?;
                if !quiet {
                    self.out.text(&format!("   creating: {}/\n", show(&path)));
                }
            }
            return Ok(());
        }
        let mtime = file.last_modified().map(seconds_of).unwrap_or(0);
        if let Some(info) = existing {
            if self.config.update && info.mtime.div_euclid(1_000_000_000) >= mtime || self.config.never {
                return Ok(());
            }
            if !self.config.overwrite && !self.config.update && !may_replace(&mut self.out, &mut self.config, &path) {
                return Ok(());
            }
        } else if self.config.freshen {
            return Ok(());
        }
        let above = parent(&path);
        if !above.is_empty() {
            fs::create_dir_all(platform::path(above))?;
        }
        if file.is_symlink() {
            let mut target = Vec::new();
            file.read_to_end(&mut target)?;
            if !quiet {
                self.out.text(&format!("    linking: {:<22}  -> {} \n", show(&path), show(&target)));
            }
            if existing.is_some() {
                fs::remove_file(platform::path(&path))?;
            }
            return platform::symlink(&target, &path);
        }
        if !quiet {
            let verb = if file.compression() == CompressionMethod::Stored { " extract" } else { " inflat" };
            self.out.text(&format!("{verb:>8}ing: {:<22}  \n", show(&path)));
        }
        let bits = file.unix_mode();
        let mut target = BufWriter::with_capacity(64 << 10, File::create(platform::path(&path))?);
        io::copy(&mut file, &mut target)?;
        target.flush()?;
        drop(target);
        // Mode and time are a courtesy: not every file system has them.
        if let Some(bits) = bits.filter(|bits| bits & 0o777 != 0) {
            let _ = platform::chmod(&path, bits & 0o777);
        }
        let nanos = mtime.saturating_mul(1_000_000_000);
        let _ = platform::set_times(&path, nanos, nanos, true);
        Ok(())
    }

    fn names(&mut self, wanted: &[usize]) {
        for index in wanted {
            if let Ok(file) = self.archive.by_index_raw(*index) {
                self.out.text(&format!("{}\n", member_name(&file)));
            }
        }
    }

    fn list(&mut self, heading: &str, wanted: &[usize]) {
        let verbose = self.config.action == Action::ListVerbose;
        let quiet = self.config.quiet > 0;
        if !quiet {
            self.out.text(heading);
        }
        if self.config.quiet < 2 {
            self.out.text(if verbose {
                " Length   Method    Size  Cmpr    Date    Time   CRC-32   Name\n--------  ------  ------- ---- ---------- ----- --------  ----\n"
            } else {
                "  Length      Date    Time    Name\n---------  ---------- -----   ----\n"
            });
        }
        let (mut total, mut packed_total, mut count) = (0, 0, 0);
        for index in wanted {
            let Ok(file) = self.archive.by_index_raw(*index) else { continue };
            total += file.size();
            packed_total += file.compressed_size();
            count += 1;
            let date = date_text(file.last_modified());
            let line = if verbose {
                let method = match file.compression() {
                    CompressionMethod::Stored => "Stored",
                    CompressionMethod::Deflated => "Defl:N",
                    _ => "Other",
                };
                let ratio = ratio(file.size(), file.compressed_size());
                format!(
                    "{:>8}  {method} {:>8} {ratio:>3}% {date} {:08x}  {}\n",
                    file.size(),
                    file.compressed_size(),
                    file.crc32(),
                    member_name(&file)
                )
            } else {
                format!("{:>9}  {date}   {}\n", file.size(), member_name(&file))
            };
            self.out.text(&line);
        }
        if self.config.quiet < 2 {
            let files = if count == 1 { "1 file".to_string() } else { format!("{count} files") };
            self.out.text(&if verbose {
                format!(
                    "--------          -------  ---                            -------\n{total:>8}         {packed_total:>8} {:>3}%                            {files}\n",
                    ratio(total, packed_total)
                )
            } else {
                format!("---------                     -------\n{total:>9}                     {files}\n")
            });
        }
    }

    /// `zipinfo`'s short format.
    fn info(&mut self, heading: &str, wanted: &[usize]) {
        let size = platform::stat(&self.name, true).map_or(0, |info| info.size);
        let whole = self.config.members.is_empty();
        if whole {
            self.out.text(heading);
            self.out.text(&format!("Zip file size: {size} bytes, number of entries: {}\n", self.archive.len()));
        }
        let (mut total, mut packed_total) = (0, 0);
        for index in wanted {
            let Ok(file) = self.archive.by_index_raw(*index) else { continue };
            total += file.size();
            packed_total += file.compressed_size();
            let line = info_line(&file);
            self.out.text(&line);
        }
        if whole {
            let count = wanted.len();
            self.out.text(&format!(
                "{count} file{}, {total} bytes uncompressed, {packed_total} bytes compressed:  {:.1}%\n",
                if count == 1 { "" } else { "s" },
                if total > 0 { 100.0 - packed_total as f64 * 100.0 / total as f64 } else { 0.0 }
            ));
        }
    }
}

fn info_line<R: Read>(file: &ZipFile<'_, R>) -> String {
    let kind = if file.is_dir() {
        mode::DIRECTORY
    } else if file.is_symlink() {
        mode::LINK
    } else {
        mode::FILE
    };
    let info = Metadata { mode: kind | file.unix_mode().unwrap_or(0o644) & 0o7777, ..Metadata::default() };
    let method = match file.compression() {
        CompressionMethod::Stored => "stor",
        CompressionMethod::Deflated => "defN",
        _ => "othr",
    };
    let date = file.last_modified().map(seconds_of).unwrap_or(0);
    let date = time::strftime(b"%y-%b-%d %H:%M", &time::utc(date));
    format!("{}  3.0 unx {:>8} bx {method} {} {}\n", info.mode_string(), file.size(), show(&date), member_name(file))
}

fn ratio(size: u64, packed: u64) -> i64 {
    if size == 0 { 0 } else { ((size as i64 - packed as i64) as f64 * 100.0 / size as f64).round() as i64 }
}

fn date_text(date: Option<DateTime>) -> String {
    let date = date.unwrap_or_default();
    format!("{:04}-{:02}-{:02} {:02}:{:02}", date.year(), date.month(), date.day(), date.hour(), date.minute())
}

/// An archive has the local time of where it was made.
fn seconds_of(date: DateTime) -> i64 {
    let clock = i64::from(date.hour()) * 3600 + i64::from(date.minute()) * 60 + i64::from(date.second());
    time::Zone::local().seconds_of(i64::from(date.year()), i64::from(date.month()), i64::from(date.day()), clock)
}

/// Asks whether a file may be replaced; without an answer it stays.
fn may_replace(out: &mut Output, config: &mut Config, path: &[u8]) -> bool {
    out.flush_all();
    loop {
        eprint!("replace {}? [y]es, [n]o, [A]ll, [N]one, [r]ename: ", show(path));
        let mut answer = String::new();
        let read = io::stdin().lock().read_line(&mut answer).unwrap_or(0);
        if read == 0 {
            eprintln!(" NULL\n(EOF or read error, treating as \"[N]one\" ...)");
            config.never = true;
            return false;
        }
        match answer.trim() {
            "y" | "Y" | "yes" => return true,
            "n" | "no" => return false,
            "A" => {
                config.overwrite = true;
                return true;
            }
            "N" => {
                config.never = true;
                return false;
            }
            other => eprintln!("error:  invalid response [{other}]"),
        }
    }
}
