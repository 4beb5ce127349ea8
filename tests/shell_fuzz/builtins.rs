//! Statements made of builtins.

use super::arith::bad_arith;
use super::piece::{Gen, any_of, either, one, rule, some, statement};
use super::words::Words;

/// Assignments and declarations.
pub fn assignments(words: &Words) -> Gen {
    let value = &words.value;
    let scalar = any_of(&["s", "t", "e", "v1", "v2", "ref", "low", "up", "pat"]);
    let element = any_of(&["arr[1]", "arr[n]", "arr[-1]", "spr[3]", "map[k]", "map[\"a b\"]", "map[$s]", "arr[n+1]", "v3[0]", "num[1]", "ref"]);
    let items = some(value, 0..4, " ");
    let array = any_of(&["arr", "v3", "spr"]);
    let sparse = either(vec![
        rule("compound with subscripts", "([§]=§ [§]=§ §)", &[&any_of(&["2", "n", "0"]), value, &any_of(&["7", "1", "n+1"]), value, value]),
        rule("compound with appending", "([1]+=§ [1]+=§)", &[value, value]),
    ]);
    let keyed = either(vec![
        rule("compound with keys", "([§]=§ [§]=§)", &[&any_of(&["k", "\"a b\"", "$s", "1"]), value, &any_of(&["z", "'*'", "$t", "@"]), value]),
        rule("compound of pairs", "(§ § § §)", &[&any_of(&["k", "q"]), value, &any_of(&["w", "'x y'"]), value]),
    ]);
    let flags = any_of(&["", "-i", "-u", "-l", "-x", "-a", "-g", "-r", "-t", "+x", "-c", "-ix", "-lx"]);
    one(vec![
        (6, statement("assign", "§=§", &[&scalar, value])),
        (2, statement("append", "§+=§", &[&scalar, value])),
        (2, statement("assign element", "§§§", &[&element, &any_of(&["=", "+="]), value])),
        (2, statement("assign array", "§=(§)", &[&array, &items])),
        (1, statement("append array", "§+=(§)", &[&array, &items])),
        (1, statement("assign sparse", "§§§", &[&array, &any_of(&["=", "+="]), &sparse])),
        (1, statement("assign map", "map§§", &[&any_of(&["=", "+="]), &keyed])),
        (1, statement("assign number", "int§§", &[&any_of(&["=", "+="]), &any_of(&["1", "n+1", "'2 * 3'", "$n", "-n", "x", "010", "num[1]", "\"n << 2\""])])),
        (1, statement("assign several", "s=§ t=$s v1=§", &[value, value])),
        (1, statement("assign for a command", "§=§ §", &[&any_of(&["s", "IFS", "v1", "LC_X"]), &words.constant, &any_of(&["eval 'p \"$s\" $IFS'", "p \"$s\"", "f1 \"$v1\"", "bash -c 'echo \"[$s$v1$LC_X]\"'", "read v2 <<< a:b", "true", ":"])])),
        (2, statement("declare", "declare § §=§", &[&flags, &any_of(&["v1", "v4", "v5", "s"]), value])),
        (1, statement("declare array", "declare § §=(§)", &[&any_of(&["-a", "-au", "-ax", "-r"]), &any_of(&["v6", "v7", "arr"]), &items])),
        (1, statement("declare map", "declare § v8=§", &[&any_of(&["-A", "-Ai", "-Al"]), &keyed])),
        (1, statement("export", "export §=§; bash -c 'echo \"<$s|$v1|$v9>\"'", &[&any_of(&["s", "v1", "v9"]), value])),
        (1, statement("readonly", "readonly §", &[&any_of(&["v10=1", "v10", "v11=(a b)", "ro", "'v12=x y'"])])),
        (1, statement("assign readonly", "(§); echo after $?", &[&any_of(&["ro=1", "ro+=x", "unset ro", "declare ro=2", "read ro <<< x", "ro=(a)", "export ro=3", "for ro in a; do echo $ro; done", "((ro=1)); echo x", "local ro", "printf -v ro x; echo y", "declare +r ro", "ro=1; echo not"])])),
        (1, statement("nameref", "declare -n §; §; unset -n r1", &[&any_of(&["r1=s", "r1=arr", "r1=arr[1]", "r1=map[k]", "r1=u", "r1=int", "r1=v13"]), &any_of(&["r1=new; p \"$r1\"", "r1+=x; declare -p r1", "p ${!r1} ${r1@A}", "unset r1; p \"${s-unset}\"", "((r1++)); p $r1", "read r1 <<< line; p \"$r1\"", "for r1 in s t; do p \"$r1\"; done", "[[ -R r1 ]]; p $?", "printf -v r1 '%s' z; p $r1", "p \"${r1[@]}\" ${#r1} \"${r1:1:2}\""])])),
        (1, statement("unset", "unset §; p \"${s-u}\" \"${arr[@]-u}\" \"${map[@]}\"", &[&any_of(&["s", "arr[1]", "'arr[-1]'", "'map[k]'", "t", "-v e", "nosuch", "-f f9", "'map[a b]'", "v1 v2", "'arr[@]'", "'arr[9]'", "'spr[2]'", "'map[*]'"])])),
        (1, statement("let", "let §; p $? $n $m", &[&any_of(&["n=1+2", "'n = m * 2'", "n++ m--", "n=0", "'n+=2' m=n", "'num[2]=5'", "\"n=n>1?m:2\"", "n=0,m=1", "1", "0"])])),
        (1, statement("arithmetic error", "((§)); echo \"st $?\"", &[&bad_arith()])),
        (1, statement("wrong assignment", "§; echo \"st $?\"", &[&any_of(&["declare 1a=2", "export a-b=1", "readonly 'x y'=1", "unset 1x", "declare -A arr", "declare -a map", "local q=1", "declare -n r9=r9", "declare -n 'r9=a b'", "arr[-9]=1", "declare -i int=1+", "export -z", "declare -Z x", "s[1=2", "map[]=1", "arr[]=1", "map=x", "declare -p nosuch", "unset -q x", "arr[x y]=2", "readonly -p nosuch"])])),
    ])
}

