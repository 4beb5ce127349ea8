# Sourced by build.sh: the compiler for wasm32-wasip1 and the native Python.

# Sets target_cc, target_ar, target_ranlib, target_strip and puts the linker on PATH.
find_toolchain() {
    local bin sysroot
    if [ -n "${WASI_SDK_PATH:-}" ]; then
        bin="$WASI_SDK_PATH/bin"
        sysroot="$WASI_SDK_PATH/share/wasi-sysroot"
    else
        bin=/usr/lib/llvm-22/bin
        sysroot="$work/wasi-libc/usr"
        [ -d "$sysroot" ] || dpkg -x "$work"/downloads/wasi-libc_*.deb "$work/wasi-libc"
    fi
    if [ ! -x "$bin/clang" ]; then
        echo "build.sh: set WASI_SDK_PATH, or install clang-22 lld-22 llvm-22 libclang-rt-22-dev-wasm32" >&2
        exit 1
    fi
    export PATH="$bin:$PATH"
    # The paths of this machine stay out of the result.
    target_cc="clang --target=wasm32-wasip1 --sysroot=$sysroot"
    target_cc+=" -ffile-prefix-map=$work=/build -ffile-prefix-map=$here=/wskill"
    target_ar=llvm-ar target_ranlib=llvm-ranlib target_strip=llvm-strip
}

is_python_3_13() {
    [ -x "$(command -v "$1")" ] && "$1" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 13))' 2>/dev/null
}

# Sets native_python: it freezes modules and compiles the library, so its bytecode must be the guest's.
find_native_python() {
    local candidate
    for candidate in "${WSKILL_BUILD_PYTHON:-}" python3.13 python3 "$HOME"/.pyenv/versions/3.13.*/bin/python3; do
        if [ -n "$candidate" ] && is_python_3_13 "$candidate"; then
            native_python=$(command -v "$candidate")
            return
        fi
    done
    native_python="$work/native/python"
    is_python_3_13 "$native_python" && return
    echo "building a native CPython 3.13"
    mkdir -p "$work/native"
    (cd "$work/native" && ../sources/cpython/configure --quiet CFLAGS=-O1 && make -s -j"$jobs" python > make.log)
}
