"""Runs a comparison: contenders x epsilons x tables x random splits x classifiers, in parallel and resumable.

Each outcome is cached in a file named by the hash of everything it depends on: the coded table, the contender with its
parameters, the source code behind it, epsilon, split and classifier. An interrupted comparison therefore resumes where
it stopped, adding a split runs only that split, and outcomes of older code are not reused.

Use public tables only: raw rows are read for testing, and no ledger is charged.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from scumble.comparison.cached_runs import keep, kept_path, recall, run_all
from scumble.comparison.contenders import Contender, contender_of
from scumble.comparison.judging import OWN, Task
from scumble.comparison.source_digest import digest_of_sources
from scumble.comparison.tables import digest_of_table, table_named
from scumble.comparison.trials import random_split
from scumble.errors import InputError
from scumble.flows.progress import Progress
from scumble.mining.benchmark.classifiers import CLASSIFIERS, USUAL
from scumble.mining.fidelity.targets import names_target
from scumble.model.budget import budget_text, parse_budget


@dataclass(frozen=True, kw_only=True)
class TrialOutcome:
    """The scores of one contender on one split by one classifier. `epsilon` is empty for raw rows.

    `target` is the attribute that is predicted, empty for the class of the table.
    """

    table: str
    contender: str
    epsilon: str
    split: int
    classifier: str
    accuracy: float
    auc: float | None
    cpu_seconds: float
    balanced_accuracy: float | None = None
    balanced_accuracy_weighted: float | None = None
    recall: Mapping[str, float] = field(default_factory=dict)
    one_way: float | None = None
    """The one-way distance of the published table from the training rows; None if no table is published."""
    one_way_binned: float | None = None
    two_way: float | None = None
    three_way: float | None = None
    associations: float | None = None
    """The mean error of Cramer's V over all pairs of attributes."""
    queries: float | None = None
    """The mean error of the shares that answer random queries."""
    target: str = ""
    membership: float | None = None
    """Of this and the following attacks: success on training rows minus success on test rows; None if not attacked."""
    attribute_inference: float | None = None
    singling_out: float | None = None
    linkage: float | None = None


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What to compare. A split is given by its seed; two thirds of the rows are for training, the rest for testing."""

    tables: tuple[str, ...]
    contenders: tuple[str, ...]
    epsilons: tuple[str, ...]
    splits: tuple[int, ...]
    classifiers: tuple[str, ...] = USUAL
    targets: tuple[str, ...] = ()
    """Other attributes to predict, beside the class of each table; a table without such an attribute leaves it out."""
    attacks: bool = False
    """Whether each published table is also attacked."""

    def __post_init__(self) -> None:
        for name, values in vars(self).items():
            if name == "attacks":
                continue
            if not values and name != "targets":
                raise InputError(f"Nothing to compare: no {name} given. Give at least one.")
            if len(set(values)) < len(values):
                raise InputError(f"The {name} {', '.join(map(str, values))} contain duplicates. Give each only once.")
        unknown = [name for name in self.classifiers if name not in CLASSIFIERS]
        if unknown:
            raise InputError(f"Unknown classifier {unknown[0]!r}. Available: {', '.join(CLASSIFIERS)}.")
        exact = tuple(budget_text(parse_budget(epsilon)) for epsilon in self.epsilons)
        object.__setattr__(self, "epsilons", exact)
        for contender in self.contenders:
            contender_of(contender)

    def place(self, outcome: TrialOutcome) -> tuple[int, ...]:
        """Sort key of an outcome: table, contender, epsilon, target, classifier, split, each in the order given."""
        lists: Sequence[tuple[Sequence[Any], Any]] = (
            (self.tables, outcome.table),
            (self.contenders, outcome.contender),
            (("", *self.epsilons), outcome.epsilon),
            (("", *self.targets), outcome.target),
            ((*self.classifiers, OWN), outcome.classifier),
            (self.splits, outcome.split),
        )
        return tuple(values.index(value) for values, value in lists)


@dataclass(frozen=True, kw_only=True)
class Trial:
    """The unit of parallel work: one release of one training part, scored for the tasks not yet cached."""

    table: str
    contender: str
    epsilon: str
    split: int
    tasks: tuple[Task, ...]
    cache: Path

    def kept(self, task: Task) -> Path:
        """The cache file of an outcome."""
        facts = {
            "table": digest_of_table(self.table),
            "contender": self.contender,
            "version": contender_of(self.contender).version(),
            "epsilon": self.epsilon,
            "split": self.split,
            "classifier": task.classifier,
            **({"target": task.target} if task.target else {}),
            **({"attacks": digest_of_sources("scumble.auditing.attacks")} if task.attacks else {}),
        }
        return kept_path(self.cache, facts)

    def run(self) -> list[TrialOutcome]:
        table = table_named(self.table)
        train, test = random_split(table.rows, self.split)
        scores = contender_of(self.contender).scores(
            table.part(train),
            table.part(test),
            epsilon=self.epsilon,
            seed=self.split,
            tasks=self.tasks,
            kept=self.cache / "fits",
        )
        outcomes = []
        for task, values in scores.items():
            outcome = {**self.facts(task), **values}
            keep(self.kept(task), outcome)
            outcomes.append(TrialOutcome(**outcome))
        return outcomes

    def facts(self, task: Task) -> dict[str, Any]:
        return {
            "table": self.table,
            "contender": self.contender,
            "epsilon": self.epsilon,
            "split": self.split,
            "classifier": task.classifier,
            "target": task.target,
        }


@dataclass(frozen=True, kw_only=True)
class ComparisonResult:
    """All outcomes, for each contender that was left out the reason, and the guarantee of each of the others."""

    comparison: Comparison
    outcomes: tuple[TrialOutcome, ...]
    skipped: tuple[str, ...]
    guarantees: Mapping[str, str] = field(default_factory=dict)


def compare(
    comparison: Comparison, cache: Path, *, jobs: int = 1, progress: Progress | None = None
) -> ComparisonResult:
    """Run what is not cached yet. What is not installed or does not suit a table is left out, with a reason."""
    report = progress or (lambda label, done, total: None)
    contenders = [contender_of(text) for text in comparison.contenders]
    reasons = [(contender, contender.unavailable_reason()) for contender in contenders]
    present = [contender for contender, reason in reasons if reason is None]
    unsuited = {
        (contender.label, table): f"{table}: {reason}"
        for table in comparison.tables
        for contender in present
        if (reason := contender.unsuited_reason(table_named(table).schema)) is not None
    }
    outcomes: list[TrialOutcome] = []
    waiting: list[Trial] = []
    for trial in _trials(comparison, present, cache):
        if (trial.contender, trial.table) in unsuited:
            continue
        known = {task: recall(trial.kept(task)) for task in trial.tasks}
        outcomes += [TrialOutcome(**outcome) for outcome in known.values() if outcome is not None]
        missing = tuple(task for task, outcome in known.items() if outcome is None)
        if missing:
            waiting.append(replace(trial, tasks=missing))
    for number, made in enumerate(run_all([trial.run for trial in waiting], jobs), start=1):
        outcomes += made
        report("comparing", number, len(waiting))
    return ComparisonResult(
        comparison=comparison,
        outcomes=tuple(sorted(outcomes, key=comparison.place)),
        skipped=(
            *(reason for _, reason in reasons if reason is not None),
            *unsuited.values(),
            *_lacking_targets(comparison),
        ),
        guarantees={
            contender.label: _guarantees_on(contender, suited)
            for contender in present
            if (suited := [table for table in comparison.tables if (contender.label, table) not in unsuited])
        },
    )


def _guarantees_on(contender: Contender, tables: Sequence[str]) -> str:
    """The guarantee of a contender. If it differs between tables, whose units can differ, that on each of them."""
    texts = {table: contender.guarantee(table_named(table).schema) for table in tables}
    if len(set(texts.values())) == 1:
        return next(iter(texts.values()))
    return "; ".join(f"on {table}: {text}" for table, text in texts.items())


def _trials(comparison: Comparison, contenders: Sequence[Contender], cache: Path) -> Iterator[Trial]:
    """Split by split, so that after an interruption all contenders have outcomes for the same splits."""
    for split in comparison.splits:
        for table in comparison.tables:
            for contender in contenders:
                for epsilon in comparison.epsilons if contender.private else ("",):
                    yield Trial(
                        table=table,
                        contender=contender.label,
                        epsilon=epsilon,
                        split=split,
                        tasks=_tasks(comparison, contender, table),
                        cache=cache,
                    )


def _tasks(comparison: Comparison, contender: Contender, table: str) -> tuple[Task, ...]:
    """The class of a table by all classifiers, then each other target. A contender's own model predicts the class."""
    if contender.classifiers is not None:
        return tuple(map(Task, contender.classifiers))
    schema = table_named(table).schema
    targets = ["", *(target for target in comparison.targets if names_target(target, schema))]
    return tuple(
        Task(classifier, target, comparison.attacks and not target)
        for target in targets
        for classifier in comparison.classifiers
    )


def _lacking_targets(comparison: Comparison) -> list[str]:
    """The targets that a table does not have."""
    return [
        f"{table}: it has no attribute for the target {target!r}."
        for table in comparison.tables
        for target in comparison.targets
        if not names_target(target, table_named(table).schema)
    ]
