"""The queries behind the weights of the terms: first and second derivatives of the model's log-likelihood.

Sensitivities are proved in PROOF.md, section 3.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scumble.compiled import compiled
from scumble.methods.diffgen.detail.combinations import code_matrix, row_count
from scumble.methods.diffgen.detail.evaluation import LOG_ODDS_UNIT, FlatModel, evaluate, softmax
from scumble.methods.diffgen.detail.records import Records
from scumble.methods.diffgen.detail.terms import LogOddsModel
from scumble.model.counts import Block, Floats, Integers
from scumble.model.guarantee import Unit
from scumble.model.operation import SUMS
from scumble.privacy.query import RowMeasurement, Sensitivity, SummedRows

LARGEST_LIMIT = 1 << 30
"""The numbers of a record add up to at most this, so that sums over fewer than 2^32 records are exact in 64 bits."""
TILE = 128
"""Rows whose numbers are computed together, pair by pair of terms, so that they stay in the processor's cache."""


@dataclass(frozen=True, kw_only=True)
class SlopeSums(RowMeasurement, SummedRows):
    """How the fit of the model would change with the weight of each term: the gradient of the log-likelihood.

    For each term, the sum over records of the shift of the record's class minus the mean shift that the model expects,
    in units of 1/1024. Each record's numbers are scaled down if their absolute values add up to more than `limit`.
    """

    needs = SUMS
    model: LogOddsModel
    limit: int

    def gather(self, blocks: Iterable[Block]) -> Integers:
        sums = np.zeros(len(self.model.terms), dtype=np.int64)
        records = Records(self.model)
        for codes, labels in records.chunks(blocks):
            _slopes(records.model, codes, labels, min(self.limit, LARGEST_LIMIT), sums)
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

    needs = SUMS
    model: LogOddsModel
    limit: int

    def gather(self, blocks: Iterable[Block]) -> Integers:
        terms = len(self.model.terms)
        sums = np.zeros(terms * (terms + 1) // 2, dtype=np.int64)
        records = Records(self.model)
        for codes, _ in records.chunks(blocks):
            _overlaps(records.model, codes, min(self.limit, LARGEST_LIMIT), sums)
        return sums

    def sensitivity(self, unit: Unit) -> Sensitivity:
        """As for `SlopeSums`: the absolute values of a record's numbers add up to at most `limit`."""
        return Sensitivity(bound=self.limit * (1 if unit is Unit.ADD_REMOVE else 2))


def sizes_of_numbers(model: LogOddsModel, predictors: Sequence[Any]) -> tuple[Floats, Floats]:
    """For each row, the sum of the absolute values of its numbers: in `SlopeSums`, on average over the classes by their
    probabilities, and in `OverlapSums`."""
    slopes, overlaps = np.zeros(row_count(predictors)), np.zeros(row_count(predictors))
    flat = FlatModel.of(model, model.places, relative=True)
    _sizes(flat, code_matrix(predictors, model.places), slopes, overlaps)
    return slopes, overlaps


@compiled
def _sizes(model: Any, codes: Any, slopes: Any, overlaps: Any) -> None:
    terms, rows = len(model.bins), codes.shape[1]
    shifts, probabilities = _space(model)
    found, totals = np.empty((terms * (terms + 1) // 2, TILE)), np.empty(TILE)
    for begin in range(0, rows, TILE):
        count = min(TILE, rows - begin)
        _shifts(model, codes, begin, count, shifts, probabilities)
        for row in range(count):
            for term in range(terms):
                mean = 0.0
                for label in range(1, len(probabilities)):
                    mean += probabilities[label, row] * shifts[term, label - 1, row]
                slopes[begin + row] += probabilities[0, row] * abs(mean)
                for label in range(1, len(probabilities)):
                    slopes[begin + row] += probabilities[label, row] * abs(shifts[term, label - 1, row] - mean)
        _covariances(shifts, probabilities, count, found, totals)
        for row in range(count):
            overlaps[begin + row] = totals[row]


@compiled
def _slopes(model: Any, codes: Any, labels: Any, limit: Any, sums: Any) -> None:
    rows = codes.shape[1]
    shifts, probabilities = _space(model)
    found, totals = np.empty((len(sums), TILE)), np.empty(TILE)
    for begin in range(0, rows, TILE):
        count = min(TILE, rows - begin)
        _shifts(model, codes, begin, count, shifts, probabilities)
        for row in range(count):
            totals[row] = 0.0
        for term in range(len(sums)):
            here = found[term]
            for row in range(count):
                label = labels[begin + row]
                here[row] = shifts[term, label - 1, row] if label else 0.0
            for label in range(1, len(probabilities)):
                for row in range(count):
                    here[row] -= probabilities[label, row] * shifts[term, label - 1, row]
            for row in range(count):
                totals[row] += abs(here[row])
        _add_within(found, totals, count, limit, sums)


@compiled
def _overlaps(model: Any, codes: Any, limit: Any, sums: Any) -> None:
    rows = codes.shape[1]
    shifts, probabilities = _space(model)
    found, totals = np.empty((len(sums), TILE)), np.empty(TILE)
    for begin in range(0, rows, TILE):
        count = min(TILE, rows - begin)
        _shifts(model, codes, begin, count, shifts, probabilities)
        _covariances(shifts, probabilities, count, found, totals)
        _add_within(found, totals, count, limit, sums)


@compiled
def _space(model: Any) -> Any:
    """Working space for the shifts (terms, classes - 1, rows) and class probabilities (classes, rows) of a tile."""
    others = len(model.base)
    return np.empty((len(model.bins), others, TILE)), np.empty((others + 1, TILE))


@compiled
def _shifts(model: Any, codes: Any, begin: Any, rows: Any, shifts: Any, probabilities: Any) -> None:
    """Fill in the shifts of every term relative to those of the first class, and the class probabilities."""
    terms, others, size = shifts.shape
    keys = np.empty((terms, size), dtype=np.int32)
    measured, log_odds = np.empty((others, size), dtype=np.int64), np.empty((others, size), dtype=np.int64)
    evaluate(model, codes, begin, rows, keys, measured, log_odds)
    of_row = np.empty(others + 1)
    for row in range(rows):
        softmax(log_odds, row, of_row)
        for label in range(others + 1):
            probabilities[label, row] = of_row[label]
    for term in range(terms):
        for column in range(others):
            lines, here = model.shifts[column, model.lines[term] :], shifts[term, column]
            for row in range(rows):
                here[row] = lines[np.uint32(keys[term, row])]


@compiled
def _covariances(shifts: Any, probabilities: Any, rows: Any, found: Any, totals: Any) -> None:
    """Fill in the covariance of each pair of terms in units of 1/1024, and the sum of absolute values of each row."""
    terms, others, size = shifts.shape
    weighted, means = np.empty((others, size)), np.zeros((terms, size))
    for term in range(terms):
        for column in range(others):
            for row in range(rows):
                means[term, row] += probabilities[column + 1, row] * shifts[term, column, row]
    for row in range(rows):
        totals[row] = 0.0
    place = 0
    for first in range(terms):
        for column in range(others):
            for row in range(rows):
                weighted[column, row] = probabilities[column + 1, row] * shifts[first, column, row] / LOG_ODDS_UNIT
        for second in range(first, terms):
            here = found[place]
            for row in range(rows):
                here[row] = -means[first, row] / LOG_ODDS_UNIT * means[second, row]
            for column in range(others):
                for row in range(rows):
                    here[row] += weighted[column, row] * shifts[second, column, row]
            for row in range(rows):
                totals[row] += abs(here[row])
            place += 1


@compiled
def _add_within(found: Any, totals: Any, rows: Any, limit: Any, sums: Any) -> None:
    """Add the numbers of each record, whose absolute values add up to about its total, scaled down to the limit."""
    scales, spent, kept = np.empty(rows), np.zeros(rows), np.empty(rows, dtype=np.bool_)
    for row in range(rows):
        scales[row] = 1.0 if totals[row] <= limit else limit / totals[row] * (1 - 1e-9)
    for place in range(len(sums)):
        here = found[place]
        for row in range(rows):
            here[row] = np.trunc(here[row] * scales[row])
            spent[row] += abs(here[row])
    for row in range(rows):
        kept[row] = spent[row] <= limit  # always, unless floats are less exact than they should be
    for place in range(len(sums)):
        here = found[place]
        total = 0
        for row in range(rows):
            total += int(here[row]) if kept[row] else 0
        sums[place] += total
