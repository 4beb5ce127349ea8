#!/bin/bash
# Builds the guest programs from their sources.
#
#   build.sh                  all of them, into dist/ (two data crates, SHA256SUMS, PROVENANCE)
#   build.sh --check          all of them, into a temporary folder; says whether dist/ is what the sources give
#   build.sh --module NAME    one of modules.json, or python, or guest-tests, into $WSKILL_PROGRAMS_DIR
#   build.sh --pack FOLDER    packs modules already built with --module (all of them) into dist/
#   build.sh --source-hash    prints the hash of the sources
#
# Needs cargo, python3 and zstd, and for Rust and C what toolchain.sh and python/build.sh say. WSKILL_WASM_TARGET_DIR
# (default: target/) is cargo's target directory.
set -euo pipefail
export LC_ALL=C LANG=C

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$here"
source ./toolchain.sh
target=${WSKILL_WASM_TARGET_DIR:-$here/target}

# The hash that PROVENANCE records and a test of the main crate computes again: SHA-256 over the lines
# "<SHA-256>  <path>\n" of all sources, sorted by path as bytes.
source_list() {
    {
        find sys shell coreutils texttools tests python preinit -type f \
            -not -path '*/target/*' -not -path '*/__pycache__/*' -not -name '*.md'
        echo Cargo.toml
        echo Cargo.lock
        echo .cargo/config.toml
        echo build.sh
        echo toolchain.sh
        echo modules.json
        echo pack.py
    } | sort
}
source_hash() {
    source_list | tr '\n' '\0' | xargs -0 sha256sum | sha256sum | cut -d' ' -f1
}

# Decision: the crates are unpacked into a home of these builds' own. uucore takes in the texts of every uu_* crate that lies
# beside it, so that what else a machine has built would change the result.
cargo_home=$target/cargo-home
prepare_cargo_home() {
    local own=${CARGO_HOME:-$HOME/.cargo} settings
    mkdir -p "$cargo_home"
    for settings in config.toml credentials.toml; do
        [ ! -e "$own/$settings" ] || ln -sf "$own/$settings" "$cargo_home/$settings"
    done
    CARGO_HOME=$cargo_home cargo fetch --locked --target wasm32-wasip1
}

# build_package PACKAGE OUT BINARY...: cargo, then the binaries as OUT/BINARY.wasm.
build_package() {
    local package=$1 out=$2
    shift 2
    # Panic messages name files: the same ones wherever this is built.
    local remap="'--remap-path-prefix=$cargo_home=/cargo', '--remap-path-prefix=$target=/target'"
    CARGO_HOME=$cargo_home CARGO_TARGET_DIR=$target cargo build --locked --release --target wasm32-wasip1 \
        --config "target.wasm32-wasip1.rustflags = [$remap]" "${wasm_cargo_args[@]}" -p "$package"
    mkdir -p "$out"
    for binary in "$@"; do cp "$target/wasm32-wasip1/release/$binary.wasm" "$out/"; done
}

# build_rust NAME OUT: a module of modules.json and its manifest.
build_rust() {
    local name=$1 out=$2 package binary
    read -r package binary < <(python3 pack.py manifest "$name") || { echo "no module $name in modules.json" >&2; return 1; }
    build_package "$package" "$out" "$binary"
    python3 pack.py manifest "$name" "$out/$name.json" > /dev/null
}

build_all() {
    local out=$1 name
    find_wasm_toolchain
    prepare_cargo_home
    for name in $(python3 pack.py names); do build_rust "$name" "$out"; done
    build_package wskill-guest-tests "$out" guest-tests foreign-tests
    python/build.sh "$out"
}

# pack OUT DIST: the two data crates' programs, manifests and licences, and the tests' guests.
pack() {
    python3 pack.py pack "$1" "$2" "$(source_hash)" "$wasm_toolchain"
}

case ${1:-} in
'')
    out=$(mktemp -d)
    trap 'rm -rf "$out"' EXIT
    build_all "$out"
    pack "$out" dist
    ;;
--check)
    out=$(mktemp -d)
    trap 'rm -rf "$out"' EXIT
    recorded=$(sed -n 's/^source-hash: //p' dist/PROVENANCE)
    if [ "$recorded" != "$(source_hash)" ]; then
        echo "dist/ was built from other sources ($recorded, now $(source_hash))" >&2
        exit 1
    fi
    build_all "$out/built"
    mkdir -p "$out"/dist/{toolbox,python}/src
    pack "$out/built" "$out/dist"
    diff -u dist/SHA256SUMS "$out/dist/SHA256SUMS" && echo "dist/ is what the sources give"
    ;;
--module)
    name=${2:?usage: build.sh --module NAME}
    out=${WSKILL_PROGRAMS_DIR:?--module needs WSKILL_PROGRAMS_DIR, the folder of fresh modules}
    if [ "$name" = python ]; then
        python/build.sh "$out"
    else
        find_wasm_toolchain
        prepare_cargo_home
        if [ "$name" = guest-tests ]; then
            build_package wskill-guest-tests "$out" guest-tests foreign-tests
        else
            build_rust "$name" "$out"
        fi
    fi
    ;;
--pack)
    find_wasm_toolchain
    pack "${2:?usage: build.sh --pack FOLDER}" dist
    ;;
--source-hash)
    source_hash
    ;;
*)
    echo "usage: build.sh [--check | --module NAME | --pack FOLDER | --source-hash]" >&2
    exit 2
    ;;
esac
