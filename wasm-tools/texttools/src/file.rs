//! `file`: what a file seems to hold, by a small table of beginnings.

use std::io::Read;

use crate::args::{self, Long, Value};
use crate::input;
use crate::output::{Output, show};
use crate::platform::{self, mode};

/// Bytes of a file that are looked at.
const SAMPLE: usize = 256 << 10;

const LONGS: &[Long] = &[
    ("brief", Value::No, 'b'),
    ("dereference", Value::No, 'L'),
    ("files-from", Value::Required, 'f'),
    ("help", Value::No, 'h'),
    ("keep-going", Value::No, 'k'),
    ("mime", Value::No, 'i'),
    ("mime-encoding", Value::No, '\u{e000}'),
    ("mime-type", Value::No, '\u{e001}'),
    ("no-dereference", Value::No, 'h'),
    ("no-pad", Value::No, 'N'),
    ("print0", Value::No, '0'),
    ("separator", Value::Required, 'F'),
    ("special-files", Value::No, 's'),
    ("uncompress", Value::No, 'z'),
    ("version", Value::No, 'v'),
];

/// A beginning, its place, what it tells and the MIME type.
const MAGIC: &[(usize, &[u8], &str, &str)] = &[
    (0, b"\x89PNG\r\n\x1a\n", "PNG image data", "image/png"),
    (0, b"\xff\xd8\xff", "JPEG image data", "image/jpeg"),
    (0, b"GIF87a", "GIF image data, version 87a", "image/gif"),
    (0, b"GIF89a", "GIF image data, version 89a", "image/gif"),
    (0, b"BM", "PC bitmap", "image/bmp"),
    (0, b"II*\0", "TIFF image data, little-endian", "image/tiff"),
    (0, b"MM\0*", "TIFF image data, big-endian", "image/tiff"),
    (8, b"WEBP", "RIFF (little-endian) data, Web/P image", "image/webp"),
    (8, b"WAVE", "RIFF (little-endian) data, WAVE audio", "audio/x-wav"),
    (0, b"%PDF-", "PDF document", "application/pdf"),
    (0, b"%!PS", "PostScript document text", "application/postscript"),
    (0, b"\x7fELF", "ELF", "application/x-executable"),
    (0, b"\0asm", "WebAssembly (wasm) binary module", "application/wasm"),
    (0, b"MZ", "MS-DOS executable", "application/x-dosexec"),
    (0, b"\xca\xfe\xba\xbe", "compiled Java class data", "application/x-java-applet"),
    (0, b"\x1f\x8b", "gzip compressed data", "application/gzip"),
    (0, b"BZh", "bzip2 compressed data", "application/x-bzip2"),
    (0, b"\xfd7zXZ\0", "XZ compressed data", "application/x-xz"),
    (0, b"\x28\xb5\x2f\xfd", "Zstandard compressed data (v0.8+)", "application/zstd"),
    (0, b"7z\xbc\xaf\x27\x1c", "7-zip archive data", "application/x-7z-compressed"),
    (0, b"Rar!", "RAR archive data", "application/x-rar"),
    (257, b"ustar  \0", "POSIX tar archive (GNU)", "application/x-tar"),
    (257, b"ustar\0", "POSIX tar archive", "application/x-tar"),
    (0, b"SQLite format 3\0", "SQLite 3.x database", "application/vnd.sqlite3"),
    (0, b"!<arch>\n", "current ar archive", "application/x-archive"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "Composite Document File V2 Document", "application/x-ole-storage"),
    (0, b"OggS", "Ogg data", "application/ogg"),
    (0, b"fLaC", "FLAC audio bitstream data", "audio/flac"),
    (0, b"ID3", "Audio file with ID3", "audio/mpeg"),
    (4, b"ftyp", "ISO Media", "video/mp4"),
    (0, b"{\\rtf", "Rich Text Format data", "text/rtf"),
    (0, b"PAR1", "Apache Parquet", "application/octet-stream"),
    (0, b"wOFF", "Web Open Font Format", "font/woff"),
    (0, b"wOF2", "Web Open Font Format (Version 2)", "font/woff2"),
];

