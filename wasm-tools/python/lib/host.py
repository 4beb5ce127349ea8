"""Tools of the host that runs this sandbox.

    from host import tools
    weather = tools.get_weather(city="Paris")           # keyword arguments become a JSON object
    weather = tools.call("get_weather", {"city": "Paris"})
    print(tools.list())                                 # names and what they do

Requests and answers are JSON; an answer that is not is given as text. ToolError says why a call failed.
"""

import errno as _errno
import json as _json

import _wskill_host

__all__ = ["ToolError", "tools"]


class ToolError(Exception):
    """A tool failed, does not exist, or may not be called."""


def _ask(function, *arguments):
    try:
        return function(*arguments)
    except OSError as error:
        if error.errno == _errno.ENOSYS:
            raise ToolError("this sandbox offers no tools of the host") from None
        raise


class _Tools:
    def call(self, name, arguments=None, /):
        """Calls a tool with what becomes its JSON request, usually an object, and returns what its answer holds."""
        request = _json.dumps({} if arguments is None else arguments).encode()
        worked, answer = _ask(_wskill_host.call, name, request)
        if not worked:
            raise ToolError(f"{name}: {answer.decode(errors='replace')}")
        try:
            return _json.loads(answer)
        except ValueError:
            return answer.decode(errors="replace")

    def list(self):
        """The tools that there are: a dictionary of names and descriptions."""
        lines = _ask(_wskill_host.list).decode().splitlines()
        return dict(line.split("\t", 1) for line in lines)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)

        def tool(**arguments):
            return self.call(name, arguments)

        tool.__name__ = tool.__qualname__ = name
        return tool

    def __dir__(self):
        return [*super().__dir__(), *self.list()]


tools = _Tools()
