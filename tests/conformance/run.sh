#!/usr/bin/env bash
# Runs the public conformance cases, which are not part of this repository, through `wskill exec` and prints the scores.
#
# usage: run.sh [WSKILL] [SUITE...]     WSKILL: the binary, default target/release/wskill; SUITE: oils brush justbash bashkit
# environment: CONFORMANCE (folder of the cases), RESULTS (folder for the answers), JOBS (2), TIMEOUT (10 s a case), GREP
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cases=${CONFORMANCE:-$root/../shared/conformance}
wskill=${1:-$root/target/release/wskill}
shift || true

if [[ ! -f $cases/run_cases.py ]]; then
    echo "skipped: there is no $cases/run_cases.py; set CONFORMANCE to the folder that has it"
    exit 0
fi
if ! command -v python3 > /dev/null; then
    echo "skipped: the runner of the cases needs python3"
    exit 0
fi
if [[ ! -x $wskill ]]; then
    echo "run.sh: $wskill: no such program; build it with cargo build --release" >&2
    exit 1
fi
# Cases run in folders of their own.
wskill=$(realpath "$wskill")
if [[ $# -eq 0 ]]; then
    set -- oils brush justbash bashkit
fi
results=${RESULTS:-$(mktemp -d)}
mkdir -p "$results"

"$wskill" setup
for suite in "$@"; do
    # The cases of brush are fed to the shell through standard input, as they were recorded.
    if [[ $suite == brush ]]; then
        shell=(bash --norc --noprofile)
    else
        shell=(bash '{script}')
    fi
    printf '%-9s ' "$suite"
    python3 "$cases/run_cases.py" "$cases/data/$suite.json" "$results/$suite.json" \
        --jobs "${JOBS:-2}" --timeout "${TIMEOUT:-10}" --grep "${GREP:-}" -- \
        "$wskill" exec --rm --mount '{dir}:{dir}:rw' --mount '{helpers}:{helpers}:ro' --cwd '{work}' '{envs}' -- "${shell[@]}"
done
echo "answers: $results"
