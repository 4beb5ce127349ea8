"""Makes the standard library archive: python3 library.py LIB-DIR [EXTRA-DIR...] ARCHIVE

Compiles every module with the running interpreter (whose bytecode version must be the guest's) and stores the result,
uncompressed, with fixed times: the archive is compressed as a whole when it is packed for distribution, and reading a
stored member is cheaper. Time zone files are stored as they are.
"""

import pathlib
import py_compile
import sys
import tempfile
import zipfile

GUEST_LIBRARY = "/usr/lib/python3.13"
FIXED_TIME = (2025, 1, 1, 0, 0, 0)

# Not useful without a display, a compiler, extension modules or a network of its own; or tests.
SKIP_DIRECTORIES = {
    "__phello__", "__pycache__", "curses", "dbm", "ensurepip", "idlelib", "idle_test", "lib2to3", "msilib",
    "pydoc_data", "site-packages", "test", "tests", "tkinter", "turtledemo", "venv",
}
SKIP_FILES = {
    "__hello__.py", "_aix_support.py", "_android_support.py", "_apple_support.py", "_ios_support.py",
    "_osx_support.py", "antigravity.py", "turtle.py",
}


def sources(root):
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root)
        if path.name in SKIP_FILES or SKIP_DIRECTORIES & set(relative.parts[:-1]):
            continue
        if path.suffix == ".py" or is_zone_file(path, relative):
            yield path, relative


def is_zone_file(path, relative):
    return relative.parts[:2] == ("tzdata", "zoneinfo") and path.is_file()


def compile_module(path, relative, scratch):
    target = pathlib.Path(scratch, "module.pyc")
    py_compile.compile(
        str(path), str(target), dfile=f"{GUEST_LIBRARY}/{relative}", doraise=True, optimize=0,
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    return target.read_bytes()


def main(roots, archive):
    with tempfile.TemporaryDirectory() as scratch, zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as out:
        for root in roots:
            for path, relative in sources(pathlib.Path(root)):
                is_module = path.suffix == ".py"
                member = zipfile.ZipInfo(f"{relative}c" if is_module else str(relative), FIXED_TIME)
                member.external_attr = 0o100644 << 16
                out.writestr(member, compile_module(path, relative, scratch) if is_module else path.read_bytes())


if __name__ == "__main__":
    *roots, archive = sys.argv[1:]
    assert sys.version_info[:2] == (3, 13), "the bytecode must be CPython 3.13's"
    main(roots, archive)
