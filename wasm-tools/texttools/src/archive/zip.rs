//! `zip`: makes and changes zip archives.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufWriter, Cursor, Read, Seek, Write};

use wskill_time as time;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

use super::member_name;
use crate::args::{self, Long, Value};
use crate::glob;
use crate::input;
use crate::output::{Output, show};
use crate::platform::{self, Metadata, mode};

/// Files up to this size are compressed once ahead, to see whether storing them is smaller.
const TRY_LIMIT: u64 = 1 << 20;

const LONGS: &[Long] = &[
    ("delete", Value::No, 'd'),
    ("exclude", Value::No, 'x'),
    ("filesync", Value::No, '\u{e000}'),
    ("freshen", Value::No, 'f'),
    ("help", Value::No, 'h'),
    ("include", Value::No, 'i'),
    ("junk-paths", Value::No, 'j'),
    ("move", Value::No, 'm'),
    ("names-stdin", Value::No, '@'),
    ("no-dir-entries", Value::No, 'D'),
    ("no-extra", Value::No, 'X'),
    ("quiet", Value::No, 'q'),
    ("recurse-paths", Value::No, 'r'),
    ("symlinks", Value::No, 'y'),
    ("test", Value::No, 'T'),
    ("update", Value::No, 'u'),
    ("verbose", Value::No, 'v'),
    ("version", Value::No, '\u{e001}'),
];

#[derive(Default)]
struct Config {
    archive: Vec<u8>,
    inputs: Vec<Vec<u8>>,
    excludes: Vec<Vec<u8>>,
    includes: Vec<Vec<u8>>,
    recursive: bool,
    junk: bool,
    quiet: bool,
    update: bool,
    freshen: bool,
    delete: bool,
    remove: bool,
    links: bool,
    no_directories: bool,
    level: Option<i64>,
}

/// Runs zip and gives its exit status: 0; 12 nothing to do; 15 cannot create; 16 wrong usage; 18 some files missing.
pub fn run(arguments: &[Vec<u8>]) -> i32 {
    let config = match parse(arguments) {
        Ok(Some(config)) => config,
        Ok(None) => return 0,
        Err(message) => {
            eprintln!("\nzip error: {message}");
            return 16;
        }
    };
    match act(&config) {
        Ok(status) => status,
        Err(error) => {
            eprintln!("\nzip error: {}", text_of(&error));
            15
        }
    }
}

fn text_of(error: &io::Error) -> String {
    platform::message(error)
}

fn parse(arguments: &[Vec<u8>]) -> Result<Option<Config>, String> {
    let mut config = Config::default();
    let mut operands: Vec<Vec<u8>> = Vec::new();
    let mut from_stdin = false;
    // -x and -i take all words up to the next option, or `@`.
    let mut list: Option<char> = None;
    for word in arguments {
        let option = word.len() > 1 && word.starts_with(b"-");
        if !option {
            match list {
                Some(_) if word == b"@" => list = None,
                Some('x') => config.excludes.push(word.clone()),
                Some(_) => config.includes.push(word.clone()),
                None => operands.push(word.clone()),
            }
            continue;
        }
        list = None;
        let shorts = "0123456789@DTXdfhijklmqruvxyS";
        let parsed = args::parse(std::slice::from_ref(word), shorts, LONGS, true)
            .map_err(|message| format!("Invalid command arguments ({message})"))?;
        for (letter, _) in parsed.options {
            match letter {
                '0'..='9' => config.level = letter.to_digit(10).map(i64::from),
                '@' => from_stdin = true,
                'D' => config.no_directories = true,
                'd' => config.delete = true,
                'f' => config.freshen = true,
                'i' | 'x' => list = Some(letter),
                'j' => config.junk = true,
                'm' => config.remove = true,
                'q' => config.quiet = true,
                'r' => config.recursive = true,
                'u' => config.update = true,
                'y' => config.links = true,
                'h' => {
                    println!("Usage: zip [-options] [zipfile list] [-xi list]");
                    return Ok(None);
                }
                '\u{e001}' => {
                    println!("Zip 3.0 compatible (wskill texttools)");
                    return Ok(None);
                }
                _ => {}
            }
        }
    }
    if from_stdin {
        operands.extend(io::stdin().lock().split(b'\n').map_while(Result::ok).filter(|line| !line.is_empty()));
    }
    let mut operands = operands.into_iter();
    let Some(mut archive) = operands.next() else {
        println!("Usage: zip [-options] [zipfile list] [-xi list]");
        return Ok(None);
    };
    let base = archive.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    if archive != b"-" && !base.contains(&b'.') {
        archive.extend_from_slice(b".zip");
    }
    config.archive = archive;
    config.inputs = operands.collect();
    Ok(Some(config))
}

