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


def estimated_counts(
    partition: Partition, sides: Sequence[Side], sizes: Integers, margins: NoisyTables, profiles: NoisyTables
) -> tuple[Floats, ...]:
    """For each side, the estimated counts of each group by bin: none negative, and zero outside the box."""
    whole = tuple((0, side.size) for side in sides)
    branches = Branches.of(partition, whole)
    return tuple(
        _one_side(branches, number, side, sizes, margins, profiles) if sizes.sum() > 0 else _nothing(sizes, side)
        for number, side in enumerate(sides)
    )


def _nothing(sizes: Integers, side: Side) -> Floats:
    return np.zeros((len(sizes), side.bins))


def _one_side(
    branches: Branches, number: int, side: Side, sizes: Integers, margins: NoisyTables, profiles: NoisyTables
) -> Floats:
    counts = profiles.tables[number]
    inside = np.zeros(counts.shape, dtype=bool)
    for node, groups in enumerate(branches.groups):
        if len(groups) == 1:
            inside[groups[0], side.within(*branches.boxes[node][number])] = True
    found = [_margin(counts * inside, inside, margins.tables[number][0], int(sizes.sum()), margins, profiles)]
    fitted = np.zeros(counts.shape)
    for node, (parent, groups) in enumerate(zip(branches.parents, branches.groups, strict=True)):
        bins = side.within(*branches.boxes[node][number])
        if node:
            found.append(np.zeros(side.bins))
            size, prior = int(sizes[groups].sum()), found[parent][bins]
            prior = prior * (size / prior.sum()) if prior.sum() > 0 else np.full(len(prior), size / len(prior))
            noise = inside[groups][:, bins].sum(axis=0) * profiles.variance
            found[node][bins] = _shrunk((counts * inside)[groups][:, bins].sum(axis=0), prior, noise, size)
        if len(groups) == 1:
            fitted[groups[0], bins] = found[node][bins]
    return _fit(fitted, inside, sizes, found[0])


def _margin(
    counts: Integers, inside: Integers, margin: Integers, total: int, margins: NoisyTables, profiles: NoisyTables
) -> Floats:
    """The counts of the whole table: the margin and the sums over groups, weighted by one over their variances."""
    weight = profiles.variance * inside.sum(axis=0)
    weight = weight / (weight + margins.variance)
    return project(weight * margin + (1 - weight) * counts.sum(axis=0), total)


def _shrunk(counts: Integers, prior: Floats, variance: Floats, size: int) -> Floats:
    """Counts shrunk towards a prior, then made non-negative with the sum `size`."""
    if size == 0:
        return np.zeros(len(prior))
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
