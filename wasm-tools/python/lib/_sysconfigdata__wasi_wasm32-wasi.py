"""Build variables for sysconfig: those that make sense in a sandbox without a compiler."""

build_time_vars = {
    "prefix": "/usr",
    "exec_prefix": "/usr",
    "VERSION": "3.13",
    "LIBDEST": "/usr/lib/python3.13",
    "BINLIBDEST": "/usr/lib/python3.13",
    "DESTDIRS": "/usr /usr/lib /usr/lib/python3.13",
    "BINDIR": "/usr/bin",
    "LIBDIR": "/usr/lib",
    "INCLUDEPY": "/usr/include/python3.13",
    "EXE": "",
    "EXT_SUFFIX": ".cpython-313-wasm32-wasi.so",
    "SOABI": "cpython-313-wasm32-wasi",
    "MULTIARCH": "wasm32-wasi",
    "HOST_GNU_TYPE": "wasm32-unknown-wasip1",
    "Py_GIL_DISABLED": 0,
    "Py_DEBUG": 0,
    "Py_ENABLE_SHARED": 0,
    "WITH_PYMALLOC": 1,
    "SIZEOF_VOID_P": 4,
    "TZPATH": "/usr/share/zoneinfo:/usr/lib/zoneinfo:/usr/share/lib/zoneinfo:/etc/zoneinfo",
}
