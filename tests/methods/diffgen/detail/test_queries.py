"""The queries of the detail: each against brute force on random tables, and sensitivities by the neighbour law."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from detail_models import (
    PEOPLE,
    combinations_of_bins,
    groupings,
    models,
    predictors_and_class,
    records,
    twin_group,
    twin_key,
    twin_log_odds,
    twin_probabilities,
    twin_shifts,
    usable,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import coded_rows, schemas

from scumble.auditing.laws.queries import check_added_record, check_replaced_record, engine_of, exact_answer
from scumble.errors import CheckError
from scumble.methods.diffgen.detail import counts, residuals, slopes
from scumble.methods.diffgen.detail.binning import range_width
from scumble.methods.diffgen.detail.combinations import ROWS_AT_ONCE, Combination
from scumble.methods.diffgen.detail.counts import ClassTable, GroupCounts, ValueCounts
from scumble.methods.diffgen.detail.evaluation import TILE
from scumble.methods.diffgen.detail.groups import LogOddsGroups
from scumble.methods.diffgen.detail.residuals import CERTAIN, ResidualChoice, ResidualSums, _residuals, of_all_classes
from scumble.methods.diffgen.detail.slopes import OverlapSums, SlopeSums
from scumble.methods.diffgen.detail.terms import LogOddsModel, Term
from scumble.model.guarantee import Unit
from scumble.model.schema import Schema
from scumble.privacy.query import RowQuery, Sensitivity

Draw = Callable[[st.SearchStrategy[Any]], Any]


def value_counts(draw: Draw, model: LogOddsModel) -> ValueCounts:
    places = draw(st.lists(st.sampled_from(range(len(model.schema.predictors))), unique=True, min_size=1))
    return ValueCounts(schema=model.schema, places=tuple(places))


def class_table(draw: Draw, model: LogOddsModel) -> ClassTable:
    groups = draw(st.none() | groupings(len(model.schema.classes)))
    return ClassTable(model=model, combination=draw(combinations_of_bins(model.schema)), groups=groups)


def residual_choice(draw: Draw, model: LogOddsModel) -> ResidualChoice:
    candidates = tuple(draw(st.lists(combinations_of_bins(model.schema), min_size=1, max_size=3)))
    handicaps = tuple(draw(st.integers(-5000, 5000)) for _ in candidates)
    return ResidualChoice(model=model, candidates=candidates, handicaps=handicaps, optional=draw(st.booleans()))


LIMITS = st.sampled_from([1, 7, 300, 2000, 10**6])
KINDS: dict[type[RowQuery], Callable[[Draw, LogOddsModel], RowQuery]] = {
    ValueCounts: value_counts,
    ClassTable: class_table,
    GroupCounts: lambda draw, model: GroupCounts(model=model, groups=draw(groupings(len(model.schema.classes)))),
    ResidualChoice: residual_choice,
    ResidualSums: lambda draw, model: ResidualSums(model=model, combination=draw(combinations_of_bins(model.schema))),
    SlopeSums: lambda draw, model: SlopeSums(model=model, limit=draw(LIMITS)),
    OverlapSums: lambda draw, model: OverlapSums(model=model, limit=draw(LIMITS)),
}


def test_every_query_of_the_detail_is_checked() -> None:
    shipped = {
        each
        for module in (counts, residuals, slopes)
        for each in vars(module).values()
        if isinstance(each, type) and each.__module__ == module.__name__
    }
    assert shipped == set(KINDS) == set(TIGHT)


@pytest.mark.parametrize("kind", KINDS)
def test_no_neighbour_exceeds_the_declared_sensitivity(kind: type[RowQuery]) -> None:
    @settings(max_examples=120, deadline=None)
    @given(st.data())
    def law(data: st.DataObject) -> None:
        schema = data.draw(st.just(PEOPLE) | schemas().filter(usable))
        query = KINDS[kind](data.draw, data.draw(models(schema)))
        rows = data.draw(coded_rows(schema, most_rows=8))
        record, other = (data.draw(records(schema)) for _ in range(2))
        check_added_record(query, schema, rows, record)
        check_replaced_record(query, schema, rows, record, other)

    law()


EVERYONE = Combination(places=(), bins=())
SURE = LogOddsModel(schema=PEOPLE, base=np.array([-(10**6), 0], dtype=np.int32))
"""A model that is certain of the second class."""
TIGHT: dict[type[RowQuery], RowQuery] = {
    ValueCounts: ValueCounts(schema=PEOPLE, places=(0, 1, 2)),
    ClassTable: ClassTable(model=SURE, combination=EVERYONE),
    GroupCounts: GroupCounts(model=SURE, groups=LogOddsGroups(edges=np.zeros((1, 2), dtype=np.int32))),
    ResidualChoice: ResidualChoice(model=SURE, candidates=(EVERYONE,), handicaps=(3,)),
    ResidualSums: ResidualSums(model=SURE, combination=EVERYONE),
    SlopeSums: SlopeSums(
        model=replace(SURE, terms=(Term.of(EVERYONE, np.array([[100, 0]], dtype=np.int32)),)), limit=100
    ),
    OverlapSums: OverlapSums(
        model=LogOddsModel(
            schema=PEOPLE,
            base=np.array([-2048, 0], dtype=np.int32),
            terms=(Term.of(EVERYONE, np.array([[2048, 0]], dtype=np.int32)),),
        ),
        limit=1024,
    ),
}
"""Queries whose bound a record of the first class reaches exactly."""


@pytest.mark.parametrize("kind", KINDS)
def test_a_lowered_bound_is_noticed(kind: type[RowQuery], monkeypatch: pytest.MonkeyPatch) -> None:
    true, record = kind.sensitivity, (3, 0, 2, 150)
    check_added_record(TIGHT[kind], PEOPLE, [], record)

    def lowered(self: RowQuery, unit: Unit) -> Sensitivity:
        return replace(true(self, unit), bound=true(self, unit).bound - 1)

    monkeypatch.setattr(kind, "sensitivity", lowered)
    with pytest.raises(CheckError):
        check_added_record(TIGHT[kind], PEOPLE, [], record)


def twin_residuals(model: LogOddsModel, codes: Sequence[int], label: int) -> list[int]:
    log_odds = np.array(twin_log_odds(model, codes))
    powers = np.exp((log_odds - log_odds.max()) / 1024)
    expected = [int(each) for each in CERTAIN * powers / powers.sum()]
    expected[int(log_odds.argmax())] += CERTAIN - sum(expected)
    return [CERTAIN * (place == label) - each for place, each in enumerate(expected)]


def residual_table(model: LogOddsModel, combination: Combination, schema: Schema, rows: Sequence[tuple]) -> Any:
    """The residuals (combinations of bins, classes), one record at a time."""
    table = np.zeros((len(combination), len(schema.classes)), dtype=np.int64)
    for row in rows:
        codes, label = predictors_and_class(schema, row)
        table[twin_key(combination, codes)] += twin_residuals(model, codes, label)
    return table


def brute_force(query: Any, schema: Schema, rows: Sequence[tuple[int, ...]]) -> Any:
    """The answer of a counting query, one record at a time."""
    people = [predictors_and_class(schema, row) for row in rows]
    classes = len(schema.classes)
    if isinstance(query, ValueCounts):
        found = []
        for place in query.places:
            domain = schema.predictors[place].domain
            found += [sum(codes[place] == code for codes, _ in people) for code in range(domain.size)]
            width = range_width(domain)
            starts = range(0, domain.size, width) if width > 1 else ()
            found += [sum(start <= codes[place] < start + width for codes, _ in people) for start in starts]
        return found
    if isinstance(query, ResidualChoice):
        sums = [np.abs(residual_table(query.model, each, schema, rows)).sum() for each in query.candidates]
        scores = [int(each) - handicap for each, handicap in zip(sums, query.handicaps, strict=True)]
        return [scores + [0] * query.optional]
    if isinstance(query, ResidualSums):
        table = residual_table(query.model, query.combination, schema, rows)
        return (table[:, 1] if classes == 2 else table.ravel()).tolist()
    groups = len(query.groups or (0,))
    bins = 1 if isinstance(query, GroupCounts) else len(query.combination)
    table = np.zeros((groups, bins, classes), dtype=np.int64)
    for codes, label in people:
        key = 0 if isinstance(query, GroupCounts) else twin_key(query.combination, codes)
        table[twin_group(query.groups, twin_log_odds(query.model, codes)), key, label] += 1
    return table.ravel().tolist()


@pytest.mark.parametrize("kind", [ValueCounts, ClassTable, GroupCounts, ResidualChoice, ResidualSums])
def test_answers_are_those_of_brute_force_however_rows_are_cut_into_blocks(kind: type[RowQuery]) -> None:
    @settings(max_examples=60, deadline=None)
    @given(st.data())
    def law(data: st.DataObject) -> None:
        schema = data.draw(st.just(PEOPLE) | schemas().filter(usable))
        query = KINDS[kind](data.draw, data.draw(models(schema)))
        rows = data.draw(coded_rows(schema, most_rows=8))
        expected = brute_force(query, schema, rows)
        assert exact_answer(query, schema, rows).tolist() == expected
        blocks = [block for row in rows for block in engine_of(schema, [row]).blocks()]
        assert query.answer(blocks).tolist() == expected

    law()


@pytest.mark.parametrize("kind", KINDS)
def test_many_rows_add_up_like_few(kind: type[RowQuery]) -> None:
    """More rows than fit into any tile or chunk of the compiled loops."""

    @settings(max_examples=3, deadline=None)
    @given(st.data())
    def law(data: st.DataObject) -> None:
        query: Any = KINDS[kind](data.draw, data.draw(models(PEOPLE)))
        generator = np.random.default_rng(data.draw(st.integers(0, 2**32)))
        rows = ROWS_AT_ONCE + TILE + 77
        columns = [generator.integers(0, each.domain.size, rows).astype(np.uint16) for each in PEOPLE.attributes]
        few = [tuple(column[start : start + 100] for column in columns) for start in range(0, rows, 100)]
        expected = np.sum([query.gather([block]) for block in few], axis=0)
        assert (query.gather([tuple(columns)]) == expected).all()

    law()


@given(st.integers(0, 2**32), st.integers(2, 6))
def test_the_expected_probabilities_of_a_record_add_up_to_one_and_are_not_negative(seed: int, classes: int) -> None:
    generator = np.random.default_rng(seed)
    relative = generator.integers(-40_000, 40_000, (classes - 1, 50))
    labels = generator.integers(0, classes, 50)
    residuals = of_all_classes(_residuals(relative, labels).T)
    assert (residuals.sum(axis=1) == 0).all()
    expected = CERTAIN * np.eye(classes, dtype=np.int64)[labels] - residuals
    assert (expected >= 0).all() and (expected.sum(axis=1) == 1024).all()


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_slopes_and_overlaps_are_the_derivatives_of_the_likelihood_within_their_limits(data: st.DataObject) -> None:
    schema = data.draw(schemas().filter(usable))
    model = data.draw(models(schema).filter(lambda model: model.terms))
    row = data.draw(records(schema))
    codes, label = predictors_and_class(schema, row)
    shifts = np.array(twin_shifts(model, codes), dtype=np.float64)
    probabilities = np.array(twin_probabilities(twin_log_odds(model, codes)))
    slopes = shifts[:, label] - shifts @ probabilities
    covariance = (shifts * probabilities) @ shifts.T - np.outer(shifts @ probabilities, shifts @ probabilities)
    overlaps = covariance[np.triu_indices(len(shifts))] / 1024
    for kind, exact in ((SlopeSums, slopes), (OverlapSums, overlaps)):
        limit = data.draw(LIMITS)
        found = exact_answer(kind(model=model, limit=limit), schema, [row])
        assert np.abs(found).sum() <= limit
        scale = min(limit / max(np.abs(exact).sum(), 1e-9), 1.0)
        assert np.abs(found - exact * scale).max() <= 1.01, "rounded toward zero"
        assert (np.abs(found) <= np.abs(exact * scale) + 0.01).all()


def test_slopes_and_overlaps_add_up_over_records() -> None:
    generator = np.random.default_rng(6)
    terms = tuple(
        Term.of(Combination(places=(1,), bins=(np.arange(4),)), generator.integers(-900, 900, (4, 2)).astype(np.int32))
        for _ in range(3)
    )
    model = LogOddsModel(schema=PEOPLE, base=np.array([-300, 200], dtype=np.int32), terms=terms)
    rows = [tuple(int(generator.integers(0, each.domain.size)) for each in PEOPLE.attributes) for _ in range(40)]
    for query in (SlopeSums(model=model, limit=800), OverlapSums(model=model, limit=500)):
        single = [exact_answer(query, PEOPLE, [row]) for row in rows]
        assert exact_answer(query, PEOPLE, rows).tolist() == np.sum(single, axis=0).tolist()
