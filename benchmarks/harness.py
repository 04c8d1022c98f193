"""Shared by all parts of the benchmark: enlarged tables that are made once, ratios of timings, progress messages."""

import sys
from collections.abc import Callable
from pathlib import Path

import tables
import work
from figures import Figure

MILLION = 1_000_000
SMALL = 20_000


def log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def shown(rows: int) -> str:
    return f"{rows // MILLION} M rows" if rows >= MILLION else f"{rows:,} rows"


def ratio(stopwatch: work.Stopwatch, cost: str, baseline: str, what: str, limit: float | None) -> Figure:
    above, below = stopwatch.median(cost), stopwatch.median(baseline)
    return Figure(
        what=f"{what} ({cost.rpartition(', ')[2]})",
        measured=above / below,
        unit="x",
        limit=limit,
        detail=f"{above:.2f} s; {baseline}: {below:.2f} s",
    )


class Tables:
    """The enlarged tables, made once and cached in a folder."""

    def __init__(self, data: str, folder: Path) -> None:
        self.data, self._folder = data, folder
        self.records, self.schema = tables.base(data)

    def parquet(self, rows: int) -> Path:
        return self._made(rows, "parquet", lambda path: tables.write_parquet(path, self.records, self.schema, rows))

    def csv(self, rows: int) -> Path:
        return self._made(rows, "csv", lambda path: tables.write_csv(path, self.parquet(rows)))

    def _made(self, rows: int, suffix: str, write: Callable[[Path], None]) -> Path:
        path = self._folder / f"{self.data}-{rows}-{tables.VERSION}.{suffix}"
        if not path.exists():
            log(f"making {path}")
            write(path)
        return path
