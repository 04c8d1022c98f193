"""Engines: where coded rows lie and how they are counted. They know nothing of privacy.

Every engine is opened on a stream of record batches and answers one question, `tabulate`. `blocks` gives the coded rows
back, for the holder's own use. `scanning` finds the tables that only an engine's library can read. What is
particular to one engine or its library stands in this room and nowhere else.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol, Self

import numpy.typing as npt
import pyarrow as pa

from scumble.engines.duckdb import DuckDBEngine
from scumble.engines.memory import MemoryEngine
from scumble.engines.spark import SparkEngine
from scumble.model.counts import Block, Counts, Tabulation
from scumble.model.schema import Schema


class Engine(Protocol):
    """What every engine does."""

    @classmethod
    def open(cls, batches: Iterable[pa.RecordBatch], schema: Schema) -> Self:
        """Read and code all rows."""

    @property
    def rows(self) -> int:
        """How many rows were kept."""

    def tabulate(self, request: Tabulation) -> Counts: ...

    def blocks(self) -> Iterator[Block]:
        """The coded rows, block by block, a column for each attribute in the schema's order."""

    def add_up(self, work: Callable[[Iterable[Block]], npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """The sum, over the places where rows lie, of what `work` makes of the rows of each: so they need not travel.

        `work` is a function that another machine can be sent; of no rows it makes zeros.
        """

    def close(self) -> None: ...


ENGINES: Mapping[str, type[Engine]] = {"memory": MemoryEngine, "duckdb": DuckDBEngine, "spark": SparkEngine}
