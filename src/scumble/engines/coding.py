"""Codes whole Arrow columns, by the same rules as `scumble.model.values.code_of`. All engines use it.

Coding does not fail, whatever a cell contains: values outside the public domain and cells that do not parse follow the
schema's `outside` rule.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from scumble.compiled import compiled
from scumble.engines.arrow_values import (
    is_hashed,
    is_numeric,
    is_text,
    plain_text,
    python_values,
    without_wrapping,
)
from scumble.engines.notation_columns import found_places
from scumble.engines.number_columns import numbers_and_empty
from scumble.engines.person_ids import person_ids
from scumble.engines.short_floats import is_short, thresholds
from scumble.model.counts import Block
from scumble.model.grid import Grid
from scumble.model.raw_value import ValueKind, canonical
from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.taxonomy import LARGE_DIGITS, Tree
from scumble.model.values import code_of
from scumble.sources.object_column import object_values, split_cells

Codes = npt.NDArray[np.uint8] | npt.NDArray[np.uint16] | npt.NDArray[np.uint32]


def code_type(size: int) -> type[np.unsignedinteger]:
    """The smallest unsigned integer type for the codes of a domain.

    >>> code_type(256).__name__, code_type(257).__name__
    ('uint8', 'uint16')
    """
    return np.uint8 if size <= 2**8 else np.uint16 if size <= 2**16 else np.uint32


@dataclass(frozen=True, kw_only=True)
class ColumnCodes:
    """A coded column. `kept` marks the rows that this column does not drop; None if it drops none."""

    codes: Codes
    kept: npt.NDArray[np.bool_] | None


def code_blocks(batches: Iterable[pa.RecordBatch], schema: Schema) -> Iterator[Block]:
    """Each batch as coded columns in the schema's order, without the rows that are dropped."""
    return (block for block, _ in code_entities(batches, schema))


def code_entities(
    batches: Iterable[pa.RecordBatch], schema: Schema, *, id_columns: Sequence[str] = (), most_rows: int | None = None
) -> Iterator[tuple[Block, list[list[str]]]]:
    """Coded blocks of at most so many rows, each with the ids of the rows in each of the columns of ids."""
    for batch, coded, kept in code_rows(_sliced(batches, most_rows), schema):
        block = coded if kept.all() else tuple(codes[kept] for codes in coded)
        ids = [person_ids(batch, column).filter(pa.array(kept)).to_pylist() for column in id_columns]
        for codes in block:
            codes.flags.writeable = False  # like the arrays of a database: a kernel is compiled for one kind of array
        yield block, ids


def code_rows(
    batches: Iterable[pa.RecordBatch], schema: Schema
) -> Iterator[tuple[pa.RecordBatch, Block, npt.NDArray[np.bool_]]]:
    """Each batch, the codes of all its rows, and which of them the schema does not drop."""
    coders = [(attribute.source_column, coder(attribute)) for attribute in schema.attributes]
    for batch in batches:
        columns = [code(batch.column(name)) for name, code in coders]
        masks = [column.kept for column in columns if column.kept is not None]
        kept = np.logical_and.reduce(masks) if masks else np.ones(len(batch), dtype=np.bool_)
        yield batch, tuple(column.codes for column in columns), kept


def _sliced(batches: Iterable[pa.RecordBatch], most_rows: int | None) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        rows = len(batch) if most_rows is None else most_rows
        yield from (batch.slice(start, rows) for start in range(0, len(batch), rows)) if len(batch) > rows else (batch,)


