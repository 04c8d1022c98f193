"""The Spark engine: coded rows on the executors of a cluster, counted where they are stored.

The executors code and count Arrow batches with the functions that all engines share, so all engines read a value in the
same way. Coded rows are kept in memory, and on the executors' disks where memory is full; if an executor is lost, Spark
computes them again from the source. An answer is one job: each partition counts its rows, a shuffle adds up the tables
of the partitions, and the driver collects the sums. SQL's `GROUPING SETS` over coded columns gives the same counts and
took 1.6 times as long for 20,000 rows and 5.6 times for a million (docs/benchmarks.md).
"""

from collections.abc import Callable, Iterable, Iterator
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.engines.chunked_counts import count_in_chunks
from scumble.engines.coding import code_blocks
from scumble.engines.contributions import NO_KEY, bounded_blocks
from scumble.engines.counting import count_blocks
from scumble.engines.spark_contributions import bounded_rows, coded_blocks
from scumble.model.counts import Block, Counts, Integers, Tabulation, fine_shape
from scumble.model.schema import Schema
from scumble.sources.spark import session
from scumble.sources.spark_batches import SparkBatches, failures_without_rows, read_message, write_message

if TYPE_CHECKING:
    from pyspark import RDD, Broadcast

BLOCK_ROWS = 1 << 16
"""The approximate number of coded rows in a block."""
PIECE = 1 << 16
"""Tables are sent to the driver in pieces of this many counts. A piece with only zeros is not sent."""


class SparkEngine:
    """Keeps the coded table on a cluster."""

    def __init__(self, coded: "RDD[bytes]", schema: Schema, where: str) -> None:
        from pyspark import StorageLevel

        self._coded = coded.persist(StorageLevel.MEMORY_AND_DISK)
        self._schema = schema
        self._where = where
        try:
            with failures_without_rows(where):
                self._rows: int = self._coded.map(_rows_of).sum()
        except BaseException:
            self.close()
            raise

    @classmethod
    def open(cls, batches: Iterable[pa.RecordBatch], schema: Schema, *, key: bytes = NO_KEY) -> "SparkEngine":
        """Code the rows on the executors. Rows that Spark did not read are coded here and sent to the executors."""
        context = session().sparkContext
        persons = schema.persons
        if isinstance(batches, SparkBatches):
            public = context.broadcast(schema)
            if persons is not None:
                batches = bounded_rows(batches, schema, persons, key)
                return cls(
                    batches.messages(lambda part: _joined(coded_blocks(part, public.value))), schema, batches.where
                )
            return cls(batches.messages(lambda part: _joined(code_blocks(part, public.value))), schema, batches.where)
        blocks = code_blocks(batches, schema) if persons is None else bounded_blocks(batches, schema, persons, key)
        messages = [write_message(batch) for batch in _joined(blocks)]
        parts = min(max(len(messages), 1), context.defaultParallelism)
        return cls(context.parallelize(messages, parts), schema, "the rows")

    @property
    def rows(self) -> int:
        return self._rows

    def tabulate(self, request: Tabulation) -> Counts:
        return count_in_chunks(request, self._counted)

    def _counted(self, request: Tabulation) -> Counts:
        """Count a request in one job."""
        shared = self._coded.context.broadcast((request, self._schema))
        shapes = _shapes(request)
        size = sum(map(prod, shapes))
        flat = np.zeros(size, dtype=np.int64)
        pieces = -(-size // PIECE)
        counted = self._coded.mapPartitions(lambda messages: _pieces(messages, shared))
        summed = counted.reduceByKey(np.add, min(pieces, self._coded.context.defaultParallelism))
        with failures_without_rows(self._where):
            for piece, counts in summed.collect():
                flat[piece * PIECE : (piece + 1) * PIECE] = counts
        shared.unpersist()
        parts = np.split(flat, np.cumsum([prod(shape) for shape in shapes])[:-1])
        cells, *fine = (part.reshape(shape) for part, shape in zip(parts, shapes, strict=True))
        return Counts(cells=cells, fine=dict(zip(request.fine, fine, strict=True)))

    def add_up(self, work: Callable[[Iterable[Block]], npt.NDArray[Any]]) -> npt.NDArray[Any]:
        parts = self._coded.mapPartitions(lambda messages: [work(_blocks(messages))])
        with failures_without_rows(self._where):
            return np.sum([work([]), *parts.collect()], axis=0)

    def blocks(self) -> Iterator[Block]:
        with failures_without_rows(self._where):
            yield from _blocks(self._coded.toLocalIterator())

    def close(self) -> None:
        self._coded.unpersist()


def _joined(blocks: Iterable[Block]) -> Iterator[pa.RecordBatch]:
    """Coded rows as batches of about BLOCK_ROWS."""
    waiting: list[pa.RecordBatch] = []
    for block in blocks:
        names = [str(place) for place in range(len(block))]
        waiting.append(pa.record_batch([pa.array(codes) for codes in block], names=names))
        if sum(map(len, waiting)) >= BLOCK_ROWS:
            yield pa.concat_batches(waiting)
            waiting = []
    if waiting:
        yield pa.concat_batches(waiting)


def _rows_of(message: bytes) -> int:
    return sum(map(len, read_message(message)))


def _blocks(messages: Iterable[bytes]) -> Iterator[Block]:
    for message in messages:
        for batch in read_message(message):
            yield tuple(column.to_numpy() for column in batch.columns)


def _shapes(request: Tabulation) -> list[tuple[int, ...]]:
    """The shapes of the tables of a request, cells first. The tables are concatenated in this order."""
    cut = request.cut
    return [(cut.cells, len(cut.schema.classes)), *(fine_shape(cut, name) for name in request.fine)]


def _pieces(
    messages: Iterable[bytes], shared: "Broadcast[tuple[Tabulation, Schema]]"
) -> Iterator[tuple[int, Integers]]:
    """The counts of one partition, cut into pieces."""
    request, schema = shared.value
    counts = count_blocks(_blocks(messages), request, schema, threads=1)
    flat = np.concatenate([counts.cells.ravel(), *(table.ravel() for table in counts.fine.values())])
    for piece, start in enumerate(range(0, len(flat), PIECE)):
        part = flat[start : start + PIECE]
        if part.any():
            yield piece, part
