"""Writes cases.json: python3.13 generate.py

Runs every case of definitions.py with the running interpreter, which must be a CPython 3.13, as python3 and python on PATH,
and records its answers, except where a definition states the sandbox's own.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

from definitions import CASES

HERE = pathlib.Path(__file__).parent


def run_native(case, programs):
    environment = {"PATH": f"{programs}:/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8", **case["env"]}
    with tempfile.TemporaryDirectory() as directory:
        for name, content in case["files"].items():
            path = pathlib.Path(directory, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        return subprocess.run(case["argv"], cwd=directory, env=environment, input=(case["stdin"] or "").encode(),
                              capture_output=True, timeout=60)


def main():
    assert sys.version_info[:2] == (3, 13), "the oracle is CPython 3.13"
    rows = []
    with tempfile.TemporaryDirectory() as programs:
        for name in ("python3", "python"):
            os.symlink(sys.executable, os.path.join(programs, name))
        for case in CASES:
            if case["stdout"] is None or case["status"] is None:
                native = run_native(case, programs)
                status = native.returncode if native.returncode >= 0 else 128 - native.returncode
                expected = native.stdout.decode()
                if case["stdout"] is None:
                    case["stdout"] = expected
                if case["status"] is None:
                    case["status"] = status
                if case["stderr_has"] and case["stderr_has"].encode() not in native.stderr:
                    print(f"{case['name']}: native stderr lacks {case['stderr_has']!r}: {native.stderr.decode()}")
            rows.append({key: value for key, value in case.items() if value not in (None, {})})
    (HERE / "cases.json").write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
    print(f"{len(rows)} cases")


if __name__ == "__main__":
    main()
