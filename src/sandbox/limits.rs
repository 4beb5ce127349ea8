//! What a sandbox may use at most, and how a limit that was met is named.

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// The longest path a guest may pass, in bytes: Linux's `PATH_MAX`.
pub const PATH_MAX: usize = 4096;
/// The most bytes one read or write moves; a longer one is cut, as POSIX allows. Bounds what a call allocates.
pub const IO_MAX: usize = MIB as usize;
/// The most buffers of one vectored read or write: Linux's `IOV_MAX`.
pub const IOVECS_MAX: u32 = 1024;
/// Limits that nobody sets.
const FIXED: [LimitName; 4] = [LimitName::HostFiles, LimitName::Path, LimitName::Stack, LimitName::Policy];

/// The most subscriptions of one `poll_oneoff`: more than the descriptors a process may have.
pub const POLL_MAX: u32 = 4096;
/// Stack of a guest's WebAssembly code, in bytes. CPython's recursion check wants close to 2 MiB.
pub const WASM_STACK: usize = 2 * MIB as usize - 64 * 1024;
/// Stack of a process's fiber: the WebAssembly part and 2 MiB for host code, whose overflow would end every tenant.
pub const FIBER_STACK: usize = 4 * MIB as usize;
/// How many interpreters (`#!`) are followed: Linux's number is 5.
pub const INTERPRETERS_MAX: u32 = 5;
/// The deepest stack of saved contexts (subshells in place) of a process.
pub const CONTEXTS_MAX: usize = 1000;

/// The limits of a sandbox. Sizes are bytes.
///
/// ```
/// use std::time::Duration;
/// let limits = wskill::Limits { wall_time: Some(Duration::from_secs(5)), ..Default::default() };
/// assert_eq!(limits.processes, 128);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Real time of a run; compiling programs is not counted. Default 300 s; `None` for no limit.
    pub wall_time: Option<Duration>,
    /// WebAssembly instructions of a run, all processes together. Default `None`: not counted, and code runs faster.
    pub fuel: Option<u64>,
    /// Captured standard output and error together. Default 64 MiB.
    pub output: u64,
    /// Memory of all processes, of files that lie in memory (`/tmp`, `/home/user`, a workspace without a folder of the
    /// host) and of command substitutions. Default 1 GiB.
    pub memory: u64,
    /// Memory of one process. Default 512 MiB.
    pub process_memory: u64,
    /// Processes at once. Default 128.
    pub processes: u32,
    /// Processes started in all. Default 100,000.
    pub spawns: u64,
    /// Descriptors of one process. Default 256.
    pub open_files: u32,
    /// What the guest's files may hold together (work, out and tmp). Default 1 GiB.
    pub disk: u64,
    /// How many files, directories and links the guest may make. Default 100,000.
    pub inodes: u64,
    /// The size of one file. Default 512 MiB.
    pub file_size: u64,
    /// Arguments and environment of one process. Default 2 MiB.
    pub args: u64,
    /// Data waiting in pipes. Default 16 MiB.
    pub pipes: u64,
    /// A skill's own WebAssembly module. Default 64 MiB.
    pub module: u64,
    /// Calls of the host's tools in all. Default 1,000.
    pub tool_calls: u64,
    /// The request and the answer of such a call, each. Default 1 MiB.
    pub tool_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            wall_time: Some(Duration::from_secs(300)),
            fuel: None,
            output: 64 * MIB,
            memory: GIB,
            process_memory: 512 * MIB,
            processes: 128,
            spawns: 100_000,
            open_files: 256,
            disk: GIB,
            inodes: 100_000,
            file_size: 512 * MIB,
            args: 2 * MIB,
            pipes: 16 * MIB,
            module: 64 * MIB,
            tool_calls: 1_000,
            tool_bytes: MIB,
        }
    }
}

