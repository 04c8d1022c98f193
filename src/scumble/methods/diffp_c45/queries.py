"""The queries about the nodes of a level: their sizes, scores of their splits, and the classes in the leaves.

All follow from the class counts of each node by the values of each attribute, which `_NodeTables` gathers in one scan.
"""

from abc import abstractmethod
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np

from scumble.compiled import compiled
from scumble.methods.diffp_c45.branching import EVERY_VALUE, Branching, NodeTest, offered_positions, offered_sides
from scumble.methods.diffp_c45.worths import Operator, worth, worth_sensitivity
from scumble.methods.microaggregate.partition import POSITIONS
from scumble.model.counts import Block, Integers
from scumble.model.guarantee import Unit
from scumble.model.schema import Schema
from scumble.privacy.query import Box, RowChoice, RowMeasurement, Sensitivity, SummedRows


@dataclass(frozen=True, kw_only=True)
class SplitScores(SummedRows, RowChoice):
    """For each of some leaves, the scores of the splits that it is offered; all leaves are offered as many.

    The score of a split is the total worth of the groups that it makes. A split at an end of the box makes one group.
    """

    schema: Schema
    tree: Branching
    nodes: tuple[int, ...]
    offers: tuple[tuple[NodeTest, ...], ...]
    operator: Operator
    limit: int

    @property
    def parts(self) -> tuple[Box, ...]:
        return tuple(self.tree.boxes[node] for node in self.nodes)

    @property
    def sums_key(self) -> Hashable:
        return self.tree, self.nodes

    def gather(self, blocks: Iterable[Block]) -> Integers:
        sides, bins = offered_sides(self.schema), _bins(self.schema)
        starts = np.concatenate([[0], np.cumsum(bins)])
        tables = np.zeros((len(self.nodes), starts[-1], len(self.schema.classes)), dtype=np.int64)
        line = np.full(len(self.tree.boxes), -1, dtype=np.int64)
        line[list(self.nodes)] = np.arange(len(self.nodes))
        places = np.array(
            [[_positions(self.schema, side, self.tree.boxes[node]) for side in sides] for node in self.nodes]
        )
        numeric = np.array([self.schema.attributes[side].domain.splits_anywhere for side in sides])
        label = [each.name for each in self.schema.attributes].index(str(self.schema.target))
        for block in blocks:
            for codes, leaves in self.tree.routed(block):
                _count(codes, leaves, line, np.array(sides), places, numeric, starts, label, tables)
        return tables

    def finish(self, sums: Integers) -> Integers:
        sides, bins = offered_sides(self.schema), _bins(self.schema)
        tables = dict(zip(sides, np.split(sums, np.cumsum(bins)[:-1], axis=1), strict=True))
        scores = np.zeros((len(self.nodes), len(self.offers[0])), dtype=np.int64)
        by_side = {side: self._scores(side, table) for side, table in tables.items()}
        for number, (node, offers) in enumerate(zip(self.nodes, self.offers, strict=True)):
            columns = {NodeTest(side=side, position=EVERY_VALUE): 0 for side in sides}
            for side in {offer.side for offer in offers if offer.position != EVERY_VALUE}:
                offered = offered_positions(self.schema, side, self.tree.boxes[node])
                columns |= {NodeTest(side=side, position=at): place for place, at in enumerate(offered)}
            scores[number] = [by_side[offer.side][number, columns[offer]] for offer in offers]
        return scores

    def _scores(self, side: int, table: Integers) -> Integers:
        """The scores of all splits of one attribute: shape (nodes, splits)."""
        if not self.schema.attributes[side].domain.splits_anywhere:
            return self._worth(table).sum(axis=1, keepdims=True)
        below = np.cumsum(table, axis=1)
        left, whole = below[:, :-1], below[:, -1:]
        return self._worth(left) + self._worth(whole - left)

    def _worth(self, groups: Integers) -> Integers:
        return worth(self.operator, groups, limit=self.limit)

    def sensitivity(self, unit: Unit) -> Sensitivity:
        """A record lies in one leaf, and in one of the groups that a split of it makes. So it changes each score by no
        more than the worth of one group, which `worth_sensitivity` bounds. Other leaves' scores do not change."""
        return worth_sensitivity(self.operator, unit, limit=self.limit, classes=len(self.schema.classes))


class _LeafCounts(SummedRows, RowMeasurement):
    """Counts of records in leaves."""

    schema: Schema
    tree: Branching
    nodes: tuple[int, ...]

    @abstractmethod
    def columns(self, codes: Integers) -> tuple[Integers | int, int]:
        """The column of each row in the line of its leaf, and the number of columns."""

    def gather(self, blocks: Iterable[Block]) -> Integers:
        _, width = self.columns(np.zeros((0, len(self.schema.attributes)), dtype=np.int64))
        counts = np.zeros(len(self.tree.boxes) * width, dtype=np.int64)
        for block in blocks:
            for codes, leaves in self.tree.routed(block):
                counts += np.bincount(leaves * width + self.columns(codes)[0], minlength=len(counts))
        return counts.reshape(-1, width)[list(self.nodes)].ravel()

    def sensitivity(self, unit: Unit) -> Sensitivity:
        """A record lies in one leaf and has one class, so it is counted at most once: adding or removing it changes one
        count by one. Replacing it changes at most two counts, each by one."""
        changes = 1 if unit is Unit.ADD_REMOVE else 2
        return Sensitivity(bound=changes, squared=changes)


@dataclass(frozen=True, kw_only=True)
class LeafSizes(_LeafCounts):
    """The number of records in each of some leaves."""

    schema: Schema
    tree: Branching
    nodes: tuple[int, ...]

    def columns(self, codes: Integers) -> tuple[int, int]:
        return 0, 1


@dataclass(frozen=True, kw_only=True)
class LeafClasses(_LeafCounts):
    """The number of records of each class in each of some leaves."""

    schema: Schema
    tree: Branching
    nodes: tuple[int, ...]

    def columns(self, codes: Integers) -> tuple[Integers, int]:
        label = [each.name for each in self.schema.attributes].index(str(self.schema.target))
        return codes[:, label], len(self.schema.classes)


def _bins(schema: Schema) -> list[int]:
    """The number of groups in which each tested attribute is counted."""
    domains = [schema.attributes[side].domain for side in offered_sides(schema)]
    return [POSITIONS + 1 if domain.splits_anywhere else domain.size for domain in domains]


def _positions(schema: Schema, side: int, box: Box) -> tuple[int, ...]:
    splits = schema.attributes[side].domain.splits_anywhere
    return offered_positions(schema, side, box) if splits else (0,) * POSITIONS


@compiled
def _count(codes, leaves, line, sides, places, numeric, starts, label, tables):  # type: ignore[no-untyped-def]
    """Count rows by node, group of each attribute and class. Group b of a number has b positions at or below it."""
    for row in range(len(codes)):
        number = line[leaves[row]]
        if number < 0:
            continue
        for place in range(len(sides)):
            group = codes[row, sides[place]]
            if numeric[place]:
                code, low, high = group, 0, places.shape[2]
                while low < high:
                    half = (low + high) // 2
                    if places[number, place, half] <= code:
                        low = half + 1
                    else:
                        high = half
                group = low
            tables[number, starts[place] + group, codes[row, label]] += 1
