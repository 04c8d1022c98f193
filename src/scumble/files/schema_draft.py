"""Drafts a schema for a table, to be edited by someone who knows what is public.

The draft depends on private rows. Therefore every domain in it is marked `unconfirmed`, and `release` refuses the
schema until all marks are removed.
"""

import math
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.taxonomy import Domain, Grid, Tree

MOST_CATEGORIES = 100
LARGEST = 1e300
"""Larger numbers do not widen the grid; they are clamped like all numbers outside it."""
DRAFT_HEADING = """\
A draft, derived from the private rows: it may reveal them.
For every attribute, replace the domain by one that is public knowledge, then delete `unconfirmed: true`.
Choose the unit of privacy, and name the class to predict as `target`."""


def draft_schema(table: pa.Table, target: str | None = None) -> Schema:
    """A schema whose domains cover the values of the table. Columns that look like names or keys become identifiers."""
    attributes: list[Attribute] = []
    identifiers: list[str] = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        domain = _domain(column)
        if domain is None and name != target:
            identifiers.append(name)
            continue
        if domain is None or (name == target and isinstance(domain, Grid)):
            domain = Tree.flat(_distinct(column))
        outside = Outside.CLAMP if isinstance(domain, Grid) else Outside.DROP
        attributes.append(Attribute(name=name, domain=domain, outside=outside, unconfirmed=True))
    return Schema(attributes=tuple(attributes), target=target, identifiers=tuple(identifiers))


def _distinct(column: pa.ChunkedArray) -> list[str]:
    """The distinct values, as the text that engines compare."""
    return sorted(pc.unique(column.drop_null().cast(pa.string())).to_pylist())


def _domain(column: pa.ChunkedArray) -> Domain | None:
    """A grid for numbers, a flat tree for at most MOST_CATEGORIES texts, None for more."""
    whole = pa.types.is_integer(column.type)
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.string()).cast(pa.float64())  # to the nearest double, as engines read decimals
    if whole or pa.types.is_floating(column.type):
        numbers = column.drop_null().cast(pa.float64(), safe=False).to_numpy()
        return _grid(numbers[np.abs(numbers) < LARGEST], whole=whole)
    values = _distinct(column)
    return Tree.flat(values) if 0 < len(values) <= MOST_CATEGORIES else None


def _grid(numbers: np.ndarray[tuple[int], np.dtype[np.float64]], *, whole: bool) -> Grid | None:
    """About a hundred cells of a round width that cover the values."""
    if len(numbers) == 0:
        return None
    low, high = float(numbers.min()), float(numbers.max())
    width = (high - low) / 100 or 1e-6 * max(1.0, abs(low))  # a constant column gets one narrow cell
    width = max(width, 4 * math.ulp(max(abs(low), abs(high))), 1.0 if whole else 0.0)
    step = Decimal(10) ** int(np.ceil(np.log10(width)))
    for part in (Decimal("0.2"), Decimal("0.5")):
        if width <= step * part and not (whole and step * part < 1):
            step = step * part
            break
    first = (Decimal(repr(low)) // step) * step
    first = first - step if first > Decimal(repr(low)) else first
    cells = int((Decimal(repr(high)) - first) // step) + 1
    if float(first + cells * step) <= high:  # above in exact decimals, but equal as doubles
        cells += 1
    return Grid.regular(low=first, high=first + cells * step, step=step)
