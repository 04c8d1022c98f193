"""What is asked for the detail inside the cells, as queries with their sensitivities. PROOF.md holds the arguments."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from scumble.compiled import compiled
from scumble.methods.diffgen.detail.groups import Evidence
from scumble.methods.diffgen.scores import PURITY_SCALE, purity
from scumble.model.counts import Block, Integers
from scumble.model.guarantee import Unit
from scumble.privacy.query import RowChoice, RowMeasurement, Sensitivity, SummedRows


@dataclass(frozen=True, kw_only=True)
class StageChoice(RowChoice, SummedRows):
    """Which attribute tells most about the class beyond the evidence: the purity of (group, value) for each."""

    evidence: Evidence
    places: tuple[int, ...]
    """The predictors to choose from, by their place in the schema."""

    def gather(self, blocks: Iterable[Block]) -> Integers:
        return np.concatenate([table.ravel() for table in _tables(self.evidence, self.places, blocks)])

    def finish(self, sums: Integers) -> Integers:
        shapes = [_shape(self.evidence, place) for place in self.places]
        tables = np.split(sums, np.cumsum([prod(shape) for shape in shapes])[:-1])
        worths = [purity(table.reshape(-1, shape[-1])) for table, shape in zip(tables, shapes, strict=True)]
        return np.array([[int(worth.sum()) for worth in worths]])

    def sensitivity(self, unit: Unit) -> Sensitivity:
        """A record's group follows from the record and from answers paid before, so for each candidate a record lies
        in one (group, bin), and only that one's purity moves: by at most the scale, as `PartitionScores` argues for
        `gini`. It can fall: not monotone. Replacing moves it twice."""
        return Sensitivity(bound=PURITY_SCALE * (1 if unit is Unit.ADD_REMOVE else 2))


@dataclass(frozen=True, kw_only=True)
class StageCounts(RowMeasurement, SummedRows):
    """How many records of each class lie in each (group, bin of an attribute); without an attribute, in each group."""

    evidence: Evidence
    place: int | None

    def gather(self, blocks: Iterable[Block]) -> Integers:
        return _tables(self.evidence, (self.place,), blocks)[0].ravel()

    def sensitivity(self, unit: Unit) -> Sensitivity:
        """A record's group follows from the record and from answers paid before, so it lies in one (group, bin) and
        has one class. Adding or removing it changes one count by one; replacing it, two."""
        return Sensitivity(bound=1 if unit is Unit.ADD_REMOVE else 2)

    @property
    def shape(self) -> tuple[int, int, int]:
        return _shape(self.evidence, self.place)


@dataclass(frozen=True, kw_only=True)
class Margins(RowMeasurement, SummedRows):
    """How many records have each bin of some attributes, whatever their class: one histogram each, end to end."""

    evidence: Evidence
    places: tuple[int, ...]

    def gather(self, blocks: Iterable[Block]) -> Integers:
        flat = replace(self.evidence, stages=())
        return np.concatenate([table.sum(axis=(0, 2)) for table in _tables(flat, self.places, blocks)])

    def sensitivity(self, unit: Unit) -> Sensitivity:
        """A record has one value of each of the attributes, so it stands in one entry of each histogram. Adding or
        removing it changes as many entries by one as there are attributes; replacing it, at most twice as many."""
        return Sensitivity(bound=len(self.places) * (1 if unit is Unit.ADD_REMOVE else 2))

    def split(self, measured: Integers) -> list[Integers]:
        """The vector taken apart again."""
        lengths = [_shape(self.evidence, place)[1] for place in self.places]
        return list(np.split(measured, np.cumsum(lengths)[:-1]))


NO_BINS = np.zeros(1, dtype=np.int64)


def _shape(evidence: Evidence, place: int | None) -> tuple[int, int, int]:
    bins = 1 if place is None else int(evidence.bins(place)[-1]) + 1
    return evidence.grouping.groups, bins, len(evidence.schema.classes)


def _tables(evidence: Evidence, places: Iterable[int | None], blocks: Iterable[Block]) -> list[Integers]:
    """One pass over the rows: for each place a table of shape (groups, bins, classes)."""
    chosen = tuple(places)
    tables = [np.zeros(_shape(evidence, place), dtype=np.int64) for place in chosen]
    every = [None if place is None else evidence.bins(place) for place in chosen]
    for predictors, labels, groups in evidence.sorted(blocks):
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
