"""`microaggregate`: groups records by a private partition of the public domain (proof: PROOF.md).

Level by level, every box is split in two, in the attribute in which it is widest, at a privately selected position that
divides its records evenly. Then the centre of each group is measured (a private median of each attribute, or noisy
sums), and its size. Depth and shares depend only on epsilon, the public number of rows and the number of attributes.
"""

from math import sqrt
from typing import Any, ClassVar

import numpy as np

from scumble.methods.coordinates import Amounts, require_numbers
from scumble.methods.grouped_records import PublishedGroups, record_release
from scumble.methods.microaggregate.growth import grow
from scumble.methods.microaggregate.mixed.run import plan_mixed, run_mixed
from scumble.methods.microaggregate.parameters import (
    CENTRES,
    SIZES,
    SUMS,
    Centre,
    Microaggregate,
    PartitionSettings,
    partition_settings,
)
from scumble.methods.microaggregate.partition import Partition, middle, positions, widest_side
from scumble.methods.microaggregate.queries import RESOLUTION, Balance, Offer, Sizes, Sums
from scumble.methods.microaggregate.sizes import usable_sizes
from scumble.model.counts import Integers
from scumble.model.grid import Grid
from scumble.model.guarantee import PureDP, Unit
from scumble.model.plan import Plan
from scumble.model.release import RecordRelease
from scumble.model.schema import Schema
from scumble.privacy.holder import Holder
from scumble.privacy.noise import laplace_variance
from scumble.privacy.query import Box


class MicroaggregateMethod:
    """The method `microaggregate`."""

    name = "microaggregate"
    summary = "Groups of similar records with a centre and a noisy size, differentially private."
    parameters = Microaggregate
    transcribed: ClassVar[tuple[dict[str, Any], ...]] = (
        {"depth": 2},
        {"depth": 2, "centre": "mean"},
        {"depth": 2, "centre": "shares"},
    )
    """Further modes under the transcript check. The depth of small tables is zero by default."""

    def plan(self, schema: Schema, parameters: Microaggregate) -> Plan:
        if parameters.counts_values(schema):
            return plan_mixed(schema, parameters)
        require_numbers(schema, self.name)
        settings = partition_settings(schema, parameters)
        return Plan(
            guarantee=PureDP(epsilon=parameters.epsilon, unit=schema.unit),
            spends=settings.spends,
            cells_at_most=2**settings.depth,
            notes=settings.notes,
        )

    def run(self, schema: Schema, parameters: Microaggregate, holder: Holder) -> RecordRelease:
        if parameters.counts_values(schema):
            return run_mixed(schema, parameters, holder)
        return record_release(self.groups(schema, parameters, holder), schema, parameters)

    def groups(self, schema: Schema, parameters: Microaggregate, holder: Holder) -> PublishedGroups:
        """The published groups of a table of numbers, before they are converted to records."""
        amounts = require_numbers(schema, self.name)
        settings = partition_settings(schema, parameters)
        story: list[str] = []
        partition = build_partition(schema, settings, holder, story)
        if settings.centre is Centre.MEAN:
            measured: Integers | None
            measured, centres = _means(partition, amounts, holder)
            error = _total_error(Sums(partition=partition, amounts=amounts), SUMS, holder) / RESOLUTION
        else:
            centres = _medians(schema, partition, settings, amounts, holder)
            query = Sizes(partition=partition)
            measured = holder.measure(query, spend=SIZES) if settings.sized else None
            error = 0.0 if measured is None else _total_error(query, SIZES, holder)
        return PublishedGroups(
            method=self.name,
            plan=holder.plan,
            names=tuple(attribute.name for attribute in schema.attributes),
            centres=centres,
            measured=measured,
            error=0.0 if schema.unit is Unit.REPLACE else error,
            sizes=usable_sizes(measured, schema),
            boxes=partition.boxes,
            story=tuple(story),
        )


def _total_error(query: Sizes | Sums, spend: str, holder: Holder) -> float:
    """The standard error of the sum of all measured sizes, in the units of the query."""
    bound = query.sensitivity(holder.unit).bound
    return sqrt(laplace_variance(sensitivity=bound, epsilon=holder.plan.price(spend)) * len(query.partition.boxes))


def build_partition(schema: Schema, settings: PartitionSettings, holder: Holder, story: list[str]) -> Partition:
    """Split every box that has more than one code in two, once for each level of the plan."""

    def offer(box: Box) -> Offer | None:
        side = widest_side(schema, box)
        return None if side is None else (side, _offered(schema, box, side))

    return grow(
        Partition.whole(schema), settings.depth, offer, holder, lambda *cut: story.append(_describe(schema, *cut))
    )


def _describe(schema: Schema, level: int, side: int, cut: int) -> str:
    attribute = schema.attributes[side]
    assert isinstance(attribute.domain, Grid)
    return f"level {level + 1}: {attribute.name} at {attribute.domain.edge(cut)}"


def _offered(schema: Schema, box: Box, side: int) -> tuple[int, ...]:
    grid = schema.attributes[side].domain
    assert isinstance(grid, Grid)
    return positions(grid, *box[side])


def _medians(
    schema: Schema, partition: Partition, settings: PartitionSettings, amounts: tuple[Amounts, ...], holder: Holder
) -> tuple[tuple[float, ...], ...]:
    """A private median of each attribute in every box; the middle of each box if no medians are planned."""
    columns: list[list[float]] = []
    for side, scale in enumerate(amounts):
        if settings.measures_centres:
            offers = {leaf: (side, _offered(schema, box, side)) for leaf, box in enumerate(partition.boxes)}
            query = Balance.of(partition, offers)
            chosen = holder.choose_in_parts(query, spend=CENTRES)
            codes = [offered[choice] for offered, choice in zip(query.positions, chosen, strict=True)]
        else:
            grid = schema.attributes[side].domain
            assert isinstance(grid, Grid)
            codes = [middle(grid, *box[side]) for box in partition.boxes]
        columns.append([scale.value(float(scale.of_codes(np.array([code]))[0])) for code in codes])
    return tuple(zip(*columns, strict=True))


def _means(
    partition: Partition, amounts: tuple[Amounts, ...], holder: Holder
) -> tuple[Integers, tuple[tuple[float, ...], ...]]:
    """Noisy sums divided by noisy sizes, clamped to the box. A box measured as empty gets its middle as centre."""
    query = Sums(partition=partition, amounts=amounts)
    totals = holder.measure(query, spend=SUMS).reshape(len(partition.boxes), 1 + len(amounts))
    lows, highs = query.ends()
    places = np.clip(totals[:, 1:] / np.maximum(totals[:, :1], RESOLUTION), -1, 1)
    centres = (lows + highs) / 2 + places * (highs - lows) / 2
    values = [
        [scale.value(float(amount)) for amount in column] for scale, column in zip(amounts, centres.T, strict=True)
    ]
    return (2 * totals[:, 0] + RESOLUTION) // (2 * RESOLUTION), tuple(zip(*values, strict=True))
