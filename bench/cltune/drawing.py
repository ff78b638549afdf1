"""The two kinds of figure, as SVG text: progress of a search, and violins (CLTune's figures 4 and 5)."""

import math
import statistics
from html import escape

PANEL, GAP, LEFT, TOP, HEIGHT = 190, 14, 56, 40, 240
COLOURS = ["#c0392b", "#2471a3", "#1e8449", "#7d3c98", "#b9770e"]
STEPS = 100  # points of a violin's outline


def y_of(value):
    """Height of a relative performance: 0 at the bottom, 1 at the top."""
    return TOP + HEIGHT * (1 - value)


def text(x, y, words, size=11, anchor="middle"):
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}">{escape(words)}</text>'


def lines(points, colour):
    joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{joined}" fill="none" stroke="{colour}"/>'


def figure(title, names, panel):
    """A row of panels over one axis in per cent; `panel(name, left)` draws one."""
    width = LEFT + len(names) * (PANEL + GAP)
    height = TOP + HEIGHT + 44
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        text(width / 2, 20, f"{title}: performance relative to the best", 13),
    ]
    for step in range(6):
        y = y_of(step / 5)
        parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{width - GAP}" y2="{y:.1f}" stroke="#dddddd"/>')
        parts.append(text(LEFT - 6, y + 4, f"{20 * step} %", anchor="end"))
    for number, name in enumerate(names):
        left = LEFT + number * (PANEL + GAP)
        parts += panel(name, left)
        # "annealing(temperature=0.05, explore=0)" on two lines.
        head, _, options = name.partition("(")
        parts.append(text(left + PANEL / 2, TOP + HEIGHT + 18, head))
        parts.append(text(left + PANEL / 2, TOP + HEIGHT + 32, options.rstrip(")"), 9))
    return "\n".join([*parts, "</svg>\n"])


def progress(title, runs):
    """Figure 4: what each run evaluated, one after the other, with the best so far as a dashed line."""

    def panel(name, left):
        parts = []
        for run, colour in zip(runs[name], COLOURS):
            x = [left + PANEL * step / max(1, len(run) - 1) for step in range(len(run))]
            best = [max(run[: step + 1]) for step in range(len(run))]
            parts.append(lines([(at, y_of(value)) for at, value in zip(x, run)], colour))
            dashed = lines([(at, y_of(value)) for at, value in zip(x, best)], colour)
            parts.append(dashed.replace("<polyline", '<polyline stroke-width="2" stroke-dasharray="5 3"'))
        return parts

    return figure(title, list(runs), panel)


def density(values):
    """A Gaussian kernel's estimate at STEPS + 1 points from 0 to 1, with Silverman's width; at least 1 %."""
    width = max(0.01, 1.06 * statistics.pstdev(values) * len(values) ** -0.2)
    points = [step / STEPS for step in range(STEPS + 1)]
    return [sum(math.exp(-(((point - value) / width) ** 2) / 2) for value in values) for point in points]


def violins(title, samples):
    """Figures 5 and 7: the distribution, a bar of one deviation to either side, the mean as a circle."""

    def panel(name, left):
        values, centre = samples[name], left + PANEL / 2
        heights = density(values)
        half = [PANEL / 2 * height / max(heights) for height in heights]
        # Only where there are values, as far as the estimate is wide.
        drawn = [step for step in range(STEPS + 1) if heights[step] > 0.01 * max(heights)]
        right_side = [(centre + half[step], y_of(step / STEPS)) for step in drawn]
        left_side = [(centre - half[step], y_of(step / STEPS)) for step in reversed(drawn)]
        outline = " ".join(f"{x:.1f},{y:.1f}" for x, y in right_side + left_side)
        mean, deviation = statistics.fmean(values), statistics.pstdev(values)
        top, bottom = y_of(min(1, mean + deviation)), y_of(max(0, mean - deviation))
        colour = "#e59866" if name == "whole space" else "#85b0d6"
        return [
            f'<polygon points="{outline}" fill="{colour}" stroke="#555555"/>',
            f'<rect x="{centre - 4}" y="{top:.1f}" width="8" height="{bottom - top:.1f}" fill="black"/>',
            f'<circle cx="{centre}" cy="{y_of(mean):.1f}" r="4" fill="white" stroke="black"/>',
            text(left + PANEL, TOP + HEIGHT - 6, f"mean {mean:.0%}", anchor="end"),
        ]

    return figure(title, list(samples), panel)