/// How results are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Text,
    Mime,
    MimeType,
    MimeEncoding,
}

/// What was found: the description, the MIME type and the encoding.
struct Kind {
    text: String,
    mime: String,
    encoding: &'static str,
}

impl Kind {
    fn new(text: impl Into<String>, mime: &str, encoding: &'static str) -> Self {
        Self { text: text.into(), mime: mime.into(), encoding }
    }
}

/// Runs file and gives its exit status.
pub fn run(arguments: &[Vec<u8>]) -> i32 {
    let parsed = match args::parse(arguments, "0bdEf:F:hikLnNprsvz", LONGS, true) {
        Ok(parsed) => parsed,
        Err(message) => {
            eprintln!("file: {message}");
            return 1;
        }
    };
    let (mut brief, mut follow, mut style, mut separator, mut pad) = (false, false, Style::Text, ":".to_string(), true);
    let mut files = Vec::new();
    for (letter, value) in parsed.options {
        let value = value.unwrap_or_default();
        match letter {
            'b' => brief = true,
            'L' => follow = true,
            'i' => style = Style::Mime,
            'F' => separator = show(&value),
            'N' => pad = false,
            'f' => match input::read(&value) {
                Ok(text) => {
                    files.extend(text.split(|byte| *byte == b'\n').filter(|l| !l.is_empty()).map(<[u8]>::to_vec))
                }
                Err(error) => {
                    eprintln!("file: {}: {}", show(&value), platform::message(&error));
                    return 1;
                }
            },
            '\u{e000}' => style = Style::MimeEncoding,
            '\u{e001}' => style = Style::MimeType,
            'v' => {
                println!("file-5.44 compatible (wskill texttools)");
                return 0;
            }
            _ => {}
        }
    }
    files.extend(parsed.operands);
    if files.is_empty() {
        eprintln!("Usage: file [-bLiN] [--mime-type] [--mime-encoding] [-f namefile] [-F separator] file ...");
        return 1;
    }
    let width = files.iter().map(|name| show(name).chars().count()).max().unwrap_or(0);
    let mut out = Output::new("file", 1);
    for name in &files {
        let kind = examine(name, follow);
        if !brief {
            let shown = if name == b"-" { "/dev/stdin".to_string() } else { show(name) };
            let fill = if pad { width.saturating_sub(shown.chars().count()) } else { 0 };
            out.text(&format!("{shown}{separator}{} ", " ".repeat(fill)));
        }
        out.text(&match style {
            Style::Text => format!("{}\n", kind.text),
            Style::MimeType => format!("{}\n", kind.mime),
            Style::MimeEncoding => format!("{}\n", kind.encoding),
            Style::Mime => format!("{}; charset={}\n", kind.mime, kind.encoding),
        });
    }
    out.flush_all();
    0
}

fn examine(name: &[u8], follow: bool) -> Kind {
    if name != b"-" {
        let info = match platform::stat(name, follow) {
            Ok(info) => info,
            Err(error) => {
                let text = format!("cannot open `{}' ({})", show(name), platform::message(&error));
                return Kind::new(text.clone(), &text, "binary");
            }
        };
        match info.kind() {
            mode::DIRECTORY => return Kind::new("directory", "inode/directory", "binary"),
            mode::LINK => {
                let target = show(&platform::read_link(name).unwrap_or_default());
                let broken = platform::stat(name, true).is_err();
                let text = if broken {
                    format!("broken symbolic link to {target}")
                } else {
                    format!("symbolic link to {target}")
                };
                return Kind::new(text, "inode/symlink", "binary");
            }
            mode::FIFO => return Kind::new("fifo (named pipe)", "inode/fifo", "binary"),
            mode::CHARACTER => return Kind::new("character special", "inode/chardevice", "binary"),
            _ => {}
        }
        if info.is_file() && info.size == 0 {
            return Kind::new("empty", "inode/x-empty", "binary");
        }
    }
    let mut data = Vec::new();
    match input::open(name).and_then(|stream| stream.take(SAMPLE as u64).read_to_end(&mut data)) {
        Ok(0) => Kind::new("empty", "inode/x-empty", "binary"),
        Ok(_) => identify(&data),
        Err(error) => {
            let text = format!("cannot open `{}' ({})", show(name), platform::message(&error));
            Kind::new(text.clone(), &text, "binary")
        }
    }
}

