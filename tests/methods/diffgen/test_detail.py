"""Detail inside the cells: sensitivities, groups against a readable twin, rows that stay in their cells."""

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
from scumble.methods.diffgen.detail.calibration import EXPECTED_SLOPE, SLOPE_SPREAD, calibrate
from scumble.methods.diffgen.detail.groups import (
    LOG_ODDS_UNIT,
    LogOdds,
    LogOddsGroups,
    LogOddsModel,
    Stage,
    bins_of,
    class_probabilities,
    to_log_odds,
)
from scumble.methods.diffgen.detail.measure import table_shares
from scumble.methods.diffgen.detail.queries import MarginalCounts, StageChoice, StageCounts
from scumble.methods.diffgen.detail.rows import RowSampler, systematic_classes
from scumble.methods.diffgen.detail.shrinkage import (
    USUAL_VARIANCE,
    consistent,
    log_odds_of_cells,
    log_odds_shifts,
    shrunk,
)
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
def models(draw: st.DrawFn, schema: Schema) -> LogOddsModel:
    """Models with random log-odds, edges and shifts."""
    classes = len(schema.classes)
    kinds = 1 if classes == 2 else classes
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))

    def groups() -> LogOddsGroups:
        edges = np.sort(generator.integers(-3000, 3000, (kinds, draw(st.integers(0, 3)))), axis=1)
        return LogOddsGroups(edges=edges.astype(np.int32))

    cut = draw(cuts(schema))
    model = LogOddsModel(
        schema=schema,
        cut=cut,
        cell_log_odds=generator.integers(-3000, 0, (cut.cells, classes)).astype(np.int32),
        first_groups=groups(),
    )
    places = draw(st.lists(st.sampled_from(range(len(schema.predictors))), max_size=3))
    for place in places:
        bins = bins_of(schema.predictors[place].domain)
        shape = (len(model.current_groups), int(bins[-1]) + 1, classes)
        shifts = generator.integers(-2000, 2000, shape).astype(np.int32)
        stage = Stage(place=place, bins=bins, shifts=shifts, groups_after=groups())
        model = replace(model, stages=(*model.stages, stage))
    return model


def usable(schema: Schema) -> bool:
    return schema.target is not None and len(schema.predictors) > 0 and len(schema.classes) > 1


KINDS: dict[type[RowQuery], Any] = {
    StageChoice: lambda model: StageChoice(model=model, places=tuple(range(len(model.schema.predictors)))),
    StageCounts: lambda model: StageCounts(model=model, place=len(model.schema.predictors) - 1),
    MarginalCounts: lambda model: MarginalCounts(model=model, places=tuple(range(len(model.schema.predictors)))),
}


@pytest.mark.parametrize("kind", KINDS)
def test_no_neighbour_exceeds_the_declared_sensitivity(kind: type[RowQuery]) -> None:
    @settings(max_examples=150)
    @given(st.data())
    def law(data: st.DataObject) -> None:
        schema = data.draw(schemas().filter(usable))
        query = KINDS[kind](data.draw(models(schema)))
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
    flat = LogOddsModel(
        schema=SCHEMA,
        cut=Cut.top(SCHEMA),
        cell_log_odds=np.zeros((1, 2), dtype=np.int32),
        first_groups=LogOddsGroups(edges=np.zeros((1, 0), dtype=np.int32)),
    )
    with pytest.raises(CheckError):
        check_added_record(KINDS[kind](flat), SCHEMA, [], (0, 0, 0, 0))


@given(st.data())
@settings(max_examples=60)
def test_groups_are_those_of_a_plain_twin_however_rows_are_cut_into_blocks(data: st.DataObject) -> None:
    schema = data.draw(schemas().filter(usable))
    model = data.draw(models(schema))
    rows = data.draw(coded_rows(schema, most_rows=9))
    whole = StageCounts(model=model, place=0)
    expected = np.zeros(whole.shape, dtype=np.int64)
    target = [attribute.name for attribute in schema.attributes].index(str(schema.target))
    for row in rows:
        codes = [code for place, code in enumerate(row) if place != target]
        bins = bins_of(schema.predictors[0].domain)
        expected[_twin_group(model, codes), bins[codes[0]], row[target]] += 1
    assert (whole.answer(engine_of(schema, rows).blocks()) == expected.ravel()).all()
    single = [tuple(column[place : place + 1] for column in _block(schema, rows)) for place in range(len(rows))]
    assert (whole.answer(single) == expected.ravel()).all()


def _block(schema: Schema, rows: Sequence[tuple[int, ...]]) -> tuple[Any, ...]:
    blocks = list(engine_of(schema, rows).blocks())
    return blocks[0] if blocks else ()


def _twin_group(model: LogOddsModel, codes: Sequence[int]) -> int:
    """One record at a time, from the definition."""
    cell = 0
    for (name, nodes), code in zip(model.cut.nodes.items(), codes, strict=True):
        del name
        cell = cell * len(nodes) + next(place for place, node in enumerate(nodes) if node.low <= code < node.high)
    log_odds = [int(value) for value in model.cell_log_odds[cell]]
    group = _twin_assign(model.first_groups, log_odds)
    for stage in model.stages:
        shift = stage.shifts[group, stage.bins[codes[stage.place]]]
        log_odds = [value + int(more) for value, more in zip(log_odds, shift, strict=True)]
        group = _twin_assign(stage.groups_after, log_odds)
    return group


