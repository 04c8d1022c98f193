"""The operations that are timed, and the stopwatch: CPU seconds of this process with all its threads."""

import gc
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow.csv as pacsv
import pyarrow.parquet as pq

import scumble
from scumble.engines import ENGINES
from scumble.files.counts_file import write_table
from scumble.methods import method_named
from scumble.model.release import CellRelease
from scumble.model.schema import Schema
from scumble.privacy.holder import CentralHolder
from scumble.privacy.noise import PaidNoise
from scumble.sources import open_source

PUBLISHED: dict[str, Any] = {"epsilon": "1", "selection": "published", "score": "max", "rounds": 10}
CELLS: dict[str, Any] = {"epsilon": "1", "rounds": 8}
DEFAULT: dict[str, Any] = {"epsilon": "1"}
MODES = {"published mode": PUBLISHED, "cells alone": CELLS, "default mode": DEFAULT}


class Stopwatch:
    """CPU seconds of every repetition, by the name of the operation."""

    def __init__(self, log: Callable[[str], None]) -> None:
        self.seconds: dict[str, list[float]] = {}
        self._log = log

    def time(self, name: str, work: Callable[[], Any]) -> Any:
        gc.collect()
        began = time.process_time()
        result = work()
        spent = time.process_time() - began
        self.seconds.setdefault(name, []).append(spent)
        self._log(f"{name}: {spent:.2f} s")
        return result

    def median(self, name: str) -> float:
        return median(self.seconds[name])


@contextmanager
def scratch(work: Path):
    """A temporary folder."""
    folder = Path(tempfile.mkdtemp(dir=work))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def read_table(path: Path) -> None:
    """The baseline: read the same file into an Arrow table."""
    pq.read_table(path)


def read_csv(path: Path) -> None:
    pacsv.read_csv(path)


def release(path: Path, schema: Schema, work: Path, parameters: dict[str, Any], engine: str = "memory") -> CellRelease:
    """A release without table.csv, in a new folder with a new ledger."""
    with scratch(work) as folder:
        published = scumble.release(
            path,
            schema=schema,
            out=folder / "release",
            ledger=folder / "ledger.db",
            engine=engine,
            table=False,
            **parameters,
        )
        assert isinstance(published.release, CellRelease)
        return published.release


def write_rows(made: CellRelease, work: Path) -> int:
    """Write the table.csv of a release; return its number of rows."""
    with scratch(work) as folder:
        write_table(made, folder / "table.csv")
    return int(made.count.sum())


class _SelectionsDone(BaseException):
    """Ends a run when all selections are made and the cells are about to be counted."""


class _SelectionsOnly(CentralHolder):
    def measure(self, *arguments: Any, **named: Any) -> Any:
        raise _SelectionsDone


def choose(path: Path, schema: Schema, rounds: int) -> None:
    """Published mode from opening the source up to the final cells, excluding their count."""
    method = method_named("diffgen")
    parameters = method.parameters(**{**PUBLISHED, "rounds": rounds})
    engine = ENGINES["memory"].open(open_source(path).batches(schema.columns), schema)
    holder = _SelectionsOnly(engine=engine, noise=PaidNoise(), plan=method.plan(schema, parameters))
    try:
        method.run(schema, parameters, holder)
    except _SelectionsDone:
        engine.close()
    else:
        raise AssertionError("the method did not count any cells")
