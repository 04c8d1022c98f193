"""The queries behind the weights of the terms: first and second derivatives of the model's log-likelihood.

Sensitivities are proved in PROOF.md, section 3.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from scumble.compiled import compiled
from scumble.methods.diffgen.detail.terms import LOG_ODDS_UNIT, LogOddsModel, row_count, softmax
from scumble.model.counts import Block, Integers
from scumble.model.guarantee import Unit
from scumble.privacy.query import RowMeasurement, Sensitivity, SummedRows

LARGEST_LIMIT = 1 << 30
"""The numbers of a record add up to at most this, so that sums over fewer than 2^32 records are exact in 64 bits."""


@dataclass(frozen=True, kw_only=True)
class SlopeSums(RowMeasurement, SummedRows):
    """How the fit of the model would change with the weight of each term: the gradient of the log-likelihood.

    For each term, the sum over records of the shift of the record's class minus the mean shift that the model expects,
    in units of 1/1024. Each record's numbers are scaled down if their absolute values add up to more than `limit`.
    """

    model: LogOddsModel
    limit: int

    def gather(self, blocks: Iterable[Block]) -> Integers:
        sums = np.zeros(len(self.model.terms), dtype=np.int64)
        for predictors, labels in self.model.rows(blocks):
            _slopes(*shifts_and_probabilities(self.model, predictors), labels, min(self.limit, LARGEST_LIMIT), sums)
        return sums

    def sensitivity(self, unit: Unit) -> Sensitivity:
        """The numbers of a record depend only on the record and on answers paid before. They are scaled and rounded
        toward zero, and a record whose absolute values still added up to more than `limit` would be left out. Adding or
        removing a record changes the sums by at most `limit` in all; replacing it by at most twice that."""
        return Sensitivity(bound=self.limit * (1 if unit is Unit.ADD_REMOVE else 2))


@dataclass(frozen=True, kw_only=True)
class OverlapSums(RowMeasurement, SummedRows):
    """How much the terms say the same: the negative second derivatives of the log-likelihood in the terms' weights.

    For each pair of terms, the sum over records of the covariance of their shifts under the model's class
    probabilities, in units of 1/1024. Each record's numbers are scaled down if their absolute values add up to more
    than `limit`.
    """

    model: LogOddsModel
    limit: int

    def gather(self, blocks: Iterable[Block]) -> Integers:
        terms = len(self.model.terms)
        sums = np.zeros(terms * (terms + 1) // 2, dtype=np.int64)
        for predictors, _ in self.model.rows(blocks):
            _overlaps(*shifts_and_probabilities(self.model, predictors), min(self.limit, LARGEST_LIMIT), sums)
        return sums

    def sensitivity(self, unit: Unit) -> Sensitivity:
        """As for `SlopeSums`: the absolute values of a record's numbers add up to at most `limit`."""
        return Sensitivity(bound=self.limit * (1 if unit is Unit.ADD_REMOVE else 2))


def shifts_and_probabilities(model: LogOddsModel, predictors: list[Any]) -> tuple[Any, Any]:
    """For each row, the shifts of every term (rows, terms, classes) and the class probabilities (rows, classes)."""
    shifts = np.zeros((row_count(predictors), len(model.terms), len(model.base)), dtype=np.int32)
    log_odds = np.tile(model.base, (len(shifts), 1))
    for number, (term, keys) in enumerate(zip(model.terms, model.keys(predictors), strict=True)):
        _take(keys, term.shifts, number, shifts, log_odds)
    probabilities = np.zeros(log_odds.shape)
    softmax(log_odds, LOG_ODDS_UNIT, probabilities)
    return shifts, probabilities


@compiled
def _take(keys: Any, lines: Any, number: Any, shifts: Any, log_odds: Any) -> None:
    for row in range(len(keys)):
        for label in range(lines.shape[1]):
            shifts[row, number, label] = lines[keys[row], label]
            log_odds[row, label] += lines[keys[row], label]


@compiled
def _add_within(numbers: Any, total: Any, limit: Any, sums: Any) -> None:
    """Add the numbers of a record, whose absolute values add up to about `total`, scaled down to the limit."""
    scale = 1.0 if total <= limit else limit / total * (1 - 1e-9)
    spent = 0
    for place in range(len(sums)):
        spent += abs(int(numbers[place] * scale))
    if spent <= limit:  # always, unless floats are less exact than they should be
        for place in range(len(sums)):
            sums[place] += int(numbers[place] * scale)


@compiled
def _slopes(shifts: Any, probabilities: Any, labels: Any, limit: Any, sums: Any) -> None:
    rows, terms, classes = shifts.shape
    found = np.zeros(terms)
    for row in range(rows):
        total = 0.0
        for term in range(terms):
            mean = 0.0
            for label in range(classes):
                mean += probabilities[row, label] * shifts[row, term, label]
            found[term] = shifts[row, term, labels[row]] - mean
            total += abs(found[term])
        _add_within(found, total, limit, sums)


@compiled
def _overlaps(shifts: Any, probabilities: Any, limit: Any, sums: Any) -> None:
    rows, terms, classes = shifts.shape
    centred = np.zeros((terms, classes))
    found = np.zeros(len(sums))
    for row in range(rows):
        for term in range(terms):
            mean = 0.0
            for label in range(classes):
                mean += probabilities[row, label] * shifts[row, term, label]
            for label in range(classes):
                centred[term, label] = shifts[row, term, label] - mean
        total, place = 0.0, 0
        for first in range(terms):
            for second in range(first, terms):
                covariance = 0.0
                for label in range(classes):
                    covariance += probabilities[row, label] * centred[first, label] * centred[second, label]
                found[place] = covariance / 1024
                total += abs(found[place])
                place += 1
        _add_within(found, total, limit, sums)