def _twin_assign(grouping: LogOddsGroups, log_odds: list[int]) -> int:
    levels = grouping.edges.shape[1] + 1
    if len(log_odds) == 2:
        kind, lead = 0, log_odds[1] - log_odds[0]
    else:
        kind = log_odds.index(max(log_odds))
        lead = log_odds[kind] - sorted(log_odds)[-2]
    return kind * levels + sum(lead > edge for edge in grouping.edges[kind])


@given(st.integers(0, 2**32))
def test_a_table_without_noise_gives_its_own_frequencies_whatever_the_prior(seed: int) -> None:
    generator = np.random.default_rng(seed)
    table = generator.integers(50, 1000, (2, 7, 3)) * 10_000
    prior = generator.dirichlet((3, 3, 3), (2, 7)).clip(0.02)
    prior /= prior.sum(axis=2, keepdims=True)
    log_odds = to_log_odds(prior) + log_odds_shifts(table, prior, 1e-6)
    found = class_probabilities(log_odds.reshape(-1, 3)).reshape(table.shape)
    assert np.allclose(found, table / table.sum(axis=2, keepdims=True), atol=3e-3)


def test_a_table_of_noise_alone_hardly_changes_the_log_odds() -> None:
    generator = np.random.default_rng(5)
    prior = np.full((1, 20, 2), [0.7, 0.3])
    table = np.rint(50 * prior + generator.normal(0, 40, prior.shape)).astype(np.int64)
    quiet = np.abs(log_odds_shifts(table, prior, 4000.0))
    assert quiet.max() < 0.2 * 1024


def test_shrunk_probabilities_have_less_error_than_the_counts_and_than_the_prior() -> None:
    """Values with many different sizes and effects, one of them rare with a large effect."""
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
        found = shrunk(table, prior, 150 * 2**0.5, usual_variance=USUAL_VARIANCE)
        errors += [np.square(guess - truth).sum() for guess in (found, alone, prior)]
    assert errors[0] < 0.6 * errors[1] and errors[0] < 0.8 * errors[2]


def test_sums_of_cells_show_what_noise_hides_in_single_cells() -> None:
    """One attribute decides the class, and two others split the table into a hundred noisy cells. In the order of
    splits the sums for the first attribute are used; in the opposite order only single cells are."""
    generator = np.random.default_rng(4)
    truth = np.zeros((2, 10, 10, 2))
    truth[0], truth[1] = (0.9, 0.1), (0.3, 0.7)
    errors = np.zeros(2)
    for _ in range(20):
        measured = np.rint(15 * truth + generator.laplace(0, 20, truth.shape)).astype(np.int64).reshape(-1, 2)
        for number, order in enumerate(((0, 1, 2), (2, 1, 0))):
            log_odds = log_odds_of_cells(measured, 20 * 2**0.5, (2, 10, 10), order)
            errors[number] += np.square(class_probabilities(log_odds) - truth.reshape(-1, 2)).sum()
    assert errors[0] < 0.5 * errors[1]


@pytest.mark.parametrize("order", [(), (0,), (2, 0), (0, 1, 2), (2, 1, 0)])
def test_cells_without_noise_have_their_own_odds_in_any_order(order: tuple[int, ...]) -> None:
    shape = tuple(3 if place in order else 1 for place in range(3))
    measured = np.random.default_rng(1).integers(10**6, 10**7, (int(np.prod(shape)), 3))
    found = class_probabilities(log_odds_of_cells(measured, 1e-6, shape, order))
    assert np.allclose(found, measured / measured.sum(axis=1, keepdims=True), atol=3e-3)


