"""The log-odds model: what noisy class tables imply for a record's class, and the groups that it sorts records into.

A record starts with the log-odds of its cell. Each stage assigns all records to groups by their log-odds so far and
measures one attribute by class within every group. So a stage measures what its attribute adds to what is known, and an
attribute that repeats another adds nothing; a naive product of odds would count it twice. Everything here is
post-processing of paid answers, in whole numbers, so that every engine assigns a record to the same group.
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
from scumble.model.domain import Domain
from scumble.model.grid import Grid
from scumble.model.schema import Schema

LogOdds = npt.NDArray[np.int32]

LOG_ODDS_UNIT = 1024
"""Log-odds are whole multiples of 1/1024."""
FEWEST_BINS, MOST_BINS = 24, 128
"""An attribute with more values than this is counted in bins of neighbouring values: as many bins as the square root of
the number of values, within these bounds. The lower bound is smaller where epsilon and records are few
(`levels.LEVELS`). It is not smaller still, because long grids are often skewed, with most records at one end."""
SMALLEST_PROBABILITY = 1e-3
"""No class of a group is estimated to be less probable than this."""
ROWS_AT_ONCE = 1 << 16


@dataclass(frozen=True, kw_only=True)
class LogOddsGroups:
    """Groups of records with similar log-odds.

    With two classes, a record's group depends on the log-odds of the second class minus those of the first. With more
    classes, it depends on the most probable class and its lead over the next one. `edges` has shape
    (kinds, levels - 1); there is one kind for two classes, and one for each class default.
    """

    edges: LogOdds

    @classmethod
    def by_quantiles(cls, log_odds: LogOdds, groups: int) -> "LogOddsGroups":
        """About as many groups as wanted, each with about the same number of the given records."""
        kinds = 1 if log_odds.shape[1] == 2 else log_odds.shape[1]
        levels = max(groups // kinds, 1 if groups < 2 else 2)
        kind, lead = _kind_and_lead(log_odds)
        edges = np.zeros((kinds, levels - 1), dtype=np.int32)
        for number in range(kinds):
            here = lead[kind == number]
            if len(here) and levels > 1:
                edges[number] = np.quantile(here, np.arange(1, levels) / levels, method="lower")
        return cls(edges=edges)

    def __len__(self) -> int:
        return len(self.edges) * (self.edges.shape[1] + 1)

    def assign(self, log_odds: LogOdds) -> Integers:
        """The group of each record."""
        groups = np.zeros(len(log_odds), dtype=np.int64)
        _assign(log_odds, self.edges, groups)
        return groups


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One measured class table: what it adds to a record's log-odds, by group and bin, and the groups after it."""

    place: int
    bins: Integers
    shifts: LogOdds
    groups_after: LogOddsGroups


@dataclass(frozen=True, kw_only=True)
class LogOddsModel:
    """Maps a record to log-odds of its class: those of its cell, plus the shifts of all stages measured so far."""

    schema: Schema
    cut: Cut
    cell_log_odds: LogOdds
    first_groups: LogOddsGroups
    stages: tuple[Stage, ...] = ()
    fewest_bins: int = FEWEST_BINS

    def bins(self, place: int) -> Integers:
        """The bin of every code of a predictor."""
        return bins_of(self.schema.predictors[place].domain, self.fewest_bins)

    @property
    def current_groups(self) -> LogOddsGroups:
        return self.stages[-1].groups_after if self.stages else self.first_groups

    def grouped_rows(self, blocks: Iterable[Block]) -> Iterator[tuple[list[Any], Any, Integers]]:
        """Chunks of rows: the predictors' codes, the classes, and each row's group."""
        target = [attribute.name for attribute in self.schema.attributes].index(str(self.schema.target))
        for block in blocks:
            for start in range(0, len(block[0]), ROWS_AT_ONCE):
                part = [column[start : start + ROWS_AT_ONCE] for column in block]
                labels = part.pop(target)
                yield part, labels, self.log_odds_and_groups(part)[1]

    def log_odds_and_groups(self, predictors: list[Any]) -> tuple[LogOdds, Integers]:
        """The log-odds and the group of each record after all stages."""
        log_odds = self.cell_log_odds[cell_of(self.cut, predictors)]
        groups = self.first_groups.assign(log_odds)
        for stage in self.stages:
            groups = apply_stage(stage, predictors, log_odds, groups)
        return log_odds, groups


