#!/usr/bin/env python3
"""Print a table of sales by month, product or region: count, sum, mean, median and growth."""

import argparse
import sys

from sales import groups, reading, tables


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("input", metavar="INPUT.csv")
    parser.add_argument("--by", choices=groups.KEYS, default="month", help="what makes a row (default: %(default)s)")
    parser.add_argument("--csv", action="store_true", help="print CSV in place of a Markdown table")
    args = parser.parse_args()

    sales = reading.read(args.input)
    found = groups.group(sales, args.by)
    if args.csv:
        print(tables.comma_separated(args.by, found), end="")
    else:
        print(*tables.markdown(args.by, found, groups.overall(sales)), sep="\n")


if __name__ == "__main__":
    try:
        main()
    except reading.Problem as problem:
        sys.exit(f"summary.py: {problem}")
