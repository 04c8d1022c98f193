"""Writes charts as files: the paper, the title, the panels, one legend for all of them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from scumble.charts.bars import draw_bar_chart, draw_bar_panel, is_lying
from scumble.charts.description import BarChart, BarPanel, Chart
from scumble.charts.lines import draw_lines
from scumble.charts.looks import looks_of, reference_looks_of
from scumble.installation import needing
from scumble.picture_style import SETTINGS

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

WIDTH, HEIGHT = 4.2, 3.3
SINGLE_WIDTH = 6.0
LONGEST_SIDE = 40.0
MOST_COLUMNS = 3
TITLE_WIDTH = 13
"""Characters of the title for each inch of width."""
LEGEND_WIDTH = 11.0
"""Characters of the legend's labels for each inch of width."""


def write_svg(chart: Chart, path: Path) -> None:
    """Draw a chart into a file; its ending, .svg or .png, decides the format."""
    columns = 2 if len(chart.panels) == 4 else min(len(chart.panels), MOST_COLUMNS)
    lines = -(-len(chart.panels) // columns)
    width = WIDTH * columns if columns > 1 else SINGLE_WIDTH
    looks, references = looks_of(chart.labels()), reference_looks_of(chart.reference_labels())
    with _figure(path, width, HEIGHT * lines + 0.9) as figure:
        handles: dict[str, Artist] = {}
        every = list(figure.subplots(lines, columns, squeeze=False).ravel())
        for axes, panel in zip(every, chart.panels, strict=False):
            if isinstance(panel, BarPanel):
                handles |= draw_bar_panel(axes, panel, looks)
            else:
                handles |= draw_lines(axes, panel, looks, references)
        for axes in every[len(chart.panels) :]:
            axes.set_axis_off()
        ordered = {label: handles[label] for label in (*looks, *references)}
        _title_and_legend(figure, chart.title, ordered, chart.note)


def write_bars(chart: BarChart, path: Path) -> None:
    """Draw bars with their intervals into a file; its ending, .svg or .png, decides the format."""
    looks = looks_of(chart.series())
    length = 0.22 * len(chart.labels()) * (len(looks) + 1)
    if is_lying(chart):
        width, height = SINGLE_WIDTH, max(HEIGHT, length) + 0.9
    else:
        width, height = max(SINGLE_WIDTH, length), HEIGHT + 0.9
    with _figure(path, width, height) as figure:
        _title_and_legend(figure, chart.title, draw_bar_chart(figure.subplots(), chart, looks), chart.note)


@contextmanager
def _figure(path: Path, width: float, height: float) -> Iterator["Figure"]:
    """An empty figure, which is written into the file at the end."""
    with needing("charts"):
        import matplotlib as mpl
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure

    vector = path.suffix != ".png"
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(min(width, LONGEST_SIDE), min(height, LONGEST_SIDE)), layout="constrained")
        (FigureCanvasSVG if vector else FigureCanvasAgg)(figure)
        yield figure
        kind: dict[str, Any] = {"format": "png"}
        if vector:
            kind = {"format": "svg", "metadata": {"Date": None, "Creator": "scumble"}}
        figure.savefig(path, **kind)


def _title_and_legend(figure: "Figure", title: str, handles: Mapping[str, "Artist"], note: str) -> None:
    width = figure.get_figwidth()
    figure.suptitle(fill(title, int(TITLE_WIDTH * width)), fontweight="bold", parse_math=False)
    longest = max((len(label) for label in handles), default=0) + 6  # six characters for the line before it
    legend = figure.legend(
        list(handles.values()),
        list(handles),
        loc="outside lower center",
        ncols=max(1, min(len(handles), int(LEGEND_WIDTH * width / longest))),
        frameon=False,
        title=note or None,
        title_fontsize=8,
        handlelength=3.0,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
