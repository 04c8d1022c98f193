"""All engines count as a plain Python twin does, which reads raw values by the documented rules."""

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from fine_releases import same_columns
from hypothesis import given, settings
from hypothesis import strategies as st
from planned_runs import run
from strategies import cuts, schemas, tables
from table_twins import (
    RecordedNoise,
    Row,
    as_csv,
    as_duckdb,
    as_many,
    as_parquet,
    coded,
    rows_in,
    rows_of,
    same,
    tabulated,
    text_of,
)

from scumble.demo.patients import patients, patients_schema
from scumble.engines import ENGINES, Engine, chunked_counts, counting
from scumble.engines.coding import code_type
from scumble.engines.duckdb import DuckDBEngine
from scumble.files.schema_file import parse_schema
from scumble.methods import method_named
from scumble.model.counts import Counts, Tabulation
from scumble.model.cut import Cut
from scumble.model.grid import Grid
from scumble.model.release import CellRelease, RecordRelease
from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.taxonomy import Tree
from scumble.privacy.fingerprint import fingerprint, fingerprint_of_sums, row_sums
from scumble.sources import Dialect, check_columns, csv, databases, frames, open_source, parquet

LOCAL = {name: kind for name, kind in ENGINES.items() if name != "spark"}
local_engines = pytest.mark.parametrize("kind", LOCAL.values(), ids=LOCAL)
every_engine = pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, id=name, marks=() if name in LOCAL else pytest.mark.spark) for name, kind in ENGINES.items()],
)


# The laws ------------------------------------------------------------------------------------------------------------


@local_engines
@given(data=st.data())
@settings(max_examples=60)
def test_counts_are_those_of_the_twin(kind: type[Engine], data: st.DataObject) -> None:
    check_counts(kind, data)


@pytest.mark.spark
@given(data=st.data())
@settings(max_examples=8)
def test_counts_of_spark_are_those_of_the_twin(data: st.DataObject) -> None:
    check_counts(ENGINES["spark"], data)


def check_counts(kind: type[Engine], data: st.DataObject) -> None:
    schema = data.draw(schemas())
    table = data.draw(tables(schema))
    engine = kind.open(table.to_batches(max_chunksize=data.draw(st.sampled_from([1, 4, 100]))), schema)
    try:
        rows = coded(table, schema)
        assert engine.rows == rows.total()
        blocks = list(engine.blocks())
        assert Counter(row for block in blocks for row in rows_in(block)) == rows
        for block in blocks:
            assert [column.dtype for column in block] == [code_type(a.domain.size) for a in schema.attributes]
        for _ in range(2):
            cut = data.draw(cuts(schema))
            fine = tuple(name for name in cut.nodes if data.draw(st.booleans()))
            request = Tabulation(cut=cut, fine=fine)
            assert same(engine.tabulate(request), tabulated(rows, request))
    finally:
        engine.close()


WAYS_TO_COUNT: dict[str, list[tuple[Any, str, int]]] = {
    "every attribute alone": [(counting, "SHARED_TABLE", 0)],
    "no joint tables": [(counting, "LONGEST_TABLE", 0)],
    "counters that run over": [(counting, "MOST_ROWS", 3)],
    "several threads": [(counting, "FEW_ROWS", 0)],
    "tables in chunks": [(chunked_counts, "MOST_BYTES", 100)],
}


@pytest.mark.parametrize("way", WAYS_TO_COUNT)
@given(data=st.data())
@settings(max_examples=25)
def test_every_way_of_counting_counts_the_same(way: str, data: st.DataObject) -> None:
    schema = data.draw(schemas())
    table = data.draw(tables(schema))
    cut = data.draw(cuts(schema))
    request = Tabulation(cut=cut, fine=tuple(cut.nodes))
    with pytest.MonkeyPatch.context() as patch:
        for module, constant, value in WAYS_TO_COUNT[way]:
            patch.setattr(module, constant, value)
        engine = ENGINES["memory"].open(table.to_batches(max_chunksize=3), schema)
        assert same(engine.tabulate(request), tabulated(coded(table, schema), request))


