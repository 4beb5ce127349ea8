"""Sockets: there are none. Programs learn it in one clear line, and asyncio's own wake-up pair is made of pipes."""

import errno
import os
import socket

_NO_NETWORK = "the sandbox has no network"


def apply():
    socket.socket.__init__ = _init
    socket.socketpair = socketpair
    for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex", "gethostbyaddr", "getnameinfo"):
        setattr(socket, name, _resolver(name))
    for name, value in {"EAI_AGAIN": -3, "EAI_NONAME": -2, "AI_PASSIVE": 1, "AI_CANONNAME": 2, "AI_NUMERICHOST": 4,
                        "NI_NUMERICHOST": 1, "NI_NUMERICSERV": 2, "SOMAXCONN": 4096, "AF_UNIX": 1,
                        "SO_REUSEADDR": 2, "SO_KEEPALIVE": 9, "SO_BROADCAST": 6, "SO_REUSEPORT": 15}.items():
        if not hasattr(socket, name):
            setattr(socket, name, value)


def _init(self, family=-1, type=-1, proto=-1, fileno=None):
    if fileno is None:
        raise OSError(errno.ENETUNREACH, _NO_NETWORK)
    _plain_init(self, family, type, proto, fileno)


def _resolver(name):
    def resolve(*arguments, **keywords):
        raise socket.gaierror(-3, _NO_NETWORK)      # EAI_AGAIN on Linux
    resolve.__name__ = resolve.__qualname__ = name
    return resolve


class _PipeEnd:
    """One side of a pair: reads from one pipe and writes to the other. As much of a socket as event loops use."""

    family, type, proto = 1, 1, 0      # AF_UNIX, SOCK_STREAM

    def __init__(self, reader, writer):
        self._reader = reader
        self._writer = writer

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def fileno(self):
        return self._reader

    def setblocking(self, flag):
        os.set_blocking(self._reader, flag)
        if self._writer >= 0:
            os.set_blocking(self._writer, flag)

    def settimeout(self, timeout):
        self.setblocking(timeout is None)

    def gettimeout(self):
        return None if os.get_blocking(self._reader) else 0.0

    def recv(self, size, flags=0):
        return os.read(self._reader, size)

    def send(self, data, flags=0):
        return os.write(self._writer, data)

    def sendall(self, data, flags=0):
        view = memoryview(data).cast("B")
        while view:
            view = view[os.write(self._writer, view):]

    def shutdown(self, how):
        if how != socket.SHUT_RD and self._writer >= 0:
            os.close(self._writer)
            self._writer = -1

    def close(self):
        for descriptor in (self._reader, self._writer):
            if descriptor >= 0:
                os.close(descriptor)
        self._reader = self._writer = -1


def socketpair(family=None, type=None, proto=0):
    """A pair of connected streams, made of two pipes."""
    first_reader, second_writer = os.pipe()
    second_reader, first_writer = os.pipe()
    return _PipeEnd(first_reader, first_writer), _PipeEnd(second_reader, second_writer)


_plain_init = socket.socket.__init__
