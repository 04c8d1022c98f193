"""A trial: release the training part of a table, train on the release, score on the test part.

It runs in memory with the production method, holder and noise. Use public tables only: no ledger is charged.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scumble.engines.coding import code_blocks
from scumble.engines.memory import MemoryEngine
from scumble.flows.evaluate import training_sample
from scumble.flows.release import run
from scumble.methods import method_named
from scumble.mining.benchmark.sample import Sample
from scumble.mining.benchmark.scores import class_shares, measures, score
from scumble.mining.released_tree import released_probabilities
from scumble.model.counts import Block, Integers
from scumble.model.release import Release
from scumble.model.schema import Schema
from scumble.model.values import recoding
from scumble.privacy.noise import PaidNoise, simulation
from scumble.sources import Source


@dataclass(frozen=True, kw_only=True)
class CodedTable:
    """A whole table in memory, coded by its schema: one column for each attribute."""

    schema: Schema
    columns: Block

    @classmethod
    def read(cls, source: Source, schema: Schema) -> "CodedTable":
        blocks = list(code_blocks(source.batches(schema.columns), schema))
        return cls(schema=schema, columns=tuple(np.concatenate(parts) for parts in zip(*blocks, strict=True)))

    @property
    def rows(self) -> int:
        return len(self.columns[0])

    def part(self, rows: Integers) -> "CodedTable":
        return CodedTable(schema=self.schema, columns=tuple(column[rows] for column in self.columns))

    def sample(self, published: Schema) -> Sample:
        """The rows coded by a published schema, as training and scoring need them."""
        codes = {}
        for attribute, column in zip(self.schema.attributes, self.columns, strict=True):
            codes[attribute.name] = recoding(attribute.domain, published[attribute.name].domain)[column]
        target = str(self.schema.target)
        predictors = [codes[attribute.name] for attribute in self.schema.predictors]
        return Sample(codes=np.stack(predictors, axis=1), labels=codes[target])


def random_split(rows: int, seed: int) -> tuple[Integers, Integers]:
    """Two thirds of the rows for training, the rest for testing."""
    order = simulation(seed).permutation(rows)
    return order[: 2 * rows // 3], order[2 * rows // 3 :]


def own_scores(model: Mapping[str, Any], train: CodedTable, test: CodedTable) -> dict[str, Any]:
    """The measures of a classifier that was published instead of a table.

    It publishes no class shares, so the true ones are used, as if they were public.
    """
    columns = dict(zip(test.schema.names, test.columns, strict=True))
    shares = class_shares(train.sample(train.schema), len(train.schema.classes))
    labels = columns[str(test.schema.target)].astype(np.int64)
    probabilities = released_probabilities(model, columns, test.schema)
    return measures(probabilities, labels, np.ones_like(labels), shares=shares, classes=test.schema.classes)


def trial(
    train: CodedTable,
    test: CodedTable,
    *,
    method: str,
    parameters: Mapping[str, Any],
    classifiers: Sequence[str] = ("tree",),
    table: str | None = None,
) -> dict[str, Any]:
    """Scores on `test` of classifiers trained on one release of `train`: on its recommended table or the named one.

    If the release is a classifier and no table, its own scores, under the key `own`.
    """
    return scores_of_release(release_of(train, method, parameters), train, test, classifiers=classifiers, table=table)


def release_of(train: CodedTable, method: str, parameters: Mapping[str, Any]) -> Release:
    """One release of a table, kept in memory."""
    chosen = method_named(method)
    engine = MemoryEngine([train.columns], train.schema)
    settings = chosen.parameters(**dict(parameters))
    plan = chosen.plan(train.schema, settings)
    return run(chosen, train.schema, settings, engine, PaidNoise(), plan=plan)


def scores_of_release(
    made: Release,
    train: CodedTable,
    test: CodedTable,
    *,
    classifiers: Sequence[str] = ("tree",),
    table: str | None = None,
) -> dict[str, Any]:
    """Scores on `test` of classifiers trained on a release of `train`; see `trial`."""
    if made.classifier is not None:
        return {"own": own_scores(made.classifier, train, test)}
    sample = training_sample(made, table)
    schema = made.tables[made.recommended if table is None else table]
    return score(sample, test.sample(schema), schema, classifiers=classifiers)
