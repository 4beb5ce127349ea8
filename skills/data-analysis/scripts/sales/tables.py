"""Tables of groups, for people and for programs."""

import csv
import io

COLUMNS = ("count", "sum", "mean", "median", "growth")


def money(amount):
    return "–" if amount is None else f"{amount:,.2f}"


def percent(change):
    return "–" if change is None else f"{change:+,.1f} %"


def plain(text):
    """Return a name so that Markdown takes no part of it for markup."""
    for mark in "\\`*_[]<>|":
        text = text.replace(mark, "\\" + mark)
    return text


def markdown(key, groups, overall):
    """Return the lines of a Markdown table, with the total in the last row."""

    def row(name, group):
        cells = (name, group.count, money(group.sum), money(group.mean), money(group.median), percent(group.growth))
        return "| " + " | ".join(map(str, cells)) + " |"

    return [
        f"| {key} | " + " | ".join(COLUMNS) + " |",
        "|---|" + "---:|" * len(COLUMNS),
        *(row(plain(group.name), group) for group in groups),
        row("**total**", overall),
    ]


def comma_separated(key, groups):
    """Return the groups as CSV, numbers without marks and empty cells for what is not known."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow((key, *COLUMNS))
    writer.writerows(groups)
    return text.getvalue()
