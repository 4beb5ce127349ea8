"""Threads in turns. The sandbox has one thread, so a started thread waits until the program waits: for it (join), for
what it does (a lock, an event, a queue), for another process or for time (sleep), or until the program ends. Then it
runs to its end, on top of what waits. That is enough for threads that compute or wait for each other in order; a thread
that waits for something that only a suspended one could do is ended with an error.

The C side (runtime/threads.c) calls run_next() whenever the interpreter is about to wait.
"""

import _thread
import collections
import itertools
import sys
import threading

_waiting = collections.deque()     # started, not yet run
_identifiers = itertools.count(2)
_running = []                      # the stack of threads that are being run

MESSAGE = ("this wait can never end: the sandbox runs threads one after another, and none is left that could end it")


class Stuck(RuntimeError):
    """Raised in a thread that waits for something no thread can do any more."""


class _Handle:
    """What threading.Thread keeps of a thread of the system."""

    def __init__(self, thread):
        self._thread = thread
        self._done = False
        self.ident = next(_identifiers)

    def is_done(self):
        if not self._done:
            _run(self._thread)
        return self._done

    def join(self, timeout=-1):
        if self._thread in _running:
            if self._thread is _running[-1]:
                raise RuntimeError("cannot join current thread")
            raise Stuck(MESSAGE)
        if not self._done:
            _run(self._thread)

    def _set_done(self):
        self._done = True


def start(self):
    """Start the thread's activity.

    It must be called at most once per thread object. In the sandbox the activity itself runs when the program next
    waits.
    """
    if not self._initialized:
        raise RuntimeError("thread.__init__() not called")
    if self._started.is_set():
        raise RuntimeError("threads can only be started once")
    self._handle = _Handle(self)
    self._ident = self._handle.ident
    self._native_id = self._handle.ident
    threading._active[self._ident] = self
    self._started.set()
    _waiting.append(self)


def run_next():
    """Runs the thread that has waited longest. False when there is none."""
    if not _waiting:
        return False
    _run(_waiting[0])
    return True


def stuck():
    """Called when a wait without end finds no thread left to run."""
    raise Stuck(MESSAGE)


def _run(thread):
    """Runs a started thread to its end, as if it had been running beside the caller."""
    try:
        _waiting.remove(thread)
    except ValueError:
        return                     # it runs already, further down the stack
    own = _thread.get_ident()
    before = threading._active.get(own)
    threading._active[own] = thread
    _running.append(thread)
    try:
        if threading._trace_hook:
            sys.settrace(threading._trace_hook)
        if threading._profile_hook:
            sys.setprofile(threading._profile_hook)
        thread.run()
    except Stuck:
        # A daemon that waits for more work is what the end of a program would find too.
        if not thread.daemon:
            thread._invoke_excepthook(thread)
    except BaseException:
        thread._invoke_excepthook(thread)
    finally:
        _running.pop()
        if before is None:
            threading._active.pop(own, None)
        else:
            threading._active[own] = before
        threading._active.pop(thread._ident, None)
        thread._handle._set_done()


def _shutdown():
    """The end of the main program: all threads but daemons run to their end."""
    while True:
        remaining = [thread for thread in _waiting if not thread.daemon]
        if not remaining:
            break
        _run(remaining[0])
    for function in reversed(threading._threading_atexits):
        function()


def start_new_thread(function, arguments, keywords={}, /):
    """Start a new thread and return its identifier."""
    thread = threading.Thread(target=function, args=arguments, kwargs=keywords, daemon=True)
    thread.start()
    return thread.ident


def submit(self, fn, /, *args, **kwargs):
    """Schedules the callable; in the sandbox it runs at once. Returns its finished future."""
    from concurrent.futures import thread
    if self._broken:
        raise thread.BrokenThreadPool(self._broken)
    if self._shutdown:
        raise RuntimeError("cannot schedule new futures after shutdown")
    if self._initializer and not hasattr(self, "_wskill_initialised"):
        self._wskill_initialised = True
        self._initializer(*self._initargs)
    future = thread._base.Future()
    thread._WorkItem(future, fn, args, kwargs).run()
    return future


def apply():
    import concurrent.futures.thread
    threading.Thread.start = start
    threading._shutdown = _shutdown
    threading._start_new_thread = _thread.start_new_thread = _thread.start_new = start_new_thread
    concurrent.futures.thread.ThreadPoolExecutor.submit = submit
