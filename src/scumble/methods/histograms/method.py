"""Histograms: measures a noisy table of each attribute by class, and draws rows under the naive Bayes assumption.

The simplest reasonable method, and the baseline for the others. It keeps the relation between each attribute and the
class, at the finest level of the schema. It keeps no relation between attributes beyond that.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from scumble.methods.method import BudgetParams, require_target
from scumble.model.counts import Counts, Integers, Tabulation
from scumble.model.cut import Cut
from scumble.model.guarantee import Unit
from scumble.model.measured_tables import NoiseKind
from scumble.model.operation import SUMS
from scumble.model.plan import Plan
from scumble.model.release import RecordRelease
from scumble.model.schema import Schema
from scumble.model.spend import guarantee_for, needs_for, priced
from scumble.model.values import published_values
from scumble.privacy.better_noise import better_noise
from scumble.privacy.holder import Holder
from scumble.privacy.query import Measurement, Sensitivity

COUNT = "count every attribute by class"


class Histograms(BudgetParams):
    """Parameters of `histograms`: rows drawn from a noisy table of each attribute by class.

    `epsilon` is the privacy budget of the whole release. With a `delta` the guarantee is approximate and the noise
    Gaussian, which is smaller if there are many attributes; without one it is pure.
    A wrong parameter raises `InputError`.

    >>> Histograms(epsilon="1")
    Histograms(epsilon='1')
    """

    method_name = "histograms"


@dataclass(frozen=True, kw_only=True)
class ClassTables(Measurement):
    """The number of records of each class with each value of each attribute: one table per attribute, concatenated."""

    needs = SUMS
    schema: Schema

    @property
    def tabulation(self) -> Tabulation:
        return Tabulation(cut=Cut.top(self.schema), fine=tuple(a.name for a in self.schema.predictors))

    def answer(self, counts: Counts) -> Integers:
        return np.concatenate([counts.fine[attribute.name].ravel() for attribute in self.schema.predictors])

    def sensitivity(self, unit: Unit) -> Sensitivity:
        """A record has one value of each attribute and one class, so it is counted in one entry of each of the d
        tables. Adding or removing it changes d entries by one; replacing it changes at most two in each table, each by
        one. The square of a change by one is one."""
        changes = len(self.schema.predictors) * (1 if unit is Unit.ADD_REMOVE else 2)
        return Sensitivity(bound=changes, squared=changes)

    def tables(self, measured: Integers) -> list[Integers]:
        """Split the measured vector into a table of shape (values, classes) for each predictor."""
        classes = len(self.schema.classes)
        lengths = [attribute.domain.size * classes for attribute in self.schema.predictors]
        return [part.reshape(-1, classes) for part in np.split(measured, np.cumsum(lengths)[:-1])]


class HistogramsMethod:
    """The method `histograms`."""

    name = "histograms"
    summary = "Rows drawn from a noisy table of each attribute by class, as in naive Bayes: the baseline."
    parameters = Histograms
    transcribed: ClassVar[tuple[dict[str, Any], ...]] = ({"delta": "1e-9"},)

    def plan(self, schema: Schema, parameters: Histograms) -> Plan:
        require_target(schema, self.name)
        tables, values = len(schema.predictors), sum(attribute.domain.size for attribute in schema.predictors)
        epsilon, delta = parameters.epsilon, parameters.delta
        guarantee = guarantee_for(epsilon=epsilon, delta=delta, unit=schema.unit)
        price = "epsilon" if delta is None else "rho"
        purpose = f"{NoiseKind.of(guarantee)} noise on {tables} tables at once, as if each cost 1/{tables} of {price}"
        better = better_noise(tables, epsilon=epsilon, delta=delta, unit=schema.unit)
        notes = [f"{tables} tables with {values:,} values x {len(schema.classes)} classes will be measured."]
        if better.gaussian_is_better or delta is not None:
            notes.append(better.note(approximate=delta is not None))
        return Plan(
            guarantee=guarantee,
            spends=(priced(guarantee, label=COUNT, share=Fraction(1), purpose=purpose),),
            cells_at_most=values,
            notes=tuple(notes),
            needs=needs_for(ClassTables.needs, delta),
        )

    def run(self, schema: Schema, parameters: Histograms, holder: Holder) -> RecordRelease:
        from scumble.methods.histograms.rows import draw_rows  # imported late, because plans do not draw rows

        query = ClassTables(schema=schema)
        variance = holder.variance(query, spend=COUNT)
        tables = query.tables(holder.measure(query, spend=COUNT))
        drawn = draw_rows(tables, variance=variance)
        codes = {
            attribute.name: column for attribute, column in zip(schema.predictors, drawn.predictors, strict=True)
        } | {str(schema.target): drawn.labels}
        return RecordRelease(
            method=self.name,
            parameters=parameters.model_dump(mode="json"),
            plan=holder.plan,
            schema=schema,
            columns={name: published_values(schema[name].domain, column) for name, column in codes.items()},
            documents={"tables": tables_document(schema, tables, noise=holder.noise_kind, variance=variance)},
            story=drawn.story,
            records_error=drawn.error,
        )


def tables_document(schema: Schema, tables: Sequence[Integers], *, noise: NoiseKind, variance: float) -> dict[str, Any]:
    """The measured tables as plain data, in the format tables/1: every attribute by class, at its finest values."""
    classes = list(range(len(schema.classes)))
    return {
        "format": "tables/1",
        "noise": noise.value,
        "tables": [
            {
                "attributes": [attribute.name, schema.target],
                "bins": [list(range(attribute.domain.size)), classes],
                "unit": 1,
                "counts": table.ravel().tolist(),
                "variance": variance,
            }
            for attribute, table in zip(schema.predictors, tables, strict=True)
        ],
    }
