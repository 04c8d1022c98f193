"""Fine rows: how many a release has, whether each lies in its schema, and in which published cell it lies."""

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from scumble.model.counts import Integers, places_of
from scumble.model.domain import Domain
from scumble.model.grid import Grid
from scumble.model.release import FineRows
from scumble.model.row_limit import scaled
from scumble.model.schema import Schema
from scumble.model.values import NOWHERE, codes_within

FINE_ROWS_EACH = 4
"""Fine rows for each record that was counted. Drawing rows adds sampling error to what was measured; four times as
many rows halve it."""
MOST_FINE_ROWS = 1_000_000
"""The approximate limit of fine rows: classifiers need no more, and releases of very many records stay within
memory."""


ROWS_FROM_TABLES = "drawn from the class tables"
"""What the document `detail` states under the key `rows`. Earlier versions drew the rows inside the cells and have no
such key: their rows are in the proportions of the published counts."""


def drawn_inside_cells(detail: Mapping[str, Any]) -> bool:
    """Whether fine rows were drawn inside the cells, according to the document `detail` of their release."""
    return "rows" not in detail


def fine_counts(count: Integers) -> Integers:
    """How many fine rows lie in each cell and class, if rows were drawn inside the cells.

    >>> [int(fine_counts(np.array([[total, 3 * total]])).sum()) for total in (10, 100_000, 10**9)]
    [160, 1000000, 1000000]
    """
    return scaled(count, each=FINE_ROWS_EACH, most=MOST_FINE_ROWS)


def strays(fine: FineRows) -> list[str]:
    """The attributes whose fine values are not all in their schema: leaves of its trees, numbers on its grids."""
    return [
        attribute.name
        for attribute in fine.schema.attributes
        if (codes_within(attribute.domain, fine.columns[attribute.name]) == NOWHERE).any()
    ]


def refines(fine: Schema, published: Schema) -> bool:
    """Whether a schema has the attributes and classes of a published one, each with the same or a finer domain."""
    names = [[attribute.name for attribute in schema.attributes] for schema in (fine, published)]
    same = names[0] == names[1] and (fine.target, fine.classes) == (published.target, published.classes)
    return same and all(_refines(fine[name].domain, published[name].domain) for name in names[1])


def _refines(fine: Domain, published: Domain) -> bool:
    if isinstance(fine, Grid) and isinstance(published, Grid):
        ends = [grid.edge_floats[[0, -1]].tolist() for grid in (fine, published)]
        inside = np.isin(published.edge_floats, fine.edge_floats).all()
        return bool(inside) and ends[0] == ends[1] and fine.missing == published.missing
    if isinstance(fine, Grid) or isinstance(published, Grid):
        return False
    return fine.finest == published.finest


def rows_by_cell(fine: FineRows, published: Schema) -> Integers:
    """How many fine rows lie in each cell of a published schema, in row-major order. None may be a stray."""
    shape = [attribute.domain.size for attribute in published.predictors]
    codes = [codes_within(attribute.domain, fine.columns[attribute.name]) for attribute in published.predictors]
    cells = places_of(codes, shape)
    return np.bincount(cells, minlength=prod(shape))
