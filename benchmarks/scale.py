"""What a billion and a trillion rows would cost on a cluster, from what `make bench` measured on two executors.

    python benchmarks/scale.py [RESULTS.json]

Prints the constants and the tables of docs/scale.md.
"""

import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

CORES = 2
"""Executors of one core each, as in `spark_rounds`."""
ROUNDS = 9
"""Eight rounds and the final cells."""
BYTES_PER_ROW = 16
"""Adult's coded rows: 14 attributes and a class."""
NETWORK = 1.25e9
"""Bytes a second that the driver receives: ten gigabits. Assumed, not measured."""
TABLES = {"200 cells": 200 * 2 * 1_497 * 8, "10,000 cells": 10_000 * 2 * 1_497 * 8}
"""Bytes of one round's tables: cells x classes x values of all attributes x 8."""


@dataclass(frozen=True, kw_only=True)
class Constants:
    """Seconds."""

    job: float
    code: float
    """To read, code and keep a row, on one core."""
    count: float
    """To count a row once, on one core."""


def constants(spark: dict[str, float]) -> Constants:
    """Differences between two sizes, so that starting tasks and workers does not count."""
    more, less = ("largest", "large") if "open largest" in spark else ("large", "small")
    rows = spark[f"rows {more}"] - spark[f"rows {less}"]
    return Constants(
        job=spark["empty job"],
        code=max(spark[f"open {more}"] - spark[f"open {less}"], 0.0) * CORES / rows,
        count=max(spark[f"round {more} 200"] - spark[f"round {less} 200"], 0.0) * CORES / rows,
    )


def release(rows: float, cores: int, known: Constants, table: int) -> dict[str, float]:
    """Seconds of each part of a release. Tables are added up by a tree of executors; the driver receives one."""
    return {
        "read and code": rows * known.code / cores,
        "count": ROUNDS * rows * known.count / cores,
        "jobs": ROUNDS * known.job,
        "tables to the driver": ROUNDS * table / NETWORK,
    }


def main(results: Path) -> None:
    known = constants(json.loads(results.read_text(encoding="utf-8"))["spark"])
    print(
        f"An empty job {known.job:.2f} s; a row read, coded and kept {1e6 * known.code:.2f} us, counted once "
        f"in a round with 200 cells {1e9 * known.count:.0f} ns, each on one core.\n"
    )
    for label, rows in (("A billion rows", 1e9), ("A trillion rows", 1e12)):
        print(f"| {label}, cores | read and code | count, 9 rounds | jobs | tables to the driver, 200 cells | 10,000 |")
        print("|---:|---:|---:|---:|---:|---:|")
        for cores in (10, 100, 1_000, 10_000):
            parts = release(rows, cores, known, TABLES["200 cells"])
            wide = release(rows, cores, known, TABLES["10,000 cells"])["tables to the driver"]
            shown = [*(_shown(seconds) for seconds in parts.values()), _shown(wide)]
            print(f"| {cores:,} | {' | '.join(shown)} |")
        print(f"\nCoded rows: {rows * BYTES_PER_ROW / 1e9:,.0f} GB over all executors.\n")


def _shown(seconds: float) -> str:
    """
    >>> _shown(0.5), _shown(90), _shown(7200)
    ('0.5 s', '1.5 min', '2 h')
    """
    if seconds < 60:
        return f"{seconds:.2g} s"
    return f"{seconds / 60:.2g} min" if seconds < 3600 else f"{seconds / 3600:,.3g} h"


if __name__ == "__main__":
    usual = Path(tempfile.gettempdir()) / "scumble-bench" / "results.json"
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else usual)
