#!/usr/bin/env bash
# Finds files with the same content.
set -euo pipefail
export LC_ALL=C

usage='usage: duplicates.sh [FOLDER]'
help="$usage

Lists the files below FOLDER (default: work/inputs) that have the same content, by their SHA-256 digests, in groups; the
group with most bytes to gain comes first. Empty files and links are left out. Nothing is deleted."

die() { # STATUS MESSAGE
    echo "duplicates.sh: $2" >&2
    exit "$1"
}

[[ ${1:-} != --help ]] || { echo "$help" && exit; }
[[ $# -le 1 && ${1:-} != -* ]] || die 2 "$usage"
folder=${1:-work/inputs}
[[ -d $folder ]] || die 1 "$folder: no such folder"

# Only files of equal size can be equal, so the others need not be read.
sizes=()
paths=()
declare -A count=()
while read -r -d '' bytes path; do
    sizes+=("$bytes")
    paths+=("$path")
    count[$bytes]=$((${count[$bytes]:-0} + 1))
done < <(find "${folder%/}/" -type f -size +0 -printf '%s %P\0' | sort -z -k 2)

candidates=()
declare -A size_of=()
for i in "${!paths[@]}"; do
    if ((count[${sizes[i]}] > 1)); then
        candidates+=("${folder%/}/${paths[i]}")
        size_of[${paths[i]}]=${sizes[i]}
    fi
done

declare -A copies=() bytes_of=() paths_of=()
if ((${#candidates[@]})); then
    while read -r -d '' digest path; do
        path=${path#"${folder%/}/"}
        bytes_of[$digest]=${size_of[$path]}
        copies[$digest]=$((${copies[$digest]:-0} + 1))
        [[ $path != *[[:cntrl:]]* ]] || printf -v path %q "$path"
        paths_of[$digest]+="  $path"$'\n'
    done < <(printf '%s\0' "${candidates[@]}" | xargs -0 sha256sum -z --)
fi

groups=0
extra=0
gain=0
while read -r wasted digest; do
    printf '%d copies of %d bytes, sha256 %s\n%s\n' "${copies[$digest]}" "${bytes_of[$digest]}" "${digest:0:12}" \
        "${paths_of[$digest]}"
    groups=$((groups + 1))
    extra=$((extra + copies[$digest] - 1))
    gain=$((gain + wasted))
done < <(
    for digest in "${!copies[@]}"; do
        if ((copies[$digest] > 1)); then
            echo "$(((copies[$digest] - 1) * bytes_of[$digest])) $digest"
        fi
    done | sort -k 1,1nr -k 2
)
echo "groups: $groups, files too many: $extra, bytes to gain: $gain"
