//! Whole scripts: options, variables, functions, statements.

use proptest::prelude::*;

use super::commands::Commands;
use super::piece::{Gen, Piece, any_of, one, rule, some};
use super::words::{Words, constant};

/// Scripts. Their first line is a comment with the mode.
pub fn script() -> Gen {
    let words = Words::new();
    let in_f2 = Commands::new(&words, &["f1"]);
    let in_f3 = Commands::new(&words, &["f1", "f1", "f2"]);
    let commands = Commands::new(&words, &["f1", "f1", "f2", "f2", "f3"]);
    let mode = one(vec![
        (14, rule("run as a file", "# mode file", &[])),
        (3, rule("run with -c", "# mode command", &[])),
        (3, rule("run from standard input", "# mode input", &[])),
    ]);
    let options = one(vec![
        (8, any_of(&[""])),
        (
            1,
            rule(
                "script with shopt",
                "shopt -s §\n",
                &[&any_of(&[
                    "nullglob",
                    "dotglob",
                    "globstar",
                    "nocasematch",
                    "nocaseglob",
                    "failglob",
                    "nullglob globstar",
                ])],
            ),
        ),
        (
            1,
            rule(
                "script with set",
                "set §\n",
                &[&any_of(&["-u", "-e", "-o pipefail", "-f", "-eu", "-E", "-B", "+B", "-a"])],
            ),
        ),
        (1, rule("script with IFS", "IFS=§\n", &[&any_of(&[":", "' :'", "''", "x", "','", "$'\\n'"])])),
    ]);
    let constant = constant();
    let numbers = any_of(&["0", "1", "2", "3", "-1", "10", "7"]);
    let variables = rule(
        "variables",
        "s=§ t=§ n=§ m=§ e= i1=0 steps=0 calls=0 pat=§ pat2='*(a|b)' pat3='^f'\narr=(§ § §) spr=([2]=§ [5]=x [9]=§) num=(3 1 4)\ndeclare -A map=([k]=§ [\"a b\"]=§ [z]=1)\nptr=§ ptr2='arr[1]' ptr3=§\ndeclare -n ref=§\ndeclare -i int=§; declare -u up=§; declare -l low=§; declare -r ro=§\nset -- § §\n",
        &[
            &constant,
            &constant,
            &numbers,
            &numbers,
            &any_of(&["'*'", "'f*'", "'[a-c]'", "'?'"]),
            &constant,
            &constant,
            &constant,
            &constant,
            &constant,
            &constant,
            &constant,
            &any_of(&["s", "t", "n"]),
            &any_of(&["'arr[@]'", "'map[k]'", "s", "ref"]),
            &any_of(&["s", "t", "arr[1]", "map[k]", "arr", "n"]),
            &numbers,
            &constant,
            &constant,
            &constant,
            &constant,
            &constant,
        ],
    );
    let functions = rule(
        "functions",
        "f1() { ((calls++ < 15)) || return 9; echo \"f1 $#:$*\"; }\nf2() { ((calls++ < 15)) || return 9\nlocal t=$1 i2=§\n§\nreturn §\n}\nfunction f3 { ((calls++ < 15)) || return 9\n§\n}\n",
        &[&constant, &in_f2.body, &any_of(&["0", "3", ""]), &in_f3.body],
    );
    let statements = some(&commands.statement, 4..13, "\n");
    let end = any_of(&[
        "echo \"end $?\"\ndeclare -p s t arr map 2>/dev/null\n",
        "declare -p n m v1 v2 v3 spr num 2>/dev/null\nexit $n\n",
        "p $? \"$s\" \"${arr[@]}\"\n",
    ]);
    let parts: Vec<Gen> = vec![mode, options, variables, functions, statements, end];
    let whole = parts.prop_map(|parts| {
        let mut parts = parts.into_iter();
        let mut piece: Piece = parts.next().unwrap_or_default();
        piece.text.push_str(&format!("\n{PRELUDE}"));
        for part in parts {
            piece.text.push_str(&part.text);
            if !piece.text.ends_with('\n') {
                piece.text.push('\n');
            }
            piece.used.extend(part.used);
            piece.statements += part.statements;
        }
        piece
    });
    whole.boxed()
}

/// What every script begins with. `p` prints its arguments, each in angle brackets.
const PRELUDE: &str = "shopt -s extglob
p() { local IFS=' '; printf '<%s>' \"$@\"; printf ' %s\\n' \"$#\"; }
g1() { local OPTIND=1 o; while getopts ':ab:c' o; do p \"$o\" \"${OPTARG-unset}\" \"$OPTIND\"; done; shift $((OPTIND - 1)); p \"$@\"; }
";
