"""Fine rows: values by their weights, raking to wanted shares, and systematic sampling."""

import numpy as np
import pytest
from detail_models import PEOPLE
from hypothesis import given
from hypothesis import strategies as st

from scumble.methods.diffgen.detail.combinations import Combination
from scumble.methods.diffgen.detail.rows import RowSampler, match_classes, systematic_classes, systematic_rows
from scumble.methods.diffgen.detail.terms import LogOddsModel, Term, class_probabilities
from scumble.privacy.noise import simulation


def test_values_occur_by_their_weights_in_every_group_and_class() -> None:
    generator = np.random.default_rng(1)
    rows = RowSampler(1, np.array([60_000, 30_000]), simulation(5))
    weights = generator.integers(0, 9, (3, 2, 5)).astype(np.float64) * 100
    groups = generator.integers(0, 3, rows.rows)
    rows.draw(0, weights, groups)
    for group in range(3):
        for label in range(2):
            codes = rows.codes[0][(groups == group) & (rows.provisional == label)]
            share = weights[group, label] / weights[group, label].sum()
            found = np.bincount(codes, minlength=5) / len(codes)
            assert np.abs(found - share).max() < 6 * (0.25 / len(codes)) ** 0.5
            assert (found[share == 0] == 0).all()


def test_without_weight_for_any_value_every_value_can_occur() -> None:
    rows = RowSampler(1, np.array([500]), simulation(5))
    rows.draw(0, np.zeros((1, 1, 4)))
    assert set(rows.codes[0].tolist()) == {0, 1, 2, 3}


def test_raking_reaches_the_wanted_shares_of_all_groups_together() -> None:
    rows = RowSampler(2, np.array([50_000, 50_000]), simulation(6))
    for place in range(2):
        rows.draw(place, np.array([[[5.0, 3, 2], [1, 1, 1]]]))
    wanted = [(rows.codes[0], np.array([0.2, 0.3, 0.5])), (rows.codes[1], np.array([0.6, 0.1, 0.3]))]
    before = [np.bincount(codes, minlength=3) / rows.rows for codes in rows.codes]
    pairs = {(a, b) for a, b in zip(*rows.codes, strict=True)}
    rows.resample(wanted)
    for codes, (_, shares), old in zip(rows.codes, wanted, before, strict=True):
        found = np.bincount(codes, minlength=3) / rows.rows
        assert np.abs(found - shares).max() < 0.005 < np.abs(old - shares).max()
    assert rows.rows == 100_000 and {(a, b) for a, b in zip(*rows.codes, strict=True)} <= pairs


def test_nothing_is_drawn_again_if_nothing_is_wanted_and_no_rows_are_fine() -> None:
    rows = RowSampler(1, np.array([40, 2]), simulation(6))
    rows.draw(0, np.ones((1, 2, 7)))
    before = rows.codes[0].copy()
    rows.resample([])
    assert rows.codes[0].tolist() == before.tolist()
    empty = RowSampler(1, np.array([0, 0]), simulation(6))
    empty.draw(0, np.ones((1, 2, 7)))
    empty.resample([(empty.codes[0], np.full(7, 1 / 7))])
    model = LogOddsModel(schema=PEOPLE, base=np.zeros(2, dtype=np.int32))
    assert empty.rows == 0 and len(empty.draw_classes(model, np.array([0.5, 0.5]))) == 0


@given(st.lists(st.integers(0, 50), min_size=1, max_size=60).filter(any), st.integers(0, 2**32))
def test_each_row_is_drawn_as_often_as_its_weight_within_one(weights: list[int], seed: int) -> None:
    chosen = systematic_rows(np.array(weights, dtype=np.float64), simulation(seed))
    expected = np.array(weights) * len(weights) / sum(weights)
    assert len(chosen) == len(weights)
    assert np.abs(np.bincount(chosen, minlength=len(weights)) - expected).max() <= 1 + 1e-9


