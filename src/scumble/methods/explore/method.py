"""Explore: rows for any question, from privately chosen contingency tables and a graphical model fitted to all.

Select, measure, infer (McKenna, Miklau & Sheldon 2021), with generalization: attributes with many values are counted in
bins that follow the records. First the values of every attribute are counted, then privately chosen pairs that connect
the attributes to a forest, then further pairs, and triples with the class, that differ most from the model so far. The
rows are drawn from the graphical model that fits all noisy tables best.
"""

from typing import Any, ClassVar

import numpy as np

from scumble.errors import InputError
from scumble.methods.explore.spends import planned_spends
from scumble.methods.method import BudgetParams
from scumble.model.operation import Operation
from scumble.model.plan import Plan
from scumble.model.release import RecordRelease
from scumble.model.row_limit import row_counts, row_limit_story
from scumble.model.schema import Schema
from scumble.model.spend import guarantee_for
from scumble.model.values import published_values
from scumble.privacy.better_noise import better_noise
from scumble.privacy.holder import Holder


class Explore(BudgetParams):
    """Parameters of `explore`: rows drawn from a model of privately chosen tables, for any question.

    `epsilon` is the privacy budget of the whole release. With a `delta`, such as 1e-9, the guarantee is (epsilon,
    delta)-differential privacy, and many tables get less noise. A wrong parameter raises `InputError`.

    >>> Explore(epsilon="1")
    Explore(epsilon='1')
    """

    method_name = "explore"


class ExploreMethod:
    """The method `explore`."""

    name = "explore"
    summary = "Rows drawn from a model of privately chosen tables of one to three attributes, for any question."
    parameters = Explore
    transcribed: ClassVar[tuple[dict[str, Any], ...]] = ({"delta": "1e-9"},)

    def plan(self, schema: Schema, parameters: Explore) -> Plan:
        if len(schema.attributes) == 1:
            raise InputError(
                "explore measures pairs of attributes, and the schema has one attribute. Describe another."
            )
        guarantee = guarantee_for(epsilon=parameters.epsilon, delta=parameters.delta, unit=schema.unit)
        return Plan(
            guarantee=guarantee,
            spends=planned_spends(guarantee),
            cells_at_most=sum(attribute.domain.size for attribute in schema.attributes),
            notes=_notes(schema, parameters),
            needs={Operation.ROWS: "owners do not choose and count combinations of attributes jointly yet"},
        )

    def run(self, schema: Schema, parameters: Explore, holder: Holder) -> RecordRelease:
        # Imported late, because plans measure nothing.
        from scumble.methods.explore.documents import model_document, tables_document
        from scumble.methods.explore.measuring import Measuring
        from scumble.methods.explore.rows import draw_rows

        measuring = Measuring(schema, holder)
        measuring.count_records()
        measuring.count_values()
        measuring.count_bins()
        measuring.choose_pairs()
        measuring.choose_further()
        model, records = measuring.fitted(), measuring.records
        rows, limited = _rows(*records)
        columns = draw_rows(model, measuring.bins, measuring.shares, rows, measuring.tables)
        return RecordRelease(
            method=self.name,
            parameters=parameters.model_dump(mode="json"),
            plan=holder.plan,
            schema=schema,
            columns={
                attribute.name: published_values(attribute.domain, column)
                for attribute, column in zip(schema.attributes, columns, strict=True)
            },
            documents={
                "tables": tables_document(schema, measuring.tables, records, holder.noise_kind),
                "model": model_document(schema, model, measuring.bins),
            },
            story=(*measuring.story, *limited),
            records_error=records[1],
        )


def _rows(records: float, error: float) -> tuple[int, tuple[str, ...]]:
    """How many rows are drawn: one for each counted record, unless their number is mostly noise."""
    count = np.array([round(records)])
    rows = row_counts(count, counted=records, error=error)
    return int(rows[0]), row_limit_story(count, rows)


def _notes(schema: Schema, parameters: Explore) -> tuple[str, ...]:
    """What will be counted; and whether a delta has less noise, for one table of each attribute and pairs of all."""
    values = sum(attribute.domain.size for attribute in schema.attributes)
    note = (
        f"The values of {len(schema.attributes)} attributes will be counted, {values:,} in all. Then tables of two or "
        "three attributes are chosen and counted; rows are drawn from a model of all tables."
    )
    epsilon, delta = parameters.epsilon, parameters.delta
    better = better_noise(2 * len(schema.attributes) - 1, epsilon=epsilon, delta=delta, unit=schema.unit)
    return note, better.note(approximate=delta is not None)