@pytest.mark.parametrize("attributes", [1, 7, 40])
def test_tables_in_chunks_are_never_all_in_memory(attributes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tables of one chunk stay below the limit, however many attributes there are; a larger table is alone."""
    sizes = [(50, 1000, 300)[number % 3] for number in range(attributes)]
    monkeypatch.setattr(chunked_counts, "MOST_BYTES", 8 * 900)
    schema = Schema(
        attributes=tuple(
            Attribute(name=f"a{number}", domain=Tree.flat(map(str, range(size))), outside=Outside.DROP)
            for number, size in enumerate(sizes)
        )
    )
    request = Tabulation(cut=Cut.top(schema), fine=tuple(Cut.top(schema).nodes))
    counted: list[tuple[str, ...]] = []

    def count(chunk: Tabulation) -> Counts:
        counted.append(chunk.fine)
        return tabulated(Counter({(0,) * attributes: 2}), chunk)

    counts = chunked_counts.count_in_chunks(request, count)
    assert [int(table.sum()) for table in counts.fine.values()] == [2] * attributes
    assert int(counts.cells.sum()) == 2
    assert [name for chunk in counted for name in chunk] == list(request.fine)
    for chunk in counted:
        assert sum(schema[name].domain.size for name in chunk) <= 900 or len(chunk) == 1
    with pytest.raises(KeyError):
        counts.fine["nobody"]


@given(data=st.data())
@settings(max_examples=40)
def test_a_published_schema_codes_raw_rows_into_the_cells_of_its_cut(data: st.DataObject) -> None:
    """As `evaluate` codes test rows: coding by the published schema equals coding by the raw one, then generalizing."""
    schema = data.draw(schemas())
    cut = data.draw(cuts(schema))
    published = cut.published_schema()
    table = data.draw(tables(schema))
    for name in cut.nodes:
        # The name of a published node is outside the raw domain but in the published one, so such rows differ.
        names = set(published[name].domain.labels) - set(schema[name].domain.labels)
        texts = [text_of(value) for value in table.column(name).to_pylist()]
        table = table.filter(pa.array([text not in names for text in texts], pa.bool_()))
    generalized: Counter[Row] = Counter()
    for row, times in rows_of(ENGINES["memory"].open(table.to_batches(), schema)).items():
        digits = (
            int(cut.digits(attribute.name)[code]) if attribute.name in cut.nodes else code
            for attribute, code in zip(schema.attributes, row, strict=True)
        )
        generalized[tuple(digits)] += times
    assert rows_of(ENGINES["memory"].open(table.to_batches(), published)) == generalized


WAYS: dict[str, Callable[[pa.Table, Path], Any]] = {
    "CSV": lambda table, folder: as_csv(table, folder / "rows.csv"),
    "gzipped CSV": lambda table, folder: as_csv(table, folder / "rows.csv.gz"),
    "CSV by Zstandard": lambda table, folder: as_csv(table, folder / "rows.csv.zst"),
    "many Parquet files": lambda table, folder: as_many(table, folder / "part-*.parquet"),
    "DuckDB": lambda table, folder: as_duckdb(table, folder / "rows.duckdb"),
    "Parquet": lambda table, folder: as_parquet(table, folder / "rows.parquet"),
    "pandas": lambda table, folder: table.to_pandas(),
    "polars": lambda table, folder: pl.from_arrow(table),
    "Arrow": lambda table, folder: table,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rows")


@given(data=st.data())
@settings(max_examples=40)
def test_rows_count_the_same_from_every_source(folder: Path, data: st.DataObject) -> None:
    schema = data.draw(schemas())
    table = data.draw(tables(schema, portable=True))
    expected = coded(table, schema)
    for way, write in WAYS.items():
        if way == "DuckDB" and len({name.casefold() for name in table.column_names}) < table.num_columns:
            continue  # names that differ only in case are equal there
        source = open_source(write(table, folder), dialect=Dialect(delimiter=",", multiline=True))
        check_columns(source, schema.columns)
        assert rows_of(ENGINES["memory"].open(source.batches(schema.columns), schema)) == expected, way


@every_engine
@pytest.mark.parametrize("selection", ["together", "published"])
def test_the_same_decisions_follow_from_every_engine(kind: type[Engine], selection: str) -> None:
    table, schema = patients(500, 7), patients_schema()
    method = method_named("diffgen")
    parameters = method.parameters(epsilon="1", rounds=3, selection=selection)
    made = []
    for each in (ENGINES["memory"], kind):
        engine = each.open(table.to_batches(max_chunksize=100), schema)
        made.append(run(method, schema, parameters, engine, RecordedNoise(11)))
        engine.close()
    expected, found = made
    assert isinstance(expected, CellRelease) and isinstance(found, CellRelease)
    assert len(expected.story) == 3
    assert found.story == expected.story
    assert found.schema == expected.schema
    assert np.array_equal(found.measured, expected.measured)


@every_engine
@pytest.mark.parametrize("records", [5, 300, 40_000])
def test_the_default_release_is_the_same_from_every_engine(kind: type[Engine], records: int) -> None:
    """Values alone; chosen tables, where there are enough attributes; tables, combinations and weights."""
    table, schema = patients(500, 7), patients_schema()
    method = method_named("diffgen")
    parameters = method.parameters(epsilon="1", records=records)
    made = []
    for each in (ENGINES["memory"], kind):
        engine = each.open(table.to_batches(max_chunksize=100), schema)
        made.append(run(method, schema, parameters, engine, RecordedNoise(11)))
        engine.close()
    expected, found = made
    assert isinstance(expected, CellRelease) and isinstance(found, CellRelease)
    assert expected.fine is not None and found.fine is not None
    assert found.documents == expected.documents and found.story == expected.story
    assert same_columns(found.fine, expected.fine)


@every_engine
@pytest.mark.parametrize("epsilon", ["0.05", "20"])
def test_tables_for_exploring_are_the_same_from_every_engine(kind: type[Engine], epsilon: str) -> None:
    """Pairs only; pairs, further pairs and triples."""
    table, schema = patients(500, 7), patients_schema()
    method = method_named("explore")
    parameters = method.parameters(epsilon=epsilon)
    made = []
    for each in (ENGINES["memory"], kind):
        engine = each.open(table.to_batches(max_chunksize=100), schema)
        made.append(run(method, schema, parameters, engine, RecordedNoise(11)))
        engine.close()
    expected, found = made
    assert isinstance(expected, RecordRelease) and isinstance(found, RecordRelease)
    assert found.documents == expected.documents and found.story == expected.story
    assert any(len(each["attributes"]) > 1 for each in expected.documents["tables"]["tables"])
    assert same_columns(found, expected)


@every_engine
def test_parts_of_a_table_have_the_fingerprint_of_the_whole(kind: type[Engine]) -> None:
    table, schema = patients(500, 7), patients_schema()
    sizes, key = [attribute.domain.size for attribute in schema.attributes], bytes(range(32))
    whole = ENGINES["memory"].open(table.to_batches(), schema)
    engine = kind.open(table.take(np.arange(500)[::-1]).to_batches(max_chunksize=60), schema)
    sums = engine.add_up(partial(row_sums, sizes=sizes, key=key))
    engine.close()
    assert fingerprint_of_sums(sums, sizes=sizes, key=key) == fingerprint(whole.blocks(), sizes, key)


# Cases that random examples seldom reach -----------------------------------------------------------------------------

SMALL = parse_schema(
    """
scumble: schema/1
target: class
attributes:
  age: {numeric: {low: 0, high: 8, step: 1}}
  sex: {taxonomy: {Any: {f: , m: }}}
  class: {classes: [a, b, c]}
"""
)


def opened(kind: type[Engine], columns: dict[str, list[Any]] | pa.Table, schema: Schema = SMALL) -> Engine:
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    return kind.open(table.to_batches(), schema)


@every_engine
@pytest.mark.parametrize("batches", ["none", "one without rows"])
def test_an_empty_table_has_zero_counts(kind: type[Engine], batches: str) -> None:
    empty = pa.schema([("age", pa.int64()), ("sex", pa.string()), ("class", pa.string())]).empty_table()
    engine = kind.open([] if batches == "none" else [pa.RecordBatch.from_pylist([], schema=empty.schema)], SMALL)
    cut = Cut.leaves(SMALL, ["sex"])
    assert engine.rows == 0
    assert sum(rows_of(engine).values()) == 0
    assert same(
        engine.tabulate(Tabulation(cut=cut, fine=("age", "sex"))),
        tabulated(Counter(), Tabulation(cut=cut, fine=("age", "sex"))),
    )
    engine.close()


@every_engine
@pytest.mark.parametrize("block", [250, 20_000, 1 << 20])
def test_many_rows_in_short_and_long_blocks(kind: type[Engine], block: int) -> None:
    """More blocks than cores, some empty after dropping; blocks large enough for threads; more tables than threads."""
    number = 100_000 if block > 250 else 5_000
    names = ("a", "b", "c", "d", "e")
    flat = Tree.flat(["0", "1", "2", "3"])
    schema = Schema(
        attributes=tuple(Attribute(name=name, domain=flat, outside=Outside.DROP) for name in names), target="c"
    )
    row = np.arange(number)
    columns = {name: row * (place + 3) // (place + 2) % 4 for place, name in enumerate(names)}
    kept = (row < 1000) | (row >= 2000)
    table = pa.table({**columns, "b": np.where(kept, columns["b"], 7)})
    rows, times = np.unique(np.stack(list(columns.values()), axis=1)[kept], axis=0, return_counts=True)
    expected = Counter(dict(zip(map(tuple, rows.tolist()), times.tolist(), strict=True)))
    engine = kind.open(table.to_batches(max_chunksize=block), schema)
    assert engine.rows == number - 1000
    assert rows_of(engine) == expected
    for cut in (Cut.leaves(schema, ["a", "e"]), Cut.top(schema)):
        request = Tabulation(cut=cut, fine=("e", "a", "b", "d"))
        assert same(engine.tabulate(request), tabulated(expected, request))
    engine.close()


@every_engine
@pytest.mark.parametrize("size", [256, 257, 65_536, 65_537])
def test_large_domains(kind: type[Engine], size: int) -> None:
    """Domain sizes around the limits of one- and two-byte codes, for a tree and a grid."""
    tree = Tree.nested(
        {
            "Any": {
                "left": {str(n): None for n in range(size // 2)},
                "right": {str(n): None for n in range(size // 2, size)},
            }
        }
    )
    grid = Grid.regular(low=Decimal(0), high=Decimal(size), step=Decimal(1))
    schema = Schema(
        attributes=(
            Attribute(name="leaf", domain=tree, outside=Outside.DROP),
            Attribute(name="number", domain=grid, outside=Outside.CLAMP),
        )
    )
    values = [0, 1, 254, 255, size // 2 - 1, size // 2, size - 2, size - 1, size - 1]
    engine = opened(kind, {"leaf": [*map(str, values), str(size)], "number": [*values[::-1], 0]}, schema)
    expected = Counter(zip(values, values[::-1], strict=True))
    assert rows_of(engine) == expected
    halves = Cut(schema=schema, nodes={"leaf": tree.root.children, "number": grid.split(grid.root, size - 1)})
    request = Tabulation(cut=halves, fine=("leaf", "number"))
    assert same(engine.tabulate(request), tabulated(expected, request))
    for block in engine.blocks():
        assert {column.dtype for column in block} == {np.dtype(code_type(size))}
    engine.close()


def column_types(texts: list[str]) -> dict[str, pa.Array]:
    """The same decimals as text, doubles, single precision, decimals, and dictionaries of them."""
    numbers = [float(text) for text in texts]
    return {
        "text": pa.array(texts),
        "doubles": pa.array(numbers, pa.float64()),
        "single precision": pa.array(np.array(numbers, dtype=np.float32)),
        "decimals": pa.array([Decimal(text) for text in texts], pa.decimal128(20, 6)),
        "dictionary of text": pa.array(texts).dictionary_encode(),
        "dictionary of doubles": pa.array(numbers, pa.float64()).dictionary_encode(),
    }


@pytest.mark.parametrize("step", ["0.1", "0.005", "0.025", "0.7", "1.1", "0.000001"])
def test_a_value_on_an_edge_lies_above_it_in_every_type(step: str) -> None:
    cells = 1000
    low = Decimal("-3.3")
    grid = Grid.regular(low=low, high=low + cells * Decimal(step), step=Decimal(step))
    irregular = Grid(edges=tuple(grid.edge(position) for position in range(cells + 1)))
    texts = [str(grid.edge(position)) for position in range(cells)]
    for domain in (grid, irregular):
        schema = Schema(attributes=(Attribute(name="x", domain=domain, outside=Outside.DROP),))
        for name, column in column_types(texts).items():
            if name == "single precision" and step == "0.000001":
                continue  # too coarse a type for so fine a grid
            engine = opened(ENGINES["memory"], pa.table({"x": column}), schema)
            assert [code for block in engine.blocks() for code in block[0].tolist()] == list(range(cells)), name


@pytest.mark.parametrize(
    ("text", "cell"), [("0.3", "[0.3,0.4)"), ("0.7", "[0.7,0.8)"), ("2.675", "[2.6,2.7)"), ("2.7", "[2.7,2.8)")]
)
def test_tenths(text: str, cell: str) -> None:
    grid = Grid.regular(low=Decimal(0), high=Decimal(3), step=Decimal("0.1"))
    schema = Schema(attributes=(Attribute(name="x", domain=grid, outside=Outside.DROP),))
    for name, column in column_types([text]).items():
        (row,) = rows_of(opened(ENGINES["memory"], pa.table({"x": column}), schema))
        assert grid.labels[row[0]] == cell, name


def test_just_below_an_edge_lies_below_it() -> None:
    grid = Grid.regular(low=Decimal(0), high=Decimal(10), step=Decimal("0.1"))
    schema = Schema(attributes=(Attribute(name="x", domain=grid, outside=Outside.DROP),))
    below = np.nextafter(grid.edge_floats[1:], -1)
    for column in (pa.array(below), pa.array([repr(float(value)) for value in below])):
        engine = opened(ENGINES["memory"], pa.table({"x": column}), schema)
        assert [code for block in engine.blocks() for code in block[0].tolist()] == list(range(100))


@pytest.mark.parametrize("edges", [("1e16", "1e16"), ("0", "1e-300"), ("-1.7e308", "1.7e308"), ("1e300", "1.1e300")])
def test_grids_at_the_limits_of_doubles_are_coded(edges: tuple[str, str]) -> None:
    low, high = map(Decimal, edges)
    high = high if high > low else low + 1
    schema = parse_schema(
        f"scumble: schema/1\nattributes: {{x: {{numeric: {{low: {low}, high: {high}, step: {(high - low)}}}}}}}"
    )
    column = pa.array([float(low), float(high), 0.0, 5e-324, float("inf"), -1.7e308, None])
    engine = opened(ENGINES["memory"], pa.table({"x": column}), schema)
    assert rows_of(engine) == {(0,): 7}
    single = opened(ENGINES["memory"], pa.table({"x": column.cast(pa.float32(), safe=False)}), schema)
    assert rows_of(single) == {(0,): 7}


def test_columns_of_other_types_are_read_as_their_text() -> None:
    schema = parse_schema(
        "scumble: schema/1\nattributes:\n"
        "  day: {taxonomy: {Any: {2020-01-31: , 2020-02-01: }}, outside: clamp, missing: '?'}\n"
        "  yes: {taxonomy: {Any: {'true': , 'false': }}, outside: clamp, missing: '?'}\n"
        "  none: {taxonomy: {Any: {a: }}, outside: clamp, missing: '?'}\n"
        "  number: {numeric: {low: 0, high: 3, step: 1}, missing: '?'}\n"
    )
    days = pa.array([18_292, 18_293, None], pa.int32()).cast(pa.date32())
    columns = {"day": days, "yes": [True, False, None], "none": pa.nulls(3), "number": days}
    assert sorted(rows_of(opened(ENGINES["memory"], pa.table(columns), schema))) == [
        (0, 0, 1, 3),
        (1, 1, 1, 3),
        (2, 2, 1, 3),
    ]


@pytest.mark.parametrize("outside", ["clamp", "drop"])
@pytest.mark.parametrize("missing", ["", ", missing: '?'"])
def test_the_rules_in_one_small_table(outside: str, missing: str) -> None:
    """The expected codes, written by hand: the reference implementation agrees with the documentation."""
    schema = parse_schema(
        f"scumble: schema/1\nattributes:\n  n: {{numeric: {{low: 0, high: 3, step: 1}}, outside: {outside}{missing}}}\n"
        f"  c: {{taxonomy: {{Any: {{a: , b: }}}}, outside: {outside}{missing}}}\n"
    )
    numbers = {
        "0": 0,
        "2.9": 2,
        " 1 ": 1,
        "-5": "off low",
        "3": "off high",
        "x": "unread",
        "nan": "unread",
        "": "empty",
        None: "empty",
        "?": "label",
    }
    labels = {"a": 0, "b": 1, "B": "unread", " a": "unread", "Any": "unread", "": "empty", None: "empty", "?": "label"}

    def expected(rule: int | str, code: int, last: int) -> int | None:
        if isinstance(rule, int):
            return rule
        if rule in {"empty", "label"} and missing:
            return code
        if outside == "drop":
            return None
        return {"off low": 0, "off high": last}.get(rule, code if missing else 0)

    for values, name, code, last in ((numbers, "n", 3, 2), (labels, "c", 2, 1)):
        for value, rule in values.items():
            row = {"n": "0", "c": "a", name: value}
            found = [
                r["nc".index(name)]
                for r in rows_of(opened(ENGINES["memory"], {k: [v] for k, v in row.items()}, schema))
            ]
            wanted = expected(rule, code, last)
            assert found == ([] if wanted is None else [wanted]), (name, value)


@pytest.mark.parametrize(
    "column", [["-999", "5", "-999.0", " -999"], [-999, 5, -999, None], [-999.0, 5.0, -999.0, None]]
)
def test_a_number_that_stands_for_missing_values(column: list[Any]) -> None:
    schema = parse_schema("scumble: schema/1\nattributes: {x: {numeric: {low: 0, high: 10, step: 5}, missing: -999}}")
    assert rows_of(opened(ENGINES["memory"], {"x": column}, schema)) == {(2,): 3, (1,): 1}


def test_a_leaf_without_a_name_is_an_empty_cell() -> None:
    schema = parse_schema("scumble: schema/1\nattributes: {x: {taxonomy: {Any: {'': , b: }}}}")
    assert rows_of(opened(ENGINES["memory"], {"x": ["", None, "b", "c"]}, schema)) == {(0,): 2, (1,): 1}


# DuckDB's folder -----------------------------------------------------------------------------------------------------


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


ROWS = {"age": [1, 2], "sex": ["f", "m"], "class": ["a", "b"]}


def test_duckdb_removes_its_folder_when_closed(scratch: Path) -> None:
    engine = opened(DuckDBEngine, ROWS)
    (folder,) = scratch.iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [path for path in folder.rglob("*") if path.is_file()] == []  # the rows have no name
    assert engine.tabulate(Tabulation(cut=Cut.top(SMALL))).cells.tolist() == [[1, 1, 0]]
    engine.close()
    engine.close()
    assert list(scratch.iterdir()) == []


def test_duckdb_removes_its_folder_when_reading_fails(scratch: Path) -> None:
    def batches() -> Iterator[pa.RecordBatch]:
        yield from pa.table(ROWS).to_batches()
        assert list(scratch.iterdir())
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        DuckDBEngine.open(batches(), SMALL)
    assert list(scratch.iterdir()) == []


def test_duckdb_removes_its_folder_when_it_cannot_start(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scumble.engines.duckdb.MEMORY_LIMIT", "a lot")
    with pytest.raises(OSError, match="Memory"):
        DuckDBEngine(SMALL)
    assert list(scratch.iterdir()) == []


def test_a_database_that_cannot_be_opened_is_a_failure_of_the_machine(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full or damaged disk below DuckDB: the message must not call it a bug of the program."""

    def fail(*arguments: Any, **named: Any) -> None:
        raise duckdb.IOException("Could not fsync file: No space left on device")

    monkeypatch.setattr(duckdb, "connect", fail)
    with pytest.raises(OSError, match="No space left on device"):
        DuckDBEngine(SMALL)
    assert list(scratch.iterdir()) == []


def test_duckdb_removes_its_folder_after_a_failed_answer(scratch: Path) -> None:
    engine = opened(DuckDBEngine, ROWS)
    with pytest.raises(ValueError, match="nobody"):
        engine.tabulate(Tabulation(cut=Cut.top(SMALL), fine=("nobody",)))
    engine.close()
    assert list(scratch.iterdir()) == []


def test_a_csv_file_of_several_blocks_counts_as_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv, "BLOCK_BYTES", 1 << 10)
    for module in (parquet, frames, databases):
        monkeypatch.setattr(module, "BATCH_ROWS", 100)
    rows = 2000
    table = pa.table({"age": [row % 8 for row in range(rows)], "sex": ["f", "m"] * (rows // 2), "class": ["a"] * rows})
    for way, write in WAYS.items():
        source = open_source(write(table, folder))
        batches = list(source.batches(SMALL.columns))
        assert len(batches) > 5, way
        assert rows_of(ENGINES["memory"].open(batches, SMALL)) == coded(table, SMALL), way
