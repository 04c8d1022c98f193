"""Parameters of `microaggregate`, and how its plan computes depth and spends from public facts."""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from math import log
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from scumble.errors import InputError
from scumble.methods.method import Exact, Params
from scumble.methods.microaggregate.partition import POSITIONS
from scumble.model.budget import Budget
from scumble.model.guarantee import Unit
from scumble.model.plan import Spend
from scumble.model.schema import Schema
from scumble.model.taxonomy import Tree
from scumble.privacy.noise import selection_scale

AUTO = Literal["auto"]
DEEPEST = 10
"""At most 1,024 groups by default, because each takes a private selection for every attribute, about a millisecond."""

SPLIT_SHARE = Fraction(1, 5)
SIZE_SHARE = Fraction(1, 20)
GROWTH = Fraction(7, 5)
"""Each level gets 7/5 of the epsilon of the level above. The error in ranks of a level, relative to the size of its
boxes, is proportional to 2^level divided by its epsilon. For a fixed total, the sum of these errors is least if
epsilons grow by a factor of sqrt 2 per level."""
PER_GROUP = 5
PER_TABLE = 3
"""The expected error of a private median is at most scale x ln(positions) ranks. Groups have at least five times as
many records, so that the error is at most a fifth of a group. If the whole table has less than three times as many,
neither splits nor centres are measured."""

CENTRES, SIZES, SUMS = "median of an attribute in every group", "size of every group", "sums and size of every group"


def split_label(level: int) -> str:
    return f"halve the boxes, level {level + 1}"


class Centre(StrEnum):
    """What represents a group."""

    MEDIAN = "median"
    """A private median of each attribute. It minimizes the absolute distance to the records."""
    MEAN = "mean"
    """Noisy sum divided by noisy size. Averages of the release estimate averages of the table. Categories are in the
    noisy proportions of the group."""
    SHARES = "shares"
    """Noisy counts of every attribute: records of a group have values in these proportions."""


class Microaggregate(Params):
    """Parameters of `microaggregate`: groups of similar records, each replaced by a noisy centre.

    `epsilon` is the privacy budget of the whole release. `centre` is what represents a group: median, mean, or the
    shares of its values; by default median for numbers, and shares for tables with categories or missing values.
    `depth` is how often boxes are halved, for 2^depth groups; by default it follows from epsilon and the number of
    rows. A wrong parameter raises `InputError`.

    >>> Microaggregate(epsilon="1", centre="mean")
    Microaggregate(epsilon='1', centre='mean')
    """

    method_name = "microaggregate"

    epsilon: Annotated[Exact, Field(description="The privacy budget of the whole release.")]
    centre: Annotated[
        Centre | AUTO,
        Field(
            description="What represents a group: median, mean or shares. By default median for numbers, and shares "
            "for tables with categories or missing values."
        ),
    ] = "auto"
    depth: Annotated[
        Annotated[int, Field(ge=0, le=16)] | AUTO,
        Field(description="Number of levels of splits, for 2^depth groups. By default computed from epsilon and rows."),
    ] = "auto"

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            epsilon: Budget,
            centre: Centre | Literal["auto", "median", "mean", "shares"] = ...,
            depth: int | AUTO = ...,
        ) -> None: ...

    def centre_for(self, schema: Schema) -> Centre:
        """What represents a group of a table of this schema."""
        if self.centre == "auto":
            return Centre.SHARES if has_other_values(schema) else Centre.MEDIAN
        return self.centre

    def counts_values(self, schema: Schema) -> bool:
        """Whether groups are described by counts of values: for mixed tables, and to publish shares."""
        return has_other_values(schema) or self.centre_for(schema) is Centre.SHARES


def has_other_values(schema: Schema) -> bool:
    """Whether a table is mixed: some values are not numbers on a grid, or may be missing."""
    return any(isinstance(each.domain, Tree) or each.missing is not None for each in schema.attributes)


@dataclass(frozen=True, kw_only=True)
class PartitionSettings:
    """Everything that the plan decides."""

    depth: int
    centre: Centre
    measures_centres: bool
    """False if the table is too small for its epsilon; then the middle of the public domain is published."""
    sized: bool
    """Whether sizes are measured. False for one group under `replace`, whose size is public."""
    spends: tuple[Spend, ...]
    notes: tuple[str, ...]


