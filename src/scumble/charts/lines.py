"""Draws lines over numbers, with confidence intervals and reference lines, into one pair of axes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from textwrap import fill
from typing import TYPE_CHECKING

from scumble.charts.description import Panel, Point, Series
from scumble.charts.looks import LARGEST, Look, ReferenceLook

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.transforms import Transform

MOST_MARKERS = 40
"""A line of more points has no markers, which would cover it."""
MOST_WHISKERS = 20
"""Intervals of more points are a band, of fewer ones a vertical line each."""
LONGEST_LINE = 36
"""Characters of the y axis' label in a line: a longer one would be longer than the axis."""
MARGIN = 0.05
"""The room beside the first and the last point, as a share of the range of x."""
PEAK = 2.0
"""How many times higher than the series that leads another one may be."""
APART, SIDE_BY_SIDE = 2.0, 7.0
"""How far, in points, neighbouring series are moved apart, if they have intervals, and if x is an identifier."""


def draw_lines(
    axes: "Axes", panel: Panel, looks: Mapping[str, Look], references: Mapping[str, ReferenceLook]
) -> dict[str, "Artist"]:
    """Draw a panel and return the legend handle of each label."""
    handles: dict[str, Artist] = {}
    whiskers = any(point.low is not None for series in panel.series for point in series.points)
    for number, series in enumerate(panel.series):
        apart = SIDE_BY_SIDE if panel.numbered else APART if whiskers else 0.0
        moved = _moved(axes, apart * (number - (len(panel.series) - 1) / 2))
        look = looks[series.label]
        if panel.numbered:  # nothing lies on anything
            look = replace(look, line_width=0.0, marker_size=LARGEST)
        handles[series.label] = _draw_series(axes, series, look, moved, clipped=bool(panel.led_by))
    for line in panel.reference_lines:
        dashed = references[line.label]
        handles[line.label] = axes.axhline(
            line.y, color=dashed.colour, linestyle=dashed.dashes, linewidth=1.3, zorder=1.5
        )
    _set_x_axis(axes, panel)
    axes.set_ylim(window(panel))
    _write_cut_peaks(axes, panel, looks)
    axes.set(xlabel=panel.x_label, ylabel=fill(panel.y_label, LONGEST_LINE))
    axes.set_title(panel.title, parse_math=False)
    axes.grid(axis="y" if panel.numbered else "both")
    axes.spines[["top", "right"]].set_visible(False)
    return handles


def _set_x_axis(axes: "Axes", panel: Panel) -> None:
    """Scale, ticks and limits; lines that were moved apart do not set the limits themselves."""
    xs = sorted({point.x for series in panel.series for point in series.points})
    if panel.logarithmic:
        axes.set_xscale("log")
        axes.set_xticks(xs, [f"{x:g}" for x in xs])
        axes.minorticks_off()
    if panel.numbered:
        axes.set_xticks(xs)
    if not xs:
        return  # reference lines alone
    if panel.logarithmic:
        factor = (xs[-1] / xs[0]) ** MARGIN if len(xs) > 1 else 2.0
        axes.set_xlim(xs[0] / factor, xs[-1] * factor)
    else:
        margin = 0.5 if panel.numbered or len(xs) == 1 else MARGIN * (xs[-1] - xs[0])
        axes.set_xlim(xs[0] - margin, xs[-1] + margin)


def _moved(axes: "Axes", points: float) -> "Transform":
    """The coordinates of the axes, moved to the right by so many points."""
    from matplotlib.transforms import ScaledTranslation

    figure = axes.get_figure(root=True)
    assert figure is not None
    return axes.transData + ScaledTranslation(points / 72, 0, figure.dpi_scale_trans)


