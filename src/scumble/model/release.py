"""A release in memory: the published data, its guarantee and the plan that paid for it.

Five kinds: `CellRelease` (noisy counts), `RecordRelease` (synthetic or averaged records), `GeneralizedRelease` (exact
counts of generalized values, without noise), `BlurredRelease` (records that were perturbed one by one) and
`ClassifierRelease` (a trained classifier and no table). Code that works on any kind uses the methods of `Release`; how
a kind is stored on disk is in `scumble.files.kinds`.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from scumble.errors import InputError
from scumble.model.coded_columns import CodedColumns
from scumble.model.counts import Integers
from scumble.model.display import Displayed, Listing, Summary, plural
from scumble.model.generalized import spread
from scumble.model.plan import Plan, guarantee_text
from scumble.model.rounding import Rounding
from scumble.model.row_limit import row_counts
from scumble.model.schema import Schema
from scumble.model.values import Column, published_values

if TYPE_CHECKING:
    from scumble.model.local.noise_model import NoiseModel
    from scumble.model.local.randomizers import Randomizer


@dataclass(frozen=True, kw_only=True, repr=False)
class Release(Displayed):
    """What all kinds of release have in common.

    `plan` has the guarantee and the spends, `schema` describes the published table. `story` says how the release was
    made, from paid answers only.
    """

    method: str
    parameters: Mapping[str, Any]
    plan: Plan
    schema: Schema
    story: tuple[str, ...] = ()

    @property
    def tables(self) -> Mapping[str, Schema]:
        """The tables to train on, each with the schema of its rows, the recommended one first."""
        return {"table": self.schema}

    @property
    def recommended(self) -> str:
        """The table to train any classifier on."""
        return next(iter(self.tables))

    def table_named(self, name: str | None) -> str:
        """The name of a table of this release: the requested one, or the recommended one if `name` is None."""
        if name is not None and name not in self.tables:
            raise InputError(f"The release has no {name}.csv. Available: {', '.join(self.tables)}.")
        return self.recommended if name is None else name

    def rows_of(self, table: str) -> Mapping[str, Column] | None:
        """The columns of a table whose rows are in memory.

        None for a table that only repeats the counts of `cells`, and for one that stays in its file.
        """
        return None

    @property
    def classifier(self) -> Mapping[str, Any] | None:
        """The trained classifier, as plain data of the format tree/1, if it is published instead of a table."""
        return None

    @property
    def counted_records(self) -> tuple[float, float] | None:
        """The published number of records with its standard error (0 where unknown); None if none is published."""
        return None

    @property
    def generalized(self) -> "GeneralizedRelease | None":
        """This release as exact counts of generalized values; None if it is another kind of release."""
        return None

    @property
    def size_text(self) -> str:
        """How much is published, in a few words."""
        raise NotImplementedError

    @property
    def summary(self) -> Summary:
        """The guarantee, the parameters, the published data by shape, and the attributes of the published schema."""
        parameters = ", ".join(f"{name}={value}" for name, value in self.parameters.items())
        facts = (
            ("guarantee", self.plan.guarantee.sentence),
            ("method", f"{self.method}({parameters})"),
            *self._data_facts,
        )
        size = f"{self.size_text} by {self.method}, {guarantee_text(self.plan.guarantee)}"
        return Summary(kind=type(self).__name__, size=size, facts=facts, listings=self.schema.summary.listings)

    @property
    def _data_facts(self) -> tuple[tuple[str, str], ...]:
        """What a summary says about the data of this kind."""
        return ()

    @property
    def cells(self) -> "CellRelease":
        """This release as counts of cells, for analyses that need those."""
        raise InputError(f"The release has no cells: {self.method} publishes records. Use one made by diffgen.")


@dataclass(frozen=True, kw_only=True, repr=False)
class CellRelease(Release):
    """Noisy counts over the cells of a published schema, in row-major order, by class.

    `measured` is the noisy count in units of 1/`resolution`: signed and unbiased, each entry with noise of `variance`.
    `count` is derived from it by `rounding`: non-negative whole numbers, for use as a table.
    """

    measured: Integers
    resolution: int
    variance: float
    rounding: Rounding
    count: Integers
    fine: "FineRows | None" = None
    documents: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Further noisy measurements by name, as plain data: each becomes a JSON file."""

    @property
    def tables(self) -> Mapping[str, Schema]:
        return {**({} if self.fine is None else {"fine": self.fine.schema}), "table": self.schema}

    @property
    def size_text(self) -> str:
        classes = "" if self.schema.target is None else f" x {plural(len(self.schema.classes), 'class', 'classes')}"
        return plural(len(self.count), "cell") + classes

    @property
    def _data_facts(self) -> tuple[tuple[str, str], ...]:
        shape = " x ".join(f"{length:,}" for length in self.count.shape)
        measured = (
            f"{shape} noisy counts in units of 1/{self.resolution:,}, each with a variance of {self.variance:.6g}"
        )
        facts = (
            ("count", f"{shape} whole numbers with the sum {int(self.count.sum()):,}"),
            ("measured", measured),
            ("tables", ", ".join(self.tables)),
        )
        return facts if self.fine is None else (*facts, ("fine", plural(self.fine.rows, "synthetic row")))

    def rows_of(self, table: str) -> Mapping[str, Column] | None:
        return self.fine.columns if table == "fine" and self.fine is not None else None

    @property
    def counted_records(self) -> tuple[float, float]:
        return int(self.measured.sum()) / self.resolution, math.sqrt(self.variance * self.measured.size)

    @property
    def row_counts(self) -> Integers:
        """How many rows of the table stand for each count: as many as it counts, unless they are mostly noise."""
        counted, error = self.counted_records
        return row_counts(self.count, counted=counted, error=error)

    @property
    def cells(self) -> "CellRelease":
        return self


