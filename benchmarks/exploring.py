"""Measures how well releases serve any question: distances of margins, other attributes as the class, CPU time.

python benchmarks/exploring.py                       all tables; peers on three of them
python benchmarks/exploring.py --tables weak-signals --splits 3
python benchmarks/exploring.py --peers none          our methods only
python benchmarks/exploring.py --iterations 500      peers with shorter inference

Contenders are the default release, `explore` with a pure and with an approximate guarantee, `histograms`, and AIM and
MST at the same delta, on full grids and on 20 public bins (`benchmarks/peers`). Contenders that this version does not
have, and peers that are not installed, are left out, and the page says so.

Every outcome, and the synthetic rows of every fit of a peer, are cached by the hash of what they depend on. So an
interrupted run resumes where it stopped, and after a change of a method's code only that method runs again. The page
is written after every table. Peers take minutes to hours for each fit, our methods seconds.
"""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from exploring_page import OURS, PEERS, REFERENCES, Case, exploring_page
from scumble.comparison.compare import Comparison, TrialOutcome, compare
from scumble.comparison.contenders import contender_of
from scumble.comparison.tables import table_named
from scumble.errors import InputError

OUT = Path(__file__).parent / "results" / "exploring"
PAGE = Path(__file__).parents[1] / "docs" / "exploring-figures.md"
EPSILONS = ("0.1", "1")
SPLITS, PEER_SPLITS = 10, 3
CLASSIFIER = "boosting"
TARGETS: Mapping[str, tuple[str, ...]] = {
    "adult": ("marital-status", "sex", "hours-per-week>40"),
    "weak-signals": ("colour", "m00"),
    "census": ("band", "schooling", "money"),
    "shoppers": ("visitor", "weekend", "exits"),
    "credit": ("sex", "marriage", "bill1"),
    "questionnaire": ("sex", "satisfaction", "answer0"),
    "campaign": ("married", "housing", "balance"),
    "three-together": ("model", "heat"),
    "applicants": ("job", "home", "amount"),
}
"""The tables and which other attributes are predicted."""
PEER_TABLES = ("adult", "weak-signals", "census")


def report(label: str, done: int, total: int | None) -> None:
    print(f"\r{label}: {done:,} of {total:,}", end="" if done != total else "\n", file=sys.stderr, flush=True)


def available(texts: Sequence[str]) -> tuple[list[str], list[str]]:
    """The contenders that this version has, and a note about each other one."""
    found, notes = [], []
    for text in texts:
        try:
            contender_of(text)
        except InputError as error:
            notes.append(f"{text}: {error}")
        else:
            found.append(text)
    return found, notes


def case_of(table: str, given: argparse.Namespace, peers: Sequence[str]) -> tuple[Case, list[str]]:
    """All outcomes on a table: peers on fewer splits than our methods."""
    ours, notes = available([*OURS, *REFERENCES])
    targets = TARGETS.get(table.partition(":")[0], ())
    outcomes: list[TrialOutcome] = []
    for contenders, splits in ((ours, given.splits), (peers, min(given.splits, given.peer_splits))):
        if contenders:
            comparison = Comparison(
                tables=(table,),
                contenders=tuple(contenders),
                epsilons=tuple(given.epsilons),
                splits=tuple(range(splits)),
                classifiers=(CLASSIFIER,),
                targets=targets,
            )
            result = compare(comparison, given.cache, jobs=given.jobs, progress=report)
            outcomes += result.outcomes
            notes += result.skipped
    coded = table_named(table)
    case = Case(
        table=table,
        records=2 * coded.rows // 3,
        attributes=len(coded.schema.attributes),
        targets=targets,
        outcomes=tuple(outcomes),
    )
    return case, notes


def main(arguments: Sequence[str] | None = None) -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--tables", nargs="*", default=list(TARGETS), help="(default: all)")
    reader.add_argument("--peers", nargs="*", default=list(PEERS), help="peers, or `none` (default: all)")
    reader.add_argument("--peer-tables", nargs="*", default=list(PEER_TABLES), help="tables on which peers run")
    reader.add_argument("--iterations", type=int, help="iterations of the peers' inference (default: their own)")
    reader.add_argument("--splits", type=int, default=SPLITS, help=f"random splits (default: {SPLITS})")
    reader.add_argument("--peer-splits", type=int, default=PEER_SPLITS, help=f"of peers (default: {PEER_SPLITS})")
    reader.add_argument("--epsilons", nargs="*", default=list(EPSILONS), help="(default: 0.1 1)")
    reader.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="number of processes")
    reader.add_argument("--cache", type=Path, default=OUT / "cache", help="folder of cached results")
    reader.add_argument("--page", type=Path, default=PAGE, help="the page to write")
    given = reader.parse_args(arguments)
    shortened = "" if given.iterations is None else f",iterations={given.iterations}"
    peers = [] if given.peers == ["none"] else [f"{PEERS.get(peer, peer)}{shortened}" for peer in given.peers]
    cases: list[Case] = []
    notes: list[str] = []
    for table in given.tables:
        case, more = case_of(table, given, peers if table in given.peer_tables else [])
        cases.append(case)
        notes += [note for note in more if note not in notes]
        given.page.parent.mkdir(parents=True, exist_ok=True)
        given.page.write_text(exploring_page(cases, given.epsilons, notes), encoding="utf-8")


if __name__ == "__main__":
    main()
