"""Bounding the rows of persons: CPU time and peak memory of a release with and without `person:`, in new processes.

python benchmarks/persons.py --rows 10000000

The table is generated: visits of patients, three a person on average, with a few persons who have many. Each release is
made in a process of its own, without writing the rows of the published table. The limit is three times the CPU time of
the same release without `person:`.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from peak import resident
from scumble import release
from scumble.demo.patients import patients, patients_schema

LIMIT = 3
MILLION = 1_000_000
ENGINES = ("memory", "duckdb")


def write_visits(path: Path, rows: int) -> None:
    """Visits as Parquet, a million at a time. The ids are text; the last of them have most visits."""
    draw = np.random.default_rng(1)
    people = max(rows // 3, 1)
    writer = None
    for start in range(0, rows, MILLION):
        count = min(MILLION, rows - start)
        numbers = (people * draw.random(count) ** 0.9).astype(np.int64)
        ids = pa.array(np.char.add("patient-", np.char.zfill(numbers.astype(str), 9)))
        part = patients(count, seed=start // MILLION + 1).drop_columns("name").append_column("patient", ids)
        writer = writer or pq.ParquetWriter(path, part.schema)
        writer.write_table(part)
    if writer is not None:
        writer.close()


def measure(path: Path, engine: str, bound: int) -> dict[str, float]:
    """One release in this process; a bound of 0 means without `person:`."""
    schema = patients_schema()
    if bound:
        schema = replace(schema, person="patient", rows_each_at_most=bound)
    with tempfile.TemporaryDirectory() as folder:
        began, wall = time.process_time(), time.perf_counter()
        common = {"out": Path(folder) / "out", "ledger": Path(folder) / "ledger.db", "epsilon": "1"}
        release(path, schema=schema, engine=engine, table=False, **common)
        seconds, elapsed = time.process_time() - began, time.perf_counter() - wall
    _, peak = resident()
    return {"cpu_seconds": seconds, "wall_seconds": elapsed, "peak_bytes": peak}


def measured_apart(path: Path, engine: str, bound: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--measure", str(path), "--engines", engine, "--bound", str(bound)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    answer: dict[str, float] = json.loads(done.stdout)
    return answer


def compare(rows: int, bound: int, engines: list[str], repeats: int, folder: Path) -> bool:
    """Print a table of Markdown; return whether every engine is within the limit."""
    path = folder / f"visits-{rows}.parquet"
    if not path.exists():
        write_visits(path, rows)
    print(f"| {rows:,} rows, at most {bound} a person | CPU | without | ratio | peak memory | without |")
    print("|---|---|---|---|---|---|")
    within = True
    for engine in engines:
        # The first release of all compiles the loops; it is not measured.
        measured_apart(path, engine, bound)
        pairs = [[measured_apart(path, engine, each) for each in (bound, 0)] for _ in range(repeats)]
        bounded, plain = (min((pair[place] for pair in pairs), key=lambda run: run["cpu_seconds"]) for place in (0, 1))
        ratio = bounded["cpu_seconds"] / plain["cpu_seconds"]
        within = within and ratio <= LIMIT
        seconds = f"{bounded['cpu_seconds']:.1f} s | {plain['cpu_seconds']:.1f} s | {ratio:.2f}"
        memory = f"{bounded['peak_bytes'] / 1e6:,.0f} MB | {plain['peak_bytes'] / 1e6:,.0f} MB"
        print(f"| {engine} | {seconds} | {memory} |", flush=True)
    print(f"Limit: {LIMIT} times the CPU time without `person:`.")
    return within


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10 * MILLION)
    parser.add_argument("--bound", type=int, default=5, help="rows_each_at_most")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="where the generated table is kept (default: a temporary folder)")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure is not None:
        print(json.dumps(measure(given.measure, given.engines[0], given.bound)))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        if not compare(given.rows, given.bound, given.engines, given.repeats, folder):
            raise SystemExit(1)


if __name__ == "__main__":
    main()
