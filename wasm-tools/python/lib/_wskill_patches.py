"""What the standard library needs in a sandbox without fork, threads and sockets. Applied once, before the snapshot."""

import os
import platform
import time

import _wskill_asyncio
import _wskill_pools
import _wskill_sockets
import _wskill_threads


def apply():
    _wskill_threads.apply()
    _wskill_sockets.apply()
    _wskill_asyncio.apply()
    _wskill_pools.apply()
    platform.libc_ver = _libc_ver
    time.thread_time = time.process_time          # one thread, so its time is the process's
    time.thread_time_ns = time.process_time_ns
    os.fork = _fork
    os.register_at_fork = _register_at_fork


def _libc_ver(executable=None, lib="", version="", chunksize=16384):
    return lib, version      # there is no interpreter binary to look into


def _fork():
    raise NotImplementedError(
        "os.fork() is not available: the sandbox starts programs but cannot copy a process. "
        "Use subprocess, os.posix_spawn or os.system.")


def _register_at_fork(*, before=None, after_in_child=None, after_in_parent=None):
    """Nothing to do: there is no fork."""


_fork.__name__ = _fork.__qualname__ = "fork"
_register_at_fork.__name__ = _register_at_fork.__qualname__ = "register_at_fork"
