"""What Spark reads: files on storage that its executors reach, tables of its catalogue, frames of the Python API.

Nothing of pyspark is imported before it is needed. The session is the one that runs already, as under spark-submit or
in a notebook; where none does, one is started on the master that SCUMBLE_SPARK_MASTER names, else on all local cores.
"""

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from scumble.errors import InputError, ScumbleError
from scumble.model.schema import Schema
from scumble.sources.source import RowProgress

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import DataFrame, SparkSession

MASTER = "SCUMBLE_SPARK_MASTER"
INSTALL = "Install what it needs: pip install 'scumble[spark]', and Java 17 (Debian: openjdk-17-jre-headless)."
SETTINGS = {
    "spark.log.level": "OFF",  # Spark's log would show the rows that a reader stumbles over
    "spark.sql.caseSensitive": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(1 << 16),
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
"""What a session of our own starts with; spark-defaults.conf and PYSPARK_SUBMIT_ARGS set all else."""
CSV_OPTIONS = {
    "header": "true",
    "escape": '"',
    "multiLine": "true",
    "mode": "FAILFAST",
    "columnPruning": "false",  # so that a line with too few or too many fields is seen
    "enforceSchema": "false",
}
TEXT_ENDINGS = (".csv", ".txt", ".tsv")
COMPRESSED_ENDINGS = (".gz", ".zst", ".bz2", ".lz4")
FORMATS = {".parquet": "parquet", ".pq": "parquet", ".orc": "orc"}


def session() -> "SparkSession":
    """The session that runs, else a new one."""
    # Spark warns of a pandas that it has not been tested with, even where none of it is used.
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
    """Spark's failures in words of our own: its messages repeat the rows that it stumbled over."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JError, PySparkException) as error:
        if "MALFORMED_RECORD" in str(error) or "MALFORMED_CSV" in str(error):
            raise InputError(
                f"{where} is no well-formed CSV: its lines do not all have the header's number of fields. Mend it."
            ) from None
        raise ScumbleError(
            f"Spark failed at {where}: {_kind(error)}. Its own log tells more (on this machine: spark.log.level)."
        ) from None


def _kind(error: Exception) -> str:
    """The name of what went wrong, never the message."""
    condition = getattr(error, "getCondition", lambda: None)()
    inner = getattr(error, "java_exception", None)
    return condition or (inner.getClass().getSimpleName() if inner is not None else type(error).__name__)


@dataclass(frozen=True, kw_only=True)
class SparkSource:
    """A frame of Spark's. Of it, `columns` and `kinds` ask for the plan alone."""

    frame: "DataFrame"
    name: str

    def columns(self) -> tuple[str, ...]:
        return tuple(self.frame.columns)

    def kinds(self) -> pa.Schema:
        from pyspark.errors import PySparkException
        from pyspark.sql.pandas.types import to_arrow_type

        fields = []
        for field in self.frame.schema.fields:
            try:
                fields.append((field.name, to_arrow_type(field.dataType)))
            except PySparkException:
                fields.append((field.name, pa.list_(pa.null())))  # no single values, whatever else it is
        return pa.schema(fields)

    def batches(self, schema: Schema, progress: RowProgress | None = None) -> "SparkBatches":
        del progress
        names = [attribute.name for attribute in schema.attributes]
        every = self.frame.toDF(*(f"column{place}" for place in range(len(self.columns()))))
        wanted = every.select(*(f"column{self.columns().index(name)}" for name in names))
        return SparkBatches(frame=wanted, names=names, where=self.name)


@dataclass(frozen=True, kw_only=True)
class SparkBatches:
    """Rows where they lie. The Spark engine sends its work to them; every other engine has them come, one batch after
    the other, through the driver."""

    frame: "DataFrame"
    names: list[str]
    where: str

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        with failures_without_rows(self.where):
            for message in self.messages(_unchanged).toLocalIterator():
                yield from read_message(message)

    def messages(self, work: Callable[[Iterable[pa.RecordBatch]], Iterable[pa.RecordBatch]]) -> "RDD[bytes]":
        """What `work` makes of each partition's batches, each as one Arrow message."""
        names = self.names

        def made(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in work(batch.rename_columns(names) for batch in batches):
                yield pa.record_batch({"message": pa.array([write_message(batch)], pa.binary())})

        rows: RDD[Any] = self.frame.mapInArrow(made, "message binary").rdd
        return rows.map(lambda row: bytes(row[0]))


def _unchanged(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
    return batches


def write_message(batch: pa.RecordBatch) -> bytes:
    """A batch and its types as bytes."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


def read_message(message: bytes) -> list[pa.RecordBatch]:
    return list(pa.ipc.open_stream(message))


def spark_frame(data: object) -> SparkSource | None:
    """A source from a frame of Spark's own, None where it is no such frame."""
    from narwhals.dependencies import is_pyspark_connect_dataframe, is_pyspark_dataframe

    if is_pyspark_connect_dataframe(data):
        raise InputError("A frame of Spark Connect cannot be read: its rows are out of reach. Give one of a session.")
    return SparkSource(frame=data, name="frame") if is_pyspark_dataframe(data) else None


def to_spark(table: pa.Table) -> "DataFrame":
    """An Arrow table as a frame of the session; text that is kept as a dictionary becomes plain."""
    plain = [
        pa.field(field.name, field.type.value_type if pa.types.is_dictionary(field.type) else field.type)
        for field in table.schema
    ]
    return session().createDataFrame(table.cast(pa.schema(plain)))


def spark_files(data: str | PurePath, delimiter: str) -> SparkSource:
    """A source from a path or address that Spark reads: a file, a folder, a pattern, on any storage it knows; or
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
            frame = reader.options(**CSV_OPTIONS).option("sep", delimiter).csv(where)
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
