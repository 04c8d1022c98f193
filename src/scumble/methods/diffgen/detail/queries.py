"""The queries that measure detail inside the cells, with their sensitivities (proofs: PROOF.md, section 3)."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from scumble.compiled import compiled
from scumble.methods.diffgen.detail.groups import LogOddsModel
from scumble.methods.diffgen.scores import PURITY_SCALE, purity
from scumble.model.counts import Block, Integers
from scumble.model.guarantee import Unit
from scumble.privacy.query import RowChoice, RowMeasurement, Sensitivity, SummedRows


@dataclass(frozen=True, kw_only=True)
class StageChoice(RowChoice, SummedRows):
    """Which attribute adds most to the log-odds model: for each, the sum of the purities of its (group, bin) pairs."""

    model: LogOddsModel
    places: tuple[int, ...]
    """The predictors to choose from, by their index in `schema.predictors`."""

    def gather(self, blocks: Iterable[Block]) -> Integers:
        return np.concatenate([table.ravel() for table in _tables(self.model, self.places, blocks)])

    def finish(self, sums: Integers) -> Integers:
        shapes = [_shape(self.model, place) for place in self.places]
        tables = np.split(sums, np.cumsum([prod(shape) for shape in shapes])[:-1])
        worths = [purity(table.reshape(-1, shape[-1])) for table, shape in zip(tables, shapes, strict=True)]
        return np.array([[int(worth.sum()) for worth in worths]])

    def sensitivity(self, unit: Unit) -> Sensitivity:
        """A record's group depends only on the record and on answers paid before. So for each candidate a record lies
        in one (group, bin), and only the purity of that pair changes: by at most the scale, as shown for `gini` in
        `PartitionScores`. It can decrease, so it is not monotone. Replacing a record changes it twice."""
        return Sensitivity(bound=PURITY_SCALE * (1 if unit is Unit.ADD_REMOVE else 2))


@dataclass(frozen=True, kw_only=True)
class StageCounts(RowMeasurement, SummedRows):
    """The number of records of each class in each (group, bin of an attribute), or in each group if `place` is None."""

    model: LogOddsModel
    place: int | None

    def gather(self, blocks: Iterable[Block]) -> Integers:
        return _tables(self.model, (self.place,), blocks)[0].ravel()

    def sensitivity(self, unit: Unit) -> Sensitivity:
        """A record's group depends only on the record and on answers paid before. So a record lies in one (group, bin)
        and has one class. Adding or removing it changes one count by one; replacing it changes at most two."""
        return Sensitivity(bound=1 if unit is Unit.ADD_REMOVE else 2)

    @property
    def shape(self) -> tuple[int, int, int]:
        return _shape(self.model, self.place)


@dataclass(frozen=True, kw_only=True)
class MarginalCounts(RowMeasurement, SummedRows):
    """Marginals: the number of records in each bin of some attributes, over all classes, concatenated."""

    model: LogOddsModel
    places: tuple[int, ...]

    def gather(self, blocks: Iterable[Block]) -> Integers:
        flat = replace(self.model, stages=())
        return np.concatenate([table.sum(axis=(0, 2)) for table in _tables(flat, self.places, blocks)])

    def sensitivity(self, unit: Unit) -> Sensitivity:
        """A record has one value of each attribute, so it is counted in one entry of each marginal. Adding or removing
        it changes one entry by one for each attribute; replacing it changes at most two for each."""
        return Sensitivity(bound=len(self.places) * (1 if unit is Unit.ADD_REMOVE else 2))

    def split(self, measured: Integers) -> list[Integers]:
        """One vector for each attribute."""
        lengths = [_shape(self.model, place)[1] for place in self.places]
        return list(np.split(measured, np.cumsum(lengths)[:-1]))


NO_BINS = np.zeros(1, dtype=np.int64)


def _shape(model: LogOddsModel, place: int | None) -> tuple[int, int, int]:
    bins = 1 if place is None else int(model.bins(place)[-1]) + 1
    return len(model.current_groups), bins, len(model.schema.classes)


def _tables(model: LogOddsModel, places: Iterable[int | None], blocks: Iterable[Block]) -> list[Integers]:
    """Count a table of shape (groups, bins, classes) for each place, in one pass over the rows."""
    chosen = tuple(places)
    tables = [np.zeros(_shape(model, place), dtype=np.int64) for place in chosen]
    every = [None if place is None else model.bins(place) for place in chosen]
    for predictors, labels, groups in model.grouped_rows(blocks):
        for place, bins, table in zip(chosen, every, tables, strict=True):
            if place is None or bins is None:
                _count(np.zeros_like(groups), NO_BINS, groups, labels, table)
            else:
                _count(predictors[place], bins, groups, labels, table)
    return tables


@compiled
def _count(codes: Any, bins: Any, groups: Any, labels: Any, table: Any) -> None:
    for row in range(len(codes)):
        table[groups[row], bins[codes[row]], labels[row]] += 1