fn identify(data: &[u8]) -> Kind {
    if data.starts_with(b"PK\x03\x04") || data.starts_with(b"PK\x05\x06") {
        return zip(data);
    }
    for (at, magic, text, mime) in MAGIC {
        if data.get(*at..).is_some_and(|rest| rest.starts_with(magic)) {
            let details = details(data, text);
            // Text that happens to begin like this.
            if *magic == b"BM" && data.len() < 26 || *magic == b"MZ" && data.len() < 64 {
                continue;
            }
            return Kind::new(format!("{text}{details}"), mime, "binary");
        }
    }
    text(data)
}

fn details(data: &[u8], kind: &str) -> String {
    let big = |at: usize| data.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_be_bytes);
    let little16 = |at: usize| data.get(at..at + 2).and_then(|bytes| bytes.try_into().ok()).map(u16::from_le_bytes);
    match kind {
        "PNG image data" => {
            let color = match data.get(25) {
                Some(0) => "grayscale",
                Some(2) => "/color RGB",
                Some(3) => "colormap",
                Some(4) => "gray+alpha",
                Some(6) => "/color RGBA",
                _ => return String::new(),
            };
            let bits = data.get(24).copied().unwrap_or(8);
            let interlaced = if data.get(28) == Some(&1) { "interlaced" } else { "non-interlaced" };
            let joined =
                if color.starts_with('/') { format!("{bits}-bit{color}") } else { format!("{bits}-bit {color}") };
            format!(", {} x {}, {joined}, {interlaced}", big(16).unwrap_or(0), big(20).unwrap_or(0))
        }
        kind if kind.starts_with("GIF image data") => {
            format!(", {} x {}", little16(6).unwrap_or(0), little16(8).unwrap_or(0))
        }
        "PDF document" => {
            let version: String =
                data[5..].iter().take_while(|b| b.is_ascii_digit() || **b == b'.').map(|b| *b as char).collect();
            format!(", version {version}")
        }
        "ELF" => {
            let bits = if data.get(4) == Some(&2) { "64-bit" } else { "32-bit" };
            let order = if data.get(5) == Some(&2) { "MSB" } else { "LSB" };
            let kind = match data.get(16) {
                Some(1) => "relocatable",
                Some(2) => "executable",
                Some(3) => "shared object",
                _ => "core file",
            };
            format!(" {bits} {order} {kind}")
        }
        "bzip2 compressed data" => format!(", block size = {}00k", data.get(3).map_or('9', |byte| *byte as char)),
        "WebAssembly (wasm) binary module" => {
            let version = data.get(4..8).and_then(|bytes| bytes.try_into().ok()).map_or(1, u32::from_le_bytes);
            format!(" version {version:#x} (MVP)")
        }
        _ => String::new(),
    }
}

