"""Neighbouring pairs of small tables: generic ones, those that a method proposes, and random variations of them.

Records are tuples of codes. Under `add-remove` the second table has one record more than the first. Under `replace`
both tables have the schema's number of records and differ in one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

from scumble.methods.method import Method, Params
from scumble.model.grid import Grid
from scumble.model.guarantee import Unit
from scumble.model.schema import Schema
from scumble.privacy.noise import Simulation

CodedRecord = tuple[int, ...]
CodedRows = tuple[CodedRecord, ...]

GROUP_SIZES = (1, 12)
"""How many equal records the tables share: one is enough to attack counts, scores also depend on larger groups."""
MOST_COPIES = 15
"""The most copies of the differing record that a variation puts into both tables."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two neighbouring tables, and what makes them interesting."""

    first: CodedRows
    second: CodedRows
    why: str

    def words(self, schema: Schema) -> str:
        """A description of both tables: the shared records and the differing ones."""
        shared, only_first, only_second = list(self.first), [], list(self.second)
        for record in self.first:
            if record in only_second:
                only_second.remove(record)
            else:
                only_first.append(record)
                shared.remove(record)
        parts = [f"{self.why}. Both tables: {_listed(schema, shared)}"]
        if only_first:
            parts.append(f"only the first: {_listed(schema, only_first)}")
        parts.append(f"only the second: {_listed(schema, only_second)}")
        return "; ".join(parts)

    def to_json(self) -> dict[str, Any]:
        return {"first": self.first, "second": self.second, "why": self.why}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Pair":
        first, second = (tuple(tuple(record) for record in data[side]) for side in ("first", "second"))
        return cls(first=first, second=second, why=data["why"])


def pair_of(schema: Schema, shared: Sequence[CodedRecord], record: CodedRecord, other: CodedRecord, why: str) -> Pair:
    """A pair of neighbours under the unit of the schema. Under `replace`, the first table has `other` where the second
    has `record`, and copies of `other` fill both tables up to the public number of rows. If the schema names persons,
    the second table has one person more, with twice as many copies of `record` as are used of a person."""
    if schema.unit is Unit.ADD_REMOVE:
        copies = 1 if schema.persons is None else 2 * schema.persons.rows_each_at_most
        return Pair(first=tuple(shared), second=(*shared, *[record] * copies), why=why)
    filled = (*shared, *[other] * (schema.rows or 1))[: (schema.rows or 1) - 1]
    return Pair(first=(*filled, other), second=(*filled, record), why=why)


def candidate_pairs(method: Method, schema: Schema, parameters: Params) -> list[Pair]:
    """All pairs to screen: those of the method's optional function `pairs(schema, parameters)` and the generic ones."""
    propose = getattr(method, "pairs", None)
    proposed = [] if propose is None else [pair_of(schema, *each) for each in propose(schema, parameters)]
    every = [*proposed, *generic_pairs(schema)]
    return [pair for place, pair in enumerate(every) if pair not in every[:place]]