@dataclass(frozen=True, kw_only=True, repr=False)
class FineRows(Displayed):
    """Synthetic rows with values of the public schema, drawn from the measured tables."""

    schema: Schema
    columns: Mapping[str, Column]

    @property
    def rows(self) -> int:
        columns = self.columns
        return columns.rows if isinstance(columns, CodedColumns) else len(next(iter(columns.values()), ()))

    @property
    def summary(self) -> Summary:
        """The number of rows and the attributes."""
        size = f"{plural(self.rows, 'synthetic row')}, {plural(len(self.columns), 'column')}"
        return Summary(kind="FineRows", size=size, listings=self.schema.summary.listings)


@dataclass(frozen=True, kw_only=True, repr=False)
class RecordRelease(Release):
    """Synthetic or averaged records: a column for each published attribute, numbers or labels, and further documents.

    A number is anywhere in the range of its attribute, or NaN if it is missing. A label is a name of the published
    schema.
    """

    columns: Mapping[str, Column]
    documents: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """What the receiver needs besides the records, by name, as plain data: each becomes a JSON file."""
    records_error: float = 0.0
    """The standard error of the number of records as an estimate of the true one; 0 if it is exact or unknown."""

    @property
    def records(self) -> int:
        """How many records are published."""
        return len(next(iter(self.columns.values()), ()))

    @property
    def counted_records(self) -> tuple[float, float]:
        return float(self.records), self.records_error

    @property
    def size_text(self) -> str:
        return plural(self.records, "record")

    @property
    def _data_facts(self) -> tuple[tuple[str, str], ...]:
        return (("columns", f"{self.records:,} x {len(self.columns):,} values"),)

    def rows_of(self, table: str) -> Mapping[str, Column] | None:
        return self.columns if table == "table" else None


