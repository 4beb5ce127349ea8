//! A session at a terminal: calls and their answers as one text, with what differs between two days left out.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::common;

/// Calls in a folder of their own, which is also the place for temporary files.
pub struct Session {
    folder: tempfile::TempDir,
    text: String,
}

impl Session {
    /// A session in which nothing was said yet.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("tmp")).unwrap();
        Self { folder, text: String::new() }
    }

    /// A path in the session's folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The same as text.
    pub fn name(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// Writes a file.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self.name(name)
    }

    /// A call that is not part of the text.
    pub fn command(&self, arguments: &[impl AsRef<OsStr>]) -> Command {
        let mut command = common::wskill();
        command.args(arguments).env("TMPDIR", self.path("tmp"));
        command
    }

    /// Runs a call that is not part of the text.
    pub fn run(&self, arguments: &[impl AsRef<OsStr>]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs a call and notes it with its answer.
    pub fn call(&mut self, arguments: &[&str]) -> Output {
        let output = self.run(arguments);
        self.note(arguments, &output);
        output
    }

    /// Notes a call and its answer, and what it left among the temporary files, which is deleted.
    pub fn note(&mut self, arguments: &[&str], output: &Output) {
        let words: Vec<_> = arguments.iter().map(|word| quote(word)).collect();
        writeln!(self.text, "$ wskill {}", words.join(" ")).unwrap();
        let stdout = String::from_utf8_lossy(&output.stdout);
        let json = serde_json::from_str::<serde_json::Value>(&stdout).ok().filter(serde_json::Value::is_object);
        match json {
            Some(value) => self.text += &(serde_json::to_string_pretty(&value).unwrap() + "\n"),
            None => self.text += &stdout,
        }
        for line in String::from_utf8_lossy(&output.stderr).lines() {
            writeln!(self.text, "! {line}").unwrap();
        }
        let status = output.status.code().map_or_else(|| output.status.to_string(), |code| code.to_string());
        writeln!(self.text, "? {status}").unwrap();
        for left in self.leftovers() {
            writeln!(self.text, "left: {}", left.display()).unwrap();
            fs::remove_dir_all(left).unwrap();
        }
        self.text.push('\n');
    }

    /// What lies among the temporary files.
    pub fn leftovers(&self) -> Vec<PathBuf> {
        fs::read_dir(self.path("tmp")).unwrap().map(|entry| entry.unwrap().path()).collect()
    }

    /// The names in a folder of the session, sorted.
    pub fn list(&self, name: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(name)).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Compares all that was noted with a snapshot.
    #[track_caller]
    pub fn finish(self, name: &str) {
        let mut settings = insta::Settings::clone_current();
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        let place = self.folder.path().to_str().unwrap();
        settings.add_filter(&regex_of(place), "[DIR]");
        settings.add_filter(&regex_of(env!("CARGO_MANIFEST_DIR")), "[PROJECT]");
        settings.add_filter(r"ws_\d+_\d+", "ws_[SESSION]_[TIME]");
        settings.add_filter(r"run_\d+", "run_[TIME]");
        settings.add_filter(r#""(\w+_ms)": ?[\d.e-]+"#, r#""$1": [MS]"#);
        settings.add_filter(r#""(peak_memory_bytes|fuel)": ?[1-9]\d*"#, r#""$1": [NUMBER]"#);
        // A limit that ends a run may be met by several processes at once.
        settings.add_filter(r#""(wall_time|fuel|output)": ?[1-9]\d*"#, r#""$1": [COUNT]"#);
        settings.bind(|| insta::assert_snapshot!(name, self.text.trim_end()));
    }
}

/// A pattern that matches just this text.
fn regex_of(text: &str) -> String {
    text.chars().map(|c| if c.is_alphanumeric() { c.to_string() } else { format!("\\{c}") }).collect()
}

fn quote(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,[]+%@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    if word.chars().count() > 200 {
        return format!("'{}…'", word.chars().take(20).collect::<String>());
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A module in text form, assembled into a file.
pub fn assemble(session: &Session, name: &str, text: &str) -> String {
    session.file(name, wat::parse_str(text).unwrap())
}

/// A module of `tests/guests`.
pub fn guest(name: &str) -> Vec<u8> {
    wat::parse_file(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guests").join(name)).unwrap()
}
