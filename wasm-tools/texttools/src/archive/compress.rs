//! `gzip`, `bzip2`, `xz`, `zstd` and their relatives: files replaced by their compressed form and back.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};

use super::codec::Format;
use crate::args::{self, Long, Value};
use crate::input;
use crate::output::show;
use crate::platform;

const LONGS: &[Long] = &[
    ("ascii", Value::No, 'a'),
    ("best", Value::No, '9'),
    ("compress", Value::No, 'z'),
    ("decompress", Value::No, 'd'),
    ("fast", Value::No, '1'),
    ("force", Value::No, 'f'),
    ("format", Value::Required, 'F'),
    ("help", Value::No, 'h'),
    ("keep", Value::No, 'k'),
    ("list", Value::No, 'l'),
    ("name", Value::No, 'N'),
    ("no-name", Value::No, 'n'),
    ("quiet", Value::No, 'q'),
    ("recursive", Value::No, 'r'),
    ("rm", Value::No, '\u{e000}'),
    ("rsyncable", Value::No, 'q'),
    ("stdout", Value::No, 'c'),
    ("suffix", Value::Required, 'S'),
    ("test", Value::No, 't'),
    ("threads", Value::Required, 'T'),
    ("to-stdout", Value::No, 'c'),
    ("uncompress", Value::No, 'd'),
    ("verbose", Value::No, 'v'),
    ("version", Value::No, 'V'),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Action {
    Compress,
    Decompress,
    Test,
    List,
}

struct Config {
    program: String,
    format: Format,
    action: Action,
    stdout: bool,
    keep: bool,
    force: bool,
    quiet: bool,
    verbose: bool,
    recursive: bool,
    level: Option<u32>,
    suffix: Vec<u8>,
    /// `-o` of zstd.
    output: Option<Vec<u8>>,
}

/// Runs one of the programs and gives its exit status: 0, 1 for an error, 2 for a warning.
pub fn run(program: &str, arguments: &[Vec<u8>]) -> i32 {
    let (format, suffix, action, stdout) = match program {
        "gunzip" | "uncompress" => (Format::Gzip, ".gz", Action::Decompress, false),
        "zcat" | "gzcat" => (Format::Gzip, ".gz", Action::Decompress, true),
        "bzip2" => (Format::Bzip2, ".bz2", Action::Compress, false),
        "bunzip2" => (Format::Bzip2, ".bz2", Action::Decompress, false),
        "bzcat" => (Format::Bzip2, ".bz2", Action::Decompress, true),
        "xz" => (Format::Xz, ".xz", Action::Compress, false),
        "unxz" => (Format::Xz, ".xz", Action::Decompress, false),
        "xzcat" => (Format::Xz, ".xz", Action::Decompress, true),
        "lzma" => (Format::Lzma, ".lzma", Action::Compress, false),
        "unlzma" => (Format::Lzma, ".lzma", Action::Decompress, false),
        "lzcat" => (Format::Lzma, ".lzma", Action::Decompress, true),
        "zstd" => (Format::Zstd, ".zst", Action::Compress, false),
        "unzstd" => (Format::Zstd, ".zst", Action::Decompress, false),
        "zstdcat" => (Format::Zstd, ".zst", Action::Decompress, true),
        _ => (Format::Gzip, ".gz", Action::Compress, false),
    };
    let mut config = Config {
        program: program.to_string(),
        format,
        action,
        stdout,
        keep: format == Format::Zstd,
        force: false,
        quiet: false,
        verbose: false,
        recursive: false,
        level: None,
        suffix: suffix.as_bytes().to_vec(),
        output: None,
    };
    let shorts =
        if format == Format::Zstd { "0123456789cdfhklo:qrtT:vVz" } else { "0123456789acdeF:fhklnNqrstS:T:vVz" };
    let parsed = match args::parse(arguments, shorts, LONGS, true) {
        Ok(parsed) => parsed,
        Err(message) => {
            eprintln!("{program}: {message}\nTry `{program} --help' for more information.");
            return 1;
        }
    };
    for (letter, value) in parsed.options {
        match letter {
            '0'..='9' => config.level = letter.to_digit(10),
            'c' => config.stdout = true,
            'd' => config.action = Action::Decompress,
            'z' => config.action = Action::Compress,
            't' => config.action = Action::Test,
            'l' => config.action = Action::List,
            'k' => config.keep = true,
            '\u{e000}' => config.keep = false,
            'f' => config.force = true,
            'q' => config.quiet = true,
            'v' => config.verbose = true,
            'r' => config.recursive = true,
            'o' => config.output = value,
            'S' => config.suffix = value.unwrap_or_default(),
            'F' => {
                if value.as_deref() == Some(b"lzma") {
                    config.format = Format::Lzma;
                    config.suffix = b".lzma".to_vec();
                }
            }
            'h' => {
                println!("Usage: {program} [OPTION]... [FILE]...");
                return 0;
            }
            'V' => {
                println!("{program} (wskill texttools)");
                return 0;
            }
            _ => {}
        }
    }
    let mut files = parsed.operands;
    if files.is_empty() {
        files.push(b"-".to_vec());
    }
    if config.action == Action::List {
        return list(&config, &files);
    }
    let mut status = 0;
    for file in &files {
        status = status.max(one(&config, file));
    }
    status
}

fn complain(config: &Config, name: &[u8], message: &str) -> i32 {
    if name == b"-" {
        eprintln!("{}: stdin: {message}", config.program);
    } else {
        eprintln!("{}: {}: {message}", config.program, show(name));
    }
    1
}

fn one(config: &Config, name: &[u8]) -> i32 {
    if name == b"-" {
        return match copy(config, Box::new(io::stdin()), standard_output(config)) {
            Ok(_) => 0,
            Err(error) => complain(config, name, &error_text(config, &error)),
        };
    }
    let info = match platform::stat(name, true) {
        Ok(info) => info,
        // `gunzip file` finds file.gz.
        Err(_) if config.action != Action::Compress && !name.ends_with(&config.suffix) => {
            let longer = [name, &config.suffix].concat();
            return match platform::stat(&longer, true) {
                Ok(_) => one(config, &longer),
                Err(error) => complain(config, &longer, &platform::message(&error)),
            };
        }
        Err(error) => return complain(config, name, &platform::message(&error)),
    };
    if info.is_dir() {
        if !config.recursive {
            if !config.quiet {
                eprintln!("{}: {} is a directory -- ignored", config.program, show(name));
            }
            return 2;
        }
        let mut names = match platform::list(name) {
            Ok(names) => names,
            Err(error) => return complain(config, name, &platform::message(&error)),
        };
        names.sort_unstable();
        let children = names.iter().map(|child| [name.strip_suffix(b"/").unwrap_or(name), b"/", child].concat());
        return children.map(|child| one(config, &child)).max().unwrap_or(0);
    }
    let target = match target_name(config, name) {
        Ok(target) => target,
        Err(status) => return status,
    };
    let stream = match input::open_file(name) {
        Ok(file) => file,
        Err(error) => return complain(config, name, &platform::message(&error)),
    };
    let Some(target) = target else {
        return match copy(config, Box::new(stream), standard_output(config)) {
            Ok(_) => 0,
            Err(error) => complain(config, name, &error_text(config, &error)),
        };
    };
    if !config.force && platform::stat(&target, false).is_ok() {
        eprintln!("{}: {} already exists;\tnot overwritten", config.program, show(&target));
        return 2;
    }
    let written = File::create(platform::path(&target))
        .and_then(|file| copy(config, Box::new(stream), Box::new(BufWriter::with_capacity(64 << 10, file))));
    match written {
        Ok(size) => {
            // Mode and times are a courtesy: not every file system has them.
            let _ = platform::chmod(&target, info.mode & 0o7777);
            let _ = platform::set_times(&target, info.atime, info.mtime, true);
            if config.verbose {
                report(config, name, &target, size);
            }
            if !config.keep {
                if let Err(error) = fs::remove_file(platform::path(name)) {
                    return complain(config, name, &platform::message(&error));
                }
            }
            0
        }
        Err(error) => {
            let _ = fs::remove_file(platform::path(&target));
            complain(config, name, &error_text(config, &error))
        }
    }
}

fn report(config: &Config, name: &[u8], target: &[u8], _size: u64) {
    let size_of = |name: &[u8]| platform::stat(name, true).map_or(0, |info| info.size) as f64;
    let (plain, packed) = match config.action {
        Action::Compress => (size_of(name), size_of(target)),
        _ => (size_of(target), size_of(name)),
    };
    let saved = if plain > 0.0 { 100.0 * (1.0 - packed / plain) } else { 0.0 };
    let verb = if config.keep { "created" } else { "replaced with" };
    eprintln!("{}:\t{saved:5.1}% -- {verb} {}", show(name), show(target));
}

/// Where the result goes; `None` is standard output.
fn target_name(config: &Config, name: &[u8]) -> Result<Option<Vec<u8>>, i32> {
    if config.stdout || config.action == Action::Test {
        return Ok(None);
    }
    if let Some(output) = &config.output {
        return Ok(Some(output.clone()));
    }
    if config.action == Action::Compress {
        if name.ends_with(&config.suffix) && !config.force {
            eprintln!("{}: {} already has {} suffix -- unchanged", config.program, show(name), show(&config.suffix));
            return Err(2);
        }
        return Ok(Some([name, &config.suffix].concat()));
    }
    let replaced: &[(&[u8], &[u8])] = &[
        (b".tgz", b".tar"),
        (b".taz", b".tar"),
        (b".tbz2", b".tar"),
        (b".tbz", b".tar"),
        (b".txz", b".tar"),
        (b".z", b""),
        (b".Z", b""),
    ];
    if let Some(base) = name.strip_suffix(config.suffix.as_slice()).filter(|base| !base.is_empty()) {
        return Ok(Some(base.to_vec()));
    }
    for (suffix, new) in replaced {
        if let Some(base) = name.strip_suffix(*suffix) {
            return Ok(Some([base, new].concat()));
        }
    }
    if config.format == Format::Bzip2 {
        eprintln!("bzip2: Can't guess original name for {0} -- using {0}.out", show(name));
        return Ok(Some([name, b".out"].concat()));
    }
    eprintln!("{}: {}: unknown suffix -- ignored", config.program, show(name));
    Err(2)
}

fn standard_output(config: &Config) -> Box<dyn Write> {
    if config.action == Action::Test {
        Box::new(io::sink())
    } else {
        Box::new(BufWriter::new(platform::standard_file(1)))
    }
}

/// Copies through the codec; the bytes read from its plain side.
fn copy(config: &Config, mut from: Box<dyn Read>, mut to: Box<dyn Write>) -> io::Result<u64> {
    if config.action == Action::Compress {
        let mut encoder = config.format.writer(to, config.level)?;
        let size = io::copy(&mut from, &mut encoder)?;
        encoder.finish()?;
        return Ok(size);
    }
    let mut start = [0; 6];
    let mut filled = 0;
    while filled < start.len() {
        match from.read(&mut start[filled..])? {
            0 => break,
            count => filled += count,
        }
    }
    let start = start[..filled].to_vec();
    let format = match Format::detect(&start) {
        // xz and lzma understand each other's files.
        Some(Format::Xz | Format::Lzma) if matches!(config.format, Format::Xz | Format::Lzma) => {
            Format::detect(&start).unwrap_or(config.format)
        }
        Some(found) if found == config.format => found,
        _ if config.force && config.stdout => {
            to.write_all(&start)?;
            return io::copy(&mut from, &mut to);
        }
        _ if start.is_empty() => return Err(io::ErrorKind::UnexpectedEof.into()),
        _ => return Err(io::Error::new(io::ErrorKind::InvalidData, "format")),
    };
    let mut decoder = format.reader(io::Cursor::new(start).chain(from))?;
    let size = io::copy(&mut decoder, &mut to)?;
    to.flush()?;
    Ok(size)
}

fn error_text(config: &Config, error: &io::Error) -> String {
    if error.raw_os_error().is_some() {
        return platform::message(error);
    }
    match (error.kind(), config.format) {
        (io::ErrorKind::UnexpectedEof, Format::Gzip) => "unexpected end of file".into(),
        (io::ErrorKind::UnexpectedEof, _) => "Unexpected end of input".into(),
        (io::ErrorKind::InvalidData, Format::Gzip) if error.to_string() == "format" => "not in gzip format".into(),
        (_, Format::Gzip) => "invalid compressed data--format violated".into(),
        (_, Format::Bzip2) if error.to_string() == "format" => "(stdin) is not a bzip2 file.".replace("(stdin) ", ""),
        (_, Format::Xz | Format::Lzma) if error.to_string() == "format" => "File format not recognized".into(),
        (_, Format::Zstd) if error.to_string() == "format" => "unsupported format".into(),
        _ => "Compressed data is corrupt".into(),
    }
}

/// `gzip -l`
fn list(config: &Config, files: &[Vec<u8>]) -> i32 {
    println!("         compressed        uncompressed  ratio uncompressed_name");
    let mut status = 0;
    for name in files {
        let result = input::open(name).and_then(|mut stream| {
            let mut packed = Vec::new();
            stream.read_to_end(&mut packed)?;
            let size = packed.len();
            let mut plain = config.format.reader(io::Cursor::new(packed))?;
            Ok((size as u64, io::copy(&mut plain, &mut io::sink())?))
        });
        match result {
            Ok((packed, plain)) => {
                // gzip counts the data without header and trailer.
                let data = packed.saturating_sub(18) as f64;
                let ratio = if plain > 0 { 100.0 * (1.0 - data / plain as f64) } else { 0.0 };
                let shown = name.strip_suffix(config.suffix.as_slice()).unwrap_or(name);
                println!("{packed:>19} {plain:>19} {ratio:5.1}% {}", show(shown));
            }
            Err(error) => status = complain(config, name, &error_text(config, &error)),
        }
    }
    status
}
