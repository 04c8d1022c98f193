"""One trial of the zoo: a release of the first training records of a split, scored by boosting on its test records.

Results are cached by the hash of everything they depend on (`scumble.comparison.cached_runs`), including the code of
the contender.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scumble.comparison.cached_runs import run_cached
from scumble.comparison.contenders import contender_of
from scumble.comparison.judging import Task
from scumble.comparison.tables import digest_of_table, table_named
from scumble.comparison.trials import random_split
from scumble.flows.progress import Progress
from scumble.mining.benchmark.scores import majority_accuracy

CLASSIFIER = "boosting"
MEASURES = ("accuracy", "balanced_accuracy", "auc")


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A table, a contender, an epsilon (empty for raw rows) and a number of training records (None: all)."""

    table: str
    contender: str
    epsilon: str
    records: int | None = None


Results = Mapping[Setting, Sequence[Mapping[str, Any]]]
"""The values of each setting, split by split."""


def run_settings(
    settings: Iterable[tuple[Setting, int]], *, cache: Path, jobs: int, progress: Progress, label: str
) -> Results:
    """Run what is not cached: each setting on its number of splits."""
    # Split by split, so that after an interruption all settings have results for the same splits.
    every = sorted(
        ((setting, split) for setting, splits in settings for split in range(splits)), key=lambda each: each[1]
    )
    facts = [_facts(setting, split) for setting, split in every]
    values = run_cached(facts, trial_of, cache=cache, jobs=jobs, progress=progress, label=label)
    results: dict[Setting, list[Mapping[str, Any]]] = {}
    for (setting, _), value in zip(every, values, strict=True):
        results.setdefault(setting, []).append(value)
    return results


def _facts(setting: Setting, split: int) -> dict[str, Any]:
    contender = contender_of(setting.contender)
    return {
        **asdict(setting),
        "split": split,
        "classifier": CLASSIFIER,
        "version": contender.version(),
        "digest": digest_of_table(setting.table),
    }


def trial_of(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The scores, and the accuracy of always predicting the commonest class of the training records."""
    table = table_named(facts["table"])
    rows, tested = random_split(table.rows, facts["split"])
    train, test = table.part(rows[: facts["records"]]), table.part(tested)
    scores = contender_of(facts["contender"]).scores(
        train,
        test,
        epsilon=facts["epsilon"],
        seed=facts["split"],
        tasks=(Task(CLASSIFIER),),
        kept=Path(),
    )[Task(CLASSIFIER)]
    commonest = majority_accuracy(train.sample(table.schema), test.sample(table.schema))
    return {**{measure: scores[measure] for measure in MEASURES}, "commonest": commonest}


def commonest_accuracy(name: str, split: int) -> float:
    """The accuracy of always predicting the commonest class of all training records."""
    table = table_named(name)
    train, test = (table.part(part).sample(table.schema) for part in random_split(table.rows, split))
    return majority_accuracy(train, test)
