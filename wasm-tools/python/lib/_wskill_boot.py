"""Prepares the interpreter for its snapshot, and finishes its start in every process.

prepare() runs once, when the snapshot is made: it imports the modules that scripts use most and puts them aside, so
that a later ``import json`` takes the finished module instead of reading, unmarshalling and running its code.

resume() runs in every process, after the C side has read the command line and the environment.
"""

import sys
import zipimport
from importlib.machinery import ModuleSpec
from posix import access
from time import time_ns

ARCHIVE = "/usr/lib/python313.zip"
SITE_PACKAGES = "/usr/lib/python3.13/site-packages"

# Imported into the snapshot. Each is a module that common scripts import, or that those import.
PRELOAD = """
    __future__ _compat_pickle _compression _py_abc _pydatetime _pydecimal _strptime _weakrefset
    argparse ast base64 bisect bz2 calendar cmd code codeop collections colorsys configparser contextlib
    contextvars copy copyreg csv dataclasses datetime decimal difflib dis email email.message email.parser
    email.policy email.utils encodings.ascii encodings.cp1252 encodings.cp437 encodings.idna encodings.latin_1
    encodings.punycode encodings.utf_16 encodings.utf_8_sig enum fileinput filecmp fnmatch fractions ftplib functools
    getopt getpass gettext glob graphlib gzip hashlib heapq hmac html html.entities html.parser http http.client
    importlib.metadata importlib.resources inspect io ipaddress itertools json json.tool keyword linecache locale
    logging logging.handlers lzma math mimetypes numbers opcode operator optparse os pathlib pickle pkgutil platform
    pprint queue quopri random re reprlib runpy sched secrets select selectors shelve shlex shutil signal socket
    sqlite3 stat statistics string stringprep struct subprocess sysconfig tarfile tempfile textwrap threading time
    timeit token tokenize traceback types typing unicodedata unittest unittest.mock urllib.error urllib.parse
    urllib.request urllib.response uuid warnings weakref xml.dom.minidom xml.etree.ElementTree xml.sax.saxutils
    zipfile zlib zoneinfo
    asyncio concurrent.futures concurrent.futures.process concurrent.futures.thread multiprocessing
""".split()

# Left in sys.modules, as in any CPython that has just started (linecache: with -c; warnings looks for itself there).
STARTUP = {"encodings", "encodings.aliases", "encodings.utf_8", "encodings.utf_8_sig", "linecache", "warnings"}

_modules = {}           # name -> module, put aside by prepare()
_exit_functions = {}    # name of a module put aside -> what it registers with atexit
_random_users = set()   # those from which the random module's generator can be reached


class _Finished:
    """Loads a module of the snapshot by handing it out, once: whoever asks again (after deleting it from sys.modules,
    or to reload it) gets what the archive's own loader makes. That loader also answers everything else."""

    def __init__(self, loader):
        self._loader = loader

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        if _random_users and spec.name in _random_users:
            _renew_randomness()
        return _modules.pop(spec.name)

    def exec_module(self, module):
        for function in _exit_functions.pop(module.__name__, ()):
            sys.modules["atexit"].register(function)
        if module.__name__ == "multiprocessing":
            sys.modules["__mp_main__"] = sys.modules.get("__main__")


class SnapshotImporter(zipimport.zipimporter):
    """The standard library's place on the search path. What stands before it there still wins, as it would without a
    snapshot: a script's own ``statistics.py`` is what it imports."""

    def find_spec(self, fullname, target=None):
        module = _modules.get(fullname)
        if module is None:
            return super().find_spec(fullname, target)
        spec = ModuleSpec(fullname, _Finished(module.__loader__), origin=module.__spec__.origin)
        spec.submodule_search_locations = getattr(module, "__path__", None)
        spec.has_location = True
        return spec


