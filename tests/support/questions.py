"""Questions for tests: random conditions on a schema, a readable twin that evaluates them row by row, exact tables."""

from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from hypothesis import strategies as st
from strategies import schemas

from scumble.model.counts import Integers
from scumble.model.cut import Cut
from scumble.model.grid import Grid
from scumble.model.measured_tables import AttributeBins, MeasuredTable, NoiseKind
from scumble.model.schema import Attribute, Schema
from scumble.model.taxonomy import Tree
from scumble.model.values import recoding
from scumble.querying.expressions import (
    Between,
    Both,
    Compared,
    Condition,
    Either,
    Expression,
    Literal,
    Membership,
    Missing,
    Not,
)
from scumble.querying.leaf_values import LeafValues
from scumble.querying.number_values import CellValues
from scumble.querying.values import Values

OPERATORS = ("=", "!=", "<", "<=", ">", ">=")


def text(value: str) -> Literal:
    return Literal(text=value)


def number(value: float) -> Literal:
    return Literal(text=repr(value), number=True)


@st.composite
def conditions_on(draw: st.DrawFn, attribute: Attribute, *, equal_numbers: bool = True) -> Condition:
    """A condition on one attribute with values that it has."""
    domain, name = attribute.domain, attribute.name
    if attribute.missing_code is not None and draw(st.integers(0, 5)) == 0:
        return Missing(attribute=name)
    if isinstance(domain, Grid):
        ends = [float(domain.edge(place)) for place in range(domain.cells + 1)]
        inside = st.sampled_from(ends[:-1])
        thirds = [low + (high - low) / 3 for low, high in pairwise(ends)]
        anywhere = st.sampled_from([*ends, *thirds, ends[0] - 1, ends[-1] + 1])
        kind = draw(st.integers(0, 3 if equal_numbers else 1))
        if kind == 0:
            low, high = draw(anywhere), draw(anywhere)
            return Between(attribute=name, low=number(low), high=number(high))
        if kind == 1:
            return Compared(attribute=name, operator=draw(st.sampled_from(OPERATORS[2:])), value=number(draw(anywhere)))
        if kind == 2:
            return Compared(attribute=name, operator=draw(st.sampled_from(OPERATORS[:2])), value=number(draw(inside)))
        values = draw(st.lists(inside, min_size=1, max_size=3))
        return Membership(attribute=name, values=tuple(number(each) for each in values))
    nodes = st.sampled_from([*(node.label for node in domain.finest.root.walk()), *domain.finest.labels]).map(text)
    if attribute.in_order and draw(st.booleans()):
        leaves = st.sampled_from(domain.finest.labels).map(text)
        if draw(st.booleans()):
            return Between(attribute=name, low=draw(leaves), high=draw(leaves))
        return Compared(attribute=name, operator=draw(st.sampled_from(OPERATORS[2:])), value=draw(leaves))
    if draw(st.booleans()):
        return Membership(attribute=name, values=tuple(draw(st.lists(nodes, min_size=1, max_size=3))))
    return Compared(attribute=name, operator=draw(st.sampled_from(OPERATORS[:2])), value=draw(nodes))


@st.composite
def expressions(draw: st.DrawFn, schema: Schema, *, equal_numbers: bool = True) -> Expression:
    """Conditions on any attributes, joined by and, or and not."""
    parts: list[Expression] = []
    for _ in range(draw(st.integers(1, 4))):
        attribute = schema.attributes[draw(st.integers(0, len(schema.attributes) - 1))]
        parts.append(draw(conditions_on(attribute, equal_numbers=equal_numbers)))
    while len(parts) > 1:
        number = draw(st.integers(2, len(parts)))
        joined = tuple(parts[:number])
        parts[:number] = [Both(parts=joined) if draw(st.booleans()) else Either(parts=joined)]
        if draw(st.booleans()):
            parts[0] = Not(part=parts[0])
    return parts[0]


@st.composite
def small_schemas(draw: st.DrawFn) -> Schema:
    """Schemas whose full contingency table is small."""
    return draw(schemas(most_predictors=2).filter(lambda each: prod(a.domain.size for a in each.attributes) < 5_000))


def satisfies(expression: Expression, schema: Schema, row: tuple[int, ...]) -> bool:
    """The twin: whether a row of codes of the finest domains satisfies a condition."""
    match expression:
        case Not(part=part):
            return not satisfies(part, schema, row)
        case Both(parts=parts):
            return all(satisfies(part, schema, row) for part in parts)
        case Either(parts=parts):
            return any(satisfies(part, schema, row) for part in parts)
    attribute = schema[expression.attribute]
    code = row[schema.names.index(attribute.name)]
    return _satisfies_one(expression, attribute, code)


def _satisfies_one(condition: Condition, attribute: Attribute, code: int) -> bool:
    missing = code == attribute.missing_code
    equal, smaller = _compared(attribute, code)
    match condition:
        case Missing():
            return missing
        case Membership(values=values):
            return any(equal(value) for value in values)
        case Compared(operator="=", value=value):
            return bool(equal(value))
        case Compared(operator="!=", value=value):
            return not equal(value)
        case Between(low=low, high=high):
            return not missing and not smaller(low) and (smaller(high) or bool(equal(high)))
        case Compared(operator=operator, value=value):
            below, same = smaller(value), equal(value)
            results = {"<": below, "<=": below or same, ">": not below and not same, ">=": not below}
            return not missing and bool(results[operator])
    raise AssertionError(condition)


def _compared(attribute: Attribute, code: int) -> tuple[Any, Any]:
    """Whether a code equals a written value, and whether it is smaller."""
    domain = attribute.domain
    if isinstance(domain, Tree):
        label = domain.labels[code]
        places = list(domain.labels)
        return (
            lambda value: label in domain.leaves_below(value.text),
            lambda value: code < places.index(value.text),
        )
    mine = float("nan") if code == domain.missing_code else float(domain.edge_floats[code])
    return lambda value: mine == float(value.text), lambda value: mine < float(value.text)


def cells_of(cut: Cut, rows: list[tuple[int, ...]]) -> MeasuredTable:
    """The exact counts of a cut over all attributes, the class included."""
    published, public = cut.published_schema(), cut.schema
    counts = np.zeros([attribute.domain.size for attribute in published.attributes])
    maps = [_codes(public, published, name) for name in public.names]
    for row in rows:
        counts[tuple(codes[code] for codes, code in zip(maps, row, strict=True))] += 1
    bins = tuple(AttributeBins.of_domain(attribute.name, attribute.domain) for attribute in published.attributes)
    return MeasuredTable(name="cells", bins=bins, counts=counts, kind=NoiseKind.LAPLACE, variance=1.0)


def _codes(public: Schema, published: Schema, name: str) -> Integers:
    return recoding(public[name].domain, published[name].domain)


def fine_values(schema: Schema) -> dict[str, Values]:
    return {
        each.name: CellValues(attribute=each) if isinstance(each.domain, Grid) else LeafValues(attribute=each)
        for each in schema.attributes
    }