def generic_pairs(schema: Schema) -> Iterator[Pair]:
    """Pairs on which mechanisms typically fail: empty tables, isolated records, ties, and the ends of a grid."""
    low = tuple(0 for _ in schema.attributes)
    high = tuple(attribute.domain.size - 1 for attribute in schema.attributes)
    yield pair_of(schema, [], low, high, "An empty table and one record")
    yield pair_of(schema, [], high, low, "An empty table and one record at the far end of every domain")
    for size in GROUP_SIZES:
        shared = [low] * size
        yield pair_of(schema, shared, low, high, f"{size} equal records and one more of them")
        yield pair_of(schema, shared, high, low, f"A lone record at the extremes, far from {size} others")
        for place, attribute in enumerate(schema.attributes):
            if attribute.name != schema.target:
                alone = list(low)
                alone[place] = high[place]
                apart = _of_class(schema, tuple(alone), len(schema.classes) - 1)
                why = f"A lone record that differs only in {attribute.name!r} and the class from {size} others"
                yield pair_of(schema, shared, apart, low, why)
        if schema.target is not None:
            rival = _of_class(schema, low, len(schema.classes) - 1)
            shared = [low] * size + [rival] * size
            yield pair_of(schema, shared, rival, low, f"The record that breaks a tie of {size} and {size}")
    middle = tuple(attribute.domain.size // 2 for attribute in schema.attributes)
    why = "All records in the middle of every domain except one, which lies at one end or the other"
    yield pair_of(schema, [middle] * (schema.rows or GROUP_SIZES[-1]), low, high, why)
    yield from _square(schema)
    if schema.persons is not None:
        corners = islice(product(*zip(low, high, strict=True)), 2 * schema.persons.rows_each_at_most)
        yield pair_of(
            schema, list(corners) * GROUP_SIZES[-1], low, high, "Persons with more rows than are used, and one more"
        )


def _square(schema: Schema) -> Iterator[Pair]:
    """Under `replace`: records on the corners of a square, one of them moved inward by a step along one side or along
    the other. A method that groups records by distance then forms entirely different groups."""
    sides = [place for place, attribute in enumerate(schema.attributes) if isinstance(attribute.domain, Grid)][:2]
    if schema.unit is not Unit.REPLACE or len(sides) < 2 or (schema.rows or 0) < 8:
        return
    high = [attribute.domain.size - 1 for attribute in schema.attributes]

    def record(first: int, second: int) -> CodedRecord:
        codes = dict(zip(sides, (first, second), strict=True))
        return tuple(codes.get(place, 0) for place in range(len(schema.attributes)))

    one, two = high[sides[0]], high[sides[1]]
    corners = [record(0, 0), record(0, two), record(one, 0), record(one, two)]
    shared = [corner for corner in corners for _ in range((schema.rows or 0) // 4)][: (schema.rows or 0) - 1]
    why = "The corners of a square, one record moved inward along one side or along the other"
    yield pair_of(schema, shared, record(one - 1, two), record(one, two - 1), why)


def varied(pair: Pair, schema: Schema, random: Simulation) -> Pair:
    """A random variation of a pair: it changes the differing record or the number of its copies, or it changes, repeats
    or removes a shared record."""
    shared = list(pair.first if schema.unit is Unit.ADD_REMOVE else pair.first[:-1])
    record = pair.second[-1]
    other = pair.first[-1] if pair.first else record
    kind = int(random.integers(5))
    if kind == 0:
        record = _changed(record, schema, random)
    elif kind == 1 or not shared:
        copies = [record] * int(random.integers(MOST_COPIES + 1))
        shared = [*copies, *(each for each in shared if each != record)]
    else:
        place = int(random.integers(len(shared)))
        if kind == 2:
            shared[place] = _changed(shared[place], schema, random)
        elif kind == 3:
            shared += [shared[place]] * int(random.integers(1, 6))
        else:
            shared.pop(place)
    why = pair.why if pair.why.endswith("(varied)") else f"{pair.why} (varied)"
    return pair_of(schema, shared, record, other, why)


def _changed(record: CodedRecord, schema: Schema, random: Simulation) -> CodedRecord:
    place = int(random.integers(len(record)))
    codes = list(record)
    codes[place] = int(random.integers(schema.attributes[place].domain.size))
    return tuple(codes)


def _of_class(schema: Schema, record: CodedRecord, label: int) -> CodedRecord:
    return tuple(
        label if attribute.name == schema.target else code
        for attribute, code in zip(schema.attributes, record, strict=True)
    )


def _listed(schema: Schema, rows: Sequence[CodedRecord]) -> str:
    if not rows:
        return "no record"
    kinds = dict.fromkeys(rows)
    named = []
    for kind in list(kinds)[:6]:
        values = (attribute.domain.labels[code] for attribute, code in zip(schema.attributes, kind, strict=True))
        times = rows.count(kind)
        named.append(f"{f'{times} x ' if times > 1 else ''}({', '.join(values)})")
    return " ".join([*named, *(["..."] if len(kinds) > 6 else [])])
