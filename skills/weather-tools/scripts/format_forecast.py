#!/usr/bin/env python3
"""Turn a weather forecast, JSON on standard input, into a table."""

import argparse
import datetime
import json
import sys
import unicodedata

# The names that hosts use for a field; the first is ours.
NAMES = {
    "forecast": ("forecast", "days", "daily"),
    "city": ("city", "location", "name"),
    "country": ("country",),
    "unit": ("unit", "units"),
    "date": ("date", "day"),
    "condition": ("condition", "weather", "description"),
    "low": ("low", "min", "temp_min"),
    "high": ("high", "max", "temp_max"),
    "precipitation": ("precipitation", "rain"),
    "wind": ("wind", "wind_speed"),
}
DEGREES = {"c": "°C", "celsius": "°C", "f": "°F", "fahrenheit": "°F"}
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
WET = 1
NOTHING = "–"


class Problem(Exception):
    """What is wrong with the forecast."""


def field(data, name):
    """Return the value of a field under the first of its names that has one."""
    return next((data[key] for key in NAMES[name] if data.get(key) is not None), None)


def text(value):
    """Return a value as one line without control characters, which a terminal would obey."""
    words = " ".join(str(value).split())
    return "".join(c for c in words if c.isprintable())


def label(data, name, place):
    """Return a field that is a text, or None."""
    value = field(data, name)
    if not isinstance(value, (str, int, float, type(None))):
        raise Problem(f"{place}: {name} is a JSON {'list' if isinstance(value, list) else 'object'} and no text")
    return None if value is None else text(value)


def number(day, name, place):
    value = field(day, name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < 1e6:
        raise Problem(f"{place}: {name} {json.dumps(value)} is not a number that weather can have")
    return float(value)


def date(day, place):
    value = label(day, "date", place)
    if value is None:
        raise Problem(f"{place}: no date; there are: {', '.join(map(text, day)) or 'no fields'}")
    try:
        return f"{WEEKDAYS[datetime.datetime.strptime(value, '%Y-%m-%d').weekday()]} {value}"
    except ValueError:
        return value


def read(source):
    """Return the title, the unit of temperatures and the days of a forecast."""

    def refuse(constant):
        raise ValueError(f"{constant} is no JSON number")

    try:
        data = json.loads(source.decode("utf-8-sig"), parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise Problem(f"standard input is no JSON: {error}") from error
    if isinstance(data, list):
        data = {"forecast": data}
    if not isinstance(data, dict):
        raise Problem("standard input is neither a JSON object nor a list of days")
    if data.get("error"):
        raise Problem(f"the weather tool reported: {text(data['error'])}")
    days = field(data, "forecast")
    if not isinstance(days, list) or not days:
        raise Problem(f"no list of days in 'forecast'; there are: {', '.join(map(text, data)) or 'no fields'}")
    unit = label(data, "unit", "forecast") or "celsius"
    if unit.lower() not in DEGREES:
        raise Problem(f"unit '{unit}' is neither celsius nor fahrenheit")
    place = [label(data, name, "forecast") for name in ("city", "country")]
    return ", ".join(filter(None, place)), DEGREES[unit.lower()], [entry(day, f"day {i}") for i, day in enumerate(days, 1)]


def entry(day, place):
    """Return the fields of a day that the table shows."""
    if not isinstance(day, dict):
        raise Problem(f"{place} is no JSON object")
    found = {"date": date(day, place), "condition": label(day, "condition", place)}
    for name in ("low", "high", "precipitation", "wind"):
        found[name] = number(day, name, place)
    return found


def shown(value):
    if value is None:
        return NOTHING
    # The sum makes 0.0 of -0.0.
    return value if isinstance(value, str) else f"{round(value, 1) + 0.0:.1f}"


def columns(days, degrees):
    """Return (heading, cells, whether they are numbers) for each column that has a value."""
    units = {"low": degrees, "high": degrees, "precipitation": "mm", "wind": "km/h"}
    for name in days[0]:
        values = [day[name] for day in days]
        if any(value is not None for value in values):
            heading = f"{name} {units[name]}" if name in units else name
            yield heading, [shown(value) for value in values], name in units


def width(string):
    """Return how many places a text takes in a terminal: East Asian characters two, combining marks none."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in string
    )


def plain(table):
    """Yield the lines of a table in aligned columns."""
    padded = []
    for heading, cells, numeric in table:
        room = max(map(width, [heading, *cells]))
        blanks = [" " * (room - width(cell)) for cell in [heading, *cells]]
        column = [blank + cell if numeric else cell + blank for blank, cell in zip(blanks, [heading, *cells])]
        padded.append([column[0], "-" * room, *column[1:]])
    return ("  ".join(row).rstrip() for row in zip(*padded))


def markdown(table):
    """Yield the lines of a Markdown table."""
    headings, cells, numeric = zip(*table)
    yield "| " + " | ".join(headings) + " |"
    yield "|" + "|".join("---:" if right else "---" for right in numeric) + "|"
    for row in zip(*cells):
        yield "| " + " | ".join(cell.replace("\\", "\\\\").replace("|", "\\|") for cell in row) + " |"


def summary(days, degrees):
    """Yield the lines below the table: what most questions ask for."""
    for title, name, best in (("warmest", "high", max), ("coldest", "low", min)):
        known = [day for day in days if day[name] is not None]
        if known:
            day = best(known, key=lambda day: day[name])
            yield f"{title}: {day['date']} ({shown(day[name])} {degrees})"
    measured = [day for day in days if day["precipitation"] is not None]
    if measured:
        wet = [day["date"] for day in measured if day["precipitation"] >= WET]
        yield f"wet: {', '.join(wet) or 'no day'}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    args = parser.parse_args()

    source = sys.stdin.buffer.read()
    if not source.strip():
        raise Problem("standard input is empty; give it the forecast: format_forecast.py < FILE.json")
    title, degrees, days = read(source)
    table = list(columns(days, degrees))
    if title:
        print(f"## {title}\n" if args.markdown else f"{title}\n")
    print(*(markdown(table) if args.markdown else plain(table)), sep="\n")
    footer = list(summary(days, degrees))
    if footer:
        print()
        print(*((f"- {line}" if args.markdown else line) for line in footer), sep="\n")


if __name__ == "__main__":
    try:
        main()
    except Problem as problem:
        sys.exit(f"format_forecast.py: {problem}")