@dataclass(frozen=True, kw_only=True, repr=False)
class GeneralizedRelease(Release):
    """Exact counts of records with generalized values, by class: a k-anonymous table. It is not differentially private.

    Line i stands for the records whose code of predictor j lies in [boxes[i, j, 0], boxes[i, j, 1]), by the schema. The
    records that agree in the attributes of `quasi`, the quasi-identifier, form a group.
    """

    boxes: Integers
    """Of shape (lines, predictors, 2)."""
    count: Integers
    """Of shape (lines, classes)."""
    quasi: tuple[str, ...]

    @property
    def generalized(self) -> "GeneralizedRelease":
        return self

    @cached_property
    def group_of_line(self) -> Integers:
        """The group of each line, numbered in the order of the lines' values."""
        names = [attribute.name for attribute in self.schema.predictors]
        places = [names.index(name) for name in self.quasi]
        values = self.boxes[:, places].reshape(len(self.boxes), 2 * len(places))
        return np.unique(values, axis=0, return_inverse=True)[1].reshape(-1) if len(values) else np.zeros(0, np.int64)

    @cached_property
    def group_sizes(self) -> Integers:
        """The number of records in each group."""
        sizes = np.zeros(int(self.group_of_line.max(initial=-1)) + 1, dtype=np.int64)
        np.add.at(sizes, self.group_of_line, self.count.sum(axis=1))
        return sizes

    @property
    def records(self) -> int:
        """How many records are published."""
        return int(self.count.sum())

    @property
    def counted_records(self) -> tuple[float, float]:
        return float(self.records), 0.0

    @property
    def size_text(self) -> str:
        return f"{plural(self.records, 'record')} in {plural(len(self.group_sizes), 'group')}"

    @property
    def _data_facts(self) -> tuple[tuple[str, str], ...]:
        smallest = f", the smallest of {int(self.group_sizes.min()):,} records" if len(self.group_sizes) else ""
        return (
            ("groups", f"{len(self.group_sizes):,} by {', '.join(self.quasi)}{smallest}"),
            ("boxes", " x ".join(f"{length:,}" for length in self.boxes.shape) + " codes"),
            ("count", " x ".join(f"{length:,}" for length in self.count.shape) + " whole numbers"),
        )

    @cached_property
    def row_entries(self) -> tuple[Integers, Integers]:
        """The line and the class of every record, in the order of the lines."""
        lines, classes = np.nonzero(self.count)
        repeats = self.count[lines, classes]
        return np.repeat(lines, repeats), np.repeat(classes, repeats)

    def rows_of(self, table: str) -> Mapping[str, Column] | None:
        """A row for each record, its values spread evenly over its generalized values, for what needs single values."""
        if table != "table":
            return None
        lines, classes = self.row_entries
        codes = spread(self.boxes[lines, :, 0], self.boxes[lines, :, 1])
        columns = {
            each.name: published_values(each.domain, codes[:, j]) for j, each in enumerate(self.schema.predictors)
        }
        if self.schema.target is not None:
            columns[self.schema.target] = published_values(self.schema[self.schema.target].domain, classes)
        return columns


@dataclass(frozen=True, kw_only=True, repr=False)
class BlurredRelease(Release):
    """Records that were perturbed one by one, with their noise model. The records stay in their file, because there may
    be many millions."""

    noise: "NoiseModel"
    records: int

    @property
    def size_text(self) -> str:
        return plural(self.records, "record")

    @property
    def summary(self) -> Summary:
        """As of every release, and what was done to each attribute."""
        treated = Listing(
            columns=("attribute", "treatment"),
            rows=tuple((name, _treatment(each)) for name, each in self.noise.randomizers.items()),
            unit="attributes",
        )
        common = super().summary
        return replace(common, listings=(*common.listings, treated))


@dataclass(frozen=True, kw_only=True, repr=False)
class ClassifierRelease(Release):
    """A decision tree that was learned under the guarantee, as plain data of the format tree/1. There is no table."""

    model: Mapping[str, Any]

    @property
    def tables(self) -> Mapping[str, Schema]:
        return {}

    @property
    def recommended(self) -> str:
        return "model"

    def table_named(self, name: str | None) -> str:
        raise InputError(f"The release has no table: {self.method} publishes one classifier. Use one made by diffgen.")

    @property
    def classifier(self) -> Mapping[str, Any]:
        return self.model

    @property
    def leaves(self) -> int:
        """The number of leaves of the tree."""
        return sum(feature < 0 for feature in self.model["nodes"]["feature"])

    @property
    def size_text(self) -> str:
        return f"a tree with {plural(self.leaves, 'leaf', 'leaves')}"

    @property
    def _data_facts(self) -> tuple[tuple[str, str], ...]:
        return (("model", f"{self.size_text}, and no table"),)

    @property
    def cells(self) -> CellRelease:
        raise InputError(f"The release has no cells: {self.method} publishes one classifier. Use one made by diffgen.")


AnyRelease = CellRelease | RecordRelease | GeneralizedRelease | BlurredRelease | ClassifierRelease
"""A release of any kind, as a union that a type checker can narrow."""


def _treatment(randomizer: "Randomizer") -> str:
    """The kind of a randomizer and its numbers, in a few words."""
    numbers = [f"{each.name}={getattr(randomizer, each.name)}" for each in fields(randomizer)]
    return " ".join([randomizer.kind, *numbers])
