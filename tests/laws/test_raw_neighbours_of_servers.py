"""The raw neighbour law for Spark and PostgreSQL: hundreds of examples in a few tables.

A job of Spark or a table of a server costs more than a thousand examples. So three tables hold many examples each, as
batches with a number: the first the tables themselves, the second the tables with one record more, the third the tables
with one record replaced. The codes of all other records must be the same in all three, and those of the first table the
codes that the rule for one value gives.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from postgres_server import running_server
from raw_tables import ATTRIBUTES, CELLS, FLOATS, LABELS, MOMENT, TRIED, unchecked_text

from scumble.engines.coding import coder
from scumble.model.values import code_of
from scumble.sources import open_source
from scumble.sources.spark import session

TEXT = st.none() | st.sampled_from([*LABELS, "unknown", "", " 1.5", "a,b", 'say "so"']) | st.text(max_size=3)
MOMENTS = st.datetimes(datetime(1600, 1, 1), datetime(9000, 1, 1)) | st.just(MOMENT)
KINDS: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "text": (pa.string(), TEXT.filter(lambda text: text is None or "\x00" not in text)),
    "bytes": (pa.binary(), CELLS),
    "booleans": (pa.bool_(), st.none() | st.booleans()),
    "whole": (pa.int64(), st.none() | st.integers(-(2**63), 2**63 - 1) | st.integers(-2, 2)),
    "floats": (pa.float64(), st.none() | FLOATS | st.floats()),
    "single": (pa.float32(), st.none() | st.floats(width=32)),
    "decimals": (pa.decimal128(20, 3), st.none() | st.decimals(-(10**9), 10**9, places=3)),
    "dates": (pa.date32(), st.none() | st.dates(date(1600, 1, 1), date(9000, 1, 1)) | st.just(date(2024, 1, 31))),
    "moments": (pa.timestamp("us"), st.none() | MOMENTS),
    "moments of a zone": (pa.timestamp("us", "UTC"), st.none() | MOMENTS.map(lambda each: each.replace(tzinfo=UTC))),
}
EXAMPLES = 200
Codes = tuple[int | None, ...]


class Example(NamedTuple):
    """A table of one column, one further record and its place."""

    values: list[Any]
    extra: Any
    place: int

    @property
    def tables(self) -> tuple[list[Any], list[Any], list[Any]]:
        before, after = self.values[: self.place], self.values[self.place + 1 :]
        return self.values, [*before, self.extra, *self.values[self.place :]], [*before, self.extra, *after]


def examples(cells: st.SearchStrategy[Any], number: int) -> list[Example]:
    """So many examples, drawn as Hypothesis draws them for a test."""
    found: list[Example] = []
    rows = st.lists(cells, min_size=1, max_size=5)

    @settings(max_examples=number, phases=[Phase.generate], database=None)
    @given(values=rows, extra=cells, place=st.integers(0, 4))
    def draw(values: list[Any], extra: Any, place: int) -> None:
        found.append(Example(values, extra, min(place, len(values) - 1)))

    draw()
    return found


def numbered(found: Sequence[Example], which: int) -> Iterator[tuple[int, int, Any]]:
    """The rows of one of the three tables: the number of the example, the place in it, the value."""
    for number, each in enumerate(found):
        for place, value in enumerate(each.tables[which]):
            yield number, place, value


def codes(data: Any, **options: Any) -> dict[int, list[Codes]]:
    """The codes of every example, in the order of its rows."""
    rows: dict[int, list[tuple[int, Codes]]] = defaultdict(list)
    for batch in open_source(data, **options).batches(["example", "place", "x"]):
        coded = [coder(attribute)(batch.column("x")) for attribute in ATTRIBUTES]
        readings = zip(
            *(
                each.codes.tolist()
                if each.kept is None
                else [code if kept else None for code, kept in zip(each.codes.tolist(), each.kept, strict=True)]
                for each in coded
            ),
            strict=True,
        )
        where = zip(batch.column("example").to_pylist(), batch.column("place").to_pylist(), strict=True)
        for (example, place), reading in zip(where, readings, strict=True):
            rows[int(example)].append((int(place), reading))
    return {example: [reading for _, reading in sorted(lines)] for example, lines in rows.items()}


def check(reader: str, found: Sequence[Example], read: Sequence[dict[int, list[Codes]]]) -> None:
    """The law, for all examples at once."""
    before, added, replaced = read
    for number, (values, _, place) in enumerate(found):
        TRIED[reader] += 1
        first, second, third = (table[number] for table in (before, added, replaced))
        assert (len(first), len(second), len(third)) == (len(values), len(values) + 1, len(values))
        assert second[:place] + second[place + 1 :] == first, found[number]
        assert third == [*first[:place], second[place], *first[place + 1 :]], found[number]


def check_values(found: Sequence[Example], read: dict[int, list[Codes]], kind: str) -> None:
    """Every value has the code that the rule for one value gives it, as through every other source."""
    for number, each in enumerate(found):
        cells = [np.float32(value) if kind == "single" and value is not None else value for value in each.values]
        expected = [tuple(code_of(attribute, cell) for attribute in ATTRIBUTES) for cell in cells]
        assert read[number] == expected, (kind, each.values)


def table_of(found: Sequence[Example], which: int, kind: pa.DataType) -> pa.Table:
    numbers, places, values = zip(*numbered(found, which), strict=True)
    column = unchecked_text(list(values)) if kind == "raw" else pa.array(values, kind)
    return pa.table({"example": pa.array(numbers, pa.int64()), "place": pa.array(places, pa.int64()), "x": column})


# Spark ---------------------------------------------------------------------------------------------------------------


@pytest.mark.spark
@pytest.mark.parametrize("kind", KINDS)
def test_frames_of_spark(kind: str) -> None:
    arrow, cells = KINDS[kind]
    found = examples(cells, EXAMPLES // len(KINDS) + 20)
    frames = [session().createDataFrame(table_of(found, which, arrow)) for which in range(3)]
    if kind == "moments":  # Spark takes those of Arrow for moments of the session's zone
        frames = [frame.withColumn("x", frame["x"].cast("timestamp_ntz")) for frame in frames]
    read = [codes(frame) for frame in frames]
    check("Spark frame", found, read)
    check_values(found, read[0], kind)


@pytest.mark.spark
def test_parquet_read_by_spark(tmp_path: Path) -> None:
    """Text that need not be UTF-8."""
    found = examples(CELLS, EXAMPLES)
    paths = [tmp_path / f"{which}.parquet" for which in range(3)]
    for which, path in enumerate(paths):
        pq.write_table(table_of(found, which, "raw"), path)
    check("Spark Parquet", found, [codes(path, engine="spark") for path in paths])


@pytest.mark.spark
def test_csv_read_by_spark(tmp_path: Path) -> None:
    """Quoted fields with any bytes inside but line feeds, which end a record."""
    found = examples(CELLS, EXAMPLES)
    paths = [tmp_path / f"{which}.csv" for which in range(3)]
    for which, path in enumerate(paths):
        lines = [
            b'%d,%d,"%s"\n' % (number, place, (cell or b"").replace(b'"', b'""').replace(b"\n", b" "))
            for number, place, cell in numbered(found, which)
        ]
        path.write_bytes(b"example,place,x\n" + b"".join(lines))
    check("Spark CSV", found, [codes(path, engine="spark") for path in paths])


# PostgreSQL ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with running_server() as address:
        yield address


@pytest.mark.postgres
@pytest.mark.parametrize("kind", KINDS)
def test_tables_of_postgresql(server: str, kind: str) -> None:
    arrow, cells = KINDS[kind]
    found = examples(cells, EXAMPLES // len(KINDS) + 20)
    dbapi: Any = pytest.importorskip("adbc_driver_postgresql.dbapi")
    name = kind.replace(" ", "_")
    with dbapi.connect(server) as connection, connection.cursor() as cursor:
        for which in range(3):
            cursor.adbc_ingest(f"{name}_{which}", table_of(found, which, arrow), mode="create")
        connection.commit()
    read = [codes(f"{server}::{name}_{which}") for which in range(3)]
    check("PostgreSQL", found, read)
    check_values(found, read[0], kind)


NUMERICS = st.sampled_from(["NaN", "1.500", "1e300", "-0", "0.1", "10000000001.000", "Infinity", "1e-300"])


@pytest.mark.postgres
@pytest.mark.parametrize(
    ("kind", "cells"),
    [
        ("numeric", st.none() | NUMERICS | st.decimals(-(10**9), 10**9, places=3).map(str)),
        ("timestamptz", st.none() | st.sampled_from(["infinity", "-infinity", "0044-03-15 BC", "2024-01-31 09:30+01"])),
        (
            "date",
            st.none() | st.sampled_from(["infinity", "-infinity", "0044-03-15 BC", "2024-01-31", "5874897-12-31"]),
        ),
        ("interval", st.none() | st.sampled_from(["1 day", "-1 month", "09:30:00"])),
        ("integer[]", st.none() | st.sampled_from(["{}", "{1}", "{1,2}"])),
        ("jsonb", st.none() | st.sampled_from(["1", "true", "null", "[1]", '{"a": 1}'])),
    ],
    ids=lambda kind: kind if isinstance(kind, str) else "",
)
def test_types_that_arrow_does_not_have(server: str, kind: str, cells: st.SearchStrategy[Any]) -> None:
    """Written by SQL: values that the driver cannot send."""
    found = examples(cells, 20)
    dbapi: Any = pytest.importorskip("adbc_driver_postgresql.dbapi")
    name = kind.removesuffix("[]")
    with dbapi.connect(server) as connection, connection.cursor() as cursor:
        for which in range(3):
            cursor.execute(f'CREATE TABLE "odd_{name}_{which}" (example bigint, place bigint, x {kind})')
            rows = ", ".join(
                f"({number}, {place}, {'NULL' if value is None else repr(str(value))}::{kind})"
                for number, place, value in numbered(found, which)
            )
            cursor.execute(f'INSERT INTO "odd_{name}_{which}" VALUES {rows}')
        connection.commit()
    check("PostgreSQL", found, [codes(f"{server}::odd_{name}_{which}") for which in range(3)])


def test_an_example_has_three_neighbours() -> None:
    assert Example([1, 2, 3], 9, 1).tables == ([1, 2, 3], [1, 9, 2, 3], [1, 9, 3])
    assert len(examples(st.just(Decimal(1)) | st.integers(), 50)) >= 50