/// A file to put in: where it is, and its name in the archive.
struct Source {
    path: Vec<u8>,
    name: String,
    info: Metadata,
}

/// What was done to a member.
struct Done {
    verb: &'static str,
    name: String,
}

fn matches_any(patterns: &[Vec<u8>], name: &[u8]) -> bool {
    patterns.iter().any(|pattern| glob::matches(pattern, name, glob::Options::default()))
}

fn stored_name(config: &Config, path: &[u8], directory: bool) -> String {
    let mut name = path;
    while let Some(rest) = name.strip_prefix(b"./").or_else(|| name.strip_prefix(b"/")) {
        name = rest;
    }
    if config.junk {
        name = name.rsplit(|byte| *byte == b'/').next().unwrap_or(name);
    }
    let name = show(name.strip_suffix(b"/").unwrap_or(name));
    if directory { format!("{name}/") } else { name }
}

fn collect(config: &Config, missing: &mut bool) -> Vec<Source> {
    let mut sources = Vec::new();
    let mut pending: Vec<Vec<u8>> = config.inputs.iter().rev().cloned().collect();
    let archive = platform::stat(&config.archive, true).ok();
    while let Some(path) = pending.pop() {
        let info = match if path == b"-" {
            Ok(Metadata { mode: mode::FIFO | 0o600, ..Metadata::default() })
        } else {
            platform::stat(&path, !config.links)
        } {
            Ok(info) => info,
            Err(_) => {
                println!("\tzip warning: name not matched: {}", show(&path));
                *missing = true;
                continue;
            }
        };
        let plain = stored_name(config, &path, info.is_dir());
        if info.is_dir() {
            if config.recursive {
                let mut names = platform::list(&path).unwrap_or_default();
                names.sort_unstable_by(|a, b| b.cmp(a));
                let base = path.strip_suffix(b"/").unwrap_or(&path);
                pending.extend(names.iter().map(|name| [base, b"/", name].concat()));
            }
            if config.junk || config.no_directories || matches!(path.as_slice(), b"." | b"./") {
                continue;
            }
        }
        let same = archive.is_some_and(|archive| (archive.dev, archive.ino) == (info.dev, info.ino));
        let excluded = matches_any(&config.excludes, plain.as_bytes()) || matches_any(&config.excludes, &path);
        let included = config.includes.is_empty() || matches_any(&config.includes, plain.as_bytes());
        if !same && !excluded && included && !plain.is_empty() {
            sources.push(Source { path, name: plain, info });
        }
    }
    sources
}

fn act(config: &Config) -> io::Result<i32> {
    let existing = if config.archive == b"-" { None } else { File::open(platform::path(&config.archive)).ok() };
    let invalid = |error: zip::result::ZipError| io::Error::new(io::ErrorKind::InvalidData, error.to_string());
    let mut old = match existing {
        Some(file) if file.metadata()?.len() > 0 => Some(ZipArchive::new(file).map_err(|_| {
            io::Error::new(
                io::ErrorKind::InvalidData,
                format!("Zip file structure invalid ({})", show(&config.archive)),
            )
        })?),
        _ => None,
    };
    if config.delete && old.is_none() {
        println!("\nzip error: Nothing to do! ({})", show(&config.archive));
        return Ok(12);
    }
    let mut missing = false;
    let sources = if config.delete { Vec::new() } else { collect(config, &mut missing) };
    let mut replaced: HashMap<String, &Source> = HashMap::new();
    let mut added: Vec<&Source> = Vec::new();
    let old_names: HashMap<String, Option<DateTime>> = match &mut old {
        Some(archive) => (0..archive.len())
            .filter_map(|index| archive.by_index_raw(index).ok().map(|file| (member_name(&file), file.last_modified())))
            .collect(),
        None => HashMap::new(),
    };
    for source in &sources {
        match old_names.get(&source.name) {
            Some(when) => {
                let newer = when.is_none_or(|when| dos_order(date_of(&source.info)) > dos_order(when));
                if !(config.update || config.freshen) || newer {
                    replaced.insert(source.name.clone(), source);
                }
            }
            None if config.freshen => {}
            None => added.push(source),
        }
    }
    let mut buffer = Cursor::new(Vec::new());
    let mut done: Vec<Done> = Vec::new();
    let mut writer = ZipWriter::new(&mut buffer);
    if let Some(archive) = &mut old {
        for index in 0..archive.len() {
            let file = archive.by_index_raw(index).map_err(invalid)?;
            let name = member_name(&file);
            if config.delete && matches_any(&config.inputs, name.as_bytes()) {
                done.push(Done { verb: "deleting", name });
                continue;
            }
            match replaced.get(&name) {
                Some(source) => {
                    drop(file);
                    write_member(config, &mut writer, source)?;
                    done.push(Done { verb: "updating", name });
                }
                None => writer.raw_copy_file(file).map_err(invalid)?,
            }
        }
    }
    for source in added {
        write_member(config, &mut writer, source)?;
        done.push(Done { verb: "  adding", name: source.name.clone() });
    }
    if done.is_empty() && !(config.update || config.freshen) {
        println!("\nzip error: Nothing to do! ({})", show(&config.archive));
        return Ok(12);
    }
    writer.finish().map_err(invalid)?;
    save(config, buffer.get_ref())?;
    if !config.quiet && config.archive != b"-" {
        report(&mut buffer, &done)?;
    }
    if config.remove {
        for source in sources.iter().rev() {
            let path = platform::path(&source.path);
            if source.info.is_dir() {
                // One that still has something in it stays.
                let _ = fs::remove_dir(path);
            } else {
                fs::remove_file(path)?;
            }
        }
    }
    Ok(if missing { 18 } else { 0 })
}

