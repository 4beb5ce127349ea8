//! Runs scripts in both shells and compares what they say.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use wskill::{Input, Limits, Mount, Sandbox};

use super::common::{block_on, runtime};

const DRIVER: &str = include_str!("driver.sh");

/// What the scripts may call.
const TOOLS: [&str; 11] = ["bash", "true", "false", "cat", "sort", "tr", "wc", "sed", "tail", "grep", "head"];

/// What each script finds in its folder.
const FILES: [(&str, &str); 10] = [
    ("a.txt", "alpha\nbeta\n"),
    ("b.txt", "1 2 3\n4 5 6\n"),
    ("c.log", ""),
    ("ab", "x"),
    ("x y", "sp\n"),
    (".hid", "h\n"),
    ("sub/d.txt", "d"),
    ("sub/e.md", ""),
    ("sub/deep/f.txt", "f\n"),
    ("lib.sh", "echo \"lib $# $1\"\nlf() { echo \"lf $1\"; }\nv2=lib\nreturn 3\n"),
];

const STDIN: &str = "one two\nthree, four\n  five\\x\nlast";

/// How long a script may say nothing new before GNU bash is given up.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often a script with a difference is run by each shell: an answer they share is no difference.
const REPEATS: usize = 4;

/// What a script said.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Said {
    stdout: Vec<u8>,
    status: String,
}

/// A folder with both shells' copies of the scripts.
pub struct Shells {
    folder: TempDir,
}

impl Shells {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let tools = folder.path().join("bin");
        fs::create_dir(&tools).unwrap();
        for tool in TOOLS {
            let path = ["/bin", "/usr/bin"].iter().map(|dir| Path::new(dir).join(tool)).find(|path| path.exists());
            symlink(path.unwrap_or_else(|| panic!("no {tool}")), tools.join(tool)).unwrap();
        }
        let version = Command::new(tools.join("bash")).arg("--version").output().unwrap();
        assert!(String::from_utf8_lossy(&version.stdout).contains("version 5.2"), "GNU bash 5.2 is what is compared");
        Self { folder }
    }

    /// The scripts that end differently.
    pub fn differences(&self, scripts: &[String]) -> Vec<usize> {
        let (native, ours) = (self.native(scripts), self.sandboxed(scripts));
        (0..scripts.len()).filter(|&index| native[index] != ours[index]).collect()
    }

    /// How the script ends differently, whatever is by chance in it.
    pub fn difference(&self, script: &str) -> Option<String> {
        let scripts = vec![script.to_owned(); REPEATS];
        let (native, ours) = (self.native(&scripts), self.sandboxed(&scripts));
        if native.iter().any(|said| ours.contains(said)) {
            return None;
        }
        let show = |said: &Said| format!("status {}\n{}", said.status.trim(), String::from_utf8_lossy(&said.stdout));
        Some(format!("--- GNU bash: {}\n--- sandbox: {}", show(&native[0]), show(&ours[0])))
    }

    /// Where the scripts run, under the same path for both.
    fn place(&self) -> PathBuf {
        self.folder.path().join("scripts")
    }

    fn native(&self, scripts: &[String]) -> Vec<Said> {
        let place = self.place();
        prepare(&place, scripts);
        let mut command = Command::new(self.folder.path().join("bin/bash"));
        command.arg(place.join("driver.sh")).arg(&place).arg(scripts.len().to_string());
        command.env_clear().env("PATH", self.folder.path().join("bin")).envs(environment());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().unwrap();
        let (mut done, mut since) = (0, Instant::now());
        while child.try_wait().unwrap().is_none() {
            if place.join(format!("{done}.status")).exists() {
                (done, since) = (done + 1, Instant::now());
                continue;
            }
            if since.elapsed() > PATIENCE {
                let group = rustix::process::Pid::from_child(&child);
                let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
                let _ = child.wait();
                panic!("GNU bash does not end script {done}:\n{}", scripts[done.min(scripts.len() - 1)]);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        collect(&place, scripts.len())
    }

    fn sandboxed(&self, scripts: &[String]) -> Vec<Said> {
        let place = self.place();
        prepare(&place, scripts);
        let guest = place.to_str().unwrap().to_owned();
        let wall_time = Duration::from_secs(30 + scripts.len() as u64);
        let limits = Limits { wall_time: Some(wall_time), ..Limits::default() };
        block_on(async {
            let mount = Mount::new(&place, guest.as_str()).writable();
            let mut builder = Sandbox::builder().runtime(runtime()).limits(limits).mount(mount);
            for (name, value) in environment() {
                builder = builder.env(name, value);
            }
            let sandbox = builder.build().unwrap();
            let driver = format!("{guest}/driver.sh");
            let argv = ["bash".to_owned(), driver, guest, scripts.len().to_string()];
            sandbox.command(argv).stdin(Input::Empty).run().await.unwrap()
        });
        collect(&place, scripts.len())
    }
}

fn environment() -> [(&'static str, &'static str); 3] {
    [("HOME", "/home/f"), ("LC_ALL", "C.UTF-8"), ("TERM", "dumb")]
}

/// Writes the scripts, and a folder for each.
fn prepare(place: &Path, scripts: &[String]) {
    let _ = fs::remove_dir_all(place);
    fs::create_dir(place).unwrap();
    fs::write(place.join("driver.sh"), DRIVER).unwrap();
    fs::write(place.join("stdin.txt"), STDIN).unwrap();
    for (index, script) in scripts.iter().enumerate() {
        fs::write(place.join(format!("{index}.sh")), script).unwrap();
        let folder = place.join(format!("w{index}"));
        fs::create_dir_all(folder.join("sub/deep")).unwrap();
        for (name, text) in FILES {
            fs::write(folder.join(name), text).unwrap();
        }
    }
}

/// What they said. The name of the folder is the script's number: repeated scripts say the same.
fn collect(place: &Path, count: usize) -> Vec<Said> {
    (0..count)
        .map(|index| Said {
            stdout: nameless(&fs::read(place.join(format!("{index}.out"))).unwrap_or_default(), index),
            status: fs::read_to_string(place.join(format!("{index}.status"))).unwrap_or_else(|_| "none".to_owned()),
        })
        .collect()
}

/// Output without the script's number.
fn nameless(output: &[u8], index: usize) -> Vec<u8> {
    let text = String::from_utf8_lossy(output);
    text.replace(&format!("../{index}.sh"), "../N.sh").replace(&format!("w{index}"), "wN").into_bytes()
}
