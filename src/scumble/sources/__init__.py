"""Sources of rows: files, patterns of files, data frames and database tables, all read through `Source`.

| argument | what is read |
|---|---|
| `people.csv`, `people.tsv`, `people.csv.gz`, `.zst`, `.bz2`, `.lz4` | CSV |
| `people.zip`, `people.zip::inner.csv` | the only CSV file in an archive, or the one that is named |
| `people.parquet`, `.pq` | Parquet |
| `people.feather`, `.arrow`, `.ipc` | Feather (version 2) and other Arrow files |
| `people.orc` | ORC |
| `people.xlsx`, `.xls`, `.xlsb`, `.ods`; `people.xlsx::Sheet` | the first or the named sheet of a spreadsheet |
| `people.dta`; `.sav`, `.zsav`; `.sas7bdat`, `.xpt` | files of Stata, SPSS and SAS |
| `people-*.parquet`, `2026/**/*.csv.gz` | all files of the pattern as one table |
| `people.duckdb::patients` | a table or view of a DuckDB database |
| `people.sqlite::patients` | a table or view of a SQLite database |
| `postgresql://user@host/database::public.patients` | a table or view in PostgreSQL |
| a pandas, polars, Arrow or Spark frame | the frame |
| a polars LazyFrame, a DuckDB relation, a pyarrow dataset | the result of the query |
| a RecordBatchReader, or any object that exports an Arrow stream | the stream, once |
| a list or another iterable of dictionaries | one record for each dictionary |
"""

import glob
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

import pyarrow as pa

from scumble.errors import InputError
from scumble.model.dialect import AS_FOUND, Dialect
from scumble.sources.addresses import is_address, shown_address
from scumble.sources.arrow_files import ORCFile, arrow_file
from scumble.sources.byte_streams import ByteStream, zip_member
from scumble.sources.csv import CSVSource
from scumble.sources.databases import database_table
from scumble.sources.excel import named_sheet, spreadsheet
from scumble.sources.frames import ArrowSource, frame_source
from scumble.sources.lazy_frames import lazy_source
from scumble.sources.parquet import ParquetSource
from scumble.sources.source import RowProgress, Source, interruptible
from scumble.sources.spark import spark_files, spark_frame, to_spark
from scumble.sources.spark_csv import SparkCSV
from scumble.sources.statistics import statistics_file
from scumble.sources.streams import DictRows, stream_source

__all__ = [
    "AS_FOUND",
    "SPARK",
    "ArrowSource",
    "CSVSource",
    "Dialect",
    "ManySource",
    "ParquetSource",
    "Source",
    "check_columns",
    "check_dialect",
    "has_column",
    "interruptible",
    "malformed_records",
    "open_source",
    "readings",
    "to_native_frame",
]

SPARK = "spark"
DATABASE_ENDINGS = frozenset({".duckdb", ".ddb", ".sqlite", ".sqlite3"})
FILES = "Give a CSV or Parquet file, or a pattern of such files"


def open_source(data: Any, *, dialect: Dialect = AS_FOUND, engine: str = "memory") -> Source:
    """The source for a path, a pattern, the address of a table, or any frame that narwhals supports.

    `dialect` states how CSV files are written. With the engine `spark`, Spark reads everything that has a path.
    """
    scanned = _scan(data, dialect=dialect, engine=engine)
    if scanned is not None:
        return scanned
    if not isinstance(data, str | Path):
        return _memory_source(data)
    path = Path(data)
    if is_address(str(data)) and not path.exists():
        raise InputError(
            f"{shown_address(str(data))} is not an address that scumble reads. Write "
            "postgresql://host/database::table, give a file, or let Spark read it (--engine spark)."
        )
    if path.is_dir():
        raise InputError(f"{path} is a folder. {FILES}: '{path}/*.parquet'.")
    if path.exists():
        return _file_source(path, dialect)
    if not glob.has_magic(str(path)):
        raise InputError(f"The file {path} does not exist. {FILES}.")
    anchor = Path(path.anchor or ".")
    found = sorted(each for each in anchor.glob(str(path.relative_to(path.anchor))) if each.is_file())
    if not found:
        raise InputError(f"No file matches the pattern {path}. {FILES}.")
    return ManySource(parts=tuple(_file_source(each, dialect) for each in found), name=path.stem)


def _scan(data: object, *, dialect: Dialect, engine: str) -> Source | None:
    """The source for `data` if DuckDB, PostgreSQL or Spark reads it, or if it is in an archive; None for ordinary files
    and frames."""
    if not isinstance(data, str | PurePath):
        return spark_frame(data)
    member = None if engine == SPARK else zip_member(str(data))
    if member is not None:
        return CSVSource(stream=member, dialect=dialect)
    return (
        named_sheet(str(data)) or database_table(str(data)) or (spark_files(data, dialect) if engine == SPARK else None)
    )


