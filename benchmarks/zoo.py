"""Measures the default release on the zoo of generated tables, and writes one page.

python benchmarks/zoo.py                         all tables, eps 0.1 and 1, 10 splits (3 of the largest table)
python benchmarks/zoo.py --settling --splits 3   the tables by which defaults may be settled
python benchmarks/zoo.py --tables xor credit
python benchmarks/zoo.py --monotone              is more epsilon, or are more records, ever worse?
python benchmarks/zoo.py --few                   250 to 8,000 records against the commonest class, 40 splits

Every result is cached by the hash of what it depends on. So an interrupted run resumes where it stopped, and after a
change of a method's code only that method runs again. `--out` gets zoo-results.md, zoo-monotone.md, or zoo-few.md and
zoo-few.svg. Ten splits of the whole zoo take 45 CPU minutes, a second mode as long, the third 20: see docs/zoo.md.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean

from scumble.charts import write_svg
from scumble.comparison.compare import Comparison, TrialOutcome, compare
from scumble.comparison.recipes import RECIPES
from scumble.comparison.tables import table_named
from zoo_few import few_chart, few_page
from zoo_pages import CONTENDERS, DEFAULT, HISTOGRAMS, RAW, monotone_page, results_page, values_of
from zoo_trials import CLASSIFIER, Setting, commonest_accuracy, run_settings

OUT = Path(__file__).parent / "results" / "zoo"
EPSILONS = ("0.1", "1")
MORE_EPSILON = ("0.1", "0.25", "0.5", "1", "2")
SPLITS, LARGE_SPLITS, FEW_SPLITS = 10, 3, 40
LARGE = 100_000
"""Tables with more records get fewer splits."""
FEW_TABLES = ("applicants", "shoppers", "questionnaire")
FEW_RECORDS = (250, 500, 1_000, 2_000, 4_000, 8_000)
FEW_ROWS = 24_000
"""Two thirds are for training, of which the first are released; all others are for testing."""


def report(label: str, done: int, total: int | None) -> None:
    print(f"\r{label}: {done:,} of {total:,}", end="" if done != total else "\n", file=sys.stderr, flush=True)


def splits_of(table: str, splits: int) -> int:
    return min(splits, LARGE_SPLITS) if table_named(table).rows > LARGE else splits


def describe(tables: Sequence[str], splits: int) -> str:
    large = [table for table in tables if splits_of(table, splits) < splits]
    fewer = f" ({LARGE_SPLITS} of {', '.join(large)})" if large else ""
    return f"{splits} random 2/3–1/3 splits{fewer}."


def results(tables: Sequence[str], epsilons: Sequence[str], splits: int, given: argparse.Namespace) -> None:
    outcomes: list[TrialOutcome] = []
    for number in dict.fromkeys(splits_of(table, splits) for table in tables):
        comparison = Comparison(
            tables=tuple(table for table in tables if splits_of(table, splits) == number),
            contenders=tuple(CONTENDERS),
            epsilons=tuple(epsilons),
            splits=tuple(range(number)),
            classifiers=(CLASSIFIER,),
        )
        outcomes += compare(comparison, given.cache, jobs=given.jobs, progress=report).outcomes
    commonest = {
        table: fmean(commonest_accuracy(table, split) for split in range(splits_of(table, splits))) for table in tables
    }
    page = results_page(values_of(outcomes, epsilons), commonest, tables, epsilons, describe(tables, splits))
    (given.out / "zoo-results.md").write_text(page, encoding="utf-8")


def monotone(tables: Sequence[str], epsilons: Sequence[str], splits: int, given: argparse.Namespace) -> None:
    """All records at every epsilon, and a quarter and a half of them at the first epsilon and at 1."""
    steps = []
    for table in tables:
        everything = 2 * table_named(table).rows // 3
        sizes = (everything // 4, everything // 2, everything)
        chains = [[(epsilon, everything) for epsilon in epsilons]]
        chains += [[(epsilon, size) for size in sizes] for epsilon in dict.fromkeys((epsilons[0], "1"))]
        for chain in chains:
            settings = [Setting(table=table, contender=DEFAULT, epsilon=eps, records=size) for eps, size in chain]
            steps += pairwise(settings)
    every = dict.fromkeys(setting for step in steps for setting in step)
    found = run_settings(
        [(setting, splits_of(setting.table, splits)) for setting in every],
        cache=given.cache,
        jobs=given.jobs,
        progress=report,
        label="monotone",
    )
    page = monotone_page(found, steps, describe(tables, splits))
    (given.out / "zoo-monotone.md").write_text(page, encoding="utf-8")


def few(tables: Sequence[str], epsilons: Sequence[str], splits: int, given: argparse.Namespace) -> None:
    settings = [
        Setting(table=f"{table}:{FEW_ROWS}", contender=contender, epsilon=epsilon, records=records)
        for table in tables
        for contender in (DEFAULT, HISTOGRAMS, RAW)
        for epsilon in (("",) if contender == RAW else epsilons)
        for records in FEW_RECORDS
    ]
    found = run_settings(
        [(setting, splits) for setting in settings], cache=given.cache, jobs=given.jobs, progress=report, label="few"
    )
    (given.out / "zoo-few.md").write_text(few_page(found, f"{splits} random splits."), encoding="utf-8")
    note = f"means of {splits} random splits with 95 % confidence bands"
    write_svg(few_chart(found, note), given.out / "zoo-few.svg")


def main(arguments: Sequence[str] | None = None) -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    mode = reader.add_mutually_exclusive_group()
    mode.add_argument("--monotone", action="store_true", help="test that more epsilon or records are never worse")
    mode.add_argument("--few", action="store_true", help="accuracy against the number of records")
    reader.add_argument("--tables", nargs="*", choices=list(RECIPES), help="(default: all, or three with --few)")
    reader.add_argument("--settling", action="store_true", help="only tables by which defaults may be settled")
    reader.add_argument("--splits", type=int, help=f"random splits (default: {SPLITS}, or {FEW_SPLITS} with --few)")
    reader.add_argument("--epsilons", nargs="*", help="(default: 0.1 1, or 0.1 0.25 0.5 1 2 with --monotone)")
    reader.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="number of processes")
    reader.add_argument("--out", type=Path, default=OUT, help="folder of the page")
    reader.add_argument("--cache", type=Path, help="folder of cached results (default: OUT/cache)")
    given = reader.parse_args(arguments)
    given.cache = given.cache or given.out / "cache"
    given.out.mkdir(parents=True, exist_ok=True)
    tables = given.tables or (FEW_TABLES if given.few else tuple(RECIPES))
    tables = [table for table in tables if RECIPES[table].settles or not given.settling]
    if not tables:
        reader.error("None of these tables settles defaults. Leave out --settling, or name other tables.")
    epsilons = given.epsilons or (MORE_EPSILON if given.monotone else EPSILONS)
    run = monotone if given.monotone else few if given.few else results
    run(tables, epsilons, given.splits or (FEW_SPLITS if given.few else SPLITS), given)


if __name__ == "__main__":
    main()
