//! Words: quotes, expansions and their nesting.

use super::arith::{arith, bad_arith};
use super::params::Params;
use super::piece::{Gen, any_of, either, forms, one, rule, some};

/// Kinds of words that other modules use.
pub struct Words {
    /// Any word.
    pub word: Gen,
    /// A word for the right side of an assignment.
    pub value: Gen,
    /// What stands in double quotes or in a here-document.
    pub in_quotes: Gen,
    /// A word that can neither fail nor have an effect, nor be no field at all.
    pub plain: Gen,
    /// A short constant.
    pub constant: Gen,
    pub arith: Gen,
    pub params: Params,
}

pub fn constant() -> Gen {
    any_of(&[
        "a",
        "foo",
        "'a b  c'",
        "hello.world",
        "x:y::z",
        "''",
        "007",
        "12",
        "-3",
        "'*'",
        "é日本",
        "\"it's\"",
        "'l1\nl2'",
        "/usr/lib/x.so",
        "aXbXc",
        "' lead '",
        "k",
        "-n",
        "'$s'",
        "'a\\b'",
        "[a]",
        "$'t\\tb'",
        "foo.bar.txt",
        "ABC",
        "--",
        "'x y'",
        "~",
        "\\*",
        "a=b",
        "{a,b}",
        "'\"q\"'",
        "'!'",
        "@",
        "%s",
        "a,b,c",
        "':'",
        "Straße",
        "fooFOO",
        "a.txt",
        "?.txt",
    ])
}

