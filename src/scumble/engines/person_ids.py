"""The ids of persons and entities as text, for whole Arrow columns, by the rule of `scumble.model.raw_value.id_text`.

Ids are compared by this text and never by a hash: if two ids collided, one person could change which rows of another
are used.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from scumble.engines.arrow_values import distinct_values, is_text, python_values, without_wrapping
from scumble.model.raw_value import EXACT, id_text
from scumble.sources.object_column import INFERRED_TYPES, ObjectType


def person_ids(batch: pa.RecordBatch, column: str) -> pa.LargeStringArray:
    """The ids of a batch's rows, empty where an id is missing, empty or cannot be read."""
    inferred = bool(batch.schema.metadata) and INFERRED_TYPES in batch.schema.metadata
    return id_texts(batch.column(column), inferred=inferred)


def id_texts(column: pa.Array, *, inferred: bool = False) -> pa.LargeStringArray:
    """The id of every cell. `inferred` says that a record of the table may have decided the type of the column."""
    column = without_wrapping(column)
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _filled(id_texts(column.dictionary, inferred=inferred).take(column.indices))
    if is_text(kind):
        try:
            return _filled(column.cast(pa.large_binary()).cast(pa.large_string()))
        except pa.ArrowInvalid:  # some cells are not UTF-8
            return _each(column, inferred=inferred)
    if pa.types.is_integer(kind):
        texts = column.cast(pa.string()).cast(pa.large_string())
        return _filled(_blank(texts, _inexact(column)) if inferred else texts)
    if pa.types.is_floating(kind):
        whole = _whole_numbers(column)
        return _each(column, inferred=True) if whole is None else _filled(whole.cast(pa.string()))
    return _each(column, inferred=inferred or isinstance(kind, ObjectType))


def _filled(texts: pa.Array) -> pa.LargeStringArray:
    return texts.cast(pa.large_string()).fill_null("")


def _each(column: pa.Array, *, inferred: bool) -> pa.LargeStringArray:
    """Ids by the rule for one value, one call for each distinct value."""
    values, places = distinct_values(column)
    texts = [id_text(value, inferred=inferred) for value in python_values(values)]
    return pa.array([*texts, ""], pa.large_string()).take(pa.array(places))


def _blank(texts: pa.Array, rows: npt.NDArray[np.bool_]) -> pa.Array:
    return pc.if_else(pa.array(rows), pa.scalar("", pa.large_string()), texts) if rows.any() else texts


def _inexact(column: pa.Array) -> npt.NDArray[np.bool_]:
    """Which whole numbers are 2^53 or more, or -2^53 or less. Null is not."""
    numbers = column.fill_null(0).to_numpy(zero_copy_only=False)
    return np.abs(numbers.astype(np.float64)) >= EXACT


def _whole_numbers(column: pa.Array) -> pa.Array | None:
    """Floats as whole numbers, null where they are missing; None if some are neither."""
    numbers = column.to_numpy(zero_copy_only=False).astype(np.float64)
    missing = np.isnan(numbers)
    numbers = np.where(missing, 0, numbers)
    if not ((np.abs(numbers) < EXACT) & (numbers == np.trunc(numbers))).all():
        return None
    return pa.array(numbers.astype(np.int64), mask=missing)
