#!/usr/bin/env bash
# Renames the files of a folder by a pattern: shows what it would do, and does it with --apply.
set -euo pipefail
export LC_ALL=C

usage='usage: rename.sh [--apply] FOLDER PATTERN REPLACEMENT'
help="$usage

Replaces what matches PATTERN in the names of the files directly in FOLDER. Without --apply it only shows the new names.

  PATTERN       an extended regular expression, as for sed -E; each match in a name is replaced
  REPLACEMENT   may hold & (the match), \\1 to \\9 (its groups) and {n} (001, 002, ... in the order of names)
  --apply       rename; nothing is renamed when any new name is taken, doubled or not possible"

die() { # STATUS MESSAGE
    echo "rename.sh: $2" >&2
    exit "$1"
}

apply=no
case ${1:-} in
--help) echo "$help" && exit ;;
--apply) apply=yes && shift ;;
esac
[[ $# -eq 3 && ${1:-} != -* ]] || die 2 "$usage"
folder=${1%/}
[[ -d $folder ]] || die 1 "$folder: no such folder"
[[ -n $2 ]] || die 2 "PATTERN is empty"
[[ $2$3 != *[[:cntrl:]]* ]] || die 2 "PATTERN and REPLACEMENT must not hold control characters"

old=()
while IFS= read -r -d '' name; do
    old+=("$name")
done < <(find "$folder/" -mindepth 1 -maxdepth 1 -type f -printf '%f\0' | sort -z)
((${#old[@]})) || die 1 "$folder: no files"

# One sed for all names. Its separator is a byte that neither the pattern nor the replacement can hold. In UTF-8, so that a
# dot is a character.
sep=$'\001'
new=()
sed -E "s$sep$2$sep$3${sep}g" < /dev/null || die 2 "sed does not take PATTERN and REPLACEMENT"
while IFS= read -r -d '' name; do
    new+=("$name")
done < <(printf '%s\0' "${old[@]}" | env LC_ALL=C.UTF-8 sed -zE "s$sep$2$sep$3${sep}g")

declare -A from=()
changed=()
number=0
for i in "${!old[@]}"; do
    [[ ${new[i]} != "${old[i]}" ]] || continue
    number=$((number + 1))
    printf -v counter %03d "$number"
    name=${new[i]//'{n}'/$counter}
    case $name in
    '' | . | .. | */*) die 1 "${old[i]}: cannot be named '$name'" ;;
    esac
    [[ -z ${from[$name]:-} ]] || die 1 "${from[$name]} and ${old[i]} would both be named $name"
    [[ ! -e $folder/$name && ! -L $folder/$name ]] || die 1 "${old[i]}: there is a $name already"
    from[$name]=${old[i]}
    new[i]=$name
    changed+=("$i")
done
((number)) || die 1 "$folder: no name changes"

for i in "${changed[@]}"; do
    if [[ $apply == yes ]]; then
        mv -- "$folder/${old[i]}" "$folder/${new[i]}"
    fi
    printf '%s -> %s\n' "${old[i]}" "${new[i]}"
done
if [[ $apply == yes ]]; then
    echo "renamed: $number"
else
    echo "to rename: $number; nothing has changed yet, add --apply"
fi
