"""What reading and coding a table costs, source by source, compared with another checkout of this repository.

python benchmarks/reading.py --before OTHER/src         both, in turns, as one table
python benchmarks/reading.py                            this checkout alone

Each figure is the CPU time of one release in published mode, with two rounds and without table.csv. Most of such a
release is reading and coding. It runs in a fresh process, after a small release of the same source, so that everything
is imported and compiled. Frames are built before the clock starts. The other checkout must have the same public
functions.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness import Tables

Opened = Callable[[Path], Any]


def _pandas(path: Path) -> Any:
    import pandas as pd

    return pd.read_parquet(path)


def _pandas_objects(path: Path) -> Any:
    return _pandas(path).astype(object)


def _polars(path: Path) -> Any:
    import polars as pl

    return pl.read_parquet(path)


def _arrow(path: Path) -> Any:
    import pyarrow.parquet as pq

    return pq.read_table(path)


SOURCES: dict[str, tuple[str, Opened]] = {
    "CSV": ("csv", str),
    "Parquet": ("parquet", str),
    "Arrow table": ("parquet", _arrow),
    "pandas frame": ("parquet", _pandas),
    "pandas frame of objects": ("parquet", _pandas_objects),
    "polars frame": ("parquet", _polars),
    "DuckDB table": ("duckdb", lambda path: f"{path}::people"),
}


def child(name: str, path: Path, small: Path, schema: Path) -> None:
    """Print the CPU seconds of one release."""
    import scumble

    opened = SOURCES[name][1]
    with tempfile.TemporaryDirectory() as folder:

        def release(data: Any, out: str) -> None:
            place = Path(folder)
            scumble.release(
                data,
                schema=schema,
                method="diffgen",
                epsilon="1",
                selection="published",
                score="max",
                rounds=2,
                out=place / out,
                dataset=out,
                ledger=place / "ledger.db",
                table=False,
            )

        release(opened(small), "small")
        data = opened(path)
        began = time.process_time()
        release(data, "large")
        print(json.dumps(time.process_time() - began))


def duckdb_file(path: Path, parquet: Path) -> Path:
    """The Parquet table as a table of a DuckDB file, made once."""
    if not path.exists():
        import duckdb

        with duckdb.connect(str(path)) as connection:
            connection.execute("CREATE TABLE people AS SELECT * FROM read_parquet(?)", [str(parquet)])
    return path


def measure(words: list[str], source: Path) -> float:
    environment = {**os.environ, "PYTHONPATH": str(source.resolve())}
    done = subprocess.run(
        [sys.executable, __file__, *words], check=True, capture_output=True, text=True, env=environment
    )
    return float(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cache = Path(tempfile.gettempdir()) / "scumble-bench"
    parser.add_argument("--before", type=Path, help="the src folder of another checkout")
    parser.add_argument("--work", type=Path, default=cache, help="folder for tables (default: %(default)s)")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5, help="runs of which the median is taken")
    parser.add_argument("--child", nargs=4, metavar=("SOURCE", "TABLE", "SMALL", "SCHEMA"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        name, *paths = options.child
        child(name, *map(Path, paths))
        return
    compare(options)


def compare(options: argparse.Namespace) -> None:
    # Not at the top: these modules need this checkout, and a child may run the other one.
    from harness import SMALL, Tables, shown
    from scumble.files.schema_file import write_schema

    options.work.mkdir(parents=True, exist_ok=True)
    made = Tables("adult", options.work)
    schema = options.work / "reading-schema.yaml"
    write_schema(made.schema, schema)
    here = Path(__file__).parents[1] / "src"
    trees = {"before": options.before, "now": here} if options.before else {"now": here}
    print(f"CPU seconds of a release with two rounds, {shown(options.rows)}, medians of {options.repeats}\n")
    print("| source | " + " | ".join(trees) + (" | now / before |" if options.before else " |"))
    print("|---|" + "---:|" * (len(trees) + bool(options.before)))
    for name, (suffix, _) in SOURCES.items():
        paths = [_table(made, rows, suffix) for rows in (options.rows, SMALL)]
        seconds: dict[str, list[float]] = {tree: [] for tree in trees}
        for _ in range(options.repeats):
            for tree, source in trees.items():
                seconds[tree].append(measure(["--child", name, *map(str, paths), str(schema)], source))
        medians = {tree: median(each) for tree, each in seconds.items()}
        ratio = f" | {medians['now'] / medians['before']:.2f} |" if options.before else " |"
        print(f"| {name} | " + " | ".join(f"{each:.2f}" for each in medians.values()) + ratio, flush=True)


def _table(made: "Tables", rows: int, suffix: str) -> Path:
    parquet = made.parquet(rows)
    if suffix == "parquet":
        return parquet
    return made.csv(rows) if suffix == "csv" else duckdb_file(parquet.with_suffix(".duckdb"), parquet)


if __name__ == "__main__":
    main()