/// What prints the state of variables.
pub fn reports(words: &Words) -> Gen {
    let word = &words.word;
    let args = some(word, 1..4, " ");
    one(vec![
        (10, statement("print fields", "p §", &[&args])),
        (4, statement("echo", "echo §", &[&args])),
        (1, statement("echo options", "echo § §", &[&any_of(&["-n", "-e", "-ne", "-E", "--", "-en", "-x", "-eE"]), &any_of(&["'a\\tb'", "'\\x41\\0101'", "'a\\cb'; echo", "a  b", "'\\\\'", "\"$s\"", "'\\u00e9\\e'", "-n", "'\\n\\101'"])])),
        (2, statement("declare -p", "declare -p §", &[&any_of(&["s", "arr", "map", "n", "spr", "ref", "int", "t arr", "low up", "num", "e", "ro", "v1 2>/dev/null", "v3 2>/dev/null", "v4 2>/dev/null", "u", "v8 2>/dev/null", "v6 2>/dev/null", "ptr"])])),
        (1, statement("positional", "§; p \"$@\" $#", &[&any_of(&["set -- a 'b c' \"$@\"", "shift", "shift 2", "set --", "set -- $s", "set -- \"${arr[@]}\"", "shift 9", "set -- *.txt", "set a b", "set -- -x -y", "shift 0", "shift -1", "shift x", "set - q"])])),
    ])
}

