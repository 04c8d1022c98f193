"""What a user waits for: whole commands in new processes, with all files, beside reading the same file.

    python benchmarks/waiting.py                     prints the tables; every figure is a median of 3 processes
    python benchmarks/waiting.py --before CLONE      also another clone of the repository, alternating
    python benchmarks/waiting.py --write             writes the tables into docs/benchmarks.md
    python benchmarks/waiting.py --only rows wide --repeats 1

CPU seconds, user and system, and the peak of resident memory of each process. The machine code of loops is compiled
before, except for the first run. Tables with 5 million rows are measured once.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "benchmarks.md"
BEGIN, END = "<!-- written by benchmarks/waiting.py -->", "<!-- end of what it wrote -->"
MODES = {"default": [], "`--detail no`": ["--detail", "no"], "`--engine duckdb`": ["--engine", "duckdb"]}
LARGE = 5_000_000
GROUPS = ("rows", "first", "wide", "classes")


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Of one process."""

    cpu: float
    megabytes: float


def prepare(table: str, rows: int, folder: Path) -> None:
    """Write a table and its schema; `classes-50` is Adult with 50 classes. Done in a process of its own."""
    import numpy as np
    import pyarrow.parquet as pq

    import tables
    from harness import Tables
    from scumble.files.schema_file import parse_schema, write_schema

    name, _, number = table.partition("-")
    source = Tables("adult" if name == "classes" else table, folder)
    schema, path = source.schema, folder / "data.parquet"
    source.parquet(rows).rename(path)
    if name == "classes":
        draw = tables.simulation(tables.SEED)
        rows_read = pq.read_table(path)
        codes = (rows_read["age"].to_numpy() + draw.integers(0, 8, rows)) % int(number)
        place = rows_read.schema.get_field_index(str(schema.target))
        labels = np.array([f"c{code}" for code in range(int(number))], dtype=np.object_)
        pq.write_table(rows_read.set_column(place, str(schema.target), [labels[codes]]), path)
        listed = ", ".join(labels)
        other = "y: {numeric: {low: 0, high: 1, step: 1}}"
        text = f"scumble: schema/1\ntarget: x\nattributes:\n  {other}\n  x: {{classes: [{listed}]}}\n"
        target = parse_schema(text)["x"]
        predictors = [attribute for attribute in schema.attributes if attribute.name != schema.target]
        schema = replace(schema, attributes=(*predictors, replace(target, name=str(schema.target))))
    write_schema(schema, folder / "schema.yaml")


def run(words: list[str], clone: Path, **variables: str) -> Cost:
    """A new process that uses the scumble of a clone. Python's byte code is kept, as in an installation."""
    environment = {**os.environ, "PYTHONPATH": str(clone / "src"), **variables}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    with subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(words)} ended with {process.returncode}.")
    return Cost(cpu=used.ru_utime + used.ru_stime, megabytes=used.ru_maxrss / 1024)


def read(folder: Path) -> Cost:
    program = f"import pyarrow.parquet as pq; pq.read_table({str(folder / 'data.parquet')!r})"
    return run([sys.executable, "-c", program], ROOT)


def release(folder: Path, clone: Path, options: list[str], **variables: str) -> Cost:
    """`scumble release` with a new ledger."""
    with tempfile.TemporaryDirectory(dir=folder) as made:
        words = ["release", str(folder / "data.parquet"), "--schema", str(folder / "schema.yaml"), "--epsilon", "1"]
        words += ["--out", f"{made}/release", "--ledger", f"{made}/ledger.db", "--witness", f"{made}/witness", "--json"]
        return run([sys.executable, "-m", "scumble", *words, *options], clone, **variables)


def middle(costs: list[Cost]) -> Cost:
    """
    >>> middle([Cost(cpu=3, megabytes=5), Cost(cpu=1, megabytes=7), Cost(cpu=2, megabytes=6)])
    Cost(cpu=2, megabytes=6)
    """
    return Cost(cpu=median(each.cpu for each in costs), megabytes=median(each.megabytes for each in costs))


def shown(cost: Cost, base: Cost | None = None) -> str:
    """
    >>> shown(Cost(cpu=3, megabytes=500.2), Cost(cpu=2, megabytes=100))
    '3.00 s (1.50x), 500 MB'
    """
    ratio = "" if base is None else f" ({cost.cpu / base.cpu:.2f}x)"
    return f"{cost.cpu:.2f} s{ratio}, {cost.megabytes:.0f} MB"


def prepared(table: str, rows: int, folder: Path) -> Path:
    folder.mkdir()
    words = [sys.executable, __file__, "--prepare", table, str(rows), str(folder)]
    run(words, ROOT, SCUMBLE_DATA=os.environ.get("SCUMBLE_DATA", ""))
    return folder


