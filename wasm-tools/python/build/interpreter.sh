# Sourced by build.sh: CPython itself, cross-compiled, with our main program.

# What configure cannot find out: the functions and headers that our POSIX layer supplies, and those nobody does.
posix_functions='chmod fchmod fchmodat statvfs fstatvfs pipe pipe2 dup dup2 dup3 chown lchown fchown fchownat fchdir sync
    alarm pause execv getppid getpgrp getpgid setpgid setpgrp setsid getsid getuid geteuid getgid getegid
    getgroups getlogin sigaction siginterrupt sigfillset sigpending sigwait pthread_sigmask kill killpg umask
    mkfifo mkfifoat waitpid wait wait3 wait4 getrlimit setrlimit getrusage getitimer setitimer system getpwuid
    getpwnam getpwent getgrent getgrgid getgrnam posix_spawn posix_spawnp flock getpid readv writev preadv
    pwritev'
posix_headers='pwd_h grp_h spawn_h sys_wait_h sys_resource_h sys_ioctl_h sys_file_h'
missing_functions='accept4 sigaltstack fork vfork lockf fdopendir eventfd dlopen mknod mknodat makedev'
missing_headers='sys_un_h netpacket_packet_h'

write_config_site() {
    local name
    {
        echo 'ac_cv_buggy_getaddrinfo=no'
        echo 'ac_cv_file__dev_ptmx=no'
        echo 'ac_cv_file__dev_ptc=no'
        echo 'ac_cv_disable_int_conversion=yes'
        for name in $posix_functions; do echo "ac_cv_func_$name=yes"; done
        for name in $posix_headers; do echo "ac_cv_header_$name=yes"; done
        for name in $missing_functions; do echo "ac_cv_func_$name=no"; done
        for name in $missing_headers; do echo "ac_cv_header_$name=no"; done
    } > "$1"
}

# Modules that configure leaves out on WASI.
write_local_modules() {
    cat > "$1" <<END
*static*
fcntl fcntlmodule.c
pwd pwdmodule.c
grp grpmodule.c
resource resource.c
_posixsubprocess wskill_posixsubprocess.c -I$here/posix -I$here/../sys/include
END
}

configure_interpreter() {
    local build=$1
    rm -rf "$build"
    mkdir -p "$build"
    write_config_site "$build/config.site"
    (cd "$build" && CONFIG_SITE="$build/config.site" PKG_CONFIG=false READELF=llvm-readelf \
        CC="$target_cc" CPP="$target_cc -E" CXX="${target_cc/clang/clang++}" AR=$target_ar RANLIB=$target_ranlib \
        CFLAGS=-g0 CPPFLAGS="-I$here/posix/include" \
        ZLIB_CFLAGS="-I$prefix/include" ZLIB_LIBS="-L$prefix/lib -lz" \
        BZIP2_CFLAGS="-I$prefix/include" BZIP2_LIBS="-L$prefix/lib -lbz2" \
        LIBLZMA_CFLAGS="-I$prefix/include" LIBLZMA_LIBS="-L$prefix/lib -llzma" \
        LIBSQLITE3_CFLAGS="-I$prefix/include" LIBSQLITE3_LIBS="-L$prefix/lib -lsqlite3 -lwasi-emulated-mman" \
        "$work/sources/cpython/configure" --quiet --host=wasm32-wasip1 --build=x86_64-pc-linux-gnu --prefix=/usr \
        --with-build-python="$native_python" --disable-test-modules --with-pymalloc --disable-ipv6)
    write_local_modules "$build/Modules/Setup.local"
}

build_interpreter() {
    local build="$work/interpreter" stamp
    stamp=$(cat "$work/sources/stamp"; echo "$target_cc $native_python"; sha256sum "$here/build/interpreter.sh"
        cat "$here"/posix/include/*.h "$here"/posix/include/sys/*.h | sha256sum)
    if [ "$(cat "$build/stamp" 2>/dev/null)" != "$stamp" ]; then
        configure_interpreter "$build"
        echo "$stamp" > "$build/stamp"
    fi
    cmp -s "$here/runtime/posixsubprocess.c" "$work/sources/cpython/Modules/wskill_posixsubprocess.c" ||
        cp "$here/runtime/posixsubprocess.c" "$work/sources/cpython/Modules/wskill_posixsubprocess.c"
    make -s -C "$build" -j"$jobs" -f Makefile -f "$here/build/python.mk" WSKILL="$here" WSKILL_PREFIX="$prefix" \
        python-wskill.wasm > "$build/make.log"
    $target_strip "$build/python-wskill.wasm" -o "$work/python-cold.wasm"
}