macro_rules! limit_names {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// Which limit.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum LimitName { $($(#[$doc])* $variant,)* }

        impl LimitName {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The name in results and of `--limit NAME=VALUE`.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

limit_names! {
    /// Real time of a run; ends it.
    WallTime = "wall_time",
    /// Instructions of a run; ends it.
    Fuel = "fuel",
    /// Captured output; ends the run.
    Output = "output",
    /// Memory of the sandbox; the guest gets `ENOMEM`.
    Memory = "memory",
    /// Memory of a process; the guest gets `ENOMEM`.
    ProcessMemory = "process_memory",
    /// Processes at once; `EAGAIN`.
    Processes = "processes",
    /// Processes in all; `EAGAIN`.
    Spawns = "spawns",
    /// Descriptors of a process; `EMFILE`.
    OpenFiles = "open_files",
    /// The host's own descriptors; `ENFILE`.
    HostFiles = "host_files",
    /// Bytes on disk; `ENOSPC`.
    Disk = "disk",
    /// Files made; `ENOSPC`.
    Inodes = "inodes",
    /// Size of a file; `EFBIG`.
    FileSize = "file_size",
    /// Arguments and environment; `E2BIG`.
    Args = "args",
    /// Data in pipes; `ENOMEM`.
    Pipes = "pipes",
    /// Length of a path; `ENAMETOOLONG`.
    Path = "path",
    /// Size of a skill's module; `ENOEXEC`.
    Module = "module",
    /// Calls of the host's tools; such a call fails.
    ToolCalls = "tool_calls",
    /// Size of a request to such a tool or of its answer; the call fails.
    ToolBytes = "tool_bytes",
    /// A guest's stack; the process ends as by `SIGSEGV`.
    Stack = "stack",
    /// Commands that the policy refused; `EPERM`.
    Policy = "policy",
}

impl fmt::Display for LimitName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a limit could not be set.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum LimitError {
    /// No limit has this name.
    #[error("unknown limit `{0}`; known are {known}", known = settable())]
    Unknown(String),
    /// The limit is built in.
    #[error("the limit `{0}` is fixed")]
    Fixed(LimitName),
    /// The value is no number, size or duration.
    #[error("`{value}` is no value for the limit `{name}`: {expected}")]
    Value {
        /// Which limit.
        name: LimitName,
        /// What was given.
        value: String,
        /// What is wanted.
        expected: &'static str,
    },
}

fn settable() -> String {
    let names: Vec<_> = LimitName::ALL.iter().filter(|name| !FIXED.contains(name)).map(|name| name.as_str()).collect();
    names.join(", ")
}

impl FromStr for LimitName {
    type Err = LimitError;

    fn from_str(name: &str) -> Result<Self, LimitError> {
        Self::ALL.iter().copied().find(|limit| limit.as_str() == name).ok_or_else(|| LimitError::Unknown(name.into()))
    }
}

/// Reads a size: a number of bytes, or one with `K`, `M`, `G` (powers of 1024; `KiB`, `MB` and so on mean the same).
pub fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().ok()?;
    let factor = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => MIB,
        "g" | "gb" | "gib" => GIB,
        _ => return None,
    };
    number.checked_mul(factor)
}

impl Limits {
    /// Sets a limit from text, as `--limit NAME=VALUE` does: seconds (`0.5`, or `off`) for `wall_time`, a number or
    /// `off` for `fuel`, a size ([`parse_size`]) or a number for the others.
    ///
    /// # Errors
    /// A limit that is fixed, or a value that is none.
    pub fn set(&mut self, name: LimitName, value: &str) -> Result<(), LimitError> {
        let wrong = |expected| LimitError::Value { name, value: value.into(), expected };
        let size = || parse_size(value).ok_or_else(|| wrong("a number of bytes, or one with K, M or G"));
        let count = || value.parse::<u64>().map_err(|_| wrong("a number"));
        let small = || value.parse::<u32>().map_err(|_| wrong("a number"));
        match name {
            LimitName::WallTime if value == "off" => self.wall_time = None,
            LimitName::WallTime => {
                let seconds: f64 = value.parse().map_err(|_| wrong("seconds, or `off`"))?;
                let time = Duration::try_from_secs_f64(seconds).map_err(|_| wrong("seconds, or `off`"))?;
                self.wall_time = Some(time);
            }
            LimitName::Fuel if value == "off" => self.fuel = None,
            LimitName::Fuel => self.fuel = Some(value.parse().map_err(|_| wrong("a number, or `off`"))?),
            LimitName::Output => self.output = size()?,
            LimitName::Memory => self.memory = size()?,
            LimitName::ProcessMemory => self.process_memory = size()?,
            LimitName::Processes => self.processes = small()?,
            LimitName::Spawns => self.spawns = count()?,
            LimitName::OpenFiles => self.open_files = small()?,
            LimitName::Disk => self.disk = size()?,
            LimitName::Inodes => self.inodes = count()?,
            LimitName::FileSize => self.file_size = size()?,
            LimitName::Args => self.args = size()?,
            LimitName::Pipes => self.pipes = size()?,
            LimitName::Module => self.module = size()?,
            LimitName::ToolCalls => self.tool_calls = count()?,
            LimitName::ToolBytes => self.tool_bytes = size()?,
            LimitName::HostFiles | LimitName::Path | LimitName::Stack | LimitName::Policy => {
                return Err(LimitError::Fixed(name));
            }
        }
        Ok(())
    }
}

