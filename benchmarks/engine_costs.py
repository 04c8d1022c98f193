"""Costs of the engines: counting compared with reading, peak memory of new processes, Spark on two workers."""

import json
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import counting
import growth
import tables
import work
from figures import Figure, Section
from harness import MILLION, SMALL, Tables, log, shown

ONE_WAY, CONDITIONAL = 2.5, 8
"""Limits, as multiples of the cost of reading the same bytes."""
COUNTING_TEXT = """\
The first limit is missed because of the work per row. Several attributes are counted in one joint table, so a row of
the one-way tables increments five counters instead of fourteen. Each counter is read, incremented and written back by
itself, while adding up 64-bit words handles eight codes at once and only waits for memory. A round with 200 cells
increments eleven counters per row, because most joint tables by cell would not fit the cache."""
SPARK_TEXT = """\
Times are wall-clock seconds, because the work is done by other processes: two executors of one core each on this
machine. A round is always one job; on small data its time is that of starting tasks. The engine counts each partition
with the kernels of the other engines and adds the tables up in a shuffle. `GROUPING SETS` in SQL gives the same
counts."""


def count(source: Tables, rows: int, repeats: int) -> tuple[dict[str, counting.Cost], list[Figure]]:
    """Counting coded rows in memory, compared with reading them and with DuckDB."""
    blocks = counting.coded_rows(source.parquet(rows), source.schema)
    costs = counting.measure(blocks, source.schema, max(repeats, 5), log)
    found = []
    for threads in counting.THREADS:
        words = min(costs[f"words, {threads}"].cpu, costs[f"words again, {threads}"].cpu)
        for cells, what, limit in ((1, "one-way tables", ONE_WAY), (200, "a round with 200 cells", CONDITIONAL)):
            cost = costs[f"cells {cells}, {threads}"]
            found.append(
                Figure(
                    what=f"{what}, threads: {threads} ({shown(rows)})",
                    measured=cost.cpu / words,
                    unit="x",
                    limit=limit if rows >= 10 * MILLION else None,
                    detail=f"{1000 * cost.cpu:.0f} ms of CPU, {1000 * cost.wall:.0f} ms wall-clock; the same bytes "
                    f"added up as 64-bit words: {1000 * words:.0f} ms of CPU",
                )
            )
    mine = costs["cells 1, 2"]
    for name, what in (("one by one", "`count(*) group by` for each attribute"), ("grouping sets", "`GROUPING SETS`")):
        cost = costs[f"DuckDB, {name}"]
        found.append(
            Figure(
                what=f"one-way tables over DuckDB's {what} ({shown(rows)})",
                measured=mine.cpu / cost.cpu,
                unit="x",
                detail=f"{1000 * mine.cpu:.0f} ms; DuckDB over the same coded rows in memory: {1000 * cost.cpu:.0f} ms",
            )
        )
    return costs, found


def memory(source: Tables, rows: tuple[int, ...], large: bool, folder: Path) -> tuple[list[Figure], growth.Curves]:
    """Peak memory of new processes, and their CPU seconds."""
    found = []
    for mode in work.MODES:
        count = rows[-1]
        above, _ = peak(source, count, "memory", mode, folder)
        table = tables.coded_bytes(source.schema, count)
        limited = count >= 10 * MILLION and mode != "default mode"
        found.append(
            Figure(
                what=f"peak memory, {mode} ({shown(count)})",
                measured=above / table,
                unit="x",
                limit=3 if limited else None,
                detail=f"{above / 1e6:,.0f} MB; the coded table: {table / 1e6:,.0f} MB",
            )
        )
    curves: growth.Curves = {}
    for mode in ("cells alone", "default mode"):
        line = curves[f"{mode} in DuckDB"] = []
        for count in (*rows, *([10 * rows[-1]] if large else [])):
            above, seconds = peak(source, count, "duckdb", mode, folder)
            line.append((count / MILLION, seconds))
            found.append(
                Figure(
                    what=f"peak memory, `--engine duckdb`, {mode} ({shown(count)})",
                    measured=above / 1e6,
                    unit="MB",
                    limit=2000,
                    detail=f"{seconds:.1f} s of CPU",
                )
            )
        if large:
            (_, less), (_, more) = line[-2:]
            found.append(
                Figure(
                    what=f"`--engine duckdb`, {mode}, growth ({shown(10 * rows[-1])})",
                    measured=more / less,
                    unit="x",
                    limit=12,
                    detail=f"{more:.1f} s of CPU; {shown(rows[-1])}: {less:.1f} s",
                )
            )
    return found, curves


def peak(source: Tables, rows: int, engine: str, mode: str, folder: Path) -> tuple[int, float]:
    log(f"peak memory: {engine}, {mode}, {shown(rows)}")
    script = [sys.executable, str(Path(__file__).with_name("peak.py"))]
    job = [source.data, str(source.parquet(rows)), engine, mode, str(folder)]
    done = subprocess.run([*script, *job], check=True, stdout=subprocess.PIPE, text=True)
    answer = json.loads(done.stdout)
    return answer["above_imports"], answer["cpu_seconds"]


def spark(source: Tables, rows: tuple[int, ...], repeats: int) -> tuple[Section, dict[str, Any]] | None:
    """Spark on two workers of this machine, if it is installed."""
    if find_spec("pyspark") is None or shutil.which("java") is None:
        log("Spark is not installed, so it is left out. `make test-spark` installs it.")
        return None
    script = [sys.executable, str(Path(__file__).with_name("spark_rounds.py"))]
    paths = [str(source.parquet(number)) for number in (SMALL, rows[0], rows[-1])]
    job = [source.data, *paths, str(max(repeats, 3))]
    log("Spark on two workers")
    done = subprocess.run([*script, *job], check=True, stdout=subprocess.PIPE, text=True)
    answer = json.loads(done.stdout.splitlines()[-1])
    empty = answer["empty job"]
    found = [
        Figure(what="Spark: start of a session", measured=answer["start"], unit="s", detail=answer["master"]),
        Figure(what="Spark: an empty job", measured=empty, unit="s", detail="two partitions, one element"),
    ]
    for name in ("small", "large", *(["largest"] if len(rows) > 1 else [])):
        count = answer[f"rows {name}"]
        found.append(
            Figure(
                what=f"Spark: reading and coding ({shown(count)})",
                measured=answer[f"open {name}"],
                unit="s",
                detail="includes starting the Python workers" if name == "small" else "",
            )
        )
        for cells in (1, 200):
            cost = answer[f"round {name} {cells}"]
            what = "one-way tables" if cells == 1 else f"a round with {cells} cells"
            found.append(
                Figure(
                    what=f"Spark: {what} ({shown(count)})",
                    measured=cost,
                    unit="s",
                    detail=f"{cost / empty:.1f} empty jobs",
                )
            )
        if name == "largest":
            continue
        sets = answer[f"grouping sets {name} 1"]
        found.append(
            Figure(
                what=f"Spark: one-way tables by SQL's `GROUPING SETS` ({shown(count)})",
                measured=sets,
                unit="s",
                detail=f"{sets / answer[f'round {name} 1']:.1f} times the engine's round",
            )
        )
    return Section(title="Spark", figures=found, text=SPARK_TEXT), answer
