"""Draws named bars: lying ones in a panel, and standing or lying ones with their intervals in a chart of bars."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from scumble.charts.description import Bar, BarChart, BarPanel
from scumble.charts.looks import Look
from scumble.picture_style import INK, PAPER

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

LONGEST_LABELS = 80
"""Labels of bars with more characters together stand beside horizontal bars."""
LONGEST_NAME = 24
"""Longer names of categories are cut."""


def draw_bar_panel(axes: "Axes", panel: BarPanel, looks: Mapping[str, Look]) -> dict[str, "Artist"]:
    """Draw named bars and return the legend handle of each label."""
    handles: dict[str, Artist] = {}
    each = 0.8 / len(panel.values)
    for number, (label, values) in enumerate(panel.values.items()):
        ys = [place + (number - (len(panel.values) - 1) / 2) * each for place in range(len(panel.names))]
        handles[label] = axes.barh(ys, list(values), each * 0.9, **_filling(looks[label])).patches[0]
    axes.set_yticks(range(len(panel.names)), [_cut(name) for name in panel.names], fontsize=7.5, parse_math=False)
    axes.invert_yaxis()
    axes.set_xlabel(panel.x_label)
    axes.set_title(panel.title, parse_math=False)
    axes.grid(axis="x")
    axes.spines[["top", "right"]].set_visible(False)
    return handles


def is_lying(chart: BarChart) -> bool:
    """Whether long names stand beside horizontal bars: turned by 90 degrees, they are hard to read."""
    labels = chart.labels()
    return max((len(label) for label in labels), default=0) * len(labels) > LONGEST_LABELS


def draw_bar_chart(axes: "Axes", chart: BarChart, looks: Mapping[str, Look]) -> dict[str, "Artist"]:
    """Draw a chart of bars and return the legend handle of each series."""
    labels, lying = chart.labels(), is_lying(chart)
    handles: dict[str, Artist] = {}
    each = 0.8 / len(looks)
    for name, look in looks.items():
        bars = [bar for bar in chart.bars if bar.series == name]
        at = [labels.index(bar.label) + (look.place - (len(looks) - 1) / 2) * each for bar in bars]
        draw = axes.barh if lying else axes.bar
        handles[name] = draw(at, [bar.value for bar in bars], each * 0.9, **_filling(look)).patches[0]
        _draw_intervals(axes, at, bars, lying=lying)
    if lying:
        axes.set_yticks(range(len(labels)), [_cut(label) for label in labels], parse_math=False)
        axes.invert_yaxis()
        axes.set_xlabel(chart.y_label, parse_math=False)
    else:
        axes.set_xticks(range(len(labels)), labels, parse_math=False)
        axes.set_ylabel(chart.y_label, parse_math=False)
    axes.grid(axis="x" if lying else "y")
    axes.spines[["top", "right"]].set_visible(False)
    return handles


def _filling(look: Look) -> dict[str, Any]:
    """The colour, and a pattern in the colour of the paper."""
    return {"color": look.colour, "hatch": look.hatch, "edgecolor": PAPER, "linewidth": 0}


def _draw_intervals(axes: "Axes", at: Sequence[float], bars: Sequence[Bar], *, lying: bool) -> None:
    """Error bars with caps, for the bars that have an interval."""
    known = [
        (place, bar.value, bar.low, bar.high)
        for place, bar in zip(at, bars, strict=True)
        if bar.low is not None and bar.high is not None
    ]
    if not known:
        return
    places, values = [each[0] for each in known], [each[1] for each in known]
    # An interval need not contain the value: rounding can move a count out of it.
    reach = [[max(v - low, 0.0) for _, v, low, _ in known], [max(high - v, 0.0) for _, v, _, high in known]]
    look: dict[str, Any] = {"fmt": "none", "ecolor": INK, "elinewidth": 1.1, "capsize": 2.5}
    if lying:
        axes.errorbar(values, places, xerr=reach, **look)
    else:
        axes.errorbar(places, values, yerr=reach, **look)


def _cut(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
