"""How series and reference lines differ: by colour, and again by marker, dash, hatch and width, for print.

Lines that lie on each other stay visible: an earlier one is wider, with larger markers, and surrounds the later ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from scumble.picture_style import COLOURS, SOFT

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
HATCHES = ("", "////", "....", "xxxx", "----", "++++", "oooo", "||||")
"""Patterns of bars: two colours that are equally dark look alike in print."""
REFERENCE_STYLES: tuple[tuple[int, tuple[int, ...]], ...] = (
    (0, (5, 2)),
    (0, (1, 2)),
    (0, (6, 2, 1, 2)),
    (0, (12, 3)),
    (0, (3, 1, 1, 1, 1, 1)),
)
"""Dashes of reference lines, in points: on and off."""
REFERENCE_COLOURS = (SOFT, "#AA4499", "#332288", "#8C6D31", "#000000")
WIDEST, NARROWEST = 2.2, 1.1
LARGEST, SMALLEST = 5.6, 3.6


@dataclass(frozen=True, kw_only=True)
class Look:
    """How a series is drawn. Sizes are in points."""

    place: int
    """Its place in the legend, from 0."""
    colour: str
    marker: str
    hatch: str
    line_width: float
    marker_size: float


@dataclass(frozen=True, kw_only=True)
class ReferenceLook:
    """How a reference line is drawn."""

    colour: str
    dashes: tuple[int, tuple[int, ...]]


def looks_of(labels: Sequence[str]) -> dict[str, Look]:
    """The look of each series, in the order of the legend."""

    def between(largest: float, smallest: float, place: int) -> float:
        return largest - (largest - smallest) * place / max(len(labels) - 1, 1)

    return {
        label: Look(
            place=place,
            colour=COLOURS[place % len(COLOURS)],
            marker=MARKERS[place % len(MARKERS)],
            hatch=HATCHES[place % len(HATCHES)],
            line_width=between(WIDEST, NARROWEST, place) if len(labels) > 1 else (WIDEST + NARROWEST) / 2,
            marker_size=between(LARGEST, SMALLEST, place) if len(labels) > 1 else (LARGEST + SMALLEST) / 2,
        )
        for place, label in enumerate(labels)
    }


def reference_looks_of(labels: Sequence[str]) -> dict[str, ReferenceLook]:
    """The look of each reference line: the same label has the same in every panel."""
    return {
        label: ReferenceLook(
            colour=REFERENCE_COLOURS[place % len(REFERENCE_COLOURS)],
            dashes=REFERENCE_STYLES[place % len(REFERENCE_STYLES)],
        )
        for place, label in enumerate(labels)
    }
