"""At most so many rows of each person are used, and which ones depends on that person's rows alone."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scumble.engines import ENGINES, Engine
from scumble.engines.contributions import REPEAT_STEP, kept_rows
from scumble.engines.person_ids import id_texts
from scumble.engines.row_hashes import RowHash
from scumble.engines.spark_contributions import coded_blocks
from scumble.files.schema_file import parse_schema
from scumble.flows.perturb import coded_blocks as coded_rows_and_entities
from scumble.model.raw_value import id_text
from scumble.model.schema import Schema
from scumble.model.values import code_of
from scumble.sources import open_source
from scumble.sources.object_column import object_column

Row = tuple[Any, Any, Any]
"""The id, a category and a number, as Python values."""
SCHEMA = parse_schema(
    """
scumble: schema/1
person: id
rows_each_at_most: 2
attributes:
  job: {taxonomy: {Any: {a: , b: , "1": , "true": }}}
  size: {numeric: {low: 0, high: 4, step: 1}}
"""
)
KEY = b"a key of a test" * 2
WORD = (1 << 64) - 1
local_engines = pytest.mark.parametrize("kind", [ENGINES["memory"], ENGINES["duckdb"]], ids=["memory", "duckdb"])


def used(kind: type[Engine], data: Any, schema: Schema = SCHEMA, key: bytes = KEY) -> Counter[tuple[int, ...]]:
    """The coded rows that an engine keeps."""
    engine = kind.open(open_source(data).batches(schema.columns_read), schema, key=key)
    try:
        rows = Counter(tuple(map(int, row)) for block in engine.blocks() for row in zip(*block, strict=True))
        assert engine.rows == rows.total()
        return rows
    finally:
        engine.close()


def mixed(word: int) -> int:
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        word ^= word >> 33
        word = word * factor & WORD
    return word ^ word >> 33


def twin(rows: Sequence[Row], most: int, *, inferred: bool = False) -> Counter[tuple[int, ...]]:
    """The readable version: for each person the rows with the smallest priorities, then coding."""
    hashing = RowHash(KEY)
    people: dict[str, list[tuple[int, int, Row]]] = defaultdict(list)
    for row in rows:
        person = id_text(row[0], inferred=inferred)
        value = 0
        for cell in (person, *row[1:]):
            value = mixed((value * 3 + hashing.value_hash(cell)) & WORD)
        repeat = sum(seen == value for _, seen, _ in people[person])
        people[person].append(((value + repeat * REPEAT_STEP) & WORD, value, row))
    kept: Counter[tuple[int, ...]] = Counter()
    for theirs in people.values():
        for _, _, row in sorted(theirs, key=lambda each: each[0])[:most]:
            codes = [code_of(attribute, cell) for attribute, cell in zip(SCHEMA.attributes, row[1:], strict=True)]
            kept.update([tuple(code for code in codes if code is not None)] if None not in codes else [])
    return kept


def csv_file(rows: Sequence[Row], folder: Path) -> Path:
    path = folder / "people.csv"
    cells = [[cell if isinstance(cell, bytes) else str(cell).encode() for cell in row] for row in rows]
    lines = [b",".join(b'"' + cell.replace(b'"', b'""') + b'"' for cell in row) for row in cells]
    path.write_bytes(b"\n".join([b"id,job,size", *lines]) + b"\n")
    return path


def pandas_frame(rows: Sequence[Row], folder: Path) -> pd.DataFrame:
    """Columns whose types pandas chooses by their values."""
    del folder
    return pd.DataFrame({name: column(cells) for name, cells in columns(rows).items()})


def column(cells: list[Any]) -> Any:
    try:
        return pd.Series(cells)
    except (UnicodeEncodeError, OverflowError, ValueError, TypeError):
        return pd.Series(cells, dtype=object)


def parquet_file(rows: Sequence[Row], folder: Path) -> Path:
    path = folder / "people.parquet"
    kinds = {"id": pa.int64(), "job": pa.string(), "size": pa.float64()}
    cells = columns(rows)
    pq.write_table(pa.table({name: pa.array(cells[name], kind) for name, kind in kinds.items()}), path)
    return path


def columns(rows: Sequence[Row]) -> dict[str, list[Any]]:
    return {name: [row[place] for row in rows] for place, name in enumerate(("id", "job", "size"))}


TEXTS = st.sampled_from(["a", "b", "1", "1.0", "true", "", " a", "K\u00f6ln", "\u65e5\u672c", "x" * 20])
ODD = st.sampled_from(
    [
        *(None, math.nan, math.inf, -0.0, 0.5, 1.0, 1, True, False, 2**53, 2**53 + 1, 2**80, Decimal("1.50")),
        *(Decimal("Infinity"), "\ud800", b"K\xf6ln", b"a", date(2024, 1, 31), datetime(2024, 1, 31, 9, 30), [1], pd.NA),
    ]
)
NUMBERS = st.sampled_from([0.0, 1.0, 1.5, -0.0, math.nan, math.inf, -3.0]) | st.floats(0, 4)
READERS: dict[str, tuple[Callable[[Sequence[Row], Path], Any], st.SearchStrategy[Row], bool]] = {
    "csv": (
        csv_file,
        st.tuples(
            st.sampled_from(["p", "q", "", "7", " 7", b"\xff", b"K\xf6ln"]),
            TEXTS | st.sampled_from([b"a", b"\xff", b"\xfe"]),
            st.sampled_from(["1", "1.0", "2", "x", "", b"\xff"]),
        ),
        False,
    ),
    "pandas": (
        pandas_frame,
        st.tuples(st.sampled_from([1, 2, 3, 1.0, "1"]) | ODD, TEXTS | ODD, st.integers(0, 3) | ODD),
        True,
    ),
    "parquet": (
        parquet_file,
        st.tuples(st.none() | st.sampled_from([1, 2, 2**53, 2**53 + 1]), st.none() | TEXTS, st.none() | NUMBERS),
        False,
    ),
}
every_reader = pytest.mark.parametrize("reader", READERS)


@every_reader
@local_engines
@settings(max_examples=12)
@given(data=st.data())
def test_every_engine_keeps_the_rows_that_the_twin_keeps(
    reader: str, kind: type[Engine], tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    write, row, inferred = READERS[reader]
    rows = data.draw(st.lists(row, min_size=1, max_size=14))
    most = data.draw(st.integers(1, 4))
    schema = replace(SCHEMA, rows_each_at_most=most)
    table = write(rows, tmp_path_factory.getbasetemp())
    assert used(kind, table, schema) == twin(rows, most, inferred=inferred)


@every_reader
@local_engines
@settings(max_examples=12)
@given(data=st.data())
def test_one_person_more_changes_at_most_the_bound(
    reader: str, kind: type[Engine], tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """The rows of a new person may contain anything. No other person's rows may change."""
    write, row, inferred = READERS[reader]
    folder = tmp_path_factory.getbasetemp()
    person = data.draw(row)[0]
    others = [
        each
        for each in data.draw(st.lists(row, min_size=1, max_size=10))
        if id_text(each[0], inferred=inferred) != id_text(person, inferred=inferred)
    ]
    added = [(person, *each[1:]) for each in data.draw(st.lists(row, min_size=1, max_size=8))]
    together = data.draw(st.permutations([*others, *added]))
    before, after = used(kind, write(others, folder)), used(kind, write(together, folder))
    assert not before - after
    assert (after - before).total() <= 2
    assert after == before + used(kind, write(added, folder))


