"""The neighbour law: between neighbouring tables, the answer to a query changes by at most its declared sensitivity.

The checks work for every query. Given coded rows and one or two further records, they build neighbouring tables,
compute the exact answers on both, and compare the change with what the query declares: its sensitivity, whether it is
monotone, and the region or parts outside which a record has no effect.
"""

from collections.abc import Sequence

import numpy as np

from scumble.auditing.neighbours import CodedRecord, candidate_pairs
from scumble.auditing.recording_holder import RecordingHolder, Repeat
from scumble.engines.coding import code_type
from scumble.engines.memory import MemoryEngine
from scumble.errors import CheckError
from scumble.methods.method import Method, Params
from scumble.model.counts import Integers
from scumble.model.guarantee import KAnonymity, Unit, Unproven
from scumble.model.plan import Plan
from scumble.model.schema import Schema
from scumble.privacy.holder import Tabulates
from scumble.privacy.noise import Noise, PaidNoise
from scumble.privacy.query import Choice, Query, RowChoice, RowQuery, Sensitivity


def check_added_record(
    query: Query | RowQuery, schema: Schema, rows: Sequence[CodedRecord], record: CodedRecord
) -> None:
    """Check a query under add-remove: on a table, and on the same table with one more record."""
    before = exact_answer(query, schema, rows)
    after = exact_answer(query, schema, [*rows, record])
    declared = query.sensitivity(Unit.ADD_REMOVE)
    _check_bound(query, before, after, declared, f"adding {tuple(record)} to {_shown(rows)}")
    if declared.monotone and (after < before).any():
        raise CheckError(f"{query!r} declares monotone scores; adding {tuple(record)} to {_shown(rows)} lowers one.")
    if isinstance(query, RowQuery):
        _check_parts(query, before, after, record)
    elif query.region is not None and not _inside(query, schema, record) and (after != before).any():
        raise CheckError(f"{query!r} declares a region; {tuple(record)} lies outside of it and changes the answer.")


def check_replaced_record(
    query: Query | RowQuery, schema: Schema, rows: Sequence[CodedRecord], record: CodedRecord, other: CodedRecord
) -> None:
    """Check a query under replace: on two tables of the same size that differ in one record."""
    before = exact_answer(query, schema, [*rows, record])
    after = exact_answer(query, schema, [*rows, other])
    declared = query.sensitivity(Unit.REPLACE)
    _check_bound(query, before, after, declared, f"replacing {tuple(record)} by {tuple(other)} in {_shown(rows)}")


def exact_answer(query: Query | RowQuery, schema: Schema, rows: Sequence[CodedRecord]) -> Integers:
    """The exact answer to a query, without noise. Never use it on private rows."""
    if isinstance(query, RowQuery):
        return query.answer(engine_of(schema, rows).blocks())
    return query.answer(engine_of(schema, rows).tabulate(query.tabulation))


def engine_of(schema: Schema, rows: Sequence[CodedRecord]) -> MemoryEngine:
    """An engine for coded rows."""
    columns = np.array(rows, dtype=np.int64).reshape(len(rows), len(schema.attributes)).T
    block = tuple(
        column.astype(code_type(attribute.domain.size))
        for column, attribute in zip(columns, schema.attributes, strict=True)
    )
    return MemoryEngine([block], schema)


def _check_parts(query: RowQuery, before: Integers, after: Integers, record: CodedRecord) -> None:
    """A line of the answer may change only if the record lies inside the box of that line."""
    for number, box in enumerate(query.parts):
        inside = all(low <= code < high for code, (low, high) in zip(record, box, strict=True))
        if not inside and (before[number] != after[number]).any():
            raise CheckError(f"{query!r} declares the part {box}; {tuple(record)} lies outside and changes its line.")


def _check_bound(query: Query | RowQuery, before: Integers, after: Integers, declared: Sensitivity, what: str) -> None:
    """Each score of a choice; of a measurement, the sum of all changes and the sum of their squares."""
    change = np.abs(after - before)
    choice = isinstance(query, Choice | RowChoice)
    changed = int(change.max(initial=0)) if choice else int(change.sum())
    if changed > declared.bound:
        raise CheckError(
            f"{query!r} declares a sensitivity of {declared.bound}; {what} changes the answer by {changed}."
        )
    squares = sum(int(each) ** 2 for each in change.ravel().tolist())
    if not choice and squares > declared.l2_squared:
        raise CheckError(
            f"{query!r} declares that squared changes add up to at most {declared.l2_squared}; {what} changes the "
            f"answer by {squares}."
        )


def _inside(query: Query, schema: Schema, record: CodedRecord) -> bool:
    if query.region is None:
        return True
    name, node = query.region
    place = [attribute.name for attribute in schema.attributes].index(name)
    return node.low <= record[place] < node.high


def _shown(rows: Sequence[CodedRecord]) -> str:
    return f"{[tuple(row) for row in rows]}"


class QueryRecorder(RecordingHolder):
    """The shipped holder, which also records the queries it answers."""

    def __init__(self, *, engine: Tabulates, noise: Noise, plan: Plan) -> None:
        super().__init__(engine=engine, noise=noise, plan=plan)
        self.queries: list[Query | RowQuery] = []

    def record(self, query: Query | RowQuery, draws: int, repeat: Repeat) -> None:
        del draws, repeat
        self.queries.append(query)


def check_query_sensitivities(method: Method, schema: Schema, parameters: Params) -> int:
    """Check the neighbour law for every query of one run, on every candidate pair. Returns the number of queries.

    Methods without differential privacy, or with an unproven guarantee, are not checked.
    """
    planned = method.plan(schema, parameters)
    if isinstance(planned.guarantee, KAnonymity | Unproven):
        return 0
    pairs = candidate_pairs(method, schema, parameters)
    holder = QueryRecorder(engine=engine_of(schema, pairs[-1].second), noise=PaidNoise(), plan=planned)
    method.run(schema, parameters, holder)
    for query in holder.queries:
        for pair in pairs:
            if schema.unit is Unit.ADD_REMOVE:
                check_added_record(query, schema, pair.first, pair.second[-1])
            else:
                check_replaced_record(query, schema, pair.first[:-1], pair.first[-1], pair.second[-1])
    return len(holder.queries)
