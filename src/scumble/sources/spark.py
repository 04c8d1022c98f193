"""Sources that Spark reads: files on storage that its executors reach, tables of its catalogue, and Spark frames.

pyspark is imported only when it is needed. A running session is used, as under spark-submit or in a notebook. If none
runs, one is started on the master that SCUMBLE_SPARK_MASTER names, or else on all local cores.
"""

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from scumble.errors import Abort, InputError, ScumbleError
from scumble.sources.dialect import Dialect
from scumble.sources.source import RowProgress

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType

MASTER = "SCUMBLE_SPARK_MASTER"
INSTALL = "Install what it needs: pip install 'scumble[spark]', and Java 17 (Debian: openjdk-17-jre-headless)."
SETTINGS = {
    "spark.log.level": "OFF",  # Spark's log would show rows that it cannot parse
    "spark.sql.caseSensitive": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(1 << 16),
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
"""The settings of a session that is started here; spark-defaults.conf and PYSPARK_SUBMIT_ARGS set the others."""
CSV_OPTIONS = {
    "header": "true",
    "escape": '"',
    "multiLine": "true",
    "mode": "FAILFAST",
    "columnPruning": "false",  # otherwise lines with too few or too many fields go unnoticed
    "enforceSchema": "false",
}
TEXT_ENDINGS = (".csv", ".txt", ".tsv")
COMPRESSED_ENDINGS = (".gz", ".zst", ".bz2", ".lz4")
FORMATS = {".parquet": "parquet", ".pq": "parquet", ".orc": "orc"}


def session() -> "SparkSession":
    """The running session, or a new one."""
    # Spark warns about untested versions of pandas even if pandas is not used.
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    try:
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise InputError(f"The engine spark is not installed. {INSTALL}") from error
    running = SparkSession.getActiveSession()
    if running is not None:
        return running
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("scumble")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    if os.environ.get(MASTER):
        builder = builder.master(os.environ[MASTER])
    try:
        return builder.getOrCreate()
    except PySparkException as error:
        raise ScumbleError(f"Spark did not start. {INSTALL}") from error


@contextmanager
def failures_without_rows(where: str) -> Iterator[None]:
    """Report failures of Spark by their type only: its messages repeat the rows that it cannot parse."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JError, PySparkException) as error:
        if "MALFORMED_RECORD" in str(error) or "MALFORMED_CSV" in str(error):
            raise InputError(
                f"{where} is not valid CSV: a line has more or fewer fields than the header. Fix the file.",
                abort=Abort.SOURCE,
            ) from None
        raise ScumbleError(
            f"Spark failed while reading {where}: {_kind(error)}. See Spark's log (set spark.log.level to enable it).",
            abort=Abort.SOURCE,
        ) from None


def _kind(error: Exception) -> str:
    """The type of a failure, never its message."""
    condition = getattr(error, "getCondition", lambda: None)()
    inner = getattr(error, "java_exception", None)
    return condition or (inner.getClass().getSimpleName() if inner is not None else type(error).__name__)


@dataclass(frozen=True, kw_only=True)
class SparkSource:
    """A Spark frame. `columns` and `kinds` only analyse its query plan."""

    frame: "DataFrame"
    name: str

    def columns(self) -> tuple[str, ...]:
        return tuple(self.frame.columns)

    def kinds(self) -> pa.Schema:
        return pa.schema([(field.name, _arrow_kind(field.dataType)) for field in self.frame.schema.fields])

    def batches(self, columns: Sequence[str], progress: RowProgress | None = None) -> "SparkBatches":
        del progress
        every = self.frame.toDF(*(f"column{place}" for place in range(len(self.columns()))))
        wanted = every.select(*(f"column{self.columns().index(name)}" for name in columns))
        return SparkBatches(frame=wanted, names=list(columns), where=self.name)


def _arrow_kind(declared: "DataType") -> pa.DataType:
    """The Arrow type of a column; a list for every type that does not contain single values."""
    from pyspark.errors import PySparkException
    from pyspark.sql.pandas.types import to_arrow_type
    from pyspark.sql.types import ArrayType, MapType, StructType, TimestampType

    if isinstance(declared, TimestampType):  # for which some versions of pyspark need a zone
        return pa.timestamp("us", "UTC")
    if isinstance(declared, ArrayType | MapType | StructType):
        return pa.list_(pa.null())
    try:
        return to_arrow_type(declared)
    except PySparkException:
        return pa.list_(pa.null())


@dataclass(frozen=True, kw_only=True)
class SparkBatches:
    """Rows on the executors. The Spark engine processes them there; other engines receive them through the driver, one
    batch after the other."""

    frame: "DataFrame"
    names: list[str]
    where: str

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        with failures_without_rows(self.where):
            for message in self.messages(_unchanged).toLocalIterator():
                yield from read_message(message)

    def messages(self, work: Callable[[Iterable[pa.RecordBatch]], Iterable[pa.RecordBatch]]) -> "RDD[bytes]":
        """The batches that `work` returns for each partition, each as one Arrow message."""
        names = self.names

        def made(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in work(batch.rename_columns(names) for batch in batches):
                yield pa.record_batch({"message": pa.array([write_message(batch)], pa.binary())})

        rows: RDD[Any] = self.frame.mapInArrow(made, "message binary").rdd
        return rows.map(lambda row: bytes(row[0]))


def _unchanged(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
    return batches


def write_message(batch: pa.RecordBatch) -> bytes:
    """A batch with its types as bytes: an Arrow stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


def read_message(message: bytes) -> list[pa.RecordBatch]:
    """The batches of a message."""
    return list(pa.ipc.open_stream(message))


def spark_frame(data: object) -> SparkSource | None:
    """The source for a Spark frame; None if `data` is not one."""
    from narwhals.dependencies import is_pyspark_connect_dataframe, is_pyspark_dataframe

    if is_pyspark_connect_dataframe(data):
        raise InputError(
            "Frames of Spark Connect are not supported: their rows cannot be processed on the executors. Give a "
            "frame of a classic session."
        )
    return SparkSource(frame=data, name="frame") if is_pyspark_dataframe(data) else None


def to_spark(table: pa.Table) -> "DataFrame":
    """An Arrow table as a frame of the session. Dictionaries become plain text."""
    plain = [
        pa.field(field.name, field.type.value_type if pa.types.is_dictionary(field.type) else field.type)
        for field in table.schema
    ]
    return session().createDataFrame(table.cast(pa.schema(plain)))


def spark_files(data: str | PurePath, dialect: Dialect) -> SparkSource:
    """The source for anything that Spark reads: a file, a folder or a pattern on any storage that it supports, or
    `table:NAME` of its catalogue."""
    reader = session().read

    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    where = str(data)
    stem, suffix = _stem_and_suffix(where)
    try:
        if where.startswith("table:"):
            return SparkSource(frame=reader.table(where.removeprefix("table:")), name=where.removeprefix("table:"))
        if suffix in TEXT_ENDINGS:
            frame = reader.options(**CSV_OPTIONS).option("sep", dialect.delimiter or ",").csv(where)
        else:
            frame = reader.format(FORMATS.get(suffix, "parquet")).load(where)
    except (Py4JError, PySparkException) as error:
        raise InputError(
            f"Spark cannot read {where}: {_kind(error)}. Give CSV, Parquet or ORC where its executors can read it, or "
            "table:NAME of its catalogue."
        ) from None
    return SparkSource(frame=frame, name=stem)


def _stem_and_suffix(where: str) -> tuple[str, str]:
    """
    >>> _stem_and_suffix("s3a://bucket/people.csv.gz")
    ('people', '.csv')
    """
    path = PurePath(where)
    if path.suffix.lower() in COMPRESSED_ENDINGS:
        path = path.with_suffix("")
    return path.stem, path.suffix.lower()
