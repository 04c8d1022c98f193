"""The baselines without privacy: the raw rows, and the raw rows with all associations lost."""

from dataclasses import dataclass, replace
from pathlib import Path

from scumble.comparison.guarantee_texts import NO_GUARANTEE
from scumble.comparison.judging import JUDGE, Scores, Task, attacks_on_table, judged, links_lost
from scumble.comparison.source_digest import digest_of_sources
from scumble.comparison.trials import CodedTable
from scumble.model.schema import Schema
from scumble.privacy.noise import simulation


@dataclass(frozen=True, kw_only=True)
class RawRows:
    """The training rows themselves, coded by the public schema: the baseline without privacy."""

    label: str = "raw"
    private = False
    classifiers = None

    def guarantee(self, schema: Schema) -> str:
        del schema
        return NO_GUARANTEE

    def version(self) -> str:
        return digest_of_sources(*JUDGE)

    def unavailable_reason(self) -> str | None:
        return None

    def unsuited_reason(self, schema: Schema) -> str | None:
        del schema
        return None

    def scores(
        self, train: CodedTable, test: CodedTable, *, epsilon: str, seed: int, tasks: tuple[Task, ...], kept: Path
    ) -> Scores:
        del epsilon, seed, kept
        sample = train.sample(train.schema)
        scores = judged(sample, train.schema, train, test, tasks, 0.0)
        attacks = attacks_on_table(sample, train.schema, train, test, tasks)
        return {task: values if task.target else {**values, **attacks} for task, values in scores.items()}


@dataclass(frozen=True, kw_only=True)
class IndependentColumns(RawRows):
    """The training rows with every column shuffled: exact single attributes, all associations lost, no privacy.

    Its distances are those of the product of the true one-way margins, which shuffling approximates.
    """

    label: str = "independent"

    def scores(
        self, train: CodedTable, test: CodedTable, *, epsilon: str, seed: int, tasks: tuple[Task, ...], kept: Path
    ) -> Scores:
        del epsilon, kept
        draw = simulation(seed)
        shuffled = replace(train, columns=tuple(draw.permutation(column) for column in train.columns))
        sample = shuffled.sample(train.schema)
        scores = judged(sample, train.schema, train, test, tasks, 0.0)
        of_table = {"one_way": 0.0, "one_way_binned": 0.0, **links_lost(train)}
        return {task: values if task.target else {**values, **of_table} for task, values in scores.items()}
