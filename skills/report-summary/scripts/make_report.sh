#!/usr/bin/env bash
# Writes a Markdown report over a folder of text documents.
set -euo pipefail

if [[ $# -gt 2 || ${1:-} == -* ]]; then
    echo "usage: make_report.sh [FOLDER [REPORT]]" >&2
    exit 2
fi
folder=${1:-work/inputs}
report=${2:-out/report.md}
scripts=$(dirname "${BASH_SOURCE[0]}")

mkdir -p "$(dirname "$report")"
# A report appears whole or not at all.
trap 'rm -f "$report.part"' EXIT
python3 "$scripts/report.py" "$folder" > "$report.part"
mv "$report.part" "$report"
echo "wrote $report: $(wc -l < "$report" | tr -d ' ') lines, $(grep -c '^## ' "$report") sections"
