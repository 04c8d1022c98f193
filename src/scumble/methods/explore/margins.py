"""Margins: contingency tables of one or a few attributes, each of whose values are counted in bins of neighbours."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from scumble.compiled import compiled
from scumble.model.counts import Block, Floats, Integers
from scumble.model.schema import Schema

ROWS_AT_ONCE = 1 << 16


@dataclass(frozen=True, kw_only=True)
class ValueBins:
    """Bins of neighbouring codes of an attribute: bin j has the codes from starts[j] up to the next start.

    >>> ValueBins(starts=(0, 2), size=5).of_codes.tolist()
    [0, 0, 1, 1, 1]
    """

    starts: tuple[int, ...]
    size: int
    """The number of codes."""

    @classmethod
    def of(cls, bins: Integers) -> "ValueBins":
        """The bins, given the bin of every code."""
        return cls(starts=tuple(np.flatnonzero(np.diff(bins, prepend=-1)).tolist()), size=len(bins))

    @classmethod
    def single(cls, size: int) -> "ValueBins":
        """One bin for each code."""
        return cls(starts=tuple(range(size)), size=size)

    @classmethod
    def ranges(cls, size: int, width: int) -> "ValueBins":
        """Bins of equal width, of which the last may be narrower."""
        return cls(starts=tuple(range(0, size, width)), size=size)

    def __len__(self) -> int:
        return len(self.starts)

    @cached_property
    def widths(self) -> Integers:
        """The number of codes of each bin."""
        return np.diff([*self.starts, self.size])

    @cached_property
    def of_codes(self) -> Integers:
        """The bin of every code."""
        return np.repeat(np.arange(len(self)), self.widths)


@dataclass(frozen=True, kw_only=True)
class Margin:
    """The contingency table of some attributes in bins. Every record lies in one entry. Without attributes, it has a
    single one, the number of records."""

    places: tuple[int, ...]
    """The attributes, by their index in `schema.attributes`, ascending."""
    bins: tuple[ValueBins, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(map(len, self.bins))

    @property
    def cells(self) -> int:
        return prod(self.shape)

    def names(self, schema: Schema) -> list[str]:
        return [schema.attributes[place].name for place in self.places]


@dataclass(frozen=True, kw_only=True)
class NoisyMargin:
    """Noisy counts of a margin."""

    margin: Margin
    measured: Integers
    """Flat, row-major, signed, in units of one over `unit`."""
    unit: int
    variance: float
    """The variance of the noise of each count in records."""

    @property
    def counts(self) -> Floats:
        """Unbiased estimates of the numbers of records."""
        return self.measured / self.unit

    @property
    def total(self) -> tuple[float, float]:
        """The estimated number of records, and its variance."""
        return float(self.counts.sum()), self.margin.cells * self.variance


def count_margins(margins: Sequence[Margin], blocks: Iterable[Block]) -> list[Integers]:
    """The number of records in each entry of each margin, as flat, row-major vectors."""
    tables = [np.zeros(margin.cells, dtype=np.int64) for margin in margins]
    for part in _chunks(blocks):
        binned: dict[tuple[int, ValueBins], Any] = {}
        for margin, table in zip(margins, tables, strict=True):
            columns = []
            for key in zip(margin.places, margin.bins, strict=True):
                if key not in binned:
                    binned[key] = _binned(part[key[0]], key[1])
                columns.append(binned[key])
            _count(columns, margin.shape, len(part[0]), table)
    return tables


def _chunks(blocks: Iterable[Block]) -> Iterator[Block]:
    for block in blocks:
        for start in range(0, len(block[0]), ROWS_AT_ONCE):
            yield tuple(column[start : start + ROWS_AT_ONCE] for column in block)


def _binned(codes: Any, bins: ValueBins) -> Any:
    kind = np.uint8 if len(bins) <= 1 << 8 else np.uint16 if len(bins) <= 1 << 16 else np.uint32
    return bins.of_codes.astype(kind)[codes]


def _count(columns: Sequence[Any], shape: Sequence[int], rows: int, table: Integers) -> None:
    match columns:
        case []:
            table += rows
        case [one]:
            _count_one(one, table)
        case [one, two]:
            _count_two(one, two, shape[1], table)
        case [one, *others]:
            keys = one.astype(np.int64)
            for column, size in zip(others, shape[1:], strict=True):
                keys = keys * size + column
            _count_one(keys, table)


@compiled
def _count_one(one: Any, table: Any) -> None:
    for row in range(len(one)):
        table[one[row]] += 1


@compiled
def _count_two(one: Any, two: Any, size: Any, table: Any) -> None:
    for row in range(len(one)):
        table[one[row] * size + two[row]] += 1
