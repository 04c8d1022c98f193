"""Detail inside the cells: the queries' law, the evidence against a plain twin, and rows that keep to their cells."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import coded_rows, cuts, schemas

from scumble.auditing.laws.queries import check_added_record, check_replaced_record, engine_of
from scumble.errors import CheckError, InputError
from scumble.files.schema_file import parse_schema
from scumble.methods.diffgen.detail.calibration import LIKELY_SLOPE, SLOPE_SPREAD, calibrate
from scumble.methods.diffgen.detail.groups import ODDS_UNIT, Evidence, Grouping, Odds, Stage, bins_of, chances, to_odds
from scumble.methods.diffgen.detail.measure import table_shares
from scumble.methods.diffgen.detail.queries import Margins, StageChoice, StageCounts
from scumble.methods.diffgen.detail.rows import Rows, deal
from scumble.methods.diffgen.detail.shrinkage import USUAL, consistent, drawn, odds_of_cells, shifts_of
from scumble.methods.diffgen.method import DiffGenMethod
from scumble.methods.diffgen.parameters import DiffGen
from scumble.model.counts import Integers
from scumble.model.cut import Cut, Specialization
from scumble.model.guarantee import Unit
from scumble.model.schema import Schema
from scumble.privacy.holder import CentralHolder
from scumble.privacy.noise import PaidNoise, simulation
from scumble.privacy.query import RowQuery, Sensitivity

SCHEMA = parse_schema(
    """
scumble: schema/1
target: class
attributes:
  age: {numeric: {low: 0, high: 60, step: 1}, missing: "?"}
  class: {classes: [x, y]}
  job: {taxonomy: {Any: {A: {a: , b: }, B: {c: , d: }}}}
  size: {numeric: {edges: [0, 0.5, 3]}}
