"""Draws how costs grow with rows, attributes, rounds and cells."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from scumble.charts import Chart, Panel, Point, Series, write_svg

Curves = Mapping[str, Sequence[tuple[float, float]]]
"""The points of each line, by its label."""


def draw(path: Path, rows: Curves, attributes: Curves, rounds: Curves, cells: Curves) -> None:
    """Four panels: CPU seconds of a release over rows, attributes and rounds; milliseconds of a round over cells."""
    panels = (
        _panel("Rows", "million rows", "CPU seconds", rows, logarithmic=True),
        _panel("Attributes", "attributes", "CPU seconds", attributes),
        _panel("Rounds", "rounds", "CPU seconds", rounds),
        _panel("Cells of a round", "cells", "CPU milliseconds", cells, logarithmic=True),
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_svg(
        Chart(
            title="Cost of a release by rows, attributes, rounds and cells",
            panels=tuple(panel for panel in panels if panel.series),
        ),
        path,
    )


def _panel(title: str, x_label: str, y_label: str, curves: Curves, *, logarithmic: bool = False) -> Panel:
    series = tuple(
        Series(label=label, points=tuple(Point(x=x, y=y) for x, y in points))
        for label, points in curves.items()
        if len(points) > 1
    )
    return Panel(title=title, x_label=x_label, y_label=y_label, series=series, logarithmic=logarithmic, from_zero=True)
