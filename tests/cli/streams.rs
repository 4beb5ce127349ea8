//! Standard streams: bytes as they are, as they come.

use std::io::{Read, Write};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use super::session::Session;

fn piped(session: &Session, arguments: &[&str]) -> Child {
    let mut command = session.command(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Gives a call its standard input and waits for it.
fn fed(session: &Session, arguments: &[&str], input: &[u8]) -> (Vec<u8>, Option<i32>) {
    let mut child = piped(session, arguments);
    let mut stdin = child.stdin.take().unwrap();
    let sent = input.to_vec();
    let sending = std::thread::spawn(move || stdin.write_all(&sent));
    let output = child.wait_with_output().unwrap();
    // A command may end without reading all.
    let _ = sending.join().unwrap();
    (output.stdout, output.status.code())
}

#[test]
fn bytes_come_out_as_they_are() {
    let session = Session::new();
    let bytes: Vec<u8> = (0..=255).cycle().take(300_000).collect();
    assert!(fed(&session, &["exec", "--", "cat"], &bytes).0 == bytes);
    let output = session.run(&["exec", "printf '\\377\\0\\n' >&2"]);
    assert_eq!(output.stderr, b"\xff\0\n");
}

#[test]
fn who_gets_standard_input() {
    let session = Session::new();
    let file = session.file("input", "file\n");
    for (arguments, expected) in [
        (&["exec", "cat"][..], "typed\n"),
        (&["exec", "--stdin", "-", "cat"], "typed\n"),
        (&["exec", "--stdin", &file, "cat"], "file\n"),
        (&["run", "python-math", "cat"], ""),
        (&["run", "python-math", "--stdin", "-", "cat"], "typed\n"),
        (&["run", "python-math", "--stdin", &file, "cat"], "file\n"),
        (&["exec", "--json", "cat > /dev/null"], ""),
    ] {
        let (stdout, status) = fed(&session, arguments, b"typed\n");
        assert_eq!(status, Some(0), "{arguments:?}");
        if !arguments.contains(&"--json") {
            assert_eq!(String::from_utf8_lossy(&stdout), expected, "{arguments:?}");
        }
    }
}

/// What a command does not ask for stays for who reads the same file or pipe next, as behind any other command.
#[test]
fn input_that_nobody_reads_is_not_taken() {
    let session = Session::new();
    let path = session.file("input", "one\ntwo\n");
    for (command, left) in [
        ("true", "one\ntwo\n"),
        ("echo x > /dev/null; ls | wc -l > /dev/null", "one\ntwo\n"),
        ("python3 -c pass", "one\ntwo\n"),
        ("read line < /dev/null", "one\ntwo\n"),
        ("cat > /dev/null", ""),
    ] {
        let mut file = std::fs::File::open(&path).unwrap();
        let output = session.command(&["exec", command]).stdin(file.try_clone().unwrap()).output().unwrap();
        let mut rest = String::new();
        file.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, left, "{command}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// The first question whether there is input is answered as every later one.
#[test]
fn a_poll_knows_of_input_that_is_there() {
    let session = Session::new();
    for (command, input, answer) in [
        ("read -t 0 && echo has || echo none", "x\n", "has\n"),
        ("python3 -c 'import select, sys; print(bool(select.select([sys.stdin], [], [], 0)[0]))'", "x\n", "True\n"),
        ("read -t 0 < /dev/null && echo has || echo none; read line; echo $line", "x\n", "has\nx\n"),
    ] {
        let mut child = piped(&session, &["exec", command]);
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        drop(stdin);
        assert_eq!(String::from_utf8_lossy(&output.stdout), answer, "{command}");
    }
}

#[test]
fn output_comes_before_the_command_ends() {
    let session = Session::new();
    let mut child = piped(&session, &["exec", "echo out; echo err >&2; read line; echo $line"]);
    let (mut stdout, mut stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let mut buffer = [0; 4];
    stdout.read_exact(&mut buffer).unwrap();
    assert_eq!(&buffer, b"out\n");
    stderr.read_exact(&mut buffer).unwrap();
    assert_eq!(&buffer, b"err\n");
    assert!(child.try_wait().unwrap().is_none());
    child.stdin.take().unwrap().write_all(b"end\n").unwrap();
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "end\n");
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_reader_that_stops_ends_the_writer() {
    let session = Session::new();
    let mut child = piped(&session, &["exec", "--", "yes"]);
    drop(child.stdin.take());
    child.stdout.take().unwrap().read_exact(&mut [0; 100]).unwrap();
    let began = Instant::now();
    // SIGPIPE, as a shell shows it.
    assert_eq!(child.wait().unwrap().code(), Some(141));
    assert!(began.elapsed() < Duration::from_secs(10));
    let mut child = piped(&session, &["programs"]);
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
}

#[test]
fn options_end_at_the_first_word() {
    let mut session = Session::new();
    for arguments in [
        &["exec", "echo", "--json", "-x", "--"][..],
        &["exec", "echo", "--", "--rm"],
        &["exec", "--", "echo", "--", "a"],
        &["exec", "--", "-x --json"],
        &["exec", "echo --help | cat"],
        &["run", "python-math", "echo", "--rm", "--help"],
        &["run", "--rm", "python-math", "--", "echo", "--json"],
        &["exec", "--env", "A=b c", "--env", "A=d", "--env", "E=", "--", "printenv", "A", "E"],
        &["exec", "--limit", "wall_time=off", "--limit", "inodes=5", "touch /tmp/{1..9} 2> /dev/null; ls /tmp | wc -l"],
        &["exec", "--memory", "64M", "--disk", "1 MiB", "--processes", "9", "--open-files", "20", "ulimit -n"],
    ] {
        session.call(arguments);
    }
    session.finish("options");
}

#[test]
fn deterministic_runs_are_the_same() {
    let session = Session::new();
    let line = "echo $RANDOM $RANDOM; date +%s.%N; head -c 4 /dev/urandom | od -x";
    let run = |seed: &str| session.run(&["exec", "--rm", &format!("--deterministic{seed}"), line]).stdout;
    assert_eq!(String::from_utf8_lossy(&run("=7")), String::from_utf8_lossy(&run("=7")));
    assert_eq!(run(""), run("=0"));
    assert_ne!(run("=7"), run("=8"));
}
