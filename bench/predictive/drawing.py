"""The figures of the study, as SVG text."""

from html import escape

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 520, 340, 60, 40, 110, 50
COLOURS = ["#c0392b", "#2471a3", "#1e8449", "#7d3c98", "#b9770e", "#616a6b"]


def text(x, y, words, size=11, anchor="middle"):
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}">{escape(str(words))}</text>'


class Frame:
    """Axes from 0 to a top that is round."""

    def __init__(self, title, across, up):
        self.across, self.up, self.parts = across * 1.05, up * 1.1, []
        self.parts.append(f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>')
        self.parts.append(text(WIDTH / 2, 20, title, 13))
        for step in range(5):
            value = self.up * step / 4
            y = self.y(value)
            self.parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#dddddd"/>')
            self.parts.append(text(LEFT - 6, y + 4, f"{value:.2f}", anchor="end"))

    def x(self, value):
        return LEFT + (WIDTH - LEFT - RIGHT) * value / self.across

    def y(self, value):
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / self.up

    def line(self, points, colour, style=""):
        joined = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{joined}" fill="none" stroke="{colour}" {style}/>')

    def svg(self):
        head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif">'
        return "\n".join([head, *self.parts, "</svg>\n"])


def scatter(title, points):
    """Figure 3: a point for each held-out input, with the diagonal."""
    most = max(max(pair) for pair in points)
    frame = Frame(title, most, most)
    frame.line([(0, 0), (most, most)], "#999999", 'stroke-dasharray="4 3"')
    for x, y in points:
        frame.parts.append(f'<circle cx="{frame.x(x):.1f}" cy="{frame.y(y):.1f}" r="3" fill="{COLOURS[1]}"/>')
    for step in range(5):
        frame.parts.append(text(frame.x(most * step / 4), HEIGHT - BOTTOM + 16, f"{most * step / 4:.2f}"))
    frame.parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, "empirical"))
    return frame.svg()


def bars(title, values):
    """Figure 4: a bar for each value."""
    frame = Frame(title, len(values), max(values.values()))
    for at, (name, value) in enumerate(values.items()):
        left, right, y = frame.x(at + 0.2), frame.x(at + 0.8), frame.y(value)
        height = frame.y(0) - y
        frame.parts.append(f'<rect x="{left:.1f}" y="{y:.1f}" width="{right - left:.1f}" height="{height:.1f}" fill="{COLOURS[at]}"/>')
        frame.parts.append(text((left + right) / 2, y - 4, f"{value:.2f}"))
        frame.parts.append(text((left + right) / 2, HEIGHT - BOTTOM + 16, name))
    return frame.svg()


def curves(title, lines, limit):
    """Figure 5: a line of points for each name, and the limit as a dashed one."""
    across = max(x for points in lines.values() for x, _ in points)
    frame = Frame(title, across, max(limit, *(y for points in lines.values() for _, y in points)))
    frame.line([(0, limit), (across, limit)], "#999999", 'stroke-dasharray="4 3"')
    frame.parts.append(text(WIDTH - RIGHT + 4, frame.y(limit) + 4, "empirical", 10, "start"))
    for at, (name, points) in enumerate(lines.items()):
        colour = COLOURS[at % len(COLOURS)]
        frame.line(points, colour, 'stroke-width="2"')
        y = TOP + 40 + 16 * at
        frame.parts.append(f'<rect x="{WIDTH - RIGHT + 8}" y="{y - 8}" width="10" height="10" fill="{colour}"/>')
        frame.parts.append(text(WIDTH - RIGHT + 22, y + 1, name, 10, "start"))
    for x in sorted({x for points in lines.values() for x, _ in points}):
        frame.parts.append(text(frame.x(x), HEIGHT - BOTTOM + 16, x))
    frame.parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, "training inputs"))
    return frame.svg()
