"""What the executors of Spark do with lines of CSV files. No Spark is needed for it."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scumble.sources.csv_records import RecordShape
from scumble.sources.spark_batches import read_message, write_message
from scumble.sources.spark_csv import LineReader, one_spelling

PAIR = RecordShape(delimiter=",", quote='"', fields=2)
TRIPLE = RecordShape(delimiter=",", quote='"', fields=3)
Line = tuple[bytes, bool, object]


def read(reader: LineReader, lines: list[Line], size: int) -> list[tuple[bytes, ...]]:
    """The rows of lines that arrive in batches of the size."""
    batches = [
        pa.record_batch(list(map(pa.array, zip(*lines[start : start + size], strict=True))), names=names)
        for names in [["line", "from_start", "file"]]
        for start in range(0, len(lines), size)
    ]
    return [row for batch in reader.batches(batches) for row in zip(*batch.to_pydict().values(), strict=True)]


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_the_first_line_of_each_file_is_left_out(size: int) -> None:
    """Also where the later part of a file comes first, and where a line looks like a header."""
    reader = LineReader(fields={}, usual=(PAIR, (1,)), encoding="utf-8")
    later: list[Line] = [(b"1,a", False, 7), (b"x,y", False, 7)]
    start: list[Line] = [(b"x,y", True, 7), (b"2,b", True, 7), (b"x,y", True, 7)]
    other: list[Line] = [(b"x,y", True, 8), (b"3", True, 8), (b"", True, 8), (b'4,"c', True, 8), (b"5,d\r", True, 8)]
    found = [row[0] for row in read(reader, [*later, *start, *other], size)]
    assert found == [b"a", b"y", b"b", b"y", b"\xff", b"\xff", b"d"]


@pytest.mark.parametrize("size", [1, 2, 100])
def test_files_with_different_headers(size: int) -> None:
    fields = {"file:/a b.csv": (PAIR, (0, 1)), "file:/c.csv": (TRIPLE, (2, 0))}
    reader = LineReader(fields=fields, usual=fields["file:/a b.csv"], encoding="latin-1")
    first: list[Line] = [(b"x,y", True, "file:/a%20b.csv"), (b"1,\xe4", True, "file:/a%20b.csv")]
    second: list[Line] = [(b"y,z,x", True, "file:/c.csv"), (b"a,b,2", True, "file:/c.csv")]
    assert read(reader, [*first, *second], size) == [(b"1", "ä".encode()), (b"2", b"a")]
    assert one_spelling("file:///c.csv") == "file:/c.csv"
    assert one_spelling("s3a://bucket/c%20d.csv") == "s3a://bucket/c d.csv"


@given(st.lists(st.binary(max_size=3)))
def test_batches_are_sent_as_messages(values: list[bytes]) -> None:
    batch = pa.record_batch({"x": pa.array(values, pa.binary())})
    assert read_message(write_message(batch)) == [batch]
