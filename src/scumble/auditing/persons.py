"""Tables of persons with several rows for audits, read from raw rows by the shipped engine, which bounds their rows."""

from collections import Counter

import pyarrow as pa

from scumble.auditing.laws.queries import engine_of
from scumble.auditing.neighbours import CodedRecord, CodedRows, Pair
from scumble.engines.memory import MemoryEngine
from scumble.model.grid import Grid
from scumble.model.schema import Attribute, Schema
from scumble.sources.object_column import object_column

ADDED = "the person who is only in one table"


def pair_engine(schema: Schema, pair: Pair, rows: CodedRows) -> MemoryEngine:
    """An engine for one of the tables of a pair.

    If the schema names persons, the rows that only the second table has belong to one person. Of the other rows, equal
    ones belong to different persons, so that a person has one row of each kind and may have more rows than are used.
    Who has which rows does not depend on their order. The engine reads raw values and ids, as in a release.
    """
    if schema.persons is None:
        return engine_of(schema, rows)
    shared = Counter(pair.first) & Counter(pair.second)
    seen: Counter[CodedRecord] = Counter()
    ids = []
    for row in rows:
        ids.append(f"person {seen[row]}" if seen[row] < shared[row] else ADDED)
        seen[row] += 1
    columns = {
        attribute.source_column: object_column([_raw_value(attribute, row[place]) for row in rows])
        for place, attribute in enumerate(schema.attributes)
    }
    table = pa.table({**columns, schema.persons.column: pa.array(ids, pa.string())})
    return MemoryEngine.open(table.to_batches(), schema)


def _raw_value(attribute: Attribute, code: int) -> object:
    """A raw value with the given code."""
    domain = attribute.domain
    if isinstance(domain, Grid):
        return None if code >= domain.cells else float(domain.edge_floats[code])
    return domain.labels[code]
