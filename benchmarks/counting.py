"""Compares counting with a pass that adds up the same bytes as 64-bit words, and with DuckDB's `count(*) group by`.

All three work on the same coded rows in memory.
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import duckdb
import numba
import numpy as np
import pyarrow as pa

from scumble.engines.counting import count_blocks
from scumble.engines.memory import MemoryEngine
from scumble.model.counts import Block, Tabulation
from scumble.model.cut import Cut
from scumble.model.schema import Schema
from scumble.model.taxonomy import Node
from scumble.sources import open_source

CELLS = (1, 2, 10, 50, 200, 1_000, 5_000)
THREADS = (1, 2)


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Median seconds of several runs."""

    cpu: float
    wall: float


def coded_rows(path: Path, schema: Schema) -> list[Block]:
    return list(MemoryEngine.open(open_source(path).batches(schema.columns), schema).blocks())


def cut_into(schema: Schema, cells: int) -> Cut:
    """A cut with exactly `cells` cells. Each attribute in turn gets the most parts that divide the remaining factor."""
    nodes = {}
    left = cells
    for attribute in sorted(schema.predictors, key=lambda each: each.domain.size):
        domain = attribute.domain
        parts = max(part for part in range(1, domain.size + 1) if left % part == 0)
        left //= parts
        edges = [domain.size * part // parts for part in range(parts + 1)]
        nodes[attribute.name] = tuple(Node(label=f"{low}-{high}", low=low, high=high) for low, high in pairwise(edges))
    cut = Cut(schema=schema, nodes={attribute.name: nodes[attribute.name] for attribute in schema.predictors})
    assert cut.cells == cells
    return cut


def round_of(schema: Schema, cells: int) -> Tabulation:
    """The request of one round of the conditional score: all attributes at their finest, in each cell, by class."""
    cut = cut_into(schema, cells)
    return Tabulation(cut=cut, fine=tuple(cut.nodes))


@numba.njit(nogil=True)
def _add_words(words: np.ndarray) -> int:
    total = np.uint64(0)
    for word in words:
        total += word
    return total


def bandwidth_pass(blocks: Sequence[Block], threads: int) -> Callable[[], None]:
    """Add up all bytes of the blocks as 64-bit words, with the columns divided among the threads."""
    words = [column[: len(column) // 8 * 8].view(np.uint64) for block in blocks for column in block]

    def share(thread: int) -> None:
        for each in words[thread::threads]:
            _add_words(each)

    def run() -> None:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(share, range(threads)))

    return run


def group_by(blocks: Sequence[Block], schema: Schema) -> tuple[Callable[[], None], Callable[[], None]]:
    """Two ways to count in DuckDB: a `count(*) group by` for each attribute with the class, or all as grouping sets."""
    columns = [pa.array(np.concatenate(column)) for column in zip(*blocks, strict=True)]
    names = [f"c{place}" for place in range(len(columns))]
    connection = duckdb.connect()
    connection.register("arrow", pa.table(columns, names=names))
    connection.execute("CREATE TABLE coded AS SELECT * FROM arrow")
    places = {attribute.name: f"c{place}" for place, attribute in enumerate(schema.attributes)}
    label = places[str(schema.target)]
    others = [places[attribute.name] for attribute in schema.predictors]

    def one_by_one() -> None:
        for column in others:
            connection.sql(f"SELECT {column}, {label}, count(*) FROM coded GROUP BY ALL").fetchall()

    def grouping_sets() -> None:
        sets = ", ".join(f"({column}, {label})" for column in others)
        connection.sql(
            f"SELECT {', '.join(others)}, {label}, count(*) FROM coded GROUP BY GROUPING SETS ({sets})"
        ).fetchall()

    return one_by_one, grouping_sets


def timed(work: Callable[[], Any], repeats: int) -> Cost:
    work()
    spent = []
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        spent.append((time.process_time() - cpu, time.perf_counter() - wall))
    return Cost(cpu=median(each[0] for each in spent), wall=median(each[1] for each in spent))


def measure(blocks: list[Block], schema: Schema, repeats: int, log: Callable[[str], None]) -> dict[str, Cost]:
    """The cost of every way of counting, by name."""
    costs: dict[str, Cost] = {}

    def note(name: str, work: Callable[[], Any]) -> None:
        costs[name] = timed(work, repeats)
        log(f"{name}: {1000 * costs[name].cpu:.1f} ms of CPU, {1000 * costs[name].wall:.1f} ms")

    for threads in THREADS:
        note(f"words, {threads}", bandwidth_pass(blocks, threads))
        for cells in CELLS if threads == THREADS[0] else (1, 200):
            request = round_of(schema, cells)
            note(
                f"cells {cells}, {threads}",
                lambda request=request, threads=threads: count_blocks(blocks, request, schema, threads=threads),
            )
        note(f"words again, {threads}", bandwidth_pass(blocks, threads))
    one_by_one, grouping_sets = group_by(blocks, schema)
    note("DuckDB, one by one", one_by_one)
    note("DuckDB, grouping sets", grouping_sets)
    return costs
