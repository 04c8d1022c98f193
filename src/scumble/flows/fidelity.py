"""Compares a table of a release with raw rows, as plain data: distances, distributions, associations and queries.

This is for the data owner. The results depend on raw rows and are not covered by the guarantee of the release.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from scumble.flows.class_scores import Correct
from scumble.flows.public_rows import PublicRows
from scumble.mining.benchmark.sample import Sample
from scumble.mining.fidelity.associations import associations
from scumble.mining.fidelity.groups import Grouping, group_distances
from scumble.mining.fidelity.margins import BinnedTable, MarginDistance, margin_distances
from scumble.mining.fidelity.one_way import (
    Columns,
    columns_of,
    spread_marginal,
    total_variation,
)
from scumble.mining.fidelity.workload import SMALLEST_SHARE, CheckedQuery, quantiles, random_queries
from scumble.model.counts import Floats
from scumble.model.schema import Attribute, Schema
from scumble.privacy.noise import simulation

QUERIES = 200
WORST_QUERIES = 5
SEED = 2011
"""The seed of the random queries: every evaluation with the same schema asks the same ones."""
MOST_IN_HEAT_MAP = 40
"""Of more attributes, the first ones are shown."""


@dataclass(frozen=True, kw_only=True)
class ComparedTables:
    """A published table and the raw rows it is compared with, both with the attributes of the public schema."""

    sample: Sample
    published: Schema
    true: PublicRows

    @cached_property
    def columns(self) -> Columns:
        return columns_of(self.sample, self.published)

    @cached_property
    def released(self) -> BinnedTable:
        return BinnedTable.of(self.columns, self.published, self.true.schema, self.sample.weights)

    @cached_property
    def binned(self) -> BinnedTable:
        """The raw rows in bins."""
        return binned_rows(self.true)


def binned_rows(rows: PublicRows) -> BinnedTable:
    """Raw rows in bins of their own schema."""
    return BinnedTable.of(rows.columns, rows.schema, rows.schema)


def distances(released: BinnedTable, true: BinnedTable, schema: Schema) -> dict[str, Any]:
    """The distances at one, two and three ways, by the names `one_way`, `two_way` and `three_way`."""
    found = margin_distances(released, true, schema.names, target=schema.target)
    names = {1: "one_way", 2: "two_way", 3: "three_way"}
    return {names[ways]: _distance(each) for ways, each in found.items()}


def _distance(each: MarginDistance) -> dict[str, Any]:
    plain = asdict(each)
    largest = {"attributes": list(plain.pop("largest")), "distance": plain.pop("largest_distance")}
    del plain["ways"]
    return {**plain, "largest": largest}


def details(compared: ComparedTables, test: PublicRows | None) -> dict[str, Any]:
    """What takes a few seconds: distributions, associations and the error of random queries.

    With test rows that are not the compared ones, also the distances of these: what another sample of the same people
    has, without any noise.
    """
    schema = compared.true.schema
    found: dict[str, Any] = {
        "attributes": [_attribute(compared, attribute) for attribute in schema.attributes],
        "associations": _associations(compared),
        "queries": _queries(compared),
    }
    if test is not None and test is not compared.true and test.rows:
        found["test_rows"] = distances(binned_rows(test), compared.binned, schema)
    return found


def _attribute(compared: ComparedTables, attribute: Attribute) -> dict[str, Any]:
    """The shares of an attribute's values, true and published: of categories each value, of numbers each bin."""
    domain, name = attribute.domain, attribute.name
    weights = compared.sample.counts
    shown = spread_marginal(compared.columns[name], weights, domain, compared.published[name].domain)
    count = np.bincount(compared.true.columns[name], minlength=domain.size)
    true: Floats = count / max(int(count.sum()), 1)
    distance = total_variation(shown, true)
    grouping = Grouping.by(attribute)
    shares = [np.bincount(grouping.group_of, weights=each).tolist() for each in (true, shown)]
    return {
        "name": name,
        "kind": attribute.kind,
        "missing": attribute.missing,
        "distance": distance,
        "distance_in_bins": total_variation(compared.released.margin([name]), compared.binned.margin([name])),
        "values": list(grouping.labels),
        "true": shares[0],
        "released": shares[1],
    }


def _associations(compared: ComparedTables) -> dict[str, Any]:
    names = compared.true.schema.names[:MOST_IN_HEAT_MAP]
    true, released = (associations(table, names) for table in (compared.binned, compared.released))
    pairs = np.tril_indices(len(names), -1)
    return {
        "measure": "Cramer's V in at most 20 bins, corrected for the number of records",
        "attributes": list(names),
        "left_out": len(compared.true.schema.names) - len(names),
        "true": true.round(6).tolist(),
        "released": released.round(6).tolist(),
        "mean_absolute_difference": float(np.abs(released - true)[pairs].mean()) if len(names) > 1 else 0.0,
    }


def _queries(compared: ComparedTables) -> dict[str, Any]:
    schema = compared.true.schema
    draw = simulation(SEED)
    ones = np.ones(compared.true.rows)
    weights = compared.sample.counts.astype(np.float64)
    answered = [
        CheckedQuery(
            words=query.words,
            true=query.share(compared.true.columns, schema, schema, ones),
            released=query.share(compared.columns, compared.published, schema, weights),
        )
        for query in random_queries(schema, QUERIES, lambda bound: int(draw.integers(bound)))
    ]
    if not answered:
        return {"number": 0}
    worst = sorted(answered, key=lambda each: -each.error)[:WORST_QUERIES]
    return {
        "number": len(answered),
        "seed": SEED,
        "smallest_share": SMALLEST_SHARE,
        "error": quantiles([each.error for each in answered]),
        "relative_error": quantiles([each.relative_error for each in answered]),
        "worst": [{"query": each.words, "true": each.true, "released": each.released} for each in worst],
    }


def subgroups(
    compared: ComparedTables, name: str, test: PublicRows | None, correct: Correct, raw_correct: Correct
) -> dict[str, Any]:
    """The distances within each value of an attribute, and the accuracy of each classifier in it.

    `correct` says which test rows each classifier predicts correctly, `raw_correct` those of classifiers trained on raw
    rows. The latter are left out if they could not be tested on the same rows.
    """
    schema = compared.true.schema
    grouping = Grouping.by(schema[name])
    groups = group_distances(
        grouping,
        compared.columns,
        compared.published,
        compared.released,
        compared.true.columns,
        compared.binned,
        schema,
    )
    tested = None if test is None else grouping.group_of[test.columns[name]]
    lines = []
    for group in groups:
        line = {key: value for key, value in asdict(group).items() if key != "place"}
        if tested is not None:
            here = tested == group.place
            line["test_records"] = int(here.sum())
            for key, rights in (("accuracy", correct), ("raw_accuracy", raw_correct)):
                if rights and all(len(right) == len(here) for right in rights.values()):
                    line[key] = {
                        classifier: float(right[here].mean()) if here.any() else None
                        for classifier, right in rights.items()
                    }
        lines.append(line)
    return {"attribute": name, "groups": lines, "left_out": _left_out(compared, grouping, len(groups))}


def _left_out(compared: ComparedTables, grouping: Grouping, listed: int) -> int:
    """How many groups with records are not listed, because there are too many."""
    present: Sequence[int] = np.unique(grouping.group_of[compared.true.columns[grouping.name]]).tolist()
    return len(present) - listed
