#!/usr/bin/env bash
# Packs chosen files of a folder into a tar.gz archive.
set -euo pipefail
export LC_ALL=C

usage='usage: pack.sh ARCHIVE.tar.gz FOLDER [GLOB...]'
help="$usage

Packs the files below FOLDER into ARCHIVE.tar.gz, with paths as they are below FOLDER, and lists them. Links are left out.

  GLOB   only files that it matches: by their name, or by their path below FOLDER when it has a slash. Quote it. Several
         add up; each must match a file"

die() { # STATUS MESSAGE
    echo "pack.sh: $2" >&2
    exit "$1"
}

[[ ${1:-} != --help ]] || { echo "$help" && exit; }
[[ $# -ge 2 && $1 != -* ]] || die 2 "$usage"
archive=$1
folder=${2%/}
shift 2
[[ $archive == *.tar.gz ]] || die 2 "$archive: the name must end in .tar.gz"
[[ -d $folder ]] || die 1 "$folder: no such folder"
(($#)) || set -- '*'

# Each path once, whichever globs match it.
declare -A chosen=()
for glob; do
    case $glob in
    */*) test=(-path "./$glob") ;;
    *) test=(-name "$glob") ;;
    esac
    matches=0
    while IFS= read -r -d '' path; do
        # An older archive at this place does not belong in the new one.
        [[ ! $folder/$path -ef $archive ]] || continue
        chosen[$path]=1
        matches=$((matches + 1))
    done < <(cd "$folder" && find . -type f "${test[@]}" -printf '%P\0')
    ((matches)) || die 1 "$folder: no file matches '$glob'"
done

mkdir -p "$(dirname "$archive")"
# An archive appears whole or not at all.
trap 'rm -f "$archive.part"' EXIT
printf '%s\0' "${!chosen[@]}" | sort -z |
    tar --null --owner=0 --group=0 --numeric-owner -C "$folder" -czf "$archive.part" -T -
mv -- "$archive.part" "$archive"
tar -tzf "$archive"
echo "packed: ${#chosen[@]}, archive: $archive"