def apply_stage(stage: Stage, predictors: list[Any], log_odds: LogOdds, groups: Integers) -> Integers:
    """Add a stage's shifts to the log-odds, in place, and return the new group of each record."""
    _add_shifts(predictors[stage.place], stage.bins, stage.shifts, log_odds, groups)
    return stage.groups_after.assign(log_odds)


def cell_of(cut: Cut, predictors: list[Any]) -> Integers:
    """The cell of each record."""
    cells = np.zeros(len(predictors[0]), dtype=np.int64)
    for (name, nodes), codes in zip(cut.nodes.items(), predictors, strict=True):
        if len(nodes) > 1:
            cells += (cut.digits(name) * cut.outer_inner(name)[1])[codes]
    return cells


def bins_of(domain: Domain, fewest: int = FEWEST_BINS) -> Integers:
    """The bin of every code. Missing numbers, which have the last code, get a separate bin."""
    values = domain.cells if isinstance(domain, Grid) else domain.size
    width = -(-values // min(max(isqrt(values), fewest), MOST_BINS))
    bins = np.arange(values) // width
    return np.concatenate([bins, np.full(domain.size - values, bins[-1] + 1)])


def class_probabilities(log_odds: LogOdds | Floats, unit: int = LOG_ODDS_UNIT) -> Floats:
    """The probability of each class, from log-odds in units of 1/`unit`."""
    powers = np.exp((log_odds - log_odds.max(axis=1, keepdims=True)) / unit)
    return powers / powers.sum(axis=1, keepdims=True)


def means_by_key(probabilities: Floats, keys: Integers, default: Floats) -> Floats:
    """The mean probabilities of the rows with each key. A key without rows gets its line of `default`."""
    sizes = np.bincount(keys, minlength=len(default))[:, np.newaxis]
    sums = [np.bincount(keys, weights=column, minlength=len(default)) for column in probabilities.T]
    return np.where(sizes > 0, np.stack(sums, axis=1) / np.maximum(sizes, 1), default)


def to_log_odds(probabilities: Floats) -> LogOdds:
    return np.rint(np.log(np.maximum(probabilities, SMALLEST_PROBABILITY)) * LOG_ODDS_UNIT).astype(np.int32)


def _kind_and_lead(log_odds: LogOdds) -> tuple[Integers, LogOdds]:
    if log_odds.shape[1] == 2:
        return np.zeros(len(log_odds), dtype=np.int64), log_odds[:, 1] - log_odds[:, 0]
    ranked = np.sort(log_odds, axis=1)
    return log_odds.argmax(axis=1), ranked[:, -1] - ranked[:, -2]


@compiled
def _assign(log_odds: Any, edges: Any, groups: Any) -> None:
    kinds, cuts = edges.shape
    for row in range(len(log_odds)):
        kind = 0
        if kinds == 1:
            lead = log_odds[row, 1] - log_odds[row, 0]
        else:
            second = log_odds[row, 1]
            if log_odds[row, 1] > log_odds[row, 0]:
                kind, second = 1, log_odds[row, 0]
            for label in range(2, kinds):
                if log_odds[row, label] > log_odds[row, kind]:
                    kind, second = label, log_odds[row, kind]
                elif log_odds[row, label] > second:
                    second = log_odds[row, label]
            lead = log_odds[row, kind] - second
        level = 0
        for cut in range(cuts):  # no early exit: an unpredictable branch would cost more
            level += lead > edges[kind, cut]
        groups[row] = kind * (cuts + 1) + level


@compiled
def _add_shifts(codes: Any, bins: Any, shifts: Any, log_odds: Any, groups: Any) -> None:
    for row in range(len(codes)):
        for label in range(log_odds.shape[1]):
            log_odds[row, label] += shifts[groups[row], bins[codes[row]], label]
