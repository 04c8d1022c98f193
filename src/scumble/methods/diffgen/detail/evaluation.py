"""Evaluates log-odds models on many rows: models as flat arrays, for compiled loops.

Class probabilities, residuals and groups depend only on differences between the log-odds of classes. So a pass over the
records adds up log-odds *relative* to those of the first class: two classes need a single column.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from scumble.compiled import compiled
from scumble.methods.diffgen.detail.combinations import Axes, find_keys
from scumble.methods.diffgen.detail.groups import LogOdds, add_groups
from scumble.model.counts import Integers

if TYPE_CHECKING:
    from scumble.methods.diffgen.detail.terms import LogOddsModel

LOG_ODDS_UNIT = 1024
"""Log-odds are whole multiples of 1/1024."""
TILE = 2048
"""Rows that are evaluated term by term, so that their log-odds stay in the processor's first cache."""


class FlatModel(NamedTuple):
    """A log-odds model as flat arrays.

    The lines of all terms' shifts follow each other; `lines[i]` is the first line of term i. `edges[i]` of a term
    without groups has no kinds.
    """

    axes: Axes
    base: Integers
    shifts: npt.NDArray[np.int32]
    """Of shape (columns, lines). Columns are classes, or all classes but the first if they are relative to it."""
    lines: Integers
    bins: Integers
    """For each term, its number of combinations of bins."""
    start: Integers
    """The base for the groups of terms, relative to the first class."""
    measured: npt.NDArray[np.int32]
    """The shifts for the groups of terms, of shape (classes - 1, lines)."""
    edges: npt.NDArray[np.int32]
    """The edges of all terms' groups, of shape (terms, kinds, most edges)."""
    cuts: Integers
    """For each term, its number of edges; -1 if it has no groups."""
    last: int
    """The last term with groups. Further terms need no measured log-odds."""
    apart: bool
    """Whether measured log-odds are added up apart, because they differ from the model's."""

    @classmethod
    def of(cls, model: "LogOddsModel", places: Sequence[int], *, relative: bool) -> "FlatModel":
        """`places` lists the attributes in the order of the code matrix."""
        terms = model.terms
        groups = [term.groups for term in terms]
        kinds = 1 if len(model.base) == 2 else len(model.base)
        most = max((each.edges.shape[1] for each in groups if each is not None), default=0)
        edges = np.zeros((len(terms), kinds, most), dtype=np.int32)
        for number, each in enumerate(groups):
            if each is not None:
                edges[number, :, : each.edges.shape[1]] = each.edges
        calibrated = model.start is not None or any(term.shifts is not term.measured for term in terms)
        last = max((number for number, each in enumerate(groups) if each is not None), default=-1)
        start = model.base if model.start is None else model.start
        measured = _lines([term.measured for term in terms], len(model.base))
        shifts = _lines([term.shifts for term in terms], len(model.base))
        return cls(
            axes=Axes.of([term.combination for term in terms], places),
            base=_relative(model.base.astype(np.int64)) if relative else model.base.astype(np.int64),
            shifts=_relative(shifts) if relative else shifts,
            lines=np.cumsum([0, *(len(term.shifts) for term in terms)]),
            bins=np.array([len(term.combination) for term in terms], dtype=np.int64),
            start=_relative(start.astype(np.int64)),
            measured=_relative(measured),
            edges=edges,
            cuts=np.array([-1 if each is None else each.edges.shape[1] for each in groups], dtype=np.int64),
            last=last,
            apart=last >= 0 and (calibrated or not relative),
        )


def _lines(lines: Sequence[LogOdds], classes: int) -> LogOdds:
    return np.ascontiguousarray(np.concatenate([np.zeros((0, classes), dtype=np.int32), *lines]).T)


def _relative(by_class: Any) -> Any:
    return np.ascontiguousarray(by_class[1:] - by_class[0])


def log_odds_of(model: FlatModel, codes: npt.NDArray[Any]) -> Integers:
    """The log-odds (columns, rows) of the rows of a code matrix."""
    found = np.empty((len(model.base), codes.shape[1]), dtype=np.int64)
    _evaluate_all(model, codes, found)
    return found


@compiled
def _evaluate_all(model: Any, codes: Any, log_odds: Any) -> None:
    rows = codes.shape[1]
    keys = np.empty((len(model.bins), TILE), dtype=np.int32)
    measured, found = (
        np.empty((len(model.start), TILE), dtype=np.int64),
        np.empty((len(model.base), TILE), dtype=np.int64),
    )
    for begin in range(0, rows, TILE):
        count = min(TILE, rows - begin)
        evaluate(model, codes, begin, count, keys, measured, found)
        for column in range(len(model.base)):
            for row in range(count):
                log_odds[column, begin + row] = found[column, row]


@compiled
def evaluate(model: Any, codes: Any, begin: Any, rows: Any, keys: Any, measured: Any, log_odds: Any) -> None:
    """Fill in the line of each term (terms, rows) and the log-odds (columns, rows) of rows `begin` to `begin + rows`.

    `measured` is working space of shape (classes - 1, rows).
    """
    _begin(model.base, rows, log_odds)
    if model.apart:
        _begin(model.start, rows, measured)
    for term in range(len(model.bins)):
        found = keys[term]
        find_keys(model.axes, term, codes, begin, rows, found)
        if model.cuts[term] >= 0:
            before = measured if model.apart else log_odds
            add_groups(before, model.edges[term, :, : model.cuts[term]], rows, model.bins[term], found)
        _add(model.shifts, model.lines[term], rows, found, log_odds)
        if model.apart and term < model.last:
            _add(model.measured, model.lines[term], rows, found, measured)


@compiled
def _begin(base: Any, rows: Any, log_odds: Any) -> None:
    for column in range(len(base)):
        for row in range(rows):
            log_odds[column, row] = base[column]


@compiled
def _add(shifts: Any, line: Any, rows: Any, keys: Any, log_odds: Any) -> None:
    for column in range(len(shifts)):
        lines, here = shifts[column, line:], log_odds[column]
        for row in range(rows):
            here[row] += lines[np.uint32(keys[row])]


@compiled
def softmax(relative: Any, row: Any, probabilities: Any) -> int:
    """Fill in the class probabilities of a row, given log-odds relative to the first class. Returns the likeliest."""
    classes = len(probabilities)
    likeliest, largest = 0, 0
    for label in range(1, classes):
        if relative[label - 1, row] > largest:
            likeliest, largest = label, relative[label - 1, row]
    total = 0.0
    for label in range(classes):
        difference = (relative[label - 1, row] if label else 0) - largest
        probabilities[label] = np.exp(difference / LOG_ODDS_UNIT) if difference else 1.0
        total += probabilities[label]
    for label in range(classes):
        probabilities[label] /= total
    return likeliest
