"""`microaggregate` on a mixed table: margins first, then a private partition, then the profile of each group.

1. The counts of every attribute by bin are measured for the whole table.
2. They say about how many records there are. From this number follows how often boxes are halved, and how the remaining
   budget is divided.
3. If the schema has a target, there is a box for each class. Boxes are then halved at privately selected positions.
4. The counts of every attribute by bin are measured for each group.

Everything else is post-processing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log

import numpy as np

from scumble.errors import InputError
from scumble.methods.microaggregate.growth import grow
from scumble.methods.microaggregate.mixed.estimates import NoisyTables, estimated_counts, pooled_sizes
from scumble.methods.microaggregate.mixed.profiles import Profiles
from scumble.methods.microaggregate.mixed.rows import MixedGroups, columns_of, seed_of
from scumble.methods.microaggregate.mixed.sides import Side
from scumble.methods.microaggregate.parameters import (
    DEEPEST,
    SPLIT_SHARE,
    Microaggregate,
    shared_factor,
    split_spends,
)
from scumble.methods.microaggregate.partition import POSITIONS, Partition
from scumble.methods.microaggregate.queries import Offer
from scumble.methods.microaggregate.sizes import usable_sizes
from scumble.model.counts import Floats
from scumble.model.grid import Grid
from scumble.model.guarantee import PureDP, Unit
from scumble.model.plan import Plan, Spend
from scumble.model.release import RecordRelease
from scumble.model.rounding import project
from scumble.model.row_limit import row_counts, row_limit_story
from scumble.model.schema import Schema
from scumble.privacy.holder import Holder
from scumble.privacy.query import Box

MARGIN_SHARE = Fraction(2, 5)
PER_GROUP = 10
"""Groups have at least so many times as many records as the expected largest noise of 32 counts."""
MARGINS = "counts of every attribute"
GROUPS = "groups of records"
PROFILES = "counts of every attribute in every group"
MOST_GROUPS = 1 << DEEPEST
LARGEST = 1 << 16
"""The number of groups is at most `MOST_GROUPS` by default, and at most `LARGEST` if the depth is given."""


def plan_mixed(schema: Schema, parameters: Microaggregate) -> Plan:
    """The plan of a mixed table: the margins, and a spend that is divided once these are known."""
    epsilon, depth = parameters.epsilon, parameters.depth
    groups = MOST_GROUPS if depth == "auto" else len(schema.classes) * 2**depth
    if groups > LARGEST:
        raise InputError(
            f"depth {depth} and {len(schema.classes):,} classes make {groups:,} groups, more than {LARGEST:,}. Give a "
            "smaller depth."
        )
    how = "depends on how many records they count" if depth == "auto" else f"{depth} levels of splits"
    return Plan(
        guarantee=PureDP(epsilon=epsilon, unit=schema.unit),
        spends=(
            Spend(label=MARGINS, epsilon=epsilon * MARGIN_SHARE, purpose="discrete Laplace noise on every count"),
            Spend(
                label=GROUPS,
                epsilon=epsilon * (1 - MARGIN_SHARE),
                purpose=f"divided between splits and counts of groups after the first counts: {how}",
            ),
        ),
        cells_at_most=groups,
        notes=(f"At most {groups:,} groups. The table is mixed: groups are described by counts of every attribute.",),
    )


@dataclass(frozen=True, kw_only=True)
class GroupBudget:
    """How many groups there are, and how the budget of the groups is divided."""

    by_class: bool
    depth: int
    spends: tuple[Spend, ...]


def divide_budget(schema: Schema, parameters: Microaggregate, records: float) -> GroupBudget:
    """The number of levels and the spends, from public facts and the noisy number of records."""
    whole = parameters.epsilon * (1 - MARGIN_SHARE)
    by_class = schema.target is not None
    classes = len(schema.classes)
    if parameters.depth != "auto":
        depth = parameters.depth
    else:
        deepest = [d for d in range(DEEPEST + 1) if classes * 2**d <= MOST_GROUPS]
        fitting = [d for d in deepest if _large_enough(schema, whole, records, classes * 2**d, d)]
        by_class = by_class and bool(fitting)
        depth = max(fitting, default=0)
    splits = split_spends(schema, whole * SPLIT_SHARE, depth)
    left = whole * (1 - SPLIT_SHARE if depth else 1)
    counted = Spend(label=PROFILES, epsilon=left, purpose="discrete Laplace noise on every count")
    return GroupBudget(by_class=by_class, depth=depth, spends=(*splits, counted))


def _large_enough(schema: Schema, epsilon: Fraction, records: float, groups: int, depth: int) -> bool:
    """Whether groups are at least `PER_GROUP` times as large as the largest noise among 32 counts."""
    left = epsilon * (1 - SPLIT_SHARE if depth else 1)
    scale = shared_factor(schema) * len(schema.attributes) / left
    return records >= groups * PER_GROUP * float(scale) * log(POSITIONS)


def run_mixed(schema: Schema, parameters: Microaggregate, holder: Holder) -> RecordRelease:
    """Ask the planned queries and make the release."""
    sides = tuple(Side.of(attribute) for attribute in schema.attributes)
    whole = Partition.whole(schema)
    margins = _measure(Profiles(partition=whole, sides=sides), MARGINS, holder)
    counted, _ = pooled_sizes(whole, sides, margins)
    records = float(schema.rows) if schema.unit is Unit.REPLACE and schema.rows is not None else float(counted[0])
    division = divide_budget(schema, parameters, records)
    holder.divide(GROUPS, division.spends)
    start = by_class(whole, schema) if division.by_class else whole
    story: list[str] = []
    offers = Offers(sides=sides, masses=_masses(margins, sides))
    partition = grow(start, division.depth, offers.offer, holder, lambda *cut: story.append(_describe(sides, *cut)))
    profiles = _measure(Profiles(partition=partition, sides=sides), PROFILES, holder)
    found, error = pooled_sizes(partition, sides, profiles)
    sizes = usable_sizes(np.rint(found).astype(np.int64), schema)
    error = 0.0 if schema.unit is Unit.REPLACE else error
    groups = MixedGroups(
        sides=sides,
        partition=partition,
        margins=margins,
        profiles=profiles,
        counts=estimated_counts(partition, sides, sizes, margins, profiles),
        sizes=sizes,
        noise=holder.noise_kind,
        target=None if schema.target is None else schema.names.index(schema.target),
        records=(float(sizes.sum()) if schema.unit is Unit.REPLACE else float(found.sum()), error),
    )
    rows = row_counts(sizes, counted=float(sizes.sum()), error=error)
    return RecordRelease(
        method="microaggregate",
        parameters=parameters.model_dump(mode="json"),
        plan=holder.plan,
        schema=schema,
        columns=columns_of(sides, groups.counts, rows, parameters.centre_for(schema), seed_of(margins, profiles)),
        documents=groups.documents(),
        story=(*story, *row_limit_story(sizes, rows)),
        records_error=error,
    )


def _measure(query: Profiles, spend: str, holder: Holder) -> NoisyTables:
    variance = holder.variance(query, spend=spend)
    return NoisyTables(tables=query.tables(holder.measure(query, spend=spend)), variance=variance)


def by_class(partition: Partition, schema: Schema) -> Partition:
    """The public partition with a box for each class. It depends on the schema only."""
    side = schema.names.index(str(schema.target))
    for code in range(1, len(schema.classes)):
        partition = partition.halve({len(partition.boxes) - 1: (side, code)})
    return partition


def _masses(margins: NoisyTables, sides: Sequence[Side]) -> tuple[Floats, ...]:
    """The share of records in each bin, by the margins. One record more is spread over all bins of an attribute, so
    that no share is zero."""
    masses = []
    for side, table in zip(sides, margins.tables, strict=True):
        counts = project(table[0], max(1, int(table[0].sum()))) + 1 / side.bins
        masses.append(counts / counts.sum())
    return tuple(masses)


@dataclass(frozen=True, kw_only=True)
class Offers:
    """Where a box may be split, from public domains and measured margins.

    The attribute is the one in which a split can divide the most records evenly, if the margins are right and
    attributes are independent; the first among equals.
    """

    sides: tuple[Side, ...]
    masses: tuple[Floats, ...]

    def offer(self, box: Box) -> Offer | None:
        evenness = [self._evenness(number, *ends) for number, ends in enumerate(box)]
        best = max(range(len(box)), key=lambda number: evenness[number])
        return None if evenness[best] == 0 else (best, self.sides[best].offered(*box[best]))

    def _evenness(self, number: int, low: int, high: int) -> float:
        """The largest share of records on the smaller side of a split; 0 if there is no split."""
        side = self.sides[number]
        edges = side.edges(low, high)
        if not edges:
            return 0.0
        bins = side.within(low, high)
        before = np.concatenate([[0.0], np.cumsum(self.masses[number][bins])])
        places = [side.within(0, edge).stop - bins.start for edge in edges]
        return float(np.minimum(before[places], before[-1] - before[places]).max())


def _describe(sides: Sequence[Side], level: int, number: int, cut: int) -> str:
    side = sides[number]
    if isinstance(side.attribute.domain, Grid):
        return f"level {level + 1}: {side.attribute.name} at {side.attribute.domain.edge(cut)}"
    return f"level {level + 1}: {side.attribute.name} from {side.words(cut, cut + 1)[0]} on"
