"""Groups of sales and their figures."""

import statistics
from decimal import ROUND_HALF_UP, Decimal, getcontext
from typing import NamedTuple, Optional

from sales.reading import months

# Room for the largest change that numbers of the permitted length can make, in percent.
getcontext().prec = 60

KEYS = ("month", "product", "region")


class Group(NamedTuple):
    name: str
    count: int
    sum: Decimal
    mean: Optional[Decimal]
    median: Optional[Decimal]
    # In percent; None when there is nothing to compare with.
    growth: Optional[Decimal]


def rounded(number, places):
    """Round a half away from zero, as people do with money."""
    return number.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)


def total(sales):
    return sum((sale.amount for sale in sales), Decimal(0))


def growth(before, after):
    """Return the change from one sum to the next in percent, with one decimal."""
    return rounded((after - before) / before * 100, 1) if before > 0 else None


def halves(sales, all_months):
    """Return the sums of the first and of the second half of the months; of an odd number the middle one is in neither."""
    half = len(all_months) // 2
    first, second = set(all_months[:half]), set(all_months[len(all_months) - half :])
    return [total(sale for sale in sales if sale.month in part) for part in (first, second)]


def figures(name, sales, change):
    amounts = [sale.amount for sale in sales]
    mean = rounded(total(sales) / len(sales), 2) if amounts else None
    median = rounded(statistics.median(amounts), 2) if amounts else None
    return Group(name, len(sales), rounded(total(sales), 2), mean, median, change)


def group(sales, key):
    """Return the groups of sales: months in order of time, anything else from the largest sum to the smallest."""
    all_months = months(sales)
    parts = {month: [] for month in all_months} if key == "month" else {}
    for sale in sales:
        parts.setdefault(getattr(sale, key), []).append(sale)
    if key == "month":
        sums = [total(part) for part in parts.values()]
        changes = [None] + [growth(*pair) for pair in zip(sums, sums[1:])]
        return [figures(name, part, change) for (name, part), change in zip(parts.items(), changes)]
    found = [figures(name, part, growth(*halves(part, all_months))) for name, part in parts.items()]
    return sorted(found, key=lambda group: (-group.sum, group.name))


def overall(sales):
    """Return all sales as one group."""
    return figures("total", sales, growth(*halves(sales, months(sales))))
