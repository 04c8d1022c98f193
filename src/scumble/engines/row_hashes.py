"""A keyed 64-bit hash of every raw row, for choosing rows of a person.

The hash of a row depends on its values alone: not on the reader, the engine, the batch, the type in which a column
stores a value, nor on other rows. `value_hash` defines the hash of one value by the kind and the text that
`scumble.model.raw_value.canonical` gives it; whole columns of numbers and text are hashed by compiled loops that give
the same numbers.

The guarantee does not depend on the quality of the hash: any function of the row would do. The key and the mixing make
the choice of rows look random, so that no value is preferred over another.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.compiled import compiled
from scumble.engines.arrow_values import distinct_values, is_text, python_values, without_wrapping
from scumble.engines.short_floats import is_short, shortest_decimals
from scumble.model.raw_value import ValueKind, canonical

Hashes = npt.NDArray[np.uint64]
_WORD = (1 << 64) - 1
_KINDS = (ValueKind.MISSING, ValueKind.TEXT, ValueKind.NUMBER, ValueKind.BOOLEAN, ValueKind.OFF)


@dataclass(frozen=True)
class RowHash:
    """The hash function that a key selects."""

    key: bytes

    @cached_property
    def _seeds(self) -> dict[ValueKind | str, int]:
        """A secret number for each kind of value, and for numbers that are doubles."""
        stream = hashlib.shake_256(b"scumble rows of persons/1" + self.key).digest(8 * (len(_KINDS) + 1))
        numbers = np.frombuffer(stream, dtype="<u8").tolist()
        return dict(zip((*_KINDS, "double"), numbers, strict=True))

    def value_hash(self, value: object) -> int:
        """The hash of one value."""
        kind, text = canonical(value)
        if kind is ValueKind.NUMBER and canonical(float(text))[1] == text:
            return _mixed(self._seeds["double"] ^ int(np.float64(float(text) + 0.0).view(np.uint64)))
        data = text.encode()
        mixed = self._seeds[kind] ^ len(data)
        for start in range(0, len(data), 8):
            mixed = _mixed(mixed ^ int.from_bytes(data[start : start + 8], "little"))
        return _mixed(mixed)

    def column_hashes(self, column: pa.Array) -> Hashes:
        """The hash of every cell."""
        column = without_wrapping(column)
        kind = column.type
        if pa.types.is_dictionary(kind):
            known = np.append(self.column_hashes(column.dictionary), np.uint64(self.value_hash(None)))
            return known[column.indices.cast(pa.int64()).fill_null(len(column.dictionary)).to_numpy()]
        if is_text(kind):
            raw = column.cast(pa.large_binary())
            if _is_utf8(raw):
                return self._text_hashes(raw)
        elif pa.types.is_integer(kind) or pa.types.is_floating(kind):
            return self._number_hashes(column)
        values, places = distinct_values(column)
        hashes = [self.value_hash(value) for value in [*python_values(values), None]]
        return np.array(hashes, dtype=np.uint64)[places]

    def row_hashes(self, columns: Sequence[pa.Array], rows: int) -> Hashes:
        """The hash of every row of a batch, from its columns in order."""
        hashes = np.zeros(rows, dtype=np.uint64)
        for column in columns:
            _add_column(self.column_hashes(column), hashes)
        return hashes

    def _text_hashes(self, raw: pa.LargeBinaryArray) -> Hashes:
        hashes = np.empty(len(raw), dtype=np.uint64)
        _, offsets, data = raw.buffers()
        if len(raw):
            starts = np.frombuffer(offsets, dtype=np.int64)[raw.offset : raw.offset + len(raw) + 1]
            text = np.frombuffer(b"" if data is None else data, dtype=np.uint8)
            _hash_texts(text, starts, np.uint64(self._seeds[ValueKind.TEXT]), hashes)
        return self._with_missing(hashes, raw)

    def _number_hashes(self, column: pa.Array) -> Hashes:
        numbers = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        if is_short(column.type):
            numbers = shortest_decimals(numbers, column.type)
        hashes = np.empty(len(numbers), dtype=np.uint64)
        bits = (numbers + 0.0).view(np.uint64)  # adding zero removes the sign of zero
        _hash_words(bits, np.uint64(self._seeds["double"]), hashes)
        hashes[np.isnan(numbers)] = self.value_hash(None)
        return self._with_missing(hashes, column)

    def _with_missing(self, hashes: Hashes, column: pa.Array) -> Hashes:
        if column.null_count:
            hashes[column.is_null().to_numpy(zero_copy_only=False)] = self.value_hash(None)
        return hashes


def _is_utf8(raw: pa.LargeBinaryArray) -> bool:
    try:
        raw.cast(pa.large_string())
    except pa.ArrowInvalid:
        return False
    return True


def _mixed(word: int) -> int:
    """The readable version of `_mix`."""
    word ^= word >> 33
    word = word * 0xFF51AFD7ED558CCD & _WORD
    word ^= word >> 33
    word = word * 0xC4CEB9FE1A85EC53 & _WORD
    return word ^ word >> 33


@compiled
def _mix(word: Any) -> Any:
    """The 64-bit finalizer of MurmurHash3: a permutation in which every input bit changes half of the output bits."""
    word ^= word >> np.uint64(33)
    word *= np.uint64(0xFF51AFD7ED558CCD)
    word ^= word >> np.uint64(33)
    word *= np.uint64(0xC4CEB9FE1A85EC53)
    word ^= word >> np.uint64(33)
    return word


@compiled
def _hash_words(words: Any, seed: Any, hashes: Any) -> None:
    for row in range(len(words)):
        hashes[row] = _mix(seed ^ words[row])


@compiled
def _hash_texts(data: Any, starts: Any, seed: Any, hashes: Any) -> None:
    """Hash every text, eight bytes at a time."""
    for row in range(len(hashes)):
        start, end = starts[row], starts[row + 1]
        mixed = seed ^ np.uint64(end - start)
        while start < end:
            word = np.uint64(0)
            for place in range(min(end - start, 8)):
                word |= np.uint64(data[start + place]) << np.uint64(8 * place)
            mixed = _mix(mixed ^ word)
            start += 8
        hashes[row] = _mix(mixed)


@compiled
def _add_column(column: Any, hashes: Any) -> None:
    """Combine the hashes of a column with those of the columns before it. Their order matters."""
    for row in range(len(hashes)):
        hashes[row] = _mix(hashes[row] * np.uint64(3) + column[row])
