"""Tells what Python and WebAssembly files name, without running them.

Standard input: an object of "shell", "python", "wasm" and "requirements", each {SHOWN: PATH}, "sources": {SHOWN: TEXT}
and "paths": [PATH]. Standard output: JSON lines, as those of the shell's outline but with "import", "string", "words",
"shell", "package", "wasm", "unknown" or "error"; and at the end one object of what the interpreter has:
{"modules": {NAME: BOOL}, "paths": {PATH: BOOL}}. Of shell scripts only addresses and paths in their text are told: the
shell tells the rest.
"""

import ast
import importlib.util
import json
import os
import re
import sys

MOST = 1 << 20
# Functions that run a command, whatever they are called through.
RUNNERS = re.compile(
    r"(system|popen|Popen|check_call|check_output|getoutput|getstatusoutput"
    r"|exec[lv]p?e?|spawn[lv]p?e?|posix_spawnp?|create_subprocess_(exec|shell))$"
)
# The same, but with names that other functions have too.
AMBIGUOUS = {"run", "call", "spawn"}
# Modules from which those run commands.
PROCESSES = {"subprocess", "os", "pty", "asyncio", "runpy"}
PATHS = re.compile(
    r"(?<![\w.$}/-])(?:~|\$HOME|\$\{HOME\}"
    r"|/(?:Users|app|boot|data|dev|etc|home|lib|mnt|opt|private|proc|root|run|srv|sys|tmp|usr|var))/[\w./-]+"
)
modules = set()


def say(shown, line, **fact):
    text = json.dumps({"file": shown, "line": line, **fact}, ensure_ascii=False)
    sys.stdout.buffer.write(text.encode("utf-8", "replace") + b"\n")


def written(node):
    """An expression as it is written, shortened."""
    try:
        return ast.unparse(node)[:200]
    except RecursionError:
        return "an expression that is nested too deeply"


def constant(node):
    """The value of a string that is certain."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def words(node):
    """A command's words, as the shell's outline has them."""
    if isinstance(node, (ast.List, ast.Tuple)):
        return [constant(item) or {"raw": written(item)} for item in node.elts]
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


def python(shown, source, offset=0):
    """What a program names; `source` as bytes knows its own encoding."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        said = getattr(error, "msg", None) or error
        say(shown, offset + (getattr(error, "lineno", None) or 1), error=f"{type(error).__name__}: {said}")
        return
    text = source if isinstance(source, str) else source.decode("utf-8", "replace")
    for wanted in dependencies(text):
        say(shown, 1, package=wanted)
    documented = set()
    # Names that stand for modules and functions that run commands.
    names = {name: name for name in PROCESSES}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            body = node.body
            if body and isinstance(body[0], ast.Expr) and constant(body[0].value) is not None:
                documented.add(id(body[0].value))
        elif isinstance(node, ast.Import):
            for name in node.names:
                found(shown, offset + node.lineno, name.name)
                if name.asname and name.name in PROCESSES:
                    names[name.asname] = name.name
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found(shown, offset + node.lineno, node.module)
            if node.module in PROCESSES:
                names.update({name.asname or name.name: name.name for name in node.names})
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            call(shown, node, names, offset)
        elif isinstance(node, ast.JoinedStr):
            text = written(node)
            if "://" in text:
                say(shown, offset + node.lineno, string=text)
        elif constant(node) is not None and id(node) not in documented:
            if "://" in node.value or node.value.startswith(("/", "~", "..")):
                say(shown, offset + node.lineno, string=node.value[:1000])


def found(shown, line, name):
    top = name.split(".")[0]
    modules.add(top)
    say(shown, line, **{"import": top})


def call(shown, node, names, offset):
    line = offset + node.lineno
    function = node.func
    if isinstance(function, ast.Attribute):
        name = function.attr
        of_processes = getattr(function.value, "id", "") in names
    else:
        # `from subprocess import run as r`
        of_processes = getattr(function, "id", "") in names
        name = names.get(getattr(function, "id", ""), getattr(function, "id", ""))
    first = next(iter(node.args), None) or next((k.value for k in node.keywords if k.arg in ("args", "name")), None)
    if name == "getattr" and node.args and getattr(node.args[0], "id", "") in names:
        say(shown, line, unknown=f"calls {written(node)}")
    elif name in ("import_module", "__import__") and first:
        wanted = constant(first)
        if wanted:
            found(shown, line, wanted)
        else:
            say(shown, line, unknown=f"imports {written(first)}")
    elif name in ("run_path", "run_module", "spec_from_file_location"):
        say(shown, line, unknown=f"runs Python by {written(node)}")
    elif name in ("eval", "exec") and isinstance(function, ast.Name) and first:
        code = constant(first)
        if code is None:
            say(shown, line, unknown=f"runs Python from {written(first)}")
        else:
            python(shown, code, line - 1)
    elif RUNNERS.match(name) or name in AMBIGUOUS and of_processes:
        listed = words(first) if first else None
        text = constant(first) if first else None
        if listed:
            say(shown, line, words=listed)
        elif text is not None and name.startswith(("exec", "spawn", "posix", "create_subprocess_exec")):
            say(shown, line, words=[text])
        elif text is not None:
            say(shown, line, shell=text)
        else:
            say(shown, line, unknown=f"runs {written(first or node)}")


def shell(shown, text):
    """Addresses and paths in a script's text, wherever they stand: most are assigned to a variable first."""
    for line, content in enumerate(text.splitlines(), 1):
        if content.lstrip().startswith("#"):
            continue
        if "://" in content:
            say(shown, line, string=content[:1000])
        for path in PATHS.findall(content):
            say(shown, line, string=path.replace("${HOME}", "~").replace("$HOME", "~"))


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
    for kind, read in (("shell", shell), ("python", python), ("wasm", wasm), ("requirements", requirements)):
        for shown, path in wanted[kind].items():
            # One script costs only its own part of the report.
            try:
                data = contents(path)
                read(shown, data.decode("utf-8", "replace") if kind in ("shell", "requirements") else data)
            except Exception as error:
                say(shown, 1, error=f"{type(error).__name__}: {error}")
    for shown, text in wanted["sources"].items():
        try:
            python(shown, text)
        except Exception as error:
            say(shown, 1, error=f"{type(error).__name__}: {error}")
    has_modules = {name: has(name) for name in sorted(modules)}
    sys.stdout.flush()
    print(json.dumps({"modules": has_modules, "paths": {path: os.path.exists(path) for path in wanted["paths"]}}))


main()