"""
)
JOBS = SCHEMA["job"].domain.root


@st.composite
def evidences(draw: st.DrawFn, schema: Schema) -> Evidence:
    """Any evidence: random odds, edges and shifts."""
    classes = len(schema.classes)
    kinds = 1 if classes == 2 else classes
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))

    def grouping() -> Grouping:
        edges = np.sort(generator.integers(-3000, 3000, (kinds, draw(st.integers(0, 3)))), axis=1)
        return Grouping(edges=edges.astype(np.int32))

    cut = draw(cuts(schema))
    evidence = Evidence(
        schema=schema,
        cut=cut,
        cells=generator.integers(-3000, 0, (cut.cells, classes)).astype(np.int32),
        first=grouping(),
    )
    places = draw(st.lists(st.sampled_from(range(len(schema.predictors))), max_size=3))
    for place in places:
        bins = bins_of(schema.predictors[place].domain)
        shape = (evidence.grouping.groups, int(bins[-1]) + 1, classes)
        shifts = generator.integers(-2000, 2000, shape).astype(np.int32)
        stage = Stage(place=place, bins=bins, shifts=shifts, after=grouping())
        evidence = replace(evidence, stages=(*evidence.stages, stage))
    return evidence


def usable(schema: Schema) -> bool:
    return schema.target is not None and len(schema.predictors) > 0 and len(schema.classes) > 1


KINDS: dict[type[RowQuery], Any] = {
    StageChoice: lambda evidence: StageChoice(evidence=evidence, places=tuple(range(len(evidence.schema.predictors)))),
    StageCounts: lambda evidence: StageCounts(evidence=evidence, place=len(evidence.schema.predictors) - 1),
    Margins: lambda evidence: Margins(evidence=evidence, places=tuple(range(len(evidence.schema.predictors)))),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_neighbour_law_holds(kind: type[RowQuery]) -> None:
    @settings(max_examples=150)
    @given(st.data())
    def law(data: st.DataObject) -> None:
        schema = data.draw(schemas().filter(usable))
        query = KINDS[kind](data.draw(evidences(schema)))
        rows = data.draw(coded_rows(schema, most_rows=8))
        record, other = (data.draw(_record(schema)) for _ in range(2))
        check_added_record(query, schema, rows, record)
        check_replaced_record(query, schema, rows, record, other)

    law()


def _record(schema: Schema) -> st.SearchStrategy[tuple[int, ...]]:
    return st.tuples(*(st.integers(0, attribute.domain.size - 1) for attribute in schema.attributes))


@pytest.mark.parametrize("kind", KINDS)
def test_a_lowered_bound_is_noticed(kind: type[RowQuery], monkeypatch: pytest.MonkeyPatch) -> None:
    true = kind.sensitivity

    def lowered(self: RowQuery, unit: Unit) -> Sensitivity:
        return replace(true(self, unit), bound=true(self, unit).bound - 1)

    monkeypatch.setattr(kind, "sensitivity", lowered)
    flat = Evidence(
        schema=SCHEMA,
        cut=Cut.top(SCHEMA),
        cells=np.zeros((1, 2), dtype=np.int32),
        first=Grouping(edges=np.zeros((1, 0), dtype=np.int32)),
    )
    with pytest.raises(CheckError):
        check_added_record(KINDS[kind](flat), SCHEMA, [], (0, 0, 0, 0))


@given(st.data())
@settings(max_examples=60)
def test_groups_are_those_of_a_plain_twin_however_rows_are_cut_into_blocks(data: st.DataObject) -> None:
    schema = data.draw(schemas().filter(usable))
    evidence = data.draw(evidences(schema))
    rows = data.draw(coded_rows(schema, most_rows=9))
    whole = StageCounts(evidence=evidence, place=0)
    expected = np.zeros(whole.shape, dtype=np.int64)
    target = [attribute.name for attribute in schema.attributes].index(str(schema.target))
    for row in rows:
        codes = [code for place, code in enumerate(row) if place != target]
        bins = bins_of(schema.predictors[0].domain)
        expected[_twin_group(evidence, codes), bins[codes[0]], row[target]] += 1
    assert (whole.answer(engine_of(schema, rows).blocks()) == expected.ravel()).all()
    single = [tuple(column[place : place + 1] for column in _block(schema, rows)) for place in range(len(rows))]
    assert (whole.answer(single) == expected.ravel()).all()


def _block(schema: Schema, rows: Sequence[tuple[int, ...]]) -> tuple[Any, ...]:
    blocks = list(engine_of(schema, rows).blocks())
    return blocks[0] if blocks else ()


def _twin_group(evidence: Evidence, codes: Sequence[int]) -> int:
    """One record at a time, from the definition."""
    cell = 0
    for (name, nodes), code in zip(evidence.cut.nodes.items(), codes, strict=True):
        del name
        cell = cell * len(nodes) + next(place for place, node in enumerate(nodes) if node.low <= code < node.high)
    odds = [int(value) for value in evidence.cells[cell]]
    group = _sorted_in(evidence.first, odds)
    for stage in evidence.stages:
        shift = stage.shifts[group, stage.bins[codes[stage.place]]]
        odds = [value + int(more) for value, more in zip(odds, shift, strict=True)]
        group = _sorted_in(stage.after, odds)
    return group


def _sorted_in(grouping: Grouping, odds: list[int]) -> int:
    levels = grouping.edges.shape[1] + 1
    if len(odds) == 2:
        kind, lean = 0, odds[1] - odds[0]
    else:
        kind = odds.index(max(odds))
        lean = odds[kind] - sorted(odds)[-2]
    return kind * levels + sum(lean > edge for edge in grouping.edges[kind])


@given(st.integers(0, 2**32))
def test_a_table_without_noise_tells_the_chances_of_its_own_counts_whatever_was_told(seed: int) -> None:
    generator = np.random.default_rng(seed)
    table = generator.integers(50, 1000, (2, 7, 3)) * 10_000
    told = generator.dirichlet((3, 3, 3), (2, 7)).clip(0.02)
    told /= told.sum(axis=2, keepdims=True)
    odds = to_odds(told) + shifts_of(table, told, 1e-6)
    found = chances(odds.reshape(-1, 3)).reshape(table.shape)
    assert np.allclose(found, table / table.sum(axis=2, keepdims=True), atol=3e-3)


def test_a_table_of_noise_alone_tells_nothing() -> None:
    generator = np.random.default_rng(5)
    told = np.full((1, 20, 2), [0.7, 0.3])
    table = np.rint(50 * told + generator.normal(0, 40, told.shape)).astype(np.int64)
    quiet = np.abs(shifts_of(table, told, 4000.0))
    assert quiet.max() < 0.2 * 1024


def test_what_is_drawn_errs_less_than_the_counts_and_less_than_the_prior() -> None:
    """Values of many sizes and changes, one of them rare and telling."""
    generator = np.random.default_rng(9)
    sizes = np.array([4000, 2000, 1000, 500, 250, 120, 60, 30, 800])
    second = np.array([0.25, 0.35, 0.15, 0.25, 0.45, 0.25, 0.15, 0.35, 0.95])
    truth = np.stack([1 - second, second], axis=1)
    prior = np.full(truth.shape, [0.75, 0.25])
    errors = np.zeros(3)
    for _ in range(200):
        table = np.rint(sizes[:, np.newaxis] * truth + generator.laplace(0, 150, truth.shape)).astype(np.int64)
        seen = np.maximum(table, 0) + 1
        alone = seen / seen.sum(axis=1, keepdims=True)
        found = drawn(table, prior, 150 * 2**0.5, usual=USUAL)
        errors += [np.square(guess - truth).sum() for guess in (found, alone, prior)]
    assert errors[0] < 0.6 * errors[1] and errors[0] < 0.8 * errors[2]


def test_sums_of_cells_tell_what_single_cells_drown() -> None:
    """One attribute decides, and two split the table into a hundred cells of noise: in the order of splits its sums are
    heard, in the opposite order only single cells are asked."""
    generator = np.random.default_rng(4)
    truth = np.zeros((2, 10, 10, 2))
    truth[0], truth[1] = (0.9, 0.1), (0.3, 0.7)
    errors = np.zeros(2)
    for _ in range(20):
        measured = np.rint(15 * truth + generator.laplace(0, 20, truth.shape)).astype(np.int64).reshape(-1, 2)
        for number, order in enumerate(((0, 1, 2), (2, 1, 0))):
            odds = odds_of_cells(measured, 20 * 2**0.5, (2, 10, 10), order)
            errors[number] += np.square(chances(odds) - truth.reshape(-1, 2)).sum()
    assert errors[0] < 0.5 * errors[1]


@pytest.mark.parametrize("order", [(), (0,), (2, 0), (0, 1, 2), (2, 1, 0)])
def test_cells_without_noise_have_their_own_odds_in_any_order(order: tuple[int, ...]) -> None:
    shape = tuple(3 if place in order else 1 for place in range(3))
    measured = np.random.default_rng(1).integers(10**6, 10**7, (int(np.prod(shape)), 3))
    found = chances(odds_of_cells(measured, 1e-6, shape, order))
    assert np.allclose(found, measured / measured.sum(axis=1, keepdims=True), atol=3e-3)


def test_what_the_cells_have_told_of_an_attribute_is_not_counted_twice() -> None:
    """The cut splits the attribute, and its table repeats what the cells said: no odds move."""
    cut = Cut.top(SCHEMA).specialize(Specialization(attribute="job", node=JOBS, children=JOBS.children))
    count = np.array([[4000, 1000], [500, 4500]])
    evidence = Evidence(
        schema=SCHEMA,
        cut=cut,
        cells=to_odds(count / count.sum(axis=1, keepdims=True)),
        first=Grouping(edges=np.zeros((1, 0), dtype=np.int32)),
    )
    rows = Rows(evidence, count, simulation(0))
    place = [attribute.name for attribute in SCHEMA.predictors].index("job")
    table = np.repeat(count // 2, 2, axis=0)[np.newaxis]
    assert np.abs(shifts_of(table, rows.told(1, place), 10.0)).max() <= 2
    before = chances(rows.odds).mean(axis=0)
    assert np.abs(shifts_of(table, np.tile(before, (1, 4, 1)), 10.0)).max() > 500


def test_bins_cover_every_code_in_order_and_missing_stays_apart() -> None:
    for attribute in SCHEMA.predictors:
        bins = bins_of(attribute.domain)
        assert len(bins) == attribute.domain.size
        assert (np.diff(bins) >= 0).all() and set(bins) == set(range(bins[-1] + 1))
    ages = bins_of(SCHEMA["age"].domain)
    assert (ages == ages[-1]).sum() == 1


@given(
    st.lists(st.lists(st.integers(1, 99), min_size=3, max_size=3), min_size=1, max_size=60),
    st.integers(0, 2**32),
)
def test_classes_are_dealt_as_their_chances_add_up(weights: list[list[int]], seed: int) -> None:
    chance = np.array(weights) / np.sum(weights, axis=1, keepdims=True)
    labels = deal(chance, [np.arange(len(chance))], simulation(seed))
    climb = np.cumsum(chance[:, 0])
    assert (np.abs(np.cumsum(labels == 0) - climb) <= 1 + 1e-9).all()


def test_every_row_has_each_class_as_often_as_its_chance_says() -> None:
    """2,000 deals; six standard errors."""
    chance = np.array([[0.2, 0.3, 0.5], [0.9, 0.05, 0.05], [0.1, 0.1, 0.8], [0.4, 0.4, 0.2]])
    deals = np.stack([deal(chance, [np.arange(4)], simulation(seed)) for seed in range(2000)])
    for label in range(3):
        share = (deals == label).mean(axis=0)
        assert (np.abs(share - chance[:, label]) < 6 * np.sqrt(0.25 / 2000)).all()


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_fine_rows_keep_to_their_cells_on_any_table(data: st.DataObject) -> None:
    schema = data.draw(schemas().filter(usable))
    rows = data.draw(coded_rows(schema, most_rows=20))
    parameters = DiffGen(epsilon=data.draw(st.sampled_from(["1/10", "3", "40"])))
    method = DiffGenMethod()
    plan = method.plan(schema, parameters)
    assert sum((spend.total(schema.unit) for spend in plan.spends), Fraction(0)) == parameters.epsilon
    holder = CentralHolder(engine=engine_of(schema, rows), noise=PaidNoise(), plan=plan)
    made = method.run(schema, parameters, holder)
    assert made.fine is not None
    assert set(made.fine.columns) == {attribute.name for attribute in schema.attributes}
    assert {len(column) for column in made.fine.columns.values()} == {4 * made.count.sum()}
    assert made.fine.schema == schema


def test_detail_is_left_out_where_somebody_settles_the_cells() -> None:
    assert DiffGen(epsilon=1).in_detail
    assert DiffGen(epsilon=1, rounds=3, detail="yes").in_detail
    for given_too in ({"rounds": 3}, {"score": "gini"}, {"selection_share": "1/2"}, {"leaves": True}, {"detail": "no"}):
        assert not DiffGen(epsilon=1, **given_too).in_detail
    with pytest.raises(InputError, match="detail"):
        DiffGen(epsilon=1, selection="published", detail="yes")


def test_consistent_tables_keep_their_totals() -> None:
    table = np.array([[[5, -3], [-2, 9], [4, 1]]])
    made = consistent(table)
    assert (made >= 0).all()
    assert np.allclose(made.sum(axis=1), table.sum(axis=1))


def counted(odds: Odds, slope: float, offset: float, groups: Integers, generator: np.random.Generator) -> Integers:
    """Classes of rows whose true log-odds are another slope and offset away, counted by group."""
    true = 1 / (1 + np.exp(-(slope * (odds[:, 1] - odds[:, 0]) / ODDS_UNIT + offset)))
    labels = (generator.random(len(odds)) < true).astype(np.int64)
    return np.stack([np.bincount(groups[labels == label], minlength=12) for label in (0, 1)], axis=1)


def leaning(seed: int) -> tuple[Odds, Integers, np.random.Generator]:
    generator = np.random.default_rng(seed)
    odds = np.zeros((20_000, 2), dtype=np.int32)
    odds[:, 1] = np.rint(generator.normal(-2, 2.5, len(odds)) * ODDS_UNIT)
    return odds, Grouping.learn(odds, 12).sort(odds), generator


@pytest.mark.parametrize(("slope", "offset"), [(1.0, 0.0), (0.4, 0.5), (0.25, -1.0), (1.6, 0.3)])
def test_calibration_finds_how_sure_the_tables_may_be(slope: float, offset: float) -> None:
    odds, groups, generator = leaning(3)
    table = counted(odds, slope, offset, groups, generator)
    found = calibrate(table, odds, groups, 1.0)
    assert abs(found.slope / ODDS_UNIT - slope) < 0.15 * slope
    assert abs((found.offsets[1] - found.offsets[0]) / ODDS_UNIT - offset) < 0.25


def test_calibration_by_noise_alone_stays_what_was_expected() -> None:
    odds, groups, generator = leaning(4)
    slopes = [
        calibrate(np.rint(generator.laplace(0, 5_000, (12, 2))).astype(np.int64), odds, groups, 5_000 * 2**0.5).slope
        for _ in range(20)
    ]
    assert np.exp(-2 * SLOPE_SPREAD) < np.median(slopes) / ODDS_UNIT / LIKELY_SLOPE < np.exp(2 * SLOPE_SPREAD)
    assert min(slopes) > 0


@given(st.integers(0, 2**32), st.sampled_from([2, 3, 5]))
@settings(max_examples=40, deadline=None)
def test_calibration_answers_any_counts_and_keeps_the_order_of_two_classes(seed: int, classes: int) -> None:
    generator = np.random.default_rng(seed)
    odds = generator.integers(-9000, 9000, (int(generator.integers(0, 60)), classes)).astype(np.int32)
    grouping = Grouping.learn(odds, 12)
    table = generator.integers(-3000, 3000, (grouping.groups, classes))
    found = calibrate(table, odds, grouping.sort(odds), float(generator.uniform(0.1, 900)))
    assert found.slope > 0
    after = found.apply(odds)
    assert np.isfinite(chances(after)).all()
    if classes == 2 and len(odds):
        before = odds[:, 1].astype(np.int64) - odds[:, 0]
        lean = after[:, 1].astype(np.int64) - after[:, 0]
        order = np.argsort(before, kind="stable")
        assert (np.diff(lean[order]) >= -1).all()


@pytest.mark.parametrize("fewest", [4, 12, 24])
def test_attributes_of_more_bins_have_more_of_the_tables_epsilon(fewest: int) -> None:
    shares = table_shares(SCHEMA, fewest)
    assert sum(shares.values()) == 1
    bins = {each.name: int(bins_of(each.domain, fewest)[-1]) + 1 for each in SCHEMA.predictors}
    for one, other in combinations(bins, 2):
        assert float(shares[one] / shares[other]) == pytest.approx((bins[one] / bins[other]) ** 0.5, rel=0.02)
