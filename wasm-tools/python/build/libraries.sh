# Sourced by build.sh: the static libraries, into $prefix.

prefix="$work/prefix"

# compile NAME FLAGS... -- SOURCES...: an archive lib NAME of all sources.
archive() {
    local name=$1 flags=() objects="$work/objects/$1" source
    shift
    while [ "$1" != -- ]; do
        flags+=("$1")
        shift
    done
    shift
    rm -rf "$objects"
    mkdir -p "$objects"
    for source in "$@"; do
        $target_cc -O2 "${flags[@]}" -c "$source" -o "$objects/$(basename "$source" .c).o"
    done
    rm -f "$prefix/lib/lib$name.a"
    $target_ar rcsD "$prefix/lib/lib$name.a" "$objects"/*.o
}

build_libraries() {
    mkdir -p "$prefix"/{include,lib}
    local sources="$work/sources" stamp
    stamp=$(cat "$sources/stamp"; echo "$target_cc"; sha256sum "$here/build/libraries.sh")
    if [ "$(cat "$prefix/stamp" 2>/dev/null)" != "$stamp" ]; then
        archive z -- "$sources"/zlib/{adler32,compress,crc32,deflate,infback,inffast,inflate,inftrees}.c \
            "$sources"/zlib/{trees,uncompr,zutil}.c
        cp "$sources"/zlib/{zlib,zconf}.h "$prefix/include"
        archive bz2 -- "$sources"/bzip2/{blocksort,huffman,crctable,randtable,compress,decompress,bzlib}.c
        cp "$sources/bzip2/bzlib.h" "$prefix/include"
        build_sqlite
        build_xz
        echo "$stamp" > "$prefix/stamp"
    fi
    build_posix
}

# One process at a time uses a database: without fcntl record locks SQLite takes its lock-less file system layer.
build_sqlite() {
    archive sqlite3 -D_WASI_EMULATED_MMAN -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_OMIT_WAL \
        -DSQLITE_MAX_MMAP_SIZE=0 -DSQLITE_TEMP_STORE=3 -DSQLITE_ENABLE_FTS5 -DSQLITE_ENABLE_MATH_FUNCTIONS \
        -I"$sqlite" -- "$sqlite/sqlite3.c"
    cp "$sqlite/sqlite3.h" "$prefix/include"
}

# liblzma only: its sources are 0BSD.
build_xz() {
    mkdir -p "$work/objects/xz"
    (cd "$work/objects/xz" && "$work/sources/xz/configure" --quiet --host=wasm32-wasi --prefix="$prefix" \
        --disable-shared --disable-threads --disable-xz --disable-xzdec --disable-lzmadec --disable-lzmainfo \
        --disable-scripts --disable-doc --disable-nls CC="$target_cc" AR=$target_ar RANLIB=$target_ranlib &&
        make -s -j"$jobs" install) > "$work/objects/xz.log" 2>&1
}

# Our own POSIX layer.
build_posix() {
    archive wskill-posix -Wall -Wextra -DWSKILL_POSIX_LAYER -D_WASI_EMULATED_SIGNAL -D_WASI_EMULATED_GETPID \
        -D_WASI_EMULATED_PROCESS_CLOCKS -I"$here/posix/include" -I"$here/../sys/include" -- "$here"/posix/*.c
}
