"""The neighbour law for the queries a method really asks, whoever wrote them and wherever they are registered.

A holder that keeps every query hands them to the law afterwards: no query of a method can escape by being new.
"""

from collections.abc import Sequence

from scumble.auditing.laws import check_added_record, check_replaced_record, engine_of
from scumble.auditing.neighbours import candidate_pairs
from scumble.methods.method import Method, Params
from scumble.model.counts import Integers
from scumble.model.guarantee import Unit
from scumble.model.plan import PlanWithoutDP
from scumble.model.schema import Schema
from scumble.privacy.holder import Holder
from scumble.privacy.noise import PaidNoise, Selection
from scumble.privacy.query import Choice, Measurement, Query, RowChoice, RowMeasurement, RowQuery


class Keeping(Holder):
    """The shipped holder, which also keeps what it was asked."""

    asked: list[Query | RowQuery]

    def choose_apart(
        self,
        queries: Sequence[Choice],
        *,
        spend: str,
        selection: Selection = Selection.PERMUTE_AND_FLIP,
        log_weights: Sequence[float] | None = None,
    ) -> list[int]:
        self.asked += queries
        return super().choose_apart(queries, spend=spend, selection=selection, log_weights=log_weights)

    def choose_in_parts(
        self, query: RowChoice, *, spend: str, selection: Selection = Selection.PERMUTE_AND_FLIP
    ) -> list[int]:
        self.asked.append(query)
        return super().choose_in_parts(query, spend=spend, selection=selection)

    def measure(self, query: Measurement | RowMeasurement, *, spend: str) -> Integers:
        self.asked.append(query)
        return super().measure(query, spend=spend)


def check_asked(method: Method, schema: Schema, parameters: Params) -> int:
    """Hold every query of one run to the law on every pair worth a look; how many there were.

    Methods that do not claim differential privacy, or do not stand by their claim, are left alone.
    """
    planned = method.plan(schema, parameters)
    if isinstance(planned, PlanWithoutDP):
        return 0
    pairs = candidate_pairs(method, schema, parameters)
    holder = Keeping(engine=engine_of(schema, pairs[-1].second), noise=PaidNoise(), plan=planned)
    holder.asked = []
    method.run(schema, parameters, holder)
    for query in holder.asked:
        for pair in pairs:
            if schema.unit is Unit.ADD_REMOVE:
                check_added_record(query, schema, pair.first, pair.second[-1])
            else:
                check_replaced_record(query, schema, pair.first[:-1], pair.first[-1], pair.second[-1])
    return len(holder.asked)
