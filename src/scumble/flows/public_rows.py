"""Raw rows coded by the finest domains that a release makes public, so that they can be compared with its tables."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from math import gcd

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.engines.coding import code_blocks
from scumble.model.grid import Grid
from scumble.model.release import Release
from scumble.model.schema import Schema
from scumble.model.taxonomy import Tree
from scumble.sources import Source, check_columns

LARGEST_GRID = 2_000_000
"""The most cells of a grid that is reconstructed from published edges."""


@dataclass(frozen=True, kw_only=True)
class PublicRows:
    """The rows of a table that are in the domain of a schema: a column of codes for each attribute."""

    schema: Schema
    columns: Mapping[str, npt.NDArray[np.integer]]
    """In the smallest integer type for the codes of each."""
    read: int
    """How many rows were read, in the domain or not."""

    @property
    def rows(self) -> int:
        return len(next(iter(self.columns.values())))


def code_rows(source: Source, schema: Schema) -> PublicRows:
    """All rows of a source that are in the domain, in memory."""
    check_columns(source, schema.columns)
    read = 0

    def counted() -> Iterator[pa.RecordBatch]:
        nonlocal read
        for batch in source.batches(schema.columns):
            read += batch.num_rows
            yield batch

    blocks = list(code_blocks(counted(), schema))
    columns = {
        attribute.name: np.concatenate([block[place] for block in blocks] or [np.zeros(0, dtype=np.uint8)])
        for place, attribute in enumerate(schema.attributes)
    }
    return PublicRows(schema=schema, columns=columns, read=read)


def public_schema(release: Release) -> Schema:
    """The finest domains that are known from a release.

    These are the leaves of each taxonomy, and the grids of the table with the most values. A release that publishes
    intervals only does not say from which grid they were made: see `regular_grid`.
    """
    finest = max(release.tables.values(), key=lambda schema: sum(each.domain.size for each in schema.attributes))
    attributes = []
    for attribute in finest.attributes:
        domain = attribute.domain
        finer = domain.finest if isinstance(domain, Tree) else regular_grid(domain)
        attributes.append(replace(attribute, domain=finer))
    return replace(finest, attributes=tuple(attributes))


def regular_grid(grid: Grid) -> Grid:
    """A regular grid that has all edges of a grid, in steps of the last decimal place of its edges.

    Whole edges give whole steps. If that would be very many cells, the steps are as wide as the edges allow, and if
    even these are too many, it is the grid itself. Missing values that share the last cell stay there.

    >>> regular_grid(Grid(edges=(Decimal(0), Decimal("1.5"), Decimal(4)))).step
    Decimal('0.1')
    """
    if grid.step is not None:
        return grid
    edges = [Fraction(edge) for edge in grid.edges]
    smallest = Decimal((0, (1,), min(_exponent(edge) for edge in grid.edges)))
    widths = [int((high - low) / Fraction(smallest)) for low, high in pairwise(edges)]
    for step in (smallest, smallest * reduce(gcd, widths)):
        if (edges[-1] - edges[0]) / Fraction(step) <= LARGEST_GRID:
            return Grid(edges=(grid.edges[0], grid.edges[-1]), step=step, missing=grid.missing, joined=grid.joined)
    return grid


def _exponent(edge: Decimal) -> int:
    """The decimal place of the last digit that is not zero, at most that of ones."""
    exponent = edge.normalize().as_tuple().exponent
    return min(int(exponent), 0)