def coder(attribute: Attribute) -> Callable[[pa.Array], ColumnCodes]:
    """The function that codes one column. Dictionary values and text are coded once each, other numbers one by one."""
    if isinstance(attribute.domain, Grid):
        code_values = _grid_coder(attribute, attribute.domain)
    else:
        code_values = _tree_coder(attribute, attribute.domain)

    def by_distinct_values(kind: pa.DataType) -> bool:
        """Categories and texts are coded once each; numbers and dates are coded faster one by one."""
        return isinstance(attribute.domain, Tree) and is_hashed(kind) and (is_text(kind) or not attribute.on_a_line)

    def code(column: pa.Array) -> ColumnCodes:
        column = without_wrapping(column)
        if isinstance(column, pa.ExtensionArray):
            column = column.storage.dictionary_encode()
            return _look_up(column, lambda cells: _code_objects(attribute, code_values, cells))
        if pa.types.is_dictionary(column.type):
            return _look_up(column, code_values)
        if by_distinct_values(column.type):
            return _look_up(column.dictionary_encode(), code_values)
        return code_values(column)

    return code


def _look_up(column: pa.DictionaryArray, code_values: Callable[[pa.Array], ColumnCodes]) -> ColumnCodes:
    """Code the values of a dictionary, then look the rows up in them. Null is treated as one further value."""
    values, indices = without_wrapping(column.dictionary), column.indices.cast(pa.int32())
    if indices.null_count or not len(values):  # in a damaged file, indices may point into an empty dictionary
        indices = indices.fill_null(len(values))
        values = pa.concat_arrays([values, pa.nulls(1, values.type)])
    places = indices.to_numpy()
    known = code_values(values)
    return ColumnCodes(
        codes=np.take(known.codes, places, mode="clip"),  # the fastest mode that checks every index
        kept=None if known.kept is None else np.take(known.kept, places, mode="clip"),
    )


def _code_each(attribute: Attribute, values: Iterable[object]) -> ColumnCodes:
    """Codes by the rule for one value."""
    codes = [code_of(attribute, value) for value in values]
    return _signed_codes([-1 if code is None else code for code in codes], attribute.domain.size)


def _code_objects(attribute: Attribute, code_values: Callable[[pa.Array], ColumnCodes], cells: pa.Array) -> ColumnCodes:
    """Code the cells of a column of objects: text, and numbers on a grid, as whole columns; others one by one.

    One record can turn a column into one of objects, so this decides how far it can slow down a run.
    """
    texts, kinds = split_cells(cells)
    numbers = kinds[ValueKind.NUMBER] & isinstance(attribute.domain, Grid)
    # A short number is compared with categories by its text, as text is.
    short = pc.less(pc.utf8_length(texts), LARGE_DIGITS).fill_null(False).to_numpy(zero_copy_only=False)
    plain = isinstance(attribute.domain, Tree) and attribute.notation is None
    as_text = kinds[ValueKind.TEXT] | (kinds[ValueKind.NUMBER] & short & plain)
    others = ~(as_text | numbers)
    codes = np.zeros(len(cells), dtype=code_type(attribute.domain.size))
    kept = np.ones(len(cells), dtype=np.bool_)

    def put(rows: npt.NDArray[np.bool_], coded: ColumnCodes) -> None:
        codes[rows] = coded.codes
        kept[rows] = True if coded.kept is None else coded.kept

    put(as_text, code_values(texts.filter(pa.array(as_text))))
    put(numbers, code_values(texts.filter(pa.array(numbers)).cast(pa.float64())))
    put(others, _code_each(attribute, object_values(cells.filter(pa.array(others)))))
    return ColumnCodes(codes=codes, kept=None if kept.all() else kept)


def _signed_codes(codes: list[int] | npt.NDArray[np.int64], size: int) -> ColumnCodes:
    """Codes, where -1 leaves the row out."""
    signed = np.array(codes, dtype=np.int64)
    kept = signed >= 0
    return ColumnCodes(codes=np.maximum(signed, 0).astype(code_type(size)), kept=None if kept.all() else kept)


