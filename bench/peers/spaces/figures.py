"""ATF's figures 3 and 4 (its paper, section 7.4) as SVG: four applications, both axes logarithmic."""

import math

WIDTH, HEIGHT, LEFT, TOP, GAP = 230, 190, 62, 46, 52
COLOURS = {"Tunesmith": "#0b6e4f", "pyATF": "#c1440e"}


def decades(values):
    low = math.floor(math.log10(min(values)))
    return low, max(math.ceil(math.log10(max(values))), low + 1)


def panel(application, curves, value, low, high, left):
    out = [f'<text x="{left + WIDTH / 2}" y="{TOP - 10}" text-anchor="middle" font-weight="bold">{application}</text>',
           f'<rect x="{left}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#888"/>']

    def place(size, y):
        across = (math.log2(size) - 1) / 11 * WIDTH
        up = (math.log10(y) - low) / (high - low) * HEIGHT
        return left + across, TOP + HEIGHT - up

    for exponent in range(1, 13, 2):
        x, y = place(2**exponent, 10**low)
        out.append(f'<text x="{x:.1f}" y="{y + 16:.1f}" text-anchor="middle">2<tspan dy="-5" font-size="9">{exponent}</tspan></text>')
    for decade in range(low, high + 1):
        x, y = place(2, 10**decade)
        out.append(f'<line x1="{left}" x2="{left + WIDTH}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">10<tspan dy="-5" font-size="9">{decade}</tspan></text>')
    for tool, points in curves.items():
        places = [place(size, value(result)) for size, result in points if value(result)]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        out.append(f'<polyline points="{line}" fill="none" stroke="{COLOURS[tool]}" stroke-width="2"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6" fill="{COLOURS[tool]}"/>' for x, y in places]
    return out


def draw(path, points, title, value):
    """Writes the figure of `value` of every result to `path`."""
    every = [value(result) for curves in points.values() for line in curves.values() for _, result in line]
    low, high = decades([one for one in every if one])
    width = LEFT + len(points) * (WIDTH + GAP)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{TOP + HEIGHT + 60}" font-family="sans-serif" font-size="12">',
           '<rect width="100%" height="100%" fill="white"/>',
           f'<text x="14" y="18" font-size="14">{title}, against the input size</text>']
    for index, (application, curves) in enumerate(points.items()):
        out += panel(application, curves, value, low, high, LEFT + index * (WIDTH + GAP))
    for index, (tool, colour) in enumerate(COLOURS.items()):
        x, y = LEFT + index * 120, TOP + HEIGHT + 44
        out.append(f'<circle cx="{x}" cy="{y - 4}" r="4" fill="{colour}"/><text x="{x + 10}" y="{y}">{tool}</text>')
    with open(path, "w") as file:
        file.write("\n".join(out + ["</svg>", ""]))
