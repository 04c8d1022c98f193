"""Neighbouring pairs of small tables: the usual suspects, those a method proposes, and a search that improves on them.

Everything is in codes. Under `add-remove` the second table has one record more; under `replace` both have the schema's
number of records and differ in one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from scumble.methods.method import Method, Params
from scumble.model.guarantee import Unit
from scumble.model.schema import Schema
from scumble.model.taxonomy import Grid
from scumble.privacy.noise import Simulation

Record = tuple[int, ...]
CodedRows = tuple[Record, ...]

CROWDS = (1, 12)
"""How many equal records stand around the one that comes: few for counts, more where a score weighs them."""
MOST_TWINS = 15
"""How many of its kind a variation puts beside the record that differs, at most."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two neighbouring tables and why somebody thought of them."""

    first: CodedRows
    second: CodedRows
    why: str

    def words(self, schema: Schema) -> str:
        """Both tables for a reader: what they share and what sets them apart."""
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


def pair_of(schema: Schema, shared: Sequence[Record], record: Record, other: Record, why: str) -> Pair:
    """Neighbours in the schema's unit. Under `replace`, `other` stands where the second table has `record`, and copies
    of it fill both tables up to the public number of rows."""
    if schema.unit is Unit.ADD_REMOVE:
        return Pair(first=tuple(shared), second=(*shared, record), why=why)
    filled = (*shared, *[other] * (schema.rows or 1))[: (schema.rows or 1) - 1]
    return Pair(first=(*filled, other), second=(*filled, record), why=why)


def candidate_pairs(method: Method, schema: Schema, parameters: Params) -> list[Pair]:
    """Every pair worth a first look. A method adds its own by a function `pairs(schema, parameters)`, if it has one."""
    propose = getattr(method, "pairs", None)
    proposed = [] if propose is None else [pair_of(schema, *each) for each in propose(schema, parameters)]
    every = [*proposed, *generic_pairs(schema)]
    return [pair for place, pair in enumerate(every) if pair not in every[:place]]


def generic_pairs(schema: Schema) -> Iterator[Pair]:
    """Where mechanisms usually go wrong: at nothing, at the lone record, at the tie, at the ends of a grid."""
    low = tuple(0 for _ in schema.attributes)
    high = tuple(attribute.domain.size - 1 for attribute in schema.attributes)
    yield pair_of(schema, [], low, high, "An empty table and one record")
    yield pair_of(schema, [], high, low, "An empty table and one record at the far end of every domain")
    for crowd in CROWDS:
        shared = [low] * crowd
        yield pair_of(schema, shared, low, high, f"{crowd} equal records and one more of them")
        yield pair_of(schema, shared, high, low, f"A lone record at the extremes, far from {crowd} others")
        for place, attribute in enumerate(schema.attributes):
            if attribute.name != schema.target:
                alone = list(low)
                alone[place] = high[place]
                apart = _of_class(schema, tuple(alone), len(schema.classes) - 1)
                why = f"A lone record that only {attribute.name!r} and the class tell from {crowd} others"
                yield pair_of(schema, shared, apart, low, why)
        if schema.target is not None:
            rival = _of_class(schema, low, len(schema.classes) - 1)
            shared = [low] * crowd + [rival] * crowd
            yield pair_of(schema, shared, rival, low, f"The record that decides between {crowd} and {crowd}")
    middle = tuple(attribute.domain.size // 2 for attribute in schema.attributes)
    why = "Everybody in the middle of every domain but one, at one end or the other"
    yield pair_of(schema, [middle] * (schema.rows or CROWDS[-1]), low, high, why)
    yield from _square(schema)


def _square(schema: Schema) -> Iterator[Pair]:
    """Under `replace`, people on the corners of a square, one of them a step inside along one side or along the other:
    whoever groups by distance turns all groups round."""
    sides = [place for place, attribute in enumerate(schema.attributes) if isinstance(attribute.domain, Grid)][:2]
    if schema.unit is not Unit.REPLACE or len(sides) < 2 or (schema.rows or 0) < 8:
        return
    high = [attribute.domain.size - 1 for attribute in schema.attributes]

    def person(first: int, second: int) -> Record:
        codes = dict(zip(sides, (first, second), strict=True))
        return tuple(codes.get(place, 0) for place in range(len(schema.attributes)))

    one, two = high[sides[0]], high[sides[1]]
    corners = [person(0, 0), person(0, two), person(one, 0), person(one, two)]
    shared = [corner for corner in corners for _ in range((schema.rows or 0) // 4)][: (schema.rows or 0) - 1]
    why = "The corners of a square, one person a step inside along one side or along the other"
    yield pair_of(schema, shared, person(one - 1, two), person(one, two - 1), why)


def mutations(pair: Pair, schema: Schema, draw: Simulation) -> Pair:
    """A pair like another one: the record that differs changed, or among more or fewer of its kind; or a shared record
    changed, doubled or taken away."""
    shared = list(pair.first if schema.unit is Unit.ADD_REMOVE else pair.first[:-1])
    record = pair.second[-1]
    other = pair.first[-1] if pair.first else record
    kind = int(draw.integers(5))
    if kind == 0:
        record = _changed(record, schema, draw)
    elif kind == 1 or not shared:
        twins = [record] * int(draw.integers(MOST_TWINS + 1))
        shared = [*twins, *(each for each in shared if each != record)]
    else:
        place = int(draw.integers(len(shared)))
        if kind == 2:
            shared[place] = _changed(shared[place], schema, draw)
        elif kind == 3:
            shared += [shared[place]] * int(draw.integers(1, 6))
        else:
            shared.pop(place)
    why = pair.why if pair.why.endswith("(varied)") else f"{pair.why} (varied)"
    return pair_of(schema, shared, record, other, why)


def _changed(record: Record, schema: Schema, draw: Simulation) -> Record:
    place = int(draw.integers(len(record)))
    codes = list(record)
    codes[place] = int(draw.integers(schema.attributes[place].domain.size))
    return tuple(codes)


def _of_class(schema: Schema, record: Record, label: int) -> Record:
    return tuple(
        label if attribute.name == schema.target else code
        for attribute, code in zip(schema.attributes, record, strict=True)
    )


def _listed(schema: Schema, rows: Sequence[Record]) -> str:
    if not rows:
        return "no record"
    kinds = dict.fromkeys(rows)
    named = []
    for kind in list(kinds)[:6]:
        values = (attribute.domain.labels[code] for attribute, code in zip(schema.attributes, kind, strict=True))
        times = rows.count(kind)
        named.append(f"{f'{times} x ' if times > 1 else ''}({', '.join(values)})")
    return " ".join([*named, *(["..."] if len(kinds) > 6 else [])])
