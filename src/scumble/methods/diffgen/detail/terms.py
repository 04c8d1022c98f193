"""The log-odds model: a sum of terms, each of which depends on the values of one or a few attributes.

A record's log-odds are those of the class shares plus, for every measured class table, the shift that the table has for
the record's values. Everything here is post-processing of paid answers, in whole numbers, so that every engine finds
the same log-odds of a record.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from scumble.compiled import compiled
from scumble.methods.diffgen.detail.groups import LogOdds, LogOddsGroups
from scumble.model.counts import Block, Floats, Integers
from scumble.model.schema import Schema

LOG_ODDS_UNIT = 1024
"""Log-odds are whole multiples of 1/1024."""
SMALLEST_PROBABILITY = 1e-3
"""No class is estimated to be less probable than this."""
ROWS_AT_ONCE = 1 << 16


@dataclass(frozen=True, kw_only=True)
class Combination:
    """One attribute or several, each in bins. Every record lies in one combination of bins."""

    places: tuple[int, ...]
    """The attributes, by their index in `schema.predictors`."""
    bins: tuple[Integers, ...]
    """For each of them, the bin of every code."""

    @cached_property
    def shape(self) -> tuple[int, ...]:
        return tuple(int(bins.max()) + 1 for bins in self.bins)

    def __len__(self) -> int:
        return prod(self.shape)

    def keys(self, predictors: Sequence[Any]) -> Integers:
        """The number of each record's combination of bins, in row-major order."""
        keys = np.zeros(row_count(predictors), dtype=np.int64)
        for place, bins, size in zip(self.places, self.bins, self.shape, strict=True):
            _append(predictors[place], bins, size, keys)
        return keys


@dataclass(frozen=True, kw_only=True)
class Term:
    """What one table adds to the log-odds: a shift of each class, of shape (groups x combinations of bins, classes).

    A table that was counted in groups of records with similar log-odds has a line for each group and combination. The
    groups are those by the log-odds that the tables before it gave, as they were then: `measured` are the shifts before
    any calibration.
    """

    combination: Combination
    measured: LogOdds
    shifts: LogOdds
    groups: LogOddsGroups | None = None

    @classmethod
    def of(cls, combination: Combination, shifts: LogOdds, groups: LogOddsGroups | None = None) -> "Term":
        return cls(combination=combination, measured=shifts, shifts=shifts, groups=groups)

    def keys(self, predictors: Sequence[Any], log_odds: LogOdds) -> Integers:
        """The line of the shifts that applies to each record, given the measured log-odds of the terms before."""
        keys = self.combination.keys(predictors)
        return keys if self.groups is None else keys + len(self.combination) * self.groups.assign(log_odds)


@dataclass(frozen=True, kw_only=True)
class LogOddsModel:
    """Maps a record to the log-odds of its class."""

    schema: Schema
    base: LogOdds
    """The log-odds of the class shares."""
    terms: tuple[Term, ...] = ()
    start: LogOdds | None = None
    """The base before any calibration, for the groups of terms; None if it is `base`."""

    def log_odds(self, predictors: Sequence[Any]) -> LogOdds:
        found = np.tile(self.base, (row_count(predictors), 1))
        if all(term.shifts is term.measured for term in self.terms) and self.start is None:
            for term in self.terms:
                _add(term.keys(predictors, found), term.shifts, found)
            return found
        for term, keys in zip(self.terms, self.keys(predictors), strict=True):
            _add(keys, term.shifts, found)
        return found

    def keys(self, predictors: Sequence[Any]) -> list[Integers]:
        """For each term, the line of its shifts that applies to each record."""
        last = max((number for number, term in enumerate(self.terms) if term.groups is not None), default=0)
        found = np.tile(self.base if self.start is None else self.start, (row_count(predictors), 1))
        every = []
        for number, term in enumerate(self.terms):
            every.append(term.keys(predictors, found))
            if number < last:
                _add(every[-1], term.measured, found)
        return every

    def rows(self, blocks: Iterable[Block]) -> Iterator[tuple[list[Any], Any]]:
        """Chunks of rows: the predictors' codes, and the classes."""
        target = [attribute.name for attribute in self.schema.attributes].index(str(self.schema.target))
        for block in blocks:
            for start in range(0, len(block[0]), ROWS_AT_ONCE):
                part = [column[start : start + ROWS_AT_ONCE] for column in block]
                labels = part.pop(target)
                yield part, labels


def row_count(predictors: Sequence[Any]) -> int:
    """The number of rows. While rows are drawn, attributes that were not drawn yet have none."""
    return max(map(len, predictors))


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


@compiled
def _append(codes: Any, bins: Any, size: Any, keys: Any) -> None:
    for row in range(len(codes)):
        keys[row] = keys[row] * size + bins[codes[row]]


@compiled
def _add(keys: Any, shifts: Any, log_odds: Any) -> None:
    for row in range(len(keys)):
        for label in range(log_odds.shape[1]):
            log_odds[row, label] += shifts[keys[row], label]


@compiled
def softmax(log_odds: Any, unit: Any, probabilities: Any) -> None:
    """Fill in the probability of each class (rows, classes) from log-odds in units of 1/`unit`."""
    rows, classes = log_odds.shape
    for row in range(rows):
        largest = log_odds[row, 0]
        for label in range(1, classes):
            largest = max(largest, log_odds[row, label])
        total = 0.0
        for label in range(classes):
            probabilities[row, label] = np.exp((log_odds[row, label] - largest) / unit)
            total += probabilities[row, label]
        for label in range(classes):
            probabilities[row, label] /= total
