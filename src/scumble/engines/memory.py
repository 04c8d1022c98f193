"""The memory engine: coded columns in memory, each in the smallest integer type."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy.typing as npt
import pyarrow as pa

from scumble.engines.chunked_counts import count_in_chunks
from scumble.engines.coding import code_blocks
from scumble.engines.contributions import NO_KEY, bounded_blocks
from scumble.engines.counting import count_blocks
from scumble.model.counts import Block, Counts, Tabulation
from scumble.model.schema import Schema


class MemoryEngine:
    """Keeps the coded table in memory."""

    def __init__(self, blocks: list[Block], schema: Schema) -> None:
        self._blocks = blocks
        self._schema = schema

    @classmethod
    def open(cls, batches: Iterable[pa.RecordBatch], schema: Schema, *, key: bytes = NO_KEY) -> "MemoryEngine":
        persons = schema.persons
        blocks = code_blocks(batches, schema) if persons is None else bounded_blocks(batches, schema, persons, key)
        return cls(list(blocks), schema)

    @property
    def rows(self) -> int:
        return sum(len(block[0]) for block in self._blocks)

    def tabulate(self, request: Tabulation) -> Counts:
        return count_in_chunks(request, lambda chunk: count_blocks(self._blocks, chunk, self._schema))

    def blocks(self) -> Iterator[Block]:
        return iter(self._blocks)

    def add_up(self, work: Callable[[Iterable[Block]], npt.NDArray[Any]]) -> npt.NDArray[Any]:
        return work(self.blocks())

    def close(self) -> None:
        self._blocks = []