@every_reader
@settings(max_examples=60)
@given(data=st.data())
def test_one_row_more_changes_at_most_one_row_in_and_one_out(
    reader: str, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    write, row, _ = READERS[reader]
    folder = tmp_path_factory.getbasetemp()
    rows = data.draw(st.lists(row, min_size=1, max_size=10))
    before = used(ENGINES["memory"], write(rows, folder))
    after = used(ENGINES["memory"], write([*rows, data.draw(row)], folder))
    assert (before - after).total() <= 1
    assert (after - before).total() <= 1


@local_engines
def test_the_choice_depends_on_neither_order_nor_batches_nor_encoding(kind: type[Engine]) -> None:
    random = np.random.default_rng(1)
    table = pa.table(
        {
            "id": random.integers(0, 40, 1000),
            "job": random.choice(["a", "b", "c"], 1000),
            "size": random.integers(0, 5, 1000) / 2,
        }
    )
    shuffled = table.take(random.permutation(1000))
    encoded = shuffled.set_column(1, "job", shuffled["job"].dictionary_encode())
    floats = encoded.set_column(0, "id", encoded["id"].cast(pa.float64()))
    texts = encoded.set_column(0, "id", encoded["id"].cast(pa.string()))
    pieces = pa.concat_tables([shuffled[:7], shuffled[7:500], shuffled[500:]])
    expected = used(kind, table)
    assert 40 < expected.total() <= 80
    for same in (shuffled, encoded, floats, texts, pieces):
        assert used(kind, same) == expected
    assert used(kind, table, key=b"another key") != expected


def test_the_choice_of_rows_prefers_no_value() -> None:
    """The hash depends on the person: otherwise one of two rows would be preferred for everybody."""
    people = 4000
    table = pa.table({"id": np.repeat(np.arange(people), 2), "job": ["a", "b"] * people, "size": [1.0] * 2 * people})
    kept = used(ENGINES["memory"], table, replace(SCHEMA, rows_each_at_most=1))
    assert kept.total() == people
    assert abs(kept[0, 1] - people / 2) < 5 * math.sqrt(people) / 2


def test_few_rows_are_all_kept_and_no_rows_are_no_rows() -> None:
    nobody = np.zeros(0, dtype=np.int64)
    assert kept_rows(nobody, nobody.astype(np.uint64), 3).tolist() == []
    assert kept_rows(np.array([0, 1, 0]), np.arange(3, dtype=np.uint64), 2).all()
    for kind in (ENGINES["memory"], ENGINES["duckdb"]):
        assert used(kind, pa.table({name: pa.array([], pa.string()) for name in ("id", "job", "size")})) == Counter()


def test_equal_rows_are_distinguished_by_their_repeat_number() -> None:
    persons, hashes = np.zeros(6, dtype=np.int64), np.full(6, 2**64 - 5, dtype=np.uint64)
    assert [kept_rows(persons, hashes, most).sum() for most in range(1, 8)] == [1, 2, 3, 4, 5, 6, 6]


# Hashes and ids of whole columns --------------------------------------------------------------------------------------

CELLS = st.one_of(
    ODD, TEXTS, st.text(max_size=12), st.integers(), st.floats(), st.decimals(allow_nan=False), st.binary()
)


def stored(value: object) -> object:
    """A value as a column of objects stores it: a short float is a double there."""
    return float(value) if isinstance(value, np.floating) else value


@given(st.lists(CELLS, max_size=6))
@example([2**53, 2.0**53, Decimal(2**53), "9007199254740992"])
def test_hashes_and_ids_of_objects_are_those_of_their_values(values: list[Any]) -> None:
    hashing = RowHash(KEY)
    cells = object_column(values)
    assert hashing.column_hashes(cells).tolist() == [hashing.value_hash(stored(value)) for value in values]
    assert id_texts(cells).to_pylist() == [id_text(stored(value), inferred=True) for value in values]


TYPED: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "text": (pa.string(), st.text(max_size=20)),
    "bytes": (pa.binary(), st.binary(max_size=9) | st.sampled_from([b"abcdefgh", b"abcdefghi"])),
    "whole": (pa.int64(), st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3)),
    "unsigned": (pa.uint64(), st.integers(0, 2**64 - 1)),
    "floats": (pa.float64(), st.floats() | st.integers(-3, 3).map(float) | st.just(-0.0)),
    "single": (pa.float32(), st.floats(width=32)),
    "booleans": (pa.bool_(), st.booleans()),
    "decimals": (pa.decimal128(38, 3), st.decimals(-(10**20), 10**20, places=3)),
    "dates": (pa.date32(), st.dates()),
    "moments": (pa.timestamp("us"), st.datetimes()),
}


