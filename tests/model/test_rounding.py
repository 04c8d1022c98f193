"""From noisy counts to a table: both roundings against slow twins, totals kept, no place favoured."""

from collections import Counter
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from math import ceil, floor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scumble.model.counts import Integers
from scumble.model.rounding import Rounding

RESOLUTIONS = st.sampled_from([1, 2, 3, 1023, 1024])


@st.composite
def measurements(draw: st.DrawFn) -> Integers:
    """Noisy counts of a few cells by class, with ties, negative ones and hopeless ones among them."""
    shape = draw(st.integers(1, 12)), draw(st.integers(1, 3))
    size = draw(st.sampled_from([3, 3000, 10**9]))
    numbers = draw(st.lists(st.integers(-size, size), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]))
    return np.array(numbers, dtype=np.int64).reshape(shape)


def total_of(column: list[int], resolution: int) -> int:
    """The measured total of a class as a whole number, never negative."""
    return max(0, floor(Fraction(sum(column), resolution) + Fraction(1, 2)))


def projection(column: list[int], resolution: int) -> list[Fraction]:
    """The nearest non-negative numbers with the measured total, exactly, by Michelot's algorithm: take the same off
    all, give up those below zero, and begin again with the rest."""
    numbers = [Fraction(entry, resolution) for entry in column]
    total = total_of(column, resolution)
    if total == 0:
        return [Fraction(0)] * len(numbers)
    kept = set(range(len(numbers)))
    while True:
        taken = (sum(numbers[place] for place in kept) - total) / len(kept)
        below = {place for place in kept if numbers[place] < taken}
        if not below:
            return [number - taken if place in kept else Fraction(0) for place, number in enumerate(numbers)]
        kept -= below


@given(measurements(), RESOLUTIONS, st.data())
def test_the_twin_is_the_nearest_of_many(measured: Integers, resolution: int, data: st.DataObject) -> None:
    """The twin itself: no other non-negative numbers with the same total are nearer."""
    column = measured[:, 0].tolist()
    nearest = projection(column, resolution)
    assert min(nearest) >= 0
    assert sum(nearest) == total_of(column, resolution)

    def distance(numbers: list[Fraction]) -> Fraction:
        return sum(
            ((number - Fraction(e, resolution)) ** 2 for number, e in zip(numbers, column, strict=True)), Fraction(0)
        )

    places = st.integers(0, len(column) - 1)
    other = list(nearest)
    for _ in range(3):
        source, target = data.draw(places), data.draw(places)
        moved = other[source] * data.draw(st.sampled_from([Fraction(1, 100), Fraction(1, 2), Fraction(1)]))
        other[source] -= moved
        other[target] += moved
        assert distance(other) >= distance(nearest)


@given(measurements(), RESOLUTIONS)
def test_nearest_is_decimal_rounding(measured: Integers, resolution: int) -> None:
    def nearest(entry: int) -> int:
        return max(0, int((Decimal(entry) / resolution).quantize(Decimal(1), rounding=ROUND_HALF_UP)))

    expected = [[nearest(entry) for entry in row] for row in measured.tolist()]
    assert Rounding.NEAREST.apply(measured, resolution).tolist() == expected


@given(measurements(), RESOLUTIONS)
@settings(max_examples=300)
def test_project_rounds_the_projection(measured: Integers, resolution: int) -> None:
    published = Rounding.PROJECT.apply(measured, resolution)
    assert published.shape == measured.shape
    assert published.dtype == np.int64
    for column, counts in zip(measured.T.tolist(), published.T.tolist(), strict=True):
        assert min(counts) >= 0
        assert sum(counts) == total_of(column, resolution)
        exact = projection(column, resolution)
        pairs = list(zip(counts, exact, strict=True))
        assert all(floor(number) <= count <= ceil(number) for count, number in pairs)
        up = [number % 1 for count, number in pairs if count > number]
        down = [number % 1 for count, number in pairs if count < number]
        assert min(up, default=1) >= max(down, default=0), "what is nearer to the next number goes there first"


@given(measurements(), RESOLUTIONS)
def test_project_leaves_whole_counts_alone(measured: Integers, resolution: int) -> None:
    counts = np.abs(measured)
    assert Rounding.PROJECT.apply(counts * resolution, resolution).tolist() == counts.tolist()


@given(measurements(), RESOLUTIONS, st.data())
def test_rounding_is_repeatable_and_looks_at_values_not_at_places(
    measured: Integers, resolution: int, data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(len(measured))))
    for rounding in Rounding:
        published = rounding.apply(measured, resolution)
        assert rounding.apply(measured.copy(), resolution).tolist() == published.tolist()
        shuffled = rounding.apply(measured[order], resolution)
        if rounding is Rounding.NEAREST:
            assert shuffled.tolist() == published[order].tolist()
        for column in range(measured.shape[1]):
            # Entries with the same remainder draw lots for what is left over; among them the sum stays the same.
            by_remainder: Counter[int] = Counter()
            for entry, count in zip(measured[:, column].tolist(), published[:, column].tolist(), strict=True):
                by_remainder[entry % resolution] += count
            for entry, count in zip(measured[order, column].tolist(), shuffled[:, column].tolist(), strict=True):
                by_remainder[entry % resolution] -= count
            assert not any(by_remainder.values())


def test_what_is_left_over_favours_no_place() -> None:
    """Five equal entries, two of which are rounded up: over many tables, each of them equally often."""
    places, tables, winners = 5, 2000, np.zeros(5, dtype=np.int64)
    for whole in range(tables):
        measured = np.full((places, 1), 3 * whole + 1, dtype=np.int64)
        up = Rounding.PROJECT.apply(measured, 3)[:, 0] - whole
        assert sorted(up.tolist()) == [0, 0, 0, 1, 1]
        winners += up
    # Hashes are not random, so this holds now and for ever; five standard deviations, had they been.
    expected, deviation = tables * 2 / 5, np.sqrt(tables * 2 / 5 * 3 / 5)
    assert (np.abs(winners - expected) < 5 * deviation).all(), winners


@pytest.mark.parametrize("rounding", Rounding)
def test_large_tables_do_not_overflow(rounding: Rounding) -> None:
    measured = np.full((100_000, 2), 1024 * 10**6, dtype=np.int64)
    measured[::2] *= -1
    measured[0] = 1024 * 10**9
    published = rounding.apply(measured, 1024)
    assert published.min() >= 0
    if rounding is Rounding.PROJECT:
        assert published.sum(axis=0).tolist() == [total_of(column, 1024) for column in measured.T.tolist()]


def test_a_class_without_rows_stays_empty() -> None:
    measured = np.array([[-5, 3], [2, -3], [1, 0]], dtype=np.int64)
    assert Rounding.PROJECT.apply(measured, 1).tolist() == [[0, 0], [0, 0], [0, 0]]
