"""Runs cases.json in the sandbox: check.py WSKILL [NAME-PREFIX...]

What the Rust test does too; this one is for working on the Python part. Prints each case that differs.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent


def run(wskill, case):
    with tempfile.TemporaryDirectory() as directory:
        for name, content in case.get("files", {}).items():
            path = pathlib.Path(directory, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        command = [wskill, "exec", "--mount", f"{directory}:/case:rw", "--cwd", "/case"]
        for name, value in case.get("env", {}).items():
            command += ["--env", f"{name}={value}"]
        return subprocess.run([*command, "--timeout", "60", "--", *case["argv"]], input=case.get("stdin", "").encode(),
                              capture_output=True, timeout=120)


def differences(case, result):
    if result.returncode != case["status"]:
        yield f"status {result.returncode}, expected {case['status']}"
    if result.stdout.decode(errors="replace") != case["stdout"]:
        yield f"stdout {result.stdout.decode(errors='replace')!r}\n     expected {case['stdout']!r}"
    if case.get("stderr_has", "") not in result.stderr.decode(errors="replace"):
        yield f"stderr lacks {case['stderr_has']!r}"


def main(wskill, *prefixes):
    cases = json.loads((HERE / "cases.json").read_text())
    failed = 0
    for case in cases:
        if prefixes and not case["name"].startswith(prefixes):
            continue
        try:
            result = run(wskill, case)
        except subprocess.TimeoutExpired:
            failed += 1
            print(f"{case['name']}: hangs")
            continue
        found = list(differences(case, result))
        if found:
            failed += 1
            print(f"{case['name']}:", *found, result.stderr.decode(errors="replace")[-1500:], sep="\n     ")
    print(f"{failed} of {len(cases)} differ")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1]), *sys.argv[2:]))