/// Other builtins.
pub fn builtins(words: &Words) -> Gen {
    let value = &words.value;
    let constant = &words.constant;
    let items = some(value, 0..4, " ");
    let read_flags = any_of(&["", "-r", "-a v3", "-n 2", "-N 3", "-d :", "-d ''", "-ra v3", "-r -d x", "-n 1 -r", "-s", "-e", "-t 5", "-rN 4"]);
    let format = any_of(&[
        "'%s|'", "'%d,'", "'%5s|%-5s|'", "'%q '", "'%x %o'", "'%b|'", "'%c'", "'%%'", "'%05d'", "'%.2s|'", "'%*d|'", "'%s %s\\n'", "'\\x41\\t%s'", "'%.3f '",
        "'%e'", "'%+d % d'", "'%#x %#o'", "'%-*s|'", "'%i'", "'%u'", "'%X'", "'%Q|'", "'%.1q|'", "'%g '", "'%5.2s|'", "'%s\\c%s'", "'%z'", "'%'", "'%(%Y)T' 0 #", "'%5b|'", "'%-6q|'",
        "'%.*s|'", "'\\101\\n'", "'%03x|'", "'%s' -- ", "'%10.4f|'", "'%c%c'", "'%d %s\\n'", "%s\\\\n", "\"$s\"",
    ]);
    let printed = some(
        &either(vec![constant.clone(), any_of(&["12", "-3", "0x1f", "010", "\"'a\"", "3.7", "''", "abc", "'a b'", "\"$s\"", "\"${arr[@]}\"", "1e3", "'\\tx'", "\"'é\"", "99999999999999999999", "1x"])]),
        0..4,
        " ",
    );
    one(vec![
        (3, statement("read", "read § v1 v2 <<< §; p $? \"$v1\" \"$v2\" \"${v3[@]}\"", &[&read_flags, value])),
        (1, statement("read with IFS", "IFS=§ read § s t <<< §; p \"$s\" \"$t\"", &[&any_of(&["", ":", "','", "' '", "$' \\t'", "x", "': '", "$'\\n'", "'a '", "'\\'"]), &any_of(&["-r", "", "-ra arr"]), value])),
        (1, statement("read from a file", "§ < §; p $? \"$v1\" \"$v2\" \"$REPLY\"", &[&any_of(&["read", "read v1", "read -r v1 v2", "{ read v1; read v2; }", "read -d e v1", "read -N 7 v1", "{ read -n 3 v1; read v2; }", "read -u 0 v1", "IFS=p read v1 v2", "read -a arr"]), &any_of(&["a.txt", "b.txt", "c.log"])])),
        (1, statement("read from standard input", "§; p $? \"$v1\" \"$v2\"", &[&any_of(&["read v1", "read -r v1 v2", "read -n 4 v1", "IFS= read -r v1", "read -d , v1", "IFS=, read -r v1 v2"])])),
        (1, statement("read wrong", "read § < a.txt; p $?", &[&any_of(&["1x", "-n x v1", "-u 9 v1", "-t -1 v1", "-q v1", "'v1 v2'", "-a map", "-u x v1"])])),
        (1, statement("mapfile", "mapfile § v3 < §; p $? \"${v3[@]}\" ${#v3[@]}", &[&any_of(&["", "-t", "-n 1", "-s 1 -t", "-d :", "-O 2 -t", "-tn 2", "-d '' -t", "-t -d a", "-c 1 -C 'echo cb' -t"]), &any_of(&["a.txt", "b.txt", "c.log", "<(printf 'a:b\\nc')", "<(printf 'l1\\nl2\\n')", "../stdin.txt"])])),
        (3, statement("printf", "printf § §; echo \"|$?\"", &[&format, &printed])),
        (1, statement("printf into a variable", "printf -v § § §; p $? \"$v1\" \"${arr[@]}\"", &[&any_of(&["v1", "'arr[2]'", "s", "'map[k]'", "1x", "ref"]), &format, &printed])),
        (1, statement("eval", "eval §; echo $?", &[&any_of(&["'echo $s'", "\"echo \\$t\"", "'v1=1; v2=2'", "echo \"'a b'\"", "'for x in 1 2; do echo $x; done'", "''", "'exit_ 2>/dev/null'", "'f1 a b'", "'echo \"a' 'b\"'", "'false'", "p '\"$s\"' '$s'", "'case a in a) echo m;; esac'", "'echo $LINENO\necho $LINENO'", "\"$(declare -p arr)\"", "'set -- z; echo $1'", "'return_() { echo r; }; return_'"])])),
        (1, statement("eval of a syntax error", "eval §; echo $?", &[&any_of(&["'if'", "'echo )'", "'for x in a; done'", "'echo \"'", "'fi'", "'case x in'", "'{ echo'", "'echo $(('", "'((1'", "'[[ a'", "'x() '", "'echo `'", "'do'", "';;'", "'| a'", "'echo ${'", "'! !'", "'<'", "'while :; do'", "'function'", "'echo a &&'", "'(echo'", "'[[ a b ]]'", "'esac x'", "'for 1x in a; do :; done'"])])),
        (1, statement("type", "§; echo $?", &[&any_of(&["type -t f1 echo if nosuch", "command -v f1 echo nosuch if", "type f2", "type -a echo 2>&1 | sed 1q", "command echo x", "builtin echo y", "builtin nosuch", "command -V f1", "type -p echo", "command nosuch", "type if", "type -t p", "declare -f f1", "declare -F", "declare -F f1 f2", "type nosuch", "command -p echo z", "enable -n true; type -t true; enable true", "hash nosuch"])])),
        (1, statement("shopt", "shopt § §; p *.nomatch .* *x*", &[&any_of(&["-s", "-u", "-q", "-p"]), &any_of(&["nullglob", "dotglob", "nocaseglob", "globstar", "nocasematch", "extglob"])])),
        (1, statement("shopt reported", "§; echo $?", &[&any_of(&["shopt nullglob", "shopt -p extglob", "shopt -o pipefail", "shopt -s nosuch", "set -o nosuch", "[[ -o noglob ]]", "shopt -q extglob", "set -o | sed -n 1,4p", "set +o | sed -n 1,4p", "echo $-", "echo $SHELLOPTS", "shopt -po errexit"])])),
        (1, statement("alias", "§", &[&any_of(&["shopt -s expand_aliases\nalias al1='echo aliased '\nal1 b", "alias x1=y; alias x1; unalias x1; alias x1", "alias al2='al3 q' al3='echo $s'\nal2 r", "unalias nosuch", "alias nosuch", "alias -p | sed 9q", "alias al4='for i in 1 2; do'\nal4 echo $i; done"])])),
        (1, statement("getopts", "g1 §; echo $?", &[&some(&any_of(&["-a", "-b x", "-bval", "-ab", "-c", "--", "rest", "-z", "-b", "-", "-cab"]), 0..4, " ")])),
        (1, statement("directories", "§; echo \"${PWD##*/} $?\"", &[&any_of(&["cd sub", "cd sub && cd ..", "cd nosuch", "cd - >/dev/null", "(cd sub; p *)", "cd ./sub/../sub; cd ..", "pushd sub >/dev/null; popd >/dev/null", "cd ''", "cd a.txt", "popd", "cd sub/deep; cd -L ..; cd ..", "cd a b", "dirs -z", "CDPATH=sub; cd deep >/dev/null; cd ../..", "cd -P sub; cd $OLDPWD"])])),
        (1, statement("variables of the shell", "p §", &[&any_of(&["$LINENO", "${FUNCNAME[@]}", "${BASH_SOURCE[0]##*/}", "${PIPESTATUS[@]}", "$BASH_SUBSHELL", "${BASH_LINENO[@]}", "$SHLVL", "${#BASH_VERSINFO[@]}", "$OPTIND", "${IFS@Q}", "$0", "${BASH_REMATCH[@]}", "$_", "${!BASH_V*}", "$PPID_", "${DIRSTACK[@]##*/}", "${GROUPS_-x}", "${HOSTTYPE:+x}", "$((SECONDS<60))", "${#EPOCHSECONDS}", "$OPTERR", "${BASH_COMMAND}"])])),
        (1, statement("set IFS", "IFS=§", &[&any_of(&["$' \\t\\n'", ":", "' :'", "''", "x", "','", "'*'", "$'\\n'", "a", "\"'\"", "'\\'", "é"])])),
        (1, statement("colon", ": §", &[&items])),
        (1, statement("wrong builtin", "§; echo $?", &[&any_of(&["shift a b", "break", "continue 2", "return 3", "exit_x", "nosuch_command a", "./a.txt", "./nosuch", "sub", "./sub", "echo a >nosuch/f", "cat <nosuch", "umask 999", "wait x", "kill", "trap x NOSUCH", "let", "getopts", "unset", "source nosuch", ". ./b.txt", "mapfile -n x a", "printf", "read -x", "command", "set -Z", "times x >/dev/null", "umask", "''", "\"$e\"", "$e", "trap -p", "bash nosuch", "bash -c 'exit 4'", "bash -c 'echo ${'", "exec nosuch_x"])])),
    ])
}
