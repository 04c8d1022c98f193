"""The neighbour law for the queries a method really asks, whoever wrote them and wherever they are registered.

A holder that keeps every query hands them to the law afterwards: no query of a method can escape by being new.
"""

from collections.abc import Sequence

from scumble.auditing.laws import check_added_record, check_replaced_record, engine_of
from scumble.auditing.neighbours import candidate_pairs
from scumble.auditing.overheard import Again, Overheard
from scumble.methods.method import Method, Params
from scumble.model.guarantee import Unit
from scumble.model.plan import PlanWithoutDP
from scumble.model.schema import Schema
from scumble.privacy.noise import PaidNoise
from scumble.privacy.query import Query, RowQuery


class Keeping(Overheard):
    """The shipped holder, which also keeps what it was asked."""

    asked: list[Query | RowQuery]

    def heard(self, queries: Sequence[Query | RowQuery], draws: int, again: Again) -> None:
        del draws, again
        self.asked += queries


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