fn save(config: &Config, bytes: &[u8]) -> io::Result<()> {
    if config.archive == b"-" {
        let mut out = platform::standard_file(1);
        return out.write_all(bytes);
    }
    let temporary = [config.archive.as_slice(), b".tmp"].concat();
    let mut file = BufWriter::new(File::create(platform::path(&temporary))?);
    let written = file.write_all(bytes).and_then(|()| file.flush());
    drop(file);
    match written.and_then(|()| fs::rename(platform::path(&temporary), platform::path(&config.archive))) {
        Ok(()) => Ok(()),
        Err(error) => {
            let _ = fs::remove_file(platform::path(&temporary));
            Err(error)
        }
    }
}

fn report(archive: &mut (impl Read + Seek), done: &[Done]) -> io::Result<()> {
    let mut archive = ZipArchive::new(archive).map_err(io::Error::other)?;
    let mut out = Output::new("zip", 14);
    for item in done {
        let Ok(file) = archive.by_name(&item.name) else {
            out.text(&format!("{}: {}\n", item.verb, item.name));
            continue;
        };
        let (size, packed) = (file.size(), file.compressed_size());
        let method = if file.compression() == CompressionMethod::Stored { "stored" } else { "deflated" };
        let percent = if size > 0 { ((size.saturating_sub(packed)) as f64 * 100.0 / size as f64).round() } else { 0.0 };
        out.text(&format!("{}: {} ({method} {percent:.0}%)\n", item.verb, item.name));
    }
    Ok(())
}

fn date_of(info: &Metadata) -> DateTime {
    let civil = time::local(info.mtime.div_euclid(1_000_000_000));
    let byte = |number: i64| number as u8;
    DateTime::from_date_and_time(
        civil.year.clamp(1980, 2107) as u16,
        byte(civil.month),
        byte(civil.day),
        byte(civil.hour),
        byte(civil.minute),
        byte(civil.second),
    )
    .unwrap_or_default()
}

fn dos_order(date: DateTime) -> (u16, u16) {
    (date.datepart(), date.timepart())
}

fn write_member<W: Write + Seek>(config: &Config, writer: &mut ZipWriter<W>, source: &Source) -> io::Result<()> {
    let options = SimpleFileOptions::default()
        .unix_permissions(source.info.mode & 0o7777)
        .last_modified_time(date_of(&source.info))
        .large_file(source.info.size >= u64::from(u32::MAX))
        .compression_level(config.level.filter(|level| *level > 0));
    if source.info.is_dir() {
        let options = options.compression_method(CompressionMethod::Stored);
        return writer.add_directory(source.name.as_str(), options).map_err(io::Error::other);
    }
    if source.info.kind() == mode::LINK {
        let target = platform::read_link(&source.path)?;
        return writer.add_symlink(source.name.as_str(), show(&target), options).map_err(io::Error::other);
    }
    let mut stream = input::open(&source.path)?;
    let mut text = Vec::new();
    let mut method = if config.level == Some(0) { CompressionMethod::Stored } else { CompressionMethod::Deflated };
    if source.info.size <= TRY_LIMIT {
        stream.read_to_end(&mut text)?;
        if method == CompressionMethod::Deflated {
            let level = flate2::Compression::new(config.level.unwrap_or(6) as u32);
            let mut trial = flate2::write::DeflateEncoder::new(Vec::new(), level);
            trial.write_all(&text)?;
            if trial.finish()?.len() >= text.len() {
                method = CompressionMethod::Stored;
            }
        }
    }
    writer.start_file(source.name.as_str(), options.compression_method(method)).map_err(io::Error::other)?;
    writer.write_all(&text)?;
    io::copy(&mut stream, writer)?;
    Ok(())
}
