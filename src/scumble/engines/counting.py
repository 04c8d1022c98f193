"""Counting coded rows in tight loops, all tables of a request in one pass over the blocks."""

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.compiled import compiled
from scumble.engines.coding import Block
from scumble.model.counts import Counts, Integers, Tabulation, fine_shape
from scumble.model.cut import Cut
from scumble.model.schema import Schema

Entries = npt.NDArray[np.unsignedinteger[Any]]
"""For each row its entry in the table of cells by class, which is flat: cell * classes + class."""

FEW_ROWS = 1 << 14
"""Blocks shorter than this are counted before another thread would have started."""


def count_blocks(blocks: Iterable[Block], request: Tabulation, schema: Schema) -> Counts:
    """The counts of a request.

    The threads share the fine tables out among themselves, block by block, rather than the blocks: so there is one copy
    of each table, however many cores there are.
    """
    cut = request.cut
    classes = len(schema.classes)
    places = {attribute.name: place for place, attribute in enumerate(schema.attributes)}
    cells = np.zeros(cut.cells * classes, dtype=np.int64)
    entry_type = np.uint32 if len(cells) <= 2**32 else np.uint64
    digits = [
        (places[name], (cut.digits(name) * cut.outer_inner(name)[1] * classes).astype(entry_type))
        for name, nodes in cut.nodes.items()
        if len(nodes) > 1
    ]
    if schema.target is not None:
        digits.append((places[schema.target], np.arange(classes, dtype=entry_type)))
    tables = [_FineTable.empty(cut, name, places[name]) for name in request.fine]
    threads = max(1, min(os.cpu_count() or 1, len(tables)))
    shares = [tables[thread::threads] for thread in range(threads)]
    with ThreadPoolExecutor(threads) as pool:
        for block in blocks:
            entries: Entries = np.zeros(len(block[0]), dtype=entry_type)
            for column, weights in digits:
                _add_digit(block[column], weights, entries)
            _count(entries, cells)
            if len(entries) < FEW_ROWS:
                _count_share(tables, block, entries)
            else:
                list(pool.map(_count_share, shares, repeat(block), repeat(entries)))
    return Counts(
        cells=cells.reshape(-1, classes),
        fine={
            name: table.counts.reshape(fine_shape(cut, name)) for name, table in zip(request.fine, tables, strict=True)
        },
    )


@dataclass(frozen=True, kw_only=True)
class _FineTable:
    """The count of (entry, code) lies at `start[entry] + stride * code`."""

    column: int
    start: npt.NDArray[np.uint64]
    stride: np.uint64
    counts: Integers

    @classmethod
    def empty(cls, cut: Cut, name: str, column: int) -> "_FineTable":
        outer, size, inner, classes = fine_shape(cut, name)
        within = inner * classes
        entries = np.arange(cut.cells * classes)
        start = entries // (within * len(cut.nodes[name])) * (size * within) + entries % within
        counts = np.zeros(outer * size * within, dtype=np.int64)
        return cls(column=column, start=start.astype(np.uint64), stride=np.uint64(within), counts=counts)


def _count_share(tables: Sequence[_FineTable], block: Block, entries: Entries) -> None:
    for table in tables:
        _count_fine(block[table.column], entries, table.start, table.stride, table.counts)


@compiled
def _add_digit(codes: Any, weights: Any, entries: Any) -> None:
    for row in range(len(codes)):
        entries[row] += weights[codes[row]]


@compiled
def _count(entries: Any, counts: Any) -> None:
    for entry in entries:
        counts[entry] += 1


@compiled
def _count_fine(codes: Any, entries: Any, start: Any, stride: Any, counts: Any) -> None:
    for row in range(len(codes)):
        counts[start[entries[row]] + stride * codes[row]] += 1
