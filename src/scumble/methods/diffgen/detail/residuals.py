"""The queries that compare the records of each class with what the model expects: residuals of combinations.

Sensitivities are proved in PROOF.md, section 3.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from scumble.compiled import compiled
from scumble.methods.diffgen.detail.combinations import Combination
from scumble.methods.diffgen.detail.evaluation import LOG_ODDS_UNIT, softmax
from scumble.methods.diffgen.detail.joint_tables import joint_tables
from scumble.methods.diffgen.detail.records import Records
from scumble.methods.diffgen.detail.terms import LogOddsModel
from scumble.model.counts import Block, Integers
from scumble.model.guarantee import Unit
from scumble.model.operation import SUMS
from scumble.privacy.query import DistanceChoice, RowMeasurement, Sensitivity, SummedRows

CERTAIN = 1024
"""Class probabilities of a record are whole multiples of 1/1024 that add up to one."""
SURE = 8 * LOG_ODDS_UNIT
"""With two classes, a probability whose log-odds are further from zero is rounded to zero or one."""


@dataclass(frozen=True, kw_only=True)
class ResidualChoice(DistanceChoice):
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
        tables, packs = joint_tables(self.candidates)
        records = Records(self.model, packs)
        sums = np.zeros((sum(tables.lengths), len(self.model.schema.classes) - 1), dtype=np.int64)
        for codes, labels in records.chunks(blocks):
            tables.add(records.keys(codes), _residuals(records.log_odds(codes), labels), sums)
        return np.concatenate([of_all_classes(found).ravel() for found in tables.marginals(sums)])

    def differences(self, sums: Integers) -> list[Integers]:
        lengths = [len(candidate) * len(self.model.schema.classes) for candidate in self.candidates]
        return list(np.split(sums, np.cumsum(lengths)[:-1]))

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
    of the class minus the records that the model expects, in units of 1/1024.

    The residuals of two classes are opposite numbers, so only those of the second are counted. They need half as much
    noise as both together.
    """

    needs = SUMS
    model: LogOddsModel
    combination: Combination

    def gather(self, blocks: Iterable[Block]) -> Integers:
        records = Records(self.model, [self.combination])
        sums = np.zeros((len(self.combination), len(self.model.schema.classes) - 1), dtype=np.int64)
        for codes, labels in records.chunks(blocks):
            _add_lines(records.keys(codes)[0], _residuals(records.log_odds(codes), labels), sums)
        return (sums if self._two_classes else of_all_classes(sums)).ravel()

    @property
    def _two_classes(self) -> bool:
        return len(self.model.schema.classes) == 2

    @property
    def bound(self) -> int:
        """By how much a record changes all sums together."""
        return CERTAIN if self._two_classes else 2 * CERTAIN

    def by_class(self, sums: Integers) -> Integers:
        """The answer, or a noisy one, as residuals of all classes (combinations of bins, classes)."""
        lines = sums.reshape(len(self.combination), -1)
        return of_all_classes(lines) if self._two_classes else lines

    def sensitivity(self, unit: Unit) -> Sensitivity:
        """A record lies in one combination of bins, whose sums it changes by at most 2048 in all, as shown in
        `ResidualChoice`; half of that is the change of either of two classes. Replacing a record changes them twice."""
        return Sensitivity(bound=self.bound * (1 if unit is Unit.ADD_REMOVE else 2))


def _residuals(relative: Integers, labels: Any) -> Integers:
    """For each class but the first and each row: 1024 if it is the row's class, minus the expected probability in units
    of 1/1024. `relative` are log-odds relative to those of the first class. The residuals of all classes add up to
    zero."""
    residuals = np.empty(relative.shape, dtype=np.int64)
    if len(relative) == 1:
        _subtract_of_two(relative[0], labels, _expected_of_two(), residuals[0])
    else:
        _subtract(relative, labels, residuals)
    return residuals


@cache
def _expected_of_two() -> Integers:
    """The expected probability of the second of two classes, for each of its log-odds from -SURE to SURE."""
    relative = np.arange(-SURE, SURE + 1)[np.newaxis]
    residuals = np.empty(relative.shape, dtype=np.int64)
    _subtract(relative, np.zeros(relative.shape[1], dtype=np.uint8), residuals)
    return -residuals[0]


def of_all_classes(sums: Integers) -> Integers:
    """Residuals (lines, classes) from those of all classes but the first: they add up to zero."""
    return np.concatenate([-sums.sum(axis=1, keepdims=True), sums], axis=1)


@compiled
def _subtract(relative: Any, labels: Any, residuals: Any) -> None:
    others, rows = relative.shape
    powers = np.empty(others + 1)
    for row in range(rows):
        likeliest = softmax(relative, row, powers)
        left = CERTAIN
        for label in range(others + 1):
            expected = int(CERTAIN * powers[label])
            left -= expected
            if label > 0:
                residuals[label - 1, row] = -expected
        # What rounding down leaves over goes to the most probable class, so that all add up to one.
        if likeliest > 0:
            residuals[likeliest - 1, row] -= left
        if labels[row] > 0:
            residuals[labels[row] - 1, row] += CERTAIN


@compiled
def _subtract_of_two(relative: Any, labels: Any, expected: Any, residuals: Any) -> None:
    for row in range(len(relative)):
        place = min(max(relative[row], -SURE), SURE) + SURE
        residuals[row] = CERTAIN * labels[row] - expected[np.uint64(place)]


@compiled
def _add_lines(keys: Any, numbers: Any, sums: Any) -> None:
    columns, rows = numbers.shape
    for row in range(rows):
        for column in range(columns):
            sums[keys[row], column] += numbers[column, row]
