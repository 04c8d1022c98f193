"""How costs grow: with rows, attributes, rounds and cells. Points for the curves of the page, and the curves."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from scumble.charts import Chart, Panel, Point, Series, write_svg

Curves = Mapping[str, Sequence[tuple[float, float]]]
"""By the name of a line its points."""


def draw(path: Path, rows: Curves, attributes: Curves, rounds: Curves, cells: Curves) -> None:
    """Four panels: CPU seconds of a release by rows, attributes and rounds, milliseconds of a round by cells."""
    panels = (
        _panel("Rows", "million rows", "CPU seconds", rows, logarithmic=True),
        _panel("Attributes", "attributes", "CPU seconds", attributes),
        _panel("Rounds", "rounds", "CPU seconds", rounds),
        _panel("Cells of a round", "cells", "CPU milliseconds", cells, logarithmic=True),
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_svg(Chart(title="What grows with what", panels=tuple(panel for panel in panels if panel.series)), path)


def _panel(title: str, x_label: str, y_label: str, curves: Curves, *, logarithmic: bool = False) -> Panel:
    series = tuple(
        Series(label=label, points=tuple(Point(x=x, y=y) for x, y in points))
        for label, points in curves.items()
        if len(points) > 1
    )
    return Panel(title=title, x_label=x_label, y_label=y_label, series=series, logarithmic=logarithmic, from_zero=True)
