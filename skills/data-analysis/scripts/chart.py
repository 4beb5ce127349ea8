#!/usr/bin/env python3
"""Write a chart of sales as SVG: bars by month, product or region, or lines over the months."""

import argparse
import pathlib
import sys

from sales import charts, groups, reading


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("input", metavar="INPUT.csv")
    parser.add_argument("output", metavar="OUTPUT.svg", type=pathlib.Path)
    parser.add_argument("--bars", metavar="KEY", choices=groups.KEYS, help="one bar for each month, product or region")
    parser.add_argument("--lines", metavar="KEY", choices=groups.KEYS[1:], help="one line for each product or region")
    parser.add_argument("--unit", default="", help="what amounts are in, such as EUR, for the axis")
    args = parser.parse_args()
    if args.bars and args.lines:
        parser.error("--bars and --lines are two charts; ask for one at a time")

    sales = reading.read(args.input)
    drawn = charts.bar(sales, args.bars, args.unit) if args.bars else charts.line(sales, args.lines, args.unit)
    args.output.parent.mkdir(parents=True, exist_ok=True)
    args.output.write_text(drawn, encoding="utf-8")
    print(f"wrote {args.output}")


if __name__ == "__main__":
    try:
        main()
    except (reading.Problem, OSError) as problem:
        sys.exit(f"chart.py: {problem}")
