#!/usr/bin/env bash
# Shows what a file looks like: lines from its begin, from all of its middle and from its end.
set -euo pipefail

usage='usage: sample.sh [--lines N] FILE'
help="$usage

Shows up to N lines of FILE (default: 12, from 3 to 200) with their numbers: the first third from its begin, the last third
from its end, and the others at equal distances between them. Lines are cut after 160 characters. Of a file that is no text
it shows the first 128 bytes."

die() { # STATUS MESSAGE
    echo "sample.sh: $2" >&2
    exit "$1"
}

lines=12
case ${1:-} in
--help) echo "$help" && exit ;;
--lines)
    [[ ${2:-} =~ ^[1-9][0-9]{0,2}$ ]] && ((${2} >= 3 && ${2} <= 200)) || die 2 "--lines needs a number from 3 to 200"
    lines=$2
    shift 2
    ;;
esac
[[ $# -eq 1 && $1 != -* ]] || die 2 "$usage"
file=$1
[[ -f $file ]] || die 1 "$file: no such file"

bytes=$(wc -c < "$file")
looked_at=$(head -c 8192 < "$file" | wc -c)
without_zeros=$(head -c 8192 < "$file" | tr -d '\0' | wc -c)
if ((looked_at != without_zeros)); then
    echo "$file: $((bytes)) bytes, no text"
    head -c 128 < "$file" | od -A d -t x1z
    exit
fi
# awk counts a last line without a line break too, unlike wc.
total=$(awk 'END { print NR }' < "$file")
echo "$file: $((bytes)) bytes, $total lines"
# Terminals must not take a control character in a file for a command.
env LC_ALL=C.UTF-8 awk -v want="$lines" -v total="$total" '
    BEGIN {
        ends = int(want / 3)
        middle = want - 2 * ends
        # The lines of the middle are in the centres of equal parts.
        for (i = 0; i < middle; i++) chosen[ends + int((total - 2 * ends) * (2 * i + 1) / (2 * middle)) + 1] = 1
    }
    total <= want || FNR <= ends || FNR > total - ends || FNR in chosen {
        if (FNR > last + 1) print "      :"
        last = FNR
        gsub(/[\001-\010\013-\037\177]/, "?")
        printf "%7d  %s\n", FNR, (length($0) > 160) ? substr($0, 1, 160) "…" : $0
    }' < "$file"
