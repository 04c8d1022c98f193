"""Spark with two worker processes: what it reads, that an answer is one job, and that a lost executor loses no rows."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import schemas, tables
from table_twins import as_csv, coded, rows_of, same

from scumble import load_release, release, to_frame
from scumble.demo.patients import patients, patients_schema
from scumble.engines.arrow_values import python_values
from scumble.engines.memory import MemoryEngine
from scumble.engines.spark import SparkEngine
from scumble.errors import BudgetError, InputError
from scumble.files.schema_file import parse_schema, write_schema
from scumble.model.counts import Counts, Tabulation
from scumble.model.cut import Cut
from scumble.model.raw_value import ValueKind, canonical
from scumble.model.schema import Schema
from scumble.sources import Dialect, check_columns, open_source
from scumble.sources.spark import session

pytestmark = pytest.mark.spark
SCHEMA = patients_schema()
ROUND = Tabulation(cut=Cut.leaves(SCHEMA, ["ward"]), fine=tuple(Cut.top(SCHEMA).nodes))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rows")


@pytest.fixture(scope="module")
def many(folder: Path) -> Path:
    """Files enough for several partitions."""
    (folder / "many").mkdir()
    table = patients(300_000, 3)
    for number in range(6):
        pq.write_table(table.slice(number * 50_000, 50_000), folder / "many" / f"part-{number}.parquet")
    return folder / "many"


def opened(data: Any, schema: Schema = SCHEMA, **stated: Any) -> SparkEngine:
    source = open_source(data, dialect=Dialect(**stated), engine="spark")
    check_columns(source, schema.columns)
    return SparkEngine.open(source.batches(schema.columns), schema)


def locally(data: Any, schema: Schema = SCHEMA, **stated: Any) -> MemoryEngine:
    """The same rows by the reader of files."""
    source = open_source(data, dialect=Dialect(**stated))
    return MemoryEngine.open(source.batches(schema.columns), schema)


@pytest.fixture(scope="module")
def engine(many: Path) -> Iterator[SparkEngine]:
    engine = opened(many)
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def expected(many: Path) -> Counts:
    batches = open_source(many / "*.parquet").batches(SCHEMA.columns)
    return MemoryEngine.open(batches, SCHEMA).tabulate(ROUND)


# What is read --------------------------------------------------------------------------------------------------------


@given(data=st.data())
@settings(max_examples=3)
def test_rows_that_spark_reads_are_those_of_the_twin(folder: Path, data: st.DataObject) -> None:
    """Typed columns from Parquet; text, with quotes and delimiters inside, from CSV."""
    schema = data.draw(schemas())
    table = data.draw(tables(schema))
    pq.write_table(table, folder / "rows.parquet", row_group_size=3)
    typed = opened(folder / "rows.parquet", schema)
    assert rows_of(typed) == coded(table, schema)
    typed.close()
    path = as_csv(data.draw(tables(schema, portable=True)), folder / "rows.csv")
    text = opened(path, schema, delimiter=",")
    assert rows_of(text) == rows_of(locally(path, schema, delimiter=","))
    text.close()


def test_a_frame_of_spark_is_read_where_it_lies_and_by_other_engines(many: Path, expected: Counts) -> None:
    frame = session().read.parquet(str(many)).repartition(3)
    source = open_source(frame)
    assert source.name == "frame"
    check_columns(source, SCHEMA.columns)
    for kind in (SparkEngine, MemoryEngine):
        engine = kind.open(source.batches(SCHEMA.columns), SCHEMA)
        assert same(engine.tabulate(ROUND), expected)
        engine.close()


TYPES: dict[str, tuple[ValueKind, str]] = {
    "CAST(1.50 AS DECIMAL(10, 3))": (ValueKind.NUMBER, "1.5"),
    "CAST(0.7 AS FLOAT)": (ValueKind.NUMBER, "0.7"),
    "CAST(0.7 AS DOUBLE)": (ValueKind.NUMBER, "0.7"),
    "10000000001": (ValueKind.NUMBER, "10000000001"),
    "true": (ValueKind.BOOLEAN, "true"),
    "DATE'2024-01-31'": (ValueKind.TEXT, "2024-01-31"),
    "TIMESTAMP_NTZ'2024-01-31 09:30:00.5'": (ValueKind.TEXT, "2024-01-31T09:30:00.5"),
    "TIMESTAMP'2024-01-31 09:30:00+01:00'": (ValueKind.TEXT, "2024-01-31T08:30:00Z"),
    "X'FF'": (ValueKind.OFF, ""),
    "INTERVAL '1' DAY": (ValueKind.OFF, ""),
    "CAST(NULL AS STRING)": (ValueKind.MISSING, ""),
}


def test_every_type_of_spark_has_the_reading_of_its_value() -> None:
    """Decimals without trailing zeros, timestamps in UTC, short floats by their shortest decimal."""
    names = [f"x{place}" for place in range(len(TYPES))]
    shown = ", ".join(f"{value} AS {name}" for name, value in zip(names, TYPES, strict=True))
    source = open_source(session().sql(f"SELECT {shown}"))
    check_columns(source, names)
    (batch,) = source.batches(names)
    found = [canonical(python_values(batch.column(name))[0]) for name in names]
    assert dict(zip(TYPES, found, strict=True)) == TYPES


@pytest.mark.parametrize("value", ["array(1)", "map(1, 2)", "struct(1)", "INTERVAL '1' YEAR", "parse_json('1')"])
def test_types_of_spark_without_single_values_are_refused_before_the_charge(value: str) -> None:
    with pytest.raises(InputError, match="contains lists or records"):
        check_columns(open_source(session().sql(f"SELECT {value} AS x")), ["x"])


def test_a_table_of_the_catalogue(many: Path, expected: Counts) -> None:
    session().read.parquet(str(many)).createOrReplaceTempView("patients")
    engine = opened("table:patients")
    assert same(engine.tabulate(ROUND), expected)
    engine.close()


AGES = parse_schema(
    "scumble: schema/1\nattributes: {age: {numeric: {low: 0, high: 100, step: 10}, missing: '?'}, "
    "city: {taxonomy: {Any: {'K\u00f6ln': , Bonn: , '': }}, outside: clamp}}"
)
LINES = [
    *(
        b"age,city",
        b"5,Bonn",
        "6,K\u00f6ln".encode(),
        b"7,K\xf6ln",
        b"",
        b"\r",
        b"8",
        b"9,Bonn,more",
        b'10,"Bonn',
        b'11,"Bonn"',
    ),
    *(b"12,Bonn\r", b'13,"Bo\rnn"', b"14,Bo\rnn", b"age,city", bytes(each for each in range(256) if each != 10)),
    *(b'"15,\xef\xbb\xbf"', b"\xef\xbb\xbf16,Bonn", b"17," + b"x" * (3 << 20), b",", b"18,Bonn"),
]


@pytest.mark.parametrize("end", [b"\n", b""])
@pytest.mark.parametrize("name", ["people.csv", "people.csv.gz"])
def test_csv_is_read_as_by_all_engines_whatever_the_bytes(tmp_path: Path, name: str, end: bytes) -> None:
    """Malformed lines, bytes that are not UTF-8, empty lines: no record stops the reader, and none is lost."""
    with pa.output_stream(str(tmp_path / name), compression="detect") as stream:
        stream.write(b"\xef\xbb\xbf" + b"\n".join(LINES) + end)
    engine = opened(tmp_path / name, AGES)
    assert engine.rows == len(LINES) - 3
    assert rows_of(engine) == rows_of(locally(tmp_path / name, AGES))
    engine.close()


def test_every_csv_file_has_its_own_header(tmp_path: Path) -> None:
    """Columns in another order, in small parts, and a folder whose name has spaces."""
    folder = tmp_path / "a b"
    folder.mkdir()
    rows = b"".join(b"%d,Bonn\n" % (number % 100) for number in range(5000))
    turned = b"".join(b"Bonn,%d,x\n" % (number % 50) for number in range(3000))
    (folder / "one.csv").write_bytes(b"age,city\n" + rows)
    (folder / "two.csv").write_bytes(b"age,city\n" + rows)
    session().conf.set("spark.sql.files.maxPartitionBytes", "4096")
    try:
        for _ in range(2):
            engine = opened(folder / "*.csv", AGES)
            assert rows_of(engine) == rows_of(locally(folder / "*.csv", AGES))
            engine.close()
            (folder / "three c.csv").write_bytes(b"city,age,more\n" + turned)
        (folder / "four.csv").write_bytes(b"age,town\n1,Bonn\n")
        with pytest.raises(InputError, match=r"four.csv has no column 'city'"):
            opened(folder / "*.csv", AGES)
    finally:
        session().conf.unset("spark.sql.files.maxPartitionBytes")


def test_dialects_of_csv_files_that_spark_reads(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(b"'age';'city'\n5;'K\xf6ln'\n6;K\x81ln\n")
    engine = opened(tmp_path / "people.csv", AGES, encoding="cp1252")
    assert rows_of(engine) == rows_of(locally(tmp_path / "people.csv", AGES, encoding="cp1252"))
    engine.close()
    (tmp_path / "people.csv").write_text("age,city\n1,Bonn\n")
    for stated, said in (({"multiline": True}, "line by line"), ({"encoding": "utf-16"}, "UTF-16")):
        with pytest.raises(InputError, match=said):
            opened(tmp_path / "people.csv", AGES, **stated)
    (tmp_path / "people.csv").write_bytes(b"gr\xf6\xdfe,city\n1,Bonn\n")
    with pytest.raises(InputError, match="Pass --encoding latin-1"):
        opened(tmp_path / "people.csv", AGES)


def test_what_spark_cannot_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "people.parquet").write_bytes(b"no parquet")
    for data in (tmp_path / "absent.csv", tmp_path / "people.parquet", "table:nobody", "nowhere://bucket/x.parquet"):
        with pytest.raises(InputError, match="Spark cannot read"):
            open_source(data, engine="spark")
    nested = session().createDataFrame(pa.table({"age": [[1], [2]]}))
    schema = parse_schema("scumble: schema/1\nattributes: {age: {numeric: {low: 0, high: 100, step: 10}}}")
    with pytest.raises(InputError, match="contains lists or records"):
        check_columns(open_source(nested), schema.columns)


# How it is counted ---------------------------------------------------------------------------------------------------


def test_an_answer_is_one_job_and_the_same_as_in_memory(engine: SparkEngine, expected: Counts) -> None:
    context = session().sparkContext
    context.setJobGroup("round", "one round")
    assert same(engine.tabulate(ROUND), expected)
    jobs = context.statusTracker().getJobIdsForGroup("round")
    context.setJobGroup("", "")
    assert len(jobs) == 1


def test_sql_grouping_sets_count_the_same(engine: SparkEngine, expected: Counts) -> None:
    """An independent computation: one GROUPING SETS query over the coded rows."""
    columns = [pa.array(np.concatenate(column).astype(np.int32)) for column in zip(*engine.blocks(), strict=True)]
    names = [attribute.name for attribute in SCHEMA.attributes]
    session().createDataFrame(pa.table(columns, names=names)).createOrReplaceTempView("coded")
    others = [name for name in ROUND.fine if name != "ward"]
    sets = ", ".join(f"(ward, `{name}`, readmitted)" for name in others)
    quoted = ", ".join(f"`{name}`" for name in others)
    query = f"SELECT ward, readmitted, {quoted}, count(*) AS n, grouping_id() AS id FROM coded "
    found = session().sql(query + f"GROUP BY GROUPING SETS ({sets})").collect()
    places = list(ROUND.cut.nodes)
    for row in found:
        (name,) = (name for name in others if row[name] is not None)
        outer, inner = (0, row["ward"]) if places.index(name) < places.index("ward") else (row["ward"], 0)
        assert expected.fine[name][outer, row[name], inner, row["readmitted"]] == row["n"]
    assert sum(row["n"] for row in found) == len(others) * int(expected.cells.sum())


def executors() -> set[int]:
    """The processes of the executors: each is the grandparent of a Python worker."""
    context = session().sparkContext

    def parent(process: int) -> int:
        return int(Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])

    return set(context.parallelize(range(8), 8).map(lambda _: parent(os.getppid())).collect())


def test_a_lost_executor_changes_no_count(many: Path, expected: Counts) -> None:
    engine = opened(many)
    before = executors()
    victim = next(iter(before))
    found: list[Counts] = []
    rounds = threading.Thread(target=lambda: found.extend(engine.tabulate(ROUND) for _ in range(4)))
    rounds.start()
    time.sleep(0.3)
    os.kill(victim, signal.SIGKILL)
    rounds.join(timeout=120)
    assert len(found) == 4
    assert all(same(counts, expected) for counts in found)
    assert victim not in executors()
    engine.close()


# A whole release ----------------------------------------------------------------------------------------------------


def test_a_release_by_the_command_line(many: Path, tmp_path: Path) -> None:
    """The driver may receive one megabyte of results in total, which is less than the coded rows."""
    write_schema(SCHEMA, tmp_path / "schema.yaml")
    options = ["--schema", "schema.yaml", "--epsilon", "1", "--rounds", "3", "--out", "out", "--ledger", "ledger.db"]
    command = [sys.executable, "-m", "scumble", "release", str(many), *options, "--engine", "spark", "--json"]
    limited = {
        "PYSPARK_SUBMIT_ARGS": "--conf spark.driver.maxResultSize=1m pyspark-shell",
        "SCUMBLE_SPARK_MASTER": "local[2]",
    }
    done = subprocess.run(
        command, cwd=tmp_path, env=os.environ | limited, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["guarantee"]["epsilon"] == "1"
    assert load_release(tmp_path / "out").method == "diffgen"


def test_the_same_rows_are_recognised_whichever_engine_read_them(many: Path, tmp_path: Path) -> None:
    common: dict[str, Any] = {"schema": SCHEMA, "ledger": tmp_path / "ledger.db", "epsilon": "0.1", "rounds": 1}
    release(many / "*.parquet", out=tmp_path / "first", dataset="a", **common)
    with pytest.raises(BudgetError):
        release(many, out=tmp_path / "second", dataset="b", engine="spark", **common)


def test_a_release_as_a_frame_of_spark(many: Path, tmp_path: Path) -> None:
    made = release(
        many / "*.parquet", schema=SCHEMA, out=tmp_path / "out", ledger=tmp_path / "l.db", epsilon="1", rounds=1
    ).release
    arrow = to_frame(made, counts=True)
    assert to_frame(made, "pyspark", counts=True).toArrow().equals(arrow.cast(plain_text(arrow.schema)))
    assert to_frame(made, "pyspark").count() == int(made.count.sum())


def plain_text(schema: pa.Schema) -> pa.Schema:
    kinds = (kind.value_type if pa.types.is_dictionary(kind) else kind for kind in schema.types)
    return pa.schema(list(zip(schema.names, kinds, strict=True)))
