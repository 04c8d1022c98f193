"""The query of mixed tables: for each group, how many of its records lie in each bin of each attribute."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from scumble.methods.microaggregate.mixed.sides import Side
from scumble.methods.microaggregate.partition import Partition
from scumble.model.counts import Block, Integers
from scumble.model.guarantee import Unit
from scumble.privacy.query import RowMeasurement, Sensitivity


@dataclass(frozen=True, kw_only=True)
class Profiles(RowMeasurement):
    """The numbers of records in each bin of each side, for each box of a partition: one vector, side after side."""

    partition: Partition
    sides: tuple[Side, ...]

    def answer(self, blocks: Iterable[Block]) -> Integers:
        groups = len(self.partition.boxes)
        tables = [np.zeros(groups * side.bins, dtype=np.int64) for side in self.sides]
        for block in blocks:
            for codes, leaves in self.partition.routed(block):
                for place, (side, column) in enumerate(zip(self.sides, codes.T, strict=True)):
                    entries = leaves * side.bins + side.bin_of(column)
                    tables[place] += np.bincount(entries, minlength=groups * side.bins)
        return np.concatenate(tables)

    def sensitivity(self, unit: Unit) -> Sensitivity:
        """A record lies in one box and, in each of the d attributes, in one bin. Adding or removing it changes d
        entries by one; replacing it changes at most two for each attribute."""
        return Sensitivity(bound=len(self.sides) * (1 if unit is Unit.ADD_REMOVE else 2))

    def tables(self, answer: Integers) -> tuple[Integers, ...]:
        """The answer as a table of shape (groups, bins) for each side."""
        groups = len(self.partition.boxes)
        ends = np.cumsum([groups * side.bins for side in self.sides])
        parts = np.split(answer, ends[:-1])
        return tuple(part.reshape(groups, side.bins) for part, side in zip(parts, self.sides, strict=True))
