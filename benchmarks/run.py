"""What a release costs, against what reading the same file costs. `make bench`.

    make bench                              1 and 10 million rows, docs/benchmarks.md
    make bench ARGS=--quick                 1 million rows
    make bench ARGS="--repeats 9 --work /somewhere/large"

Exit code 4 when a limit is missed.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median

import figures
import tables
import work
from figures import Figure
from scumble.errors import ScumbleError

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "benchmarks.md"
MILLION = 1_000_000
SMALL = 20_000


def tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="What a release costs, against what reading the same file costs.")
    cache = Path(tempfile.gettempdir()) / "scumble-bench"
    parser.add_argument("--work", type=Path, default=cache, help="where tables and results go (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=5, help="the median of how many (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="1 million rows only; docs/benchmarks.md is left alone")
    parser.add_argument("--data", choices=("adult", "patients"), default="adult", help="what is blown up")
    parser.add_argument("--rows", type=int, nargs=2, default=(MILLION, 10 * MILLION), help="the two sizes")
    parser.add_argument("--page", type=Path, help="where the page goes (default: docs/benchmarks.md)")
    parser.add_argument("--no-limits", action="store_true", help="report, but hold nothing against a limit")
    return parser.parse_args()


class Tables:
    """The blown-up tables, made where the cache has none."""

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
            tell(f"making {path}")
            write(path)
        return path


def speed(source: Tables, rows: tuple[int, ...], repeats: int, folder: Path) -> tuple[work.Stopwatch, list[Figure]]:
    """Everything that is timed in this process, in turns."""
    watch = work.Stopwatch(tell)
    schema, small = source.schema, source.parquet(SMALL)
    for parameters in (work.PUBLISHED, work.DEFAULT):
        for path in (small, source.csv(SMALL)):
            work.release(path, schema, folder, parameters)
    work.release(small, schema, folder, work.PUBLISHED, "duckdb")
    for count in rows:
        path, name = source.parquet(count), shown(count)
        work.read_table(path)
        for _ in range(repeats):
            watch.time(f"read_table, {name}", lambda path=path: work.read_table(path))
            watch.time(f"published, {name}", lambda path=path: work.release(path, schema, folder, work.PUBLISHED))
            watch.time(f"default, {name}", lambda path=path: work.release(path, schema, folder, work.DEFAULT))
            watch.time(f"h = 4, {name}", lambda path=path: work.choose(path, schema, 4))
            watch.time(f"h = 16, {name}", lambda path=path: work.choose(path, schema, 16))
    first = rows[0]
    text, path, name = source.csv(first), source.parquet(first), shown(first)
    work.read_csv(text)
    made = work.release(path, schema, folder, work.PUBLISHED)
    for _ in range(repeats):
        watch.time(f"read_csv, {name}", lambda: work.read_csv(text))
        watch.time(f"published from CSV, {name}", lambda: work.release(text, schema, folder, work.PUBLISHED))
        watch.time(f"published in DuckDB, {name}", lambda: work.release(path, schema, folder, work.PUBLISHED, "duckdb"))
        watch.time(f"table.csv, {name}", lambda: work.write_rows(made, folder))
    return watch, [*_limited(watch, rows), *_told(watch, rows[0], int(made.count.sum()))]


def _limited(watch: work.Stopwatch, rows: tuple[int, ...]) -> list[Figure]:
    found = []
    for mode, label, limit in (("published", "published mode, h = 10", 2), ("default", "default mode, 8 rounds", 4)):
        for count in rows:
            found.append(ratio(watch, f"{mode}, {shown(count)}", f"read_table, {shown(count)}", label, limit))
    for count in rows:
        label = "published mode up to the final cells, h = 16 over h = 4"
        found.append(ratio(watch, f"h = 16, {shown(count)}", f"h = 4, {shown(count)}", label, 1.5))
    if len(rows) == 2:
        less, more = map(shown, rows)
        for mode in ("published", "default"):
            found.append(ratio(watch, f"{mode}, {more}", f"{mode}, {less}", f"{mode} mode, growth", 12))
    return found


def _told(watch: work.Stopwatch, rows: int, written: int) -> list[Figure]:
    """For information: no limit was set."""
    name = shown(rows)
    per_row = watch.median(f"table.csv, {name}") / max(written, 1)
    return [
        ratio(watch, f"published from CSV, {name}", f"read_csv, {name}", "published mode from CSV", None),
        ratio(watch, f"published in DuckDB, {name}", f"published, {name}", "`--engine duckdb` over `memory`", None),
        Figure(what="`table.csv`, a million rows of it", measured=per_row * MILLION, unit="s", detail="timed apart"),
    ]


def ratio(watch: work.Stopwatch, cost: str, yardstick: str, what: str, limit: float | None) -> Figure:
    above, below = watch.median(cost), watch.median(yardstick)
    return Figure(
        what=f"{what} ({cost.rpartition(', ')[2]})",
        measured=above / below,
        unit="x",
        limit=limit,
        detail=f"{above:.2f} s; {yardstick}: {below:.2f} s",
    )


def memory(source: Tables, rows: tuple[int, ...], folder: Path) -> list[Figure]:
    """Peaks of fresh processes."""
    found = []
    for mode in ("published", "default"):
        count = rows[-1]
        above, _ = peak(source, count, "memory", mode, folder)
        table = tables.coded_bytes(source.schema, count)
        found.append(
            Figure(
                what=f"peak memory, {mode} mode ({shown(count)})",
                measured=above / table,
                unit="x",
                limit=3 if count >= 10 * MILLION else None,
                detail=f"{above / 1e6:,.0f} MB; the coded table: {table / 1e6:,.0f} MB",
            )
        )
    for count in rows:
        above, seconds = peak(source, count, "duckdb", "default", folder)
        found.append(
            Figure(
                what=f"peak memory, `--engine duckdb`, default mode ({shown(count)})",
                measured=above / 1e6,
                unit="MB",
                limit=2000,
                detail=f"{seconds:.1f} s",
            )
        )
    return found


def peak(source: Tables, rows: int, engine: str, mode: str, folder: Path) -> tuple[int, float]:
    tell(f"peak memory: {engine}, {mode}, {shown(rows)}")
    script = [sys.executable, str(Path(__file__).with_name("peak.py"))]
    job = [source.data, str(source.parquet(rows)), engine, mode, str(folder)]
    done = subprocess.run([*script, *job], check=True, stdout=subprocess.PIPE, text=True)
    answer = json.loads(done.stdout)
    return answer["above_imports"], answer["cpu_seconds"]


def start_up(source: Tables, repeats: int, folder: Path) -> list[Figure]:
    """What a command costs that reads no rows."""
    from scumble.files.schema_file import write_schema

    found = []
    with work.scratch(folder) as scratch:
        schema = scratch / "schema.yaml"
        write_schema(source.schema, schema)
        for verb, options in (("--help", []), ("plan", ["--schema", str(schema), "--epsilon", "1"])):
            spent = []
            for _ in range(repeats):
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                command = [sys.executable, "-m", "scumble", verb, *options]
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
            found.append(Figure(what=f"`scumble {verb}`", measured=median(spent), unit="s", detail="a new process"))
    return found


def shown(rows: int) -> str:
    return f"{rows // MILLION} M rows" if rows >= MILLION else f"{rows:,} rows"


def main() -> int:
    options = arguments()
    options.work.mkdir(parents=True, exist_ok=True)
    try:
        source = Tables(options.data, options.work)
    except ScumbleError as error:
        tell(f"error: {error}")
        return error.exit_code
    rows = tuple(options.rows[:1] if options.quick else options.rows)
    watch, found = speed(source, rows, options.repeats, options.work)
    found += memory(source, rows, options.work)
    found += start_up(source, options.repeats, options.work)
    if options.no_limits:
        found = [replace(figure, limit=None) for figure in found]
    print(figures.table(found))
    result = json.dumps(figures.as_json(found, watch.seconds), indent=2)
    (options.work / "results.json").write_text(result + "\n", encoding="utf-8")
    page = options.page or (None if options.quick or options.data != "adult" else PAGE)
    if page is not None:
        page.parent.mkdir(exist_ok=True)
        page.write_text(figures.page(found, f"Medians of {options.repeats}."), encoding="utf-8")
    return figures.exit_code(found)


if __name__ == "__main__":
    sys.exit(main())