/// How often each limit refused something, and who is told when it does so for the first time.
#[derive(Default)]
pub struct LimitCounters {
    counts: [AtomicU64; LimitName::ALL.len()],
    first: Option<Box<dyn Fn(LimitName) + Send + Sync>>,
}

impl LimitCounters {
    /// Counters that call `first` when a limit refuses something for the first time.
    pub fn telling(first: impl Fn(LimitName) + Send + Sync + 'static) -> Self {
        Self { counts: Default::default(), first: Some(Box::new(first)) }
    }

    /// Counts one refusal.
    pub fn hit(&self, name: LimitName) {
        let before = self.counts[name as usize].fetch_add(1, Ordering::Relaxed);
        if before == 0
            && let Some(first) = &self.first
        {
            first(name);
        }
    }

    /// How often a limit refused something.
    pub fn count(&self, name: LimitName) -> u64 {
        self.counts[name as usize].load(Ordering::Relaxed)
    }

    /// The limits that refused something, with how often.
    pub fn snapshot(&self) -> Vec<(LimitName, u64)> {
        LimitName::ALL.iter().map(|&name| (name, self.count(name))).filter(|&(_, n)| n > 0).collect()
    }
}

impl fmt::Debug for LimitCounters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.snapshot()).finish()
    }
}

/// An account with an upper bound; charging past it fails and changes nothing.
#[derive(Debug)]
pub struct Account {
    limit: u64,
    used: AtomicU64,
    peak: AtomicU64,
}

impl Account {
    /// An empty account.
    pub fn new(limit: u64) -> Self {
        Self { limit, used: AtomicU64::new(0), peak: AtomicU64::new(0) }
    }

    /// Takes `amount`, or nothing and answers `false`.
    pub fn charge(&self, amount: u64) -> bool {
        let add = |used: u64| used.checked_add(amount).filter(|&sum| sum <= self.limit);
        match self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add) {
            Ok(before) => {
                self.peak.fetch_max(before + amount, Ordering::Relaxed);
                true
            }
            Err(_) => false,
        }
    }

    /// Takes as much of `amount` as is left; answers how much.
    pub fn charge_up_to(&self, amount: u64) -> u64 {
        let mut charged = 0;
        let add = |used: u64| {
            charged = amount.min(self.limit.saturating_sub(used));
            Some(used + charged)
        };
        if let Ok(before) = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add) {
            self.peak.fetch_max(before + charged, Ordering::Relaxed);
        }
        charged
    }

    /// Gives back; more than was taken leaves it empty.
    pub fn refund(&self, amount: u64) {
        let subtract = |used: u64| Some(used.saturating_sub(amount));
        // The closure never refuses.
        let _ = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, subtract);
    }

    /// What is taken now.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// The most that may be taken.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// What may still be taken.
    pub fn left(&self) -> u64 {
        self.limit.saturating_sub(self.used())
    }

    /// The most that was ever taken.
    pub fn peak(&self) -> u64 {
        self.peak.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(parse_size("10"), Some(10));
        assert_eq!(parse_size("2K"), Some(2048));
        assert_eq!(parse_size("3 MiB"), Some(3 << 20));
        assert_eq!(parse_size("1gb"), Some(1 << 30));
        for wrong in ["", "K", "-1", "1.5M", "1T", "99999999999999999999", "99999999999G"] {
            assert_eq!(parse_size(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn every_limit_can_be_set_or_says_that_it_is_fixed() {
        for &name in LimitName::ALL {
            let answer = Limits::default().set(name, "1");
            let fixed = FIXED.contains(&name);
            assert_eq!(answer.is_err(), fixed, "{name}");
            assert_eq!(name.as_str().parse(), Ok(name));
            if !fixed {
                assert!(Limits::default().set(name, "many").is_err(), "{name}");
            }
        }
    }

    #[test]
    fn an_account_never_passes_its_limit() {
        let account = Account::new(10);
        assert!(account.charge(7));
        assert!(!account.charge(4));
        assert!(account.charge(3));
        account.refund(10);
        assert_eq!((account.used(), account.peak()), (0, 10));
        assert!(!account.charge(u64::MAX));
        assert_eq!((account.charge_up_to(6), account.charge_up_to(6), account.charge_up_to(6)), (6, 4, 0));
        account.refund(11);
        assert_eq!(account.used(), 0);
    }

    #[test]
    fn many_threads_do_not_overshoot() {
        let account = Account::new(1000);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for round in 0..20_000_u64 {
                        let taken = account.charge_up_to(round % 700);
                        assert!(account.used() <= 1000);
                        account.refund(taken);
                    }
                });
            }
        });
        assert_eq!(account.used(), 0);
        assert!(account.peak() <= 1000);
    }
}
