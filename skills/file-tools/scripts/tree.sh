#!/usr/bin/env bash
# Draws a folder as a tree, with the size of each file and folder.
set -euo pipefail
# Sort and compare names by their bytes, everywhere alike.
export LC_ALL=C

usage='usage: tree.sh [--depth N] [FOLDER]'
help="$usage

Draws FOLDER (default: work/inputs) as a tree. A folder's size is that of all files in it. Links are shown and not followed.

  --depth N   show N levels (1 to 99); deeper files still count in the sizes"

die() { # STATUS MESSAGE
    echo "tree.sh: $2" >&2
    exit "$1"
}

depth=99
case ${1:-} in
--help) echo "$help" && exit ;;
--depth)
    [[ ${2:-} =~ ^[1-9][0-9]?$ ]] || die 2 "--depth needs a number from 1 to 99"
    depth=$2
    shift 2
    ;;
esac
[[ $# -le 1 && ${1:-} != -* ]] || die 2 "$usage"
folder=${1:-work/inputs}
[[ -d $folder ]] || die 1 "$folder: no such folder"

# 1536 -> 1.5K; up to 1023 bytes are told exactly.
human() { # BYTES
    local units=KMGT unit=-1 tenths=$(($1 * 10))
    while ((tenths >= 10235 && unit < 3)); do
        tenths=$(((tenths + 512) / 1024))
        unit=$((unit + 1))
    done
    if ((unit < 0)); then
        printf %d "$1"
    else
        printf '%d.%d%s' $((tenths / 10)) $((tenths % 10)) "${units:unit:1}"
    fi
}

row() { # SIZE BRANCH NAME
    local name=$3
    # A name with a line break must not look like two files.
    [[ $name != *[[:cntrl:]]* ]] || printf -v name %q "$name"
    printf '%8s  %s%s\n' "$1" "$2" "$name"
}

# The size of each file and folder, by its path below FOLDER. The slash makes find enter a folder that is a link.
declare -A size=([.]=0)
files=0
folders=0
while read -r -d '' kind bytes path; do
    case $kind in
    d) folders=$((folders + 1)) && size[$path]=$((${size[$path]:-0})) ;;
    f)
        files=$((files + 1))
        size[$path]=$bytes
        size[.]=$((size[.] + bytes))
        while [[ $path == */* ]]; do
            path=${path%/*}
            size[$path]=$((${size[$path]:-0} + bytes))
        done
        ;;
    esac
done < <(find "${folder%/}/" -mindepth 1 -printf '%y %s %P\0')

shopt -s nullglob dotglob
draw() { # FOLDER PREFIX LEVEL
    local entries=("$1"/*) branch='├── ' deeper='│   ' entry name path i
    for i in "${!entries[@]}"; do
        entry=${entries[i]}
        name=${entry##*/}
        path=${entry#"$root/"}
        if ((i == ${#entries[@]} - 1)); then
            branch='└── ' deeper='    '
        fi
        if [[ -L $entry ]]; then
            row - "$2$branch" "$name -> $(readlink "$entry")"
        elif [[ -d $entry ]]; then
            row "$(human "${size[$path]:-0}")" "$2$branch" "$name/"
            if (($3 < depth)); then
                draw "$entry" "$2$deeper" $(($3 + 1))
            fi
        else
            row "$(human "${size[$path]:-0}")" "$2$branch" "$name"
        fi
    done
}

root=${folder%/}
row "$(human "${size[.]}")" '' "$root/"
draw "$root" '' 1
echo
echo "folders: $folders, files: $files, bytes: ${size[.]}"
