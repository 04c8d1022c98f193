"""The two pages of a release folder: report.html for the owner and the receiver, README.md for the miner.

What stands on them is read off the release, all of which is public or paid for, and off the ledger's receipt. This
module turns that into numbers; the templates beside it hold the sentences and draw bars as SVG in percentages.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache
from typing import NamedTuple

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from scumble.model.budget import budget_text
from scumble.model.counts import Integers
from scumble.model.guarantee import Unit
from scumble.model.plan import Spend
from scumble.model.release import Release
from scumble.model.rounding import Rounding
from scumble.model.schema import Attribute
from scumble.model.taxonomy import Grid

LARGEST_CELLS = 12
COLOURS = 5
"""So many classes have a colour of their own in the plot; any more share one."""
LISTED_CLASSES = 24
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
    guarantee = release.plan.guarantee
    page = _environment().get_template("report.html")
    return page.render(
        release=release,
        guarantee=guarantee,
        replace=guarantee.unit is Unit.REPLACE,
        attributes=[_published(attribute) for attribute in _columns(release)],
        beliefs=[_belief(guarantee.epsilon, suspicion) for suspicion in SUSPICIONS],
        yardsticks=[(epsilon, _belief(epsilon, 0.5)) for epsilon in YARDSTICKS],
        factor=_factor(guarantee.epsilon),
        spends=list(_spends(release)),
        receipt=receipt,
        account=_belief(Fraction(receipt["spent"]), 0.5) if "spent" in receipt else None,
        totals=_totals(release),
        plot=_largest_cells(release),
        noise=_noise(release),
        rounding=ROUNDINGS[release.rounding],
    )


def miners_page(release: Release, recommended: str) -> str:
    """The README for the receiver who mines the table; its code runs in the folder as it stands."""
    attributes = [_published(attribute) for attribute in _columns(release)]
    predictors = attributes[: len(release.schema.predictors)]
    page = _environment().get_template("README.md")
    return page.render(
        release=release,
        recommended=recommended,
        target=release.schema.target,
        attributes=attributes,
        shown=next((each for each in predictors if each.size > 1), predictors[0]),
        trainable=release.schema.target is not None and bool(release.count.any()),
        deviation=math.sqrt(release.variance),
        rounding=ROUNDINGS[release.rounding],
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("scumble.files", "templates"),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "budget": budget_text,
        "percent": percent,
        "place": lambda share: f"{100 * share:.3f}%",
        "whole": whole,
        "significant": significant,
        "code": markdown_code,
        "plain": markdown_text,
        "python": lambda text: json.dumps(text, ensure_ascii=False),
    }
    return environment


def percent(share: float) -> str:
    """A share that is never rounded to nothing or to all.

    >>> [percent(share).replace(chr(160), " ") for share in (0.7311, 0.5, 1e-9, 0.99999, 1.0)]
    ['73.1 %', '50 %', '< 0.1 %', '> 99.9 %', '100 %']
    """
    if 0 < share < 0.0005:
        return "<\N{NO-BREAK SPACE}0.1\N{NO-BREAK SPACE}%"
    if 0.9995 <= share < 1:
        return ">\N{NO-BREAK SPACE}99.9\N{NO-BREAK SPACE}%"
    return f"{100 * share:.1f}".removesuffix(".0") + "\N{NO-BREAK SPACE}%"


def whole(number: float) -> str:
    """A number without its fraction.

    >>> whole(45086.43), whole(-1234), whole(-0.2)
    ('45,086', '−1,234', '0')
    """
    return f"{round(number):,}".replace("-", "\N{MINUS SIGN}")


def significant(number: float) -> str:
    """A positive number to three digits, more where its whole part has more.

    >>> significant(2.7992), significant(56.567), significant(12345.6), significant(0.0)
    ('2.80', '56.6', '12,346', '0')
    """
    digits = max(0, 2 - math.floor(math.log10(number))) if number else 0
    return f"{number:,.{digits}f}"


def markdown_code(text: str) -> str:
    """A code span that holds any text, backticks and line ends included.

    >>> markdown_code("age"), markdown_code("a`b")
    ('`age`', '``a`b``')
    """
    line = " ".join(text.split()) or " "
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", line)), default=0))
    space = " " if line[0] == "`" or line[-1] == "`" else ""
    return f"{fence}{space}{line}{space}{fence}"


def markdown_text(text: str) -> str:
    """Text in which no character means anything to Markdown or HTML."""
    return re.sub(r"([\\`*_\[\]<>#|~&])", r"\\\1", " ".join(text.split()))


class _Belief(NamedTuple):
    """A suspicion, and how far it can move at the worst on seeing the release."""

    before: float
    lowest: float
    highest: float


def _belief(epsilon: Fraction, suspicion: float) -> _Belief:
    """Bayes' rule with a likelihood ratio between e^-eps and e^eps, written with e^-eps, which cannot overflow."""
    shrink, doubt = math.exp(-float(epsilon)), 1 - suspicion
    lowest = suspicion * shrink / (suspicion * shrink + doubt)
    return _Belief(before=suspicion, lowest=lowest, highest=suspicion / (suspicion + doubt * shrink))


def _factor(epsilon: Fraction) -> str:
    """e^eps, by its power of ten where it is huge."""
    power = float(epsilon) / math.log(10)
    return significant(math.exp(float(epsilon))) if power < 6 else f"10^{math.floor(power)}"


class _SpendPart(NamedTuple):
    spend: Spend
    total: Fraction
    start: float
    share: float


def _spends(release: Release) -> Iterator[_SpendPart]:
    """Each spend with its place in the bar of the whole budget."""
    guarantee, start = release.plan.guarantee, Fraction(0)
    for spend in release.plan.spends:
        total = spend.total(guarantee.unit)
        yield _SpendPart(spend, total, float(start / guarantee.epsilon), float(total / guarantee.epsilon))
        start += total