/// Office documents and Java archives are zip archives; their first member tells.
fn zip(data: &[u8]) -> Kind {
    let length = data
        .get(26..28)
        .and_then(|bytes| bytes.try_into().ok())
        .map_or(0, |bytes| usize::from(u16::from_le_bytes(bytes)));
    let first = data.get(30..30 + length).unwrap_or_default();
    let has = |name: &[u8]| memchr::memmem::find(data, name).is_some();
    if first == b"mimetype" {
        let content = show(&data[(30 + length).min(data.len())..(30 + length + 80).min(data.len())]);
        if content.contains("epub") {
            return Kind::new("EPUB document", "application/epub+zip", "binary");
        }
        if content.contains("opendocument.text") {
            return Kind::new("OpenDocument Text", "application/vnd.oasis.opendocument.text", "binary");
        }
        if content.contains("opendocument.spreadsheet") {
            return Kind::new("OpenDocument Spreadsheet", "application/vnd.oasis.opendocument.spreadsheet", "binary");
        }
    }
    if first == b"[Content_Types].xml" || first.starts_with(b"_rels/") || first.starts_with(b"docProps/") {
        let office = "application/vnd.openxmlformats-officedocument";
        if has(b"word/") {
            return Kind::new("Microsoft Word 2007+", &format!("{office}.wordprocessingml.document"), "binary");
        }
        if has(b"xl/") {
            return Kind::new("Microsoft Excel 2007+", &format!("{office}.spreadsheetml.sheet"), "binary");
        }
        if has(b"ppt/") {
            return Kind::new("Microsoft PowerPoint 2007+", &format!("{office}.presentationml.presentation"), "binary");
        }
        return Kind::new("Microsoft OOXML", "application/octet-stream", "binary");
    }
    if first.starts_with(b"META-INF/") {
        return Kind::new("Java archive data (JAR)", "application/java-archive", "binary");
    }
    if data.starts_with(b"PK\x05\x06") {
        return Kind::new("Zip archive data (empty)", "application/zip", "binary");
    }
    let (version, method) = (data.get(4).copied().unwrap_or(20), data.get(8).copied().unwrap_or(8));
    let method = match method {
        0 => "store",
        8 => "deflate",
        _ => "other",
    };
    let text = format!(
        "Zip archive data, at least v{}.{} to extract, compression method={method}",
        version / 10,
        version % 10
    );
    Kind::new(text, "application/zip", "binary")
}

