"""The cost of the default release as a user sees it, beside that of reading the same file.

    python benchmarks/default_cost.py                   100,000 and 1 million rows; 200 attributes; a long grid
    python benchmarks/default_cost.py --before CLONE    the same with another clone of the repository, in columns before
    python benchmarks/default_cost.py --only rows --repeats 1

Every figure comes from a new process: reading the file with pyarrow, `scumble release` with all its files, and the
method alone on coded rows in memory (the second of two runs, so without compiling). Costs are CPU seconds and the peak
of resident memory, as multiples of those of reading. Of several runs, the one with the least CPU counts.
"""

import argparse
import json
import os
import runpy
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
SHAPES = {
    "rows": {"100,000 rows": ("adult", 100_000), "1 million rows": ("adult", 1_000_000)},
    "wide": {"200 attributes, 100,000 rows": ("adult-200", 100_000)},
    "grid": {"a grid of a million cells, 100,000 rows": ("grid", 100_000)},
}
"""By group and name: the table and its number of rows. `patients` is for tests."""
STEPS = ("read", "release", "method")


class Cost(NamedTuple):
    """Of one process, or of a part of it."""

    cpu: float
    megabytes: float


def prepare(table: str, rows: int, folder: Path) -> None:
    """Write the table and its schema. Done in a process of its own, so that the others start small."""
    import tables
    from harness import Tables
    from scumble.files.schema_file import write_schema

    if table == "grid":
        schema = tables.long_grid_schema()
        tables.write_long_grid(folder / "data.parquet", schema, rows)
    else:
        source = Tables(table, folder)
        schema = source.schema
        source.parquet(rows).rename(folder / "data.parquet")
    write_schema(schema, folder / "schema.yaml")


def read(folder: Path) -> Cost:
    import pyarrow.parquet as pq

    pq.read_table(folder / "data.parquet")
    return Cost(time.process_time(), peak())


def release(folder: Path) -> Cost:
    """`scumble release`, in this process."""
    with tempfile.TemporaryDirectory(dir=folder) as made:
        words = ["release", str(folder / "data.parquet"), "--schema", str(folder / "schema.yaml"), "--epsilon", "1"]
        sys.argv = ["scumble", *words, "--out", f"{made}/release", "--ledger", f"{made}/ledger.db", "--json"]
        output, sys.stdout = sys.stdout, sys.stderr
        try:
            runpy.run_module("scumble", run_name="__main__")
        except SystemExit as end:
            if end.code:
                raise
        sys.stdout = output
        return Cost(time.process_time(), peak())


def method(folder: Path) -> Cost:
    """The method alone, on coded rows in memory."""
    from scumble.engines import ENGINES
    from scumble.files.schema_file import read_schema
    from scumble.methods import method_named
    from scumble.privacy.holder import CentralHolder
    from scumble.privacy.noise import PaidNoise
    from scumble.sources import open_source

    schema = read_schema(folder / "schema.yaml")
    engine = ENGINES["memory"].open(open_source(folder / "data.parquet").batches(schema.columns), schema)
    diffgen = method_named("diffgen")
    parameters = diffgen.parameters(epsilon="1")
    plan = diffgen.plan(schema, parameters)
    for _ in range(2):
        began = time.process_time()
        diffgen.run(schema, parameters, CentralHolder(engine=engine, noise=PaidNoise(), plan=plan))
        spent = time.process_time() - began
    return Cost(spent, peak())


def peak() -> float:
    """The most resident memory of this process so far, in megabytes.

    Not `ru_maxrss`: a child process inherits the maximum of its parent.
    """
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def measured(clone: Path, step: str, folder: Path, repeats: int) -> Cost:
    """The least CPU of several new processes, with the scumble of a clone."""
    environment = {**os.environ, "PYTHONPATH": str(clone / "src")}
    found = []
    for _ in range(repeats):
        words = [sys.executable, str(Path(__file__)), "--step", step, str(folder)]
        done = subprocess.run(words, env=environment, check=True, capture_output=True)
        found.append(Cost(*json.loads(done.stdout.splitlines()[-1])))
    return min(found)


def line(name: str, costs: Mapping[str, Cost]) -> str:
    """
    >>> costs = {"read": Cost(0.5, 200.0), "a release": Cost(2.0, 500.0)}
    >>> line("ten rows", costs)
    '| ten rows | 0.50 s, 200 MB | 2.00 s (4.0x), 500 MB (2.5x) |'
    """
    base = costs["read"]
    cells = [f"{base.cpu:.2f} s, {base.megabytes:.0f} MB"]
    for step, cost in costs.items():
        if step != "read":
            cpu = f"{cost.cpu:.2f} s ({cost.cpu / base.cpu:.1f}x)"
            cells.append(f"{cpu}, {cost.megabytes:.0f} MB ({cost.megabytes / base.megabytes:.1f}x)")
    return f"| {name} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, help="another clone of the repository to compare with")
    parser.add_argument("--only", choices=SHAPES, nargs="+", default=list(SHAPES), help="the tables to measure")
    parser.add_argument("--repeats", type=int, default=3, help="processes for each figure (default: %(default)s)")
    parser.add_argument("--data", help="another table than Adult: patients")
    parser.add_argument("--rows", type=int, help="another number of rows for all tables")
    options = parser.parse_args()
    clones = {"before": options.before.resolve()} if options.before else {}
    clones["now"] = ROOT
    columns = [f"{step}, {when}" for step in STEPS[1:] for when in clones]
    print(f"| table | read | {' | '.join(columns)} |", f"|{'---|' * (2 + len(columns))}", sep="\n", flush=True)
    for group in options.only:
        for name, (table, rows) in SHAPES[group].items():
            with tempfile.TemporaryDirectory() as made:
                folder = Path(made)
                named = table.replace("adult", options.data or "adult")
                words = [sys.executable, str(Path(__file__)), "--prepare", named, str(options.rows or rows), made]
                environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
                subprocess.run(words, env=environment, check=True, stderr=subprocess.DEVNULL)
                costs = {"read": measured(ROOT, "read", folder, options.repeats)}
                for step in STEPS[1:]:
                    for when, clone in clones.items():
                        costs[f"{step}, {when}"] = measured(clone, step, folder, options.repeats)
            print(line(name, costs), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--prepare"]:
        prepare(sys.argv[2], int(sys.argv[3]), Path(sys.argv[4]))
    elif sys.argv[1:2] == ["--step"]:
        cost = {"read": read, "release": release, "method": method}[sys.argv[2]](Path(sys.argv[3]))
        print(json.dumps(cost))
    else:
        main()
