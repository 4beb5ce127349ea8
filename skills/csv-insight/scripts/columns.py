"""Types and statistics of the columns of a table."""

import collections
import datetime
import math
import re
import statistics

MISSING = {"", "na", "n/a", "null", "none", "-"}
BOOLEANS = {"true", "false", "yes", "no"}
INTEGER = re.compile(r"[+-]?\d+")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
TOP = 5
DECIMALS = 4


def matches_finite(pattern):
    """Return a test for numbers of this form that floating point can hold."""
    return lambda text: pattern.fullmatch(text) and math.isfinite(float(text))


def is_date(text):
    try:
        datetime.datetime.fromisoformat(text.removesuffix("Z"))
    except ValueError:
        return False
    # Python 3.11 and later take forms without dashes too, which are numbers to most people.
    return "-" in text


# From narrow to wide.
TYPES = [
    ("boolean", lambda text: text.lower() in BOOLEANS),
    ("integer", matches_finite(INTEGER)),
    ("number", matches_finite(NUMBER)),
    ("date", is_date),
]


def type_of(values):
    """Return the narrowest type that all values have."""
    if not values:
        return "empty"
    for name, matches in TYPES:
        if all(matches(value) for value in values):
            return name
    return "text"


def tidy(number):
    """Round for people, and write whole numbers without a point."""
    number = round(number, DECIMALS)
    return int(number) if number == int(number) else number


def present(cells):
    """Return the cells that hold a value."""
    stripped = (cell.strip() for cell in cells)
    return [cell for cell in stripped if cell.lower() not in MISSING]


def describe(name, cells):
    """Return a dictionary of all that is known about a column."""
    values = present(cells)
    kind = type_of(values)
    column = {
        "name": name,
        "type": kind,
        "count": len(values),
        "missing": len(cells) - len(values),
        "distinct": len(set(values)),
    }
    if kind in ("integer", "number"):
        numbers = [float(value) for value in values]
        column["min"] = tidy(min(numbers))
        column["max"] = tidy(max(numbers))
        column["mean"] = tidy(statistics.fmean(numbers))
        column["median"] = tidy(statistics.median(numbers))
        if len(numbers) > 1:
            column["stdev"] = tidy(statistics.stdev(numbers))
    elif kind != "empty":
        if kind == "date":
            # ISO 8601 sorts as text.
            column["min"], column["max"] = min(values), max(values)
        column["top"] = top(values)
    return column


def top(values):
    """Return the most frequent values with their counts, ties in alphabetical order."""
    counts = collections.Counter(values).items()
    ranked = sorted(counts, key=lambda item: (-item[1], item[0]))[:TOP]
    return [{"value": value, "count": count} for value, count in ranked]
