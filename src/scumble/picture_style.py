"""One style for everything that is drawn: the paper, ink and lines of the report, and colours for series.

`files/report/templates/style.css` has the same paper, ink and lines; a test compares them. A picture keeps its light
paper on a dark page, so that it looks alike everywhere and in print.
"""

from typing import Any

PAPER, INK, SOFT, LINE = "#fdfcfa", "#23272b", "#5d656d", "#dfdbd2"
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D31")
"""Okabe and Ito's palette, readable with red-green colour blindness. In print, series differ by their markers."""

SETTINGS: dict[Any, Any] = {
    # Text stays text, so that it can be searched and read by screen readers; element ids are the same in every run.
    "svg.fonttype": "none",
    "svg.hashsalt": "scumble",
    "font.size": 9,
    "figure.facecolor": PAPER,
    "savefig.facecolor": PAPER,
    "axes.facecolor": PAPER,
    "axes.edgecolor": SOFT,
    "axes.labelcolor": SOFT,
    "axes.titlecolor": INK,
    "text.color": INK,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "grid.color": LINE,
    "grid.linewidth": 0.8,
    "axes.axisbelow": True,
}
"""Settings of matplotlib for every picture."""
