"""Reads whole Arrow columns as doubles, by the same rules as `scumble.model.notation.NumberNotation` for one value."""

import math

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from scumble.engines.arrow_values import decoded_text, is_numeric, is_text, python_values, without_wrapping
from scumble.engines.short_floats import is_short, shortest_decimals, stored_as
from scumble.model.notation import PLAIN, NumberNotation
from scumble.model.values import is_missing_number, number_of


def read_numbers(
    column: pa.Array, missing: str | None = None, numbers: NumberNotation = PLAIN
) -> npt.NDArray[np.float64]:
    """A column as doubles, with NaN for cells that do not parse, are empty or contain the label of missing values."""
    column = without_wrapping(column)
    if pa.types.is_dictionary(column.type):
        column = without_wrapping(column.dictionary_decode())
    if not is_numeric(column.type) and not is_text(column.type):
        cells = python_values(column)
        read = [None if is_missing_number(cell, missing, numbers) else number_of(cell, numbers) for cell in cells]
        return np.array([math.nan if number is None else number for number in read], dtype=np.float64)
    values, empty = numbers_and_empty(column, missing, numbers, mark_nan=False)
    values = shortest_decimals(values, column.type) if is_short(column.type) else values
    return values if empty is None else np.where(empty, np.nan, values)


def numbers_and_empty(
    column: pa.Array, label: str | None, numbers: NumberNotation, *, mark_nan: bool
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_] | None]:
    """Numbers or text as doubles, NaN where it does not parse, and a mask of cells that are empty or equal `label`."""
    kind = column.type
    empty = undecodable = None
    if not pa.types.is_integer(kind) and not pa.types.is_floating(kind):
        # Decimals are read from their text: Arrow's conversion to doubles does not always give the nearest one.
        text, undecodable = decoded_text(column)
        text = pc.utf8_trim_whitespace(text)
        blank = pc.is_in(text, pa.array([None, "", (label or "").strip()], text.type))
        if pc.any(blank).as_py():
            empty = blank.to_numpy(zero_copy_only=False)
        column = _parse(text, PLAIN if pa.types.is_decimal(kind) else numbers)
    elif column.null_count:
        empty = column.is_null().to_numpy(zero_copy_only=False)
    values = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    if mark_nan and pa.types.is_floating(kind):
        not_numbers = np.isnan(values)  # includes null, which the cast made NaN
        empty = not_numbers if not_numbers.any() else None
    number = number_of(label)
    if number is not None:
        said = values == (stored_as(number, kind) if is_short(kind) else number)
        empty = said if empty is None else empty | said
    if undecodable is not None and empty is not None:
        empty = empty & ~undecodable
    return values, empty


def _parse(text: pa.Array, numbers: NumberNotation) -> pa.Array:
    readable = pc.match_substring_regex(text, numbers.pattern)
    text = pc.if_else(readable, text, pa.scalar(None, text.type))
    if numbers.thousands is not None:
        text = pc.replace_substring(text, numbers.thousands, "")
    if numbers.decimal != ".":
        text = pc.replace_substring(text, numbers.decimal, ".")
    return text.cast(pa.float64())
