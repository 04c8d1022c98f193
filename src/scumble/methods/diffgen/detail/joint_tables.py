"""Sums for many combinations of attributes at once, from few tables of which they are marginals.

A table of three attributes by three others contains nine pairs, and a record is added to it once instead of nine times.
Sums are whole numbers, so the marginals are exactly the sums of each combination.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations as subsets
from math import prod
from typing import Any

import numpy as np

from scumble.compiled import compiled
from scumble.methods.diffgen.detail.combinations import Combination, Keys
from scumble.model.counts import Integers

LARGEST_PACK = 128
"""The most combinations of bins of a pack. Two packs make a table that fits into the processor's second cache."""
MOST_CELLS = 1 << 22
"""The most cells of all tables together, if that can be reached with smaller packs: 32 MB for each class."""

Axis = int
"""The number of an attribute in certain bins."""
Pack = tuple[Axis, ...]
"""Attributes whose combination of bins is found once for each record."""


@dataclass(frozen=True, kw_only=True)
class JointTables:
    """Tables by one pack or two, so that each wanted combination is a marginal of one of them."""

    wanted: tuple[tuple[Axis, ...], ...]
    """The axes of each wanted combination."""
    sizes: tuple[int, ...]
    """The number of bins of each axis."""
    packs: tuple[Pack, ...]
    """The last one is empty: all records have the same key."""
    tables: tuple[tuple[int, int], ...]
    """The two packs of each table."""
    places: tuple[int, ...]
    """The table of each wanted combination."""

    @classmethod
    def of(cls, wanted: Sequence[tuple[Axis, ...]], sizes: Sequence[int], largest: int) -> "JointTables":
        packs = _packs(wanted, sizes, largest)
        pack_of = {axis: number for number, pack in enumerate(packs) for axis in pack}
        needed: list[tuple[int, ...]] = []
        for axes in wanted:
            needed.append(tuple(sorted({pack_of[axis] for axis in axes})))
            if len(needed[-1]) not in (1, 2):  # a pack for this combination alone
                needed[-1] = (len(packs),)
                packs.append(axes)
        nothing = len(packs)
        tables: list[tuple[int, int]] = []
        table_of: dict[tuple[int, ...], int] = {}
        for within in sorted(needed, key=len, reverse=True):  # pairs of packs first: they also contain each pack alone
            if within not in table_of:
                table_of[within] = len(tables)
                tables.append((within[0], within[1] if len(within) > 1 else nothing))
                for pack in within:
                    table_of.setdefault((pack,), table_of[within])
        return cls(
            wanted=tuple(wanted),
            sizes=tuple(sizes),
            packs=(*packs, ()),
            tables=tuple(tables),
            places=tuple(table_of[within] for within in needed),
        )

    @cached_property
    def lengths(self) -> list[int]:
        """The number of cells of each table."""
        return [_length(self.sizes, self.packs[one] + self.packs[other]) for one, other in self.tables]

    def add(self, keys: Keys, numbers: Any, sums: Integers) -> None:
        """Add the numbers (columns, rows) of rows with these keys (packs, rows) to the sums (cells, columns)."""
        offsets = np.cumsum([0, *self.lengths])
        steps = np.array([_length(self.sizes, self.packs[second]) for _, second in self.tables])
        _add_to_tables(keys, np.array(self.tables), steps, offsets, numbers, sums)

    def marginals(self, sums: Integers) -> list[Integers]:
        """For each wanted combination, its sums (combinations of bins, columns)."""
        tables = np.split(sums, np.cumsum(self.lengths)[:-1])
        found = []
        for axes, place in zip(self.wanted, self.places, strict=True):
            first, second = self.tables[place]
            here = (*self.packs[first], *self.packs[second])
            table = tables[place].reshape(*(self.sizes[axis] for axis in here), sums.shape[1])
            order = [here.index(axis) for axis in axes]
            rest = tuple(number for number in range(len(here)) if number not in order)
            marginal = table.transpose(*order, len(here), *rest)
            found.append(marginal.reshape(_length(self.sizes, axes), sums.shape[1], -1).sum(axis=2))
        return found


def joint_tables(combinations: Sequence[Combination]) -> tuple[JointTables, list[Combination]]:
    """Tables for these combinations, and the packs as combinations of attributes."""
    axes: dict[tuple[int, bytes], Axis] = {}
    single: list[Combination] = []
    wanted = []
    for combination in combinations:
        numbers = []
        for place, bins in zip(combination.places, combination.bins, strict=True):
            number = axes.setdefault((place, bins.tobytes()), len(axes))
            if number == len(single):
                single.append(Combination(places=(place,), bins=(bins,)))
            numbers.append(number)
        wanted.append(tuple(numbers))
    sizes = [len(each) for each in single]
    largest = LARGEST_PACK
    tables = JointTables.of(wanted, sizes, largest)
    while sum(tables.lengths) > MOST_CELLS and largest > 1:
        largest //= 4
        tables = JointTables.of(wanted, sizes, largest)
    packs = [
        Combination(
            places=tuple(single[axis].places[0] for axis in pack), bins=tuple(single[axis].bins[0] for axis in pack)
        )
        for pack in tables.packs
    ]
    return tables, packs


def _packs(wanted: Sequence[tuple[Axis, ...]], sizes: Sequence[int], largest: int) -> list[Pack]:
    """Every axis in one pack of at most `largest` combinations of bins, unless it is larger alone.

    Axes that occur together in combinations of three or more share a pack if possible, so that the others of such a
    combination lie in only one further pack. Axes that occur only alone have packs as large as a table.
    """
    combined = sorted({axis for axes in wanted if len(axes) > 1 for axis in axes})
    packs: list[Pack] = [(axis,) for axis in combined]
    together = Counter(pair for axes in wanted if len(axes) > 2 for pair in subsets(sorted(axes), 2))
    for (one, other), _ in together.most_common():
        first, second = (next(pack for pack in packs if axis in pack) for axis in (one, other))
        if first != second and _length(sizes, first + second) <= largest:
            packs = [pack for pack in packs if pack not in (first, second)] + [first + second]
    alone: list[Pack] = [(axis,) for axis in range(len(sizes)) if axis not in combined]
    return _first_fit(packs, sizes, largest) + _first_fit(alone, sizes, largest**2)


def _first_fit(packs: Sequence[Pack], sizes: Sequence[int], largest: int) -> list[Pack]:
    made: list[Pack] = []
    lengths: list[int] = []
    for pack in packs:
        length = _length(sizes, pack)
        place = next((number for number, other in enumerate(lengths) if other * length <= largest), None)
        if place is None:
            made.append(pack)
            lengths.append(length)
        else:
            made[place] += pack
            lengths[place] *= length
    return made


def _length(sizes: Sequence[int], axes: Sequence[Axis]) -> int:
    """The number of combinations of bins of some axes."""
    return prod(sizes[axis] for axis in axes)


@compiled
def _add_to_tables(keys: Any, tables: Any, steps: Any, offsets: Any, numbers: Any, sums: Any) -> None:
    columns, rows = numbers.shape
    for table in range(len(tables)):
        first, second, step = keys[tables[table, 0]], keys[tables[table, 1]], steps[table]
        here = sums[offsets[table] :]
        for row in range(rows):
            cell = np.uint64(first[row] * step + second[row])
            for column in range(columns):
                here[cell, column] += numbers[column, row]
