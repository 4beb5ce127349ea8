//! Which program uses which call: every import that the kernel has must be used by one.

use std::collections::BTreeSet;

use super::programs::NAMES;
use super::support::GUEST_TESTS;

/// The 46 calls of `wasi_snapshot_preview1`, and a program for each.
const PREVIEW1: &[(&str, &str)] = &[
    ("args_get", "argument_blocks"),
    ("args_sizes_get", "argument_blocks"),
    ("environ_get", "argument_blocks"),
    ("environ_sizes_get", "argument_blocks"),
    ("clock_res_get", "clocks"),
    ("clock_time_get", "clocks"),
    ("fd_advise", "advise_and_allocate"),
    ("fd_allocate", "advise_and_allocate"),
    ("fd_close", "closed_descriptors"),
    ("fd_datasync", "set_size_and_sync"),
    ("fd_fdstat_get", "descriptor_status"),
    ("fd_fdstat_set_flags", "status_flags"),
    ("fd_fdstat_set_rights", "status_flags"),
    ("fd_filestat_get", "times"),
    ("fd_filestat_set_size", "set_size_and_sync"),
    ("fd_filestat_set_times", "times"),
    ("fd_pread", "positioned_io_keeps_the_offset"),
    ("fd_prestat_dir_name", "prestats"),
    ("fd_prestat_get", "prestats"),
    ("fd_pwrite", "positioned_io_keeps_the_offset"),
    ("fd_read", "vectored_io"),
    ("fd_readdir", "list_with_tiny_buffers"),
    ("fd_renumber", "renumber"),
    ("fd_seek", "seek_whences"),
    ("fd_sync", "set_size_and_sync"),
    ("fd_tell", "seek_whences"),
    ("fd_write", "vectored_io"),
    ("path_create_directory", "from_a_directory"),
    ("path_filestat_get", "hard_links"),
    ("path_filestat_set_times", "times"),
    ("path_link", "hard_links"),
    ("path_open", "open_every_flag"),
    ("path_readlink", "read_links"),
    ("path_remove_directory", "from_a_directory"),
    ("path_rename", "from_a_directory"),
    ("path_symlink", "read_links"),
    ("path_unlink_file", "from_a_directory"),
    ("poll_oneoff", "poll_readiness"),
    ("proc_exit", "exit_codes"),
    ("proc_raise", "raise"),
    ("random_get", "randomness"),
    ("sched_yield", "giving_way"),
    ("sock_accept", "closed_descriptors"),
    ("sock_recv", "closed_descriptors"),
    ("sock_send", "closed_descriptors"),
    ("sock_shutdown", "closed_descriptors"),
];

/// The imports of `wskill`, and a program for each.
const WSKILL: &[(&str, &str)] = &[
    ("abi_version", "program_name"),
    ("program_name", "program_name"),
    ("spawn", "descriptor_maps"),
    ("exec", "exec_keeps_identity"),
    ("command_allowed", "policy_of_builtins"),
    ("wait", "wait_for_any"),
    ("kill", "kill_one"),
    ("getpid", "process_ids"),
    ("getppid", "orphans"),
    ("getpgid", "groups"),
    ("setpgid", "groups"),
    ("times", "processor_time"),
    ("sig_set", "dispositions"),
    ("sig_take", "pending_signals"),
    ("sig_flag", "signal_flag"),
    ("itimer", "timer_interval"),
    ("pause", "pause_ends"),
    ("pipe", "pipe_capacity"),
    ("dup", "dup_shares_offset"),
    ("dup2", "dup2_closes_its_target"),
    ("fcntl", "status_flags"),
    ("flock", "lock_excludes"),
    ("isatty", "terminals"),
    ("winsize", "terminals"),
    ("memfd", "memory_files"),
    ("push_context", "context_restores"),
    ("pop_context", "context_jumps_outward"),
    ("tool_call", "tools_answer"),
    ("tool_list", "tools_answer"),
    ("stat", "symbolic_links"),
    ("fstat", "pipe_stat"),
    ("open", "open_refuses"),
    ("mkdir", "umask_applies"),
    ("mkfifo", "fifo_stat_and_names"),
    ("chmod", "modes"),
    ("fchmod", "modes"),
    ("chown", "owners"),
    ("access", "access_rights"),
    ("utimens", "times"),
    ("umask", "umask_applies"),
    ("statvfs", "storage"),
    ("realpath", "real_paths"),
    ("readlink", "read_links"),
    ("getcwd", "working_directory"),
    ("chdir", "working_directory"),
    ("getrlimit", "resource_limits"),
];

/// A reader of the binary format, as far as the import section.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn byte(&mut self) -> u8 {
        let (&first, rest) = self.0.split_first().unwrap();
        self.0 = rest;
        first
    }

    fn number(&mut self) -> usize {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = self.byte();
            value |= usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return value;
            }
            shift += 7;
        }
    }

    fn bytes(&mut self, count: usize) -> &'a [u8] {
        let (part, rest) = self.0.split_at(count);
        self.0 = rest;
        part
    }

    fn name(&mut self) -> &'a str {
        let length = self.number();
        std::str::from_utf8(self.bytes(length)).unwrap()
    }
}

/// The functions that the guests' module imports from `module`.
fn imports(module: &str) -> BTreeSet<&'static str> {
    let mut reader = Reader(&GUEST_TESTS[8..]);
    loop {
        let id = reader.byte();
        let size = reader.number();
        let mut section = Reader(reader.bytes(size));
        if id == 2 {
            let count = section.number();
            let mut names = BTreeSet::new();
            for _ in 0..count {
                let (from, name) = (section.name(), section.name());
                assert_eq!(section.byte(), 0, "{from}.{name} is no function");
                section.number();
                if from == module {
                    names.insert(name);
                }
            }
            return names;
        }
    }
}

fn names(table: &'static [(&str, &str)]) -> BTreeSet<&'static str> {
    let names: BTreeSet<_> = table.iter().map(|&(call, _)| call).collect();
    assert_eq!(names.len(), table.len(), "a call is listed twice");
    for (call, program) in table {
        assert!(NAMES.contains(program), "{call}: there is no program {program}");
    }
    names
}

#[test]
fn every_preview1_call_is_used() {
    let names = names(PREVIEW1);
    assert_eq!(names.len(), 46);
    assert_eq!(imports("wasi_snapshot_preview1"), names);
}

#[test]
fn every_wskill_import_is_used() {
    let header = include_str!("../../wasm-tools/sys/include/wskill.h");
    let declared: BTreeSet<&str> = header
        .lines()
        .filter(|line| !line.starts_with("#define"))
        .filter_map(|line| line.strip_prefix("WSK_IMPORT(")?.split(')').next())
        .collect();
    let names = names(WSKILL);
    assert_eq!(declared, names);
    assert_eq!(imports("wskill"), names);
}
