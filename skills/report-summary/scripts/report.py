#!/usr/bin/env python3
"""Print a Markdown report over the text documents of a folder. The tools do the counting."""

import pathlib
import subprocess
import sys

SCRIPTS = pathlib.Path(__file__).resolve().parent
WORDS = 8
LONGEST = 3
LINE_WIDTH = 60


def output(argv, **options):
    """Run a command and return what it prints; a failure ends the report."""
    return subprocess.run(argv, check=True, stdout=subprocess.PIPE, encoding="utf-8", **options).stdout


def documents(folder):
    files = [path for path in folder.rglob("*") if path.suffix in (".txt", ".md") and path.is_file()]
    return sorted(path.relative_to(folder).as_posix() for path in files)


def sizes(folder, names):
    yield "| document | lines | words | bytes |"
    yield "|---|---:|---:|---:|"
    for name in names:
        lines, words, count = output(["wc", "-lwc", "--", name], cwd=folder).split()[:3]
        yield f"| {name} | {lines} | {words} | {count} |"


def frequent_words(folder, names):
    # cat writes into the script while both run.
    with subprocess.Popen(["cat", "--", *names], cwd=folder, stdout=subprocess.PIPE) as cat:
        table = output(["bash", str(SCRIPTS / "top_words.sh"), str(WORDS)], stdin=cat.stdout)
    for line in table.splitlines():
        word, count = line.split("\t")
        yield f"- {word}: {count}"


def open_tasks(folder, names):
    found = subprocess.run(
        ["grep", "-HnE", r"TODO:|^[[:space:]]*- \[ \]", "--", *names],
        cwd=folder, stdout=subprocess.PIPE, encoding="utf-8",
    )
    # grep's status is 1 when there is no such line, and 2 when it failed.
    if found.returncode > 1:
        raise subprocess.CalledProcessError(found.returncode, found.args)
    for line in found.stdout.splitlines():
        name, number, text = line.split(":", 2)
        text = text.strip().removeprefix("- [ ]").removeprefix("TODO:").strip()
        yield f"- {text} ({name}, line {number})"


def longest_lines(folder, names):
    # A line for the shell, as many scripts have it; the names go in as arguments, never into the line.
    line = r"""awk '{ print length($0) "\t" FILENAME "\t" FNR }' "$@" | LC_ALL=C sort -t "$(printf '\t')" -k1,1nr -k2,2 -k3,3n"""
    rows = output(["bash", "-c", line, "longest", *names], cwd=folder).splitlines()[:LONGEST]
    for row in rows:
        length, name, number = row.split("\t")
        text = (folder / name).read_text(encoding="utf-8").splitlines()[int(number) - 1].strip()
        shown = text if len(text) <= LINE_WIDTH else text[:LINE_WIDTH].rstrip() + "…"
        yield f"- {length} characters ({name}, line {number}): {shown}"


def section(title, lines):
    print(f"\n## {title}\n")
    print("\n".join(lines) or "None.")


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: report.py FOLDER")
    folder = pathlib.Path(sys.argv[1])
    if not folder.is_dir():
        sys.exit(f"report.py: {folder}: no such folder")
    names = documents(folder)
    if not names:
        sys.exit(f"report.py: {folder}: no .txt or .md files")
    print(f"# Report on {len(names)} documents")
    section("Documents", sizes(folder, names))
    section("Frequent words", frequent_words(folder, names))
    section("Open tasks", open_tasks(folder, names))
    section("Longest lines", longest_lines(folder, names))


if __name__ == "__main__":
    main()
