"""Calibration: what several tables count in common makes estimates more precise, and never biased."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from questions import cells_of, fine_values, small_schemas
from strategies import coded_rows, cuts

from scumble.model.counts import Floats
from scumble.model.measured_tables import AttributeBins, MeasuredTable, NoiseKind
from scumble.model.schema import Schema
from scumble.querying.calibration import CommonCounts, common_cells, joined_bins
from scumble.querying.estimates import Linear
from scumble.querying.leaf_values import LeafValues


def best_variance(tables: list[MeasuredTable], linear: Linear, contrasts: Floats) -> float:
    """The twin: the least variance of the estimate plus any combination of contrasts, by least squares."""
    deviations = np.concatenate([np.full(table.counts.size, table.entry_variance**0.5) for table in tables])
    zeros = [np.zeros(table.counts.shape) for table in tables]
    weights = np.concatenate([linear.weights.get(place, zero).ravel() for place, zero in enumerate(zeros)])
    scaled = contrasts * deviations
    found = np.linalg.lstsq(scaled.T, weights * deviations, rcond=None)[0]
    return float(((weights * deviations - found @ scaled) ** 2).sum())


@settings(max_examples=60)
@given(data=st.data(), schema=small_schemas())
def test_two_tables_give_the_least_variance_and_the_same_value_without_noise(
    data: st.DataObject, schema: Schema
) -> None:
    rows = data.draw(coded_rows(schema))
    tables = [cells_of(data.draw(cuts(schema)), rows) for _ in range(2)]
    tables[1] = tables[1].marginal(data.draw(st.sets(st.sampled_from(schema.names))))
    values = fine_values(schema)
    cells = common_cells(tables[0], tables[1], values)
    for labels, table in ((cells.of_one, tables[0]), (cells.of_other, tables[1])):
        counts = np.bincount(labels, table.counts.ravel(), minlength=cells.number)
        other = np.bincount(cells.of_one, tables[0].counts.ravel(), minlength=cells.number)
        assert np.array_equal(counts, other)
    seed = data.draw(st.integers(0, 1000))
    weights = np.random.default_rng(seed).normal(size=tables[0].counts.shape)
    linear = Linear(tables=tables, weights={0: weights})
    made = CommonCounts(tables=tables, values=values).apply(linear)
    assert made.value == pytest.approx(linear.value, abs=1e-6 * (1 + np.abs(weights).sum()))
    contrasts = np.stack(
        [
            np.concatenate([(cells.of_one == cell).astype(float), -(cells.of_other == cell).astype(float)])
            for cell in range(cells.number)
        ]
    )
    assert made.variance == pytest.approx(best_variance(tables, linear, contrasts), rel=1e-6, abs=1e-9)
    assert made.variance <= linear.variance + 1e-9


def flat(name: str, counts: list[float], variance: float) -> MeasuredTable:
    bins = AttributeBins(attribute=name, size=len(counts), of_leaf=np.arange(len(counts)))
    return MeasuredTable(name=name, bins=(bins,), counts=np.array(counts), kind=NoiseKind.LAPLACE, variance=variance)


def test_a_public_number_of_records_removes_the_noise_of_the_sum() -> None:
    schema_values: dict[str, LeafValues] = {}
    tables = [flat("a", [10.0, 20.0, 33.0], 4.0)]
    made = CommonCounts(tables=tables, values=schema_values, public_records=60)
    everything = made.apply(Linear(tables=tables, weights={0: np.ones(3)}))
    assert everything.value == pytest.approx(60)
    assert everything.variance == pytest.approx(0, abs=1e-9)
    first = made.apply(Linear(tables=tables, weights={0: np.array([1.0, 0.0, 0.0])}))
    assert first.value == pytest.approx(9)
    assert first.variance == pytest.approx(4 * 2 / 3)


def test_tables_without_a_common_attribute_share_their_total() -> None:
    tables = [flat("a", [10.0, 20.0], 4.0), flat("b", [15.0, 21.0], 1.0)]
    made = CommonCounts(tables=tables, values={}).apply(Linear(tables=tables, weights={0: np.ones(2)}))
    assert made.value == pytest.approx((30 / 8 + 36 / 2) / (1 / 8 + 1 / 2))
    assert made.variance == pytest.approx(1 / (1 / 8 + 1 / 2))


@given(data=st.data(), size=st.integers(1, 12))
def test_joined_bins_are_unions_of_both_and_the_finest_such(data: st.DataObject, size: int) -> None:
    divisions = []
    for _ in range(2):
        found = np.array(data.draw(st.lists(st.integers(0, 4), min_size=size, max_size=size)))
        divisions.append(np.unique(found, return_inverse=True)[1])
    first, second = divisions
    mine, theirs = joined_bins(first, int(first.max()) + 1, second, int(second.max()) + 1)
    assert np.array_equal(mine[first], theirs[second])
    linked = {(a, b) for a in range(size) for b in range(size) if first[a] == first[b] or second[a] == second[b]}
    reached = np.eye(size, dtype=bool)
    for _ in range(size):
        for a, b in linked:
            reached[a] |= reached[b] if reached[a][b] or (a, b) in linked else False
    same = mine[first][:, np.newaxis] == mine[first][np.newaxis]
    assert np.array_equal(same, reached)