def test_what_the_cells_imply_for_an_attribute_is_not_counted_twice() -> None:
    """The cut splits the attribute, and its table repeats what the cells imply: the log-odds do not change."""
    cut = Cut.top(SCHEMA).specialize(Specialization(attribute="job", node=JOBS, children=JOBS.children))
    count = np.array([[4000, 1000], [500, 4500]])
    model = LogOddsModel(
        schema=SCHEMA,
        cut=cut,
        cell_log_odds=to_log_odds(count / count.sum(axis=1, keepdims=True)),
        first_groups=LogOddsGroups(edges=np.zeros((1, 0), dtype=np.int32)),
    )
    rows = RowSampler(model, count, simulation(0))
    place = [attribute.name for attribute in SCHEMA.predictors].index("job")
    table = np.repeat(count // 2, 2, axis=0)[np.newaxis]
    assert np.abs(log_odds_shifts(table, rows.prior_probabilities(1, place), 10.0)).max() <= 2
    before = class_probabilities(rows.log_odds).mean(axis=0)
    assert np.abs(log_odds_shifts(table, np.tile(before, (1, 4, 1)), 10.0)).max() > 500


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
def test_classes_occur_as_often_as_their_probabilities_add_up_to(weights: list[list[int]], seed: int) -> None:
    probabilities = np.array(weights) / np.sum(weights, axis=1, keepdims=True)
    labels = systematic_classes(probabilities, [np.arange(len(probabilities))], simulation(seed))
    climb = np.cumsum(probabilities[:, 0])
    assert (np.abs(np.cumsum(labels == 0) - climb) <= 1 + 1e-9).all()


def test_every_row_gets_each_class_with_its_probability() -> None:
    """2,000 samples; six standard errors."""
    probabilities = np.array([[0.2, 0.3, 0.5], [0.9, 0.05, 0.05], [0.1, 0.1, 0.8], [0.4, 0.4, 0.2]])
    samples = np.stack([systematic_classes(probabilities, [np.arange(4)], simulation(seed)) for seed in range(2000)])
    for label in range(3):
        share = (samples == label).mean(axis=0)
        assert (np.abs(share - probabilities[:, label]) < 6 * np.sqrt(0.25 / 2000)).all()


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_fine_rows_stay_in_their_cells_for_any_table(data: st.DataObject) -> None:
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


def test_detail_is_left_out_if_an_option_of_the_cells_is_given() -> None:
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


def counted(
    log_odds: LogOdds, slope: float, offset: float, groups: Integers, generator: np.random.Generator
) -> Integers:
    """Class counts by group of rows whose true log-odds have another slope and offset."""
    true = 1 / (1 + np.exp(-(slope * (log_odds[:, 1] - log_odds[:, 0]) / LOG_ODDS_UNIT + offset)))
    labels = (generator.random(len(log_odds)) < true).astype(np.int64)
    return np.stack([np.bincount(groups[labels == label], minlength=12) for label in (0, 1)], axis=1)


def random_log_odds(seed: int) -> tuple[LogOdds, Integers, np.random.Generator]:
    generator = np.random.default_rng(seed)
    log_odds = np.zeros((20_000, 2), dtype=np.int32)
    log_odds[:, 1] = np.rint(generator.normal(-2, 2.5, len(log_odds)) * LOG_ODDS_UNIT)
    return log_odds, LogOddsGroups.by_quantiles(log_odds, 12).assign(log_odds), generator


@pytest.mark.parametrize(("slope", "offset"), [(1.0, 0.0), (0.4, 0.5), (0.25, -1.0), (1.6, 0.3)])
def test_calibration_finds_slope_and_offset(slope: float, offset: float) -> None:
    log_odds, groups, generator = random_log_odds(3)
    table = counted(log_odds, slope, offset, groups, generator)
    found = calibrate(table, log_odds, groups, 1.0)
    assert abs(found.slope / LOG_ODDS_UNIT - slope) < 0.15 * slope
    assert abs((found.offsets[1] - found.offsets[0]) / LOG_ODDS_UNIT - offset) < 0.25


def test_calibration_by_noise_alone_stays_near_its_prior() -> None:
    log_odds, groups, generator = random_log_odds(4)
    slopes = [
        calibrate(
            np.rint(generator.laplace(0, 5_000, (12, 2))).astype(np.int64), log_odds, groups, 5_000 * 2**0.5
        ).slope
        for _ in range(20)
    ]
    assert np.exp(-2 * SLOPE_SPREAD) < np.median(slopes) / LOG_ODDS_UNIT / EXPECTED_SLOPE < np.exp(2 * SLOPE_SPREAD)
    assert min(slopes) > 0


@given(st.integers(0, 2**32), st.sampled_from([2, 3, 5]))
@settings(max_examples=40, deadline=None)
def test_calibration_accepts_any_counts_and_keeps_the_order_of_records(seed: int, classes: int) -> None:
    generator = np.random.default_rng(seed)
    log_odds = generator.integers(-9000, 9000, (int(generator.integers(0, 60)), classes)).astype(np.int32)
    grouping = LogOddsGroups.by_quantiles(log_odds, 12)
    table = generator.integers(-3000, 3000, (len(grouping), classes))
    found = calibrate(table, log_odds, grouping.assign(log_odds), float(generator.uniform(0.1, 900)))
    assert found.slope > 0
    after = found.apply(log_odds)
    assert np.isfinite(class_probabilities(after)).all()
    if classes == 2 and len(log_odds):
        before = log_odds[:, 1].astype(np.int64) - log_odds[:, 0]
        lead = after[:, 1].astype(np.int64) - after[:, 0]
        order = np.argsort(before, kind="stable")
        assert (np.diff(lead[order]) >= -1).all()


@pytest.mark.parametrize("fewest", [4, 12, 24])
def test_attributes_with_more_bins_get_more_of_the_tables_epsilon(fewest: int) -> None:
    shares = table_shares(SCHEMA, fewest)
    assert sum(shares.values()) == 1
    bins = {each.name: int(bins_of(each.domain, fewest)[-1]) + 1 for each in SCHEMA.predictors}
    for one, other in combinations(bins, 2):
        assert float(shares[one] / shares[other]) == pytest.approx((bins[one] / bins[other]) ** 0.5, rel=0.02)
