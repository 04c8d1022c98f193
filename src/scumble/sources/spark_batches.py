"""Rows on the executors of Spark, and failures of Spark without the rows that its messages repeat."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from scumble.errors import Abort, ScumbleError

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import DataFrame


@contextmanager
def failures_without_rows(where: str) -> Iterator[None]:
    """Report failures of Spark by their type only: its messages can repeat rows."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JError, PySparkException) as error:
        raise ScumbleError(
            f"Spark failed while reading {where}: {kind_of_failure(error)}. See Spark's log (set spark.log.level to "
            "enable it).",
            abort=Abort.SOURCE,
        ) from None


def kind_of_failure(error: Exception) -> str:
    """The type of a failure, never its message."""
    condition = getattr(error, "getCondition", lambda: None)()
    inner = getattr(error, "java_exception", None)
    return condition or (inner.getClass().getSimpleName() if inner is not None else type(error).__name__)


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
