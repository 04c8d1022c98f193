"""Parameters of `microaggregate`, and the plan's arithmetic: how depth and shares follow from public facts."""

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
from scumble.privacy.noise import selection_scale

AUTO = Literal["auto"]
DEEPEST = 10
"""At most 1,024 groups by default: each costs a private choice for every attribute, about a millisecond."""

SPLIT_SHARE = Fraction(1, 5)
SIZE_SHARE = Fraction(1, 20)
GROWTH = Fraction(7, 5)
"""Each level costs 7/5 of the one above. A level's error in ranks, relative to its boxes, is 2^level / epsilon of the
level; the sum of those at a fixed sum of epsilons is least for a growth of sqrt 2."""
PER_GROUP = 5
TO_LOOK = 3
"""A private median of a group is off by at most scale x ln(positions) ranks on average. Groups are made as small as
five times that: a fifth of a group. A table that is not three times as large is not worth asking about at all."""

CENTRES, SIZES, SUMS = "median of an attribute in every group", "size of every group", "sums and size of every group"


def split_label(level: int) -> str:
    return f"halve the boxes, level {level + 1}"


class Centre(StrEnum):
    """What stands for a group."""

    MEDIAN = "median"
    """A private median of each attribute: nearest to the records in absolute distance."""
    MEAN = "mean"
    """Noisy sum over noisy size: averages of the release are averages of the table, up to noise."""


class Microaggregate(Params):
    """Parameters of the method `microaggregate`."""

    method_name = "microaggregate"

    epsilon: Annotated[Exact, Field(description="The privacy budget of the whole release.")]
    centre: Annotated[Centre, Field(description="What stands for a group: median or mean.")] = Centre.MEDIAN
    depth: Annotated[
        Annotated[int, Field(ge=0, le=16)] | AUTO,
        Field(description="How often boxes are halved, for 2^depth groups; from epsilon and rows by default."),
    ] = "auto"

    if TYPE_CHECKING:

        def __init__(
            self, *, epsilon: Budget, centre: Centre | Literal["median", "mean"] = ..., depth: int | AUTO = ...
        ) -> None: ...


@dataclass(frozen=True, kw_only=True)
class PartitionSettings:
    """Everything the plan decides."""

    depth: int
    centre: Centre
    asks_centres: bool
    """False: the table is too small for its epsilon, and the public middle of the domain is published."""
    sized: bool
    """False: one group under `replace`, whose size is public."""
    spends: tuple[Spend, ...]
    notes: tuple[str, ...]


def settle(schema: Schema, parameters: Microaggregate) -> PartitionSettings:
    """The plan's arithmetic, from the schema and the parameters alone."""
    rows = schema.rows if schema.rows is not None else schema.rows_at_most
    if rows is None:
        raise InputError(
            "microaggregate plans its groups by the public number of rows. Add `rows_at_most:` to the schema."
        )
    if parameters.depth == "auto":
        depth = max((d for d in range(1, DEEPEST + 1) if _worth(schema, parameters, rows, d, PER_GROUP)), default=0)
    else:
        depth = parameters.depth
    starved = parameters.depth == "auto" and depth == 0 and not _worth(schema, parameters, rows, 0, TO_LOOK)
    centre = Centre.MEDIAN if starved else parameters.centre
    sized = starved or depth > 0 or schema.unit is Unit.ADD_REMOVE
    spends = (*_split_spends(schema, parameters.epsilon, depth), *_group_spends(schema, parameters, depth, starved))
    return PartitionSettings(
        depth=depth,
        centre=centre,
        asks_centres=not starved,
        sized=sized,
        spends=spends,
        notes=_notes(rows, depth, starved),
    )


def _worth(schema: Schema, parameters: Microaggregate, rows: int, depth: int, times: int) -> bool:
    """Whether groups of rows / 2^depth are `times` as large as the error of asking for their centres."""
    spend = _group_spends(schema, parameters, depth, starved=False)[0]
    # A median's bound is 1 a choice; sums have 1 + attributes times that for one vector.
    bound = 1 if parameters.centre is Centre.MEDIAN else _doubled(schema) * (1 + len(schema.attributes))
    scale = selection_scale(sensitivity=bound, monotone=True, epsilon=spend.epsilon)
    return rows >= 2**depth * times * float(scale) * log(POSITIONS)


def _doubled(schema: Schema) -> int:
    """A price shared by disjoint boxes counts twice under replace."""
    return 2 if schema.unit is Unit.REPLACE else 1


def _split_spends(schema: Schema, epsilon: Fraction, depth: int) -> tuple[Spend, ...]:
    weights = [GROWTH**level for level in range(depth)]
    return tuple(
        Spend(
            label=split_label(level),
            epsilon=epsilon * SPLIT_SHARE * weight / sum(weights) / _doubled(schema),
            shared=True,
            purpose="a private choice of where each box is halved",
        )
        for level, weight in enumerate(weights)
    )


def _group_spends(schema: Schema, parameters: Microaggregate, depth: int, starved: bool) -> tuple[Spend, ...]:
    left = parameters.epsilon * (1 - SPLIT_SHARE if depth else 1)
    if starved:
        return (Spend(label=SIZES, epsilon=left, purpose="too few rows for this epsilon to ask for anything else"),)
    if parameters.centre is Centre.MEAN:
        return (Spend(label=SUMS, epsilon=left, purpose="discrete Laplace noise; divided after the noise"),)
    sized = depth > 0 or schema.unit is Unit.ADD_REMOVE
    sizes = parameters.epsilon * SIZE_SHARE if sized else Fraction(0)
    attributes = len(schema.attributes)
    centres = Spend(
        label=CENTRES,
        epsilon=(left - sizes) / attributes / _doubled(schema),
        times=attributes,
        shared=True,
        purpose="a private choice of a balanced position in every box",
    )
    counted = Spend(label=SIZES, epsilon=sizes, purpose="discrete Laplace noise on every size")
    return (centres, counted) if sized else (centres,)


def _notes(rows: int, depth: int, starved: bool) -> tuple[str, ...]:
    groups = f"{2**depth:,} groups of about {rows // 2**depth:,} records, from {rows:,} rows and epsilon."
    if starved:
        return (groups, "Too few rows for this epsilon: the centre is the middle of the public domain.")
    return (groups,)
