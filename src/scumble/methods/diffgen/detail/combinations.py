"""Combinations of attributes in bins, and how records find theirs.

Compiled loops take many combinations at once, as flat arrays (`Axes`), and the codes of a chunk of rows as one matrix.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from scumble.compiled import compiled
from scumble.model.counts import Block, Integers
from scumble.model.schema import Schema

ROWS_AT_ONCE = 1 << 15
"""Rows of a chunk: few enough for the processor's cache, many enough that calls cost nothing."""

Keys = npt.NDArray[np.int32]


@dataclass(frozen=True, kw_only=True)
class Combination:
    """One attribute or several, each in bins. Every record lies in one combination of bins."""

    places: tuple[int, ...]
    """The attributes, by their index in `schema.predictors`."""
    bins: tuple[Integers, ...]
    """For each of them, the bin of every code."""

    @cached_property
    def shape(self) -> tuple[int, ...]:
        return tuple(int(bins.max()) + 1 for bins in self.bins)

    def __len__(self) -> int:
        return prod(self.shape)

    def keys(self, predictors: Sequence[Any]) -> Integers:
        """The number of each record's combination of bins, in row-major order."""
        return keys_of([self], predictors)[0].astype(np.int64)


EVERYONE = Combination(places=(), bins=())
"""All records in one."""


class Axes(NamedTuple):
    """Some combinations as flat arrays. The axes from `first[i]` to `first[i + 1]` belong to combination i."""

    first: Integers
    places: Integers
    """For each axis, the line of the code matrix."""
    sizes: Integers
    """For each axis, its number of bins."""
    offsets: Integers
    """For each axis, where its bins begin."""
    bins: Keys

    @classmethod
    def of(cls, combinations: Sequence[Combination], places: Sequence[int]) -> "Axes":
        """`places` lists the attributes in the order of the code matrix."""
        every = [axis for each in combinations for axis in zip(each.places, each.shape, each.bins, strict=True)]
        lengths = [len(bins) for _, _, bins in every]
        return cls(
            first=_begins([len(each.places) for each in combinations]),
            places=np.array([places.index(place) for place, _, _ in every], dtype=np.int64),
            sizes=np.array([size for _, size, _ in every], dtype=np.int64),
            offsets=_begins(lengths),
            bins=np.concatenate([np.zeros(0), *(bins for _, _, bins in every)]).astype(np.int32),
        )


def _begins(lengths: Sequence[int]) -> Integers:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def places_in(combinations: Iterable[Combination]) -> list[int]:
    """The attributes of the combinations, each once."""
    return sorted({place for each in combinations for place in each.places})


def code_matrix(predictors: Sequence[Any], places: Sequence[int]) -> npt.NDArray[Any]:
    """The codes of some attributes, in one unsigned type, so that compiled loops are compiled once."""
    columns = [predictors[place] for place in places]
    small = all(column.dtype in (np.uint8, np.uint16) for column in columns)
    matrix = np.empty((len(columns), row_count(predictors)), dtype=np.uint16 if small else np.uint32)
    for line, column in zip(matrix, columns, strict=True):
        line[:] = column
    return matrix


def keys_of(combinations: Sequence[Combination], predictors: Sequence[Any]) -> Keys:
    """For each combination, the number of each record's combination of bins, in row-major order."""
    places = places_in(combinations)
    keys = np.empty((len(combinations), row_count(predictors)), dtype=np.int32)
    find_all(Axes.of(combinations, places), code_matrix(predictors, places), keys)
    return keys


def row_count(predictors: Sequence[Any]) -> int:
    """The number of rows. While rows are drawn, attributes that were not drawn yet have none."""
    return max(map(len, predictors))


def chunks(schema: Schema, blocks: Iterable[Block]) -> Iterator[tuple[list[Any], Any]]:
    """Chunks of rows: the predictors' codes, and the classes."""
    target = [attribute.name for attribute in schema.attributes].index(str(schema.target))
    for block in blocks:
        for start in range(0, len(block[0]), ROWS_AT_ONCE):
            part = [column[start : start + ROWS_AT_ONCE] for column in block]
            labels = part.pop(target)
            yield part, labels


@compiled
def find_all(axes: Any, codes: Any, keys: Any) -> None:
    """Fill in the keys (combinations, rows) of all rows of a code matrix."""
    for combination in range(len(keys)):
        find_keys(axes, combination, codes, 0, codes.shape[1], keys[combination])


@compiled
def find_keys(axes: Any, combination: Any, codes: Any, begin: Any, rows: Any, keys: Any) -> None:
    """Fill in the keys of rows `begin` to `begin + rows` in one combination."""
    for row in range(rows):
        keys[row] = 0
    for axis in range(axes.first[combination], axes.first[combination + 1]):
        size = np.int32(axes.sizes[axis])
        bins = axes.bins[axes.offsets[axis] :]
        line = codes[axes.places[axis], begin:]
        for row in range(rows):
            keys[row] = keys[row] * size + bins[line[row]]