def prepare():
    """Imports PRELOAD and puts it aside. Called once, before the snapshot. Returns all modules that live in it."""
    global _random, _tempfile, _logging
    import atexit
    import site
    site.setquit()
    site.setcopyright()
    site.sethelper()
    site.ENABLE_USER_SITE = False

    importer = SnapshotImporter(ARCHIVE)
    sys.path_importer_cache[ARCHIVE] = importer
    atexit_register = atexit.register
    atexit.register = lambda function: _exit_functions.setdefault(function.__module__, []).append(function)
    for name in PRELOAD:
        try:
            __import__(name)
        except ImportError as error:
            print(f"preload: {name}: {error}", file=sys.stderr)

    atexit.register = atexit_register
    # multiprocessing's second name for the program's module, which comes back when a program imports it.
    del sys.modules["__mp_main__"]
    sys.stdout.reconfigure(line_buffering=False)

    import _wskill_patches
    _wskill_patches.apply()
    _forget_the_build()
    _random, _tempfile, _logging = (sys.modules[name] for name in ("random", "tempfile", "logging"))

    for name, module in list(sys.modules.items()):
        if name in STARTUP or name == "__main__" or name.startswith("_wskill_"):
            continue
        if isinstance(getattr(module, "__loader__", None), zipimport.zipimporter):
            _modules[name] = module
            del sys.modules[name]
    _random_users.update(_find_random_users())
    # Only the archive stays known: every other path is looked at afresh.
    cache = sys.path_importer_cache
    cache.clear()
    cache[ARCHIVE] = importer
    for module in _modules.values():
        for path in getattr(module, "__path__", ()):
            cache[path] = SnapshotImporter(path)
    return [module for module in [*sys.modules.values(), *_modules.values()] if module.__name__ != "__main__"]


def _find_random_users():
    """The modules from which `random` can be reached: only a program that imports one of them needs the generator
    seeded. Errs on the side of too many: any object that names another module as its own counts as a way to it."""
    edges = {}
    for name, module in _modules.items():
        targets = edges[name] = set()
        for value in module.__dict__.values():
            if isinstance(value, type(sys)):
                targets.add(value.__name__)
            else:
                targets.add(getattr(value, "__module__", None) or type(value).__module__)
    users = {"random", "tempfile"}
    while True:
        more = {name for name, targets in edges.items() if name not in users and targets & users}
        if not more:
            return users
        users |= more


def _renew_randomness():
    """No two processes share random numbers or temporary names: what the snapshot holds of them is replaced."""
    _random_users.clear()
    _random.seed()
    _tempfile._name_sequence = _tempfile.tempdir = None


def _forget_the_build():
    """Drops what modules have remembered of the machine the snapshot is made on, and their caches."""
    import functools
    import re
    re.purge()
    sys.modules["linecache"].clearcache()
    sys.modules["platform"]._uname_cache = None
    sys.modules["mimetypes"]._db = None
    sys.modules["mimetypes"].inited = False
    for module in list(sys.modules.values()):
        for value in list(getattr(module, "__dict__", {}).values()):
            if isinstance(value, functools._lru_cache_wrapper):
                value.cache_clear()


def resume(search_path, site_import, user_site, faulthandler, interrupt_ignored, check_hash_pycs):
    """Finishes the start of a process: its search path and its options.

    search_path is PYTHONPATH or None; site_import and user_site follow -S, -s, -I; interrupt_ignored tells that the
    parent left SIGINT ignored; check_hash_pycs is the value of --check-hash-based-pycs.
    """
    _logging._startTime = time_ns()
    if search_path:
        # As site does: absolute, without repetitions.
        abspath = sys.modules["os"].path.abspath
        sys.path[:] = dict.fromkeys([*map(abspath, search_path.split(":")), *sys.path])
    if site_import:
        _add_site(user_site)
    else:
        _remove_site()
    if sys.warnoptions:
        sys.modules["warnings"]._processoptions(sys.warnoptions)
    if check_hash_pycs != "default":
        sys.modules["_imp"].check_hash_based_pycs = check_hash_pycs
    if faulthandler:
        import faulthandler
        faulthandler.enable()
    if interrupt_ignored:
        import signal
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _add_site(user_site):
    """site's part: directories of installed packages, if there are any."""
    if access(SITE_PACKAGES, 0):
        site = sys.modules["site"]
        site.addsitedir(SITE_PACKAGES)
        site.execsitecustomize()


def _remove_site():
    """-S: the names that site adds to the builtins are not there."""
    import builtins
    for name in ("exit", "quit", "copyright", "credits", "license", "help"):
        delattr(builtins, name)
    del sys.modules["site"]

