"""`microaggregate` on a mixed table: margins first, then a private partition, then the profile of each group.

1. The number of records is measured, unless it is public. From it follows how often boxes are halved, and how the
   remaining budget is divided.
2. If boxes are halved, the counts of every attribute by bin are measured, for each class if the schema has a target.
3. The whole domain, or the box of each class, is halved level by level, at privately selected positions.
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
from scumble.methods.microaggregate.mixed.estimates import GroupEvidence, NoisyTables, pooled_sizes
from scumble.methods.microaggregate.mixed.profiles import Profiles
from scumble.methods.microaggregate.mixed.rows import MixedGroups, columns_of, seed_of
from scumble.methods.microaggregate.mixed.sides import Side
from scumble.methods.microaggregate.parameters import (
    DEEPEST,
    Microaggregate,
    shared_factor,
    split_label,
    split_spends,
)
from scumble.methods.microaggregate.partition import POSITIONS, Partition
from scumble.methods.microaggregate.queries import Offer, Sizes
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

COUNT_SHARE = Fraction(1, 50)
MARGIN_SHARE, SPLIT_SHARE, PROFILE_SHARE = Fraction(2, 5), Fraction(1, 10), Fraction(1, 2)
PER_GROUP = 10
"""Groups have at least so many times as many records as the expected largest noise of 32 counts."""
LEAST_WEIGHT = 0.05
"""The weight of an attribute that does not differ between classes."""
MOST_CLASSES = 8
"""A target with more classes is an attribute like any other."""
RECORDS = "number of records"
MARGINS = "counts of every attribute"
SPLITS = frozenset(split_label(level) for level in range(16))
GROUPS = "groups of records"
PROFILES = "counts of every attribute in every group"
MOST_GROUPS = 1 << DEEPEST
LARGEST = 1 << 16
"""The number of groups is at most `MOST_GROUPS` by default, and at most `LARGEST` if the depth is given."""


def plan_mixed(schema: Schema, parameters: Microaggregate) -> Plan:
    """The plan of a mixed table. If the number of groups depends on the number of records, which is not public, the
    records are counted first, and the rest is divided after that."""
    epsilon, depth = parameters.epsilon, parameters.depth
    groups = MOST_GROUPS if depth == "auto" else _parts(schema) * 2**depth
    if groups > LARGEST:
        raise InputError(
            f"depth {depth} and {_parts(schema)} classes make {groups:,} groups, more than {LARGEST:,}. Give a "
            "smaller depth."
        )
    if _counts_records(schema, parameters):
        spends: tuple[Spend, ...] = (
            Spend(label=RECORDS, epsilon=epsilon * COUNT_SHARE, purpose="discrete Laplace noise on the count"),
            Spend(label=GROUPS, epsilon=epsilon * (1 - COUNT_SHARE), purpose="divided after the records are counted"),
        )
    else:
        spends = divide_budget(schema, parameters, epsilon, schema.rows or 0)
    return Plan(
        guarantee=PureDP(epsilon=epsilon, unit=schema.unit),
        spends=spends,
        cells_at_most=groups,
        notes=(f"At most {groups:,} groups. The table is mixed: groups are described by counts of every attribute.",),
    )


def _counts_records(schema: Schema, parameters: Microaggregate) -> bool:
    """Whether the number of records is measured before the number of groups is decided."""
    return parameters.depth == "auto" and schema.unit is Unit.ADD_REMOVE


def divide_budget(schema: Schema, parameters: Microaggregate, epsilon: Fraction, records: float) -> tuple[Spend, ...]:
    """The spends of the groups, which add up to epsilon. The number of levels follows from public facts and the noisy
    number of records. Without splits, all of epsilon is spent on one table of counts."""
    parts, depth = _parts(schema), 0
    if parameters.depth != "auto":
        depth = parameters.depth
    else:
        levels = [level for level in range(1, DEEPEST + 1) if parts * 2**level <= MOST_GROUPS]
        depth = max((d for d in levels if _large_enough(schema, epsilon, records, parts * 2**d)), default=0)
    purpose = "discrete Laplace noise on every count"
    if depth == 0:
        return (Spend(label=PROFILES, epsilon=epsilon, purpose=purpose),)
    return (
        Spend(label=MARGINS, epsilon=epsilon * MARGIN_SHARE, purpose=purpose),
        *split_spends(schema, epsilon * SPLIT_SHARE, depth),
        Spend(label=PROFILES, epsilon=epsilon * PROFILE_SHARE, purpose=purpose),
    )


def _parts(schema: Schema) -> int:
    """How many parts are counted first: one for each class if there are few, else one."""
    return len(schema.classes) if len(schema.classes) <= MOST_CLASSES else 1


def _large_enough(schema: Schema, epsilon: Fraction, records: float, groups: int) -> bool:
    """Whether groups are at least `PER_GROUP` times as large as the largest noise among 32 counts."""
    scale = shared_factor(schema) * len(schema.attributes) / (epsilon * PROFILE_SHARE)
    return records >= groups * PER_GROUP * float(scale) * log(POSITIONS)


def run_mixed(schema: Schema, parameters: Microaggregate, holder: Holder) -> RecordRelease:
    """Ask the planned queries and make the release."""
    sides = tuple(Side.of(attribute) for attribute in schema.attributes)
    target = schema.names.index(str(schema.target)) if _parts(schema) > 1 else None
    start = by_class(Partition.whole(schema), schema) if target is not None else Partition.whole(schema)
    if _counts_records(schema, parameters):
        counted = holder.measure(Sizes(partition=Partition.whole(schema)), spend=RECORDS)
        rest = parameters.epsilon * (1 - COUNT_SHARE)
        holder.divide(GROUPS, divide_budget(schema, parameters, rest, float(counted[0])))
    labels = {spend.label for spend in holder.plan.spends}
    margins, partition, story = None, start, list[str]()
    if MARGINS in labels:
        margins = _measure(Profiles(partition=start, sides=sides), MARGINS, holder)
        offers, depth = Offers.of(sides, margins, target), len(labels & SPLITS)
        partition = grow(start, depth, offers.offer, holder, lambda *cut: story.append(_describe(sides, *cut)))
    profiles = _measure(Profiles(partition=partition, sides=sides), PROFILES, holder)
    found, error = pooled_sizes(partition, sides, profiles)
    sizes = usable_sizes(np.rint(found).astype(np.int64), schema)
    error = 0.0 if schema.unit is Unit.REPLACE else error
    part_of = np.array([part_of_box(box, target) for box in partition.boxes])
    evidence = GroupEvidence(
        partition=partition, sides=sides, part_of=part_of, first=margins, then=profiles, sizes=sizes
    )
    groups = MixedGroups(
        evidence=evidence,
        counts=evidence.counts(),
        noise=holder.noise_kind,
        target=target,
        records=(float(sizes.sum()) if schema.unit is Unit.REPLACE else float(found.sum()), error),
    )
    rows = row_counts(sizes, counted=float(sizes.sum()), error=error)
    return RecordRelease(
        method="microaggregate",
        parameters=parameters.model_dump(mode="json"),
        plan=holder.plan,
        schema=schema,
        columns=columns_of(
            sides,
            groups.counts,
            rows,
            parameters.centre_for(schema),
            seed_of(*(each for each in (margins, profiles) if each is not None)),
        ),
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


def part_of_box(box: Box, target: int | None) -> int:
    """The part that a box lies in: its class, if `target` is the place of the target."""
    return 0 if target is None else box[target][0]


@dataclass(frozen=True, kw_only=True)
class Offers:
    """Where a box may be split, from public domains and the counts that were measured first.

    The attribute is the one in which a split can divide the most records evenly, if these counts are right and
    attributes are independent; the first among equals. If there are classes, the number of records is weighted by how
    much the attribute differs between them.
    """

    sides: tuple[Side, ...]
    target: int | None
    """The place of the target if each part is a class; None if there is only one part."""
    shares: tuple[Floats, ...]
    """For each side, the share of records in each bin, by part."""
    weights: tuple[float, ...]

    @classmethod
    def of(cls, sides: tuple[Side, ...], margins: NoisyTables, target: int | None) -> "Offers":
        shares, weights = [], []
        for side, table in zip(sides, margins.tables, strict=True):
            # One record more is spread over all bins, so that no share is zero.
            counts = np.stack([project(line, max(1, int(line.sum()))) + 1 / side.bins for line in table])
            shares.append(counts / counts.sum(axis=1, keepdims=True))
            weights.append(1.0 if target is None else LEAST_WEIGHT + _difference(counts))
        return cls(sides=sides, target=target, shares=tuple(shares), weights=tuple(weights))

    def offer(self, box: Box) -> Offer | None:
        evenness = [self.weights[number] * self._evenness(number, box) for number in range(len(box))]
        best = max(range(len(box)), key=lambda number: evenness[number])
        return None if evenness[best] == 0 else (best, self.sides[best].offered(*box[best]))

    def _evenness(self, number: int, box: Box) -> float:
        """The largest share of records on the smaller side of a split; 0 if there is no split."""
        side = self.sides[number]
        edges = side.edges(*box[number])
        if not edges:
            return 0.0
        bins = side.within(*box[number])
        before = np.concatenate([[0.0], np.cumsum(self.shares[number][part_of_box(box, self.target)][bins])])
        places = [side.within(0, edge).stop - bins.start for edge in edges]
        return float(np.minimum(before[places], before[-1] - before[places]).max())


def _difference(counts: Floats) -> float:
    """The largest distance between the cumulative shares of a class and of all records (Kolmogorov and Smirnov)."""
    by_class, together = (
        np.cumsum(each, axis=-1) / each.sum(axis=-1, keepdims=True) for each in (counts, counts.sum(0))
    )
    return float(np.abs(by_class - together).max())


def _describe(sides: Sequence[Side], level: int, number: int, cut: int) -> str:
    side = sides[number]
    if isinstance(side.attribute.domain, Grid):
        return f"level {level + 1}: {side.attribute.name} at {side.attribute.domain.edge(cut)}"
    return f"level {level + 1}: {side.attribute.name} from {side.words(cut, cut + 1)[0]} on"
