"""Records the answers of GNU bash to the rows of tests/shell_cases, or compares with them. Run it as oracle.sh.

usage: oracle.sh [--check | --sandbox WSKILL] [FILE...]

Without an option every row runs under BASH_ORACLE (else /bin/bash, which must be a 5.2), and its standard output, its
status and the bash's version are written into the files. --check compares that bash's answers with the files instead,
--sandbox those of `WSKILL exec`, and both print the rows that differ. The status is 0 if none does, 1 if some do, and
77 if there is nothing to compare: no bash, or none of the version that the files were recorded from.

A file is {bash, rows}; a new one may be a list of rows. A row is {name, features, script, files?, env?, stdin?, stdout,
status, stderr_has?, known?}. `script` runs as `bash -c script` in an empty directory that holds `files` (path to text;
a text that begins with `#!` is executable), with `stdin` as standard input (empty without), and `sh` is bash, too.
"""
import concurrent.futures
import glob
import json
import os
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BASH = os.environ.get("BASH_ORACLE", "/bin/bash")
NOTHING_TO_COMPARE = 77


def version():
    """The version of the oracle's bash, or None if there is none."""
    try:
        command = [BASH, "-c", 'echo "${BASH_VERSINFO[0]}.${BASH_VERSINFO[1]}.${BASH_VERSINFO[2]}"']
        return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode().strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def under_bash(row, work, bin_folder):
    """What runs a row under GNU bash: the command, its executable and its environment."""
    environment = {"PATH": f"{bin_folder}:/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp", "LC_ALL": "C.UTF-8"}
    return ["bash", "-c", row["script"]], BASH, {**environment, **row.get("env", {})}


def in_sandbox(wskill):
    def how(row, work, bin_folder):
        command = [wskill, "exec", "--rm", "--mount", f"{work}:/data:rw", "--cwd", "/data", "--stdin", "-"]
        for name, value in {"LC_ALL": "C.UTF-8", **row.get("env", {})}.items():
            command += ["--env", f"{name}={value}"]
        return [*command, "--", "bash", "-c", row["script"]], wskill, os.environ
    return how


def hear_signals():
    # What began this may ignore some, as nohup does; a shell cannot trap those.
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def run(row, how, bin_folder):
    with tempfile.TemporaryDirectory() as work:
        for path, text in row.get("files", {}).items():
            path = os.path.join(work, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            if text.startswith("#!"):
                os.chmod(path, 0o755)
        command, executable, environment = how(row, work, bin_folder)
        result = subprocess.run(command, executable=executable, preexec_fn=hear_signals, cwd=work, env=environment, check=False, timeout=120,
                                input=row.get("stdin", "").encode(), capture_output=True)
        # A shell that a signal killed: as another shell reports it.
        status = result.returncode if result.returncode >= 0 else 128 - result.returncode
        return result.stdout.decode(errors="replace"), status, result.stderr.decode(errors="replace")


def answers(rows, how):
    with tempfile.TemporaryDirectory() as bin_folder:
        os.symlink(os.path.abspath(BASH), os.path.join(bin_folder, "bash"))
        os.symlink(os.path.abspath(BASH), os.path.join(bin_folder, "sh"))
        with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", 2))) as pool:
            return list(pool.map(lambda row: run(row, how, bin_folder), rows))


def difference(row, answer):
    """How an answer differs from what is recorded, or None."""
    stdout, status, stderr = answer
    found = []
    if status != row["status"]:
        found.append(f"  status {status}, recorded {row['status']}")
    if stdout != row["stdout"]:
        found.append(f"  stdout   {stdout!r}\n  recorded {row['stdout']!r}")
    if row.get("stderr_has", "") not in stderr:
        found.append(f"  stderr lacks {row['stderr_has']!r}")
    return "\n".join([*found, f"  stderr   {stderr[:600]!r}"]) if found else None


def write(path, bash, rows):
    """A key a line, so that changes are easy to see."""
    texts = []
    for row in rows:
        lines = [f"   {json.dumps(key)}: {json.dumps(value, ensure_ascii=True)}" for key, value in row.items()]
        texts.append("  {\n" + ",\n".join(lines) + "\n  }")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'{{\n "bash": {json.dumps(bash)},\n "rows": [\n' + ",\n".join(texts) + "\n ]\n}\n")


def compare(path, recorded, rows, how, version_of_how):
    """How many rows of a file differ, or None if nothing was compared."""
    if version_of_how is not None and recorded != version_of_how:
        print(f"{os.path.basename(path)}: recorded from bash {recorded}, this is {version_of_how}")
        return None
    differ = 0
    for row, answer in zip(rows, answers(rows, how)):
        text = difference(row, answer)
        if text is not None and "known" not in row:
            differ += 1
            print(f"{os.path.basename(path)}: {row['name']}\n  {row['script']!r}\n{text}")
    return differ


def main():
    arguments = sys.argv[1:]
    check = arguments[:1] == ["--check"]
    sandbox = arguments[:1] == ["--sandbox"]
    paths = arguments[check + 2 * sandbox:] or sorted(glob.glob(os.path.join(HERE, "shell_cases", "*.json")))
    bash = version()
    if not sandbox and bash is None:
        print(f"no bash at {BASH}")
        sys.exit(NOTHING_TO_COMPARE)
    if not check and not sandbox and not bash.startswith("5.2."):
        sys.exit(f"the oracle is GNU bash 5.2; {BASH} is {bash}")
    total = differ = compared = 0
    for path in paths:
        if os.path.basename(path) == "features.json":
            continue
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
        recorded, rows = (None, content) if isinstance(content, list) else (content["bash"], content["rows"])
        if check or sandbox:
            how, version_of_how = (under_bash, bash) if check else (in_sandbox(arguments[1]), None)
            found = compare(path, recorded, rows, how, version_of_how)
            if found is not None:
                compared += 1
                differ += found
                total += len(rows)
            continue
        for row, (stdout, status, stderr) in zip(rows, answers(rows, under_bash)):
            row["stdout"], row["status"] = stdout, status
            total += 1
            if row.get("stderr_has", "") not in stderr:
                differ += 1
                print(f"{os.path.basename(path)}: {row['name']}: stderr lacks {row['stderr_has']!r}: {stderr!r}")
        write(path, bash, rows)
    print(f"{total} rows, {differ} differ")
    if (check or sandbox) and not compared:
        sys.exit(NOTHING_TO_COMPARE)
    sys.exit(differ > 0)


if __name__ == "__main__":
    main()
