"""Judges the published table of a contender: classifiers trained on it, and the distances of its margins."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any, NamedTuple

import numpy as np

from scumble.auditing.attacks import WeightedRows, attack_table
from scumble.comparison.trials import CodedTable
from scumble.mining.benchmark.sample import Sample
from scumble.mining.benchmark.scores import score
from scumble.mining.fidelity.associations import association_error, associations
from scumble.mining.fidelity.margins import BinnedTable, margin_distances
from scumble.mining.fidelity.one_way import Columns, columns_of, one_way_distances
from scumble.mining.fidelity.targets import target_of, target_scores
from scumble.mining.fidelity.workload import RandomQuery, random_queries
from scumble.model.schema import Schema
from scumble.privacy.noise import simulation

OWN = "own"
"""The classifier name for a contender that trains its own model instead of publishing a table."""
JUDGE = (
    "scumble.mining.benchmark.scores",
    "scumble.mining.fidelity.associations",
    "scumble.mining.fidelity.margins",
    "scumble.mining.fidelity.one_way",
    "scumble.mining.fidelity.targets",
    "scumble.mining.fidelity.workload",
    "scumble.engines.memory",
)
"""The modules that every score depends on besides the contender's own code."""
WAYS = {2: "two_way", 3: "three_way"}
QUERIES, QUERY_SEED = 200, 1
"""The random queries of a schema: how many, and the fixed seed by which they are drawn."""


ATTACKS = {
    "membership inference": "membership",
    "attribute inference": "attribute_inference",
    "singling out": "singling_out",
    "linkage": "linkage",
}
"""The measures of the attacks of `scumble audit --attacks`, by the names of the attacks."""


class Task(NamedTuple):
    """A classifier and what it predicts: the class of the table, or another attribute (`target`).

    With `attacks`, the published table is also attacked.
    """

    classifier: str
    target: str = ""
    attacks: bool = False


NO_TASK = Task("")
Scores = Mapping[Task, Mapping[str, Any]]
"""For each task: the measures of the predictions, and the CPU seconds spent on making the table or model."""


def columns_by_name(table: CodedTable) -> Columns:
    """The columns of a coded table by attribute."""
    return dict(zip(table.schema.names, table.columns, strict=True))


def judged(
    sample: Sample, schema: Schema, train: CodedTable, test: CodedTable, tasks: Sequence[Task], cpu_seconds: float
) -> Scores:
    """The measures of classifiers that are trained on a sample, coded by its published schema."""
    found: dict[Task, Mapping[str, Any]] = {}
    for target in dict.fromkeys(task.target for task in tasks):
        names = [task.classifier for task in tasks if task.target == target]
        if not target:
            scores = score(sample, test.sample(schema), schema, classifiers=names)
        else:
            scores = target_scores(
                target_of(target, train.schema, columns_by_name(train)),
                columns_of(sample, schema),
                schema,
                columns_by_name(test),
                train.schema,
                counts=sample.weights,
                classifiers=names,
            )
        for task in (task for task in tasks if task.target == target):
            name = task.classifier
            # The labels of other attributes are not classes of the table, and there may be many.
            values = {**scores[name], "recall": {}} if target else scores[name]
            found[task] = {**values, "cpu_seconds": cpu_seconds}
    return found


def judged_table(
    sample: Sample, schema: Schema, train: CodedTable, test: CodedTable, tasks: Sequence[Task], cpu_seconds: float
) -> Scores:
    """The same with the distances of the table from the training rows, which stand beside the scores of the class.

    Without tasks, the distances alone, under `NO_TASK`.
    """
    if not tasks:
        return {NO_TASK: {"cpu_seconds": cpu_seconds, **distances_of_table(sample, schema, train)}}
    scores = judged(sample, schema, train, test, tasks, cpu_seconds)
    if all(task.target for task in tasks):
        return scores
    of_table = {**distances_of_table(sample, schema, train), **attacks_on_table(sample, schema, train, test, tasks)}
    return {task: values if task.target else {**values, **of_table} for task, values in scores.items()}


def attacks_on_table(
    sample: Sample, schema: Schema, train: CodedTable, test: CodedTable, tasks: Sequence[Task]
) -> dict[str, float]:
    """How much better each attack works on the training rows than on the test rows, if a task asks for it."""
    if not any(task.attacks for task in tasks):
        return {}

    def rows(part: Sample) -> WeightedRows:
        columns = columns_of(part, schema)
        codes = np.stack([columns[name] for name in schema.names], axis=1).astype(np.int64)
        return WeightedRows(codes=codes, weights=part.counts.astype(np.float64))

    attacks = attack_table(rows(sample), rows(train.sample(schema)), rows(test.sample(schema)), schema, allowed=None)
    return {ATTACKS[attack.name]: attack.in_release - attack.control for attack in attacks}


def distances_of_table(sample: Sample, schema: Schema, train: CodedTable) -> dict[str, float]:
    """All distances of a published table from the training rows, by the names of the measures."""
    one_way = one_way_distances(sample, schema, train.columns, train.schema)
    columns = columns_of(sample, schema)
    released, true = BinnedTable.of(columns, schema, train.schema, sample.weights), _binned(train)
    found = margin_distances(released, true, train.schema.names, target=train.schema.target, ways=WAYS)
    counts = sample.counts.astype(np.float64)
    errors = [
        abs(query.share(columns, schema, train.schema, counts) - _share(query, train))
        for query in _queries(train.schema)
    ]
    return {
        "one_way": one_way.full,
        "one_way_binned": one_way.binned,
        **{WAYS[ways]: each.mean for ways, each in found.items()},
        "associations": association_error(true, released, train.schema.names),
        "queries": float(np.mean(errors)) if errors else 0.0,
    }


def links_lost(train: CodedTable) -> dict[str, float]:
    """The distances if all associations are lost and all distributions of single attributes are exact."""
    true, names = _binned(train), train.schema.names
    found = margin_distances(true, true, names, target=train.schema.target, ways=WAYS)
    errors = []
    for query in _queries(train.schema):
        alone = [_share(replace(query, conditions={name: query.conditions[name]}), train) for name in query.conditions]
        errors.append(abs(prod(alone) - _share(query, train)))
    lost = associations(true, names)[np.tril_indices(len(names), -1)]
    return {
        **{WAYS[ways]: each.links_lost for ways, each in found.items()},
        "associations": float(lost.mean()) if len(lost) else 0.0,
        "queries": float(np.mean(errors)) if errors else 0.0,
    }


def _queries(schema: Schema) -> list[RandomQuery]:
    draw = simulation(QUERY_SEED)
    return random_queries(schema, QUERIES, lambda below: int(draw.integers(below)))


def _share(query: RandomQuery, train: CodedTable) -> float:
    """The true share of the training rows that satisfies a query."""
    return query.share(columns_by_name(train), train.schema, train.schema, np.ones(train.rows))


def _binned(table: CodedTable) -> BinnedTable:
    return BinnedTable.of(columns_by_name(table), table.schema, table.schema)