@pytest.mark.parametrize("kind", TYPED)
@settings(max_examples=40)
@given(data=st.data())
def test_hashes_and_ids_of_typed_columns_are_those_of_their_values(kind: str, data: st.DataObject) -> None:
    arrow, cells = TYPED[kind]
    values = data.draw(st.lists(st.none() | cells, max_size=6))
    whole = pa.array(values, arrow)
    read = list(whole.to_numpy(zero_copy_only=False)) if kind == "single" else values
    hashing = RowHash(KEY)
    for column in (whole, whole.dictionary_encode(), pa.concat_arrays([whole, whole])[len(whole) :]):
        assert hashing.column_hashes(column).tolist() == [hashing.value_hash(value) for value in read]
        assert id_texts(column).to_pylist() == [id_text(value) for value in read]
        assert id_texts(column, inferred=True).to_pylist() == [id_text(value, inferred=True) for value in read]


def test_large_ids_stay_apart_where_their_type_is_declared(tmp_path: Path) -> None:
    rows: list[Row] = [(2**53 + place, "a", 1.0) for place in range(5)]
    one = replace(SCHEMA, rows_each_at_most=1)
    path = tmp_path / "people.duckdb"
    table = pq.read_table(parquet_file(rows, tmp_path))
    with duckdb.connect(str(path)) as connection:
        connection.register("given", table)
        connection.execute("CREATE TABLE people AS SELECT * FROM given")
    for data in (tmp_path / "people.parquet", table, pl.from_arrow(table), f"{path}::people", csv_file(rows, tmp_path)):
        assert used(ENGINES["memory"], data, one).total() == 5
    frame = pandas_frame(rows, tmp_path)
    assert used(ENGINES["memory"], frame, one).total() == 1
    assert used(ENGINES["memory"], frame.astype({"id": str}), one).total() == 5


