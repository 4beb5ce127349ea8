#!/usr/bin/env python3
"""Write a Markdown report on sales with tables by month, product and region, and charts."""

import argparse
import pathlib
import sys

from sales import charts, groups, reading, tables


def highlights(by, unit):
    """Yield the lines that a reader should see first."""
    best = max(by["month"], key=lambda group: group.sum)
    yield f"- Best month: {best.name} with {tables.money(best.sum)}{unit}."
    for key in ("product", "region"):
        first, rest = by[key][0], by[key][1:]
        yield f"- Strongest {key}: {tables.plain(first.name)} with {tables.money(first.sum)}{unit}."
        grown = [group for group in by[key] if group.growth is not None]
        if rest and grown:
            most = max(grown, key=lambda group: group.growth)
            least = min(grown, key=lambda group: group.growth)
            yield (
                f"- Growth by {key}, second half against first: from {tables.percent(least.growth)}"
                f" ({tables.plain(least.name)}) to {tables.percent(most.growth)} ({tables.plain(most.name)})."
            )


def report(name, sales, unit):
    overall = groups.overall(sales)
    by = {key: groups.group(sales, key) for key in groups.KEYS}
    unit = f" {tables.plain(unit)}" if unit else ""
    dates = [sale.date for sale in sales]
    count = "1 sale" if overall.count == 1 else f"{overall.count} sales"
    lines = [
        f"# Sales in {tables.plain(name)}",
        "",
        f"{count} from {min(dates)} to {max(dates)}, together {tables.money(overall.sum)}{unit}.",
        "",
        *highlights(by, unit),
    ]
    for key, found in by.items():
        lines += ["", f"## By {key}", "", *tables.markdown(key, found, overall)]
        lines += ["", f"![Sales by {key}](by-{key}.svg)"]
    lines += ["", "## Regions over the months", "", "![Sales by month and region](regions.svg)", ""]
    lines += ["Growth: a month against the month before; anything else the second half of the months against the first.", ""]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("input", metavar="INPUT.csv", type=pathlib.Path)
    parser.add_argument("--out", metavar="FOLDER", type=pathlib.Path, default=pathlib.Path("out"), help="default: out")
    parser.add_argument("--unit", default="", help="what amounts are in, such as EUR")
    args = parser.parse_args()

    sales = reading.read(args.input)
    files = {
        "report.md": report(args.input.name, sales, args.unit),
        "by-month.svg": charts.line(sales, None, args.unit),
        "by-product.svg": charts.bar(sales, "product", args.unit),
        "by-region.svg": charts.bar(sales, "region", args.unit),
        "regions.svg": charts.line(sales, "region", args.unit),
    }
    args.out.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (args.out / name).write_text(content, encoding="utf-8")
        print(f"wrote {args.out / name}")


if __name__ == "__main__":
    try:
        main()
    except (reading.Problem, OSError) as problem:
        sys.exit(f"report.py: {problem}")
