# Sourced by build.sh: the standard library archive and the snapshot.

build_archive() {
    mkdir -p "$work/root/usr/lib"
    "$native_python" "$here/build/library.py" "$work/sources/cpython/Lib" "$here/lib" "$work/sources/tzdata" \
        "$work/root/usr/lib/python313.zip"
}

make_snapshot() {
    CARGO_TARGET_DIR=${WSKILL_PREINIT_TARGET_DIR:-$work/preinit} \
        cargo run --release --locked --manifest-path "$here/../preinit/Cargo.toml" -- \
        "$work/python-cold.wasm" "$out/python.wasm.new" --dir "/=$work/root" --rename _start=wizer.resume
    mv "$out/python.wasm.new" "$out/python.wasm"
    cp "$work/root/usr/lib/python313.zip" "$out/python313.zip"
    cat > "$out/python.json" <<END
{
  "name": "python",
  "file": "python.wasm",
  "version": "CPython 3.13.5",
  "commands": ["python3", "python", "python3.13"],
  "files": [{"path": "/usr/lib/python313.zip", "file": "python313.zip"}]
}
END
}
