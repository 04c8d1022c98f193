"""The log-odds model: a sum of terms, each of which depends on the values of one or a few attributes.

A record's log-odds are those of the class shares plus, for every measured class table, the shift that the table has for
the record's values. Everything here is post-processing of paid answers, in whole numbers, so that every engine finds
the same log-odds of a record.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scumble.methods.diffgen.detail.combinations import ROWS_AT_ONCE, Combination, code_matrix, places_in, row_count
from scumble.methods.diffgen.detail.evaluation import LOG_ODDS_UNIT, FlatModel, log_odds_of
from scumble.methods.diffgen.detail.groups import LogOdds, LogOddsGroups
from scumble.model.counts import Floats, Integers
from scumble.model.schema import Schema

SMALLEST_PROBABILITY = 1e-3
"""No class is estimated to be less probable than this."""


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


@dataclass(frozen=True, kw_only=True)
class LogOddsModel:
    """Maps a record to the log-odds of its class."""

    schema: Schema
    base: LogOdds
    """The log-odds of the class shares."""
    terms: tuple[Term, ...] = ()
    start: LogOdds | None = None
    """The base before any calibration, for the groups of terms; None if it is `base`."""

    @property
    def places(self) -> list[int]:
        """The attributes that the log-odds depend on."""
        return places_in(term.combination for term in self.terms)

    def log_odds(self, predictors: Sequence[Any]) -> LogOdds:
        """The log-odds (rows, classes) of rows. The numbers of a class lie next to each other in memory."""
        places = self.places
        flat = FlatModel.of(self, places, relative=False)
        found = np.empty((len(self.base), row_count(predictors)), dtype=np.int32)
        for start in range(0, found.shape[1], ROWS_AT_ONCE):
            part = [column[start : start + ROWS_AT_ONCE] for column in predictors]
            found[:, start : start + ROWS_AT_ONCE] = log_odds_of(flat, code_matrix(part, places))
        return found.T


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
