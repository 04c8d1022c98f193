"""What noisy tables say about a record's class: odds that grow from the cell it lies in, table by table.

A record starts with the odds of its cell. Each stage sorts all records into groups by their odds so far and measures
one attribute by class within every group. So a stage tells what its attribute adds to what is known, and an attribute
that repeats another adds nothing; a naive product of odds would count it twice. All of it is public: functions of paid
answers alone, in whole numbers, so that every engine sorts a record into the same group.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.compiled import compiled
from scumble.model.counts import Block, Floats, Integers
from scumble.model.cut import Cut
from scumble.model.schema import Schema
from scumble.model.taxonomy import Domain, Grid

Odds = npt.NDArray[np.int32]

ODDS_UNIT = 1024
"""Log-odds are whole multiples of 1/1024."""
FEWEST_BINS, MOST_BINS = 24, 128
"""An attribute of more values is told in bins, each of neighbours in the taxonomy or on the grid: as many as the root
of the number of values, within these bounds or a lower first one, where epsilon and records are few. Long grids are
often skewed, with most records at one end."""
LEAST_CHANCE = 1e-3
"""No class of a group is told to be less likely than this."""
ROWS_AT_ONCE = 1 << 16


@dataclass(frozen=True, kw_only=True)
class Grouping:
    """Records sorted by what is known of their class: by how far it leans to the second of two classes; where there are
    more, by the likeliest and how far it is ahead. `edges` has shape (kinds, levels - 1)."""

    edges: Odds

    @classmethod
    def learn(cls, odds: Odds, groups: int) -> "Grouping":
        """About as many groups as wanted, of about the same number of the given records each."""
        kinds = 1 if odds.shape[1] == 2 else odds.shape[1]
        levels = max(groups // kinds, 1 if groups < 2 else 2)
        kind, lean = _leaning(odds)
        edges = np.zeros((kinds, levels - 1), dtype=np.int32)
        for number in range(kinds):
            here = lean[kind == number]
            if len(here) and levels > 1:
                edges[number] = np.quantile(here, np.arange(1, levels) / levels, method="lower")
        return cls(edges=edges)

    @property
    def groups(self) -> int:
        return len(self.edges) * (self.edges.shape[1] + 1)

    def sort(self, odds: Odds) -> Integers:
        groups = np.zeros(len(odds), dtype=np.int64)
        _sort(odds, self.edges, groups)
        return groups


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One measured table: what it adds to a record's log-odds, by group and bin, and the grouping after it."""

    place: int
    bins: Integers
    shifts: Odds
    after: Grouping


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """All that is known: the odds of the cells and the stages so far."""

    schema: Schema
    cut: Cut
    cells: Odds
    first: Grouping
    stages: tuple[Stage, ...] = ()
    fewest_bins: int = FEWEST_BINS

    def bins(self, place: int) -> Integers:
        """For every code of a predictor its bin."""
        return bins_of(self.schema.predictors[place].domain, self.fewest_bins)

    @property
    def grouping(self) -> Grouping:
        return self.stages[-1].after if self.stages else self.first

    def sorted(self, blocks: Iterable[Block]) -> Iterator[tuple[list[Any], Any, Integers]]:
        """Some rows at a time: the predictors' codes, the classes, and each row's group."""
        target = [attribute.name for attribute in self.schema.attributes].index(str(self.schema.target))
        for block in blocks:
            for start in range(0, len(block[0]), ROWS_AT_ONCE):
                part = [column[start : start + ROWS_AT_ONCE] for column in block]
                labels = part.pop(target)
                yield part, labels, self.follow(part)[1]

    def follow(self, predictors: list[Any]) -> tuple[Odds, Integers]:
        """The odds and the group of each record after all stages."""
        odds = self.cells[cell_of(self.cut, predictors)]
        groups = self.first.sort(odds)
        for stage in self.stages:
            groups = advance(stage, predictors, odds, groups)
        return odds, groups


def advance(stage: Stage, predictors: list[Any], odds: Odds, groups: Integers) -> Integers:
    """Add a stage's shifts to the odds, in place, and sort the records anew."""
    _shift(predictors[stage.place], stage.bins, stage.shifts, odds, groups)
    return stage.after.sort(odds)


def cell_of(cut: Cut, predictors: list[Any]) -> Integers:
    """The cell of each record."""
    cells = np.zeros(len(predictors[0]), dtype=np.int64)
    for (name, nodes), codes in zip(cut.nodes.items(), predictors, strict=True):
        if len(nodes) > 1:
            cells += (cut.digits(name) * cut.outer_inner(name)[1])[codes]
    return cells


def bins_of(domain: Domain, fewest: int = FEWEST_BINS) -> Integers:
    """For every code its bin. Missing numbers, which have the last code, keep a bin of their own."""
    values = domain.cells if isinstance(domain, Grid) else domain.size
    width = -(-values // min(max(isqrt(values), fewest), MOST_BINS))
    bins = np.arange(values) // width
    return np.concatenate([bins, np.full(domain.size - values, bins[-1] + 1)])


def chances(odds: Odds | Floats, unit: int = ODDS_UNIT) -> Floats:
    """The chance of each class that log-odds tell."""
    powers = np.exp((odds - odds.max(axis=1, keepdims=True)) / unit)
    return powers / powers.sum(axis=1, keepdims=True)


def means(chance: Floats, keys: Integers, otherwise: Floats) -> Floats:
    """The mean chances of the rows with each key, of which there are as many as lines in `otherwise`: that is told of
    the keys that no row has."""
    sizes = np.bincount(keys, minlength=len(otherwise))[:, np.newaxis]
    sums = [np.bincount(keys, weights=column, minlength=len(otherwise)) for column in chance.T]
    return np.where(sizes > 0, np.stack(sums, axis=1) / np.maximum(sizes, 1), otherwise)


def to_odds(chance: Floats) -> Odds:
    return np.rint(np.log(np.maximum(chance, LEAST_CHANCE)) * ODDS_UNIT).astype(np.int32)


def _leaning(odds: Odds) -> tuple[Integers, Odds]:
    if odds.shape[1] == 2:
        return np.zeros(len(odds), dtype=np.int64), odds[:, 1] - odds[:, 0]
    ranked = np.sort(odds, axis=1)
    return odds.argmax(axis=1), ranked[:, -1] - ranked[:, -2]


@compiled
def _sort(odds: Any, edges: Any, groups: Any) -> None:
    kinds, cuts = edges.shape
    for row in range(len(odds)):
        kind = 0
        if kinds == 1:
            lean = odds[row, 1] - odds[row, 0]
        else:
            second = odds[row, 1]
            if odds[row, 1] > odds[row, 0]:
                kind, second = 1, odds[row, 0]
            for label in range(2, kinds):
                if odds[row, label] > odds[row, kind]:
                    kind, second = label, odds[row, kind]
                elif odds[row, label] > second:
                    second = odds[row, label]
            lean = odds[row, kind] - second
        level = 0
        for cut in range(cuts):  # no early end: a branch that nobody can foresee costs more
            level += lean > edges[kind, cut]
        groups[row] = kind * (cuts + 1) + level


@compiled
def _shift(codes: Any, bins: Any, shifts: Any, odds: Any, groups: Any) -> None:
    for row in range(len(codes)):
        for label in range(odds.shape[1]):
            odds[row, label] += shifts[groups[row], bins[codes[row]], label]
