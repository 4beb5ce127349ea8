# What the shell is measured by: `bash cases.sh NAME` prepares, runs and prints how many microseconds that took. Run by
# both shells, see ../shell.sh. Without a name: the names.
names=(
    count arithmetic substitution program parse functions conditions case_match append_text append_array lookup_array
    keys read_file read_pipe read_array printf_v replace replace_pattern trim slice split join heredoc herestring mapfile
    glob pipelines pipe_to_loop source subshell positional test_bracket for_list printf_lines regex case_change
    brace echo_lines array_loop getopts redirect
)
if [ $# = 0 ]; then
    printf '%s\n' "${names[@]}"
    exit
fi

start() { began=${EPOCHREALTIME/./}; }
stop() { echo $((${EPOCHREALTIME/./} - began)); }
# Refuses a wrong result: `expect VALUE WANTED`.
expect() { [ "$1" = "$2" ] || { echo "$name: $1 in place of $2" >&2; exit 1; }; }

work=$(mktemp -d) || exit
trap 'rm -rf "$work"' EXIT
name=$1

# 20,000 lines of 34 bytes.
lines() {
    local i
    for ((i = 10000; i < 30000; i++)); do echo "line $i of some text with words"; done
}

case $name in
count)
    i=0
    start
    while [ $i -lt 60000 ]; do i=$((i + 1)); done
    stop
    ;;
arithmetic)
    start
    for ((i = 0, s = 0; i < 60000; i++)); do ((s += i * 3 % 7, s ^= i)); done
    stop
    ;;
substitution)
    start
    for ((i = 0; i < 10000; i++)); do x=$(echo x); done
    stop
    expect $x x
    ;;
program)
    start
    for ((i = 0; i < 1000; i++)); do /bin/true; done
    stop
    ;;
parse)
    # 5,000 lines of what scripts consist of, in functions that are not called.
    for ((i = 0; i < 250; i++)); do
        cat <<'TEXT'
report() {
    local name=$1 count=${2:-0} line
    # A comment, as scripts have them.
    if [[ -n $name && $count -gt 0 ]]; then
        echo "report of $name: $count lines" >&2
    elif [ "$count" = 0 ]; then
        printf '%s\n' "none of ${name%%/*}" | tee -a "$LOG" >/dev/null
    fi
    case "$name" in
        *.txt | *.md) kind=text ;;
        -*) kind="${name#-}" ;;
        *) kind=$(file -b "$name" | cut -d, -f1) ;;
    esac
    for line in "${lines[@]}"; do
        total=$((total + ${#line} * 2))
    done
    while IFS=: read -r key value; do map[$key]=$value; done < "$name"
    grep -v "^#" "$name" | sort -u | sed -e 's/a/b/' -e "s/$kind/x/"
    return $((total > 100 ? 1 : 0))
}
TEXT
    done > "$work/script"
    start
    source "$work/script"
    stop
    ;;
functions)
    add() { local a=$1 b=$2; sum=$((a + b)); }
    sum=0
    start
    for ((i = 0; i < 20000; i++)); do add $sum $i; done
    stop
    expect $sum 199990000
    ;;
conditions)
    start
    for ((i = 0; i < 30000; i++)); do
        if [[ $i == *7 && $i -gt 100 || -z $i ]]; then hit=$i; fi
    done
    stop
    expect $hit 29997
    ;;
case_match)
    n=0
    start
    for ((i = 0; i < 30000; i++)); do
        case file$i.txt in
        *.md) ;;
        file[0-4]*.txt | other*) n=$((n + 1)) ;;
        *) ;;
        esac
    done
    stop
    ;;
append_text)
    s=
    start
    for ((i = 0; i < 50000; i++)); do s+=abcdefgh; done
    stop
    expect ${#s} 400000
    ;;
append_array)
    a=()
    start
    for ((i = 0; i < 50000; i++)); do a+=("item $i"); done
    stop
    expect ${#a[@]} 50000
    ;;
lookup_array)
    a=({1..20000})
    s=0
    start
    for ((i = 0; i < ${#a[@]}; i++)); do s=$((s + a[i])); last=${a[i]}; done
    stop
    expect $s 200010000
    ;;
keys)
    declare -A m
    start
    for ((i = 0; i < 10000; i++)); do m[key$i]=$i; done
    for ((i = 0; i < 10000; i++)); do last=${m[key$i]}; done
    n=0
    for k in "${!m[@]}"; do n=$((n + ${m[$k]})); done
    stop
    expect $n 49995000
    ;;
read_file)
    lines > "$work/lines"
    n=0
    start
    while read -r line; do n=$((n + 1)); done < "$work/lines"
    stop
    expect $n 20000
    ;;
read_pipe)
    lines > "$work/lines"
    start
    cat "$work/lines" | { n=0; while IFS= read -r line; do n=$((n + 1)); done; expect $n 20000; }
    stop
    ;;
read_array)
    lines > "$work/lines"
    start
    while IFS=' ' read -ra w; do last=${w[1]}; done < "$work/lines"
    stop
    expect $last 29999
    ;;
