"""Fidelity by subgroup: the distances within the rows that have the same value of an attribute.

A mean over all records hides small groups. A published value that covers several groups counts evenly for each of them.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from scumble.errors import InputError
from scumble.mining.fidelity.margins import BinnedColumn, BinnedTable, margin_distances
from scumble.mining.fidelity.one_way import Columns
from scumble.model.counts import Floats, Integers
from scumble.model.grid import Grid
from scumble.model.public_bins import USUAL_BINS, public_bins
from scumble.model.schema import Attribute, Schema

MOST_GROUPS = 60
"""Of more groups, those with most records are reported."""


@dataclass(frozen=True, kw_only=True)
class Grouping:
    """The groups of an attribute: each category, or at most twenty intervals of numbers."""

    name: str
    labels: tuple[str, ...]
    group_of: Integers
    """The group of each code of the public domain."""

    @classmethod
    def by(cls, attribute: Attribute) -> "Grouping":
        domain = attribute.domain
        if not isinstance(domain, Grid):
            return cls(name=attribute.name, labels=domain.labels, group_of=np.arange(domain.size))
        bins = public_bins(attribute, USUAL_BINS)
        labels = tuple(domain.interval(low, high).label for low, high in pairwise(bins.bounds))
        return cls(name=attribute.name, labels=labels, group_of=bins.by_code)


@dataclass(frozen=True, kw_only=True)
class Subgroup:
    """A subgroup: its share of the true records and of the published table, and the distances within it."""

    place: int
    label: str
    records: int
    share: float
    released_share: float
    one_way: float
    two_way: float | None
    """None if there are fewer than two other attributes."""


def group_distances(
    grouping: Grouping,
    columns: Columns,
    published: Schema,
    released: BinnedTable,
    true_columns: Columns,
    true: BinnedTable,
    schema: Schema,
) -> list[Subgroup]:
    """The groups with true records, the largest ones if they are many, in the order of the domain.

    The attribute itself, which is constant within a group, is left out of the distances.
    """
    domain = schema[grouping.name].domain
    shown = BinnedColumn.of(columns[grouping.name], published[grouping.name].domain, domain, grouping.group_of)
    group = grouping.group_of[true_columns[grouping.name]]
    records = np.bincount(group, minlength=len(grouping.labels))
    weights = np.ones(released.rows) if released.weights is None else released.weights.astype(np.float64)
    others = [name for name in schema.names if name != grouping.name]
    if not others:
        raise InputError(
            f"The release has no attribute beside {grouping.name!r}. Name another attribute for the groups."
        )
    found = []
    for place in np.sort(np.argsort(-records, kind="stable")[:MOST_GROUPS]).tolist():
        if not records[place]:
            continue
        member: Floats = shown.shares[:, place][shown.atoms]
        parts = released.weighted(member), true.weighted((group == place).astype(np.float64))
        distances = margin_distances(*parts, others, ways=(1, 2))
        found.append(
            Subgroup(
                place=place,
                label=grouping.labels[place],
                records=int(records[place]),
                share=float(records[place] / records.sum()),
                released_share=float((member * weights).sum() / max(weights.sum(), 1.0)),
                one_way=distances[1].mean,
                two_way=distances[2].mean if 2 in distances else None,
            )
        )
    return found