def _draw_series(axes: "Axes", series: Series, look: Look, moved: "Transform", *, clipped: bool) -> "Artist":
    points = sorted(series.points, key=lambda point: point.x)
    xs = [point.x for point in points]
    (handle,) = axes.plot(
        xs,
        [point.y for point in points],
        color=look.colour,
        marker=look.marker if len(points) <= MOST_MARKERS else None,
        markersize=look.marker_size,
        linewidth=look.line_width if series.joined else 0,
        transform=moved,
        zorder=2 + look.place / 100,
        clip_on=clipped,  # otherwise a marker at the end of the axis is whole
    )
    for point in points:
        if point.text:
            axes.annotate(
                point.text, (point.x, point.y), (6, 4), textcoords="offset points", fontsize=7.5, parse_math=False
            )
    known = [point for point in points if point.low is not None or point.high is not None]
    if len(points) > MOST_WHISKERS:
        ends = [_interval(point) for point in points]
        axes.fill_between(xs, [low for low, _ in ends], [high for _, high in ends], color=look.colour, alpha=0.15, lw=0)
    elif known:
        _draw_whiskers(axes, known, look, moved)
    return handle


def _draw_whiskers(axes: "Axes", points: Sequence[Point], look: Look, moved: "Transform") -> None:
    xs, ends = [point.x for point in points], [_interval(point) for point in points]
    lows, highs = [low for low, _ in ends], [high for _, high in ends]
    axes.vlines(xs, lows, highs, colors=look.colour, linewidth=0.9, transform=moved, zorder=1.8)
    for caps in (lows, highs):
        axes.plot(xs, caps, color=look.colour, marker="_", markersize=5, linewidth=0, transform=moved, zorder=1.8)


def _interval(point: Point) -> tuple[float, float]:
    return point.y if point.low is None else point.low, point.y if point.high is None else point.high


def window(panel: Panel) -> tuple[float, float]:
    """The range of the y axis: all lines in full, and intervals up to half the lines' span beyond them.

    The interval of a mean of two values is so wide that showing it in full would flatten the lines. So would the peaks
    of other series beside the one that leads, if they are more than twice as high.
    """
    leading = [series for series in panel.series if panel.led_by in ("", series.label)]
    middle = [point.y for series in leading for point in series.points]
    middle += [line.y for line in panel.reference_lines]
    highest = max(point.y for series in panel.series for point in series.points) if panel.led_by else max(middle)
    if highest <= PEAK * max(middle):
        leading = list(panel.series)
        middle += [point.y for series in leading for point in series.points]
    ends = [end for series in leading for point in series.points for end in _interval(point)]
    low, high = min(middle), max(middle)
    span = max(high - low, 1e-3 * max(abs(low), abs(high), 1e-9))
    bottom, top = max(min([low, *ends]), low - span / 2), min(max([high, *ends]), high + span / 2)
    top += high / 3 if highest > high else span / 20  # room for the words about a peak
    if panel.most is not None:
        top = min(top, max(panel.most, high))
    return 0.0 if panel.from_zero else bottom - span / 20, top


def is_cut(panel: Panel) -> bool:
    """Whether a peak of some series leaves the axes."""
    top = window(panel)[1]
    return bool(panel.led_by) and any(point.y > top for series in panel.series for point in series.points)


def _write_cut_peaks(axes: "Axes", panel: Panel, looks: Mapping[str, Look]) -> None:
    """Beside each peak that leaves the axes, in the colour of its series: how high it is."""
    top = axes.get_ylim()[1]
    for series in panel.series if panel.led_by else ():
        heights = [0.0, *(point.y for point in series.points), 0.0]
        for place, point in enumerate(series.points):
            if point.y > top and point.y == max(heights[place : place + 3]):
                left = point.x > sum(axes.get_xlim()) / 2
                axes.annotate(
                    f"↑ {point.y:.2g}",
                    (point.x, top),
                    (-4 if left else 4, -3),
                    textcoords="offset points",
                    ha="right" if left else "left",
                    va="top",
                    fontsize=7.5,
                    color=looks[series.label].colour,
                )