def _tree_coder(attribute: Attribute, tree: Tree) -> Callable[[pa.Array], ColumnCodes]:
    known = {label.encode(): code for label, code in tree.codes.items() if canonical(label)[0] is ValueKind.TEXT}
    missing = attribute.missing_code
    unknown = -1 if attribute.outside is Outside.DROP else missing or 0
    empty = known.get(b"", unknown) if missing is None else missing

    def code(values: pa.Array) -> ColumnCodes:
        text = plain_text(values)
        if text is None:
            return _code_each(attribute, python_values(values))
        codes = [known.get(each, unknown) if each else empty for each in text.to_pylist()]
        return _signed_codes(codes, tree.size)

    def each(values: pa.Array) -> ColumnCodes:
        return _code_each(attribute, python_values(values))

    def code_by_notation(values: pa.Array) -> ColumnCodes:
        """What the notation finds for whole columns, and every other value one by one."""
        places = found_places(attribute, values)
        codes = np.array(tree.codes_of_finest)[places.clip(0)]
        rest = np.flatnonzero(places < 0)
        if len(rest):
            unsettled = values.take(pa.array(rest))
            others = _look_up(unsettled.dictionary_encode(), each) if is_hashed(values.type) else each(unsettled)
            codes[rest] = np.where(True if others.kept is None else others.kept, others.codes.astype(np.int64), -1)
        return _signed_codes(codes, tree.size)

    return code if attribute.notation is None else code_by_notation


def _grid_coder(attribute: Attribute, grid: Grid) -> Callable[[pa.Array], ColumnCodes]:
    edges = grid.edge_floats
    codes_as = code_type(grid.size)
    drop = attribute.outside is Outside.DROP
    missing = attribute.missing_code
    empty = -1 if missing is None and drop else missing or 0
    unreadable = -1 if drop else missing or 0
    label = attribute.missing
    short_edges = cache(partial(thresholds, edges))

    def code(column: pa.Array) -> ColumnCodes:
        if not is_numeric(column.type) and not is_text(column.type):
            return _code_each(attribute, python_values(column))
        values, is_empty = numbers_and_empty(column, label, attribute.numbers, mark_nan=empty != unreadable)
        values.flags.writeable = False  # as where Arrow made no copy: the kernel is compiled once
        bounds = short_edges(column.type) if is_short(column.type) else edges
        codes = np.empty(len(values), dtype=codes_as)
        dropped = np.zeros(len(values) if drop else 0, dtype=np.bool_)
        _place(values, bounds, _cells_per_unit(grid, bounds), unreadable, codes, dropped)
        if is_empty is not None:
            codes[is_empty] = max(empty, 0)
            if drop:
                dropped[is_empty] = empty < 0
        return ColumnCodes(codes=codes, kept=~dropped if drop and dropped.any() else None)

    return code


def _cells_per_unit(grid: Grid, edges: npt.NDArray[np.float64]) -> float:
    """Cells per unit of a regular grid; 0 where this is not defined, so that cells are found by binary search."""
    width = float(edges[-1]) - float(edges[0])
    per_unit = grid.cells / width if grid.step is not None and width > 0 else 0.0
    return per_unit if math.isfinite(per_unit) else 0.0


@compiled
def _place(values: Any, edges: Any, cells_per_unit: Any, unreadable: Any, codes: Any, dropped: Any) -> None:
    """Find the cell of every value. In a regular grid, division gives a first guess, which the edges correct."""
    cells = len(edges) - 1
    low, high = edges[0], edges[cells]
    drop = len(dropped) > 0
    one = np.uint64(1)
    for row in range(len(values)):
        value = values[row]
        if not low <= value < high:
            nan = value != value
            codes[row] = max(unreadable, 0) if nan else 0 if value < low else cells - 1
            if drop:
                dropped[row] = unreadable < 0 if nan else True
        elif cells_per_unit > 0:
            cell = np.uint64(min(int((value - low) * cells_per_unit), cells - 1))
            while value < edges[cell]:
                cell -= one
            while value >= edges[cell + one]:
                cell += one
            codes[row] = cell
        else:
            first, last = 0, cells
            while last - first > 1:
                middle = (first + last) // 2
                if value < edges[middle]:
                    last = middle
                else:
                    first = middle
            codes[row] = first
