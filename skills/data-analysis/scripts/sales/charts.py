"""The charts of sales."""

from sales import groups, svg
from sales.reading import months

MAX_BARS = 12
MAX_LINES = len(svg.COLOURS)


def axis(unit):
    return f"sales ({unit})" if unit else "sales"


def bar(sales, key, unit):
    """Return a bar chart of the sums by a key; of many groups the largest."""
    found = groups.group(sales, key)
    title = f"Sales by {key}"
    if key != "month" and len(found) > MAX_BARS:
        title += f": the largest {MAX_BARS} of {len(found)}"
        found = found[:MAX_BARS]
    return svg.bars(title, key, axis(unit), [(group.name, group.sum) for group in found])


def line(sales, split, unit):
    """Return a line chart of the sums by month: one line, or one for each value of split; of many the largest."""
    title, parts = "Sales by month", {"all": sales}
    if split:
        title += f" and {split}"
        ranked = groups.group(sales, split)
        if len(ranked) > MAX_LINES:
            title += f": the largest {MAX_LINES} of {len(ranked)}"
        parts = {group.name: [] for group in ranked[:MAX_LINES]}
        for sale in sales:
            if getattr(sale, split) in parts:
                parts[getattr(sale, split)].append(sale)
    places = months(sales)
    series = []
    for name, part in parts.items():
        sums = dict.fromkeys(places, 0)
        for sale in part:
            sums[sale.month] += sale.amount
        series.append((name, sums.values()))
    return svg.lines(title, "month", axis(unit), places, series)