@given(
    st.lists(st.lists(st.integers(1, 99), min_size=3, max_size=3), min_size=1, max_size=60),
    st.integers(0, 2**32),
)
def test_classes_occur_as_often_as_their_probabilities_add_up_to(weights: list[list[int]], seed: int) -> None:
    probabilities = np.array(weights) / np.sum(weights, axis=1, keepdims=True)
    labels = systematic_classes(probabilities, np.arange(len(probabilities)), simulation(seed))
    climb = np.cumsum(probabilities[:, 0])
    assert (np.abs(np.cumsum(labels == 0) - climb) <= 1 + 1e-9).all()


def test_every_row_gets_each_class_with_its_probability() -> None:
    """2,000 samples; six standard errors."""
    probabilities = np.array([[0.2, 0.3, 0.5], [0.9, 0.05, 0.05], [0.1, 0.1, 0.8], [0.4, 0.4, 0.2]])
    samples = np.stack([systematic_classes(probabilities, np.arange(4), simulation(seed)) for seed in range(2000)])
    for label in range(3):
        share = (samples == label).mean(axis=0)
        assert (np.abs(share - probabilities[:, label]) < 6 * np.sqrt(0.25 / 2000)).all()


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.9, 0.1), (0.2, 0.5, 0.3)])
def test_the_classes_of_all_rows_have_the_wanted_shares(shares: tuple[float, ...]) -> None:
    generator, classes = np.random.default_rng(2), len(shares)
    log_odds = generator.integers(-2500, 2500, (4000, classes)).astype(np.int32)
    matched = match_classes(log_odds, np.array(shares))
    assert class_probabilities(matched).mean(axis=0) == pytest.approx(shares, abs=0.01)
    moved = matched - log_odds
    assert (moved == moved[0]).all(), "every row is shifted by the same"


def test_classes_follow_the_values_of_their_rows() -> None:
    shifts = np.array([[0, -2000], [0, 0], [0, 0], [0, 2000]], dtype=np.int32)
    term = Term.of(Combination(places=(1,), bins=(np.arange(4),)), shifts)
    model = LogOddsModel(schema=PEOPLE, base=np.zeros(2, dtype=np.int32), terms=(term,))
    rows = RowSampler(3, np.array([5000, 5000]), simulation(1))
    for place, attribute in enumerate(PEOPLE.predictors):
        rows.draw(place, np.ones((1, 2, attribute.domain.size)))
    labels = rows.draw_classes(model, np.array([0.5, 0.5]))
    assert labels.mean() == pytest.approx(0.5, abs=0.005)
    for job, lead in enumerate((-2000, 0, 0, 2000)):
        expected = 1 / (1 + np.exp(-lead / 1024))
        assert labels[rows.codes[1] == job].mean() == pytest.approx(expected, abs=0.05)


@pytest.mark.parametrize("spread", [900, 200_000])
def test_two_classes_are_drawn_as_any_classes_are(spread: int) -> None:
    """Each lead is done once: the same classes as row by row, but for the last bit of a mean."""
    generator = np.random.default_rng(spread)
    shifts = np.stack([np.zeros(7), generator.integers(-spread, spread, 7)], axis=1).astype(np.int32)
    term = Term.of(Combination(places=(0,), bins=(np.arange(PEOPLE.predictors[0].domain.size) % 7,)), shifts)
    model = LogOddsModel(schema=PEOPLE, base=np.zeros(2, dtype=np.int32), terms=(term,))
    shares = np.array([0.7, 0.3])
    rows = RowSampler(3, np.array([3000, 2000]), simulation(1))
    for place, attribute in enumerate(PEOPLE.predictors):
        rows.draw(place, np.ones((1, 2, attribute.domain.size)))
    again = RowSampler(3, np.array([3000, 2000]), simulation(1))
    for place, attribute in enumerate(PEOPLE.predictors):
        again.draw(place, np.ones((1, 2, attribute.domain.size)))
    log_odds = match_classes(model.log_odds(again.codes), shares)
    expected = systematic_classes(class_probabilities(log_odds), log_odds[:, 1] - log_odds[:, 0], again._generator)
    assert rows.draw_classes(model, shares).tolist() == expected.tolist()
