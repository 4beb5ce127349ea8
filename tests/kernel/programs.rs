//! Runs every program of `wasm-tools/tests`, each as a test of its own.

use std::collections::BTreeSet;

use wskill::{CommandPolicy, HostTool, HostTools, Input, Mount};

use super::support::{COMMAND, assert_success, block_on, builder, sandbox, stdout};

/// Runs a program in a fresh sandbox, in a directory of memory.
fn in_memory(name: &str) {
    let outcome = block_on(async { sandbox().run([COMMAND, name]).await.unwrap() });
    assert_success(&outcome);
}

/// Runs a program in a fresh sandbox, in a folder of the host.
fn on_host(name: &str) {
    let folder = tempfile::tempdir().unwrap();
    let mount = Mount::new(folder.path(), "/host").writable();
    let outcome = block_on(async {
        let sandbox = builder().mount(mount).cwd("/host").build().unwrap();
        let outcome = sandbox.run([COMMAND, name]).await.unwrap();
        sandbox.close().await;
        outcome
    });
    assert_success(&outcome);
}

/// Runs a program in a fresh sandbox on a terminal.
fn on_terminal(name: &str) {
    let typed = Input::Bytes(b"first\nsecond\n\x04last\n".to_vec());
    let outcome = block_on(async { sandbox().command([COMMAND, name]).tty().stdin(typed).run().await.unwrap() });
    assert_success(&outcome);
}

/// Runs a program in a sandbox that denies a command.
fn under_a_policy(name: &str) {
    let outcome = block_on(async {
        let sandbox = builder().commands(CommandPolicy::new().deny(["denied"])).build().unwrap();
        sandbox.run([COMMAND, name]).await.unwrap()
    });
    assert_success(&outcome);
}

/// Runs a program in a sandbox that offers tools of the host.
fn with_tools(name: &str) {
    let offered =
        [("wait", "Never\nanswers"), ("fail", "Fails"), ("echo", "Answers its  request"), ("a\tb", "Not offered")];
    let outcome = block_on(async {
        let tools = HostTools::new(
            move || offered.map(|(name, text)| HostTool::new(name, text)).to_vec(),
            |name, request| async move {
                match name.as_str() {
                    "echo" => Ok(request),
                    "fail" => Err("no luck".into()),
                    _ => std::future::pending().await,
                }
            },
        );
        let sandbox = builder().host_tools(tools).build().unwrap();
        sandbox.run([COMMAND, name]).await.unwrap()
    });
    assert_success(&outcome);
}