fn text(data: &[u8]) -> Kind {
    let control = |byte: &u8| *byte < 0x20 && !matches!(byte, b'\n' | b'\r' | b'\t' | 0x0c | 0x08 | 0x1b | 0x07);
    let sampled = data.len() >= SAMPLE;
    let (encoding_name, encoding): (&str, &'static str) =
        if data.starts_with(b"\xff\xfe") || data.starts_with(b"\xfe\xff") {
            let order = if data.starts_with(b"\xff\xfe") { "little-endian" } else { "big-endian" };
            let name = if order == "little-endian" { "utf-16le" } else { "utf-16be" };
            return Kind::new(format!("Unicode text, UTF-16, {order} text"), "text/plain", name);
        } else if data.iter().any(control) {
            return Kind::new("data", "application/octet-stream", "binary");
        } else if data.is_ascii() {
            ("ASCII text", "us-ascii")
        } else {
            // A sample may end inside of a character.
            match std::str::from_utf8(data) {
                Ok(_) if data.starts_with(b"\xef\xbb\xbf") => ("Unicode text, UTF-8 (with BOM) text", "utf-8"),
                Ok(_) => ("Unicode text, UTF-8 text", "utf-8"),
                Err(error) if sampled && error.valid_up_to() + 4 > data.len() => ("Unicode text, UTF-8 text", "utf-8"),
                Err(_) if data.iter().any(|byte| (0x80..0xa0).contains(byte)) => {
                    ("Non-ISO extended-ASCII text", "unknown-8bit")
                }
                Err(_) => ("ISO-8859 text", "iso-8859-1"),
            }
        };
    let mut traits = String::new();
    let longest = data.split(|byte| *byte == b'\n').map(<[u8]>::len).max().unwrap_or(0);
    if longest > 300 {
        traits.push_str(&format!(", with very long lines ({longest})"));
    }
    let crlf = memchr::memmem::find(data, b"\r\n").is_some();
    if !data.contains(&b'\n') {
        traits.push_str(", with no line terminators");
    } else if crlf {
        traits.push_str(", with CRLF line terminators");
    }
    let first = data.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let trimmed = data.trim_ascii_start();
    let starts =
        |word: &str| trimmed.len() >= word.len() && trimmed[..word.len()].eq_ignore_ascii_case(word.as_bytes());
    if let Some(interpreter) = first.strip_prefix(b"#!") {
        return script(&show(interpreter), encoding_name, &traits, encoding);
    }
    if starts("<?xml") {
        let version = show(trimmed).split('"').nth(1).unwrap_or("1.0").to_string();
        if memchr::memmem::find(data, b"<svg").is_some() {
            return Kind::new("SVG Scalable Vector Graphics image", "image/svg+xml", encoding);
        }
        return Kind::new(format!("XML {version} document, {encoding_name}{traits}"), "text/xml", encoding);
    }
    if starts("<svg") {
        return Kind::new("SVG Scalable Vector Graphics image", "image/svg+xml", encoding);
    }
    if starts("<!doctype html") || starts("<html") {
        return Kind::new(format!("HTML document, {encoding_name}{traits}"), "text/html", encoding);
    }
    if matches!(trimmed.first(), Some(b'{' | b'[')) && !sampled && crate::jq::is_json(data) {
        return Kind::new("JSON text data", "application/json", encoding);
    }
    let c_like = ["#include", "int main("].iter().any(|word| memchr::memmem::find(data, word.as_bytes()).is_some());
    if c_like {
        return Kind::new(format!("C source, {encoding_name}{traits}"), "text/x-c", encoding);
    }
    let python =
        ["\ndef ", "\nimport ", "\nfrom "].iter().any(|word| memchr::memmem::find(data, word.as_bytes()).is_some())
            && memchr::memmem::find(data, b":\n").is_some();
    if python {
        return Kind::new(
            format!("Python script, {encoding_name} executable{traits}"),
            "text/x-script.python",
            encoding,
        );
    }
    if !sampled && is_csv(data) {
        return Kind::new(format!("CSV {encoding_name}{traits}"), "text/csv", encoding);
    }
    Kind::new(format!("{encoding_name}{traits}"), "text/plain", encoding)
}

fn script(interpreter: &str, encoding_name: &str, traits: &str, encoding: &'static str) -> Kind {
    let mut words = interpreter.split_whitespace();
    let mut program = words.next().unwrap_or_default().rsplit('/').next().unwrap_or_default().to_string();
    if program == "env" {
        program = words.next().unwrap_or_default().to_string();
    }
    let (name, mime) = match program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
        "bash" => ("Bourne-Again shell script", "text/x-shellscript"),
        "sh" | "dash" | "ash" => ("POSIX shell script", "text/x-shellscript"),
        "zsh" => ("Paul Falstad's zsh script", "text/x-shellscript"),
        "python" => ("Python script", "text/x-script.python"),
        "perl" => ("Perl script text executable", "text/x-perl"),
        "ruby" => ("Ruby script", "text/x-ruby"),
        "node" => ("Node.js script executable", "application/javascript"),
        "awk" | "gawk" => ("awk script", "text/x-awk"),
        _ => {
            let text = format!("a {} script, {encoding_name} executable{traits}", interpreter.trim());
            return Kind::new(text, "text/plain", encoding);
        }
    };
    Kind::new(format!("{name}, {encoding_name} executable{traits}"), mime, encoding)
}

/// At least two lines with the same number of commas, more than none.
fn is_csv(data: &[u8]) -> bool {
    let mut counts = data.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).take(10).map(|line| {
        let mut quoted = false;
        line.iter()
            .filter(|byte| {
                quoted ^= **byte == b'"';
                **byte == b',' && !quoted
            })
            .count()
    });
    let Some(first) = counts.next() else { return false };
    let rest: Vec<usize> = counts.collect();
    first > 0 && !rest.is_empty() && rest.iter().all(|count| *count == first)
}
