"""How epsilon is divided: expected errors fall as information grows, and the best division is never worse."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scumble.methods.diffgen.division import (
    CALIBRATIONS,
    CHOICES,
    COMBINATIONS,
    FITS,
    MOST_TABLES,
    EpsilonShares,
    best_bins,
    best_division,
    expected_error,
)

GRID = [10 ** (power / 3) for power in range(24)]
VALUES = [*((100,) * attributes for attributes in (1, 2, 5, 14, 40, 120)), (2, 5, 40), (3,) * 50]


@st.composite
def divisions(draw: st.DrawFn) -> tuple[tuple[int, ...], EpsilonShares]:
    values = tuple(draw(st.lists(st.integers(1, 1000), min_size=1, max_size=150)))
    attributes = len(values)
    tables = draw(st.integers(0, attributes))
    fit = draw(st.sampled_from(FITS))
    shares = EpsilonShares(
        tables=tables,
        choice=draw(st.sampled_from(CHOICES)) if 0 < tables < attributes else 0.0,
        calibration=draw(st.sampled_from(CALIBRATIONS)),
        combination=draw(st.sampled_from(COMBINATIONS)) if fit else 0.0,
        fit=fit,
    )
    return values, shares


@given(divisions(), st.floats(1, 10**7), st.floats(1.01, 100), st.integers(2, 9))
def test_the_expected_error_of_every_division_falls_as_information_grows(
    division: tuple[tuple[int, ...], EpsilonShares], information: float, factor: float, classes: int
) -> None:
    values, shares = division
    if shares.rest <= 0:
        return
    less, more = (expected_error(each, values, shares, classes) for each in (information, factor * information))
    assert more <= less + 1e-12 and more >= 0
    # With next to no information about a table, its error is all of its signal, to the last digit.
    if shares.tables and information * shares.rest / shares.tables > 1e-3:
        assert more < less or less < 1e-9


@pytest.mark.parametrize("values", VALUES, ids=lambda values: f"{len(values)} attributes")
def test_the_least_expected_error_falls_as_information_grows(values: tuple[int, ...]) -> None:
    errors = [expected_error(known, values, best_division(known, values)) for known in GRID]
    assert all(after <= before + 1e-12 for before, after in pairwise(errors))


@settings(max_examples=25, deadline=None)
@given(divisions(), st.sampled_from(GRID))
def test_no_other_division_is_expected_to_do_better(
    division: tuple[tuple[int, ...], EpsilonShares], information: float
) -> None:
    values, shares = division
    best = best_division(information, values)
    considered = shares.tables <= 12 or shares.tables in (16, 20, 26, 32, MOST_TABLES, len(values))
    if shares.rest > 0 and considered:
        assert expected_error(information, values, best) <= expected_error(information, values, shares) + 1e-12


@pytest.mark.parametrize("values", VALUES, ids=lambda values: f"{len(values)} attributes")
def test_divisions_are_possible_and_use_more_as_information_grows(values: tuple[int, ...]) -> None:
    attributes = len(values)
    found = [best_division(known, values) for known in GRID]
    for shares in found:
        assert 0 <= shares.tables <= attributes and shares.rest > 0
        assert (shares.choice > 0) == (0 < shares.tables < attributes)
        assert (shares.combination > 0) == (shares.fit > 0)
        assert bool(shares.tables) or shares == EpsilonShares(tables=0)
    assert found[0].tables == 0, "few records: no tables"
    assert found[-1].tables == attributes or attributes > MOST_TABLES
    assert found[-1].fit > 0
    bins = [best_bins(known, shares) for known, shares in zip(GRID, found, strict=True)]
    assert bins[-1] > bins[10] > 0


def test_more_classes_have_more_to_explain() -> None:
    """With the same information, more attributes get a table, because each may tell other classes apart."""
    numbers = [best_division(1000.0, (100,) * 16, classes).tables for classes in (2, 3, 5, 10)]
    assert numbers == sorted(numbers) and numbers[0] < 16 == numbers[-1]
