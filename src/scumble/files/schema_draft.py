"""A first schema for a table, to be edited by somebody who knows what is public. It is read off private rows, so every
domain in it is marked unconfirmed, and `release` refuses it until a person has removed the marks."""

import math
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.taxonomy import Domain, Grid, Tree

MOST_CATEGORIES = 100
LARGEST = 1e300
"""Numbers beyond are left out, and clamped like others off the domain."""
DRAFT_HEADING = """\
A draft, read off the rows. Nothing in it is known to be public yet.
For every attribute: replace what the data happen to hold by what anybody could know, then delete `unconfirmed: true`.
Choose the unit of privacy, and name the class to predict as `target`."""


def draft_schema(table: pa.Table, target: str | None = None) -> Schema:
    """A schema whose domains cover what the table holds; columns that look like names or keys become identifiers."""
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
    """The values that occur, as the text by which engines read them."""
    return sorted(pc.unique(column.drop_null().cast(pa.string())).to_pylist())


def _domain(column: pa.ChunkedArray) -> Domain | None:
    """A grid for numbers, a flat tree for few categories, None for text that is different in nearly every row."""
    whole = pa.types.is_integer(column.type)
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.string()).cast(pa.float64())  # as engines read them: to the nearest double
    if whole or pa.types.is_floating(column.type):
        numbers = column.drop_null().cast(pa.float64(), safe=False).to_numpy()
        return _grid(numbers[np.abs(numbers) < LARGEST], whole=whole)
    values = _distinct(column)
    return Tree.flat(values) if 0 < len(values) <= MOST_CATEGORIES else None


def _grid(numbers: np.ndarray[tuple[int], np.dtype[np.float64]], *, whole: bool) -> Grid | None:
    """About a hundred cells of a round width around the values."""
    if len(numbers) == 0:
        return None
    low, high = float(numbers.min()), float(numbers.max())
    width = (high - low) / 100 or 1e-6 * max(1.0, abs(low))  # a constant lies in one narrow cell
    width = max(width, 4 * math.ulp(max(abs(low), abs(high))), 1.0 if whole else 0.0)
    step = Decimal(10) ** int(np.ceil(np.log10(width)))
    for part in (Decimal("0.2"), Decimal("0.5")):
        if width <= step * part and not (whole and step * part < 1):
            step = step * part
            break
    first = (Decimal(repr(low)) // step) * step
    first = first - step if first > Decimal(repr(low)) else first
    cells = int((Decimal(repr(high)) - first) // step) + 1
    if float(first + cells * step) <= high:  # in exact decimals it is above, by less than doubles show
        cells += 1
    return Grid.regular(low=first, high=first + cells * step, step=step)
