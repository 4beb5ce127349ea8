#!/bin/bash
# Builds CPython for the sandbox from sources:  build.sh OUTDIR
#
# OUTDIR gets python.wasm (the snapshot), python313.zip (the standard library archive, mounted at /usr/lib) and
# python.json (what the sandbox needs to know of them).
#
# Needs a C compiler for wasm32-wasip1, either a wasi-sdk (WASI_SDK_PATH) or Debian's clang-22, lld-22, llvm-22 and
# libclang-rt-22-dev-wasm32 with wasi-libc, which this script unpacks beside the sources; cargo, for the snapshot tool
# and SQLite's source; and a native CPython 3.13 (WSKILL_BUILD_PYTHON or one on PATH), else one is built first.
#
# WSKILL_PYTHON_BUILD_DIR (default: ~/.cache/wskill/python-build) keeps downloads and object files between runs.
# WSKILL_JOBS is make's number of jobs (default: all processors).
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=$(mkdir -p "${1:?usage: build.sh OUTDIR}" && cd "$1" && pwd)
work=${WSKILL_PYTHON_BUILD_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/wskill/python-build}
jobs=${WSKILL_JOBS:-$(nproc)}
mkdir -p "$work"

# Times inside the build (interpreter banner, archives) are those of the sources, so that a rebuild gives equal bytes.
export SOURCE_DATE_EPOCH=1735689600 TZ=UTC LC_ALL=C.UTF-8

source "$here/build/sources.sh"
source "$here/build/toolchain.sh"
source "$here/build/libraries.sh"
source "$here/build/interpreter.sh"
source "$here/build/snapshot.sh"

fetch_sources
find_toolchain
build_libraries
find_native_python
build_interpreter
build_archive
make_snapshot
