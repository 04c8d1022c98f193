"""Splits the bytes of a CSV file into records, whatever the bytes are. No record stops the reader or hides another.

By default a record is one line. A line ends at a line feed; a carriage return before it belongs to the line end. With
`multiline`, a line feed inside quotes belongs to the value, and a record ends at a line feed outside quotes. A quote
has a meaning only at the start of a field and inside a field that started with one; elsewhere it is an ordinary
character.

A record is *malformed* if a quote is not closed in it, if its number of fields differs from the header's, if a carriage
return outside quotes is not followed by a line feed, or if it is longer than `LONGEST_RECORD`. In the output every
field of a malformed record is the byte 0xFF, which is not UTF-8: such a value is outside every domain, so the schema's
`outside` rule decides about the record.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.compiled import compiled

LONGEST_RECORD = 1 << 20
"""Longer records, in bytes without the line end, are malformed."""
REWRITTEN_BYTES = 1 << 22
"""The size of a block of rewritten records."""

Bytes = npt.NDArray[np.uint8]

LINE_FEED, CARRIAGE_RETURN = 10, 13
FIELD_START, PLAIN, QUOTED, CLOSED, RETURNED = range(5)
"""Where a scan is: at the start of a field; in a field outside quotes; inside quotes; after a quote that closes the
field, unless another one follows; after a carriage return outside quotes."""


@dataclass(frozen=True)
class RecordBlock:
    """Whole records: the first `end` bytes of `raw`."""

    raw: bytes
    end: int
    replaced: int = 0
    """How many malformed records were replaced already."""

    @cached_property
    def data(self) -> Bytes:
        """The bytes of the records, without a copy."""
        return np.frombuffer(self.raw, np.uint8, self.end)


@dataclass(frozen=True, kw_only=True)
class RecordShape:
    """How the records of a file look: what separates and quotes fields, and how many fields the header has."""

    delimiter: str
    quote: str
    fields: int
    multiline: bool = False

    @cached_property
    def malformed(self) -> bytes:
        """What stands for a malformed record, with its line end."""
        return self.delimiter.encode().join([b"\xff"] * self.fields) + b"\n"

    @property
    def numbers(self) -> tuple[int, int, bool]:
        """The delimiter, the quote and `multiline`, as the compiled functions take them."""
        return ord(self.delimiter), ord(self.quote), self.multiline


def whole_records(chunks: Iterable[bytes], shape: RecordShape) -> Iterator[RecordBlock]:
    """Cut a stream into blocks of whole records. The records are unchanged, except that longer ones than
    `LONGEST_RECORD` may be replaced. Never stores more than a chunk and a record of that length."""
    replacement = RecordBlock(shape.malformed, len(shape.malformed), replaced=1)
    begun = b""
    skipped: int | None = None
    for chunk in chunks:
        if skipped is not None:
            after, skipped = _skip(np.frombuffer(chunk, np.uint8), skipped, *shape.numbers)
            if after < 0:
                continue
            data, skipped = chunk[after:], None
        else:
            data = begun + chunk
        end = end_of_records(data, shape)
        if end:
            yield RecordBlock(data, end)
        begun = data[end:]
        if len(begun) > LONGEST_RECORD:
            yield replacement
            _, skipped = _skip(np.frombuffer(begun, np.uint8), FIELD_START, *shape.numbers)
            begun = b""
    if begun:
        closed = begun + b"\n"
        yield RecordBlock(closed, len(closed)) if end_of_records(closed, shape) == len(closed) else replacement


def end_of_records(data: bytes, shape: RecordShape) -> int:
    """The number of bytes that are whole records."""
    if shape.multiline and shape.quote.encode() in data:
        return _last_end(np.frombuffer(data, np.uint8), *shape.numbers)
    return data.rfind(b"\n") + 1


def rewritten(data: Bytes, shape: RecordShape) -> Iterator[tuple[Bytes, int]]:
    """Whole records with the malformed ones replaced, and how many were. Lines without content are left out if a record
    has several fields. Few bytes can become many, so the result comes in several blocks."""
    replacement = np.frombuffer(shape.malformed, np.uint8)
    position = 0
    while position < len(data):
        # The replacement is copied into the block too, and must fit.
        out = np.empty(max(REWRITTEN_BYTES, len(replacement), LONGEST_RECORD + 1), np.uint8)
        position, written, replaced = _rewrite(
            data, position, *shape.numbers, shape.fields, LONGEST_RECORD, replacement, out
        )
        if written:
            yield out[:written], replaced


def is_sound(record: bytes, shape: RecordShape) -> bool:
    """Whether a record, with its line end, is not malformed."""
    return all(replaced == 0 for _, replaced in rewritten(np.frombuffer(record, np.uint8), shape))


@compiled
def _next(phase: Any, byte: Any, delimiter: Any, quote: Any) -> Any:
    """Where the scan is after a byte that does not end the record."""
    if phase == QUOTED:
        return CLOSED if byte == quote else QUOTED
    if byte == delimiter:
        return FIELD_START
    if byte == quote and phase in (FIELD_START, CLOSED):
        return QUOTED
    return RETURNED if byte == CARRIAGE_RETURN else PLAIN


@compiled
def _skip(data: Any, phase: Any, delimiter: Any, quote: Any, multiline: Any) -> Any:
    """Continue a record: the position after its end, or -1 if it does not end here, and where the scan is then."""
    for position in range(len(data)):
        byte = data[position]
        if byte == LINE_FEED and not (multiline and phase == QUOTED):
            return position + 1, FIELD_START
        phase = _next(phase, byte, delimiter, quote)
    return -1, phase


@compiled
def _last_end(data: Any, delimiter: Any, quote: Any, multiline: Any) -> Any:
    """The position after the last record that ends in the data; the data start with a record."""
    end, phase = 0, FIELD_START
    for position in range(len(data)):
        byte = data[position]
        if byte == LINE_FEED and not (multiline and phase == QUOTED):
            end, phase = position + 1, FIELD_START
        else:
            phase = _next(phase, byte, delimiter, quote)
    return end


@compiled
def _rewrite(
    data: Any,
    start: Any,
    delimiter: Any,
    quote: Any,
    multiline: Any,
    fields: Any,
    longest: Any,
    replacement: Any,
    out: Any,
) -> Any:
    """Copy records from `start` on into `out`, malformed ones as `replacement`, until it is full. Returns where the
    next record starts, how much was written, and how many records were replaced."""
    written = replaced = 0
    phase, found, sound = FIELD_START, 1, True
    for position in range(start, len(data)):
        byte = data[position]
        if byte == LINE_FEED and not (multiline and phase == QUOTED):
            length = position - start
            empty = length == 0 or (length == 1 and phase == RETURNED)
            if not empty or fields == 1:
                sound = sound and phase != QUOTED and found == fields and length <= longest
                size = length + 1 if sound else len(replacement)
                if written + size > len(out):
                    break
                if sound:
                    out[written : written + size] = data[start : position + 1]
                else:
                    out[written : written + size] = replacement
                    replaced += 1
                written += size
            start = position + 1
            phase, found, sound = FIELD_START, 1, True
        else:
            sound = sound and phase != RETURNED
            phase = _next(phase, byte, delimiter, quote)
            found += phase == FIELD_START
    return start, written, replaced