def measured(folder: Path, clones: dict[str, Path], options: list[str], repeats: int) -> dict[str, Cost]:
    """The medians of each clone, measured in turn."""
    found: dict[str, list[Cost]] = {when: [] for when in clones}
    for _ in range(repeats):
        for when, clone in clones.items():
            found[when].append(release(folder, clone, options))
    return {when: middle(costs) for when, costs in found.items()}


def tables_of(groups: list[str], clones: dict[str, Path], repeats: int, work: Path) -> Iterator[str]:
    """The lines of the tables."""
    columns = " | ".join(clones)
    small = prepared("adult", 100_000, work / "small")
    for clone in clones.values():
        for options in MODES.values():
            release(small, clone, options)  # compiles
    if "rows" in groups:
        yield f"| rows | | {columns} |"
        yield f"|---|---|{'---:|' * len(clones)}"
        for rows in (100_000, 1_000_000, LARGE):
            folder = prepared("adult", rows, work / f"rows-{rows}")
            times = 1 if rows == LARGE else repeats
            base = middle([read(folder) for _ in range(times)])
            yield f"| {rows:,} | `pyarrow.parquet.read_table` |{f' {shown(base)} |' * len(clones)}"
            for mode, options in MODES.items():
                costs = measured(folder, clones, options, times)
                yield f"| {rows:,} | {mode} | {' | '.join(shown(cost, base) for cost in costs.values())} |"
        yield ""
    if set(groups) & {"first", "wide", "classes"}:
        yield f"| 100,000 rows, default | {columns} |"
        yield f"|---|{'---:|' * len(clones)}"
    if "first" in groups:
        found = []
        for number, clone in enumerate(clones.values()):
            found.append(release(small, clone, [], NUMBA_CACHE_DIR=str(work / f"code-{number}")))
        yield f"| first run, all loops are compiled | {' | '.join(map(shown, found))} |"
        costs = measured(small, clones, [], repeats)
        yield f"| a later run | {' | '.join(map(shown, costs.values()))} |"
    shapes = {"wide": {"200 attributes": "adult-200"}}
    shapes["classes"] = {f"{number} classes": f"classes-{number}" for number in (2, 10, 50)}
    for group, named in shapes.items():
        for name, table in named.items() if group in groups else ():
            folder = prepared(table, 100_000, work / table)
            for clone in clones.values():
                release(folder, clone, [])  # compiles
            costs = measured(folder, clones, [], 1 if group == "classes" else repeats)
            yield f"| {name} | {' | '.join(map(shown, costs.values()))} |"


def with_section(page: str, lines: list[str]) -> str:
    """A page with the tables in place of those that it had, or at its end."""
    section = "\n".join([BEGIN, *lines, END])
    if BEGIN not in page:
        return f"{page.rstrip()}\n\n{section}\n"
    return re.sub(f"{re.escape(BEGIN)}.*{re.escape(END)}", lambda _: section, page, flags=re.DOTALL)


def kept_section(page: str) -> str:
    """The tables of a page, for those who write it anew; empty if it has none."""
    found = re.search(f"{re.escape(BEGIN)}.*{re.escape(END)}", page, flags=re.DOTALL)
    return "" if found is None else f"\n{found[0]}\n"


def commit_of(clone: Path) -> str:
    """The commit that a clone has checked out."""
    words = ["git", "-C", str(clone), "rev-parse", "--short", "HEAD"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, help="another clone of the repository to compare with")
    parser.add_argument("--only", choices=GROUPS, nargs="+", default=list(GROUPS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="write the tables into docs/benchmarks.md")
    options = parser.parse_args()
    clones = {"before": options.before.resolve()} if options.before else {}
    clones["now"] = ROOT
    lines = ["## What a user waits for", ""]
    with tempfile.TemporaryDirectory() as work:
        for line in tables_of(options.only, clones, options.repeats, Path(work)):
            print(line, flush=True)
            lines.append(line)
    load = os.getloadavg()[0]
    before = f' "Before" is the commit {commit_of(options.before)}.' if options.before else ""
    text = f"""
Written by `python benchmarks/waiting.py --before CLONE --write`. CPU seconds and peak of resident memory of a new
process of `scumble release` with all its files, and multiples of reading the same Parquet file. Medians of
{options.repeats}; 5 million rows, classes and the first run were measured once.{before} Load at the end: {load:.1f}
running processes."""
    if options.write:
        PAGE.write_text(with_section(PAGE.read_text("utf-8"), [*lines, text]), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--prepare"]:
        prepare(sys.argv[2], int(sys.argv[3]), Path(sys.argv[4]))
    else:
        main()
