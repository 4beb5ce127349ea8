//! Parameter expansions: names, subscripts and operators.

use super::patterns::pattern;
use super::piece::{Gen, any_of, one, rule};

pub struct Params {
    pub any: Gen,
}

/// Scalars, elements and special parameters.
fn single() -> Gen {
    any_of(&[
        "s",
        "t",
        "n",
        "e",
        "ref",
        "low",
        "up",
        "int",
        "ro",
        "1",
        "2",
        "arr[0]",
        "arr[1]",
        "arr[-1]",
        "arr[n]",
        "spr[5]",
        "map[k]",
        "map[a b]",
        "map[$s]",
        "arr",
        "map",
        "arr[9]",
        "num[n%2]",
        "#",
        "10",
        "map[none]",
    ])
}

fn whole() -> Gen {
    any_of(&["arr[@]", "arr[*]", "@", "*", "spr[@]", "spr[*]", "map[@]", "num[@]", "none[@]", "num[*]", "map[*]"])
}

impl Params {
    /// `word` fills the places of words, `text` those of replacements.
    pub fn new(word: &Gen, text: &Gen) -> Self {
        let single = single();
        let whole = whole();
        let name = one(vec![(4, single.clone()), (3, whole.clone())]);
        let maybe_unset =
            one(vec![(2, name.clone()), (2, any_of(&["u", "e", "none", "9", "arr[8]", "map[no]", "none[@]"]))]);
        let pattern = pattern();
        // No offset assigns: bash goes on with the value from before and reads behind its end.
        let offset = any_of(&["0", "1", "2", " -1", " -2", "n", "(-1)", "3", "n-1", "99", "1+1", "$n", " -99"]);
        let any = one(vec![
            (
                8,
                rule(
                    "parameter",
                    "$§",
                    &[&any_of(&[
                        "s", "t", "n", "e", "1", "@", "*", "#", "ref", "arr", "int", "?", "2", "u", "ro", "-", "low",
                        "up",
                    ])],
                ),
            ),
            (4, rule("parameter in braces", "${§}", &[&name])),
            (2, rule("length", "${#§}", &[&name])),
            (3, rule("default", "${§§§}", &[&maybe_unset, &any_of(&["-", ":-"]), word])),
            (3, rule("alternative", "${§§§}", &[&maybe_unset, &any_of(&["+", ":+"]), word])),
            (
                1,
                rule(
                    "assign default",
                    "${§§§}",
                    &[&any_of(&["s", "d1", "d2", "arr[6]", "map[new]", "e", "ref"]), &any_of(&["=", ":="]), word],
                ),
            ),
            (3, rule("remove prefix", "${§§§}", &[&name, &any_of(&["#", "##"]), &pattern])),
            (3, rule("remove suffix", "${§§§}", &[&name, &any_of(&["%", "%%"]), &pattern])),
            (4, rule("replace", "${§§§/§}", &[&name, &any_of(&["/", "//", "/#", "/%"]), &pattern, text])),
            (1, rule("replace by nothing", "${§§§}", &[&name, &any_of(&["/", "//", "/#", "/%"]), &pattern])),
            (
                1,
                rule(
                    "replace with match",
                    "${§//§/§}",
                    &[&name, &pattern, &any_of(&["<&>", "\\&", "\"&\"", "'&'", "&&", "[$s&]", "\"[&]\"", "\\\\&"])],
                ),
            ),
            (2, rule("case change", "${§§}", &[&name, &any_of(&["^", "^^", ",", ",,", "~", "~~"])])),
            (
                1,
                rule(
                    "case change by pattern",
                    "${§§§}",
                    &[
                        &name,
                        &any_of(&["^", "^^", ",", ",,"]),
                        &any_of(&["[aeo]", "?", "f", "[[:alpha:]]", "$s", "ab", "*", "[!a]", "X"]),
                    ],
                ),
            ),
            (2, rule("slice", "${§:§}", &[&name, &offset])),
            (
                3,
                rule(
                    "slice with length",
                    "${§:§:§}",
                    &[&name, &offset, &any_of(&["1", "2", "0", "n", "10", " -1", "1+1", "$n"])],
                ),
            ),
            (3, rule("transformation", "${§@§}", &[&name, &any_of(&["Q", "U", "u", "L", "a", "A", "E", "K", "k"])])),
            (
                1,
                rule(
                    "keys",
                    "${!§}",
                    &[&any_of(&["arr[@]", "map[@]", "spr[*]", "spr[@]", "map[*]", "s[@]", "none[@]", "num[@]"])],
                ),
            ),
            (2, rule("indirection", "${!§}", &[&any_of(&["ptr", "ptr2", "ptr3", "ref", "#"])])),
            (
                1,
                rule(
                    "indirection with operator",
                    "${!§§}",
                    &[
                        &any_of(&["ptr", "ptr2", "ptr3"]),
                        &any_of(&["-x", ":-x", "+y", "#?", "%?", ":1", "^^", "@Q", "/a/b", ":0:2", "@a"]),
                    ],
                ),
            ),
            (1, rule("names by prefix", "${!§}", &[&any_of(&["pt@", "pt*", "ptr@", "zz*"])])),
            (
                1,
                rule(
                    "error if unset",
                    "${§§§}",
                    &[&any_of(&["s", "n", "arr[0]", "t", "1"]), &any_of(&["?", ":?"]), word],
                ),
            ),
        ]);
        Self { any }
    }
}
