"""The queries that measure detail beside the cells, with their sensitivities (proofs: PROOF.md, section 3).

All of them need sums over the records of numbers that depend on one record and on answers paid before, and comparisons
of such sums. So several owners can answer them together.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from scumble.compiled import compiled
from scumble.methods.diffgen.detail.binning import range_width
from scumble.methods.diffgen.detail.groups import LogOddsGroups
from scumble.methods.diffgen.detail.terms import LOG_ODDS_UNIT, Combination, LogOddsModel, row_count
from scumble.model.counts import Block, Integers
from scumble.model.guarantee import Unit
from scumble.model.schema import Schema
from scumble.privacy.query import RowChoice, RowMeasurement, Sensitivity, SummedRows

CERTAIN = 1024
"""Class probabilities of a record are whole multiples of 1/1024 that add up to one."""
LARGEST_LIMIT = 1 << 30
"""The numbers of a record add up to at most this, so that sums over fewer than 2^32 records are exact in 64 bits."""


@dataclass(frozen=True, kw_only=True)
class ValueCounts(RowMeasurement, SummedRows):
    """The number of records with each value of some attributes, and in each range of values of those with very many."""

    schema: Schema
    places: tuple[int, ...]

    def gather(self, blocks: Iterable[Block]) -> Integers:
        model = LogOddsModel(schema=self.schema, base=np.zeros(0, dtype=np.int32))
        sums = [np.zeros(self.schema.predictors[place].domain.size, dtype=np.int64) for place in self.places]
        for predictors, _ in model.rows(blocks):
            for place, counts in zip(self.places, sums, strict=True):
                _count(predictors[place], counts)
        return np.concatenate(
            [part for place, counts in zip(self.places, sums, strict=True) for part in self._parts(place, counts)]
        )

    def _parts(self, place: int, counts: Integers) -> list[Integers]:
        width = range_width(self.schema.predictors[place].domain)
        return [counts] if width == 1 else [counts, np.add.reduceat(counts, np.arange(0, len(counts), width))]

    @property
    def histograms(self) -> int:
        """How many histograms are counted: one for each attribute, and one more if its values have ranges."""
        return sum(1 if range_width(self.schema.predictors[place].domain) == 1 else 2 for place in self.places)

    def sensitivity(self, unit: Unit) -> Sensitivity:
        """A record has one value of each attribute, so it is counted in one entry of each histogram. Adding or removing
        it changes one entry by one for each histogram; replacing it changes at most two for each."""
        return Sensitivity(bound=self.histograms * (1 if unit is Unit.ADD_REMOVE else 2))

    def split(self, measured: Integers) -> list[Integers]:
        """One vector for each attribute: its values, followed by its ranges."""
        lengths = []
        for place in self.places:
            domain = self.schema.predictors[place].domain
            width = range_width(domain)
            lengths.append(domain.size + (0 if width == 1 else -(-domain.size // width)))
        return list(np.split(measured, np.cumsum(lengths)[:-1]))


@dataclass(frozen=True, kw_only=True)
class ClassTable(RowMeasurement, SummedRows):
    """The number of records of each class in each group of similar log-odds and each bin of an attribute."""

    model: LogOddsModel
    combination: Combination
    groups: LogOddsGroups | None = None
    """None if all records are one group."""

    def gather(self, blocks: Iterable[Block]) -> Integers:
        table = np.zeros((len(self.groups or (0,)) * len(self.combination), self.shape[2]), dtype=np.int64)
        for predictors, labels in self.model.rows(blocks):
            keys = self.combination.keys(predictors)
            if self.groups is not None:
                keys += len(self.combination) * self.groups.assign(self.model.log_odds(predictors))
            _count_classes(keys, labels, table)
        return table.ravel()

    @property
    def shape(self) -> tuple[int, int, int]:
        return len(self.groups or (0,)), len(self.combination), len(self.model.schema.classes)

    def sensitivity(self, unit: Unit) -> Sensitivity:
        """A record's log-odds depend only on the record and on answers paid before. So it lies in one group, has one
        combination of bins and one class. Adding or removing it changes one count by one; replacing it changes at most
        two."""
        return Sensitivity(bound=1 if unit is Unit.ADD_REMOVE else 2)


@dataclass(frozen=True, kw_only=True)
class GroupCounts(RowMeasurement, SummedRows):
    """The number of records of each class in each group of similar log-odds."""

    model: LogOddsModel
    groups: LogOddsGroups

    def gather(self, blocks: Iterable[Block]) -> Integers:
        table = np.zeros(self.shape, dtype=np.int64)
        for predictors, labels in self.model.rows(blocks):
            _count_classes(self.groups.assign(self.model.log_odds(predictors)), labels, table)
        return table.ravel()

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.groups), len(self.model.schema.classes)

    def sensitivity(self, unit: Unit) -> Sensitivity:
        """A record's log-odds depend only on the record and on answers paid before. So it lies in one group and has one
        class. Adding or removing it changes one count by one; replacing it changes at most two."""
        return Sensitivity(bound=1 if unit is Unit.ADD_REMOVE else 2)


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
    _softmax(log_odds, LOG_ODDS_UNIT, probabilities)
    return shifts, probabilities


def _residuals(log_odds: Any, labels: Any) -> Integers:
    """For each row and class: 1024 if it is the row's class, minus the expected probability in units of 1/1024."""
    probabilities = np.zeros(log_odds.shape)
    _softmax(log_odds, LOG_ODDS_UNIT, probabilities)
    residuals = np.zeros(log_odds.shape, dtype=np.int64)
    _subtract(probabilities, labels, CERTAIN, residuals)
    return residuals


@compiled
def _softmax(log_odds: Any, unit: Any, probabilities: Any) -> None:
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
def _take(keys: Any, lines: Any, number: Any, shifts: Any, log_odds: Any) -> None:
    for row in range(len(keys)):
        for label in range(lines.shape[1]):
            shifts[row, number, label] = lines[keys[row], label]
            log_odds[row, label] += lines[keys[row], label]


@compiled
def _count(codes: Any, counts: Any) -> None:
    for row in range(len(codes)):
        counts[codes[row]] += 1


@compiled
def _count_classes(keys: Any, labels: Any, table: Any) -> None:
    for row in range(len(keys)):
        table[keys[row], labels[row]] += 1


@compiled
def _add_lines(keys: Any, lines: Any, sums: Any) -> None:
    for row in range(len(keys)):
        for label in range(sums.shape[1]):
            sums[keys[row], label] += lines[row, label]


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
