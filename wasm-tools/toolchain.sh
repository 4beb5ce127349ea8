# Sourced by build.sh: finds or makes a Rust toolchain for wasm32-wasip1 and exports what cargo needs to use it.
#
#   1. A rustup toolchain with the target (`rustup target add wasm32-wasip1`): nothing to do.
#   2. Debian's own: the compiler of the rolling suite with its ready standard library, every package pinned by its
#      SHA-256, unpacked into a cache and run there. Nothing is installed, no package source of the system is touched.
#      Where the suite has moved past the pinned versions:
#   3. `rustc-web` and `rust-web-src` of the configured suites (apt), the standard library built with -Zbuild-std.
#
# WSKILL_TOOLCHAIN_DIR (default ${XDG_CACHE_HOME:-~/.cache}/wskill-toolchain) keeps what was unpacked.
# Sets: RUSTC, CARGO_TARGET_WASM32_WASIP1_LINKER (2 and 3), wasm_cargo_args (an array), wasm_toolchain (a description).

wasm_cargo_args=()
wasm_toolchain=

_wasm_suite=sid
# sha256, package, version; the archive's names follow from them.
_wasm_packages='
831790b9b8a19bfa4f750cafda6829193e29c66c3f82ff55bcba6df9533fd7b1 rustc 1.97.1+dfsg1-1
e6b93b061a9724219349ef03b6605c7e28ebd3fa882e6edf0f1ab0db3c239466 libstd-rust-1.97 1.97.1+dfsg1-1
2df6982b5119a7b4baa6b57d74d76ce650bc4af430f7b2b8e6191fd73adefc1e libstd-rust-dev 1.97.1+dfsg1-1
957b37460d115c2a13ac88f69daa3198c5899dd0e7c0edbadc78dd259812c289 libstd-rust-dev-wasm32 1.97.1+dfsg1-1
5c71715c51103beb4fbba9fe9f8dff604af6610dfa71c70bff342f54a7860803 libc6 2.43-7
4c4a1219e6d3b38024f13d1781f398dc1ebeca759a3bafd2cc9dc9366e6f741e libllvm22 1:22.1.8-3
cef6654bba1daece0bc0dbe0e3f69fa5a26eb6ba139f3536e6f4806bd787f3e7 libstdc++6 16.2.0-4
d251ea642c3795e8723ac2b9eeebe511467ca04590ba70f3d555a7616787d7e3 libgcc-s1 16.2.0-4
f2b4d9acff743ff71f5409ae301452ebbb37d0d8709cf46fc9ec755d7df803ff libxml2-16 2.15.4+dfsg-1+b1
17a0b6d5dba8db60732334ae3eb6be5f0c58f72a77304311add514a4d55bc434 libz3-4 4.13.3-1.1
93e7930e4c25b918f1dd980cc1c6d4487654a248f5fa71eacb976ed7bbe954bd libzstd1 1.5.7+dfsg-4
8506ce550a81ac14b047608e0df121037d9cbb10c3cc28446f68cf8c1d9d31ce zlib1g 1:1.3.dfsg+really1.3.2-4
85133718b6f81f44c88c4d95162e4e39af1521fbbd97d108d36294a37076a4cd libedit2 3.1-20260512-1
8f52979b2f3831088c419aae858f10fd3ad7e42cc6c1d28967bae996a98223a4 libffi8 3.8.0-2
0383e47d704a5e58080606cbcafd2f2aa725702767ccf8b877fb224d04ff38c5 libbsd0 0.12.2-3
14682d1f6e35df22df0fe1eb2c09418aff0e29e2ea5a7bc0aa1bcd37192ba5a7 libtinfo6 6.6+20260608-2
b93615e08319799bedd98a68643d607b06a7713365f829fb3cae131f8a3b81b1 libmd0 1.3.0-1
2dd166f61cb2a32c50f1a4dd3cd34f5f18a4ff97a6ff23665b9a57537fd60625 liblzma5 5.8.4-1
'

# A private apt over one suite of the Debian mirror that the system uses; $1 is where it keeps its files.
_wasm_private_apt() {
    local dir=$1 mirror
    mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list 2>/dev/null |
        grep -oE 'https?://[^ ]*/debian/?($|[ ])' | head -n 1)
    mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
    : > "$dir/status"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${mirror%% } $_wasm_suite main" > "$dir/sources.list"
    cat > "$dir/apt.conf" <<EOF
