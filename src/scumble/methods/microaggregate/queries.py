"""The queries: balanced positions in boxes, sizes of boxes, sums in boxes (proofs: PROOF.md, section 2)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from scumble.compiled import compiled
from scumble.methods.coordinates import Amounts
from scumble.methods.microaggregate.partition import Partition
from scumble.model.counts import Block, Integers
from scumble.model.guarantee import Unit
from scumble.privacy.query import Box, RowChoice, RowMeasurement, Sensitivity

Offer = tuple[int, tuple[int, ...]]
"""An attribute, and the ascending positions at which a box may be split in it."""

RESOLUTION = 1 << 20
"""Sums add integers between -2^20 and 2^20, which stand for the ends of a box in one attribute."""


@dataclass(frozen=True, kw_only=True)
class Balance(RowChoice):
    """For some leaves of a partition, how evenly each position divides the leaf's records in one attribute.

    The score of a position is the smaller of two numbers: the leaf's records before it, and the others. The position
    with the highest score is a median. Leaf `leaves[i]` is scored in attribute `sides[i]` at the ascending
    `positions[i]`.
    """

    partition: Partition
    leaves: tuple[int, ...]
    sides: tuple[int, ...]
    positions: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, partition: Partition, offers: Mapping[int, Offer]) -> "Balance":
        """The query for leaves by number, each with its attribute and positions."""
        return cls(
            partition=partition,
            leaves=tuple(offers),
            sides=tuple(side for side, _ in offers.values()),
            positions=tuple(offered for _, offered in offers.values()),
        )

    @property
    def parts(self) -> tuple[Box, ...]:
        return tuple(self.partition.boxes[leaf] for leaf in self.leaves)

    def answer(self, blocks: Iterable[Block]) -> Integers:
        places = np.array(self.positions, dtype=np.int64)
        bins = np.zeros((len(places), places.shape[1] + 1), dtype=np.int64)
        line = np.full(len(self.partition.boxes), -1, dtype=np.int64)
        line[list(self.leaves)] = np.arange(len(self.leaves))
        sides = np.array(self.sides, dtype=np.int64)
        for block in blocks:
            for codes, leaves in self.partition.routed(block):
                _count_bins(codes, leaves, line, sides, places, bins)
        before = np.cumsum(bins, axis=1)
        return np.minimum(before[:, :-1], before[:, -1:] - before[:, :-1])

    def sensitivity(self, unit: Unit) -> Sensitivity:
        """A record of the leaf lies before a position or not. So adding it raises one of the two numbers by one and the
        smaller by 0 or 1: bound 1, monotone. Replacing it changes the smaller by -1, 0 or 1. The scores of other
        leaves do not change."""
        del unit
        return Sensitivity(bound=1, monotone=True)


@compiled
def _count_bins(codes, leaves, line, sides, places, bins):  # type: ignore[no-untyped-def]
    """Bin b of a line counts the records whose code is at or above exactly b of the positions."""
    for row in range(len(codes)):
        number = line[leaves[row]]
        if number < 0:
            continue
        code = codes[row, sides[number]]
        low, high = 0, places.shape[1]
        while low < high:
            half = (low + high) // 2
            if places[number, half] <= code:
                low = half + 1
            else:
                high = half
        bins[number, low] += 1


@dataclass(frozen=True, kw_only=True)
class Sizes(RowMeasurement):
    """The number of records in each box of a partition."""

    partition: Partition

    def answer(self, blocks: Iterable[Block]) -> Integers:
        sizes = np.zeros(len(self.partition.boxes), dtype=np.int64)
        for block in blocks:
            for _, leaves in self.partition.routed(block):
                sizes += np.bincount(leaves, minlength=len(sizes))
        return sizes

    def sensitivity(self, unit: Unit) -> Sensitivity:
        """A record lies in one box. Adding or removing it changes one size by one; replacing it changes at most two."""
        return Sensitivity(bound=1 if unit is Unit.ADD_REMOVE else 2)


@dataclass(frozen=True, kw_only=True)
class Sums(RowMeasurement):
    """For each box its size and, for each attribute, the sum of its records' positions between the ends of the box.

    A record's position is linear in its amount: -2^20 at the lowest amount of the box and 2^20 at the highest, rounded
    down; 0 if the box has a single amount. Sizes are in units of 2^-20, so that the same noise scale suits them and the
    sums. The vector has 1 + attributes entries for each box.
    """

    partition: Partition
    amounts: tuple[Amounts, ...]

    def answer(self, blocks: Iterable[Block]) -> Integers:
        lows, highs = self.ends()
        totals = np.zeros((len(lows), 1 + len(self.amounts)), dtype=np.int64)
        for block in blocks:
            for codes, leaves in self.partition.routed(block):
                columns = [scale.of_codes(column) for scale, column in zip(self.amounts, codes.T, strict=True)]
                _add_places(np.stack(columns, axis=1), leaves, lows, highs, totals)
        return totals.ravel()

    def ends(self) -> tuple[Integers, Integers]:
        """The lowest and the highest amount of each box in each attribute."""
        boxes = np.array(self.partition.boxes, dtype=np.int64)
        ends = (boxes[:, :, 0], boxes[:, :, 1] - 1)
        lows, highs = (
            np.stack([scale.of_codes(column) for scale, column in zip(self.amounts, codes.T, strict=True)], axis=1)
            for codes in ends
        )
        return lows, highs

    def sensitivity(self, unit: Unit) -> Sensitivity:
        """A record lies in one box. It adds 2^20 to the size and at most 2^20 in absolute value to each sum. Replacing
        is removing one record and adding another."""
        bound = RESOLUTION * (1 + len(self.amounts))
        return Sensitivity(bound=bound if unit is Unit.ADD_REMOVE else 2 * bound)


@compiled
def _add_places(amounts, leaves, lows, highs, totals):  # type: ignore[no-untyped-def]
    for row in range(len(amounts)):
        leaf = leaves[row]
        totals[leaf, 0] += RESOLUTION
        for side in range(amounts.shape[1]):
            low, high = lows[leaf, side], highs[leaf, side]
            if high > low:
                totals[leaf, 1 + side] += (2 * amounts[row, side] - low - high) * RESOLUTION // (high - low)
