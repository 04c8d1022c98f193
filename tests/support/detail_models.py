"""Random log-odds models of DiffGen's detail, and readable twins that work on one record at a time."""

from collections.abc import Iterable, Sequence
from math import exp

import numpy as np
from hypothesis import strategies as st

from scumble.files.schema_file import parse_schema
from scumble.methods.diffgen.detail.combinations import Combination
from scumble.methods.diffgen.detail.groups import LogOdds, LogOddsGroups
from scumble.methods.diffgen.detail.terms import LogOddsModel, Term
from scumble.model.schema import Schema

PEOPLE = parse_schema(
    """
scumble: schema/1
target: class
attributes:
  age: {numeric: {low: 0, high: 60, step: 1}, missing: "?"}
  class: {classes: [x, y]}
  job: {taxonomy: {Any: {A: {a: , b: }, B: {c: , d: }}}}
  pay: {numeric: {low: 0, high: 3000, step: 10}}
"""
)
"""`pay` has so many values that they are also counted in ranges."""


def usable(schema: Schema) -> bool:
    return schema.target is not None and len(schema.predictors) > 0 and len(schema.classes) > 1


def records(schema: Schema) -> st.SearchStrategy[tuple[int, ...]]:
    return st.tuples(*(st.integers(0, attribute.domain.size - 1) for attribute in schema.attributes))


@st.composite
def groupings(draw: st.DrawFn, classes: int) -> LogOddsGroups:
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    edges = np.sort(generator.integers(-3000, 3000, (1 if classes == 2 else classes, draw(st.integers(0, 3)))), axis=1)
    return LogOddsGroups(edges=edges.astype(np.int32))


@st.composite
def combinations_of_bins(draw: st.DrawFn, schema: Schema) -> Combination:
    places = draw(st.lists(st.sampled_from(range(len(schema.predictors))), unique=True, min_size=1, max_size=2))
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    sizes = [schema.predictors[place].domain.size for place in places]
    bins = tuple(np.cumsum(generator.integers(0, 2, size)) for size in sizes)
    return Combination(places=tuple(places), bins=tuple(each - each[0] for each in bins))


@st.composite
def models(draw: st.DrawFn, schema: Schema) -> LogOddsModel:
    """Models with random shifts and groups, before or after a calibration."""
    classes = len(schema.classes)
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))

    def shifts(lines: int) -> LogOdds:
        return generator.integers(-2000, 2000, (lines, classes)).astype(np.int32)

    calibrated, terms = draw(st.booleans()), []
    for _ in range(draw(st.integers(0, 3))):
        combination = draw(combinations_of_bins(schema))
        groups = draw(st.none() | groupings(classes))
        lines = len(combination) * len(groups or (0,))
        measured = shifts(lines)
        after = shifts(lines) if calibrated else measured
        terms.append(Term(combination=combination, measured=measured, shifts=after, groups=groups))
    start = shifts(1)[0] if calibrated else None
    return LogOddsModel(schema=schema, base=shifts(1)[0], terms=tuple(terms), start=start)


def predictors_and_class(schema: Schema, row: Sequence[int]) -> tuple[list[int], int]:
    target = [attribute.name for attribute in schema.attributes].index(str(schema.target))
    return [code for place, code in enumerate(row) if place != target], row[target]


def twin_group(groups: LogOddsGroups | None, log_odds: Sequence[int]) -> int:
    if groups is None:
        return 0
    levels = groups.edges.shape[1] + 1
    if len(log_odds) == 2:
        kind, lead = 0, log_odds[1] - log_odds[0]
    else:
        kind = list(log_odds).index(max(log_odds))
        lead = log_odds[kind] - sorted(log_odds)[-2]
    return kind * levels + sum(lead > edge for edge in groups.edges[kind])


def twin_key(combination: Combination, codes: Sequence[int]) -> int:
    key = 0
    for place, bins in zip(combination.places, combination.bins, strict=True):
        key = key * (max(bins.tolist()) + 1) + int(bins[codes[place]])
    return key


def twin_shifts(model: LogOddsModel, codes: Sequence[int]) -> list[list[int]]:
    """The shifts of every term for one record, from the definition."""
    before = [int(value) for value in (model.base if model.start is None else model.start)]
    found = []
    for term in model.terms:
        line = twin_key(term.combination, codes) + len(term.combination) * twin_group(term.groups, before)
        before = [value + int(more) for value, more in zip(before, term.measured[line], strict=True)]
        found.append([int(value) for value in term.shifts[line]])
    return found


def twin_log_odds(model: LogOddsModel, codes: Sequence[int]) -> list[int]:
    return [int(base) + sum(column) for base, *column in zip(model.base, *twin_shifts(model, codes), strict=True)]


def twin_probabilities(log_odds: Iterable[float]) -> list[float]:
    log_odds = list(log_odds)
    powers = [exp((value - max(log_odds)) / 1024) for value in log_odds]
    return [power / sum(powers) for power in powers]
