"""The report on published cells: totals, the largest cells, and the size of the noise compared with them."""

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup

from scumble.files.report.attributes import label_of
from scumble.files.report.svg import box, drawing, line
from scumble.files.report.text import percent, whole
from scumble.model.counts import Integers, digits_of
from scumble.model.release import CellRelease
from scumble.model.rounding import Rounding

LARGEST_CELLS = 12
COLOURS = 5
"""The number of classes that get their own colour in the plot; all others share one."""
DEVIATIONS_95 = 1.96
"""Half the width, in standard deviations, of an interval with 95 % of the distribution of a sum of many independent
noise terms."""
BANDS = (0, 1, 2, 5, 10)
"""The bounds of the bands of cell sizes in the noise plot, in standard deviations of a cell's noise."""

ROUNDINGS: Mapping[Rounding, str] = {
    Rounding.PROJECT: "the nearest non-negative whole numbers with the measured total of each class. On average, small "
    "cells are slightly too high and large ones slightly too low",
    Rounding.NEAREST: "each measured value rounded to the nearest non-negative whole number. Because negative values "
    "become zero, empty cells gain rows on average and the total is too large",
}


def cell_contents(release: CellRelease) -> dict[str, Any]:
    """The variables of the report's template that describe the cells."""
    sizes = release.count.sum(axis=1)
    return {
        "totals": _totals(release),
        "plot": _largest_cells(release, sizes),
        "bands": _bands(release, sizes),
        "deviation": math.sqrt(release.variance),
        "cell_deviation": _cell_deviation(release),
        "rounding": ROUNDINGS[release.rounding],
    }


class _Total(NamedTuple):
    """A total of signed measurements, half the width of its 95 % noise interval, and the number of published rows."""

    name: str
    measured: float
    either_side: float
    published: int


def _totals(release: CellRelease) -> list[_Total]:
    """One line for each class, and one for their sum if there are several."""
    cells, classes = release.count.shape
    measured, published = release.measured.sum(axis=0) / release.resolution, release.count.sum(axis=0)
    one, every = (DEVIATIONS_95 * math.sqrt(release.variance * entries) for entries in (cells, cells * classes))
    lines = [_Total(_class_name(release, k), float(measured[k]), one, int(published[k])) for k in range(classes)]
    if classes > 1:
        lines.append(_Total("all classes", float(measured.sum()), every, int(published.sum())))
    return lines


def _class_name(release: CellRelease, place: int) -> str:
    return "all rows" if release.schema.target is None else release.schema.classes[place] or "(no name)"


class _Cell(NamedTuple):
    values: list[tuple[str, str]]
    """The attributes, with their published values, in which it differs from other cells of the plot."""
    size: int
    bar: Markup


class _Cells(NamedTuple):
    classes: list[str]
    """By colour; the last one may combine all other classes."""
    common: list[tuple[str, str]]
    cells: list[_Cell]
    left_out: int
    """How many more cells have rows."""


def _largest_cells(release: CellRelease, sizes: Integers) -> _Cells:
    """The largest cells: bars of published counts, and whiskers two standard deviations around the measured size."""
    places = _largest(sizes, LARGEST_CELLS)
    places = places[sizes[places] > 0]
    either_side = 2 * _cell_deviation(release)
    measured = release.measured[places].sum(axis=1) / release.resolution
    longest = float(max([1, *sizes[places], *(measured + either_side)]))
    classes, counts = _by_colour(release, places)
    common, apart = _values(release, places)
    cells = []
    for row, size in enumerate(sizes[places].tolist()):
        end, boxes = 0, []
        for colour, count in enumerate(counts[row].tolist()):
            boxes.append(box(f"c{colour}", end / longest, count / longest))
            end += count
        low, high = (max(0.0, (measured[row] + side) / longest) for side in (-either_side, either_side))
        whisker = [line(low, high, top=7, bottom=7), *(line(tip, tip, top=3, bottom=11) for tip in (low, high))]
        label = ", ".join(f"{name} {whole(count)}" for name, count in zip(classes, counts[row], strict=True))
        cells.append(_Cell(apart[row], size, drawing(label, *boxes, *whisker)))
    return _Cells(classes, common, cells, int(np.count_nonzero(sizes)) - len(cells))


def _values(release: CellRelease, places: Integers) -> tuple[list[tuple[str, str]], list[list[tuple[str, str]]]]:
    """The attributes and values that all of these cells share, and those in which each cell differs."""
    predictors = release.schema.predictors
    digits = digits_of(places, [attribute.domain.size for attribute in predictors])
    common: list[tuple[str, str]] = []
    apart: list[list[tuple[str, str]]] = [[] for _ in places]
    for attribute, codes in zip(predictors, digits, strict=True):
        pairs = [(attribute.name, label_of(attribute, code)) for code in codes.tolist()]
        if len(set(pairs)) > 1:
            for values, pair in zip(apart, pairs, strict=True):
                values.append(pair)
        elif attribute.domain.size > 1:
            common += pairs[:1]
    return common, apart


def _largest(sizes: Integers, number: int) -> Integers:
    """The places of the largest counts, largest first, equal ones in order of place."""
    left, places = sizes.copy(), []
    for _ in range(min(number, len(sizes))):
        places.append(int(left.argmax()))
        left[places[-1]] = -1
    return np.array(places, dtype=np.int64)


def _by_colour(release: CellRelease, cells: Integers) -> tuple[list[str], Integers]:
    """The counts of some cells by colour: the largest classes in the order of the schema, then all others combined."""
    counts, classes = release.count[cells], release.count.shape[1]
    if classes <= COLOURS + 1:
        return [_class_name(release, k) for k in range(classes)], counts
    own = np.sort(_largest(release.count.sum(axis=0), COLOURS))
    others = counts.sum(axis=1) - counts[:, own].sum(axis=1)
    names = [_class_name(release, k) for k in own] + [f"{classes - COLOURS} other classes"]
    return names, np.column_stack([counts[:, own], others])


class _Band(NamedTuple):
    """Cells of similar size: their share of all cells, and of all published rows."""

    name: str
    clear: bool
    """Larger than two standard deviations of a cell's noise."""
    cells: float
    rows: float

    @property
    def bar(self) -> Markup:
        label = f"{percent(self.cells)} of the cells, {percent(self.rows)} of the rows"
        return drawing(label, box("t2", 0, self.cells, height=6), box("t0", 0, self.rows, top=8, height=6))


def _bands(release: CellRelease, sizes: Integers) -> list[_Band]:
    band = np.searchsorted(np.array(BANDS) * _cell_deviation(release), sizes, side="left")
    cells = np.bincount(band, minlength=len(BANDS) + 1) / max(1, len(sizes))
    rows = np.bincount(band, weights=sizes, minlength=len(BANDS) + 1) / max(1, int(sizes.sum()))
    between = [f"{low} to {high}" if low else f"up to {high}" for low, high in pairwise(BANDS)]
    names = ["empty", *between, f"above {BANDS[-1]}"]
    clear = [above >= 2 for above in (0, *BANDS)]
    return [_Band(*each) for each in zip(names, clear, cells.tolist(), rows.tolist(), strict=True)]


def _cell_deviation(release: CellRelease) -> float:
    """The standard deviation of the noise in the sum of all classes of a cell."""
    return math.sqrt(release.variance * release.count.shape[1])
