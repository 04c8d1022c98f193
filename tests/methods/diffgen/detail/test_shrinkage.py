"""Shrinkage: without noise it keeps frequencies, of noise alone it keeps little, and in between errors are smaller."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scumble.methods.diffgen.detail.shrinkage import (
    USUAL_VARIANCE,
    consistent,
    shifts_of_combinations,
    shifts_of_values,
    shrunk,
)
from scumble.methods.diffgen.detail.terms import class_probabilities, to_log_odds
from scumble.model.counts import Floats


def dirichlet(generator: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    prior = generator.dirichlet((3, 3, 3), shape).clip(0.02)
    return np.asarray(prior / prior.sum(axis=-1, keepdims=True))


@given(st.integers(0, 2**32), st.sampled_from([1, 2]))
def test_a_table_without_noise_gives_its_own_frequencies_whatever_the_prior(seed: int, groups: int) -> None:
    generator = np.random.default_rng(seed)
    table = generator.integers(50, 1000, (groups, 7, 3)) * 10_000
    prior = dirichlet(generator, (groups,))
    log_odds = np.repeat(to_log_odds(prior), 7, axis=0) + shifts_of_values(table, prior, 1e-6)
    found = class_probabilities(log_odds).reshape(table.shape)
    assert np.allclose(found, table / table.sum(axis=2, keepdims=True), atol=3e-3)
    expected = dirichlet(generator, (7,))
    log_odds = to_log_odds(expected) + shifts_of_combinations(table[0], expected, 1e-6)
    assert np.allclose(class_probabilities(log_odds), table[0] / table[0].sum(axis=1, keepdims=True), atol=3e-3)


def test_a_table_of_noise_alone_hardly_changes_the_log_odds() -> None:
    generator = np.random.default_rng(5)
    prior = np.full((1, 2), [0.7, 0.3])
    table = np.rint(50 * prior[:, np.newaxis] + generator.normal(0, 40, (1, 20, 2))).astype(np.int64)
    assert np.abs(shifts_of_values(table, prior, 4000.0)).max() < 0.2 * 1024
    expected = np.full((20, 2), [0.7, 0.3])
    assert np.abs(shifts_of_combinations(table[0], expected, 4000.0)).max() < 0.2 * 1024


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


def test_ranges_show_what_noise_hides_in_single_bins() -> None:
    """The class changes half way through forty noisy bins. Shrinking each bin by itself finds less of it."""
    generator, errors = np.random.default_rng(4), np.zeros(2)
    second = np.repeat([0.3, 0.6], 20)
    truth, prior = np.stack([1 - second, second], axis=1), np.array([[0.55, 0.45]])
    for _ in range(40):
        first = generator.binomial(60, truth[:, 0])
        table = np.stack([first, 60 - first], axis=1) + np.rint(generator.laplace(0, 4, truth.shape)).astype(np.int64)
        by_halves = to_log_odds(prior) + shifts_of_values(table[np.newaxis], prior, 4 * 2**0.5)
        alone = shrunk(table, np.repeat(prior, 40, axis=0), 4 * 2**0.5, usual_variance=USUAL_VARIANCE)
        errors += [np.square(guess - truth).sum() for guess in (class_probabilities(by_halves), alone)]
    assert errors[0] < 0.8 * errors[1]


def test_an_attribute_that_repeats_an_earlier_one_adds_nothing_in_groups() -> None:
    """The groups are those of the earlier attribute, so that in each group every bin has the group's probabilities."""
    prior = np.array([[0.8, 0.2], [0.2, 0.8]])
    table = np.zeros((2, 2, 2), dtype=np.int64)
    table[0, 0], table[1, 1] = (40_000, 10_000), (10_000, 40_000)
    found = shifts_of_values(table, prior, 10.0).reshape(2, 2, 2)
    lead = [found[0, 0, 1] - found[0, 0, 0], found[1, 1, 1] - found[1, 1, 0]]
    alone = shifts_of_values(table.sum(axis=0, keepdims=True), np.array([[0.5, 0.5]]), 10.0)
    assert np.abs(lead).max() < 0.25 * np.abs(alone[:, 1] - alone[:, 0]).min()


@pytest.mark.parametrize("shape", [(3, 2), (1, 3, 2), (2, 3, 2)])
def test_consistent_tables_keep_their_totals(shape: tuple[int, ...]) -> None:
    table = np.resize([5, -3, -2, 9, 4, 1], shape)
    made = consistent(table)
    assert (made >= 0).all()
    assert np.allclose(made.sum(axis=-2), table.sum(axis=-2))
    assert np.allclose(consistent(-np.ones(shape, dtype=np.int64)).sum(axis=-2), 1)


def test_of_many_tables_those_of_noise_alone_have_no_effect() -> None:
    """Fifty tables, one of which depends much on the class."""
    generator = np.random.default_rng(12)
    prior = np.array([[0.6, 0.4]])
    effects: dict[int, list[float]] = {1: [], 50: []}
    for second in [0.4] * 49 + [0.9]:
        share = np.linspace(0.4, second, 10)
        table = 200 * np.stack([1 - share, share], axis=1) + generator.laplace(0, 30, (10, 2))
        for tables, found in effects.items():
            shifts = shifts_of_values(np.rint(table).astype(np.int64)[np.newaxis], prior, 30 * 2**0.5, tables=tables)
            found.append(np.abs(shifts[:, 1] - shifts[:, 0]).mean() / 1024)
    assert np.mean(effects[50][:-1]) < 0.5 * np.mean(effects[1][:-1])
    assert effects[50][-1] > 0.9 * effects[1][-1]


def test_ranges_that_differ_little_are_shrunk_by_more() -> None:
    prior = np.full((16, 2), 0.5)
    calm, wild = (np.tile(500.0, (16, 2)) for _ in range(2))
    wild[:, 0] += np.tile([300.0, -300.0], 8)
    for table in (calm, wild):
        table[0] += [40.0, -40.0]
    kept = [
        shrunk(table, prior, 30.0, usual_variance=USUAL_VARIANCE, pooled=True)[0, 0] - 0.5 for table in (calm, wild)
    ]
    alone = [shrunk(table, prior, 30.0, usual_variance=USUAL_VARIANCE)[0, 0] - 0.5 for table in (calm, wild)]
    assert kept[0] < 0.8 * alone[0] and kept[1] > 0.95 * alone[1]
