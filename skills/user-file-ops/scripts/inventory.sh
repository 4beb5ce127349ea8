#!/usr/bin/env bash
# Lists the files of a folder with digest, bytes and lines, and tells which have the same content.
set -euo pipefail

if [[ $# -ne 2 ]]; then
    echo "usage: inventory.sh FOLDER OUTPUT" >&2
    exit 2
fi
folder=${1%/}
output=$2
if [[ ! -d $folder ]]; then
    echo "inventory.sh: $folder: no such folder" >&2
    exit 1
fi

mkdir -p "$(dirname "$output")"
declare -A first_with=()
declare -A copies=()
files=0
: > "$output"
# The slash makes find enter a folder that is a link, as inputs is.
while IFS= read -r -d '' path; do
    digest=$(sha256sum < "$path" | cut -c 1-12)
    read -r lines bytes < <(wc -lc < "$path")
    name=${path#"$folder/"}
    printf '%s\t%d\t%d\t%s\n' "$digest" "$bytes" "$lines" "$name" >> "$output"
    files=$((files + 1))
    if [[ -n ${first_with[$digest]:-} ]]; then
        copies[$digest]+=" = $name"
    else
        first_with[$digest]=$name
    fi
done < <(find "$folder/" -type f -print0 | LC_ALL=C sort -z)

echo "$files files, listed in $output"
for digest in "${!copies[@]}"; do
    echo "same content: ${first_with[$digest]}${copies[$digest]}"
done | LC_ALL=C sort
