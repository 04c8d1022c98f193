"""From raw columns to codes: the one place that reads values, shared by all engines.

Whatever a cell holds, coding does not fail: values off the public domain and cells that do not parse follow the
schema's `outside` rule.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numba
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.taxonomy import Grid, Tree

Codes = npt.NDArray[np.uint8] | npt.NDArray[np.uint16] | npt.NDArray[np.uint32]
Block = tuple[Codes, ...]

NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
"""What text is read as a number, after spaces around it are taken off."""


def code_type(size: int) -> type[np.unsignedinteger]:
    """The smallest unsigned integers that hold the codes of a domain.

    >>> code_type(256).__name__, code_type(257).__name__
    ('uint8', 'uint16')
    """
    return np.uint8 if size <= 2**8 else np.uint16 if size <= 2**16 else np.uint32


@dataclass(frozen=True, kw_only=True)
class ColumnCodes:
    """A coded column. `kept` is None where no row is dropped for its sake."""

    codes: Codes
    kept: npt.NDArray[np.bool_] | None


def code_blocks(batches: Iterable[pa.RecordBatch], schema: Schema) -> Iterator[Block]:
    """Each batch as coded columns in the schema's order, without the rows that are dropped."""
    coders = [(attribute.name, coder(attribute)) for attribute in schema.attributes]
    for batch in batches:
        columns = [code(batch.column(name)) for name, code in coders]
        masks = [column.kept for column in columns if column.kept is not None]
        if not masks:
            yield tuple(column.codes for column in columns)
        else:
            kept = np.logical_and.reduce(masks)
            yield tuple(column.codes[kept] for column in columns)


def coder(attribute: Attribute) -> Callable[[pa.Array], ColumnCodes]:
    """How one column is coded."""
    if isinstance(attribute.domain, Grid):
        return _grid_coder(attribute, attribute.domain)
    return _tree_coder(attribute, attribute.domain)


def _tree_coder(attribute: Attribute, tree: Tree) -> Callable[[pa.Array], ColumnCodes]:
    known = tree.codes
    codes_as = code_type(tree.size)
    missing = attribute.missing_code
    drop = attribute.outside is Outside.DROP
    unknown = -1 if drop else missing or 0
    empty = unknown if missing is None else missing

    def code(column: pa.Array) -> ColumnCodes:
        if not pa.types.is_dictionary(column.type):
            column = _text(column).dictionary_encode()
        texts = _text(column.dictionary).to_pylist()
        # The last entry, which index -1 reaches, stands for nulls.
        table = np.array([empty if not text else known.get(text, unknown) for text in texts] + [empty], dtype=np.int64)
        indices = column.indices
        if indices.null_count:
            indices = indices.fill_null(-1) if pa.types.is_signed_integer(indices.type) else _signed(indices)
        lowest = table.min() < 0
        places = indices.to_numpy(zero_copy_only=False)
        if not lowest:
            return ColumnCodes(codes=table.astype(codes_as)[places], kept=None)
        values = table[places]
        return ColumnCodes(codes=values.astype(codes_as), kept=values >= 0)

    return code


def _signed(indices: pa.Array) -> pa.Array:
    return indices.cast(pa.int64()).fill_null(-1)


def _text(column: pa.Array) -> pa.Array:
    return column if pa.types.is_string(column.type) else column.cast(pa.string())


def _grid_coder(attribute: Attribute, grid: Grid) -> Callable[[pa.Array], ColumnCodes]:
    edges = grid.edge_floats
    cells_per_unit = grid.cells / (edges[-1] - edges[0]) if grid.step is not None else 0.0
    codes_as = code_type(grid.size)
    drop = attribute.outside is Outside.DROP
    missing = attribute.missing_code
    empty = -1 if missing is None and drop else missing or 0
    unreadable = -1 if drop else missing or 0
    label = attribute.missing

    def code(column: pa.Array) -> ColumnCodes:
        values, is_empty = _numbers(column, label)
        codes = np.empty(len(values), dtype=codes_as)
        dropped = np.zeros(len(values) if drop else 0, dtype=np.bool_)
        _place(values, edges, cells_per_unit, unreadable, codes, dropped)
        if is_empty is not None:
            codes[is_empty] = max(empty, 0)
            if drop:
                dropped[is_empty] = empty < 0
        return ColumnCodes(codes=codes, kept=~dropped if drop and dropped.any() else None)

    return code


def read_numbers(column: pa.Array) -> npt.NDArray[np.float64]:
    """A column as doubles, NaN where a cell does not parse."""
    return _numbers(column, None)[0]


def _numbers(column: pa.Array, label: str | None) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_] | None]:
    """The column as doubles, NaN where it does not parse, and which cells are empty or say `label`."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        numeric = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
        if not numeric and not pa.types.is_decimal(column.type):
            column = column.cast(pa.string())
    empty = None
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        text = pc.utf8_trim_whitespace(column)
        hollow = pc.fill_null(pc.is_in(text, pa.array(["" if label is None else label, ""], text.type)), True)
        if pc.any(hollow).as_py():
            empty = hollow.to_numpy(zero_copy_only=False)
        column = _parse(text)
    elif column.null_count:
        empty = column.is_null().to_numpy(zero_copy_only=False)
    values = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return values, empty


def _parse(text: pa.Array) -> pa.Array:
    readable = pc.match_substring_regex(text, NUMBER)
    return pc.if_else(readable, text, pa.scalar(None, text.type)).cast(pa.float64())


@numba.njit(nogil=True, cache=True)
def _place(values, edges, cells_per_unit, unreadable, codes, dropped):  # type: ignore[no-untyped-def]
    """The cell of every value: a guess by division where the grid is regular, mended against the edges themselves."""
    last = len(edges) - 2
    drop = len(dropped) > 0
    for row in range(len(values)):
        value = values[row]
        if value != value:
            codes[row] = max(unreadable, 0)
            if drop:
                dropped[row] = unreadable < 0
        elif value < edges[0] or value >= edges[last + 1]:
            codes[row] = 0 if value < edges[0] else last
            if drop:
                dropped[row] = True
        elif cells_per_unit > 0:
            cell = min(int((value - edges[0]) * cells_per_unit), last)
            while value < edges[cell]:
                cell -= 1
            while value >= edges[cell + 1]:
                cell += 1
            codes[row] = cell
        else:
            low, high = 0, last + 1
            while high - low > 1:
                middle = (low + high) // 2
                if value < edges[middle]:
                    high = middle
                else:
                    low = middle
            codes[row] = low
