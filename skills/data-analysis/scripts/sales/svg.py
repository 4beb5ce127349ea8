"""Bar and line charts as SVG, written by hand."""

import math
from html import escape

WIDTH, HEIGHT = 760, 420
LEFT, RIGHT, TOP = 92, 24, 78
# Below the horizontal axis, for names as they are and for slanted ones.
BOTTOM, SLANTED_BOTTOM = 60, 92
# Colours that colour-blind people can tell apart.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999")
GRID, INK = "#dddddd", "#333333"
NAME, LABELS = 16, 12
# A bar narrower than this has no room for its value.
VALUE_SLOT = 40


def scale(values):
    """Return ticks at round numbers, about six, around zero and all values."""
    low, high = min(0, *values), max(0, *values)
    rough = (high - low) / 6 or 1
    power = 10 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
    return [i * step for i in range(math.floor(low / step), math.ceil(high / step) + 1 + (high == low))]


def short(name, length=NAME):
    return name if len(name) <= length else name[: length - 1] + "…"


def text(x, y, content, **attributes):
    marks = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in attributes.items())
    return f'<text x="{x:.1f}" y="{y:.1f}"{marks}>{escape(content, quote=False)}</text>'


class Chart:
    """The frame of a chart: title, axes, grid; and where a value goes in it."""

    def __init__(self, title, x_label, y_label, names, values):
        self.names = names
        self.ticks = scale(values)
        self.decimals = max(0, -math.floor(math.log10(self.ticks[1] - self.ticks[0])))
        self.slot = (WIDTH - LEFT - RIGHT) / len(names)
        # Of many names only every second, third, ... is written.
        self.every = math.ceil(len(names) / LABELS)
        self.slanted = max(len(short(name)) for name in names) * 7 + 10 > self.slot * self.every
        self.foot = HEIGHT - (SLANTED_BOTTOM if self.slanted else BOTTOM)
        self.lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
            f' role="img" font-family="sans-serif" font-size="12" fill="{INK}">',
            f"<title>{escape(title, quote=False)}</title>",
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
            text(LEFT, 32, title, font_size=18, font_weight="bold"),
        ]
        self.axes(x_label, y_label)

    def x(self, i):
        """Return the middle of the i-th place on the horizontal axis."""
        return LEFT + (i + 0.5) * self.slot

    def y(self, value):
        low, high = self.ticks[0], self.ticks[-1]
        return self.foot - (value - low) / (high - low) * (self.foot - TOP)

    def axes(self, x_label, y_label):
        for tick in self.ticks:
            y, colour = self.y(tick), INK if tick == 0 else GRID
            self.lines += [
                f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="{colour}"/>',
                text(LEFT - 8, y + 4, f"{tick:,.{self.decimals}f}", text_anchor="end"),
            ]
        y = self.foot + 18
        for i in range(0, len(self.names), self.every):
            x, name = self.x(i), short(self.names[i])
            if self.slanted:
                turn = f"rotate(-30 {x:.1f} {y})"
                self.lines.append(text(x, y, name, text_anchor="end", transform=turn))
            else:
                self.lines.append(text(x, y, name, text_anchor="middle"))
        middle = (TOP + self.foot) / 2
        self.lines += [
            text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, x_label, text_anchor="middle", font_size=13),
            text(20, middle, y_label, text_anchor="middle", font_size=13, transform=f"rotate(-90 20 {middle:.1f})"),
        ]

    def document(self):
        return "\n".join([*self.lines, "</svg>", ""])


def bars(title, x_label, y_label, groups):
    """Return a chart with one bar for each (name, value)."""
    names, values = zip(*((name, float(value)) for name, value in groups))
    chart = Chart(title, x_label, y_label, names, values)
    width = min(chart.slot * 0.7, 72)
    for i, (name, value) in enumerate(zip(names, values)):
        top, bottom = chart.y(max(value, 0)), chart.y(min(value, 0))
        chart.lines.append(
            f'<rect x="{chart.x(i) - width / 2:.1f}" y="{top:.1f}" width="{width:.1f}" height="{bottom - top:.1f}"'
            f' fill="{COLOURS[0]}"><title>{escape(name, quote=False)}: {value:,.2f}</title></rect>'
        )
        if chart.slot >= VALUE_SLOT:
            # A digit more than the ticks have, unless they are whole.
            decimals = chart.decimals and chart.decimals + 1
            y = top - 5 if value >= 0 else bottom + 14
            chart.lines.append(text(chart.x(i), y, f"{value:,.{decimals}f}", text_anchor="middle", font_size=11))
    return chart.document()


def lines(title, x_label, y_label, names, series):
    """Return a chart with one line for each (name, values) of series; several have a legend."""
    series = [(name, [float(value) for value in values]) for name, values in series]
    chart = Chart(title, x_label, y_label, names, [value for _, values in series for value in values])
    legend = min((WIDTH - LEFT - RIGHT) / len(series), 140)
    for number, ((name, values), colour) in enumerate(zip(series, COLOURS)):
        points = [(chart.x(i), chart.y(value)) for i, value in enumerate(values)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        chart.lines.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2.5"/>')
        for place, value, (x, y) in zip(names, values, points):
            hint = f"{name}, {place}: {value:,.2f}"
            chart.lines.append(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"><title>{escape(hint, quote=False)}</title></circle>'
            )
        if len(series) > 1:
            x = LEFT + number * legend
            chart.lines += [
                f'<rect x="{x:.1f}" y="47" width="14" height="4" fill="{colour}"/>',
                text(x + 19, 53, short(name, int((legend - 26) / 7))),
            ]
    return chart.document()
