"""Pools of processes: with one processor there is nothing to gain from more, and no semaphores to build them from. The
work of a pool is done where it is given out, in order."""

import concurrent.futures.process
import multiprocessing.context
import multiprocessing.dummy
import multiprocessing.pool
from concurrent.futures import ThreadPoolExecutor


class Result:
    """What the asynchronous methods of a pool return: already there."""

    def __init__(self, function, arguments=(), keywords={}, callback=None, error_callback=None):
        self._value = self._error = None
        try:
            self._value = function(*arguments, **keywords)
        except Exception as error:
            self._error = error
        report, what = (error_callback, self._error) if self._error else (callback, self._value)
        if report:
            report(what)

    def ready(self):
        return True

    def successful(self):
        return self._error is None

    def wait(self, timeout=None):
        pass

    def get(self, timeout=None):
        if self._error:
            raise self._error
        return self._value


class Pool:
    """multiprocessing.Pool, one task after the other."""

    def __init__(self, processes=None, initializer=None, initargs=(), maxtasksperchild=None, context=None):
        if processes is not None and processes < 1:
            raise ValueError("Number of processes must be at least 1")
        self._open = True
        if initializer:
            initializer(*initargs)

    def __enter__(self):
        self._check_open()
        return self

    def __exit__(self, *exception):
        self.terminate()

    def _check_open(self):
        if not self._open:
            raise ValueError("Pool not running")

    def apply(self, func, args=(), kwds={}):
        return self.apply_async(func, args, kwds).get()

    def apply_async(self, func, args=(), kwds={}, callback=None, error_callback=None):
        self._check_open()
        return Result(func, args, kwds, callback, error_callback)

    def map(self, func, iterable, chunksize=None):
        return self.map_async(func, iterable).get()

    def map_async(self, func, iterable, chunksize=None, callback=None, error_callback=None):
        self._check_open()
        return Result(lambda: [func(item) for item in iterable], callback=callback, error_callback=error_callback)

    def starmap(self, func, iterable, chunksize=None):
        return self.starmap_async(func, iterable).get()

    def starmap_async(self, func, iterable, chunksize=None, callback=None, error_callback=None):
        return self.map_async(lambda item: func(*item), iterable, chunksize, callback, error_callback)

    def imap(self, func, iterable, chunksize=1):
        self._check_open()
        return map(func, iterable)

    imap_unordered = imap

    def close(self):
        self._open = False

    terminate = close

    def join(self):
        if self._open:
            raise ValueError("Pool is still running")


class ProcessPoolExecutor(ThreadPoolExecutor):
    """concurrent.futures.ProcessPoolExecutor: what is submitted runs at once."""

    def __init__(self, max_workers=None, mp_context=None, initializer=None, initargs=(), *, max_tasks_per_child=None):
        super().__init__(max_workers, initializer=initializer, initargs=initargs)


def _pool(self, processes=None, initializer=None, initargs=(), maxtasksperchild=None):
    """Returns a process pool object"""
    return Pool(processes, initializer, initargs, maxtasksperchild)


def apply():
    context = multiprocessing.context
    context.BaseContext.Pool = _pool
    multiprocessing.pool.Pool = multiprocessing.pool.ThreadPool = multiprocessing.dummy.Pool = Pool
    concurrent.futures.process.ProcessPoolExecutor = ProcessPoolExecutor
    # A child process starts afresh; it cannot be forked.
    context._default_context._default_context = context._concrete_contexts["spawn"]
    multiprocessing.Pool = context._default_context.Pool
