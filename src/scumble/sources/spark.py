"""Sources that Spark reads: files on storage that its executors reach, tables of its catalogue, and Spark frames.

pyspark is imported only when it is needed. A running session is used, as under spark-submit or in a notebook. If none
runs, one is started on the master that SCUMBLE_SPARK_MASTER names, or else on all local cores.
"""

import os
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

import pyarrow as pa

from scumble.errors import InputError, ScumbleError
from scumble.installation import missing_sentence, needing
from scumble.model.dialect import Dialect
from scumble.settings import setting
from scumble.sources.addresses import shown_address
from scumble.sources.source import RowProgress
from scumble.sources.spark_batches import SparkBatches, kind_of_failure
from scumble.sources.spark_csv import SparkCSV, spark_csv

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType

SETTINGS = {
    "spark.log.level": "OFF",  # Spark's log would show rows that it cannot parse
    "spark.sql.caseSensitive": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(1 << 16),
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
"""The settings of a session that is started here; spark-defaults.conf and PYSPARK_SUBMIT_ARGS set the others."""
TEXT_ENDINGS = (".csv", ".txt", ".tsv")
COMPRESSED_ENDINGS = (".gz", ".zst", ".bz2", ".lz4")
FORMATS = {".parquet": "parquet", ".pq": "parquet", ".orc": "orc"}


def session() -> "SparkSession":
    """The running session, or a new one."""
    # Spark warns about untested versions of pandas even if pandas is not used.
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    with needing("spark"):
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    running = SparkSession.getActiveSession()
    if running is not None:
        return running
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("scumble")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    master = setting("spark-master")
    if master:
        builder = builder.master(master)
    try:
        return builder.getOrCreate()
    except PySparkException as error:
        raise ScumbleError(f"Spark did not start. {missing_sentence('spark')}") from error


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


def spark_files(data: str | PurePath, dialect: Dialect) -> SparkSource | SparkCSV:
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
            return spark_csv(reader.option("lineSep", "\n").text(where), dialect, stem)
        frame = reader.format(FORMATS.get(suffix, "parquet")).load(where)
    except (Py4JError, PySparkException) as error:
        raise InputError(
            f"Spark cannot read {shown_address(where)}: {kind_of_failure(error)}. Give CSV, Parquet or ORC where its "
            "executors can read it, or table:NAME of its catalogue."
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
