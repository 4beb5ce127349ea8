"""Bar charts as SVG."""

from html import escape

WIDTH, BAR, GAP = 640, 22, 8
LEFT, TOP, RIGHT = 180, 48, 60
CLASSES = 10
LABEL = 24


def histogram(numbers):
    """Return (label, count) for classes of equal width over the range of the numbers."""
    low, high = min(numbers), max(numbers)
    if low == high:
        return [(f"{low:g}", len(numbers))]
    width = (high - low) / CLASSES
    counts = [0] * CLASSES
    for number in numbers:
        # The maximum belongs to the last class.
        counts[min(int((number - low) / width), CLASSES - 1)] += 1
    edges = [low + i * width for i in range(CLASSES + 1)]
    return [(f"{edges[i]:.6g} – {edges[i + 1]:.6g}", count) for i, count in enumerate(counts)]


def bars(title, rows):
    """Return an SVG document with one horizontal bar for each (label, count)."""
    height = TOP + len(rows) * (BAR + GAP) + GAP
    scale = (WIDTH - LEFT - RIGHT) / max((count for _, count in rows), default=1)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
        ' font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<text x="{GAP}" y="28" font-size="17">{escape(title, quote=False)}</text>',
    ]
    for i, (label, count) in enumerate(rows):
        y = TOP + i * (BAR + GAP)
        shown = label if len(label) <= LABEL else label[: LABEL - 1] + "…"
        lines += [
            f'<text x="{LEFT - GAP}" y="{y + 16}" text-anchor="end">{escape(shown, quote=False)}</text>',
            f'<rect x="{LEFT}" y="{y}" width="{count * scale:.1f}" height="{BAR}" fill="#4477aa"/>',
            f'<text x="{LEFT + count * scale + GAP:.1f}" y="{y + 16}">{count}</text>',
        ]
    return "\n".join([*lines, "</svg>", ""])
