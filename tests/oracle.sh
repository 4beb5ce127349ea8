#!/usr/bin/env bash
# Records GNU bash's answers to tests/shell_cases again, or checks them: `oracle.sh --check`. See oracle.py.
set -eu
command -v python3 > /dev/null || { echo "no python3"; exit 77; }
exec python3 "$(dirname "${BASH_SOURCE[0]}")/oracle.py" "$@"
