# Sourced by build.sh: the pinned sources, and how to get them.
#
# Most come from Debian's source packages, in whatever place they lie on this machine's mirror; a pinned version
# disappears from it at a point release, so files already in $work/downloads are taken first. SQLite's amalgamation
# comes with the crate libsqlite3-sys, the time zones with the wheel tzdata.

# file, sha256, suite, package
source_files='
python3.13_3.13.5.orig.tar.xz                 93e583f243454e6e9e4588ca2c2662206ad961659863277afcdb96801647d640 trixie python3.13
python3.13_3.13.5-2+deb13u5.debian.tar.xz     a51f456e654ce2c9b40cc1db8005e5041cdb0b2c3aa96ab0871c49fe95280366 trixie python3.13
zlib_1.3.dfsg+really1.3.1.orig.tar.gz         60dd315c07f616887caa029408308a018ace66e3d142726a97db164b3b8f69fb trixie zlib
bzip2_1.0.8.orig.tar.gz                       ab5a03176ee106d3f0fa90e381da478ddae405918153cca248e682cd0c4a2269 trixie bzip2
xz-utils_5.8.1.orig.tar.xz                    0b54f79df85912504de0b14aec7971e3f964491af1812d83447005807513cd9e trixie xz-utils
wasi-libc_0.0~git20260423.161b319-2_all.deb   1051dbb0a5e6d3f709de83b6afb423e07a8ab19a9e9f12ef20ff902131e7b8bc sid    wasi-libc
tzdata-2026.6-py2.py3-none-any.whl            0a10eec6e13ef16b627fabed9a5f2ba61a62b1c67f327305f4e7e412a70b4aec wheel  tzdata==2026.6
'
sqlite_crate=0.40.0
sqlite_sha256=0c657666d819f261cc4007526ad57e1669de9949df7a8ea847aa284a2bf0ee52

# Debian's patches to CPython that are not about Debian: security fixes and crashes. Its layout patches stay out.
cpython_patches='^(CVE-.*|ssl-.*|dict-use-after-free|traverse-managed-dicts|gchead-alignment|issue127330'
cpython_patches+='|revert-logger-disable)\.(patch|diff)$'

fetch_sources() {
    mkdir -p "$work/downloads"
    local file sha256 suite package
    while read -r file sha256 suite package; do
        [ -n "$file" ] || continue
        if [ "$package" = wasi-libc ] && [ -n "${WASI_SDK_PATH:-}" ]; then continue; fi
        [ -f "$work/downloads/$file" ] || download "$suite" "$package" "$file"
        (cd "$work/downloads" && echo "$sha256  $file" | sha256sum --check --quiet)
    done <<< "$source_files"
    fetch_sqlite
    unpack_sources
}

# A private apt configuration: the system's own mirror line with another suite, and lists of its own.
debian_configuration() {
    local apt="$work/apt" mirror
    [ -f "$apt/apt.conf" ] && return
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/state"
    # No system has all of these files.
    mirror=$({ cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null || true; } |
        grep -m 1 -oE 'https?://[^ ]+/debian/?( |$)' | sed 1q)
    local key=/usr/share/keyrings/debian-archive-keyring.gpg
    printf 'deb-src [signed-by=%s] %s trixie main\ndeb [signed-by=%s] %s sid main\n' "$key" "$mirror" "$key" "$mirror" \
        > "$apt/sources.list"
    cat > "$apt/apt.conf" <<END
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::State "$apt/state";
Dir::State::Lists "$apt/lists";
Dir::State::status "/var/lib/dpkg/status";
Dir::Cache "$apt/cache";
Acquire::Check-Valid-Until "false";
Acquire::Languages "none";
END
    APT_CONFIG="$apt/apt.conf" apt-get -qq update
}

# Whatever a client fails with (a newer revision may be listed whose files are gone), the pinned file is what counts.
download() {
    local suite=$1 package=$2 file=$3
    echo "downloading $file"
    [ "$suite" = wheel ] || debian_configuration
    (cd "$work/downloads" && export APT_CONFIG="$work/apt/apt.conf" && case $suite in
        wheel) python3 -m pip --quiet download --no-deps "$package" ;;
        sid) apt-get -qq download "$package" ;;
        *) apt-get -qq source --download-only "$package" ;;
        esac) || true
    [ -f "$work/downloads/$file" ] && return
    echo "build.sh: $file is not to be had on this machine; put it into $work/downloads" >&2
    exit 1
}

# Cargo as the client: a package that only names the crate.
fetch_sqlite() {
    local crate="$work/sqlite-crate"
    sqlite="$crate/vendor/libsqlite3-sys/sqlite3"
    if [ ! -f "$sqlite/sqlite3.c" ]; then
        mkdir -p "$crate/src"
        touch "$crate/src/lib.rs"
        printf '[package]\nname = "sqlite-source"\nversion = "0.0.0"\n[workspace]\n[dependencies]\nlibsqlite3-sys = "=%s"\n' \
            "$sqlite_crate" > "$crate/Cargo.toml"
        (cd "$crate" && cargo --quiet vendor > /dev/null)
    fi
    echo "$sqlite_sha256  $sqlite/sqlite3.c" | sha256sum --check --quiet
}

unpack_sources() {
    local sources="$work/sources" downloads="$work/downloads"
    local stamp
    stamp=$({ echo "$source_files"; cat "$here"/patches/*.patch; } | sha256sum)
    [ "$(cat "$sources/stamp" 2>/dev/null)" = "$stamp" ] && return
    rm -rf "$sources"
    mkdir -p "$sources"/{cpython,zlib,bzip2,xz}
    tar xf "$downloads"/python3.13_*.orig.tar.xz --strip-components=1 -C "$sources/cpython"
    tar xf "$downloads"/python3.13_*.debian.tar.xz -C "$sources"
    tar xf "$downloads"/zlib_*.orig.tar.gz --strip-components=1 -C "$sources/zlib"
    tar xf "$downloads"/bzip2_*.orig.tar.gz --strip-components=1 -C "$sources/bzip2"
    tar xf "$downloads"/xz-utils_*.orig.tar.xz --strip-components=1 -C "$sources/xz"
    "$(command -v python3)" -m zipfile -e "$downloads"/tzdata-*.whl "$sources/tzdata"
    local name
    grep -E "$cpython_patches" "$sources/debian/patches/series" | while read -r name; do
        patch -s -p1 -d "$sources/cpython" < "$sources/debian/patches/$name"
    done
    for name in "$here"/patches/*.patch; do patch -s -p1 -d "$sources/cpython" < "$name"; done
    echo "$stamp" > "$sources/stamp"
}
