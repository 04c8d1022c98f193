"""Engines store coded rows and count them. They contain no privacy logic.

An engine is opened on a stream of record batches. `tabulate` counts its rows; `blocks` and `add_up` give the data
holder access to the coded rows. All engines share `coding` and `counting`, so they return the same counts.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol, Self

import numpy.typing as npt
import pyarrow as pa

from scumble.engines.contributions import NO_KEY
from scumble.engines.duckdb import DuckDBEngine
from scumble.engines.memory import MemoryEngine
from scumble.engines.spark import SparkEngine
from scumble.model.counts import Block, Counts, Tabulation
from scumble.model.schema import Schema


class Engine(Protocol):
    """The interface of all engines."""

    @classmethod
    def open(cls, batches: Iterable[pa.RecordBatch], schema: Schema, *, key: bytes = NO_KEY) -> Self:
        """Read and code all rows. If the schema names persons, keep so many rows of each; `key` decides which."""

    @property
    def rows(self) -> int:
        """The number of rows that were not dropped by the schema's `outside` rules."""

    def tabulate(self, request: Tabulation) -> Counts:
        """Exact counts of all tables of a request, in one pass where they fit into memory."""

    def blocks(self) -> Iterator[Block]:
        """The coded rows, block by block, a column for each attribute in the schema's order."""

    def add_up(self, work: Callable[[Iterable[Block]], npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """The sum of `work` over all partitions of the rows, each computed where its rows are stored.

        `work` must be a function that can be sent to another machine. For no blocks it must return zeros.
        """

    def close(self) -> None:
        """Release the rows and everything that stores them."""


ENGINES: Mapping[str, type[Engine]] = {"memory": MemoryEngine, "duckdb": DuckDBEngine, "spark": SparkEngine}
