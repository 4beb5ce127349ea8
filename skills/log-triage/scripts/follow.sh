#!/usr/bin/env bash
# Prints all lines of one request from the log files below a folder, in order of time, each with its file.
set -euo pipefail

if [[ $# -lt 1 || $# -gt 2 ]]; then
    echo "usage: follow.sh REQUEST [FOLDER]" >&2
    exit 2
fi
request=$1
folder=${2:-work/inputs}
if [[ ! -d $folder ]]; then
    echo "follow.sh: $folder: no such folder" >&2
    exit 1
fi

found=$(cd "$folder" && find . -type f -name '*.log' -exec grep -HwF "request=$request" {} + || true)
if [[ -z $found ]]; then
    echo "follow.sh: no line of request $request below $folder" >&2
    exit 1
fi
# From `./FILE:TIME REST` to `TIME FILE REST`.
sed -E 's|^\./(.*\.log):([^ ]+) (.*)$|\2 \1 \3|' <<< "$found" | LC_ALL=C sort