def test_codes_from_spark_get_their_integer_types() -> None:
    batch = pa.record_batch({"code0": pa.array([0, 3]), "code1": pa.array([1, 2])})
    (block,) = coded_blocks([batch], SCHEMA)
    assert [codes.tolist() for codes in block] == [[0, 3], [1, 2]]
    assert {codes.dtype for codes in block} == {np.dtype(np.uint8)}


@pytest.mark.spark
@pytest.mark.parametrize("source", ["parquet", "csv", "frame"])
def test_spark_keeps_the_same_rows(source: str, tmp_path: Path) -> None:
    """Read by Spark, the rows are chosen by windows on the executors; a frame is bounded where it is."""
    random = np.random.default_rng(3)
    ids = [None if each == 0 else 2**53 + int(each) for each in random.integers(0, 30, 600)]
    jobs, sizes = random.choice(["a", "b", "unknown"], 600).tolist(), (random.integers(0, 6, 600) / 2).tolist()
    rows: list[Row] = list(zip(ids, jobs, sizes, strict=True))
    if source == "csv":
        rows = [("" if row[0] is None else str(row[0]), row[1], str(row[2])) for row in rows]
    data = csv_file(rows, tmp_path) if source == "csv" else parquet_file(rows, tmp_path)
    for most in (1, 3):
        schema = replace(SCHEMA, rows_each_at_most=most)
        read = pq.read_table(data) if source == "frame" else data
        batches = open_source(read, engine="spark").batches(schema.columns_read)
        engine = ENGINES["spark"].open(batches, schema, key=KEY)
        kept = Counter(tuple(map(int, row)) for block in engine.blocks() for row in zip(*block, strict=True))
        assert engine.rows == kept.total()
        engine.close()
        assert kept == twin(rows, most) == used(ENGINES["memory"], data, schema)


@pytest.mark.parametrize("pandas", [False, True])
def test_entities_with_large_numbers_stay_apart_or_are_blank(pandas: bool) -> None:
    """`perturb --entity` reads ids as a release of persons does: two ids never become one."""
    table = pa.table({"id": [2**53, 2**53 + 1, 7], "job": ["a", "b", "a"], "size": [0.0, 1.0, 2.0]})
    source = open_source(table.to_pandas() if pandas else table)
    ((_, names),) = coded_rows_and_entities(source, replace(SCHEMA, person=None, rows_each_at_most=None), "id")
    assert names == (["", "", "7"] if pandas else ["9007199254740992", "9007199254740993", "7"])