def partition_settings(schema: Schema, parameters: Microaggregate) -> PartitionSettings:
    """Depth and spends, from the schema and the parameters only."""
    rows = schema.rows if schema.rows is not None else schema.rows_at_most
    if rows is None:
        raise InputError(
            "microaggregate needs a public number of rows to plan its groups. Add `rows_at_most:` to the schema."
        )
    if parameters.depth == "auto":
        depth = max(
            (d for d in range(1, DEEPEST + 1) if _large_enough(schema, parameters, rows, d, PER_GROUP)), default=0
        )
    else:
        depth = parameters.depth
    too_few_rows = (
        parameters.depth == "auto" and depth == 0 and not _large_enough(schema, parameters, rows, 0, PER_TABLE)
    )
    centre = Centre.MEDIAN if too_few_rows else parameters.centre_for(schema)
    sized = too_few_rows or depth > 0 or schema.unit is Unit.ADD_REMOVE
    spends = (
        *split_spends(schema, parameters.epsilon * SPLIT_SHARE, depth),
        *_group_spends(schema, parameters, depth, too_few_rows),
    )
    return PartitionSettings(
        depth=depth,
        centre=centre,
        measures_centres=not too_few_rows,
        sized=sized,
        spends=spends,
        notes=_notes(rows, depth, too_few_rows),
    )


def _large_enough(schema: Schema, parameters: Microaggregate, rows: int, depth: int, times: int) -> bool:
    """Whether groups of rows / 2^depth records are at least `times` as large as the error of their centres."""
    spend = _group_spends(schema, parameters, depth, too_few_rows=False)[0]
    # A median has sensitivity 1 per selection; the vector of sums has 1 + attributes times as much.
    bound = (
        1 if parameters.centre_for(schema) is Centre.MEDIAN else shared_factor(schema) * (1 + len(schema.attributes))
    )
    scale = selection_scale(sensitivity=bound, monotone=True, epsilon=spend.epsilon)
    return rows >= 2**depth * times * float(scale) * log(POSITIONS)


def shared_factor(schema: Schema) -> int:
    """The factor by which the price of a spend shared by disjoint boxes counts: 2 under replace, else 1."""
    return 2 if schema.unit is Unit.REPLACE else 1


def split_spends(schema: Schema, epsilon: Fraction, depth: int) -> tuple[Spend, ...]:
    """The spends of the levels, which add up to epsilon; none if there are no levels."""
    weights = [GROWTH**level for level in range(depth)]
    return tuple(
        Spend(
            label=split_label(level),
            epsilon=epsilon * weight / sum(weights) / shared_factor(schema),
            shared=True,
            purpose="one private selection in each box: where it is split",
        )
        for level, weight in enumerate(weights)
    )


def _group_spends(schema: Schema, parameters: Microaggregate, depth: int, too_few_rows: bool) -> tuple[Spend, ...]:
    left = parameters.epsilon * (1 - SPLIT_SHARE if depth else 1)
    if too_few_rows:
        return (
            Spend(
                label=SIZES,
                epsilon=left,
                purpose="discrete Laplace noise; too few rows for this epsilon to measure anything else",
            ),
        )
    if parameters.centre_for(schema) is Centre.MEAN:
        return (Spend(label=SUMS, epsilon=left, purpose="discrete Laplace noise on every sum and size"),)
    sized = depth > 0 or schema.unit is Unit.ADD_REMOVE
    sizes = parameters.epsilon * SIZE_SHARE if sized else Fraction(0)
    attributes = len(schema.attributes)
    centres = Spend(
        label=CENTRES,
        epsilon=(left - sizes) / attributes / shared_factor(schema),
        times=attributes,
        shared=True,
        purpose="one private selection in each box: a position near the median",
    )
    counted = Spend(label=SIZES, epsilon=sizes, purpose="discrete Laplace noise on every size")
    return (centres, counted) if sized else (centres,)


def _notes(rows: int, depth: int, too_few_rows: bool) -> tuple[str, ...]:
    groups = f"{2**depth:,} groups of about {rows // 2**depth:,} records each, for {rows:,} rows and this epsilon."
    if too_few_rows:
        return (
            groups,
            "There are too few rows for this epsilon: the middle of the public domain is published as centre.",
        )
    return (groups,)