impl Words {
    pub fn new() -> Self {
        let arith = arith();
        let constant = constant();
        let literal = rule(
            "word literal",
            "§",
            &[&any_of(&[
                "a", "foo", "Bar", "x1", "-", "0", "12", "é", ".", "k=v", "a:b", "+x", "日本", "=", "%", "@", "]", "!",
            ])],
        );
        let single =
            forms("word single quotes", &["'a b'", "''", "'$s*'", "'a\\'", "'\"'", "'l1\nl2'", "' x '", "'{a,b}'"]);
        let escape = forms(
            "word backslash",
            &["\\a", "\\$s", "\\\"", "\\'", "\\\\", "\\*", "\\ ", "\\\n", "\\~", "\\{a,b}", "\\`"],
        );
        let ansi = forms(
            "word ANSI quotes",
            &[
                "$'a\\tb'",
                "$'\\x41\\u00e9'",
                "$'\\101'",
                "$'\\\\ \\\"'",
                "$'l1\\nl2'",
                "$'\\e[0m'",
                "$'\\cA'",
                "$'\\u65e5'",
                "$'\\q'",
                "$'\\x4'",
                "$'\\7'",
                "$'a\\0b'",
                "$'\\?'",
                "$'\\U1F600'",
                "$'\\x{41}'",
            ],
        );
        let brace = forms(
            "word brace",
            &[
                "{a,b}",
                "{1..3}",
                "x{a,b}y{1,2}",
                "{01..3}",
                "{3..1}",
                "{a..e..2}",
                "{a}",
                "{a..}",
                "{,x}",
                "a{b,c{d,e}}f",
                "{a,'b,c'}",
                "{1..10..4}",
                "{-1..1}",
                "{a..C}",
                "{a,b",
                "a,b}",
                "{{a,b},c}",
                "{$s,$n}",
                "${s}{a,b}",
                "{a,\\,}",
                "{}",
                "{,}",
                "{1..3}{a,b}",
                "{10..1..-3}",
                "{a,b}$n",
                "\"{a,b}\"",
                "{\"a b\",c}",
                "{x,$(echo a,b)}",
                "{001..3..2}",
                "{1..2}-{x,}",
                "{a\\,b}",
                "{1..a}",
                "a{1,2}b{,c}",
            ],
        );
        let tilde = forms(
            "word tilde",
            &["~", "~/x", "~nosuchuser", "x~", "~+/a", "a:~", "\"~\"", "x=~", "~\\a", "~''", "--a=~/b", "~$s"],
        );
        let glob = forms(
            "word glob",
            &[
                "*.txt",
                "a*",
                "?.txt",
                "[a-c]*",
                "[!a]*",
                "sub/*",
                "*/",
                ".*",
                "nomatch*",
                "@(a|b)*",
                "!(*.txt)",
                "+([ab])*",
                "*",
                "*/*.md",
                "\"a\"*",
                "sub/*/*",
                "**/*.txt",
                "s?b/.h*",
                "[[:alpha:]]b",
                "*' '*",
                "\\*.txt",
                "./*.log",
                "x?y",
                "{a,b}*.txt",
                "*\\ *",
                "[x]*",
                "?(x)*.log",
                "./sub/../a*",
                "**",
                "**/",
                "*([a-b]).@(txt|log)",
                "[",
                "[a",
                "*[",
                "su[b]/d*",
                "sub/[!.]*",
            ],
        );
        let simple_sub = either(vec![
            forms(
                "command substitution simple",
                &[
                    "$(echo a b)",
                    "`echo x`",
                    "$(printf 'a\\nb\\n\\n')",
                    "$(echo $s)",
                    "`echo \"$t\"`",
                    "$(:)",
                    "$(false)",
                    "$(echo '*')",
                    "$(cat a.txt)",
                    "$(<b.txt)",
                    "$(echo $(echo n))",
                    "`echo \\`echo n\\``",
                    "$(echo \")\")",
                    "$(case x in x) echo y;; esac)",
                    "`echo \\$s`",
                    "$(printf '%s' \"${arr[@]}\")",
                    "$(set -- q; echo $1)",
                    "$(s=inner; echo $s)",
                    "$(f1 1)",
                    "$( (echo deep) )",
                    "$(echo '#' # comment\n)",
                    "$(exit 3)",
                    "$(printf '  ')",
                    "`echo '\\\\'`",
                    "$(echo \"$(echo \"$s\")\")",
                    "$({ echo x; } 2>&1)",
                ],
            ),
            rule("command substitution", "$(echo §)", &[&constant]),
            rule(
                "backquotes",
                "`echo §`",
                &[&any_of(&["$s", "\"$s\"", "a  b", "'$n'", "\\\\a", "$(echo b)", "\\\"x\\\""])],
            ),
        ]);
        let arithmetic = one(vec![
            (12, rule("arithmetic expansion", "$((§))", &[&arith])),
            (1, rule("arithmetic expansion old", "$[§]", &[&any_of(&["1+1", "n*2", "num[1]"])])),
            (1, rule("arithmetic expansion wrong", "$((§))", &[&bad_arith()])),
        ]);
        let first = Params::new(&constant, &constant);
        let quoted_literal = rule(
            "quoted literal",
            "§",
            &[&any_of(&[
                "a b", "x", " ", "it's", "\\\"", "\\\\", "\\$", "*", "\\a", "\\`", "~", "é", "'", "l1\nl2", "\\\n",
                "[", "a\\ b", "#", "\\*",
            ])],
        );
        let dq_item = one(vec![
            (4, quoted_literal.clone()),
            (4, first.any.clone()),
            (2, simple_sub.clone()),
            (1, arithmetic.clone()),
        ]);
        let in_quotes = some(&dq_item, 0..4, "");
        let double = rule("word double quotes", "\"§\"", &[&in_quotes]);
        let localized = rule("word localized", "$\"§\"", &[&any_of(&["a b", "$s", "x\\\"y"])]);
        let base = one(vec![
            (5, literal.clone()),
            (2, single),
            (1, escape),
            (1, ansi),
            (4, first.any.clone()),
            (4, double),
            (1, localized),
            (2, simple_sub.clone()),
            (2, arithmetic.clone()),
        ]);
        // Operators whose words have expansions in turn.
        let nested_word = some(&base, 0..3, "");
        let second = Params::new(&nested_word, &nested_word);
        let nested = rule("word nested expansion", "§", &[&second.any]);
        let nested_quoted = rule("word nested quoted", "\"§\"", &[&second.any]);
        let item = one(vec![(8, base.clone()), (2, nested), (2, nested_quoted)]);
        let several = rule("word of parts", "§§", &[&item, &item]);
        let word = one(vec![(8, item.clone()), (2, several), (1, brace.clone()), (1, tilde.clone()), (2, glob)]);
        let value = one(vec![(6, constant.clone()), (5, item), (1, brace), (1, tilde)]);
        let plain = forms(
            "word plain",
            &[
                "x",
                "\"$s\"",
                "\"${t}\"",
                "'a b'",
                "\"$n\"",
                "\"${arr[*]}\"",
                "\"${#s}\"",
                "\"${s:-d}\"",
                "\"${s%o*}\"",
                "\"${map[k]}\"",
                "\"$1\"",
                "\"$(echo y)\"",
                "\"${t//a/b}\"",
                "\"${s@Q}\"",
                "\"$((n+1))\"",
                "\"${s^^}\"",
            ],
        );
        let in_quotes = {
            let item = one(vec![(6, dq_item), (1, second.any.clone())]);
            some(&item, 0..4, "")
        };
        Self { word, value, in_quotes, plain, constant, arith, params: second }
    }
}
