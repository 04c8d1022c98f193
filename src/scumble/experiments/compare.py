"""Comparisons: contenders x epsilons x tables x random splits x classifiers, in parallel, kept and resumable.

Every outcome is a small file of its own, named by all it depends on: the table's codes, the contender with its
parameters, the source code behind it, epsilon, split and classifier. So an interrupted comparison goes on where it
stopped, one more split costs one more split, and no outcome of older code passes for one of today's.

For tables that are public already: the rows are judged raw, and nothing here keeps a ledger.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from scumble.errors import InputError
from scumble.experiments.contenders import Contender, contender_of
from scumble.experiments.tables import digest_of_table, table_named
from scumble.experiments.trials import random_split
from scumble.mining.classifiers import CLASSIFIERS
from scumble.model.budget import budget_text, parse_budget

Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One contender, judged once. `epsilon` is empty for the raw rows, on which it has no bearing."""

    table: str
    contender: str
    epsilon: str
    split: int
    classifier: str
    accuracy: float
    auc: float | None
    cpu_seconds: float


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What to compare. Splits are named by their seeds: two thirds of the rows for training, the rest for testing."""

    tables: tuple[str, ...]
    contenders: tuple[str, ...]
    epsilons: tuple[str, ...]
    splits: tuple[int, ...]
    classifiers: tuple[str, ...] = tuple(CLASSIFIERS)

    def __post_init__(self) -> None:
        for name, values in vars(self).items():
            if not values:
                raise InputError(f"Nothing to compare: no {name} given. Name at least one.")
            if len(set(values)) < len(values):
                raise InputError(f"The {name} {', '.join(map(str, values))} repeat themselves. Name each once.")
        unknown = [name for name in self.classifiers if name not in CLASSIFIERS]
        if unknown:
            raise InputError(f"There is no classifier {unknown[0]!r}. Choose from {', '.join(CLASSIFIERS)}.")
        exact = tuple(budget_text(parse_budget(epsilon)) for epsilon in self.epsilons)
        object.__setattr__(self, "epsilons", exact)
        for contender in self.contenders:
            contender_of(contender)


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What one process does at a time: make one table to learn from, and judge it by the classifiers still missing."""

    table: str
    contender: str
    epsilon: str
    split: int
    classifiers: tuple[str, ...]
    cache: Path

    def kept(self, classifier: str) -> Path:
        """Where an outcome is kept."""
        facts = {
            "table": digest_of_table(self.table),
            "contender": self.contender,
            "version": contender_of(self.contender).version(),
            "epsilon": self.epsilon,
            "split": self.split,
            "classifier": classifier,
        }
        key = hashlib.sha256(json.dumps(facts).encode()).hexdigest()
        return self.cache / "outcomes" / key[:2] / f"{key[:24]}.json"

    def run(self) -> list[Outcome]:
        table = table_named(self.table)
        train, test = random_split(table.rows, self.split)
        scores = contender_of(self.contender).scores(
            table.part(train),
            table.part(test),
            epsilon=self.epsilon,
            seed=self.split,
            classifiers=self.classifiers,
            kept=self.cache / "fits",
        )
        outcomes = []
        for classifier, values in scores.items():
            outcome = {**self.facts(classifier), **values}
            _write_whole(self.kept(classifier), json.dumps(outcome, indent=1))
            outcomes.append(Outcome(**outcome))
        return outcomes

    def facts(self, classifier: str) -> dict[str, Any]:
        return {
            "table": self.table,
            "contender": self.contender,
            "epsilon": self.epsilon,
            "split": self.split,
            "classifier": classifier,
        }


@dataclass(frozen=True, kw_only=True)
class Result:
    """All outcomes, and why somebody did not take part."""

    comparison: Comparison
    outcomes: tuple[Outcome, ...]
    skipped: tuple[str, ...]


def compare(comparison: Comparison, cache: Path, *, jobs: int = 1, progress: Progress | None = None) -> Result:
    """Run what the cache does not have yet. Contenders that are not installed are left out, and the result says so."""
    tell = progress or (lambda label, done, total: None)
    contenders = [contender_of(text) for text in comparison.contenders]
    reasons = [(contender, contender.why_not()) for contender in contenders]
    present = [contender for contender, reason in reasons if reason is None]
    outcomes: list[Outcome] = []
    waiting: list[Trial] = []
    for trial in _trials(comparison, present, cache):
        known = {name: trial.kept(name) for name in trial.classifiers}
        outcomes += [Outcome(**json.loads(path.read_text("utf-8"))) for path in known.values() if path.exists()]
        missing = tuple(name for name, path in known.items() if not path.exists())
        if missing:
            waiting.append(Trial(**{**vars(trial), "classifiers": missing}))
    for number, made in enumerate(_run_all(waiting, jobs), start=1):
        outcomes += made
        tell("comparing", number, len(waiting))
    place = {text: number for number, text in enumerate(comparison.contenders)}
    outcomes.sort(key=lambda each: (each.table, place[each.contender], each.epsilon, each.classifier, each.split))
    return Result(
        comparison=comparison,
        outcomes=tuple(outcomes),
        skipped=tuple(reason for _, reason in reasons if reason is not None),
    )


def _trials(comparison: Comparison, contenders: Sequence[Contender], cache: Path) -> Iterator[Trial]:
    """Split by split, so that an early stop leaves all contenders with the same splits."""
    for split in comparison.splits:
        for table in comparison.tables:
            for contender in contenders:
                for epsilon in comparison.epsilons if contender.private else ("",):
                    yield Trial(
                        table=table,
                        contender=contender.label,
                        epsilon=epsilon,
                        split=split,
                        classifiers=contender.classifiers or comparison.classifiers,
                        cache=cache,
                    )


def _run_all(trials: Sequence[Trial], jobs: int) -> Iterator[list[Outcome]]:
    if jobs <= 1 or len(trials) <= 1:
        yield from (trial.run() for trial in trials)
        return
    # Fresh processes: a copy of this one could inherit a lock that no thread is left to open.
    with ProcessPoolExecutor(min(jobs, len(trials)), mp_context=get_context("spawn")) as pool:
        try:
            for done in as_completed([pool.submit(trial.run) for trial in trials]):
                yield done.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _write_whole(path: Path, text: str) -> None:
    """A file that is there whole or not at all, however the run ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f".{hashlib.sha256(text.encode()).hexdigest()[:8]}.unfinished")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)