printf_v)
    start
    for ((i = 0; i < 20000; i++)); do printf -v x '%05d:%s:%x' $i abc $i; done
    stop
    expect $x 19999:abc:4e1f
    ;;
replace)
    printf -v s '%*s' 1000 ''
    s=${s// /abcde}
    start
    for ((i = 0; i < 10; i++)); do x=${s//a/bb}; done
    stop
    expect ${#x} 6000
    ;;
replace_pattern)
    printf -v s '%*s' 2000 ''
    s=${s// /ab12}
    start
    for ((i = 0; i < 5; i++)); do x=${s//[0-9]/}; done
    stop
    expect ${#x} 4000
    ;;
trim)
    start
    for ((i = 0; i < 20000; i++)); do
        p=/usr/share/doc/package-$i/file.tar.gz
        b=${p##*/} d=${p%/*} e=${b%%.*} x=${b#*.}
    done
    stop
    expect "$b $d $e $x" "file.tar.gz /usr/share/doc/package-19999 file tar.gz"
    ;;
slice)
    printf -v s '%*s' 5000 ''
    s=${s// /x}
    n=0
    start
    for ((i = 0; i < ${#s}; i++)); do [ "${s:i:1}" = x ] && n=$((n + 1)); done
    stop
    expect $n 5000
    ;;
split)
    s=$(lines)
    start
    for ((i = 0; i < 3; i++)); do a=($s); done
    stop
    expect ${#a[@]} 140000
    ;;
join)
    a=({1..20000})
    start
    for ((i = 0; i < 10; i++)); do IFS=,; s="${a[*]}"; unset IFS; done
    stop
    expect ${#s} 108893
    ;;
heredoc)
    text=$(lines)
    start
    for ((i = 0; i < 10; i++)); do cat > /dev/null <<TEXT
$text
TEXT
    done
    stop
    ;;
herestring)
    start
    for ((i = 0; i < 5000; i++)); do read -r a b <<< "one two $i"; done
    stop
    expect "$b" "two 4999"
    ;;
mapfile)
    for i in 1 2 3 4 5; do lines; done > "$work/lines"
    start
    mapfile -t a < "$work/lines"
    stop
    expect ${#a[@]} 100000
    ;;
glob)
    cd "$work"
    touch file{1..2000}.txt
    start
    for ((i = 0; i < 10; i++)); do a=(*.txt); done
    stop
    expect ${#a[@]} 2000
    ;;
pipelines)
    start
    for ((i = 0; i < 300; i++)); do x=$(echo "text $i" | sed s/text/word/); done
    stop
    expect "$x" "word 299"
    ;;
pipe_to_loop)
    start
    for ((i = 0; i < 200; i++)); do printf '%s\n' a b c | while read -r x; do y=$x; done; done
    stop
    ;;
source)
    echo 'x=$((x + 1)); f() { echo "$1"; }' > "$work/part"
    x=0
    start
    for ((i = 0; i < 2000; i++)); do . "$work/part"; done
    stop
    expect $x 2000
    ;;
subshell)
    start
    for ((i = 0; i < 2000; i++)); do (x=$i; cd /); done
    stop
    ;;
positional)
    set -- {1..10000}
    n=0
    start
    while [ $# -gt 0 ]; do n=$((n + $1)); shift; done
    stop
    expect $n 50005000
    ;;
test_bracket)
    start
    for ((i = 0; i < 30000; i++)); do [ "$i" -gt 5 ] && [ -n "$i" ] && test "$i" != x; done
    stop
    ;;
for_list)
    n=0
    start
    for i in {1..60000}; do n=$((n + 1)); done
    stop
    ;;
printf_lines)
    a=({1..50000})
    start
    printf '%s\n' "${a[@]}" > "$work/out"
    stop
    ;;
regex)
    start
    for ((i = 0; i < 10000; i++)); do [[ "key$i=value" =~ ^([a-z]+)([0-9]+)=(.*)$ ]] && x=${BASH_REMATCH[2]}; done
    stop
    expect $x 9999
    ;;
case_change)
    start
    for ((i = 0; i < 20000; i++)); do x="Some Text"; x=${x^^}; x=${x,,}; x=${x^}; done
    stop
    expect "$x" "Some text"
    ;;
brace)
    start
    for ((i = 0; i < 20; i++)); do a=({1..5000}{a,b}); done
    stop
    expect ${#a[@]} 10000
    ;;
echo_lines)
    start
    for ((i = 0; i < 30000; i++)); do echo "line $i"; done > "$work/out"
    stop
    ;;
array_loop)
    a=({1..30000})
    n=0
    start
    for x in "${a[@]}"; do n=$((n + x)); done
    stop
    expect $n 450015000
    ;;
getopts)
    n=0
    start
    for ((i = 0; i < 3000; i++)); do
        OPTIND=1
        while getopts ab:c o -a -b value -c; do n=$((n + 1)); done
    done
    stop
    expect $n 9000
    ;;
redirect)
    start
    for ((i = 0; i < 3000; i++)); do echo "$i" >> "$work/out"; done
    stop
    ;;
*)
    echo "no case $name" >&2
    exit 2
    ;;
esac
