"""The two pages of a release folder: report.html for the owner and the receiver, README.md for the miner.

What stands on them is read off the release, all of which is public or paid for, and off the ledger's receipt. This
module makes the numbers and the bars; the templates beside it hold the sentences.
"""

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup, escape

from scumble.files.page_text import environment, percent, significant, whole
from scumble.model.counts import Integers
from scumble.model.guarantee import LocalDP, PureDP, Unit
from scumble.model.plan import Spend
from scumble.model.release import BlurredRelease, CellRelease, RecordRelease, Release
from scumble.model.rounding import Rounding
from scumble.model.schema import Attribute
from scumble.model.taxonomy import Grid

LARGEST_CELLS = 12
COLOURS = 5
"""So many classes have a colour of their own in the plot; any more share one."""
LISTED_VALUES = 120
SUSPICIONS = (0.01, 0.1, 0.5, 0.9)
YARDSTICKS = (Fraction(1, 10), Fraction(1), Fraction(3), Fraction(10))
DEVIATIONS_95 = 1.96
"""Standard deviations on either side that hold 95 % of a sum of many independent noises."""
BANDS = (0, 1, 2, 5, 10)
"""Sizes at which the noise plot divides the cells, in standard deviations of a cell's noise."""

ROUNDINGS: Mapping[Rounding, str] = {
    Rounding.PROJECT: "the nearest non-negative whole numbers that keep the measured total of each class; small cells "
    "come out a little high, large ones a little low",
    Rounding.NEAREST: "each measured value rounded to the nearest non-negative whole number; since nothing may fall "
    "below zero, empty cells gain rows on average and the table comes out too large",
}


def report_page(release: Release, receipt: Mapping[str, str]) -> str:
    """The report as one self-contained HTML file."""
    if isinstance(release, CellRelease):
        page, contents = "report.html", _cell_contents(release)
    elif isinstance(release, BlurredRelease):
        page, contents = "blurred.html", {"local": isinstance(release.plan.guarantee, LocalDP)}
    else:
        assert isinstance(release, RecordRelease)
        page, contents = "records.html", {"summaries": _summaries(release)}
    return (
        environment()
        .get_template(page)
        .render(
            release=release,
            receipt=receipt,
            attributes=[_published(attribute) for attribute in _columns(release)],
            **_promise(release, receipt),
            **contents,
        )
    )


def _promise(release: Release, receipt: Mapping[str, str]) -> dict[str, Any]:
    """What the page says about the guarantee and the budget."""
    guarantee = release.plan.guarantee
    epsilon = guarantee.epsilon if isinstance(guarantee, PureDP) else Fraction(0)
    return {
        "guarantee": guarantee,
        "private": isinstance(guarantee, PureDP),
        "epsilon": epsilon if epsilon else sum((s.total(release.plan.unit) for s in release.plan.spends), Fraction(0)),
        "replace": release.plan.unit is Unit.REPLACE,
        "even": _belief(epsilon, 0.5),
        "beliefs": [_belief(epsilon, suspicion) for suspicion in SUSPICIONS],
        "yardsticks": [(each, _belief(each, 0.5)) for each in YARDSTICKS],
        "factor": _factor(epsilon),
        "spends": list(_spends(release)),
        "account": _belief(Fraction(receipt["spent"]), 0.5) if "spent" in receipt else None,
    }


def _cell_contents(release: CellRelease) -> dict[str, Any]:
    sizes = release.count.sum(axis=1)
    return {
        "totals": _totals(release),
        "plot": _largest_cells(release, sizes),
        "bands": _bands(release, sizes),
        "deviation": math.sqrt(release.variance),
        "cell_deviation": _cell_deviation(release),
        "rounding": ROUNDINGS[release.rounding],
    }


def _summaries(release: RecordRelease) -> dict[str, tuple[float, float]]:
    """Mean and standard deviation of the published numbers."""
    grids = [each.name for each in release.schema.attributes if isinstance(each.domain, Grid)]
    numbers = {name: release.columns[name].astype(np.float64) for name in grids if release.records}
    return {name: (float(column.mean()), float(column.std())) for name, column in numbers.items()}


