//! `test`, `[` and `[[`.

use super::patterns::{pattern, regex};
use super::piece::{Gen, any_of, one, rule};
use super::words::Words;

pub fn condition(words: &Words) -> Gen {
    let word = &words.plain;
    let any = &words.params.any;
    let number = any_of(&["1", "\"$n\"", "${#arr[@]}", "0", "7", "$n", "n", "num[1]", "-2", "010", "n+1"]);
    let compare = any_of(&["-eq", "-ne", "-lt", "-le", "-gt", "-ge"]);
    let file = any_of(&["a.txt", "sub", ".hid", "none", "\"x y\"", "c.log", "''", "sub/d.txt", "o1"]);
    let unary = any_of(&["-e", "-f", "-d", "-s", "-r", "-h", "-p", "-S", "-b"]);
    let variable = any_of(&["s", "u", "arr", "arr[1]", "arr[9]", "map[k]", "e", "none", "'arr[@]'", "map", "ref"]);
    let lone = one(vec![(4, word.clone()), (1, any_of(&["-n", "-e", "!", "-z", "'('", "-a", "=", "''"]))]);
    let bracket = one(vec![
        (2, rule("test string", "§ § §", &[word, &any_of(&["=", "!=", "==", "'<'", "\\>"]), word])),
        (
            2,
            rule(
                "test number",
                "§ § §",
                &[
                    &any_of(&["1", "\"$n\"", "${#arr[@]}", "0", "-2", "007", "' 3 '"]),
                    &compare,
                    &any_of(&["1", "2", "\"$n\"", "$#"]),
                ],
            ),
        ),
        (
            1,
            rule(
                "test number wrong",
                "§ § §",
                &[&any_of(&["x", "''", "1.5", "0x1", "\"$s\""]), &compare, &any_of(&["1", "y"])],
            ),
        ),
        (1, rule("test empty", "§ §", &[&any_of(&["-z", "-n"]), word])),
        (1, rule("test file", "§ §", &[&unary, &file])),
        (1, rule("test variable", "§ §", &[&any_of(&["-v", "-R"]), &variable])),
        (1, rule("test one argument", "§", &[&lone])),
        (1, rule("test and or", "§ = § § -n §", &[word, word, &any_of(&["-a", "-o"]), word])),
        (1, rule("test not", "! § § §", &[word, &any_of(&["=", "!=", "-a", "-o"]), word])),
        (
            1,
            rule(
                "test odd",
                "§ §",
                &[&any_of(&["!", "x", "-n", "-q", "'('"]), &any_of(&["''", "y", "')'", "-z", "]"])],
            ),
        ),
        (1, rule("test parentheses", "\\( § = § \\) § §", &[word, word, &any_of(&["-a", "-o"]), word])),
        (1, rule("test files compared", "§ § §", &[&file, &any_of(&["-ef"]), &file])),
        (1, rule("test option", "-o §", &[&any_of(&["errexit", "noglob", "nosuch", "extglob"])])),
    ]);
    let conditional = one(vec![
        (3, rule("conditional pattern", "§ § §", &[any, &any_of(&["==", "!=", "="]), &pattern()])),
        (3, rule("conditional regex", "§ =~ §", &[any, &regex()])),
        (2, rule("conditional number", "§ § §", &[&number, &compare, &number])),
        (1, rule("conditional order", "§ § §", &[word, &any_of(&["<", ">"]), word])),
        (1, rule("conditional empty", "§ §", &[&any_of(&["-z", "-n"]), any])),
        (1, rule("conditional file", "§ §", &[&unary, &file])),
        (1, rule("conditional variable", "§ §", &[&any_of(&["-v", "-R"]), &variable])),
        (1, rule("conditional word", "§", &[any])),
    ]);
    let joined = one(vec![
        (4, conditional.clone()),
        (1, rule("conditional and or", "§ § §", &[&conditional, &any_of(&["&&", "||"]), &conditional])),
        (1, rule("conditional not", "! §", &[&conditional])),
        (1, rule("conditional parentheses", "( § ) § § ", &[&conditional, &any_of(&["&&", "||"]), &conditional])),
        (1, rule("conditional lines", "§ §\n §", &[&conditional, &any_of(&["&&", "||"]), &conditional])),
    ]);
    one(vec![
        (3, rule("[[", "[[ § ]]", &[&joined])),
        (2, rule("[", "[ § ]", &[&bracket])),
        (1, rule("test", "test §", &[&bracket])),
        (2, rule("((", "((§))", &[&words.arith])),
    ])
}
