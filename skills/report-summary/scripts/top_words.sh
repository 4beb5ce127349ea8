#!/usr/bin/env bash
# Reads text and prints its N most frequent words with their counts.
set -euo pipefail

number=${1:?usage: top_words.sh N < TEXT}
stop_words=${STOP_WORDS:-$(dirname "$0")/../assets/stop-words.txt}

# The last awk reads to the end, unlike head: so no stage of the pipeline ends with a broken pipe.
tr -cs '[:alpha:]' '\n' |
    tr '[:upper:]' '[:lower:]' |
    awk 'length >= 4' |
    { grep -vxF -f "$stop_words" || true; } |
    LC_ALL=C sort |
    uniq -c |
    LC_ALL=C sort -k1,1nr -k2,2 |
    awk -v n="$number" 'NR <= n { print $2 "\t" $1 }'
