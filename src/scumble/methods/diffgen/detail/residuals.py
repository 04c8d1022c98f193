"""The queries that compare the records of each class with what the model expects: residuals of combinations.

Sensitivities are proved in PROOF.md, section 3.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from scumble.compiled import compiled
from scumble.methods.diffgen.detail.terms import LOG_ODDS_UNIT, Combination, LogOddsModel, softmax
from scumble.model.counts import Block, Integers
from scumble.model.guarantee import Unit
from scumble.privacy.query import RowChoice, RowMeasurement, Sensitivity, SummedRows

CERTAIN = 1024
"""Class probabilities of a record are whole multiples of 1/1024 that add up to one."""


@dataclass(frozen=True, kw_only=True)
class ResidualChoice(RowChoice, SummedRows):
    """Which combination of attributes adds most to the log-odds model.

    For each candidate, the sum of the absolute residuals of all its combinations of bins and all classes, in units of
    1/1024, minus a public handicap. A residual is the number of records of the class minus the number that the model
    expects. If `optional`, a last candidate has the score zero: it stands for adding none.
    """

    model: LogOddsModel
    candidates: tuple[Combination, ...]
    handicaps: tuple[int, ...]
    optional: bool = False

    def gather(self, blocks: Iterable[Block]) -> Integers:
        classes = len(self.model.schema.classes)
        sums = [np.zeros((len(candidate), classes), dtype=np.int64) for candidate in self.candidates]
        for predictors, labels in self.model.rows(blocks):
            residuals = _residuals(self.model.log_odds(predictors), labels)
            for candidate, found in zip(self.candidates, sums, strict=True):
                _add_lines(candidate.keys(predictors), residuals, found)
        return np.concatenate([found.ravel() for found in sums])

    def finish(self, sums: Integers) -> Integers:
        lengths = [len(candidate) * len(self.model.schema.classes) for candidate in self.candidates]
        parts = np.split(np.abs(sums), np.cumsum(lengths)[:-1])
        scores = [int(part.sum()) - handicap for part, handicap in zip(parts, self.handicaps, strict=True)]
        return np.array([scores + [0] * self.optional])

    def sensitivity(self, unit: Unit) -> Sensitivity:
        """A record's expected probabilities P depend only on the record and on answers paid before; they are not
        negative and add up to 1024. For each candidate the record lies in one combination of bins, whose sums it
        changes by 1024 - P for its own class and by P for each other class: together by 2 (1024 - P of its own class),
        at most 2048. Absolute values change by no more than the sums, and handicaps are public. A score can decrease,
        so it is not monotone. Replacing a record changes it twice."""
        return Sensitivity(bound=2 * CERTAIN * (1 if unit is Unit.ADD_REMOVE else 2))


@dataclass(frozen=True, kw_only=True)
class ResidualSums(RowMeasurement, SummedRows):
    """What a combination of attributes adds to the log-odds model: for each combination of bins and class, the records
    of the class minus the records that the model expects, in units of 1/1024."""

    model: LogOddsModel
    combination: Combination

    def gather(self, blocks: Iterable[Block]) -> Integers:
        sums = np.zeros(self.shape, dtype=np.int64)
        for predictors, labels in self.model.rows(blocks):
            residuals = _residuals(self.model.log_odds(predictors), labels)
            _add_lines(self.combination.keys(predictors), residuals, sums)
        return sums.ravel()

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.combination), len(self.model.schema.classes)

    def sensitivity(self, unit: Unit) -> Sensitivity:
        """A record lies in one combination of bins, whose sums it changes by at most 2048 in all, as shown in
        `ResidualChoice`. Replacing a record changes them twice."""
        return Sensitivity(bound=2 * CERTAIN * (1 if unit is Unit.ADD_REMOVE else 2))


def _residuals(log_odds: Any, labels: Any) -> Integers:
    """For each row and class: 1024 if it is the row's class, minus the expected probability in units of 1/1024."""
    probabilities = np.zeros(log_odds.shape)
    softmax(log_odds, LOG_ODDS_UNIT, probabilities)
    residuals = np.zeros(log_odds.shape, dtype=np.int64)
    _subtract(probabilities, labels, CERTAIN, residuals)
    return residuals


@compiled
def _subtract(probabilities: Any, labels: Any, certain: Any, residuals: Any) -> None:
    rows, classes = probabilities.shape
    for row in range(rows):
        left, likeliest = certain, 0
        for label in range(classes):
            expected = int(certain * probabilities[row, label])
            residuals[row, label] = -expected
            left -= expected
            if probabilities[row, label] > probabilities[row, likeliest]:
                likeliest = label
        # What rounding down leaves over goes to the most probable class, so that all add up to one.
        residuals[row, likeliest] -= left
        residuals[row, labels[row]] += certain


@compiled
def _add_lines(keys: Any, lines: Any, sums: Any) -> None:
    for row in range(len(keys)):
        for label in range(sums.shape[1]):
            sums[keys[row], label] += lines[row, label]
