"""The queries that count records: by value, by bin and class, and by group of log-odds and class.

Sensitivities are proved in PROOF.md, section 3.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from scumble.compiled import compiled
from scumble.methods.diffgen.detail.binning import range_width
from scumble.methods.diffgen.detail.combinations import EVERYONE, Combination, chunks
from scumble.methods.diffgen.detail.groups import LogOddsGroups, add_groups
from scumble.methods.diffgen.detail.records import Records
from scumble.methods.diffgen.detail.terms import LogOddsModel
from scumble.model.counts import Block, Integers
from scumble.model.guarantee import Unit
from scumble.model.operation import SUMS
from scumble.model.schema import Schema
from scumble.privacy.query import RowMeasurement, Sensitivity, SummedRows


@dataclass(frozen=True, kw_only=True)
class ValueCounts(RowMeasurement, SummedRows):
    """The number of records with each value of some attributes, and in each range of values of those with very many."""

    needs = SUMS
    schema: Schema
    places: tuple[int, ...]

    def gather(self, blocks: Iterable[Block]) -> Integers:
        sums = [np.zeros(self.schema.predictors[place].domain.size, dtype=np.int64) for place in self.places]
        for predictors, _ in chunks(self.schema, blocks):
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

    needs = SUMS
    model: LogOddsModel
    combination: Combination
    groups: LogOddsGroups | None = None
    """None if all records are one group."""

    def gather(self, blocks: Iterable[Block]) -> Integers:
        table = np.zeros((prod(self.shape[:2]), self.shape[2]), dtype=np.int64)
        _count_classes_in(table, blocks, self.model, self.combination, self.groups)
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

    needs = SUMS
    model: LogOddsModel
    groups: LogOddsGroups

    def gather(self, blocks: Iterable[Block]) -> Integers:
        table = np.zeros(self.shape, dtype=np.int64)
        _count_classes_in(table, blocks, self.model, EVERYONE, self.groups)
        return table.ravel()

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.groups), len(self.model.schema.classes)

    def sensitivity(self, unit: Unit) -> Sensitivity:
        """A record's log-odds depend only on the record and on answers paid before. So it lies in one group and has one
        class. Adding or removing it changes one count by one; replacing it changes at most two."""
        return Sensitivity(bound=1 if unit is Unit.ADD_REMOVE else 2)


def _count_classes_in(
    table: Integers,
    blocks: Iterable[Block],
    model: LogOddsModel,
    combination: Combination,
    groups: LogOddsGroups | None,
) -> None:
    """Count the records of each class in each group and combination of bins."""
    records = Records(model if groups is not None else replace(model, terms=()), [combination])
    for codes, labels in records.chunks(blocks):
        (keys,) = records.keys(codes)
        if groups is not None:
            relative = records.log_odds(codes)
            add_groups(relative, groups.edges, len(keys), len(combination), keys)
        _count_classes(keys, labels, table)


@compiled
def _count(codes: Any, counts: Any) -> None:
    for row in range(len(codes)):
        counts[codes[row]] += 1


@compiled
def _count_classes(keys: Any, labels: Any, table: Any) -> None:
    for row in range(len(keys)):
        table[keys[row], labels[row]] += 1
