"""Rows drawn from a model: each value as often as its probability says, within one for each group."""

import numpy as np
from full_joint import SIZES, random_model
from hypothesis import given, settings
from hypothesis import strategies as st

from scumble.methods.explore.margins import ValueBins
from scumble.methods.explore.rows import draw_bins, draw_rows, draw_values, systematic
from scumble.privacy.noise import simulation


@given(
    weights=st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(any), min_size=1, max_size=4),
    rows=st.integers(0, 60),
    seed=st.integers(0, 2**32),
)
@settings(max_examples=80)
def test_each_group_gets_every_value_as_often_as_its_weight_says(
    weights: list[list[int]], rows: int, seed: int
) -> None:
    table = np.array(weights, dtype=np.float64)
    draw = simulation(seed)
    groups = draw.integers(0, len(table), rows)
    values = systematic(table, groups, draw)
    for number, line in enumerate(table):
        found = np.bincount(values[groups == number], minlength=3)
        wanted = line / line.sum() * (groups == number).sum()
        assert (np.abs(found - wanted) < 1 + 1e-6).all()


def test_rows_have_the_marginals_of_the_model() -> None:
    model = random_model([(0, 1), (1, 2), (0, 2, 3), (3, 4)], seed=2)
    columns = draw_bins(model, 20_000, simulation(1))
    for places in [(0,), (4,), (0, 1), (0, 2, 3), (1, 4)]:
        key = np.ravel_multi_index([columns[place] for place in places], [SIZES[place] for place in places])
        expected = model.marginal(places).ravel()
        found = np.bincount(key, minlength=len(expected)) / 20_000
        np.testing.assert_allclose(found, expected, atol=0.02)


def test_values_divide_their_bin_in_the_proportions_of_the_shares() -> None:
    bins = ValueBins(starts=(0, 2), size=5)
    codes = draw_values(bins, np.array([0.1, 0.3, 0.2, 0.0, 0.4]), np.repeat([0, 1], [400, 600]), simulation(3))
    assert np.abs(np.bincount(codes, minlength=5) - [100, 300, 200, 0, 400]).max() <= 1


def test_the_same_tables_give_the_same_rows() -> None:
    model = random_model([(0, 1)], seed=1)
    bins = [ValueBins.single(size) for size in SIZES]
    shares = [np.full(size, 1 / size) for size in SIZES]
    one, other = (draw_rows(model, bins, shares, 50, []) for _ in range(2))
    assert all((a == b).all() for a, b in zip(one, other, strict=True))
