"""Random small tables and random neighbours of them, beside the pairs on which mechanisms typically fail."""

from collections.abc import Iterator

from scumble.auditing.neighbours import CodedRecord, Pair, pair_of
from scumble.model.guarantee import Unit
from scumble.model.schema import Schema
from scumble.privacy.noise import Simulation

MOST_ROWS = 30
MOST_KINDS = 5
"""Random tables have few different records, so that counts are larger than one and scores can tie."""


def random_pairs(schema: Schema, random: Simulation) -> Iterator[Pair]:
    """Random tables, each with one record added or, under `replace`, exchanged: at random, or for a copy of another.

    If the schema names persons, one person is added, with equal or different rows, also more than are used.
    """
    while True:
        kinds = [_record(schema, random) for _ in range(1 + int(random.integers(MOST_KINDS)))]
        size = int(random.integers(MOST_ROWS)) if schema.unit is Unit.ADD_REMOVE else (schema.rows or 1) - 1
        shared = [kinds[int(random.integers(len(kinds)))] for _ in range(size)]
        record, other = (
            _record(schema, random) if random.integers(2) else kinds[int(random.integers(len(kinds)))] for _ in range(2)
        )
        if schema.persons is None or random.integers(2):
            yield pair_of(schema, shared, record, other, "A random table")
        else:
            rows = 1 + int(random.integers(3 * schema.persons.rows_each_at_most))
            added = [_record(schema, random) for _ in range(rows)]
            yield Pair(first=tuple(shared), second=(*shared, *added), why="A random table and one person more")


def shuffled(pair: Pair, random: Simulation) -> Pair:
    """The same pair with the second table in another order of rows: a table is a multiset, so they are neighbours."""
    order = random.permutation(len(pair.second))
    return Pair(first=pair.first, second=tuple(pair.second[place] for place in order), why=pair.why)


def _record(schema: Schema, random: Simulation) -> CodedRecord:
    """A random record. Every other value lies at an end of its domain, where mechanisms fail more often."""
    return tuple(
        int(random.integers(size)) if random.integers(2) else int(random.integers(2)) * (size - 1)
        for size in (attribute.domain.size for attribute in schema.attributes)
    )
