"""Measures of the risk of re-identification, from the sizes of groups of records that look alike.

A group is all records that agree in a quasi-identifier, the attributes by which someone could recognize a person. The
three attackers are those of El Emam (Guide to the De-Identification of Personal Health Information, 2013):

- The *prosecutor* knows that a person is in the table, and picks one of the records that look like the person.
- The *journalist* does not know who is in the table, and compares a record with the whole population.
- The *marketer* links as many records as possible; what counts is the expected share of right links.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from scumble.mining.risk.population import mean_inverse_sizes
from scumble.model.counts import Floats, Integers
from scumble.model.diversity import MoveCosts, distinct_values, effective_values
from scumble.model.schema import Attribute

SIZE_BANDS = ((1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, 49), (50, 99), (100, None))
"""Sizes of groups that are reported together, both ends included."""


def size_distribution(sizes: Integers) -> list[dict[str, Any]]:
    """How many groups, and how many records in them, have a size in each of the bands.

    >>> [band for band in size_distribution(np.array([1, 1, 7])) if band["groups"]]
    [{'from': 1, 'to': 1, 'groups': 2, 'records': 2}, {'from': 5, 'to': 9, 'groups': 1, 'records': 7}]
    """
    bands = []
    for low, high in SIZE_BANDS:
        inside = sizes[(sizes >= low) & (sizes <= (sizes.max(initial=0) if high is None else high))]
        bands.append({"from": low, "to": high, "groups": len(inside), "records": int(inside.sum())})
    return bands


def attackers(sizes: Integers, *, threshold: float, population: int | None) -> dict[str, Any]:
    """The risks that the three attackers pose.

    The risk of a record is the probability that a link to it is right: 1 / f for the prosecutor, where f is the size of
    its group. For the journalist it is the expectation of 1 / F, where F is the unknown size of the group in the
    population (`mean_inverse_sizes`), or 1 / f as an upper bound without a `population`. `records_at_risk` is the share
    of records whose risk is above the threshold.
    """
    known = 1 / np.maximum(sizes, 1)
    unknown = known if population is None else mean_inverse_sizes(sizes, population)
    return {
        "prosecutor": _risk(sizes, known, threshold),
        "journalist": _risk(sizes, unknown, threshold) | {"basis": "table" if population is None else "population"},
        "marketer": _mean(sizes, unknown),
    }


def _risk(sizes: Integers, risks: Floats, threshold: float) -> dict[str, Any]:
    return {
        "highest": float(risks.max(initial=0.0)),
        "average": _mean(sizes, risks),
        "records_at_risk": float(sizes[risks > threshold].sum() / max(int(sizes.sum()), 1)),
    }


def _mean(sizes: Integers, risks: Floats) -> float:
    """The mean risk over all records."""
    return float((sizes * risks).sum() / max(int(sizes.sum()), 1))


def diversity(counts: Integers, sensitive: Attribute) -> Mapping[str, float]:
    """l and t of a table: the least diverse group. `counts` has a line for each group and a column for each value."""
    if not len(counts):
        return {"distinct_l": 0, "entropy_l": 0.0, "t": 0.0}
    return {
        "distinct_l": int(distinct_values(counts).min()),
        "entropy_l": float(effective_values(counts).min()),
        "t": float(MoveCosts.of(sensitive).distances(counts).max()),
    }


def homogeneous_records(counts: Integers) -> float:
    """The share of records in groups in which all records have the same sensitive value: nobody needs to recognize
    their record to learn it."""
    alone = distinct_values(counts) == 1
    return float(counts[alone].sum() / max(int(counts.sum()), 1))