def miners_page(release: Release, recommended: str) -> str:
    """The README for the receiver who mines the table; its code runs in the folder as it stands."""
    private = isinstance(release.plan.guarantee, PureDP)
    if isinstance(release, BlurredRelease):
        local = isinstance(release.plan.guarantee, LocalDP)
        return environment().get_template("blurred.md").render(release=release, local=local)
    if not isinstance(release, CellRelease):
        return environment().get_template("records.md").render(release=release, private=private)
    attributes = [_published(attribute) for attribute in _columns(release)]
    predictors = attributes[: len(release.schema.predictors)]
    return (
        environment()
        .get_template("README.md")
        .render(
            release=release,
            recommended=recommended,
            target=release.schema.target,
            attributes=attributes,
            shown=next((each for each in predictors if each.size > 1), predictors[0]),
            trainable=release.schema.target is not None and bool(release.count.any()),
            deviation=math.sqrt(release.variance),
            rounding=ROUNDINGS[release.rounding],
        )
    )


def _bar(label: str, *shapes: str) -> Markup:
    """A drawing as wide as the place it stands in, with no text in it. The label says the same in words."""
    return Markup(f'<svg role="img" aria-label="{escape(label)}">{"".join(shapes)}</svg>')


def _box(style: str, left: float, width: float, *, top: int = 0, height: int = 14) -> str:
    """A rectangle: across in shares of the drawing's width, down in pixels."""
    return f'<rect class="{style}" x="{100 * left:.3f}%" width="{100 * width:.3f}%" y="{top}" height="{height}"/>'


def _line(left: float, right: float, *, top: int, bottom: int) -> str:
    return f'<line x1="{100 * left:.3f}%" x2="{100 * right:.3f}%" y1="{top}" y2="{bottom}"/>'


class _Belief(NamedTuple):
    """A suspicion, and how far it can move at the worst on seeing the release."""

    before: float
    lowest: float
    highest: float

    @property
    def bar(self) -> Markup:
        return _bar(
            f"From {percent(self.before)} down to {percent(self.lowest)} or up to {percent(self.highest)}",
            _box("rail", 0, 1, top=6, height=2),
            _box("range", self.lowest, self.highest - self.lowest, top=3, height=8),
            _line(self.before, self.before, top=0, bottom=14),
        )


def _belief(epsilon: Fraction, suspicion: float) -> _Belief:
    """Bayes' rule with a likelihood ratio between e^-eps and e^eps, written with e^-eps, which cannot overflow."""
    shrink, doubt = math.exp(-float(epsilon)), 1 - suspicion
    lowest = suspicion * shrink / (suspicion * shrink + doubt)
    return _Belief(before=suspicion, lowest=lowest, highest=suspicion / (suspicion + doubt * shrink))


def _factor(epsilon: Fraction) -> str:
    """e^eps, by its power of ten where it is huge."""
    power = float(epsilon) / math.log(10)
    return significant(math.exp(float(epsilon))) if power < 6 else f"10^{math.floor(power)}"


class _Share(NamedTuple):
    """A spend's part of the whole budget."""

    spend: Spend
    total: Fraction
    share: float
    box: Markup


def _spends(release: Release) -> Iterator[_Share]:
    unit, start = release.plan.unit, 0.0
    whole_budget = sum((spend.total(unit) for spend in release.plan.spends), Fraction(0))
    for place, spend in enumerate(release.plan.spends):
        total = spend.total(unit)
        share = float(total / whole_budget)
        yield _Share(spend, total, share, Markup(_box(f"t{place % 6}", start, share, height=26)))
        start += share


class _Published(NamedTuple):
    """An attribute as it is published: its first values, each with the number of raw values it stands for."""

    name: str
    numeric: bool
    size: int
    labels: list[tuple[str, int]]
    range: str | None
    """The whole range of a numeric attribute."""
    missing: str | None
    """The published value under which missing ones are found, where the schema knows missing values."""


