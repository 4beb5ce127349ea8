#!/usr/bin/env bash
# Writes what went wrong in the log files below a folder.
set -euo pipefail
export LC_ALL=C

if [[ $# -gt 2 || ${1:-} == -* ]]; then
    echo "usage: triage.sh [FOLDER [OUTPUT]]" >&2
    exit 2
fi
folder=${1:-work/inputs}
output=${2:-out/triage.txt}
scripts=$(dirname "$0")
top=10

if [[ ! -d $folder ]]; then
    echo "triage.sh: $folder: no such folder" >&2
    exit 1
fi

# Runs a command with the log files as its last arguments; their paths are relative to the folder.
with_logs() ( cd "$folder" && find . -type f -name '*.log' -print0 | sort -z | xargs -0 "$@" )
lines() { with_logs cat --; }

# grep's status 1 says that nothing was found, which is a good thing in a log.
search() { grep "$@" || [[ $? -eq 1 ]]; }
well_formed='^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z [A-Z]+ [^ ]+ request='
errors() { lines | search -E "$well_formed" | search -E '^[^ ]+ (ERROR|FATAL) '; }

errors_by_file() {
    # xargs answers 123 when a grep has found nothing.
    { with_logs grep -cHE '^[^ ]+ (ERROR|FATAL) ' -- || [[ $? -eq 123 ]]; } |
        sed -E 's|^\./(.*):([0-9]+)$|\2 \1|' |
        awk '$1 > 0 { count = $1; sub(/^[0-9]+ /, ""); printf "%7d %s\n", count, $0 }'
}

# Unlike head, this reads to the end, so that no stage ends with a broken pipe under pipefail.
first() { awk -v n="$1" 'NR <= n'; }
none_if_empty() { awk '{ print "  " $0 } END { if (NR == 0) print "  none" }'; }

files=$(with_logs printf '%s\n' | sed '/^$/d' | wc -l | tr -d ' ')
if [[ $files -eq 0 ]]; then
    echo "triage.sh: $folder: no *.log files" >&2
    exit 1
fi

mkdir -p "$(dirname "$output")"
{
    echo "Log triage of $folder"
    echo
    echo "Overview"
    echo "  files:   $files"
    echo "  lines:   $(lines | wc -l | tr -d ' ')"
    echo "  ignored: $(lines | search -vcE "$well_formed")"
    echo "  from:    $(lines | search -oE "$well_formed" | cut -d ' ' -f 1 | sort | sed -n '1p')"
    echo "  to:      $(lines | search -oE "$well_formed" | cut -d ' ' -f 1 | sort | sed -n '$p')"
    echo
    echo "Lines by level"
    lines | search -oE "$well_formed" | cut -d ' ' -f 2 | sort | uniq -c | sort -k1,1nr -k2 | none_if_empty
    echo
    echo "Errors by hour, the worst first"
    errors | cut -c 1-13 | tr T ' ' | sort | uniq -c | sort -k1,1nr -k2 | first 5 | none_if_empty
    echo
    echo "Files with errors"
    errors_by_file | sort -k1,1nr -k2 | first "$top" | none_if_empty
    echo
    echo "Kinds of errors"
    errors | sed -E -f "$scripts/kinds.sed" | sort | uniq -c | sort -k1,1nr -k2 | first "$top" | none_if_empty
    echo
    echo "First and last error"
    errors | sort | sed -n '1p;$p' | none_if_empty
} > "$output"
echo "wrote $output: $(errors | wc -l | tr -d ' ') errors in $files files"
