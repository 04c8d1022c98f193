"""Bounds of the detail's queries at extremes: huge log-odds, very many records, and prices that must not vanish."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scumble.files.schema_file import parse_schema
from scumble.methods.diffgen.detail.class_totals import class_totals
from scumble.methods.diffgen.detail.combinations import Combination
from scumble.methods.diffgen.detail.residuals import CERTAIN, ResidualChoice, ResidualSums, _residuals
from scumble.methods.diffgen.detail.shrinkage import consistent
from scumble.methods.diffgen.detail.slopes import LARGEST_LIMIT, OverlapSums, SlopeSums
from scumble.methods.diffgen.detail.spends import table_shares
from scumble.methods.diffgen.detail.terms import LogOddsModel, Term, class_probabilities
from scumble.methods.diffgen.detail.weights import limits
from scumble.methods.diffgen.method import DiffGenMethod
from scumble.methods.diffgen.parameters import DiffGen
from scumble.model.counts import Block
from scumble.model.guarantee import Unit

SCHEMA = parse_schema(
    """
scumble: schema/1
target: class
attributes:
  a: {classes: [x, y, z]}
  b: {classes: [x, y]}
  class: {classes: [p, q, r]}
"""
)
ALONE = Combination(places=(0,), bins=(np.arange(3),))
EXTREME = st.integers(-(2**31), 2**31 - 1)
ROW = st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 2))


def block(*rows: tuple[int, int, int]) -> Block:
    return tuple(np.array(rows, dtype=np.uint8).reshape(-1, 3).T)


@given(st.lists(EXTREME, min_size=3, max_size=3), ROW)
def test_residuals_of_a_record_are_within_their_bound_whatever_the_log_odds_are(base: list[int], row: tuple) -> None:
    """Differences of such log-odds exceed 32 bits."""
    model = LogOddsModel(schema=SCHEMA, base=np.array(base, dtype=np.int32))
    sums = ResidualSums(model=model, combination=ALONE)
    found = sums.answer([block(row)]).reshape(3, 3)[row[0]]
    assert np.abs(found).sum() <= sums.sensitivity(Unit.ADD_REMOVE).bound
    assert found.sum() == 0 and 0 <= found[row[2]] <= CERTAIN
    choice = ResidualChoice(model=model, candidates=(ALONE,), handicaps=(0,))
    assert abs(int(choice.answer([block(row)])[0, 0])) <= choice.sensitivity(Unit.ADD_REMOVE).bound


@given(st.lists(EXTREME, min_size=2, max_size=2), st.integers(0, 1))
def test_residuals_of_two_classes_are_opposite_numbers_and_one_of_them_is_counted(base: list[int], label: int) -> None:
    schema = parse_schema(
        "scumble: schema/1\ntarget: y\nattributes:\n  x: {taxonomy: {Any: {a: , b: }}}\n  y: {classes: [n, p]}\n"
    )
    query = ResidualSums(
        model=LogOddsModel(schema=schema, base=np.array(base, dtype=np.int32)),
        combination=Combination(places=(0,), bins=(np.arange(2),)),
    )
    answer = query.answer([(np.array([1], dtype=np.uint8), np.array([label], dtype=np.uint8))])
    assert answer.shape == (2,) and np.abs(answer).sum() <= query.sensitivity(Unit.ADD_REMOVE).bound == CERTAIN
    assert np.array_equal(query.by_class(answer).sum(axis=1), [0, 0]) and query.by_class(answer)[1, label] >= 0


@given(st.lists(st.integers(-20_000, 20_000), min_size=3, max_size=3))
def test_residuals_use_the_probabilities_of_the_model(base: list[int]) -> None:
    model = LogOddsModel(schema=SCHEMA, base=np.array(base, dtype=np.int32))
    found = ResidualSums(model=model, combination=ALONE).answer([block((0, 0, 0))]).reshape(3, 3)[0]
    expected = CERTAIN * (np.array([1, 0, 0]) - class_probabilities(model.base[np.newaxis])[0])
    assert np.abs(found - expected).max() <= 2.01  # two classes are rounded down, the largest gets what is left


@given(st.lists(ROW, max_size=30), st.integers(0, 30))
def test_residuals_do_not_depend_on_how_rows_are_divided(rows: list[tuple], cut: int) -> None:
    shifts = np.array([[0, 900, -3000], [123, -456, 789], [5000, 0, 1]], dtype=np.int32)
    model = LogOddsModel(schema=SCHEMA, base=np.array([0, 300, -700], dtype=np.int32), terms=(Term.of(ALONE, shifts),))
    for query in (
        ResidualSums(model=model, combination=ALONE),
        SlopeSums(model=model, limit=3000),
        OverlapSums(model=model, limit=3000),
    ):
        whole = query.answer([block(*rows)])
        assert np.array_equal(whole, query.answer([block(*rows[cut:]), block(*rows[:cut])]))


@pytest.mark.parametrize("query", [SlopeSums, OverlapSums])
def test_weights_of_very_many_records_do_not_exceed_64_bits(query: type[SlopeSums] | type[OverlapSums]) -> None:
    """Log-odds as large as noise can make them: the limit follows the rows that were drawn, up to a public bound."""
    shifts = np.array([[0, 2**30, -(2**30)], [2**30, 0, 0], [0, 0, 2**30]], dtype=np.int32)
    model = LogOddsModel(schema=SCHEMA, base=np.zeros(3, dtype=np.int32), terms=(Term.of(ALONE, shifts),) * 2)
    model = replace(model, base=np.array([2**30, 0, 0], dtype=np.int32))
    of_slopes, of_overlaps = limits(model, [np.array([0, 1, 2] * 10), np.zeros(30, dtype=np.int64)])
    assert max(of_slopes, of_overlaps) <= LARGEST_LIMIT and 2**32 * LARGEST_LIMIT < 2**63
    for row in ((0, 0, 1), (1, 0, 2), (2, 0, 0)):
        assert np.abs(query(model=model, limit=2**62).answer([block(row)])).sum() <= LARGEST_LIMIT


def test_every_attribute_gets_a_share_however_many_there_are() -> None:
    many = "\n".join(f"  n{number}: {{numeric: {{low: 0, high: 1000, step: 1}}}}" for number in range(90))
    schema = parse_schema(
        f"scumble: schema/1\ntarget: class\nattributes:\n  one: {{classes: [x]}}\n{many}\n  class: {{classes: [p, q]}}"
    )
    shares = table_shares(schema, 128)
    assert min(shares.values()) > 0 and sum(shares.values()) == 1
    DiffGenMethod().plan(schema, DiffGen(epsilon=1, records=10**9))


def test_shares_are_thousandths_if_there_are_few_attributes() -> None:
    assert all(1000 % share.denominator == 0 for share in table_shares(SCHEMA, 10).values())


def test_class_totals_of_counts_without_noise() -> None:
    """The variance of noise underflows if one answer gets an epsilon of hundreds."""
    exact, noisy = np.array([[30, 70]]), np.array([[900, 100]])
    assert class_totals([(exact, 0.0), (noisy, 1e3)]) == pytest.approx([30, 70])


@pytest.mark.parametrize("largest", [10**15, 10**17, 2**62])
def test_counts_that_are_mostly_noise_are_made_consistent(largest: int) -> None:
    table = np.array([[largest, -largest], [1 - largest, largest], [7, -7]])
    made = consistent(table)
    assert (made >= 0).all() and np.isfinite(made).all()
    assert all(before >= after for before, after in pairwise(made[:2, 0]))


@pytest.mark.parametrize("records", ["auto", 10**9])
def test_the_largest_epsilon_can_be_planned(records: int | str) -> None:
    """The single table gets an epsilon of hundreds, at which the variance of its noise is rounded to zero."""
    schema = parse_schema(
        "scumble: schema/1\ntarget: class\nattributes:\n  a: {classes: [x, y]}\n  class: {classes: [p, q]}"
    )
    given = DiffGen(epsilon=1000) if records == "auto" else DiffGen(epsilon=1000, records=int(records))
    assert DiffGenMethod().plan(schema, given).notes


@given(st.lists(st.integers(-10_000, 10_000) | st.integers(-(2**33), 2**33), min_size=1), st.integers(0, 1))
def test_the_table_of_two_classes_has_the_probabilities_that_are_computed_for_more(odds: list[int], label: int) -> None:
    labels = np.full(len(odds), label, dtype=np.uint8)
    impossible = np.full(len(odds), -(2**34))
    of_two = _residuals(np.array([odds]), labels)
    of_three = _residuals(np.array([odds, impossible]), labels)
    assert of_two[0].tolist() == of_three[0].tolist() and not of_three[1].any()
