"""Targets that read rows: CSV and Parquet files, and frames of pandas, polars and Arrow."""

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from command_line import people

from fuzzing import mutation
from fuzzing.random_frames import frame
from fuzzing.target import Run, Target
from scumble.engines.memory import MemoryEngine
from scumble.files.schema_file import parse_schema
from scumble.sources import check_columns, malformed_records, open_source

SCHEMA = parse_schema(
    """\
scumble: schema/1
target: income
attributes:
  age: {numeric: {low: 0, high: 100, step: 10}, missing: "?"}
  job: {taxonomy: {Any: {White: {Engineer: , Lawyer: }, Blue: {Dancer: , Writer: }}}, outside: clamp}
  income: {classes: ["no", "yes"]}
  born: {date: {from: 1990-01-01, to: 2030-01-01, step: month, format: "%d.%m.%Y"}}
  ill: {boolean: true}
  zip: {prefix: {levels: [1, 2], pattern: "[0-9]{5}"}}
"""
)
HEADER = "age,job,income,born,ill,zip"
LINES = (
    "31,Engineer,no,01.02.2003,true,01234",
    '"4,5",Lawyer,yes,2003-02-01,false,99999',
    ",Dancer,no,,TRUE,1",
    '1e1,"Wri""ter",yes,2003-02-01T10:00:00Z,0,"12 345"',
    "-999,?,no,31.12.1989,,",
)


def read_rows(data: Any) -> None:
    """Read a table as a release does: check the header, code all rows, and count the malformed ones."""
    source = open_source(data)
    check_columns(source, SCHEMA.columns_read)
    MemoryEngine.open(source.batches(SCHEMA.columns_read), SCHEMA, key=bytes(32)).close()


def _csv() -> Run:
    path = Path("rows.csv").absolute()

    def run(data: bytes) -> None:
        path.write_bytes(data)
        read_rows(path)
        malformed_records(open_source(path))

    return run


def _parquet() -> Run:
    path = Path("rows.parquet").absolute()

    def run(data: bytes) -> None:
        path.write_bytes(data)
        read_rows(path)

    return run


def _frames() -> Run:
    return lambda data: read_rows(frame(data))


def csv_seeds() -> list[bytes]:
    """The same few lines with different delimiters, line ends and encodings."""
    text = "\n".join([HEADER, *LINES]) + "\n"
    plain = [HEADER.replace(",", ";"), *(line.replace(",", ";") for line in LINES)]
    return [
        text.encode(),
        text.replace("\n", "\r\n").encode("utf-8-sig"),
        "\n".join(plain).encode(),
        text.replace("Lawyer", "Köchin").encode("latin-1"),
        people(30).encode(),
        (HEADER + "\n").encode(),
    ]


def parquet_seeds() -> list[bytes]:
    """The same rows as text and with types, with and without compression and dictionaries."""
    rows = [line.split(",") for line in LINES if line.count(",") == HEADER.count(",")]
    texts = pa.table({name: [row[place] for row in rows] for place, name in enumerate(HEADER.split(","))})
    typed = texts.set_column(0, "age", pa.array([31, None, -999, 7][: len(texts)], pa.int64()))
    typed = typed.set_column(4, "ill", pa.array([True, None, False, True][: len(texts)]))
    files = []
    options: tuple[dict[str, Any], ...] = (
        {"compression": "none", "use_dictionary": False},
        {"compression": "snappy"},
        {"compression": "zstd", "data_page_version": "2.0"},
    )
    for table in (texts, typed):
        for option in options:
            buffer = io.BytesIO()
            pq.write_table(table, buffer, store_schema=False, **option)
            files.append(buffer.getvalue())
    return files


def frame_seeds() -> list[bytes]:
    """Strings of bytes that decide what a frame is made of."""
    return [Random(number).randbytes(120) for number in range(40)]


PARQUET_BYTES = 8 << 30
"""A page of a damaged file may claim any size up to 2 GiB, which Arrow reserves for it, for some columns at once."""


def table_targets() -> Iterator[Target]:
    """The targets."""
    changes: dict[str, tuple[str, list[bytes], Callable[[], Run], int]] = {
        "csv": ("CSV files", csv_seeds(), _csv, 1_000_000),
        "parquet": ("Parquet files", parquet_seeds(), _parquet, 100_000),
        "frames": ("frames of pandas, polars and Arrow", frame_seeds(), _frames, 1_000_000),
    }
    for name, (reads, seeds, prepare, long_run) in changes.items():
        yield Target(
            name=name,
            reads=reads,
            seeds=seeds,
            mutate=mutation.text if name == "csv" else mutation.changed_bytes,
            prepare=prepare,
            long_run=long_run,
            memory_bytes=PARQUET_BYTES if name == "parquet" else 1 << 30,
        )
