"""Estimates the cost of a release of a billion and of a trillion rows on a cluster. Prints the tables of docs/scale.md.

    make bench                                measures Spark on two executors (install Spark: make test-spark)
    python benchmarks/scale.py                estimates from the results of that run
    python benchmarks/scale.py RESULTS.json   estimates from the results of another run (its --work folder)

The input is the file `results.json` that `make bench` writes into its work folder.
"""

import argparse
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

CORES = 2
"""The number of executors of one core each, as in `spark_rounds`."""
ROUNDS = 9
"""Eight rounds and the final cells."""
BYTES_PER_ROW = 16
"""Adult's coded rows: 14 attributes and a class."""
NETWORK = 1.25e9
"""Bytes per second that the driver receives: ten gigabits per second. Assumed, not measured."""
TABLES = {"200 cells": 200 * 2 * 1_497 * 8, "10,000 cells": 10_000 * 2 * 1_497 * 8}
"""Bytes of the tables of one round: cells x classes x values of all attributes x 8."""


@dataclass(frozen=True, kw_only=True)
class Constants:
    """Measured costs in seconds."""

    job: float
    """An empty job."""
    code: float
    """Reading, coding and storing one row, on one core."""
    count: float
    """Counting one row once, on one core."""


def constants(spark: dict[str, float]) -> Constants:
    """The costs per row from the difference between two sizes, which excludes starting tasks and workers."""
    more, less = ("largest", "large") if "open largest" in spark else ("large", "small")
    rows = spark[f"rows {more}"] - spark[f"rows {less}"]
    return Constants(
        job=spark["empty job"],
        code=max(spark[f"open {more}"] - spark[f"open {less}"], 0.0) * CORES / rows,
        count=max(spark[f"round {more} 200"] - spark[f"round {less} 200"], 0.0) * CORES / rows,
    )


def release(rows: float, cores: int, known: Constants, table: int) -> dict[str, float]:
    """Seconds of each part of a release. The executors add the tables up; the driver receives one table per round."""
    return {
        "read and code": rows * known.code / cores,
        "count": ROUNDS * rows * known.count / cores,
        "jobs": ROUNDS * known.job,
        "tables to the driver": ROUNDS * table / NETWORK,
    }


def measured(results: Path) -> Constants:
    """The constants in the results of `make bench`. Ends the script with a message if there are none."""
    try:
        spark = json.loads(results.read_text(encoding="utf-8")).get("spark")
    except FileNotFoundError:
        sys.exit(f"{results} does not exist. Run `make bench` first, or give the path of its results.json.")
    if not spark:
        sys.exit(f"{results} has no Spark measurements. Install Spark (`make test-spark`) and run `make bench` again.")
    return constants(spark)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    usual = Path(tempfile.gettempdir()) / "scumble-bench" / "results.json"
    parser.add_argument("results", nargs="?", type=Path, default=usual, help="written by `make bench` (%(default)s)")
    known = measured(parser.parse_args().results)
    print(
        f"An empty job takes {known.job:.2f} s. On one core, reading, coding and storing a row takes "
        f"{1e6 * known.code:.2f} us, and counting it once in a round with 200 cells {1e9 * known.count:.0f} ns.\n"
    )
    for label, rows in (("A billion rows", 1e9), ("A trillion rows", 1e12)):
        print(f"| {label}, cores | read and code | count, 9 rounds | jobs | tables to the driver, 200 cells | 10,000 |")
        print("|---:|---:|---:|---:|---:|---:|")
        for cores in (10, 100, 1_000, 10_000):
            parts = release(rows, cores, known, TABLES["200 cells"])
            wide = release(rows, cores, known, TABLES["10,000 cells"])["tables to the driver"]
            shown = [*(_shown(seconds) for seconds in parts.values()), _shown(wide)]
            print(f"| {cores:,} | {' | '.join(shown)} |")
        print(f"\nSize of the coded rows on all executors together: {rows * BYTES_PER_ROW / 1e9:,.0f} GB.\n")


def _shown(seconds: float) -> str:
    """
    >>> _shown(0.5), _shown(90), _shown(7200)
    ('0.5 s', '1.5 min', '2 h')
    """
    if seconds < 60:
        return f"{seconds:.2g} s"
    return f"{seconds / 60:.2g} min" if seconds < 3600 else f"{seconds / 3600:,.3g} h"


if __name__ == "__main__":
    main()
