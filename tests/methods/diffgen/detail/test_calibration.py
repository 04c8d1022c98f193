"""Calibration: finds a slope and offsets, stays near its prior under noise, and keeps the order of records."""

import numpy as np
import pytest
from detail_models import PEOPLE
from hypothesis import given, settings
from hypothesis import strategies as st

from scumble.methods.diffgen.detail.calibration import (
    LEAST_SLOPE,
    SLOPE_SPREAD,
    Calibration,
    GroupedRows,
    calibrate,
    expected_slope,
)
from scumble.methods.diffgen.detail.combinations import Combination
from scumble.methods.diffgen.detail.evaluation import LOG_ODDS_UNIT
from scumble.methods.diffgen.detail.groups import LogOdds, LogOddsGroups
from scumble.methods.diffgen.detail.terms import LogOddsModel, Term
from scumble.model.counts import Integers


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
@pytest.mark.parametrize("expected", [0.6, 1.0])
def test_calibration_finds_slope_and_offset(slope: float, offset: float, expected: float) -> None:
    log_odds, groups, generator = random_log_odds(3)
    table = counted(log_odds, slope, offset, groups, generator)
    found = calibrate(table, log_odds, groups, 1.0, expected)
    assert abs(found.slope / LOG_ODDS_UNIT - slope) < 0.15 * slope
    assert abs((found.offsets[1] - found.offsets[0]) / LOG_ODDS_UNIT - offset) < 0.25


@pytest.mark.parametrize("expected", [0.6, 1.0])
def test_calibration_by_noise_alone_stays_near_its_prior(expected: float) -> None:
    log_odds, groups, generator = random_log_odds(4)
    slopes = []
    for _ in range(20):
        table = np.rint(generator.laplace(0, 5_000, (12, 2))).astype(np.int64)
        slopes.append(calibrate(table, log_odds, groups, 5_000 * 2**0.5, expected).slope)
    assert np.exp(-2 * SLOPE_SPREAD) < np.median(slopes) / LOG_ODDS_UNIT / expected < np.exp(2 * SLOPE_SPREAD)
    assert min(slopes) > 0


@given(st.integers(0, 2**32), st.sampled_from([2, 3, 5]))
@settings(max_examples=40, deadline=None)
def test_calibration_accepts_any_counts(seed: int, classes: int) -> None:
    generator = np.random.default_rng(seed)
    log_odds = generator.integers(-9000, 9000, (int(generator.integers(0, 60)), classes)).astype(np.int32)
    grouping = LogOddsGroups.by_quantiles(log_odds, 12)
    table = generator.integers(-3000, 3000, (len(grouping), classes))
    found = calibrate(table, log_odds, grouping.assign(log_odds), float(generator.uniform(0.1, 900)), 0.8)
    assert found.slope > 0 and np.isfinite(found.offsets).all()


@given(st.integers(0, 2**32), st.sampled_from([2, 3, 5]), st.integers(0, 60))
@settings(max_examples=40)
def test_derivatives_are_those_of_the_predictions(seed: int, classes: int, number: int) -> None:
    """Against differences, also of groups without rows. The predictions are those of each row, averaged."""
    generator = np.random.default_rng(seed)
    log_odds, groups = generator.normal(0, 2, (number, classes)), generator.integers(0, 6, number)
    rows = GroupedRows(log_odds, groups, 7)
    estimate = generator.normal(0, 0.5, classes + 1)
    predictions, derivatives = rows.predicted(estimate)
    powers = np.exp(np.exp(estimate[0]) * log_odds + estimate[1:])
    of_rows = powers / powers.sum(axis=1, keepdims=True)
    overall = of_rows.mean(axis=0) if number else np.full(classes, 1 / classes)
    for group, found in enumerate(predictions):
        here = of_rows[groups == group]
        assert np.allclose(found, here.mean(axis=0) if len(here) else overall)
    for place, step in enumerate(1e-5 * np.eye(classes + 1)):
        difference = (rows.predicted(estimate + step)[0] - rows.predicted(estimate - step)[0]) / 2e-5
        assert np.allclose(derivatives[..., place], difference, atol=1e-7)


@given(st.integers(0, 2**32), st.integers(100, 2000))
@settings(max_examples=40)
def test_a_calibrated_model_has_calibrated_log_odds_and_the_groups_of_before(seed: int, slope: int) -> None:
    generator = np.random.default_rng(seed)
    jobs, groups = (Combination(places=(1,), bins=(np.arange(4),)) for _ in range(2)), None
    terms = []
    for jobs_again in jobs:
        lines = 4 * len(groups or (0,))
        terms.append(Term.of(jobs_again, generator.integers(-2000, 2000, (lines, 2)).astype(np.int32), groups))
        groups = LogOddsGroups(edges=np.array([[generator.integers(-900, 900)]], dtype=np.int32))
    model = LogOddsModel(schema=PEOPLE, base=np.array([-300, -1500], dtype=np.int32), terms=tuple(terms))
    predictors = [np.zeros(4, dtype=np.int64), np.arange(4), np.zeros(4, dtype=np.int64)]
    offsets = np.array([-100, 250], dtype=np.int32)
    again = Calibration(slope=slope, offsets=offsets).apply(model)
    calibration = Calibration(slope=3000, offsets=offsets)
    expected = model.log_odds(predictors) * (slope / LOG_ODDS_UNIT) + offsets
    error = 2.0
    for _ in range(3):
        assert np.abs(again.log_odds(predictors) - expected).max() <= error, "rounding alone: the groups are the same"
        again, expected, error = calibration.apply(again), expected * (3000 / LOG_ODDS_UNIT) + offsets, 3 * error + 2


def test_more_tables_overlap_more() -> None:
    slopes = [expected_slope(tables) for tables in range(1, 40)]
    assert slopes[0] == 1 and min(slopes) == LEAST_SLOPE and slopes == sorted(slopes, reverse=True)