def _columns(release: Release) -> Iterator[Attribute]:
    """The attributes in the order of counts.csv: predictors, then the target."""
    yield from release.schema.predictors
    if release.schema.target is not None:
        yield release.schema[release.schema.target]


def _label(attribute: Attribute, code: int) -> str:
    domain = attribute.domain
    return domain.interval(code, code + 1).label if isinstance(domain, Grid) else domain.labels[code]


def _published(attribute: Attribute) -> _Published:
    domain, missing = attribute.domain, attribute.missing_code
    labels = [_label(attribute, code) for code in range(min(domain.size, LISTED_VALUES))]
    covered = [1] * len(labels)
    if not isinstance(domain, Grid) and domain.origin is not None:
        nodes = [domain.origin.node(label) for label in labels]
        covered = [node.high - node.low for node in nodes]
    return _Published(
        name=attribute.name,
        numeric=isinstance(domain, Grid),
        size=domain.size,
        labels=list(zip(labels, covered, strict=True)),
        range=domain.root.label if isinstance(domain, Grid) else None,
        missing=None if missing is None else _label(attribute, missing),
    )


class _Total(NamedTuple):
    """A total of signed measurements, the half-width of its 95 % noise interval, and the published rows beside it."""

    name: str
    measured: float
    either_side: float
    published: int


def _totals(release: CellRelease) -> list[_Total]:
    """One line for each class, and one for all of them where there are several."""
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
    """What sets it apart from the other cells of the plot: attributes and their published values."""
    size: int
    bar: Markup


class _Cells(NamedTuple):
    classes: list[str]
    """By colour; the last may stand for all others together."""
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
            boxes.append(_box(f"c{colour}", end / longest, count / longest))
            end += count
        low, high = (max(0.0, (measured[row] + side) / longest) for side in (-either_side, either_side))
        whisker = [_line(low, high, top=7, bottom=7), *(_line(tip, tip, top=3, bottom=11) for tip in (low, high))]
        label = ", ".join(f"{name} {whole(count)}" for name, count in zip(classes, counts[row], strict=True))
        cells.append(_Cell(apart[row], size, _bar(label, *boxes, *whisker)))
    return _Cells(classes, common, cells, int(np.count_nonzero(sizes)) - len(cells))


def _values(release: CellRelease, places: Integers) -> tuple[list[tuple[str, str]], list[list[tuple[str, str]]]]:
    """The attributes and values that some cells have in common, and for each cell those that set it apart."""
    predictors = release.schema.predictors
    digits = np.unravel_index(places, [attribute.domain.size for attribute in predictors])
    common: list[tuple[str, str]] = []
    apart: list[list[tuple[str, str]]] = [[] for _ in places]
    for attribute, codes in zip(predictors, digits, strict=True):
        pairs = [(attribute.name, _label(attribute, code)) for code in codes.tolist()]
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
    """The counts of some cells by colour: the largest classes in the schema's order, then all others together."""
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
        return _bar(label, _box("t2", 0, self.cells, height=6), _box("t0", 0, self.rows, top=8, height=6))


def _bands(release: CellRelease, sizes: Integers) -> list[_Band]:
    band = np.searchsorted(np.array(BANDS) * _cell_deviation(release), sizes, side="left")
    cells = np.bincount(band, minlength=len(BANDS) + 1) / max(1, len(sizes))
    rows = np.bincount(band, weights=sizes, minlength=len(BANDS) + 1) / max(1, int(sizes.sum()))
    between = [f"{low} to {high}" if low else f"up to {high}" for low, high in pairwise(BANDS)]
    names = ["empty", *between, f"above {BANDS[-1]}"]
    clear = [above >= 2 for above in (0, *BANDS)]
    return [_Band(*each) for each in zip(names, clear, cells.tolist(), rows.tolist(), strict=True)]


def _cell_deviation(release: CellRelease) -> float:
    """The standard deviation of the noise in a cell with all its classes."""
    return math.sqrt(release.variance * release.count.shape[1])
