"""Columns whose type nobody declared, such as pandas' columns of objects: each cell is read on its own.

A type is never inferred from the values of a column, for then one record would decide how all others are read. Such a
column is an Arrow extension column instead. Each cell states the kind and the canonical text of its value, as
`scumble.model.raw_value` defines them; a missing value is null.
"""

from collections.abc import Iterable, Sequence
from decimal import Decimal, InvalidOperation

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scumble.model.raw_value import ValueKind, canonical

INFERRED_TYPES = b"scumble.inferred-types"
"""A key in the metadata of batches whose types were chosen by the values of the table, as pandas chooses them."""
OFF_DOMAIN = object()
"""Stands for every value that cannot be read."""

_TAGS = {ValueKind.TEXT: "t", ValueKind.NUMBER: "n", ValueKind.BOOLEAN: "b", ValueKind.OFF: "o"}


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
    return pa.ExtensionArray.from_storage(ObjectType(), pa.array(map(_cell, values), pa.large_string()))


def _cell(value: object) -> str | None:
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


def objects_as_text(table: pa.Table) -> pa.Table:
    """The table with the canonical texts of such columns; null where a value is missing or has no text."""
    for place, field in enumerate(table.schema):
        if isinstance(field.type, ObjectType):
            chunks = [chunk.storage for chunk in table.column(place).chunks]
            texts = pc.utf8_slice_codeunits(pa.chunked_array(chunks, pa.large_string()), 1)
            texts = pc.if_else(pc.equal(texts, ""), pa.scalar(None, texts.type), texts)
            table = table.set_column(place, field.name, texts)
    return table


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
