"""Times whole releases in this process, alternating with reading the same file."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import growth
import work
from figures import Figure
from harness import MILLION, SMALL, Tables, log, ratio, shown

WIDE_REPEATS = 3
ROUNDS = (2, 4, 8, 16)


def speed(source: Tables, rows: tuple[int, ...], repeats: int, folder: Path) -> tuple[work.Stopwatch, list[Figure]]:
    """Everything that is timed in this process; what is compared alternates."""
    stopwatch = work.Stopwatch(log)
    schema, small = source.schema, source.parquet(SMALL)
    for parameters in work.MODES.values():
        for path in (small, source.csv(SMALL)):
            work.release(path, schema, folder, parameters)
    work.release(small, schema, folder, work.PUBLISHED, "duckdb")
    for count in rows:
        path, name = source.parquet(count), shown(count)
        work.read_table(path)
        for _ in range(repeats):
            stopwatch.time(f"read_table, {name}", lambda path=path: work.read_table(path))
            for mode in ("published mode", "cells alone"):
                stopwatch.time(
                    f"{mode}, {name}", lambda path=path, mode=mode: work.release(path, schema, folder, work.MODES[mode])
                )
            stopwatch.time(f"h = 4, {name}", lambda path=path: work.choose(path, schema, 4))
            stopwatch.time(f"h = 16, {name}", lambda path=path: work.choose(path, schema, 16))
    first = rows[0]
    text, path, name = source.csv(first), source.parquet(first), shown(first)
    work.read_csv(text)
    made = work.release(path, schema, folder, work.PUBLISHED)
    for _ in range(repeats):
        stopwatch.time(f"read_csv, {name}", lambda: work.read_csv(text))
        stopwatch.time(f"default mode, {name}", lambda: work.release(path, schema, folder, work.DEFAULT))
        stopwatch.time(f"published from CSV, {name}", lambda: work.release(text, schema, folder, work.PUBLISHED))
        stopwatch.time(f"in DuckDB, {name}", lambda: work.release(path, schema, folder, work.PUBLISHED, "duckdb"))
        stopwatch.time(f"table.csv, {name}", lambda: work.write_rows(made, folder))
    return stopwatch, [*_with_limit(stopwatch, rows), *_without_limit(stopwatch, rows[0], int(made.count.sum()))]


def _with_limit(stopwatch: work.Stopwatch, rows: tuple[int, ...]) -> list[Figure]:
    found = []
    for mode, rounds, limit in (("published mode", ", h = 10", 2), ("cells alone", ", 8 rounds", 4)):
        for count in rows:
            found.append(
                ratio(stopwatch, f"{mode}, {shown(count)}", f"read_table, {shown(count)}", mode + rounds, limit)
            )
    for count in rows:
        label = "published mode up to the final cells, h = 16 over h = 4"
        found.append(ratio(stopwatch, f"h = 16, {shown(count)}", f"h = 4, {shown(count)}", label, 1.5))
    if len(rows) == 2:
        less, more = map(shown, rows)
        for mode in ("published mode", "cells alone"):
            found.append(ratio(stopwatch, f"{mode}, {more}", f"{mode}, {less}", f"{mode}, growth", 12))
    return found


def _without_limit(stopwatch: work.Stopwatch, rows: int, written: int) -> list[Figure]:
    """Figures without a limit, for information."""
    name = shown(rows)
    per_row = stopwatch.median(f"table.csv, {name}") / max(written, 1)
    return [
        ratio(stopwatch, f"default mode, {name}", f"read_table, {name}", "default mode, with detail", None),
        ratio(stopwatch, f"published from CSV, {name}", f"read_csv, {name}", "published mode from CSV", None),
        ratio(stopwatch, f"in DuckDB, {name}", f"published mode, {name}", "`--engine duckdb` over `memory`", None),
        Figure(
            what="`table.csv`, a million rows of it", measured=per_row * MILLION, unit="s", detail="timed separately"
        ),
    ]


def wide(source: Tables, attributes: Sequence[int], rows: int, folder: Path) -> tuple[list[Figure], growth.Curves]:
    """Releases of tables with more attributes, alternating with reading."""
    stopwatch = work.Stopwatch(log)
    lines: dict[str, list[tuple[float, float]]] = {name: [] for name in ("read_table", *work.MODES)}
    found = []
    for number in (len(source.schema.predictors), *attributes):
        table = source if number == len(source.schema.predictors) else Tables(f"{source.data}-{number}", folder)
        path = table.parquet(rows)
        jobs = {"read_table": partial(work.read_table, path)}
        jobs |= {name: partial(work.release, path, table.schema, folder, mode) for name, mode in work.MODES.items()}
        for _ in range(WIDE_REPEATS):
            for name, job in jobs.items():
                stopwatch.time(f"{name}, {number} attributes", job)
        for name in jobs:
            lines[name].append((number, stopwatch.median(f"{name}, {number} attributes")))
        if number != len(source.schema.predictors):
            for name in work.MODES:
                cost, baseline = f"{name}, {number} attributes", f"read_table, {number} attributes"
                found.append(ratio(stopwatch, cost, baseline, f"{name}, {shown(rows)}", None))
    return found, lines


def by_rounds(source: Tables, rows: int, folder: Path) -> growth.Curves:
    stopwatch = work.Stopwatch(log)
    for rounds in ROUNDS:
        for _ in range(WIDE_REPEATS):
            parameters = {**work.CELLS, "rounds": rounds}
            stopwatch.time(
                f"{rounds}", lambda p=parameters: work.release(source.parquet(rows), source.schema, folder, p)
            )
    return {"cells alone": [(rounds, stopwatch.median(f"{rounds}")) for rounds in ROUNDS]}
