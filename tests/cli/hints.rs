//! Hints: what a person or a model should do about a failure.

use super::session::Session;

#[test]
fn each_kind_of_failure_has_its_hint() {
    let mut session = Session::new();
    for command in [
        "cat /home/me/data.csv",
        "python3 -c 'open(\"/srv/data/x.csv\")' 2> /dev/null",
        "node script.js",
        "pip install numpy",
        "curl -s https://example.com/",
        "frobnicate --now",
        "make && gcc",
    ] {
        session.call(&["exec", "--rm", command]);
    }
    for command in ["echo x > new.txt", "touch new.txt", "python3 -c 'open(\"SKILL.md\", \"w\")' 2> /dev/null"] {
        session.call(&["run", "--rm", "python-math", command]);
    }
    // Who succeeds needs no hint.
    session.call(&["exec", "--rm", "cat /home/me/x 2> /dev/null || node 2> /dev/null || true"]);
    session.finish("hints");
}

#[test]
fn a_limit_is_named() {
    let mut session = Session::new();
    session.call(&["exec", "--timeout", "0.2", "echo before; sleep 9"]);
    session.call(&["exec", "--fuel", "20000000", "while :; do :; done"]);
    session.call(&["exec", "--processes", "2", "sleep 0.2 | sleep 0.2"]);
    session.call(&["exec", "--disk", "1K", "head -c 4096 /dev/zero > out/x"]);
    session.finish("limit-messages");
}
