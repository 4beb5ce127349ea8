"""The C half of multiprocessing. Without semaphores shared between processes there is no SemLock in it, so locks and
queues between processes fail as on any platform that lacks them."""

import errno
import os

flags = {}


def sem_unlink(name):
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
