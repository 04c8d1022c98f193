"""The CSV reader against its twin, for arbitrary bytes: no record stops it, and none changes another."""

from collections.abc import Callable

import csv_twins
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scumble.sources import csv_records
from scumble.sources.csv_parser import CSVParser
from scumble.sources.csv_records import RecordShape

LONGEST = 40
ODD = [
    b'"',
    b'""',
    b'",',
    b',"',
    b",",
    b";",
    b"\r",
    b"\r\n",
    b"\n",
    b"a",
    b"\x00",
    b"\xff",
    b"K\xf6ln",
    b"\xef\xbb\xbf",
    b"'",
]
CONTENTS = st.lists(st.sampled_from(ODD) | st.binary(max_size=3) | st.just(b"long " * 9), max_size=25).map(b"".join)
LINES = CONTENTS.map(lambda raw: raw.replace(b"\n", b""))
SHAPES = st.builds(
    RecordShape,
    delimiter=st.sampled_from(",;"),
    quote=st.sampled_from("\"'"),
    fields=st.integers(1, 3),
    multiline=st.booleans(),
)


@pytest.fixture(autouse=True)
def short_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """Records and blocks short enough that every limit is met."""
    monkeypatch.setattr(csv_records, "LONGEST_RECORD", LONGEST)
    monkeypatch.setattr(csv_records, "REWRITTEN_BYTES", LONGEST)


def read(content: bytes, shape: RecordShape, size: int = 1 << 20) -> tuple[list[tuple[bytes, ...]], int]:
    """The records of the content in chunks of the size, and the number of malformed ones."""
    places = range(shape.fields)
    parser = CSVParser(shape, places, [f"column {place}" for place in places])
    rows: list[tuple[bytes, ...]] = []
    for batch in parser.batches(content[start : start + size] for start in range(0, len(content), size)):
        columns = [column.dictionary_decode().cast("binary").to_pylist() for column in batch.columns]
        rows += zip(*columns, strict=True)
    return rows, parser.malformed


def twin(content: bytes, shape: RecordShape) -> list[tuple[bytes, ...]]:
    found: Callable[..., list[tuple[bytes, ...]]] = csv_twins.records
    if shape.multiline:
        found = csv_twins.multiline_records
    return found(content, fields=shape.fields, delimiter=shape.delimiter, quote=shape.quote, longest=LONGEST)


PAIR = RecordShape(delimiter=",", quote='"', fields=2)
MANY_LINES = RecordShape(delimiter=",", quote='"', fields=2, multiline=True)


@given(content=CONTENTS, shape=SHAPES, size=st.integers(1, 30))
@settings(max_examples=400)
@example(content=b'a,b\na,"b\nc,d\n', shape=PAIR, size=100)
@example(content=b'a,"b\nc",d\n', shape=PAIR, size=100)
@example(content=b'a,b\nc,"d\n', shape=PAIR, size=100)
@example(content=b"a,b\rc,d\n\n", shape=PAIR, size=100)
@example(content=b'a,b\rc,d\n"a\n",b\n', shape=PAIR, size=100)
@example(content=b"\xef\xbb\xbfa,b\n\xef\xbb\xbfa,b\n", shape=PAIR, size=7)
@example(content=b'a,b\n"' + b"x" * 100 + b'\n",c\nd,e', shape=MANY_LINES, size=10)
@example(content=b'a,b\n"x\n",c\nd,"e', shape=MANY_LINES, size=10)
def test_any_bytes_are_read_as_the_twin_reads_them(content: bytes, shape: RecordShape, size: int) -> None:
    expected = twin(content, shape)
    assert read(content, shape)[0] == expected
    assert read(content, shape, size)[0] == expected


@given(content=CONTENTS, shape=SHAPES)
@settings(max_examples=60)
def test_the_places_of_block_ends_do_not_matter(content: bytes, shape: RecordShape) -> None:
    expected = read(content, shape)[0]
    assert all(read(content, shape, size)[0] == expected for size in range(1, len(content) + 1))


@given(before=st.lists(LINES, max_size=4), after=st.lists(LINES, max_size=4), old=LINES, new=LINES, shape=SHAPES)
@settings(max_examples=200)
def test_a_line_changes_one_record_only(
    before: list[bytes], after: list[bytes], old: bytes, new: bytes, shape: RecordShape
) -> None:
    """Whatever bytes without a line feed the line has: added, removed or replaced."""
    shape = RecordShape(delimiter=shape.delimiter, quote=shape.quote, fields=shape.fields)
    first, last = (read(b"".join(line + b"\n" for line in lines), shape)[0] for lines in (before, after))
    for line in (old, new):
        own = read(line + b"\n", shape)[0]
        assert len(own) <= 1
        lines = [*before, line, *after]
        assert read(b"".join(each + b"\n" for each in lines), shape)[0] == [*first, *own, *last]


@given(content=CONTENTS, shape=SHAPES)
def test_malformed_records_are_counted(content: bytes, shape: RecordShape) -> None:
    rows, malformed = read(content, shape)
    off = rows.count((csv_twins.OFF,) * shape.fields)
    assert malformed <= off
    assert malformed == off or csv_twins.OFF in content


def test_a_few_bytes_do_not_become_too_many_at_once() -> None:
    """Each line of one byte is replaced by a record of a thousand fields."""
    shape = RecordShape(delimiter=",", quote='"', fields=1000)
    rows, malformed = read(b"a\n" * 50, shape)
    assert len(rows) == malformed == 50
