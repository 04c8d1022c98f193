"""Comparisons: contenders x epsilons x tables x random splits x classifiers, in parallel, kept and resumable.

Every outcome is a small file of its own, named by all it depends on: the table's codes, the contender with its
parameters, the source code behind it, epsilon, split and classifier. So an interrupted comparison goes on where it
stopped, one more split costs one more split, and no outcome of older code passes for one of today's.

For tables that are public already: the rows are judged raw, and nothing here keeps a ledger.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scumble.comparison.cached_runs import keep, kept_path, recall, run_all
from scumble.comparison.contenders import OWN, Contender, contender_of
from scumble.comparison.tables import digest_of_table, table_named
from scumble.comparison.trials import random_split
from scumble.errors import InputError
from scumble.mining.benchmark.classifiers import CLASSIFIERS
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

    def place(self, outcome: Outcome) -> tuple[int, ...]:
        """Where an outcome stands: by table, contender, epsilon, classifier and split, in the order they were named."""
        lists: Sequence[tuple[Sequence[Any], Any]] = (
            (self.tables, outcome.table),
            (self.contenders, outcome.contender),
            (("", *self.epsilons), outcome.epsilon),
            ((*self.classifiers, OWN), outcome.classifier),
            (self.splits, outcome.split),
        )
        return tuple(values.index(value) for values, value in lists)


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
        return kept_path(self.cache, facts)

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
            keep(self.kept(classifier), outcome)
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
        known = {name: recall(trial.kept(name)) for name in trial.classifiers}
        outcomes += [Outcome(**outcome) for outcome in known.values() if outcome is not None]
        missing = tuple(name for name, outcome in known.items() if outcome is None)
        if missing:
            waiting.append(replace(trial, classifiers=missing))
    for number, made in enumerate(run_all([trial.run for trial in waiting], jobs), start=1):
        outcomes += made
        tell("comparing", number, len(waiting))
    return Result(
        comparison=comparison,
        outcomes=tuple(sorted(outcomes, key=comparison.place)),
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
