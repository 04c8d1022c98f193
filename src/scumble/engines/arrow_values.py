"""Arrow columns as values that `scumble.model.raw_value` reads: for every type there is, and without an error.

Arrow's own conversions raise for a single cell: for text that is not UTF-8, for dates before the year 1. Here such a
cell is a value off the domain. Types without a rule, such as durations and lists, are off the domain too.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from scumble.model.raw_value import EXACT, canonical, date_text, moment_text, time_text
from scumble.sources.object_column import OFF_DOMAIN, ObjectType, object_values

types = pa.types
MILLISECONDS_OF_A_DAY = 24 * 60 * 60 * 1000


def is_text(kind: pa.DataType) -> bool:
    """Text and bytes."""
    return (
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_binary(kind)
        or types.is_large_binary(kind)
        or types.is_fixed_size_binary(kind)
    )


def is_numeric(kind: pa.DataType) -> bool:
    return types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)


def is_hashed(kind: pa.DataType) -> bool:
    """Whether a column of the type is coded by its distinct values."""
    simple = is_text(kind) or types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)
    return simple or types.is_decimal128(kind) or types.is_decimal256(kind) or types.is_temporal(kind)


def without_wrapping(column: pa.Array) -> pa.Array:
    """The column without encodings and views that change no value. Only `ObjectType` stays an extension type."""
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType) and not isinstance(kind, ObjectType):
        # Text under another name, such as JSON, is text. What other numbers and bytes mean, only their library knows.
        named_text = is_text(kind.storage_type) and not types.is_fixed_size_binary(kind.storage_type)
        column = column.storage if named_text else _all_off(column)
    elif types.is_run_end_encoded(kind):
        column = without_wrapping(pc.run_end_decode(column))
    elif types.is_string_view(kind) or types.is_binary_view(kind):
        column = column.cast(pa.large_binary())
    return column


def _all_off(column: pa.Array) -> pa.Array:
    """Lists, which are off the domain, null where the column is."""
    return pa.array([None if empty else [] for empty in column.is_null().to_pylist()], pa.list_(pa.null()))


def plain_text(values: pa.Array) -> pa.Array | None:
    """Canonical texts as bytes where Arrow makes them by itself, else None."""
    kind = values.type
    if is_text(kind):
        return values.cast(pa.binary()) if types.is_string(kind) else values.cast(pa.large_binary())
    if types.is_floating(kind) and not types.is_float16(kind):
        numbers = values.to_numpy(zero_copy_only=False)
        with np.errstate(invalid="ignore"):
            whole = (np.abs(numbers) < EXACT) & (numbers == np.trunc(numbers))
        if not (whole | np.isnan(numbers)).all():
            return None
        values = pa.array(np.where(whole, numbers, 0).astype(np.int64), mask=~whole)
        return values.cast(pa.string()).cast(pa.large_binary())
    if types.is_integer(kind):
        bounds = pc.min_max(values).as_py()
        if bounds["min"] is None or (bounds["min"] > -EXACT and bounds["max"] < EXACT):
            return values.cast(pa.string()).cast(pa.large_binary())
    return None


def decoded_text(column: pa.Array) -> tuple[pa.Array, npt.NDArray[np.bool_] | None]:
    """Text, bytes or decimals as text, and which cells are not UTF-8; None where all are. Those read as "?"."""
    if types.is_decimal(column.type):
        return column.cast(pa.string()), None
    raw = column.cast(pa.large_binary())
    try:
        return raw.cast(pa.large_string()), None
    except pa.ArrowInvalid:
        readings = [None if cell is None else _decoded(cell) for cell in raw.to_pylist()]
    undecodable = np.array([cell is OFF_DOMAIN for cell in readings], dtype=np.bool_)
    return pa.array(["?" if cell is OFF_DOMAIN else cell for cell in readings], pa.large_string()), undecodable


def _decoded(raw: bytes) -> object:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return OFF_DOMAIN


def python_values(column: pa.Array) -> list[object]:
    """The cells as values for `canonical`, whatever the type of the column."""
    column = without_wrapping(column)
    kind = column.type
    if isinstance(kind, ObjectType):
        return object_values(column.storage)
    if is_text(kind):
        return list(column.cast(pa.large_binary()).to_pylist())
    if types.is_float32(kind) or types.is_float16(kind):
        return list(column.to_numpy(zero_copy_only=False))
    if is_numeric(kind) or types.is_boolean(kind) or types.is_null(kind):
        return list(column.to_pylist())
    if types.is_date(kind) or types.is_timestamp(kind) or types.is_time(kind):
        return [None if count is None else _time_of(count, kind) or OFF_DOMAIN for count in _counts(column)]
    return [None if empty else OFF_DOMAIN for empty in column.is_null().to_pylist()]


def _counts(column: pa.Array) -> list[int | None]:
    """The whole numbers as which Arrow stores dates and times."""
    kind = pa.int32() if column.type.bit_width == 32 else pa.int64()
    return list(column.view(kind).to_pylist())


def _time_of(count: int, kind: pa.DataType) -> str | None:
    if types.is_date32(kind):
        return date_text(count)
    if types.is_date64(kind):
        return date_text(count // MILLISECONDS_OF_A_DAY)
    if types.is_timestamp(kind):
        return moment_text(count, kind.unit, zoned=kind.tz is not None)
    return time_text(count, kind.unit)


def read_texts(column: pa.Array) -> list[str]:
    """The canonical text of every cell, empty where it is missing or has none."""
    column = without_wrapping(column)
    if types.is_dictionary(column.type):
        texts = ["", *read_texts(column.dictionary)]
        return [texts[place + 1] for place in column.indices.cast(pa.int64()).fill_null(-1).to_pylist()]
    return [shown_text(value) for value in python_values(column)]


def shown_text(value: object) -> str:
    """The canonical text of a value; bytes that are not UTF-8 are escaped."""
    text = canonical(value)[1]
    return value.decode("utf-8", "backslashreplace") if not text and isinstance(value, bytes) else text


def distinct_values(column: pa.Array) -> tuple[pa.Array, npt.NDArray[np.int64]]:
    """Values that cover those of a column, and for every row the place of its value; past the last where it is null."""
    column = without_wrapping(column)
    if isinstance(column.type, ObjectType):
        encoded = column.storage.dictionary_encode()
        values = pa.ExtensionArray.from_storage(ObjectType(), encoded.dictionary)
    elif types.is_dictionary(column.type) or is_hashed(column.type):
        encoded = column if types.is_dictionary(column.type) else column.dictionary_encode()
        values = without_wrapping(encoded.dictionary)
    else:
        places = np.arange(len(column))
        return column, np.where(column.is_null().to_numpy(zero_copy_only=False), len(column), places)
    return values, encoded.indices.cast(pa.int64()).fill_null(len(values)).to_numpy()
