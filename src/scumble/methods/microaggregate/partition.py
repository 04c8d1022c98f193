"""Partitions of the public domain into boxes, and the public positions at which a box may be split.

Only `Partition.leaf_of` reads rows: it finds the box of each coded row. It is called by queries, inside the holder.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scumble.compiled import compiled
from scumble.model.counts import Block, Integers
from scumble.model.grid import Grid
from scumble.model.schema import Schema
from scumble.privacy.query import Box

POSITIONS = 32
"""The number of positions offered in a box of any length, so that a long domain costs no more than a short one."""
ROWS_AT_ONCE = 1 << 17

RoutedCodes = npt.NDArray[np.int32]


@dataclass(frozen=True, kw_only=True)
class Partition:
    """A binary tree in flat tuples, whose leaves are `boxes`.

    Node i is split along attribute `side[i]` before the code `position[i]`. Its children are the nodes `below[i]` and
    `below[i] + 1`. A leaf has side -1 and its number in `below`.
    """

    boxes: tuple[Box, ...]
    side: tuple[int, ...] = (-1,)
    position: tuple[int, ...] = (0,)
    below: tuple[int, ...] = (0,)

    @classmethod
    def whole(cls, schema: Schema) -> "Partition":
        """The partition with a single box: the public domain."""
        return cls(boxes=(tuple((0, attribute.domain.size) for attribute in schema.attributes),))

    def halve(self, cuts: Mapping[int, tuple[int, int]]) -> "Partition":
        """Split leaves in two. `cuts` maps a leaf to the side and the position of its split; other leaves stay."""
        side, position, below = list(self.side), list(self.position), list(self.below)
        boxes: list[Box] = []
        for node in sorted((n for n in range(len(side)) if side[n] < 0), key=lambda n: self.below[n]):
            leaf = self.below[node]
            box = self.boxes[leaf]
            if leaf not in cuts:
                below[node] = len(boxes)
                boxes.append(box)
                continue
            side[node], position[node] = cuts[leaf]
            below[node] = len(side)
            side += [-1, -1]
            position += [0, 0]
            below += [len(boxes), len(boxes) + 1]
            (low, high), cut = box[cuts[leaf][0]], cuts[leaf][1]
            for half in ((low, cut), (cut, high)):
                boxes.append(tuple(half if s == cuts[leaf][0] else ends for s, ends in enumerate(box)))
        return Partition(boxes=tuple(boxes), side=tuple(side), position=tuple(position), below=tuple(below))

    def leaf_of(self, codes: RoutedCodes) -> Integers:
        """The number of the box that contains each row."""
        leaves = np.empty(len(codes), dtype=np.int64)
        side, position, below = (np.array(values, dtype=np.int64) for values in (self.side, self.position, self.below))
        _route(codes, side, position, below, leaves)
        return leaves

    def routed(self, block: Block) -> Iterator[tuple[RoutedCodes, Integers]]:
        """Chunks of the rows of a block: a matrix of codes, and the box of each row."""
        for start in range(0, len(block[0]), ROWS_AT_ONCE):
            codes = np.stack([column[start : start + ROWS_AT_ONCE].astype(np.int32) for column in block], axis=1)
            yield codes, self.leaf_of(codes)


@compiled
def _route(codes, side, position, below, leaves):  # type: ignore[no-untyped-def]
    for row in range(len(codes)):
        node = 0
        while side[node] >= 0:
            node = below[node] + (1 if codes[row, side[node]] >= position[node] else 0)
        leaves[row] = below[node]


def positions(grid: Grid, low: int, high: int) -> tuple[int, ...]:
    """Codes inside [low, high), ascending, evenly spaced on a logarithmic scale from zero; some may be repeated.

    Amounts often vary over orders of magnitude (Benford's law), and public bounds are generous, so values crowd near
    zero. Positions are therefore evenly spaced in sign(x) ln(1 + |x|), where x is the value in steps of the grid. Far
    from zero, as for years, this is nearly even spacing. On an irregular grid, positions are evenly spaced by code.

    >>> from decimal import Decimal
    >>> money = Grid.regular(low=Decimal(0), high=Decimal(10**6), step=Decimal(1))
    >>> positions(money, 0, 10**6)[::8]
    (1, 42, 1232, 35111)
    >>> positions(money, 7, 8)[:2]
    (7, 7)
    """
    last = high - 1
    if last <= low:
        return (low,) * POSITIONS
    if grid.step is None:
        places = np.linspace(low, high, POSITIONS + 2)[1:-1]
    else:
        offset = float(grid.edges[0] / grid.step)
        scale = np.linspace(_logarithm(offset + low), _logarithm(offset + high), POSITIONS + 2)[1:-1]
        places = np.sign(scale) * np.expm1(np.abs(scale)) - offset
    return tuple(int(place) for place in np.clip(np.rint(places), low + 1, last))


def middle(grid: Grid, low: int, high: int) -> int:
    """The code halfway along `positions`, published for a box whose centre is not measured."""
    return positions(grid, low, high)[POSITIONS // 2]


def _logarithm(value: float) -> float:
    return math.copysign(math.log1p(abs(value)), value)


def widest_side(schema: Schema, box: Box) -> int | None:
    """The attribute in which a box is the largest fraction of the domain, the first among equals. None if the box has
    a single code."""
    widths = [
        (high - low) / attribute.domain.size if high - low > 1 else 0.0
        for attribute, (low, high) in zip(schema.attributes, box, strict=True)
    ]
    best = max(range(len(widths)), key=lambda side: widths[side])
    return best if widths[best] > 0 else None
