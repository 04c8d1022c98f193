"""The plot of a sweep: accuracy against epsilon with 95 % bands; the wanted one and the commonest class as lines."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, log

from markupsafe import Markup, escape

from scumble.files.report.text import percent

WIDTH, HEIGHT = 660, 300
LEFT, RIGHT, TOP, BOTTOM = 58, 24, 16, 262
"""Where the axes are, in units of the drawing."""
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2)
"""Distances of the horizontal lines to choose from."""
MOST_LINES = 7


@dataclass(frozen=True, kw_only=True)
class SweepPoint:
    """The mean accuracy at one epsilon, and half the width of its 95 % band."""

    epsilon: str
    accuracy: float
    band: float | None

    @property
    def low(self) -> float:
        return max(0.0, self.accuracy - (self.band or 0.0))

    @property
    def high(self) -> float:
        return min(1.0, self.accuracy + (self.band or 0.0))


@dataclass(frozen=True, kw_only=True)
class _Axes:
    """Where a value is drawn. Epsilons are spaced by their logarithm."""

    first: float
    last: float
    low: float
    high: float

    def across(self, epsilon: str) -> float:
        share = (log(Fraction(epsilon)) - self.first) / ((self.last - self.first) or 1.0)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def down(self, accuracy: float) -> float:
        return BOTTOM - (accuracy - self.low) / (self.high - self.low) * (BOTTOM - TOP)


def sweep_plot(points: Sequence[SweepPoint], *, wanted: float, commonest: float | None) -> Markup:
    """The plot; its text alternative has the same figures as the table below it."""
    lines = [wanted] if commonest is None else [wanted, commonest]
    low, high = min(lines + [each.low for each in points]), max(lines + [each.high for each in points])
    step = next((each for each in STEPS if (high - low) / each < MOST_LINES - 1), STEPS[-1])
    below, above = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    above = max(above, below + 1)
    logs = [log(Fraction(each.epsilon)) for each in points]
    axes = _Axes(first=min(logs), last=max(logs), low=below * step, high=above * step)
    shapes = [_level(axes, place * step) for place in range(below, above + 1)]
    shapes += [_text(axes.across(each.epsilon), BOTTOM + 18, each.epsilon, "middle") for each in points]
    shapes.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 2, "epsilon (smaller is more private)", "middle"))
    outline = [(each.epsilon, each.low) for each in points] + [(each.epsilon, each.high) for each in reversed(points)]
    shapes.append(f'<polygon class="band" points="{_path(axes, outline)}"/>')
    if commonest is not None:
        shapes.append(_rule(axes, commonest, "commonest"))
    shapes.append(_rule(axes, wanted, "wanted"))
    shapes.append(f'<polyline class="curve" points="{_path(axes, [(e.epsilon, e.accuracy) for e in points])}"/>')
    for each in points:
        x, y = axes.across(each.epsilon), axes.down(each.accuracy)
        if each.band is not None:
            shapes.append(_line("whisker", x, axes.down(each.low), x, axes.down(each.high)))
        shapes.append(f'<circle class="point" cx="{x:.1f}" cy="{y:.1f}" r="4"/>')
    figures = ", ".join(f"{percent(each.accuracy)} at {each.epsilon}" for each in points)
    label = escape(f"Accuracy by epsilon: {figures}; wanted {percent(wanted)}")
    return Markup(
        f'<svg class="plot" role="img" aria-label="{label}" viewBox="0 0 {WIDTH} {HEIGHT}">{"".join(shapes)}</svg>'
    )


def _path(axes: _Axes, places: Sequence[tuple[str, float]]) -> str:
    return " ".join(f"{axes.across(epsilon):.1f},{axes.down(accuracy):.1f}" for epsilon, accuracy in places)


def _level(axes: _Axes, accuracy: float) -> str:
    y = axes.down(accuracy)
    return _line("level", LEFT, y, WIDTH - RIGHT, y) + _text(LEFT - 8, y + 4, f"{round(100 * accuracy)} %", "end")


def _rule(axes: _Axes, accuracy: float, style: str) -> str:
    y = axes.down(accuracy)
    return _line(style, LEFT, y, WIDTH - RIGHT, y)


def _line(style: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="{style}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'
