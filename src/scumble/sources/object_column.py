"""Columns whose type nobody declared, such as pandas' columns of objects: each cell is read on its own.

A type is never inferred from the values of a column, for then one record would decide how all others are read. Such a
column is an Arrow extension column instead. Each cell states the kind and the canonical text of its value, as
`scumble.model.raw_value` defines them; a missing value is null.
"""

from collections.abc import Iterable, Sequence
from decimal import Decimal, InvalidOperation

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from scumble.model.raw_value import EXACT, ValueKind, canonical

INFERRED_TYPES = b"scumble.inferred-types"
"""A key in the metadata of batches whose types were chosen by the values of the table, as pandas chooses them."""
OFF_DOMAIN = object()
"""Stands for every value that cannot be read."""

_TEXT, _NUMBER, _TRUE, _FALSE = "t", "n", "btrue", "bfalse"
_TAGS = {ValueKind.TEXT: _TEXT, ValueKind.NUMBER: _NUMBER, ValueKind.BOOLEAN: "b", ValueKind.OFF: "o"}


class ObjectType(pa.ExtensionType):  # type: ignore[misc]
    """The type of such a column. A cell is stored as one letter for the kind, and the canonical text."""

    def __init__(self) -> None:
        super().__init__(pa.large_string(), "scumble.objects")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type: pa.DataType, serialized: bytes) -> "ObjectType":
        del storage_type, serialized
        return cls()


def object_column(values: Iterable[object]) -> pa.Array:
    """A column of any Python values.

    numpy's short floats are read as doubles here. pandas stores the same numbers as doubles as soon as one record makes
    it choose another dtype.
    """
    cells = list(values)
    numbers = iter(_float_cells([value for value in cells if type(value) is float]))
    texts = [next(numbers) if type(value) is float else _cell(value) for value in cells]
    return pa.ExtensionArray.from_storage(ObjectType(), pa.array(texts, pa.large_string()))


def _float_cells(values: list[float]) -> list[str | None]:
    """The cells of doubles. Arrow writes the same shortest decimals, but with exponents, and much faster.

    A column of floats becomes one of objects as soon as one record is text, so this decides how far one record can slow
    down a run.
    """
    texts = pa.array(values, pa.float64()).cast(pa.string()).to_pylist()
    return [
        _cell(value) if "e" in text or "n" in text or text == "-0" else _NUMBER + text
        for value, text in zip(values, texts, strict=True)
    ]


def _cell(value: object) -> str | None:
    if type(value) is str and value.isascii():
        return _TEXT + value
    if value is True or value is False:
        return _TRUE if value else _FALSE
    if type(value) is int and -EXACT <= value <= EXACT:
        return f"{_NUMBER}{value}"
    kind, text = canonical(float(value) if isinstance(value, np.floating) else value)
    return None if kind is ValueKind.MISSING else _TAGS[kind] + text


def object_batch(names: Sequence[str], columns: Iterable[Iterable[object]]) -> pa.RecordBatch:
    """A batch of such columns."""
    return pa.RecordBatch.from_arrays([object_column(values) for values in columns], names=list(names))


def number_column(texts: pa.Array) -> pa.Array:
    """A column of numbers that a database wrote as text. Each distinct text is read once."""
    encoded = texts.cast(pa.large_string()).dictionary_encode()
    cells = pa.array([_cell(_number(text)) for text in encoded.dictionary.to_pylist()], pa.large_string())
    return pa.ExtensionArray.from_storage(ObjectType(), cells.take(encoded.indices))


def _number(text: str) -> object:
    try:
        return Decimal(text)
    except InvalidOperation:
        return OFF_DOMAIN


def split_cells(storage: pa.Array) -> tuple[pa.Array, dict[ValueKind, npt.NDArray[np.bool_]]]:
    """The canonical texts of cells, and which cells are text and which are numbers."""
    tags = pc.utf8_slice_codeunits(storage, 0, 1)
    kinds = {
        kind: pc.equal(tags, _TAGS[kind]).fill_null(False).to_numpy(zero_copy_only=False)
        for kind in (ValueKind.TEXT, ValueKind.NUMBER)
    }
    return pc.utf8_slice_codeunits(storage, 1), kinds


def object_values(storage: pa.Array) -> list[object]:
    """Cells of the storage as values that `canonical` reads as it read the original ones."""
    return [_value(cell) for cell in storage.to_pylist()]


def _value(cell: str | None) -> object:
    match (cell or "")[:1], (cell or "")[1:]:
        case "", _:
            return None
        case "t", text:
            return text
        case "n", text:
            return Decimal(text)
        case "b", text:
            return text == "true"
    return OFF_DOMAIN
