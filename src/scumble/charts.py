"""Line charts with confidence bands, described as plain data and drawn as SVG.

The same data always gives the same file. matplotlib is slow to import, so only `write_svg` imports it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D31")
"""Okabe and Ito's palette, which is readable with red-green colour blindness."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
WIDTH, HEIGHT = 4.2, 3.3
SINGLE_WIDTH = 6.0
MOST_COLUMNS = 3


@dataclass(frozen=True, kw_only=True)
class Point:
    """A value at x, optionally with the ends of its confidence band."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, kw_only=True)
class Series:
    """One line of the chart: labelled points."""

    label: str
    points: tuple[Point, ...]


@dataclass(frozen=True, kw_only=True)
class ReferenceLine:
    """A labelled horizontal line, for a value that does not depend on x."""

    label: str
    y: float


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One pair of axes."""

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    reference_lines: tuple[ReferenceLine, ...] = ()
    logarithmic: bool = False
    """Whether the x axis is logarithmic; the ticks are then the x values that occur."""
    from_zero: bool = False
    """Whether the y axis starts at zero, as it should for amounts."""
    numbered: bool = False
    """Whether x is a number without magnitude (an identifier); the ticks are then the x values that occur."""


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Panels with a common legend: a label has the same colour in every panel."""

    title: str
    panels: tuple[Panel, ...]
    note: str = ""

    def labels(self) -> list[str]:
        """The labels of all series in the order of first appearance."""
        return list(dict.fromkeys(series.label for panel in self.panels for series in panel.series))


def write_svg(chart: Chart, path: Path) -> None:
    """Draw a chart into a file."""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    columns = 2 if len(chart.panels) == 4 else min(len(chart.panels), MOST_COLUMNS)
    lines = -(-len(chart.panels) // columns)
    # Text stays text, so that it can be searched and read by screen readers; element ids are the same in every run.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "scumble", "font.size": 9}):
        width = WIDTH * columns if columns > 1 else SINGLE_WIDTH
        figure = Figure(figsize=(width, HEIGHT * lines + 0.9), layout="constrained")
        FigureCanvasSVG(figure)
        handles: dict[str, Artist] = {}
        every: list[Axes] = list(figure.subplots(lines, columns, squeeze=False).ravel())
        for axes, panel in zip(every, chart.panels, strict=False):
            handles |= _draw(axes, panel, chart.labels())
        for axes in every[len(chart.panels) :]:
            axes.set_axis_off()
        figure.suptitle(chart.title, fontweight="bold")
        figure.legend(
            list(handles.values()),
            list(handles),
            loc="outside lower center",
            ncols=2 * columns + 1,
            frameon=False,
            title=chart.note or None,
            title_fontsize=8,
        )
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": "scumble"})


def _draw(axes: "Axes", panel: Panel, labels: Sequence[str]) -> dict[str, "Artist"]:
    """Draw a panel and return the legend handle of each label."""
    handles: dict[str, Artist] = {}
    for series in panel.series:
        place = labels.index(series.label)
        colour, marker = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
        points = sorted(series.points, key=lambda point: point.x)
        xs = [point.x for point in points]
        (handles[series.label],) = axes.plot(
            xs, [point.y for point in points], color=colour, marker=marker, markersize=4, linewidth=1.4
        )
        lows = [point.y if point.low is None else point.low for point in points]
        highs = [point.y if point.high is None else point.high for point in points]
        axes.fill_between(xs, lows, highs, color=colour, alpha=0.15, linewidth=0)
    for number, line in enumerate(panel.reference_lines):
        style = ("--", ":", "-.")[number % 3]
        handles[line.label] = axes.axhline(line.y, color="#555555", linestyle=style, linewidth=1.1)
    if panel.logarithmic:
        ticks = sorted({point.x for series in panel.series for point in series.points})
        axes.set_xscale("log")
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
    if panel.numbered:
        axes.set_xticks(sorted({point.x for series in panel.series for point in series.points}))
    axes.set_ylim(_window(panel))
    axes.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label)
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    return handles


def _window(panel: Panel) -> tuple[float, float]:
    """The range of the y axis: all lines in full, and bands up to half the lines' span beyond them.

    The band of a mean of two values is so wide that showing it in full would flatten the lines.
    """
    middle = [point.y for series in panel.series for point in series.points] + [
        line.y for line in panel.reference_lines
    ]
    edges = [
        edge
        for series in panel.series
        for point in series.points
        for edge in (point.low, point.high)
        if edge is not None
    ]
    low, high = min(middle), max(middle)
    span = max(high - low, 1e-3 * max(abs(low), abs(high), 1e-9))
    bottom, top = max(min([low, *edges]), low - span / 2), min(max([high, *edges]), high + span / 2)
    return 0.0 if panel.from_zero else bottom - span / 20, top + span / 20
