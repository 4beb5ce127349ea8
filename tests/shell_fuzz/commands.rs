//! Commands: lists, pipelines, compound commands, redirections, functions, traps and jobs.

use super::builtins::{assignments, builtins, reports};
use super::conditions::condition;
use super::patterns::pattern;
use super::piece::{Gen, any_of, one, rule, some, statement};
use super::words::Words;

/// Every loop counts `steps` and every function `calls`, which nothing else assigns, so that every script ends.
const GUARD: &str = "((steps++ < 12))";

pub struct Commands {
    /// Any statement; it may have several lines.
    pub statement: Gen,
    /// What a function does.
    pub body: Gen,
}

impl Commands {
    /// `calls`: the functions that statements call, as many times as they are named. Recursion in subshells, which count
    /// for themselves, would not end: a function calls only those before it.
    pub fn new(words: &Words, calls: &[&'static str]) -> Self {
        let condition = condition(words);
        let basic = basic(words, &condition, calls);
        let mut level = basic.clone();
        for _ in 0..2 {
            level = one(vec![
                (5, basic.clone()),
                (4, compound(words, &condition, &level, &basic)),
                (2, redirected(words, &level, &basic)),
                (1, controlled(words, &condition, &level)),
            ]);
        }
        let body = some(&level, 1..4, "\n");
        Self { statement: level, body }
    }
}

fn basic(words: &Words, condition: &Gen, calls: &[&'static str]) -> Gen {
    let simple = one(vec![(5, reports(words)), (4, assignments(words)), (3, builtins(words))]);
    let status = statement("condition", "§; echo $?", &[condition]);
    let matched =
        statement("match reported", "[[ $s =~ § ]] && p \"${BASH_REMATCH[@]}\"", &[&super::patterns::regex()]);
    let call = statement("call", "§ §", &[&any_of(calls), &some(&words.word, 0..3, " ")]);
    one(vec![(9, simple), (2, status), (1, matched), (2, call)])
}

fn compound(words: &Words, condition: &Gen, level: &Gen, basic: &Gen) -> Gen {
    let body = &some(level, 1..4, "\n");
    let items = &some(&words.word, 1..4, " ");
    let clause = {
        let patterns = some(&pattern(), 1..3, " | ");
        let end = any_of(&[";;", ";;", ";&", ";;&"]);
        rule("case clause", "§)\n§\n§", &[&patterns, level, &end])
    };
    one(vec![
        (2, statement("if", "if §; then\n§\nelse\n§\nfi", &[condition, body, body])),
        (1, statement("elif", "if §; then\n§\nelif §\nthen §\nfi", &[condition, body, condition, body])),
        (2, statement("for", "for x in §; do\n(§) || break\n§\ndone", &[items, &any_of(&[GUARD]), body])),
        (
            1,
            statement(
                "for of positional",
                "for x§ do §\np \"$x\"; ((steps++ < 12)) || break; done",
                &[&any_of(&["", ";", "\n"]), basic],
            ),
        ),
        (1, statement("for arithmetic", "for ((n = 0; n < 3 && steps++ < 12; n++)); do\n§\ndone", &[body])),
        (2, statement("while", "while ((steps++ < 12)) && §; do\n§\ndone", &[condition, body])),
        (1, statement("until", "until ((steps++ >= 12)) || §; do\n§\ndone", &[condition, body])),
        (2, statement("case", "case § in\n§\n§\n*) echo other;;\nesac", &[&words.word, &clause, &clause])),
        (1, statement("case with parentheses", "case § in (§) §\nesac", &[&words.word, &pattern(), basic])),
        (2, statement("group", "{\n§\n}", &[body])),
        (2, statement("subshell", "(\n§\n)", &[body])),
        (
            1,
            statement(
                "select",
                "select x in §; do\n§\n((steps++ < 12)) || break\ndone <<< §",
                &[items, body, &any_of(&["$'1\\n2'", "$'9\\n\\n1'", "x", "$'2\\nq'"])],
            ),
        ),
        (1, statement("function inside", "f9() { ((calls++ < 15)) || return 9\n§\n}\nf9 §", &[body, &words.word])),
        (
            1,
            statement(
                "local",
                "f8() { ((calls++ < 15)) || return 9\nlocal § §\n§\n}\nf8; p \"$s\" \"$n\"",
                &[
                    &any_of(&["", "", "-i", "-a", "-u", "-A", "-r", "-x", "-I"]),
                    &any_of(&["s=x", "s", "n=2", "t=$s", "arr=(q)", "arr", "v1", "map", "IFS=:", "-"]),
                    body,
                ],
            ),
        ),
        (1, statement("group in braces of a function", "f7() ( ((calls++ < 15)) || exit 9\n§\n)\nf7", &[body])),
    ])
}

/// Pipelines, redirections and substitutions. The reader of a pipe reads to its end: who ends first is by chance.
fn redirected(words: &Words, level: &Gen, basic: &Gen) -> Gen {
    let body = &some(level, 1..3, "\n");
    let filter = any_of(&[
        "cat",
        "sort",
        "tr a-z A-Z",
        "wc -l",
        "sed s/a/b/",
        "sed -n 1p",
        "tail -n 1",
        "{ read v1; p \"$v1\"; cat; }",
        "while read -r x; do p \"$x\"; done",
        "(cat; echo end)",
        "grep -c a",
        "sed '$!d'",
    ]);
    let output = any_of(&[
        ">o1",
        ">>o1",
        "2>&1",
        "2>/dev/null",
        ">&2",
        "&>o1",
        "2>o2",
        ">|o1",
        "3>o1 >&3",
        "2>&1 >/dev/null",
        ">o1 2>&1",
        "<>o1",
        "{fd}>o2",
        "&>>o1",
        "1>&2 2>&1",
        ">\"o 1\"",
        ">&-",
        "10>o1 >&10",
        "4>&1 >&4 4>&-",
    ]);
    let input = any_of(&[
        "<a.txt",
        "<<< \"$s\"",
        "<nosuch",
        "< <(echo x; echo y)",
        "<b.txt 3<a.txt",
        "0<a.txt",
        "<<< $s",
        "<&0",
        "<<< \"${arr[@]}\"",
        "3<&0 <&3",
        "<<<'a b'",
    ]);
    let text = some(
        &one(vec![(3, words.in_quotes.clone()), (1, any_of(&["\n", " l \n", "$s\n\\$s", "\t\tx", "\"q\"", "'$s'"]))]),
        1..3,
        "\n",
    );
    one(vec![
        (2, statement("pipeline", "{\n§\n} | §", &[body, &filter])),
        (
            1,
            statement(
                "pipeline of three",
                "§ | § | §; p ${PIPESTATUS[@]}",
                &[basic, &any_of(&["cat", "sort", "sed s/x/y/", "{ cat; false; }"]), &filter],
            ),
        ),
        (1, statement("pipeline with errors", "{\n§\n} |& §", &[body, &any_of(&["cat", "sort", "wc -l"])])),
        (1, statement("pipeline negated", "! § | §; echo $?", &[basic, &filter])),
        (
            1,
            statement(
                "pipefail",
                "set -o pipefail\n{ §; false; } | cat; echo $? ${PIPESTATUS[@]}\nset +o pipefail",
                &[&reports(words)],
            ),
        ),
        (
            1,
            statement("lastpipe", "shopt -s lastpipe; echo § | read v1; p \"$v1\"; shopt -u lastpipe", &[&words.plain]),
        ),
        (2, statement("output redirected", "{\n§\n} §; p \"$(cat o1 2>/dev/null)\"", &[body, &output])),
        (
            2,
            statement(
                "input redirected",
                "§ §; echo $?",
                &[
                    &any_of(&[
                        "cat",
                        "read v1 v2",
                        "{ read v1; cat; }",
                        "while read -r x; do p \"$x\"; done",
                        "mapfile -t arr",
                        "cat -",
                        "sort",
                    ]),
                    &input,
                ],
            ),
        ),
        (
            1,
            statement(
                "exec redirected",
                "§",
                &[&any_of(&[
                    "exec 3<a.txt; read -u 3 v1; read v2 <&3; exec 3<&-; p \"$v1\" \"$v2\"",
                    "exec 4>o1; echo a >&4; echo b >&4; exec 4>&-; p \"$(cat o1)\"",
                    "exec {fd}<b.txt; read -r v1 <&$fd; exec {fd}<&-; p \"$v1\"",
                    "exec 5>&1; echo x >&5 | cat; exec 5>&-",
                    "(exec >o1; echo hidden); p \"$(cat o1)\"",
                    "exec 6<>o3; echo abc >&6; exec 6>&-; p \"$(cat o3)\"",
                    "set -C; echo n >o4; echo n2 >o4; echo $?; set +C; p \"$(cat o4)\"; rm_() { :; }",
                    "echo a >&9; echo $?",
                    "exec 7<nosuch; echo $?",
                    "exec 3>&1 1>o1; echo in; exec 1>&3 3>&-; p \"$(cat o1)\"",
                ])],
            ),
        ),
        (3, statement("here-document", "cat <<E\n§\nE", &[&text])),
        (1, statement("here-document quoted", "cat <<§\n§\nE", &[&any_of(&["'E'", "\"E\"", "\\E"]), &text])),
        (1, statement("here-document with tabs", "cat <<-E | §\n\t§\n\tE", &[&filter, &text])),
        (1, statement("here-documents", "cat <<A - 3<<B; cat <&3 3<<C\n§\nA\n§\nB\nc\nC", &[&text, &text])),
        (1, statement("here-document for a loop", "while read -r x; do\np \"$x\"\ndone <<E\n§\nE", &[&text])),
        (1, statement("here-document in a substitution", "v1=$(cat <<E\n§\nE\n)\np \"$v1\"", &[&text])),
        (1, statement("here-string", "cat <<< §", &[&words.word])),
        (2, statement("substitution of statements", "v1=$(\n§\n); echo \"$? $v1\"", &[body])),
        (1, statement("substitution in quotes", "p \"a$(\n§\n)b\" $(§)", &[level, basic])),
        (1, statement("process substitution", "§ <(\n§\n)", &[&any_of(&["cat", "cat a.txt", "sort", "f1 <"]), body])),
        (
            1,
            statement(
                "process substitution for output",
                ": >o5\n{ § ; } > >(§ >o5); wait $!; p \"$(cat o5)\"",
                &[&reports(words), &any_of(&["cat", "sort", "tr a b", "sed s/^/x/"])],
            ),
        ),
        (1, statement("and or list", "§ && § || §", &[&single(words), &single(words), &single(words)])),
        (1, statement("negation", "! §; echo $?", &[&single(words)])),
        (
            1,
            statement(
                "line continued",
                "echo a \\\n§ \\\n  b # comment §",
                &[&words.word, &any_of(&["'", "\"", "`", "x", "$(", ")"])],
            ),
        ),
        (1, statement("time", "{ time §; } 2>/dev/null", &[basic])),
    ])
}

fn single(words: &Words) -> Gen {
    one(vec![
        (2, reports(words)),
        (
            1,
            any_of(&[
                "true",
                "false",
                "(exit 3)",
                "f1 x",
                "[ a = b ]",
                "((0))",
                "[[ $s == f* ]]",
                "{ false; }",
                "! true",
            ]),
        ),
        (1, assignments(words)),
    ])
}

/// Options, traps and jobs.
fn controlled(words: &Words, condition: &Gen, level: &Gen) -> Gen {
    let body = &some(level, 1..4, "\n");
    let action = any_of(&[
        "echo \"T$? $s\"",
        "echo T",
        "p \"$?\" \"$BASH_COMMAND\"",
        "f1 trap",
        "echo T; false",
        "echo \"${FUNCNAME[0]}\"",
        "echo T$LINENO",
    ]);
    let quiet = any_of(&[
        "f1 a",
        "v1=x",
        "false",
        "(exit 2)",
        "echo b",
        "p \"$s\"",
        "[[ $s == a* ]]",
        "f1 b c",
        "! true",
        "false || true",
        "((n))",
        "v2=$(false)",
        "if false; then :; fi",
        "for x in 1 2; do echo $x; done",
        "case a in a) false;; esac",
        "{ false; }",
        "lf",
        "(false)",
        "eval false",
        ". ./lib.sh",
    ]);
    let lines = &some(&quiet, 1..5, "\n");
    one(vec![
        (
            2,
            statement(
                "errexit",
                "(\nset -e§\n§\n§\necho reached\n); echo \"st $?\"",
                &[&any_of(&["", "", "u", "o pipefail", "E"]), lines, body],
            ),
        ),
        (
            1,
            statement(
                "errexit in a condition",
                "(\nset -e\nf6() {\n§\necho in f6\n}\n§\necho reached\n); echo \"st $?\"",
                &[
                    lines,
                    &any_of(&[
                        "if f6; then echo yes; fi",
                        "f6 || echo no",
                        "! f6",
                        "while f6 && false; do :; done",
                        "f6",
                        "f6 && echo yes",
                        "v1=$(f6)",
                        "(f6)",
                        "f6 | cat",
                        "local_=$(f6) || echo no",
                        "echo $(f6)",
                        "{ f6; } || :",
                        "eval f6",
                        "f6 &\nwait $!",
                    ]),
                ],
            ),
        ),
        (
            1,
            statement(
                "errexit inherited",
                "(\nset -e; shopt -s inherit_errexit\nv1=$(\n§\n)\np \"$v1\"\n); echo $?",
                &[lines],
            ),
        ),
        (
            1,
            statement(
                "nounset",
                "(\nset -u\n§\n§\n); echo \"st $?\"",
                &[
                    &any_of(&[
                        "p \"$u\"",
                        "p \"${u-}\"",
                        "p \"${none[@]}\"",
                        "p \"${arr[9]}\"",
                        "p \"$9\"",
                        "p $((u+1))",
                        "p \"${#u}\"",
                        "p \"${u:1}\"",
                        "[[ $u ]]",
                        "p \"${map[no]}\"",
                        "p \"$@\"",
                        "p ${!u}",
                        "p \"${u+x}\"",
                        "((u))",
                        "unset -v u",
                        "p \"${u^^}\"",
                        "p \"${u@Q}\"",
                        "p \"${arr[@]:9}\"",
                        "p $!",
                    ]),
                    body,
                ],
            ),
        ),
        (
            1,
            statement(
                "error message",
                "(\n: §\necho reached\n); echo \"st $?\"",
                &[&any_of(&[
                    "${u?}",
                    "${u:?}",
                    "${u:?msg $s}",
                    "${e:?x}",
                    "${e?x}",
                    "${1x}",
                    "${s!}",
                    "${!e}",
                    "${!bad name}",
                    "$((1/0))",
                    "${arr[1/0]}",
                    "${s:1:-99}",
                    "${arr[@]:0:-1}",
                    "${!u}",
                    "${s@Z}",
                    "${#}",
                    "${map[}",
                    "${arr[-9]}",
                    "${u:?'a b'}",
                    "${s^^[}",
                    "${}",
                    "${ s}",
                    "$(( ))",
                    "${arr[]}",
                    "${s/}",
                    "${#s-x}",
                    "${@:-1}",
                ])],
            ),
        ),
        (1, statement("noglob", "set -f\n§\nset +f", &[body])),
        (
            1,
            statement(
                "trap EXIT",
                "(\ntrap '§' EXIT\n§\n); echo \"st $?\"",
                &[
                    &any_of(&[
                        "echo \"X$?\"",
                        "echo bye; exit 5",
                        "p \"$s\"",
                        "f1 exit",
                        "false",
                        "echo X >&2",
                        "trap - EXIT; echo once",
                    ]),
                    body,
                ],
            ),
        ),
        (
            1,
            statement(
                "exit",
                "(\n§\nexit §\n); echo \"st $?\"",
                &[body, &any_of(&["", "3", "256", "-1", "$n", "x", "1 2"])],
            ),
        ),
        (
            1,
            statement(
                "trap ERR",
                "§trap '§' ERR\n§\ntrap - ERR; set +E",
                &[&any_of(&["", "set -E\n"]), &action, lines],
            ),
        ),
        (
            1,
            statement(
                "trap DEBUG",
                "§trap '§' DEBUG\n§\ntrap - DEBUG; set +T",
                &[
                    &any_of(&["", "set -T\n", "set -T\n"]),
                    &any_of(&[
                        "echo \"D $BASH_COMMAND\"",
                        "echo D",
                        "echo \"D$LINENO\"",
                        "p \"$BASH_COMMAND\" ${#FUNCNAME[@]}",
                    ]),
                    lines,
                ],
            ),
        ),
        (
            1,
            statement(
                "trap RETURN",
                "set -T\ntrap '§' RETURN\n§\ntrap - RETURN; set +T",
                &[
                    &any_of(&["echo \"R${FUNCNAME[0]} $?\"", "echo R"]),
                    &some(&any_of(&["f1 a", "f1", ". ./lib.sh", "lf x", "echo x", "v1=$(f1 q)"]), 1..4, "\n"),
                ],
            ),
        ),
        (
            1,
            statement(
                "trap of a signal",
                "(\ntrap '§' USR1\nkill -USR1 $BASHPID\n§\ntrap - USR1\n)",
                &[
                    &any_of(&["echo sig", "echo \"sig $?\"", "v1=caught", "exit 7", "p $s", ":"]),
                    &any_of(&["echo after", "p \"$v1\"", "false; echo $?", "f1 x", ":"]),
                ],
            ),
        ),
        (
            1,
            statement(
                "trap reported",
                "(\n§\n)",
                &[&any_of(&[
                    "trap 'echo a' EXIT; trap -p EXIT",
                    "trap 'x \"y\"' USR1 INT; trap",
                    "trap '' TERM; trap -p",
                    "trap 'echo e' ERR; trap -p ERR; false",
                    "trap 'echo a' 0; trap - 0; trap",
                    "trap 'echo q' EXIT; (trap -p); echo r",
                    "trap 'echo 1' EXIT; (echo sub)",
                    "trap 'echo 1' EXIT; v1=$(trap -p EXIT); echo \"$v1\"",
                    "trap 'echo 1' EXIT; (exit 3); exit",
                    "trap 'echo a' EXIT; exec true",
                    "trap 'echo x; exit 3' EXIT; false",
                    "trap -- 'echo m' EXIT; trap -p | cat",
                    "trap 'echo 1' SIGUSR2 10; trap -p",
                ])],
            ),
        ),
        (1, statement("background", "{\n§\n} >o6 2>/dev/null &\nwait $!; echo $?; p \"$(cat o6)\"", &[body])),
        (
            1,
            statement(
                "jobs",
                "§",
                &[&any_of(&[
                    "(exit 3) & wait $!; echo $?",
                    "false & true & wait; echo $?",
                    "{ exit 4; } & wait %1; echo $?",
                    "(exit 5) & p=$!; wait $p; echo $?; wait $p; echo $?",
                    "wait -n; echo $?",
                    "(exit 2) & wait -n; echo $?",
                    "cat <<< x & wait",
                    "wait 99999; echo $?",
                    "{ read v1; echo \"got $v1\"; } < a.txt & wait",
                    "(exit 6) & wait -n -p v1 $!; echo $? ${v1:+set}",
                    "jobs; echo $?",
                    "f1 bg & wait; echo $?",
                    "kill %9; echo $?",
                    "sleep_() { :; } & wait $!; echo $?",
                ])],
            ),
        ),
        (
            1,
            statement(
                "coprocess",
                "§",
                &[&any_of(&[
                    "coproc { read x; echo \"got $x\"; }; echo hi >&${COPROC[1]}; read v1 <&${COPROC[0]}; wait $COPROC_PID 2>/dev/null; p \"$v1\"",
                    "coproc CO (tr a b); echo aa >&${CO[1]}; eval \"exec ${CO[1]}>&-\"; read v1 <&${CO[0]}; wait 2>/dev/null; p \"$v1\"",
                ])],
            ),
        ),
        (
            1,
            statement(
                "source",
                "§; p $?",
                &[&any_of(&[
                    ". ./lib.sh",
                    ". ./lib.sh a b",
                    "source <(echo 'v1=src; echo $v1 $#')",
                    ". ./lib.sh; lf z",
                    "source ./lib.sh x >o1; p \"$(cat o1)\"",
                    "f5() { . ./lib.sh; }; f5 q",
                ])],
            ),
        ),
        (
            1,
            statement(
                "loop control",
                "for x in 1 2 3; do\nfor y in a b; do\n§ §\necho $x$y\ndone\necho $x\ndone",
                &[
                    &any_of(&["[[ $x == 2 ]] &&", "[[ $y == b ]] &&", "", "((n++ > 2)) &&", "[ $y = a ] ||"]),
                    &any_of(&["break", "continue", "break 2", "continue 2", "break 9", ":", "break 0", "continue x"]),
                ],
            ),
        ),
        (
            1,
            statement(
                "return",
                "f4() {\n§\n§\necho end of f4\n}\nf4 a b; echo $?",
                &[
                    level,
                    &any_of(&[
                        "return",
                        "return 4",
                        "return $n",
                        "return 256",
                        "for x in 1 2; do return 6; done",
                        "(return 7); echo $?",
                        "return x",
                        "{ return 8; } >o1",
                        "return -1",
                        "false; return",
                        "if true; then return 2; fi",
                        "eval 'return 3'",
                        "return 1 2",
                        "true && return 5",
                    ]),
                ],
            ),
        ),
        (1, statement("xtrace", "{ set -x; §\nset +x; } 2>o7; p \"$(cat o7)\"", &[&some(&single(words), 1..3, "\n")])),
        (1, statement("function printed", "f10() {\n§\n}\ndeclare -f f10", &[body])),
        (1, statement("caller", "f4() { caller; caller 0; echo \"${BASH_LINENO[@]}\"; }; f4; § && f4", &[condition])),
        (
            1,
            statement(
                "recursion",
                "f11() { local n=$1; ((n > 0)) || { echo bottom; return; }; f11 $((n - 1)); echo \"$n §\"; }; f11 §",
                &[&any_of(&["x", "$FUNCNAME", "${#FUNCNAME[@]}", "$s"]), &any_of(&["3", "0", "5"])],
            ),
        ),
        (
            1,
            statement(
                "exported function",
                "export -f f1; bash -c 'f1 §'; export -nf f1",
                &[&any_of(&["a", "\"$s\"", "*.txt"])],
            ),
        ),
        (
            1,
            statement(
                "bash",
                "bash §; echo $?",
                &[&any_of(&[
                    "-c 'echo $0 $1' a b",
                    "-ec 'false; echo no'",
                    "-uc 'echo $u; echo no'",
                    "-s a <<< 'echo $1 $0'",
                    "-xc 'echo a' 2>&1",
                    "-c 'echo $#' x y z",
                    "--posix -c 'set -o | grep posix'",
                    "lib.sh q",
                    "-c 'exit 300'",
                    "-n -c 'echo no'",
                    "-c 'kill -TERM $$'",
                    "-o pipefail -c 'false | true; echo $?'",
                    "-c 'trap \"echo bye\" EXIT; exit 2'",
                    "+e -c 'false; echo y'",
                    "-O nullglob -c 'echo no*'",
                    "-c ''",
                    "-c 'if'",
                    "-vc 'echo v'",
                ])],
            ),
        ),
    ])
}
