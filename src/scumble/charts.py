"""Line charts with confidence bands and bars with intervals, described as plain data and drawn as SVG or PNG.

The same data always gives the same file. matplotlib is slow to import, so only the functions that draw import it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
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
TITLE_WIDTH = 80
LONGEST_LABELS = 80
"""Labels of bars with more characters together are turned."""


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


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A labelled value, optionally with the ends of its interval. `series` is the part of the legend it belongs to."""

    label: str
    series: str
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, kw_only=True)
class BarChart:
    """Bars side by side: one place for each label, one colour for each series."""

    title: str
    y_label: str
    bars: tuple[Bar, ...]
    note: str = ""


def write_bars(chart: BarChart, path: Path) -> None:
    """Draw bars with their intervals into a file; its ending, .svg or .png, decides the format."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    labels = list(dict.fromkeys(bar.label for bar in chart.bars))
    series = list(dict.fromkeys(bar.series for bar in chart.bars))
    vector = path.suffix == ".svg"
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "scumble", "font.size": 9}):
        width = max(SINGLE_WIDTH, 0.25 * len(labels) * (len(series) + 1))
        figure = Figure(figsize=(min(width, 40.0), HEIGHT + 0.9), layout="constrained")
        (FigureCanvasSVG if vector else FigureCanvasAgg)(figure)
        axes = figure.subplots()
        each = 0.8 / len(series)
        for place, name in enumerate(series):
            bars = [bar for bar in chart.bars if bar.series == name]
            xs = [labels.index(bar.label) + (place - (len(series) - 1) / 2) * each for bar in bars]
            axes.bar(xs, [bar.value for bar in bars], each * 0.9, color=COLOURS[place % len(COLOURS)])
            for x, bar in zip(xs, bars, strict=True):
                if bar.low is not None and bar.high is not None:
                    axes.plot([x, x], [bar.low, bar.high], color="#333333", linewidth=1.2)
        turned = 90 if max((len(label) for label in labels), default=0) * len(labels) > LONGEST_LABELS else 0
        axes.set_xticks(range(len(labels)), labels, rotation=turned, parse_math=False)
        axes.set_ylabel(chart.y_label, parse_math=False)
        axes.grid(alpha=0.25, axis="y")
        axes.spines[["top", "right"]].set_visible(False)
        figure.suptitle(fill(chart.title, TITLE_WIDTH), fontweight="bold", parse_math=False)
        patches = [Patch(color=COLOURS[place % len(COLOURS)]) for place in range(len(series))]
        legend = figure.legend(
            patches,
            series,
            loc="outside lower center",
            ncols=min(len(series), 5),
            frameon=False,
            title=chart.note or None,
            title_fontsize=8,
        )
        for text in legend.get_texts():
            text.set_parse_math(False)
        kind = {"format": "svg", "metadata": {"Date": None, "Creator": "scumble"}} if vector else {"format": "png"}
        figure.savefig(path, **kind)


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
