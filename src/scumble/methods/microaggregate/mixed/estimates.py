"""Estimates of the groups of a mixed table from noisy counts. Post-processing: it reads measured numbers only.

Every count of a group is noisy, and most groups resemble the groups around them. So estimates follow the tree of the
partition from the root: a node's counts are shrunk towards those that its parent suggests, by as much as their noise
explains the difference (positive-part James-Stein). Last, the groups are fitted to their sizes and to the margins of
the whole table by iterative proportional fitting.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scumble.methods.microaggregate.mixed.sides import Side
from scumble.methods.microaggregate.partition import Partition
from scumble.model.counts import Floats, Integers
from scumble.model.rounding import project
from scumble.privacy.query import Box

FITTING_ROUNDS = 20


@dataclass(frozen=True, kw_only=True)
class NoisyTables:
    """Noisy tables of shape (groups, bins), one for each side, each entry with noise of this variance."""

    tables: tuple[Integers, ...]
    variance: float


@dataclass(frozen=True, kw_only=True)
class Branches:
    """The nodes of a partition, parents before children: their parents, their boxes and the groups below each."""

    parents: tuple[int, ...]
    boxes: tuple[Box, ...]
    groups: tuple[Integers, ...]

    @classmethod
    def of(cls, partition: Partition, whole: Box) -> "Branches":
        nodes = len(partition.side)
        parents, boxes = [-1] * nodes, [whole] * nodes
        for node in range(nodes):
            side = partition.side[node]
            if side < 0:
                continue
            low, high = boxes[node][side]
            cut = partition.position[node]
            for child, half in enumerate(((low, cut), (cut, high)), start=partition.below[node]):
                parents[child] = node
                boxes[child] = tuple(half if s == side else ends for s, ends in enumerate(boxes[node]))
        below: list[list[int]] = [[] for _ in range(nodes)]
        for node in reversed(range(nodes)):
            if partition.side[node] < 0:
                below[node] = [partition.below[node]]
            if parents[node] >= 0:
                below[parents[node]] = below[node] + below[parents[node]]
        return cls(parents=tuple(parents), boxes=tuple(boxes), groups=tuple(np.array(each) for each in below))


def pooled_sizes(partition: Partition, sides: Sequence[Side], measured: NoisyTables) -> tuple[Floats, float]:
    """The size of each group, from the sums of its counts over each attribute, and the standard error of their total.

    A sum over k bins has k times the variance of a count, so it has the weight 1/k. Bins outside a box are left out.
    """
    sizes, variance = np.zeros(len(partition.boxes)), 0.0
    for group, box in enumerate(partition.boxes):
        inside = [side.within(*ends) for side, ends in zip(sides, box, strict=True)]
        weights = np.array([1 / (each.stop - each.start) for each in inside])
        sums = [int(table[group, each].sum()) for table, each in zip(measured.tables, inside, strict=True)]
        sizes[group] = weights @ sums / weights.sum()
        variance += measured.variance / weights.sum()
    return sizes, float(np.sqrt(variance))


@dataclass(frozen=True, kw_only=True)
class GroupEvidence:
    """All that was measured: first tables of a few large parts of the domain, if there are more groups than parts; then
    tables of the groups.

    `part_of` is the part that each group lies in, and `sizes` are the sizes of the groups.
    """

    partition: Partition
    sides: tuple[Side, ...]
    part_of: Integers
    first: NoisyTables | None
    then: NoisyTables
    sizes: Integers

    def counts(self) -> tuple[Floats, ...]:
        """For each side, the estimated counts of each group by bin: none negative, and zero outside the box."""
        if self.sizes.sum() == 0:
            return tuple(np.zeros((len(self.sizes), side.bins)) for side in self.sides)
        branches = Branches.of(self.partition, tuple((0, side.size) for side in self.sides))
        return tuple(self._of_side(branches, number) for number in range(len(self.sides)))

    def _of_side(self, branches: Branches, number: int) -> Floats:
        side = self.sides[number]
        inside = np.zeros((len(self.sizes), side.bins), dtype=bool)
        for group, box in enumerate(self.partition.boxes):
            inside[group, side.within(*box[number])] = True
        found: list[Floats] = []
        for node, (parent, groups) in enumerate(zip(branches.parents, branches.groups, strict=True)):
            bins = side.within(*branches.boxes[node][number])
            size = int(self.sizes[groups].sum())
            value, noise = self._measured(number, groups, inside)
            found.append(np.zeros(side.bins))
            if not node:
                found[node] = project(value, size)
            elif size:
                prior = found[parent][bins]
                prior = prior * (size / prior.sum()) if prior.sum() > 0 else np.full(len(prior), size / len(prior))
                found[node][bins] = _shrunk(value[bins], prior, noise[bins], size)
        fitted = np.zeros(inside.shape)
        for node, groups in enumerate(branches.groups):
            if len(groups) == 1:
                fitted[groups[0]] = found[node]
        return _fit(fitted, inside, self.sizes, found[0])

    def _measured(self, number: int, groups: Integers, inside: Integers) -> tuple[Floats, Floats]:
        """The counts of several groups together, and the variances of their noise. If the groups make up whole parts,
        what was measured first is included, weighted by one over the variances."""
        counts = (self.then.tables[number] * inside)[groups].sum(axis=0)
        noise = inside[groups].sum(axis=0) * self.then.variance
        parts = np.unique(self.part_of[groups])
        if self.first is None or np.isin(self.part_of, parts).sum() > len(groups):
            return counts, noise
        first, variance = self.first.tables[number][parts].sum(axis=0), len(parts) * self.first.variance
        weight = noise / (noise + variance)
        return weight * first + (1 - weight) * counts, weight * variance


def _shrunk(counts: Floats, prior: Floats, variance: Floats, size: int) -> Floats:
    """Counts shrunk towards a prior, then made non-negative with the sum `size`."""
    energy = float(((counts - prior) ** 2 / variance).sum())
    kept = max(0.0, 1 - len(prior) / energy) if energy > 0 else 0.0
    return project(prior + kept * (counts - prior), size)


def _fit(counts: Floats, inside: Integers, sizes: Integers, margin: Floats) -> Floats:
    """The counts with the given sizes of groups and, as nearly as possible, the given margin."""
    fitted = counts + inside * (1e-6 * margin.sum() / counts.size)
    for _ in range(FITTING_ROUNDS):
        columns = fitted.sum(axis=0)
        fitted = fitted * np.divide(margin, columns, out=np.zeros(len(columns)), where=columns > 0)
        rows = fitted.sum(axis=1)
        empty = rows <= 0
        fitted[empty] = inside[empty]
        rows = fitted.sum(axis=1)
        fitted = fitted * (sizes / rows)[:, np.newaxis]
    return fitted