class _Published(NamedTuple):
    """An attribute as it is published: its first values, each with the number of raw values it stands for."""

    name: str
    numeric: bool
    size: int
    values: list[tuple[str, int]]
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
        values=list(zip(labels, covered, strict=True)),
        missing=None if missing is None else _label(attribute, missing),
    )


class _Total(NamedTuple):
    """A total of signed measurements, the half-width of its 95 % noise interval, and the published rows beside it."""

    name: str
    measured: float
    either_side: float
    published: int


def _totals(release: Release) -> list[_Total]:
    """One line for each of the largest classes in the schema's order, and one for all of them at the end."""
    cells, classes = release.count.shape
    measured, published = release.measured.sum(axis=0) / release.resolution, release.count.sum(axis=0)
    one, every = (DEVIATIONS_95 * math.sqrt(release.variance * entries) for entries in (cells, cells * classes))
    return [
        *(
            _Total(release.schema.classes[k], float(measured[k]), one, int(published[k]))
            for k in np.sort(_largest(published, LISTED_CLASSES))
        ),
        _Total("", float(measured.sum()), every, int(published.sum())),
    ]


class _CellBar(NamedTuple):
    """A cell of the plot; everything horizontal is a share of the longest bar."""

    values: list[tuple[str, str]]
    size: int
    counts: list[int]
    starts: list[float]
    widths: list[float]
    whisker: tuple[float, float]


class _CellPlot(NamedTuple):
    classes: list[str]
    """By colour; the last may stand for all others together."""
    bars: list[_CellBar]
    either_side: float
    left_out: int
    """How many more cells have rows."""


def _largest_cells(release: Release) -> _CellPlot:
    """The largest cells: bars of published counts, and whiskers two standard deviations around the measured value."""
    sizes = release.count.sum(axis=1)
    cells = _largest(sizes, LARGEST_CELLS)
    cells = cells[sizes[cells] > 0]
    either_side = 2 * math.sqrt(release.variance * release.count.shape[1])
    measured = release.measured[cells].sum(axis=1) / release.resolution
    longest = float(max([1, *sizes[cells], *(measured + either_side)]))
    classes, counts = _by_colour(release, cells)
    ends = np.cumsum(counts, axis=1)
    predictors = release.schema.predictors
    digits = np.unravel_index(cells, [attribute.domain.size for attribute in predictors])
    bars = [
        _CellBar(
            values=[
                (attribute.name, _label(attribute, int(digit[row])))
                for attribute, digit in zip(predictors, digits, strict=True)
                if attribute.domain.size > 1
            ],
            size=int(sizes[cell]),
            counts=counts[row].tolist(),
            starts=((ends[row] - counts[row]) / longest).tolist(),
            widths=(counts[row] / longest).tolist(),
            whisker=(
                max(0.0, float(measured[row] - either_side) / longest),
                max(0.0, float(measured[row] + either_side) / longest),
            ),
        )
        for row, cell in enumerate(cells)
    ]
    return _CellPlot(classes, bars, either_side, int(np.count_nonzero(sizes)) - len(bars))


def _largest(sizes: Integers, number: int) -> Integers:
    """The places of the largest entries, largest first, equal ones in order of place."""
    places = np.arange(len(sizes))
    if len(sizes) > number:
        least = np.partition(sizes, len(sizes) - number)[len(sizes) - number]
        above, equal = np.flatnonzero(sizes > least), np.flatnonzero(sizes == least)
        places = np.concatenate([above, equal[: number - len(above)]])
    return places[np.argsort(-sizes[places], kind="stable")]


def _by_colour(release: Release, cells: Integers) -> tuple[list[str], Integers]:
    """The counts of some cells by colour: the largest classes in the schema's order, then all others together."""
    classes, counts = release.schema.classes, release.count[cells]
    if len(classes) <= COLOURS + 1:
        return list(classes), counts
    own = np.sort(_largest(release.count.sum(axis=0), COLOURS))
    others = counts.sum(axis=1) - counts[:, own].sum(axis=1)
    names = [classes[k] for k in own] + [f"{len(classes) - COLOURS} other classes"]
    return names, np.column_stack([counts[:, own], others])


class _Band(NamedTuple):
    """Cells of similar size: their share of all cells, and of all published rows."""

    name: str
    cells: float
    rows: float


class _Noise(NamedTuple):
    entry: float
    """Standard deviation of the noise in one (cell, class) entry, and in a cell with all its classes."""
    cell: float
    clear: _Band
    """The cells above two standard deviations."""
    bands: list[_Band]


def _noise(release: Release) -> _Noise:
    sizes = release.count.sum(axis=1)
    deviation = math.sqrt(release.variance * release.count.shape[1])
    band = np.searchsorted(np.array(BANDS) * deviation, sizes, side="left")
    cells = np.bincount(band, minlength=len(BANDS) + 1) / max(1, len(sizes))
    rows = np.bincount(band, weights=sizes, minlength=len(BANDS) + 1) / max(1, int(sizes.sum()))
    pairs = zip(BANDS, BANDS[1:], strict=False)
    names = ["empty", *(f"{low} to {high}" if low else f"below {high}" for low, high in pairs), f"above {BANDS[-1]}"]
    clear = BANDS.index(2) + 1
    return _Noise(
        entry=math.sqrt(release.variance),
        cell=deviation,
        clear=_Band("clear", float(cells[clear:].sum()), float(rows[clear:].sum())),
        bands=[_Band(*each) for each in zip(names, cells.tolist(), rows.tolist(), strict=True)],
    )
