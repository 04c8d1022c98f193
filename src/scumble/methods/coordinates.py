"""Converts coded rows to numbers with distances, sums and averages.

A numeric attribute becomes a column of integer *amounts*: the distance from the lowest value in units of a public
scale. Ordered categories, dates and nested intervals have their codes as amounts and are published by name. A category
becomes one column for each node of its taxonomy below the root: 1 if the node is the category or an ancestor of it,
else 0. The squared distance of two categories is then the number of taxonomy edges between them, and the average of
categories is the share of records below each node. So one algorithm serves mixed tables.

A missing number, date or ordered category has no amount: its attribute gets a second column, which is 1 if the value is
missing. Methods for numbers alone refuse it when the plan is made. Values that do not parse, NaN included, have already
been given a code by the schema's `outside` rule.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import lcm, sqrt

import numpy as np
import numpy.typing as npt

from scumble.errors import InputError
from scumble.model.counts import Block, Integers
from scumble.model.grid import LARGEST_DOMAIN
from scumble.model.ordered import Ordered
from scumble.model.schema import Attribute, Schema
from scumble.model.taxonomy import Node, Tree

MOST_COLUMNS = 10_000
"""Every row has a number in each column, so more would not fit in memory."""
FIXED_POINT = 1 << 30
"""Standardized coordinates are integer multiples of 2^-30, so that sums over fewer than 2^32 rows are exact in 64
bits."""


@dataclass(frozen=True, kw_only=True)
class Amounts:
    """The public scale of a numeric attribute: the value of a code is low + unit * amount(code)."""

    name: str
    low: Fraction
    unit: Fraction
    table: tuple[int, ...] | None
    """The amounts of the codes of an irregular grid, whose cells are represented by their midpoints. None for a regular
    grid, whose amounts are its codes."""
    largest: int
    """Amounts lie between 0 and this."""

    @classmethod
    def of(cls, attribute: Attribute) -> "Amounts":
        """The scale of an attribute. A code of a regular grid represents the lower edge of its cell."""
        grid = attribute.domain
        if isinstance(grid, Tree):
            return cls(name=attribute.name, low=Fraction(0), unit=Fraction(1), table=None, largest=grid.size - 1)
        if grid.step is not None:
            low, unit = Fraction(grid.edges[0]), Fraction(grid.step)
            return cls(name=attribute.name, low=low, unit=unit, table=None, largest=grid.cells - 1)
        edges = [Fraction(edge) for edge in grid.edges]
        middles = [(left + right) / 2 for left, right in pairwise(edges)]
        unit = Fraction(1, lcm(*(middle.denominator for middle in middles)))
        table = tuple(int((middle - middles[0]) / unit) for middle in middles)
        if table[-1] > LARGEST_DOMAIN:
            raise InputError(
                f"{attribute.name!r}: the midpoints of its cells need a common unit of {float(unit):g}, which is too "
                "fine for sums in 64 bits. Give its edges fewer digits."
            )
        return cls(name=attribute.name, low=middles[0], unit=unit, table=table, largest=table[-1])

    def of_codes(self, codes: npt.NDArray[np.integer]) -> Integers:
        if self.table is None:
            return codes.astype(np.int64)
        return np.array(self.table, dtype=np.int64)[codes]

    def value(self, amount: float) -> float:
        return float(self.low) + float(self.unit) * amount


def require_numbers(schema: Schema, method: str) -> tuple[Amounts, ...]:
    """The scales of all attributes. Raises `InputError` if one is a category or may be missing."""
    for attribute in schema.attributes:
        if isinstance(attribute.domain, Tree):
            raise InputError(
                f"{method} needs numbers on a grid, but {attribute.name!r} is a {attribute.kind}. Remove it from the "
                "schema, or use a method that takes every kind: diffgen, microaggregate, or mdav (k-anonymity only)."
            )
        if attribute.missing is not None:
            raise InputError(
                f"{method} averages numbers, but {attribute.name!r} may be missing. Remove `missing:` from the schema, "
                "so that empty cells count as the lowest value, or use microaggregate or mdav (k-anonymity only)."
            )
    return tuple(Amounts.of(attribute) for attribute in schema.attributes)


def missing_apart(attribute: Attribute) -> int | None:
    """The code of missing values where it follows values in order, else None.

    A missing category is a leaf of its taxonomy, and a missing value that the order names has its rank there.
    """
    if not attribute.in_order or attribute.missing is None:
        return None
    if isinstance(attribute.domain, Ordered) and attribute.domain.apart is None:
        return None
    last = attribute.domain.size - 1
    return last if attribute.missing_code == last and last > 0 else None


def collect(blocks: Iterable[Block], attributes: int) -> Integers:
    """All rows of all blocks as one array of codes, with a column for each attribute."""
    parts = [np.stack([column.astype(np.int64) for column in block], axis=1) for block in blocks]
    return np.concatenate(parts) if parts else np.zeros((0, attributes), dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Which columns of numbers represent which attribute."""

    schema: Schema
    method: str = "mdav"

    @cached_property
    def amounts(self) -> tuple[Amounts | None, ...]:
        """The scale of each attribute in order; None for a category."""
        return tuple(Amounts.of(each) if each.in_order else None for each in self.schema.attributes)

    @cached_property
    def missing(self) -> tuple[int | None, ...]:
        """For each attribute, the code of missing values that has a column of its own."""
        return tuple(missing_apart(attribute) for attribute in self.schema.attributes)

    def __post_init__(self) -> None:
        columns = sum(self._widths)
        if columns > MOST_COLUMNS:
            raise InputError(
                f"{self.method} needs {columns:,} columns for the nodes of all taxonomies, more than {MOST_COLUMNS:,}. "
                "Coarsen the largest taxonomy, or remove its attribute."
            )

    @cached_property
    def nodes(self) -> tuple[tuple[Node, ...], ...]:
        """For each attribute, the nodes that have a column; none where the order of codes has a meaning."""
        return tuple(
            tuple(attribute.domain.root.walk())[1:]
            if isinstance(attribute.domain, Tree) and not attribute.in_order
            else ()
            for attribute in self.schema.attributes
        )

    @cached_property
    def _widths(self) -> list[int]:
        return [max(1, len(nodes)) + (code is not None) for nodes, code in zip(self.nodes, self.missing, strict=True)]

    @cached_property
    def columns(self) -> tuple[slice, ...]:
        """For each attribute, the slice of its columns."""
        ends = np.cumsum(self._widths)
        return tuple(slice(int(end) - width, int(end)) for end, width in zip(ends, self._widths, strict=True))

    def numbers(self, rows: Integers) -> Integers:
        """Amounts and node indicators of coded rows."""
        columns: list[Integers] = []
        for codes, amounts, nodes, missing in zip(rows.T, self.amounts, self.nodes, self.missing, strict=True):
            if amounts is not None and missing is not None:
                absent = codes == missing
                known = np.where(absent, 0, amounts.of_codes(np.where(absent, 0, codes)))
                columns.append(np.stack([known, absent], axis=1).astype(np.int64))
            elif amounts is not None:
                columns.append(amounts.of_codes(codes)[:, None])
            else:
                below = [(codes >= node.low) & (codes < node.high) for node in nodes]
                columns.append(np.stack(below or [np.zeros(len(codes), bool)], axis=1).astype(np.int64))
        return np.concatenate(columns, axis=1)

    def standardized(self, rows: Integers) -> Integers:
        """Coordinates in which every attribute has a total variance of 1, in integer multiples of 2^-30.

        A constant attribute is 0 in every row, so it does not affect distances. A missing value has the average of the
        others as amount; its own column adds as much to its squared distance from a value as two random values have.
        """
        numbers = self.numbers(rows).astype(np.float64)
        coordinates = np.zeros(numbers.shape, dtype=np.int64)
        if not len(rows):
            return coordinates
        for place, missing in zip(self.columns, self.missing, strict=True):
            if missing is not None:
                _standardize_known(numbers[:, place])
            centred = numbers[:, place] - numbers[:, place].mean(axis=0)
            deviation = float(np.sqrt((centred**2).mean(axis=0).sum()))
            if deviation > 0:
                coordinates[:, place] = np.rint(centred / deviation * FIXED_POINT)
        return coordinates

    def representatives(self, sums: npt.NDArray[np.float64], sizes: Integers) -> list[list[float | str]]:
        """The centroid of each group: the average of a number, and the category nearest to the average of
        categories."""
        averages = sums / np.maximum(sizes, 1)[:, None]
        return [
            [self._centre(number, average[place]) for number, place in enumerate(self.columns)] for average in averages
        ]

    def _centre(self, number: int, average: npt.NDArray[np.float64]) -> float | str:
        amounts, domain = self.amounts[number], self.schema.attributes[number].domain
        missing = self.missing[number]
        if amounts is None:
            return _nearest_leaf(self.nodes[number], average, domain.labels)
        if missing is not None:
            if average[1] > 0.5:
                return domain.labels[missing] if isinstance(domain, Tree) else float("nan")
            average = average / (1 - average[1])
        if isinstance(domain, Tree):
            return domain.labels[round(float(average[0]))]
        return amounts.value(float(average[0]))


def _standardize_known(columns: npt.NDArray[np.float64]) -> None:
    """In place: known amounts with average 0 and variance 1, missing ones 0; missing values sqrt 2 in their column."""
    known = columns[:, 1] == 0
    amounts = columns[known, 0]
    deviation = float(amounts.std()) if len(amounts) else 0.0
    columns[known, 0] = (amounts - amounts.mean()) / deviation if deviation > 0 else 0.0
    columns[~known, 1] = sqrt(2)


def _nearest_leaf(nodes: Sequence[Node], average: npt.NDArray[np.float64], labels: Sequence[str]) -> str:
    """The leaf whose path is nearest to the average; among equals, the first in the order of the taxonomy.

    The squared distance of a leaf is |average|^2 + sum over its path of (1 - 2 share). The first term is the same for
    all leaves.
    """
    costs = np.zeros(len(labels))
    for node, share in zip(nodes, average, strict=False):
        costs[node.low : node.high] += 1 - 2 * share
    return labels[int(costs.argmin())]
