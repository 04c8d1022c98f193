"""Charts, described as plain data and drawn as SVG or PNG in one style.

The same data always gives the same file. matplotlib is slow to import, so only the functions that draw import it.
`description` has the data, `looks` colours, markers and dashes, `lines` and `bars` draw, `drawing` writes the files.
"""

from scumble.charts.description import Bar, BarChart, BarPanel, Chart, Panel, Point, ReferenceLine, Series
from scumble.charts.drawing import write_bars, write_svg
from scumble.charts.lines import is_cut

__all__ = [
    "Bar",
    "BarChart",
    "BarPanel",
    "Chart",
    "Panel",
    "Point",
    "ReferenceLine",
    "Series",
    "is_cut",
    "write_bars",
    "write_svg",
]
