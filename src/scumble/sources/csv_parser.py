"""Parses blocks of CSV records with Arrow, which then only ever sees valid CSV of the right width.

Arrow parses each block as it is, at first. The result is right if each line became one row. If the numbers of lines and
rows differ, if Arrow refuses the block, or if the block has something that Arrow reads in another way than
`scumble.sources.csv_records` defines, the records are rewritten and parsed again.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from scumble.sources import csv_records
from scumble.sources.csv_records import Bytes, RecordBlock, RecordShape, is_sound, rewritten, whole_records

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
SLICE = 1 << 18


class CSVParser:
    """Turns a stream of CSV records into Arrow batches, and counts the malformed records."""

    def __init__(self, shape: RecordShape, places: Sequence[int], names: Sequence[str]) -> None:
        """The fields at `places` become columns with these names."""
        self._shape, self._names = shape, list(names)
        self._every = [str(place) for place in range(shape.fields)]
        self._wanted = [str(place) for place in places]
        self._parse_options = pacsv.ParseOptions(
            delimiter=shape.delimiter,
            quote_char=shape.quote,
            newlines_in_values=True,
            # In a table of one column, an empty line is a record with an empty value.
            ignore_empty_lines=shape.fields > 1,
        )
        self._convert_options = pacsv.ConvertOptions(
            # Also for numbers: most such columns have few distinct values, and each is then parsed once. Bytes that are
            # not UTF-8 stay as they are: coding reads such a cell as a value off the domain.
            column_types=dict.fromkeys(self._wanted, pa.dictionary(pa.int32(), pa.string())),
            include_columns=self._wanted,
            strings_can_be_null=False,
            null_values=[],
            check_utf8=False,
        )
        self.malformed = 0
        """The number of malformed records so far."""

    def batches(self, chunks: Iterable[bytes]) -> Iterator[pa.RecordBatch]:
        """The batches of a stream of bytes without the header."""
        for block in whole_records(chunks, self._shape):
            self.malformed += block.replaced
            yield from self._as_it_is(block) or self._rewritten(block)

    def _as_it_is(self, block: RecordBlock) -> list[pa.RecordBatch]:
        """The rows of a block in which every line is one sound record; nothing if this is not certain."""
        if has_lone_returns(block) or has_long_lines(block):
            return []
        try:
            table = self._table(block.data)
        except pa.ArrowInvalid:
            return []
        # Arrow makes a row of one line or of several. If there are as many rows as lines, each was made of one line,
        # and only the last one can have a quote that is not closed.
        if len(table) != count_lines(block):
            return []
        last = last_line(block)
        closed = self._shape.quote.encode() not in last or is_sound(last, self._shape)
        return table.to_batches() if closed else []

    def _rewritten(self, block: RecordBlock) -> Iterator[pa.RecordBatch]:
        for records, malformed in rewritten(block.data, self._shape):
            self.malformed += malformed
            yield from self._table(records).to_batches()

    def _table(self, data: Bytes) -> pa.Table:
        raw = pa.py_buffer(data)
        if data[: len(BYTE_ORDER_MARK)].tobytes() == BYTE_ORDER_MARK:
            # Arrow removes one mark at the start of a stream, and here every block is one.
            raw = pa.py_buffer(BYTE_ORDER_MARK + data.tobytes())
        options = pacsv.ReadOptions(column_names=self._every, block_size=raw.size + 1)
        table = pacsv.read_csv(
            pa.BufferReader(raw),
            read_options=options,
            parse_options=self._parse_options,
            convert_options=self._convert_options,
        )
        return table.rename_columns(self._names)


def count_lines(block: RecordBlock) -> int:
    """The number of line feeds. Slice by slice, because the processor's cache is faster than its memory."""
    data = block.data
    slices = (data[start : start + SLICE] for start in range(0, len(data), SLICE))
    return sum(int(np.count_nonzero(each == csv_records.LINE_FEED)) for each in slices)


def has_lone_returns(block: RecordBlock) -> bool:
    """Whether a carriage return is not followed by a line feed, inside or outside quotes."""
    if block.raw.find(b"\r", 0, block.end) < 0:
        return False
    for start in range(0, block.end, SLICE):
        data = block.data[start : start + SLICE + 1]
        returns, feeds = data == csv_records.CARRIAGE_RETURN, data == csv_records.LINE_FEED
        if np.count_nonzero(returns[:-1]) != np.count_nonzero(returns[:-1] & feeds[1:]):
            return True
    return False


def has_long_lines(block: RecordBlock) -> bool:
    """Whether a line is longer than the longest record."""
    start = 0
    while start < block.end:
        last = block.raw.rfind(b"\n", start, min(block.end, start + csv_records.LONGEST_RECORD + 1))
        if last < 0:
            return True
        start = last + 1
    return False


def last_line(block: RecordBlock) -> bytes:
    """The last line, with its end."""
    return block.raw[block.raw.rfind(b"\n", 0, block.end - 1) + 1 : block.end]
