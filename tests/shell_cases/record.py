#!/usr/bin/env python3
"""Records the answers of GNU bash 5.2 to the shell cases, or compares another shell's answers with them.

usage: record.py                  run every case under /bin/bash and write its stdout and status into the files
       record.py --check CMD...   run every case under CMD (its last argument becomes the script's text) and compare

A case is {name, script, files?, stdin?, stdout, status}: `script` runs as `bash -c script` in an empty directory that
holds `files` (path to text; a text that begins with `#!` is executable), with `stdin` as standard input (empty
without). Standard error is not compared: its prefix differs by shell. In CMD, {work} is the case's directory.
"""
import glob
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8", "TERM": "dumb"}


def run(case, command):
    with tempfile.TemporaryDirectory() as work:
        for path, text in case.get("files", {}).items():
            path = os.path.join(work, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            if text.startswith("#!"):
                os.chmod(path, 0o755)
        argv = [word.replace("{work}", work) for word in command] + [case["script"]]
        environment = ENVIRONMENT if command[0] == "/bin/bash" else {**os.environ, **ENVIRONMENT}
        result = subprocess.run(argv, cwd=work, env=environment, input=case.get("stdin", "").encode(),
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)
        return result.stdout.decode("utf-8", "surrogateescape"), result.returncode, result.stderr


def main():
    check = sys.argv[1:2] == ["--check"]
    command = sys.argv[2:] if check else ["/bin/bash", "-c"]
    if not check:
        version = subprocess.run(["/bin/bash", "--version"], stdout=subprocess.PIPE, check=True).stdout.decode()
        if "version 5.2" not in version:
            sys.exit("the oracle is GNU bash 5.2; this machine has another one")
    passed = failed = 0
    for path in sorted(glob.glob(os.path.join(HERE, "*.json"))):
        with open(path, encoding="utf-8") as file:
            cases = json.load(file)
        for case in cases:
            stdout, status, stderr = run(case, command)
            if not check:
                case["stdout"], case["status"] = stdout, status
            elif (stdout, status) == (case["stdout"], case["status"]):
                passed += 1
            else:
                failed += 1
                print(f"{os.path.basename(path)}: {case['name']}: expected {case['stdout']!r} {case['status']}, "
                      f"got {stdout!r} {status} {stderr[:200]!r}")
        if not check:
            with open(path, "w", encoding="utf-8") as file:
                json.dump(cases, file, indent=1, ensure_ascii=True)
                file.write("\n")
    if check:
        print(f"{passed} passed, {failed} failed")
        sys.exit(failed > 0)


if __name__ == "__main__":
    main()
