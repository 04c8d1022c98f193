"""The memory engine: coded columns in the smallest integers, counted in tight loops, block by block on all cores."""

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numba
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from scumble.engines.coding import Block, Codes, code_blocks
from scumble.model.counts import Counts, Integers, Tabulation, fine_shape
from scumble.model.cut import Cut
from scumble.model.schema import Schema

Cells = npt.NDArray[np.int32]


class MemoryEngine:
    """Holds the coded table in memory."""

    def __init__(self, blocks: list[Block], schema: Schema) -> None:
        self._blocks = blocks
        self._schema = schema

    @classmethod
    def open(cls, batches: Iterable[pa.RecordBatch], schema: Schema) -> "MemoryEngine":
        return cls(list(code_blocks(batches, schema)), schema)

    @property
    def rows(self) -> int:
        return sum(len(block[0]) for block in self._blocks)

    def blocks(self) -> Iterator[Block]:
        return iter(self._blocks)

    def close(self) -> None:
        self._blocks = []

    def tabulate(self, request: Tabulation) -> Counts:
        workers = max(1, min(os.cpu_count() or 1, len(self._blocks)))
        shares = [self._blocks[worker::workers] for worker in range(workers)]
        layout = _Layout(request, self._schema)
        if workers == 1:
            tables = [layout.count(self._blocks)]
        else:
            with ThreadPoolExecutor(workers) as pool:
                tables = list(pool.map(layout.count, shares))
        cells, *fine = (sum(parts[1:], start=parts[0]) for parts in zip(*tables, strict=True))
        classes = len(self._schema.classes)
        return Counts(
            cells=cells.reshape(-1, classes),
            fine={
                name: table.reshape(fine_shape(request.cut, name))
                for name, table in zip(request.fine, fine, strict=True)
            },
        )


@dataclass(frozen=True, kw_only=True)
class _FineTable:
    """Where the count of (cell, code) lies: at `start[cell] + code * stride`."""

    column: int
    start: Integers
    stride: int
    length: int


class _Layout:
    """The columns a request reads and where its counts go; made once, shared by all threads."""

    def __init__(self, request: Tabulation, schema: Schema) -> None:
        cut = request.cut
        places = {attribute.name: place for place, attribute in enumerate(schema.attributes)}
        self.classes = len(schema.classes)
        self.target = None if schema.target is None else places[schema.target]
        self.cells = cut.cells
        self.digits = [
            (places[name], (cut.digits(name) * cut.outer_inner(name)[1]).astype(np.int32))
            for name, nodes in cut.nodes.items()
            if len(nodes) > 1
        ]
        self.fine = [_fine_table(cut, name, places[name]) for name in request.fine]

    def count(self, blocks: list[Block]) -> list[Integers]:
        """One table of cells by class and one for each fine attribute, all flat."""
        tables = [np.zeros(self.cells * self.classes, dtype=np.int64)]
        tables += [np.zeros(fine.length * self.classes, dtype=np.int64) for fine in self.fine]
        for block in blocks:
            rows = len(block[0])
            cells = np.zeros(rows, dtype=np.int32)
            for column, places in self.digits:
                _add_digit(block[column], places, cells)
            labels: Codes = np.zeros(rows, dtype=np.uint8) if self.target is None else block[self.target]
            _count_cells(cells, labels, self.classes, tables[0])
            for fine, table in zip(self.fine, tables[1:], strict=True):
                _count_fine(block[fine.column], cells, labels, self.classes, fine.start, fine.stride, table)
        return tables


def _fine_table(cut: Cut, name: str, column: int) -> _FineTable:
    outer, size, inner, _ = fine_shape(cut, name)
    cells = np.arange(cut.cells, dtype=np.int64)
    start = cells // (inner * len(cut.nodes[name])) * (size * inner) + cells % inner
    return _FineTable(column=column, start=start, stride=inner, length=outer * size * inner)


@numba.njit(nogil=True, cache=True)
def _add_digit(codes, places, cells):  # type: ignore[no-untyped-def]
    for row in range(len(codes)):
        cells[row] += places[codes[row]]


@numba.njit(nogil=True, cache=True)
def _count_cells(cells, labels, classes, table):  # type: ignore[no-untyped-def]
    for row in range(len(cells)):
        table[cells[row] * classes + labels[row]] += 1


@numba.njit(nogil=True, cache=True)
def _count_fine(codes, cells, labels, classes, start, stride, table):  # type: ignore[no-untyped-def]
    for row in range(len(codes)):
        table[(start[cells[row]] + np.int64(codes[row]) * stride) * classes + labels[row]] += 1
