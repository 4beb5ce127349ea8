//! Arithmetic expressions.

use super::piece::{Gen, any_of, either, one, rule, some};

/// Expressions that assign to nothing but `n`, `m`, `i1` and `num`. Divisions by zero are rare, as they end a script.
pub fn arith() -> Gen {
    let number =
        rule("arith number", "§", &[&any_of(&["1", "0", "2", "7", "10", "255", "9223372036854775807", "100"])]);
    let based = rule(
        "arith base",
        "§",
        &[&any_of(&["0x1F", "010", "2#101", "36#z", "16#ff", "64#_", "64#@a", "37#A", "10#08", "0xfF", "62#Z"])],
    );
    let variable = rule(
        "arith variable",
        "§",
        &[&any_of(&[
            "n",
            "m",
            "$n",
            "i1",
            "num[0]",
            "num[n%3]",
            "num[-1]",
            "${#num[@]}",
            "${n}",
            "u",
            "arr[7]",
            "${#s}",
            "num",
            "${num[1]}",
            "e",
            "map[zz]",
            "$#",
        ])],
    );
    let target = any_of(&["n", "m", "i1", "num[1]", "num[n&1]", "num[5]"]);
    let atom = one(vec![(4, number), (2, based), (5, variable)]);
    let mut level = atom;
    for _ in 0..2 {
        let operator = any_of(&[
            "+", "-", "*", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "&", "|", "^", "&&", "||", " + ", " - ", " * ",
        ]);
        let assign = any_of(&["=", "+=", "-=", "*=", "<<=", ">>=", "&=", "^=", "|="]);
        let divisor = any_of(&["3", "7", "-2", "(n|1)", "(m|1)"]);
        level = one(vec![
            (6, level.clone()),
            (4, rule("arith binary", "§§§", &[&level, &operator, &level])),
            (2, rule("arith unary", "§§", &[&any_of(&["-", "+", "!", "~", "! ", "- -", "!!"]), &level])),
            (2, rule("arith parentheses", "(§)", &[&level])),
            (1, rule("arith division", "§§§", &[&level, &any_of(&["/", "%", " / "]), &divisor])),
            (1, rule("arith power", "§**§", &[&level, &any_of(&["0", "2", "3", "10", "n", "64"])])),
            (1, rule("arith ternary", "§?§:§", &[&level, &level, &level])),
            (1, rule("arith comma", "§,§", &[&level, &level])),
            (2, rule("arith assignment", "(§§§)", &[&target, &assign, &level])),
            (1, rule("arith prefix", "§§", &[&any_of(&["++", "--"]), &target])),
            (1, rule("arith postfix", "§§", &[&target, &any_of(&["++", "--"])])),
            (1, rule("arith quotes", "\"§\"", &[&level])),
        ]);
    }
    level
}

/// Expressions that are wrong, or may be.
pub fn bad_arith() -> Gen {
    let wrong = either(vec![
        any_of(&[
            "1/0", "n%0", "1 +", "* 2", "08", "2#2", "1 2", "a b", "(1", "1)", "2**-1", "n=", "1=2", "x y", "1.5",
        ]),
        any_of(&[
            "num[",
            "++1",
            "?1:2",
            "1?2",
            "1?:3",
            "65#1",
            "3#",
            "1,,2",
            "$",
            "0x",
            "99#1",
            "'1'",
            "@",
            "1 ** ** 2",
        ]),
    ]);
    rule("arith error", "§", &[&some(&wrong, 1..2, "")])
}
