"""CSV files that Spark reads: Spark splits them into lines, and the executors read the lines as all engines do.

Spark's own CSV reader is not used: it replaces bytes that are not UTF-8, skips empty values and can join lines. The
driver reads the header of every file, before anything is charged. Spark splits text at line feeds, so values with line
breaks and UTF-16 are refused.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import numpy as np
import pyarrow as pa

from scumble.errors import InputError
from scumble.model.dialect import Dialect
from scumble.sources.csv import CSVSource
from scumble.sources.csv_parser import CSVParser
from scumble.sources.csv_records import RecordShape
from scumble.sources.encodings import to_utf8
from scumble.sources.source import RowProgress
from scumble.sources.spark_batches import SparkBatches, failures_without_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Fields = tuple[RecordShape, tuple[int, ...]]
"""The shape of a file's records, and the places of the wanted fields."""


@dataclass(frozen=True, kw_only=True)
class HadoopStream:
    """A file on storage that Spark reads, by its address. Only its header is read here, on the driver."""

    frame: "DataFrame"
    address: str

    def __str__(self) -> str:
        return self.address

    @property
    def path(self) -> PurePath:
        return PurePath(self.address)

    @property
    def plain_name(self) -> str:
        return self.path.name

    @property
    def size(self) -> int | None:
        return None

    def chunks(self, size: int) -> Iterator[bytes]:
        with failures_without_rows(self.address):
            location, context = self._location(), self.frame.sparkSession.sparkContext
            settings: Any = context._jsc.hadoopConfiguration()
            java: Any = context._jvm
            codec = java.org.apache.hadoop.io.compress.CompressionCodecFactory(settings).getCodec(location)
            stream = location.getFileSystem(settings).open(location)
            opened = stream if codec is None else codec.createInputStream(stream)
            try:
                while chunk := bytes(opened.readNBytes(size)):
                    yield chunk
            finally:
                opened.close()

    def _location(self) -> Any:
        java: Any = self.frame.sparkSession.sparkContext._jvm
        return java.org.apache.hadoop.fs.Path(java.java.net.URI(self.address))


@dataclass(frozen=True, kw_only=True)
class SparkCSV:
    """Files whose lines are one table. They have the same columns, in any order."""

    frame: "DataFrame"
    """The lines of all files, headers included."""
    parts: tuple[CSVSource, ...]
    """Each file, for its header."""
    name: str

    def columns(self) -> tuple[str, ...]:
        return self.parts[0].columns()

    def kinds(self) -> None:
        return None

    def batches(self, columns: Sequence[str], progress: RowProgress | None = None) -> SparkBatches:
        del progress
        from pyspark.sql import functions as sql

        fields = {one_spelling(str(part.stream)): _fields(part, columns) for part in self.parts}
        # The file of each row matters if headers differ. If not, a number that changes where a file starts is enough.
        same = len(set(fields.values())) == 1
        file = sql.col("_metadata.file_path") if not same else sql.xxhash64("_metadata.file_path")
        lines = self.frame.select(
            sql.col("value").cast("binary").alias("line"),
            (sql.col("_metadata.file_block_start") == 0).alias("from_start"),
            file.alias("file"),
        )
        reader = LineReader(
            fields={} if same else fields,
            usual=next(iter(fields.values())),
            encoding=self.parts[0].dialect.text_encoding,
        )
        names = [f"column{place}" for place in range(len(columns))]
        kinds = ", ".join(f"{name} binary" for name in names)
        frame = lines.mapInArrow(reader.batches, kinds)
        return SparkBatches(frame=frame, names=list(columns), where=self.name)


@dataclass(frozen=True, kw_only=True)
class LineReader:
    """Reads the lines of a partition on an executor. The lines of a part of a file come one after the other, and the
    first line of the part at the start of a file is its header."""

    fields: Mapping[str, Fields]
    """The fields of each file by its address, if headers differ."""
    usual: Fields
    encoding: str

    def batches(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        before: tuple[object, bool] = (None, False)
        for batch in batches:
            lines = batch.column("line")
            files, from_start = (batch.column(name).to_numpy(zero_copy_only=False) for name in ("file", "from_start"))
            changes = (files[1:] != files[:-1]) | (from_start[1:] != from_start[:-1])
            for first, last in pairwise([0, *(np.flatnonzero(changes) + 1).tolist(), len(batch)]):
                here = (files[first], bool(from_start[first]))
                header = int(here[1] and here != before)
                before = here
                text = lines.slice(first + header, last - first - header).to_pylist()
                if text:
                    yield from self._records(b"\n".join(text) + b"\n", files[first])

    def _records(self, text: bytes, file: object) -> Iterator[pa.RecordBatch]:
        shape, places = self.fields[one_spelling(str(file))] if self.fields else self.usual
        names = [f"column{place}" for place in range(len(places))]
        for batch in CSVParser(shape, places, names).batches(to_utf8([text], self.encoding)):
            columns = [column.dictionary_decode().cast(pa.binary()) for column in batch.columns]
            yield pa.record_batch(columns, names=names)


def spark_csv(lines: "DataFrame", dialect: Dialect, name: str) -> SparkCSV:
    """The source for the lines of CSV files. Reads the header of each."""
    if dialect.multiline:
        raise InputError(
            "Spark reads CSV line by line, so values cannot have line breaks. Convert the table to Parquet, or read it "
            "with the engine memory or duckdb."
        )
    if dialect.text_encoding.startswith("utf-16"):
        raise InputError("Spark cannot split UTF-16 into lines. Convert the table to UTF-8 or Parquet.")
    streams = (HadoopStream(frame=lines, address=address) for address in sorted(lines.inputFiles()))
    parts = tuple(CSVSource(stream=stream, dialect=dialect) for stream in streams)
    if not parts:
        raise InputError(f"{name} has no CSV file. Give a folder or pattern with at least one.")
    return SparkCSV(frame=lines, parts=parts, name=name)


def one_spelling(address: str) -> str:
    """Spark's list of files and its rows spell the same address in two ways.

    >>> one_spelling("file:///a%20b.csv") == one_spelling("file:/a b.csv")
    True
    """
    return unquote(re.sub("^file:/+", "file:/", address))


def _fields(part: CSVSource, columns: Sequence[str]) -> Fields:
    names = part.columns()
    return part.shape, tuple(names.index(name) for name in columns)