def _memory_source(data: Any) -> Source:
    found = frame_source(data) or lazy_source(data) or stream_source(data)
    if found is None:
        raise InputError(
            f"A {type(data).__name__} is not a table. Give a path, or a pandas, polars, Arrow or Spark frame."
        )
    return found


def _file_source(path: Path, dialect: Dialect) -> Source:
    if path.suffix.lower() in {".parquet", ".pq"}:
        return ParquetSource(path=path)
    if path.suffix.lower() in DATABASE_ENDINGS:
        raise InputError(f"{path} is a database. Name a table in it: {path}::TABLE.")
    return (
        spreadsheet(path)
        or statistics_file(path)
        or arrow_file(path)
        or CSVSource(stream=zip_member(str(path)) or ByteStream(path=path), dialect=dialect)
    )


def readings(source: Source) -> list[str]:
    """How CSV files are read, as sentences, as far as this was found in their headers."""
    return [part.reading for part in _parts(source) if isinstance(part, CSVSource) and part.reading is not None]


def check_dialect(dialect: Dialect, *sources: Source) -> None:
    """Refuse a description of CSV files if none of the tables is one."""
    if dialect == AS_FOUND or any(isinstance(part, CSVSource) for source in sources for part in _parts(source)):
        return
    raise InputError(
        f"{_place(sources[0])} is not a CSV file. Leave out --delimiter, --encoding and --multiline: they describe CSV "
        "files."
    )


def _place(source: Source) -> str:
    """Where a table is, in messages: its file, with the sheet of a spreadsheet, or its name."""
    place = getattr(source, "place", None)
    return str(getattr(source, "path", source.name) if place is None else place)


def malformed_records(source: Source) -> int:
    """Read all CSV files and count their malformed records. For the data owner only."""
    return sum(part.malformed() for part in _parts(source) if isinstance(part, CSVSource))


def _parts(source: Source) -> tuple[Source, ...]:
    return source.parts if isinstance(source, ManySource | SparkCSV) else (source,)


@dataclass(frozen=True, kw_only=True)
class ManySource:
    """Several files that form one table. They have the same columns, in any order."""

    parts: tuple[Source, ...]
    name: str

    def columns(self) -> tuple[str, ...]:
        return self.parts[0].columns()

    def kinds(self) -> pa.Schema | None:
        return self.parts[0].kinds()

    def batches(self, columns: Sequence[str], progress: RowProgress | None = None) -> Iterator[pa.RecordBatch]:
        for number, part in enumerate(self.parts, start=1):
            yield from part.batches(columns)
            if progress is not None:
                progress(number, len(self.parts))


def check_columns(source: Source, wanted: Sequence[str], *, person: str | None = None) -> None:
    """Check that the header of every file has the wanted columns. Other columns are never read.

    `person` is the wanted column that identifies persons, which is not an attribute.
    """
    for part in _parts(source):
        _check_one(part, wanted, person)


def has_column(source: Source, name: str) -> bool:
    """Whether the header has a column. Dictionaries have no header: there every name is accepted."""
    return isinstance(source, DictRows) or name in source.columns()


def _check_one(source: Source, wanted: Sequence[str], person: str | None) -> None:
    if isinstance(source, DictRows):
        return
    columns = source.columns()
    where = _place(source)
    times = Counter(columns)
    repeated = sorted(name for name, number in times.items() if number > 1)
    found = [name for name in wanted if name in times]
    if not found:
        if isinstance(source, CSVSource):
            raise InputError(f"{where}: its first line has none of the schema's columns. {source.hint(wanted)}")
        if not columns:
            raise InputError(f"{where} has no column names: its first row is empty. Write the names there.")
        raise InputError(f"{where} has none of the schema's columns. Compare the names in the schema and the table.")
    absent = [name for name in wanted if name not in times]
    if absent == [person]:
        raise InputError(
            f"{where} has no column {person!r}, which the schema names as `person: {person}`. Correct it: write the "
            "name of the column that identifies persons."
        )
    if absent:
        raise InputError(
            f"{where} has no column {', '.join(repr(name) for name in absent)}, which the schema describes. "
            "Correct the name in the schema, or remove the attribute."
        )
    if repeated:
        shown = next((name for name in repeated if name in wanted), None)
        raise InputError(
            f"{where}: the column {shown!r} occurs twice in the header. Rename one of them."
            if shown
            else f"{where}: a column occurs twice in the header. Rename one of them."
        )
    kinds = source.kinds()
    if kinds is not None:
        nested = [name for name in wanted if pa.types.is_nested(kinds.field(name).type)]
        if nested:
            raise InputError(
                f"{where}: the column {nested[0]!r} contains lists or records, not single values. Split it into "
                "several columns, or remove the attribute from the schema."
            )
    if isinstance(source, ORCFile):
        source.check(wanted)


def to_native_frame(table: pa.Table, kind: str) -> Any | None:
    """The table as a Spark frame for the kind `pyspark`; None for kinds that narwhals converts to."""
    return to_spark(table) if kind == "pyspark" else None
