"""One-way counts: public ranges, and shares of values that follow noisy counts."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import grids, trees

from scumble.comparison.recipes import RECIPES
from scumble.methods.explore.margins import Margin, NoisyMargin, ValueBins
from scumble.methods.explore.one_way import (
    bin_counts,
    combined,
    inside_range,
    on_simplex,
    public_ranges,
    total_records,
    value_margins,
    value_shares,
    without_noise,
)
from scumble.methods.explore.value_bins import bins_by_records
from scumble.model.domain import Domain
from scumble.model.grid import Grid
from scumble.model.public_bins import USUAL_BINS
from scumble.model.schema import Attribute, Outside
from scumble.model.taxonomy import Tree
from scumble.privacy.noise import simulation


def noisy(counts: list[int], variance: float = 1.0, bins: ValueBins | None = None) -> NoisyMargin:
    margin = Margin(places=(0,), bins=(bins or ValueBins.single(len(counts)),))
    return NoisyMargin(margin=margin, measured=np.array(counts), unit=1, variance=variance)


@given(domain=st.one_of(grids(), trees()))
@settings(max_examples=60)
def test_ranges_cover_every_value_once(domain: Domain) -> None:
    missing = domain.missing if isinstance(domain, Grid) else None
    ranges = public_ranges(Attribute(name="a", domain=domain, outside=Outside.DROP, missing=missing))
    assert ranges.starts[0] == 0
    assert ranges.widths.min() > 0
    assert ranges.widths.sum() == domain.size
    assert len(ranges) <= USUAL_BINS


def test_attributes_with_many_values_are_counted_twice() -> None:
    schema = RECIPES["long-grids"].schema
    margins, weights = value_margins(schema)
    for place, attribute in enumerate(schema.attributes):
        mine = [(m, w) for m, w in zip(margins, weights, strict=True) if m.places == (place,)]
        assert len(mine) == (1 if attribute.domain.size <= USUAL_BINS else 2)
        assert mine[-1][0].cells == attribute.domain.size
        assert mine[0][1] >= mine[-1][1]


def test_without_noise_shares_are_those_of_the_counts() -> None:
    counts = [5, 900, 0, 3, 40, 7, 0, 1]
    ranges = ValueBins(starts=(0, 3, 6), size=8)
    values, of_ranges = noisy(counts, 1e-12), noisy([905, 50, 1], 1e-12, ranges)
    np.testing.assert_allclose(value_shares(of_ranges, values, 956.0), np.array(counts) / 956, atol=1e-3)
    np.testing.assert_allclose(value_shares(values, values, 956.0), np.array(counts) / 956, atol=1e-3)


def test_counts_that_noise_could_have_made_are_even() -> None:
    counts = noisy([40, -90, 120, 10], 10_000.0)
    categories = Attribute(name="a", domain=Tree.flat(list("abcd")), outside=Outside.DROP)
    np.testing.assert_allclose(value_shares(without_noise(counts, categories), counts, 80.0), 0.25, atol=1e-6)


def test_missing_values_are_not_smoothed_with_numbers() -> None:
    domain = Grid.regular(low=Decimal(0), high=Decimal(8), step=Decimal(1), missing="?")
    numbers = Attribute(name="a", domain=domain, outside=Outside.CLAMP, missing="?")
    counts = noisy([100, 104, 96, 101, 99, 103, 97, 100, 60], 100.0)
    found = without_noise(counts, numbers).counts
    assert found[-1] == 60
    assert np.ptp(found[:-1]) < 4


def test_counts_in_bins_are_the_best_linear_estimate() -> None:
    """Against weighted least squares on the table of all counts: the readable twin."""
    ranges = noisy([600, 90, 70, 40], 9.0, ValueBins(starts=(0, 4, 6, 7), size=9))
    bins = ValueBins(starts=(0, 1, 3, 4, 7), size=9)
    counted = noisy([410, 95, 70, 180, 38], 25.0, bins)
    finest = [0, 1, 3, 4, 6, 7]  # a bin or a range, whichever is finer
    widths = np.diff([*finest, 9])
    of_values = np.repeat(np.arange(6), widths)
    design, found, weights = [], [], []
    for table in (ranges, counted):
        for start, end in zip(table.margin.bins[0].starts, (*table.margin.bins[0].starts[1:], 9), strict=True):
            design.append([1.0 if start <= finest[unit] < end else 0.0 for unit in range(6)])
        found += table.counts.tolist()
        weights += [1 / table.variance] * table.margin.cells
    assert of_values.max() == 5
    matrix = np.array(design).T @ np.diag(weights) @ np.array(design)
    inverse = np.linalg.inv(matrix)
    best = inverse @ np.array(design).T @ np.diag(weights) @ np.array(found)
    to_bins = np.array(
        [[1.0 if bins.of_codes[finest[unit]] == bin_ else 0.0 for unit in range(6)] for bin_ in range(5)]
    )
    counts, variance = bin_counts(bins, ranges, counted)
    np.testing.assert_allclose(counts, to_bins @ best)
    np.testing.assert_allclose(variance, np.diag(to_bins @ inverse @ to_bins.T))
    assert bin_counts(ranges.margin.bins[0], ranges, None)[0].tolist() == [600, 90, 70, 40]


@given(domain=st.one_of(grids(), trees()), most=st.integers(2, 20), seed=st.integers(0, 2**32), width=st.integers(1, 9))
@settings(max_examples=80)
def test_bins_unite_ranges_or_lie_inside_one(domain: Domain, most: int, seed: int, width: int) -> None:
    shares = simulation(seed).dirichlet(np.full(domain.size, 0.2))
    ranges = ValueBins.ranges(domain.size, width)
    bins = bins_by_records(domain, ranges, shares, most)
    assert bins.starts[0] == 0
    assert bins.widths.min() > 0
    edges = set(ranges.starts) | {domain.size}
    for start, end in zip(bins.starts, (*bins.starts[1:], domain.size), strict=True):
        united = start in edges and end in edges
        assert united or ranges.of_codes[start] == ranges.of_codes[end - 1]
    shared = [shares[bins.of_codes == number].sum() for number in range(len(bins))]
    assert all(share < 2.01 / most or width == 1 for share, width in zip(shared, bins.widths, strict=True)) or width > 1


def test_a_range_is_even_unless_its_counts_show_a_peak() -> None:
    draw = simulation(7)
    even = np.mean([np.abs(inside_range(draw.laplace(50, 70, 5), 250.0, 100.0) - 0.2).sum() for _ in range(200)])
    assert even < 0.2, "noise alone shows few peaks"
    peak = inside_range(np.array([40.0, -30.0, 2100.0, 90.0, 10.0]), 2000.0, 100.0)
    assert peak[2] > 0.9


@given(shares=st.lists(st.floats(-5, 5), min_size=1, max_size=20))
def test_probabilities_nearest_to_shares(shares: list[float]) -> None:
    found = on_simplex(np.array(shares))
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1)
    kept = found > 0
    moved = (np.array(shares) - found)[kept]
    assert np.ptp(moved) == pytest.approx(0, abs=1e-9), "one amount is subtracted from all that stay"


def test_totals_and_tables_are_combined_by_their_precision() -> None:
    one, other = noisy([10, 20], variance=1.0), noisy([40, 50], variance=3.0)
    assert combined(one, other).counts.tolist() == pytest.approx([17.5, 27.5])
    assert combined(one, other).variance == 0.75
    estimate, error = total_records([one, other])
    assert estimate == pytest.approx(45)
    assert error == pytest.approx(1.5**0.5)
