"""Measures how well releases serve any question: distances of margins, other attributes as the class, CPU time.

python benchmarks/exploring.py                       all tables; peers on three of them
python benchmarks/exploring.py --tables weak-signals --splits 3
python benchmarks/exploring.py --peers none          our methods only
python benchmarks/exploring.py --iterations aim=200,1000 mst=1000     shorter inference; of several, the best counts
python benchmarks/exploring.py --scored-splits 1     on the other splits distances only, which are fast
python benchmarks/exploring.py --fitted              peers only where their fit is cached already

Contenders are the default release, `explore` with a pure and with an approximate guarantee, and AIM and MST at the same
delta, on full grids and on 20 public bins (`benchmarks/peers`). Contenders that this version does not
have, and peers that are not installed, are left out, and the page says so.

Every outcome, and the synthetic rows of every fit of a peer, are cached by the hash of what they depend on. So an
interrupted run resumes where it stopped, and after a change of a method's code only that method runs again. The page
is written after every table. Peers take minutes to hours for each fit, our methods seconds.
"""

import argparse
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from exploring_page import INDEPENDENT, OURS, PEERS, REFERENCES, Case, exploring_page
from scumble.comparison.cached_runs import keep, kept_path, recall
from scumble.comparison.compare import Comparison, TrialOutcome, compare
from scumble.comparison.contenders import contender_of
from scumble.comparison.judging import NO_TASK, links_lost
from scumble.comparison.peers import is_fitted, peer_named
from scumble.comparison.tables import digest_of_table, table_named
from scumble.comparison.trials import random_split
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
    """All outcomes on a table. Tables with peers have fewer splits."""
    ours, notes = available([*OURS, *REFERENCES])
    targets = TARGETS.get(table.partition(":")[0], ())
    splits = range(min(given.splits, given.peer_splits) if peers else given.splits)
    wanted = [
        (contender, epsilon, split)
        for split in splits
        for contender in (*ours, *peers)
        for epsilon in given.epsilons
        if not (given.fitted and contender in peers) or fitted(table, contender, epsilon, split, given.cache)
    ]
    outcomes: list[TrialOutcome] = []
    for number, (contender, epsilon, split) in enumerate(wanted, start=1):
        if split >= given.scored_splits:
            outcomes += distances(table, contender, epsilon, split, given.cache)
            continue
        comparison = Comparison(
            tables=(table,),
            contenders=(contender,),
            epsilons=(epsilon,),
            splits=(split,),
            classifiers=(CLASSIFIER,),
            targets=targets,
        )
        result = compare(comparison, given.cache)
        outcomes += result.outcomes
        notes += [note for note in result.skipped if note not in notes]
        report(table, number, len(wanted))
    coded = table_named(table)
    case = Case(
        table=table,
        records=2 * coded.rows // 3,
        attributes=len(coded.schema.attributes),
        targets=targets,
        outcomes=tuple(outcomes),
    )
    return case, notes


def distances(table: str, text: str, epsilon: str, split: int, cache: Path) -> list[TrialOutcome]:
    """The outcome of a contender without a classifier: its distances and CPU time; none for raw rows."""
    contender, coded = contender_of(text), table_named(table)
    facts = {"table": digest_of_table(table), "contender": text, "version": contender.version(), "epsilon": epsilon}
    kept = kept_path(cache, {**facts, "split": split, "classifier": NO_TASK.classifier})
    found = recall(kept)
    if found is None:
        train, test = (coded.part(rows) for rows in random_split(coded.rows, split))
        if text == INDEPENDENT:
            found = {"cpu_seconds": 0.0, "one_way_binned": 0.0, **links_lost(train)}
        else:
            fits = cache / "fits"
            scores = contender.scores(train, test, epsilon=epsilon, seed=split, tasks=(), kept=fits)
            found = dict(scores.get(NO_TASK, {}))
        keep(kept, found)
    named = {"table": table, "contender": text, "split": split, "classifier": "", "accuracy": math.nan, "auc": None}
    return [TrialOutcome(**{**named, "epsilon": epsilon if contender.private else "", **found})] if found else []


def fitted(table: str, text: str, epsilon: str, split: int, cache: Path) -> bool:
    """Whether the fit of a peer is cached."""
    peer, coded = peer_named(text), table_named(table)
    if peer is None:
        return False
    train, test = (coded.part(rows) for rows in random_split(coded.rows, split))
    return is_fitted(peer, train, test, epsilon=epsilon, seed=split, cache=cache / "fits")


def with_iterations(peer: str, iterations: Sequence[str]) -> list[str]:
    """The peer with each number of iterations that is given for its method, such as `aim=200,1000`."""
    given = dict(pair.split("=", 1) for pair in iterations)
    named = PEERS.get(peer, peer)
    numbers = given.get(peer.removesuffix("-20"), "").split(",")
    return [named + (f",iterations={number}" if number else "") for number in numbers]


def stated_options(arguments: Sequence[str]) -> str:
    """The options as the page states them: without the places of cache and page."""
    places = [place for place, word in enumerate(arguments) if word in ("--cache", "--page")]
    return " ".join(word for place, word in enumerate(arguments) if not {place, place - 1} & set(places))


def main(arguments: Sequence[str] | None = None) -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--tables", nargs="*", default=list(TARGETS), help="(default: all)")
    reader.add_argument("--peers", nargs="*", default=list(PEERS), help="peers, or `none` (default: all)")
    reader.add_argument("--peer-tables", nargs="*", default=list(PEER_TABLES), help="tables on which peers run")
    reader.add_argument(
        "--iterations", nargs="*", default=[], help="of inference, such as aim=200,1000 (default: their own)"
    )
    reader.add_argument("--fitted", action="store_true", help="leave out fits of peers that are not cached")
    reader.add_argument("--splits", type=int, default=SPLITS, help=f"random splits (default: {SPLITS})")
    reader.add_argument(
        "--peer-splits", type=int, default=PEER_SPLITS, help=f"of tables with peers (default: {PEER_SPLITS})"
    )
    reader.add_argument("--epsilons", nargs="*", default=list(EPSILONS), help="(default: 0.1 1)")
    reader.add_argument("--scored-splits", type=int, default=SPLITS, help="train classifiers on so many (default: all)")
    reader.add_argument("--cache", type=Path, default=OUT / "cache", help="folder of cached results")
    reader.add_argument("--page", type=Path, default=PAGE, help="the page to write")
    given = reader.parse_args(arguments)
    named = [] if given.peers == ["none"] else given.peers
    peers = [text for peer in named for text in with_iterations(peer, given.iterations)]
    words = stated_options(sys.argv[1:] if arguments is None else arguments)
    cases: list[Case] = []
    notes: list[str] = []
    for table in given.tables:
        case, more = case_of(table, given, peers if table in given.peer_tables else [])
        cases.append(case)
        notes += [note for note in more if note not in notes]
        given.page.parent.mkdir(parents=True, exist_ok=True)
        given.page.write_text(exploring_page(cases, given.epsilons, notes, words), encoding="utf-8")


if __name__ == "__main__":
    main()
