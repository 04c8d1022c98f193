"""A release in memory: what is published, what it promises and what was paid for it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scumble.model.counts import Integers
from scumble.model.local.noise_model import NoiseModel
from scumble.model.plan import BlurPlan, Planned
from scumble.model.rounding import Rounding
from scumble.model.schema import Schema
from scumble.model.values import Column


@dataclass(frozen=True, kw_only=True)
class Release:
    """What every release has. `story` tells, in words made of paid answers alone, how it came about."""

    method: str
    parameters: Mapping[str, Any]
    plan: Planned | BlurPlan
    schema: Schema
    story: tuple[str, ...] = ()

    @property
    def tables(self) -> Mapping[str, Schema]:
        """The tables to learn from, each with the schema that its rows follow, the recommended one first."""
        return {"table": self.schema}

    @property
    def recommended(self) -> str:
        """The table to train any classifier on."""
        return next(iter(self.tables))


@dataclass(frozen=True, kw_only=True)
class CellRelease(Release):
    """Noisy counts over the cells of a published schema, in row-major order, by class.

    `measured` is what the noise left, in units of 1/`resolution`: signed and unbiased, with `variance` for each entry.
    `count` is the same made fit for use as a table: whole numbers, none negative.
    """

    measured: Integers
    resolution: int
    variance: float
    rounding: Rounding
    count: Integers
    fine: "FineRows | None" = None
    documents: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """What was measured beside the cells, by name, as plain data: each becomes a JSON file."""

    @property
    def tables(self) -> Mapping[str, Schema]:
        return {**({} if self.fine is None else {"fine": self.fine.schema}), "table": self.schema}


@dataclass(frozen=True, kw_only=True)
class FineRows:
    """Rows in the proportions of the cells' counts, each drawn inside its cell, in the words of the public schema."""

    schema: Schema
    columns: Mapping[str, Column]

    @property
    def rows(self) -> int:
        return len(next(iter(self.columns.values()), ()))


@dataclass(frozen=True, kw_only=True)
class RecordRelease(Release):
    """Records that nobody is: a column for each published attribute, numbers or labels, and further documents.

    A number lies anywhere in its attribute's range, or is NaN where it is missing; a label is a name of the published
    schema.
    """

    columns: Mapping[str, Column]
    documents: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """What the receiver needs beside the records, by name, as plain data: each becomes a JSON file."""

    @property
    def records(self) -> int:
        return len(next(iter(self.columns.values()), ()))


@dataclass(frozen=True, kw_only=True)
class BlurredRelease(Release):
    """Records that their owners blurred before anybody saw them, and how. They stay in their file: there may be many
    millions."""

    noise: NoiseModel
    records: int
