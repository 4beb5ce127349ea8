#!/usr/bin/env python3
"""Write statistics of a CSV file to summary.json and summary.md, and a chart to chart.svg."""

import argparse
import csv
import json
import pathlib
import sys

import chart
import columns

NUMERIC = ("integer", "number")


def read(path):
    """Return the column names and the rows of a CSV file."""
    try:
        # Spreadsheet programs like to begin a file with a byte order mark.
        with open(path, encoding="utf-8-sig", newline="") as file:
            first = file.readline()
            file.seek(0)
            delimiter = max(",;\t|", key=first.count)
            names, *rows = list(csv.reader(file, delimiter=delimiter)) or [[]]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        sys.exit(f"csv_insight.py: {path}: {error}")
    rows = [row for row in rows if row]
    if not rows:
        sys.exit(f"csv_insight.py: {path}: no rows below the column names")
    return names, rows


def cells(names, rows):
    """Return the cells of each column; those that a short row has not are empty."""
    return [[row[i] if i < len(row) else "" for row in rows] for i in range(len(names))]


def markdown(name, rows, described):
    lines = [
        f"# {name}",
        "",
        f"{rows} rows, {len(described)} columns.",
        "",
        "| column | type | missing | distinct | min | max | mean | median | stdev |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    keys = ("name", "type", "missing", "distinct", "min", "max", "mean", "median", "stdev")
    for column in described:
        row = (str(column.get(key, "")).replace("|", "\\|") for key in keys)
        lines.append("| " + " | ".join(row) + " |")
    for column in described:
        if "top" in column:
            lines += ["", f"Most frequent in `{column['name']}`:", ""]
            lines += [f"- {entry['value']}: {entry['count']}" for entry in column["top"]]
    return "\n".join(lines) + "\n"


def draw(column, values):
    values = columns.present(values)
    if column["type"] in NUMERIC:
        return chart.bars(f"{column['name']}: distribution", chart.histogram([float(value) for value in values]))
    rows = [(entry["value"], entry["count"]) for entry in column.get("top", [])]
    return chart.bars(f"{column['name']}: most frequent values", rows)


def brief(column):
    text = f"{column['name']}: {column['type']}, {column['count']} values"
    if column["missing"]:
        text += f", {column['missing']} missing"
    if "min" in column:
        text += f", {column['min']} to {column['max']}"
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("input", metavar="INPUT.csv")
    parser.add_argument("--out", metavar="FOLDER", type=pathlib.Path, default=pathlib.Path("out"))
    parser.add_argument("--chart", metavar="COLUMN", help="what to draw; the first numeric column when absent")
    args = parser.parse_args()

    names, rows = read(args.input)
    table = cells(names, rows)
    described = [columns.describe(name, column) for name, column in zip(names, table)]
    if args.chart is None:
        chosen = next((i for i, column in enumerate(described) if column["type"] in NUMERIC), 0)
    elif args.chart in names:
        chosen = names.index(args.chart)
    else:
        parser.error(f"no column {args.chart!r}; there are: {', '.join(names)}")

    name = pathlib.Path(args.input).name
    summary = {"file": name, "rows": len(rows), "columns": described}
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "summary.json").write_text(json.dumps(summary, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    (args.out / "summary.md").write_text(markdown(name, len(rows), described), encoding="utf-8")
    (args.out / "chart.svg").write_text(draw(described[chosen], table[chosen]), encoding="utf-8")
    for column in described:
        print(brief(column))


if __name__ == "__main__":
    main()
