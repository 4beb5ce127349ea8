"""Sales from a CSV file."""

import csv
import datetime
import re
from decimal import Decimal
from typing import NamedTuple

# So many digits that no product or sum of real sales loses one.
NUMBER = re.compile(r"[+-]?[0-9]{1,9}(\.[0-9]{1,6})?")
# A time after the day does not matter.
DATE = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})([T ].*)?")
MAX_MONTHS = 120


class Problem(Exception):
    """Something in a file that the user has to correct; the text says what and where."""


class Sale(NamedTuple):
    date: datetime.date
    month: str
    product: str
    region: str
    amount: Decimal


def read(path):
    """Return the sales of a CSV file, in its order."""
    try:
        # Spreadsheet programs like to begin a file with a byte order mark.
        with open(path, encoding="utf-8-sig", newline="") as file:
            first = file.readline()
            file.seek(0)
            rows = csv.reader(file, delimiter=max(",;\t|", key=first.count))
            columns = [name.strip().lower() for name in next(rows, [])]
            check(path, columns)
            # A row that is too short has empty cells at its end.
            padding = [""] * len(columns)
            sales = [sale(path, rows.line_num, dict(zip(columns, row + padding))) for row in rows if any(row)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise Problem(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    if not sales:
        raise Problem(f"{path}: no rows below the column names")
    if len(months(sales)) > MAX_MONTHS:
        first, *_, last = months(sales)
        raise Problem(f"{path}: the dates run from {first} to {last}; at most {MAX_MONTHS} months can be shown")
    return sales


def check(path, columns):
    """Raise a problem when a column is missing."""
    missing = [name for name in ("date", "product", "region") if name not in columns]
    if "amount" not in columns and not {"quantity", "unit_price"} <= set(columns):
        missing.append("amount (or quantity and unit_price)")
    if missing:
        raise Problem(f"{path}: no column {', '.join(missing)}; there are: {', '.join(columns)}")


def sale(path, line, row):
    """Return the sale in a row, a dictionary from column to text."""

    def text(column):
        value = " ".join(row[column].split())
        if not value.isprintable():
            # Control characters would break the drawings.
            value = "".join(c for c in value if c.isprintable())
        if not value:
            raise Problem(f"{path}, line {line}: no {column}")
        return value

    def number(column):
        value = text(column)
        if not NUMBER.fullmatch(value):
            raise Problem(f"{path}, line {line}: {column} '{value}' is not a number such as 1234.50")
        return Decimal(value)

    def day(column):
        value = text(column)
        found = DATE.fullmatch(value)
        try:
            return datetime.date.fromisoformat(found.group(1) if found else "")
        except ValueError:
            problem = f"{path}, line {line}: {column} '{value}' is not a day of the form 2025-12-31"
            raise Problem(problem) from None

    amount = number("amount") if "amount" in row else number("quantity") * number("unit_price")
    date = day("date")
    return Sale(date, f"{date.year:04}-{date.month:02}", text("product"), text("region"), amount)


def months(sales):
    """Return all months from the first sale to the last, also those without one."""
    first, last = min(sale.date for sale in sales), max(sale.date for sale in sales)
    counted = range(first.year * 12 + first.month - 1, last.year * 12 + last.month)
    return [f"{month // 12:04}-{month % 12 + 1:02}" for month in counted]
