"""Tells what Python and WebAssembly files name, without running them.

Standard input: {"python": {SHOWN: PATH}, "wasm": {SHOWN: PATH}, "requirements": {SHOWN: PATH},
"sources": {SHOWN: TEXT}, "paths": [PATH]}. Standard output: JSON lines as the shell's outline has them, with "import", "string", "call" and "wasm" in place of "words"; and
at the end one object of what the interpreter has: {"modules": {NAME: BOOL}, "paths": {PATH: BOOL}}.
"""

import ast
import importlib.util
import json
import os
import re
import sys

MOST = 1 << 20
# Functions that run a command, and what they take.
RUNNERS = {"system", "popen", "run", "Popen", "call", "check_call", "check_output", "getoutput", "getstatusoutput"}
modules = set()


def say(shown, line, **fact):
    print(json.dumps({"file": shown, "line": line, **fact}))


def constant(node):
    """The value of a string that is certain."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def words(node):
    """A command's words, as the shell's outline has them."""
    if isinstance(node, (ast.List, ast.Tuple)):
        return [constant(item) or {"raw": ast.unparse(item)} for item in node.elts]
    return None


def dependencies(text):
    """What PEP 723 metadata in comments ask for."""
    block = re.search(r"(?m)^# /// script$\s(?P<content>(^#(| .*)$\s)+)^# ///$", text)
    if not block:
        return []
    content = "".join(line[2:] if line.startswith("# ") else line[1:] for line in block["content"].splitlines(True))
    import tomllib

    try:
        wanted = tomllib.loads(content).get("dependencies", [])
    except tomllib.TOMLDecodeError:
        return []
    return [name for name in wanted if isinstance(name, str)]


def python(shown, text):
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        said = getattr(error, "msg", None) or error
        say(shown, getattr(error, "lineno", None) or 1, error=f"{type(error).__name__}: {said}")
        return
    for wanted in dependencies(text):
        say(shown, 1, package=wanted)
    documented = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            body = node.body
            if body and isinstance(body[0], ast.Expr) and constant(body[0].value) is not None:
                documented.add(id(body[0].value))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                found(shown, node.lineno, name.name)
        elif isinstance(node, ast.ImportFrom):
            if node.level == 0 and node.module:
                found(shown, node.lineno, node.module)
        elif isinstance(node, ast.Call):
            call(shown, node)
        elif constant(node) is not None and id(node) not in documented:
            say(shown, node.lineno, string=node.value)


def found(shown, line, name):
    top = name.split(".")[0]
    modules.add(top)
    say(shown, line, **{"import": top})


def call(shown, node):
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name in ("import_module", "__import__") and node.args:
        wanted = constant(node.args[0])
        if wanted:
            found(shown, node.lineno, wanted)
        else:
            say(shown, node.lineno, unknown=f"imports {ast.unparse(node.args[0])}")
    elif name in ("eval", "exec") and isinstance(function, ast.Name) and node.args:
        if constant(node.args[0]) is None:
            say(shown, node.lineno, unknown=f"runs Python from {ast.unparse(node.args[0])}")
    elif name in RUNNERS and isinstance(function, ast.Attribute) and getattr(function.value, "id", "") in ("os", "subprocess"):
        if not node.args:
            return
        command = node.args[0]
        listed = words(command)
        if listed:
            say(shown, node.lineno, words=[word.replace(sys.executable, "python3") if isinstance(word, str) else word for word in listed])
        elif constant(command) is not None:
            say(shown, node.lineno, shell=command.value)
        else:
            say(shown, node.lineno, unknown=f"runs {ast.unparse(command)}")


def number(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at
        if shift > 35:
            raise ValueError("a number is too long")


def text_at(data, at):
    length, at = number(data, at)
    return data[at : at + length].decode("utf-8", "replace"), at + length


def limits(data, at):
    flags, at = number(data, at)
    _, at = number(data, at)
    if flags & 1:
        _, at = number(data, at)
    return at


def wasm(shown, data):
    """The imports of a module."""
    try:
        if data[4:8] != b"\1\0\0\0":
            say(shown, 1, error="not a core module; the sandbox runs WASI preview 1 modules only")
            return
        at = 8
        while at < len(data):
            section = data[at]
            size, at = number(data, at + 1)
            if section == 2:
                count, place = number(data, at)
                for _ in range(count):
                    module, place = text_at(data, place)
                    name, place = text_at(data, place)
                    kind = data[place]
                    place += 1
                    say(shown, 1, wasm=f"{module}.{name}")
                    if kind == 0:
                        _, place = number(data, place)
                    elif kind == 1:
                        place = limits(data, place + 1)
                    elif kind == 2:
                        place = limits(data, place)
                    elif kind == 3:
                        place += 2
                    else:
                        raise ValueError(f"an import of kind {kind}")
            at += size
    except (IndexError, ValueError) as error:
        say(shown, 1, error=f"not a module: {error}")


def requirements(shown, text):
    """The packages of a requirements file."""
    for line, wanted in enumerate(text.splitlines(), 1):
        wanted = wanted.split(" #")[0].strip()
        if wanted and wanted[0] not in "#-":
            say(shown, line, package=wanted)


def contents(path):
    with open(path, "rb") as file:
        data = file.read(MOST + 1)
    if len(data) > MOST:
        raise OSError(f"larger than {MOST} bytes")
    return data


def has(name):
    if name in sys.builtin_module_names:
        return True
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def main():
    sys.path[:] = [path for path in sys.path if path and path != os.getcwd()]
    wanted = json.load(sys.stdin)
    for kind, read in (("python", python), ("wasm", wasm), ("requirements", requirements)):
        for shown, path in wanted[kind].items():
            try:
                data = contents(path)
                read(shown, data if kind == "wasm" else data.decode("utf-8", "replace"))
            except OSError as error:
                say(shown, 1, error=str(error))
    for shown, text in wanted["sources"].items():
        python(shown, text)
    print(json.dumps({"modules": {name: has(name) for name in sorted(modules)}, "paths": {path: os.path.exists(path) for path in wanted["paths"]}}))


main()