/// Tests for programs, by theme. Those marked `both` depend on files and run over both kinds of file system.
macro_rules! programs {
    ($($theme:ident $places:ident: $($name:ident),+;)*) => {
        $(programs! { @theme $theme $places $($name)+ })*

        /// All that are tested.
        pub const NAMES: &[&str] = &[$($(stringify!($name),)+)*];
    };
    (@theme $theme:ident memory $($name:ident)+) => {
        mod $theme {
            $(#[test] fn $name() { super::in_memory(stringify!($name)); })+
        }
    };
    (@theme $theme:ident terminal $($name:ident)+) => {
        mod $theme {
            $(#[test] fn $name() { super::on_terminal(stringify!($name)); })+
        }
    };
    (@theme $theme:ident policy $($name:ident)+) => {
        mod $theme {
            $(#[test] fn $name() { super::under_a_policy(stringify!($name)); })+
        }
    };
    (@theme $theme:ident tools $($name:ident)+) => {
        mod $theme {
            $(#[test] fn $name() { super::with_tools(stringify!($name)); })+
        }
    };
    (@theme $theme:ident both $($name:ident)+) => {
        mod $theme {
            mod in_memory {
                $(#[test] fn $name() { super::super::in_memory(stringify!($name)); })+
            }
            mod on_host {
                $(#[test] fn $name() { super::super::on_host(stringify!($name)); })+
            }
        }
    };
}

programs! {
    clocks memory: clocks, randomness, argument_blocks, giving_way;
    contexts both: context_restores, context_closes_what_was_opened, context_jumps_outward, context_depth,
        context_shares_offsets;
    descriptors both: lowest_free_number, dup_shares_offset, dup2_closes_its_target, dup_clears_close_on_exec,
        close_on_exec_flag, status_flags, descriptor_limit, open_at_the_limit_changes_nothing,
        descriptor_three_is_free, closed_descriptors, seek_whences, positioned_io_keeps_the_offset, renumber,
        vectored_io, descriptor_status, advise_and_allocate, set_size_and_sync, terminals, memory_files,
        wrong_direction, owned_numbers;
    devices memory: devices, device_stat, own_descriptors_as_files, own_descriptors_listed;
    directories both: list_entries, list_with_tiny_buffers, list_with_wild_cookies, list_while_removing, list_again,
        make_and_remove, working_directory, working_directory_of_children, working_directory_removed,
        from_a_directory, storage, prestats, created_by_wasi, seen_by_others;
    exec both: exec_keeps_identity, exec_keeps_what_is_inherited, exec_failure_goes_on, exec_keeps_children,
        exec_keeps_the_timer, exec_resets_dispositions, exec_does_not_lose_a_signal, exec_many_times,
        exec_closes_contexts;
    fifos both: fifo_waits_for_its_partner, fifo_carries_bytes, fifo_nonblocking, fifo_for_both_never_waits,
        fifo_many_writers, fifo_stat_and_names, fifo_open_is_interrupted, fifo_open_killed_leaves_no_ghost,
        fifo_short_visit_is_enough, fifo_under_two_names, fifo_forgets_between_uses;
    files both: open_creates, open_refuses, open_every_flag, append_goes_to_the_end, append_is_shared_by_processes,
        unlinked_file_lives_on, holes, file_size_limit, times, modes, umask_applies, set_id_bits_are_dropped,
        owners, access_rights, read_only_mounts, big_reads_are_cut;
    hostile memory: hostile_pointers, hostile_counts, hostile_numbers, hostile_kernel_pointers, hostile_spawns,
        hostile_flags, every_call_with_everything, memory_end;
    kill memory: kill_one, kill_oneself_at_once, kill_a_group, kill_all, kill_refuses, kill_a_blocked_process,
        kill_a_computing_process, groups, groups_of_children, kill_twice;
    limits memory: resource_limits, process_limit, memory_limit, memory_comes_back, pipe_memory, memory_file_limit;
    locks both: lock_excludes, lock_shares, lock_waits, lock_is_given_back, lock_follows_the_description,
        lock_changes_kind, lock_refuses;
    names both: rename_replaces, rename_refuses, rename_moves_trees, rename_of_open_files, rename_across_mounts,
        hard_links, symbolic_links, link_loops, read_links, real_paths, path_lengths, path_dots, path_bytes,
        unlink_refuses, root_is_the_end;
    pipes memory: pipe_keeps_bytes_in_order, pipe_ends_with_its_last_writer, pipe_capacity,
        pipe_short_writes_are_whole, pipe_small_records_never_mix, pipe_unbounded, pipe_nonblocking, pipe_stat,
        pipe_inherited_writer_delays_the_end, pipeline_of_five, pipe_reader_killed, pipe_empty_reads_and_writes,
        pipe_flags;
    policy policy: policy_of_builtins, policy_of_programs;
    no_policy memory: policy_absent;
    poll memory: poll_times_out, poll_readiness, poll_hangup, poll_room_to_write, poll_errors, poll_always_ready,
        poll_clocks, poll_wakes, poll_many, poll_fifo, poll_refuses;
    processes both: exit_codes, process_ids, process_ids_are_not_used_again, arguments, environment, program_name,
        search_along_path, start_refusals, scripts, script_loops, text_runs_under_sh, descriptor_maps,
        only_listed_descriptors, children_share_offsets, orphans, umask_of_children, nested_processes,
        many_in_a_row, processor_time, start_size_limit, modules_as_files, descriptors_end_with_their_process;
    sigpipe memory: sigpipe_ends_a_writer, sigpipe_ignored, sigpipe_handled, sigpipe_ignored_is_inherited,
        sigpipe_while_waiting;
    signals memory: dispositions, pending_signals, default_ignored_signals, ignoring_forgets, raise,
        interrupts_read, interrupts_write, interrupts_poll_and_sleep, interrupts_lock,
        ignored_signals_do_not_interrupt, pending_before_the_call, signal_flag, child_signal, handled_by_a_child,
        pause_ends;
    terminals terminal: terminal_streams, terminal_lines, terminal_short_reads, terminal_by_name,
        terminal_is_inherited;
    timers memory: timer_once, timer_interval, timer_disarm, timer_left, timer_default_ends, timer_is_not_inherited;
    tools tools: tools_answer, tools_refuse, tools_interrupted;
    no_tools memory: tools_absent;
    wait memory: wait_for_one, wait_for_any, wait_for_a_group, wait_without_waiting, wait_refuses,
        wait_is_interrupted, wait_tells_the_child_despite_its_signal, ignored_children_leave_nothing, zombies,
        wait_for_grandchildren, wait_races;
}

#[test]
fn every_program_has_a_test() {
    let outcome = block_on(async { sandbox().run([COMMAND, "--list"]).await.unwrap() });
    assert_success(&outcome);
    let listed = stdout(&outcome);
    let listed: BTreeSet<&str> = listed.lines().collect();
    let tested: BTreeSet<&str> = NAMES.iter().copied().collect();
    assert_eq!(listed, tested);
    assert_eq!(tested.len(), NAMES.len(), "a name is used twice");
}