Dir::Etc::sourcelist "$dir/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::State "$dir";
Dir::State::lists "$dir/lists";
Dir::State::status "$dir/status";
Dir::Cache "$dir/cache";
Acquire::Check-Valid-Until "false";
Acquire::Languages "none";
APT::Sandbox::User "root";
APT::Architecture "amd64";
APT::Architectures { "amd64"; };
EOF
    export APT_CONFIG=$dir/apt.conf
}

# Way 2. Leaves $root/usr/bin/rustc runnable through $dir/bin/rustc; fails when a pinned package is not to be had.
_wasm_debian_compiler() (
    set -e
    dir=$1 root=$1/root
    [ ! -x "$dir/bin/rustc" ] || exit 0
    [ "$(uname -m)" = x86_64 ] && command -v apt-get dpkg-deb > /dev/null || exit 1
    mkdir -p "$dir/debs" "$dir/bin"
    _wasm_private_apt "$dir/apt"
    apt-get -q update >&2
    cd "$dir/debs"
    while read -r sum package version; do
        [ -n "$sum" ] || continue
        file=$(echo "${package}_${version/:/%3a}"_*.deb)
        if [ ! -f "$file" ] || ! echo "$sum  $file" | sha256sum --status -c; then
            apt-get -q download "$package=$version" >&2
            file=$(echo "${package}_${version/:/%3a}"_*.deb)
        fi
        echo "$sum  $file" | sha256sum -c >&2
        dpkg-deb -x "$file" "$root"
    done <<< "$_wasm_packages"
    # The loader of the unpacked C library, so that the system's is not mixed with it.
    lib=$root/usr/lib/x86_64-linux-gnu
    printf '#!/bin/sh\nexec "%s" --library-path "%s" "%s" --sysroot "%s" "$@"\n' \
        "$lib/ld-linux-x86-64.so.2" "$lib" "$root/usr/bin/rustc" "$root/usr" > "$dir/bin/rustc.new"
    chmod +x "$dir/bin/rustc.new"
    "$dir/bin/rustc.new" -V > /dev/null
    mv "$dir/bin/rustc.new" "$dir/bin/rustc"
)

# Way 3.
_wasm_build_std() (
    set -e
    dir=$1
    mkdir -p "$dir/debs" && cd "$dir/debs"
    apt-get -q download rustc-web rust-web-src libstd-rust-web-dev libstd-rust-web-1.96 libllvm22 lld-22 wasi-libc >&2
    for file in *.deb; do dpkg-deb -x "$file" "$dir/root"; done
    into=$dir/root/usr/lib/rustlib/wasm32-wasip1/lib/self-contained
    mkdir -p "$into"
    cp "$dir"/root/usr/lib/wasm32-wasi*/{crt1-command.o,crt1-reactor.o,libc.a} "$into/"
)

find_wasm_toolchain() {
    local base=${WSKILL_TOOLCHAIN_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/wskill-toolchain}
    unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS RUSTC_WRAPPER
    if command -v rustup > /dev/null && rustup target list --installed 2>/dev/null | grep -qx wasm32-wasip1; then
        wasm_toolchain="rustup, $(rustc -V)"
    elif _wasm_debian_compiler "$base"; then
        export RUSTC=$base/bin/rustc
        export CARGO_TARGET_WASM32_WASIP1_LINKER
        CARGO_TARGET_WASM32_WASIP1_LINKER=$(rustc --print sysroot)/lib/rustlib/x86_64-unknown-linux-gnu/bin/rust-lld
        wasm_toolchain="Debian, $("$RUSTC" -V)"
    elif _wasm_build_std "$base-web"; then
        local root=$base-web/root
        export RUSTC=$root/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_TARGET_WASM32_WASIP1_LINKER=$root/usr/lib/llvm-22/bin/wasm-ld
        export LD_LIBRARY_PATH=$root/usr/lib/x86_64-linux-gnu:$root/usr/lib/llvm-22/lib
        wasm_cargo_args=(-Zbuild-std=std,panic_abort)
        wasm_toolchain="Debian with -Zbuild-std, $("$RUSTC" -V)"
    else
        echo "no Rust toolchain for wasm32-wasip1: run 'rustup target add wasm32-wasip1'" >&2
        return 1
    fi
}
