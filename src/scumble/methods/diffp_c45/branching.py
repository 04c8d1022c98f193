"""The tree while it grows: nodes as boxes of codes, the splits that a box offers, and the node of each record.

Everything here is public except the records, which only `Branching.routed` reads. Queries call it inside the holder.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from scumble.compiled import compiled
from scumble.methods.microaggregate.partition import POSITIONS, positions
from scumble.model.counts import Block, Integers
from scumble.model.grid import Grid
from scumble.model.schema import Schema
from scumble.privacy.query import Box

EVERY_VALUE = -1
MOST_BRANCHES = 256
"""A categorical attribute with more values is not tested: noise would hide what its branches hold."""
ROWS_AT_ONCE = 1 << 17


class NodeTest(NamedTuple):
    """A test: one branch for every value of an attribute (EVERY_VALUE), or codes below `position` and the others."""

    side: int
    position: int


@dataclass(frozen=True, kw_only=True)
class Branching:
    """A tree in flat tuples. Node i is `boxes[i]`; it tests attribute `side[i]`, and its branches follow `first[i]`.

    A node without a test has side -1.
    """

    boxes: tuple[Box, ...]
    side: tuple[int, ...] = (-1,)
    position: tuple[int, ...] = (0,)
    first: tuple[int, ...] = (0,)

    @classmethod
    def whole(cls, schema: Schema) -> "Branching":
        return cls(boxes=(tuple((0, attribute.domain.size) for attribute in schema.attributes),))

    @property
    def leaves(self) -> tuple[int, ...]:
        return tuple(node for node, side in enumerate(self.side) if side < 0)

    def branches(self, node: int) -> range:
        """The numbers of a node's branches."""
        if self.side[node] < 0:
            return range(0)
        low, high = self.boxes[node][self.side[node]]
        return range(self.first[node], self.first[node] + (high - low if self.position[node] == EVERY_VALUE else 2))

    def divided(self, splits: dict[int, NodeTest]) -> "Branching":
        """The tree with a test at some of its leaves."""
        boxes, side, position, first = list(self.boxes), list(self.side), list(self.position), list(self.first)
        for node, split in splits.items():
            side[node], position[node], first[node] = split.side, split.position, len(boxes)
            low, high = boxes[node][split.side]
            cuts = range(low, high + 1) if split.position == EVERY_VALUE else (low, split.position, high)
            for ends in pairwise(cuts):
                boxes.append(tuple(ends if s == split.side else e for s, e in enumerate(boxes[node])))
                side.append(-1)
                position.append(0)
                first.append(0)
        return Branching(boxes=tuple(boxes), side=tuple(side), position=tuple(position), first=tuple(first))

    def routed(self, block: Block) -> Iterator[tuple[Integers, Integers]]:
        """Chunks of the rows of a block: a matrix of codes, and the leaf of each row."""
        side, position, first = (np.array(values, dtype=np.int64) for values in (self.side, self.position, self.first))
        lows = np.array([box[s][0] if s >= 0 else 0 for box, s in zip(self.boxes, self.side, strict=True)])
        for start in range(0, len(block[0]), ROWS_AT_ONCE):
            codes = np.stack([column[start : start + ROWS_AT_ONCE].astype(np.int64) for column in block], axis=1)
            yield codes, _leaves(codes, side, position, first, lows)


@compiled
def _leaves(codes, side, position, first, lows):  # type: ignore[no-untyped-def]
    leaves = np.empty(len(codes), dtype=np.int64)
    for row in range(len(codes)):
        node = 0
        while side[node] >= 0:
            code = codes[row, side[node]]
            if position[node] == EVERY_VALUE:
                node = first[node] + code - lows[node]
            else:
                node = first[node] + (1 if code >= position[node] else 0)
        leaves[row] = node
    return leaves


def offered_sides(schema: Schema) -> tuple[int, ...]:
    """The attributes that may be tested: the predictors, except those with too many categories."""
    return tuple(
        side
        for side, attribute in enumerate(schema.attributes)
        if attribute.name != schema.target
        and (attribute.domain.splits_anywhere or attribute.domain.size <= MOST_BRANCHES)
    )


def offered_positions(schema: Schema, side: int, box: Box) -> tuple[int, ...]:
    """The positions at which a box may be split in an attribute that is split anywhere: always the same number."""
    domain, (low, high) = schema.attributes[side].domain, box[side]
    if isinstance(domain, Grid) or high - low < 2:
        return (low,) * POSITIONS if high - low < 2 else positions(domain, low, high)  # type: ignore[arg-type]
    places = np.linspace(low, high, POSITIONS + 2)[1:-1]
    return tuple(int(place) for place in np.clip(np.rint(places), low + 1, high - 1))
