#!/usr/bin/env bash
# Writes a summary of a text file: its counts and its first 20 non-empty lines.
set -euo pipefail

if [[ $# -ne 2 ]]; then
    echo "usage: summarize_file.sh INPUT OUTPUT" >&2
    exit 2
fi
input=$1
output=$2
if [[ ! -f $input ]]; then
    echo "summarize_file.sh: $input: no such file" >&2
    exit 1
fi

# Some versions of wc pad their counts.
count() { wc "$1" < "$input" | tr -d '[:space:]'; }

# head ends before sed when there are more lines; that is no failure.
first_lines() { { sed '/^[[:space:]]*$/d' "$input" || true; } | head -n 20 | nl -ba; }

mkdir -p "$(dirname "$output")"
{
    echo "File: $input"
    echo "Lines: $(count -l)"
    echo "Words: $(count -w)"
    echo "Bytes: $(count -c)"
    echo
    echo "First 20 non-empty lines:"
    first_lines
} > "$output"
echo "wrote $output"
