"""asyncio's child processes, without threads: finished children are looked for between two events of the loop."""

import asyncio
import os
from asyncio import unix_events

_SHORTEST, _LONGEST = 0.001, 0.02      # seconds between two looks


class ChildWatcher(unix_events.AbstractChildWatcher if hasattr(unix_events, "AbstractChildWatcher") else object):
    """Looks for each child on its own, soon after its start and then ever more seldom, up to 50 times a second."""

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        pass

    def is_active(self):
        return True

    def attach_loop(self, loop):
        pass

    def close(self):
        pass

    def add_child_handler(self, pid, callback, *args):
        self._look(asyncio.get_running_loop(), pid, _SHORTEST, callback, args)

    def remove_child_handler(self, pid):
        return True

    def _look(self, loop, pid, delay, callback, args):
        try:
            ended, status = os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            callback(pid, 255, *args)
            return
        if ended:
            callback(pid, os.waitstatus_to_exitcode(status), *args)
        else:
            loop.call_later(delay, self._look, loop, pid, min(2 * delay, _LONGEST), callback, args)


def apply():
    unix_events._ThreadedChildWatcher = ChildWatcher
    if hasattr(unix_events, "ThreadedChildWatcher"):
        unix_events.ThreadedChildWatcher = ChildWatcher
