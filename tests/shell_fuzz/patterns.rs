//! Patterns of `case`, `[[` and removals, and regular expressions.

use super::piece::{Gen, any_of, one, rule, some};

pub fn pattern() -> Gen {
    let literal =
        rule("pattern literal", "§", &[&any_of(&["a", "b", "foo", ".", "x", "l", "k", "12", "é", "-", "o", "B"])]);
    let star = rule("pattern wildcard", "§", &[&any_of(&["*", "?", "**", "?*"])]);
    let bracket = rule(
        "pattern bracket",
        "§",
        &[&any_of(&[
            "[a-c]",
            "[!a-z]",
            "[^x]",
            "[[:alpha:]]",
            "[[:digit:]x]",
            "[]a]",
            "[a-]",
            "[[:space:]]",
            "[![:upper:]]",
            "[[:punct:]]",
            "[*]",
            "[\\]]",
            "[a",
            "[!]a]",
            "[[.a.]]",
            "[[=a=]b]",
            "[$s]",
            "[\"a-c\"]",
            "[é]",
            "[[:foo:]]",
            "[z-a]",
            "[a-c-e]",
            "[[:alnum:]_]",
            "[-a]",
            "[/]",
        ])],
    );
    let quoted = rule(
        "pattern quoted",
        "§",
        &[&any_of(&[
            "'*'",
            "\"$s\"",
            "\\*",
            "\"a b\"",
            "\"?\"",
            "'[a'",
            "\\a",
            "\"$t\"",
            "''",
            "\"${arr[0]}\"",
            "\\\\",
            "$'\\t'",
        ])],
    );
    let variable = rule("pattern variable", "§", &[&any_of(&["$s", "${t}", "$pat", "${arr[1]}", "$1", "$e", "$pat2"])]);
    let base = one(vec![(4, literal), (4, star), (3, bracket), (2, quoted), (2, variable)]);
    let inner = some(&base, 0..3, "");
    let alternatives = some(&inner, 1..4, "|");
    let extended = rule("pattern extglob", "§(§)", &[&any_of(&["@", "?", "*", "+", "!"]), &alternatives]);
    let item = one(vec![(6, base), (2, extended)]);
    let nested_inner = some(&item, 1..3, "");
    let nested = rule("pattern extglob nested", "§(§|§)", &[&any_of(&["@", "*", "!", "+", "?"]), &nested_inner, &item]);
    let item = one(vec![(9, item), (1, nested)]);
    some(&item, 1..4, "")
}

pub fn regex() -> Gen {
    let atom = rule(
        "regex atom",
        "§",
        &[&any_of(&[
            "a",
            ".",
            "o",
            "[a-z]",
            "[[:alpha:]]",
            "[^a]",
            "\\.",
            "x",
            "é",
            "[0-9]",
            "\\\\",
            "[.]",
            "\"$s\"",
            "\".\"",
            "'a+'",
            "$pat3",
            "[[:space:]]",
            "[]a]",
            "\\b",
            "$s",
        ])],
    );
    let repeated = rule("regex repetition", "§§", &[&atom, &any_of(&["*", "+", "?", "{2}", "{1,2}", "{0,1}", "{1,}"])]);
    let item = one(vec![(3, atom), (2, repeated)]);
    let run = some(&item, 1..4, "");
    let group = rule("regex group", "(§)§", &[&run, &any_of(&["", "", "*", "?", "+"])]);
    let choice = rule("regex alternation", "(§|§)", &[&run, &run]);
    let anchored = rule("regex anchor", "§§§", &[&any_of(&["^", "^", ""]), &run, &any_of(&["\\$", "", ""])]);
    let part = one(vec![(4, run), (2, group), (2, choice), (2, anchored)]);
    // `$` only at the end: before a group it would begin a command substitution.
    rule("regex", "§§", &[&some(&part, 1..3, ""), &any_of(&["", "$"])])
}
