#!/bin/bash
# How fast scripts run: the sandbox's bash beside the machine's own, in turns.
#
#   shell.sh [-n ROUNDS] [CASE...]    a table: least and median time of both, ratios of the medians and of the least
#
# $WSKILL is the binary (default: target/release/wskill). The times are the script's own, without starting it.
set -euo pipefail
export LC_ALL=C

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
wskill=${WSKILL:-$here/../target/release/wskill}
rounds=15
if [ "${1:-}" = -n ]; then
    rounds=$2
    shift 2
fi
[ $# -gt 0 ] || set -- $(/bin/bash "$here/shell/cases.sh")

sandbox() { "$wskill" exec --timeout 120 --mount "$here/shell:/cases:ro" -- bash /cases/cases.sh "$1"; }

# The least and the median of the numbers.
summary() {
    local sorted
    sorted=($(printf '%s\n' "$@" | sort -n))
    echo "${sorted[0]} ${sorted[$#/2]}"
}

echo "bash $(/bin/bash -c 'echo $BASH_VERSION') and $("$wskill" --version), $rounds rounds in turns"
printf '%-16s %10s %10s %10s %10s %8s %8s\n' case 'bash least' median 'wskill' median ratio 'of least'
sandbox count > /dev/null # compiles what is not compiled yet
for name; do
    native=() sandbox=()
    for ((round = 0; round < rounds; round++)); do
        native+=("$(timeout 120 /bin/bash "$here/shell/cases.sh" "$name")")
        sandbox+=("$(sandbox "$name")")
    done
    read -r least median < <(summary "${native[@]}")
    read -r own_least own_median < <(summary "${sandbox[@]}")
    awk -v name="$name" -v a=$least -v b=$median -v c=$own_least -v d=$own_median 'BEGIN {
        if (a == 0 || b == 0) { print name ": not measured"; exit }
        printf "%-16s %7.1f ms %7.1f ms %7.1f ms %7.1f ms %7.2fx %7.2fx\n", name, a/1e3, b/1e3, c/1e3, d/1e3, d/b, c/a
    }'
done

memory=$("$wskill" exec --json -- bash -c : | sed 's/.*"peak_memory_bytes":\([0-9]*\).*/\1/')
echo "memory of a shell process: $memory bytes"
