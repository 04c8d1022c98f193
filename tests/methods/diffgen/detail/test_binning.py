"""Bins and densities from noisy counts: laws, and a readable twin."""

import numpy as np
import pytest
from detail_models import PEOPLE
from hypothesis import given
from hypothesis import strategies as st

from scumble.files.schema_file import parse_schema
from scumble.methods.diffgen.detail.binning import (
    FEWEST_BINS,
    MOST_BINS,
    by_records,
    density,
    each_its_own,
    is_binned,
    merged,
    most_bins,
    range_width,
    value_count,
    value_shares,
)
from scumble.model.counts import Floats
from scumble.model.grid import Grid

LIST = parse_schema(
    "scumble: schema/1\nattributes:\n  site: {taxonomy: {Any: {" + "".join(f"s{n}: , " for n in range(300)) + "}}}\n"
)["site"].domain
AGE, JOB, PAY = (PEOPLE[name].domain for name in ("age", "job", "pay"))
COUNTS = st.lists(st.integers(-50, 400), min_size=1, max_size=70)


def twin_counts(counts: list[float], deviation: float) -> list[float]:
    """Halves whose difference is shrunk, from the whole down to single values, by recursion."""

    def divide(low: int, width: int, total: float) -> list[float]:
        here = counts[low : low + width]
        if width == 1 or not here:
            return [total] * len(here)
        half = width // 2
        part = len(here[:half]) / len(here)
        difference = sum(here[:half]) - sum(here) * part
        noise = deviation**2 * len(here) * part * (1 - part)
        kept = max(1 - 2 * noise / max(difference**2, 1e-9), 0.0)
        left = min(max(total * part + kept * difference, min(total, 0.0)), max(total, 0.0))
        return divide(low, half, left) + divide(low + half, half, total - left)

    return divide(0, 1 << max(len(counts) - 1, 0).bit_length(), sum(counts))


@given(COUNTS, st.sampled_from([0.5, 3.0, 20.0, 90.0]))
def test_shares_are_those_of_a_recursive_twin(counts: list[int], deviation: float) -> None:
    expected = np.maximum(twin_counts([float(count) for count in counts], deviation), 0) + 1e-9
    assert density(np.array(counts), deviation) == pytest.approx(expected / expected.sum())


@given(COUNTS, st.floats(0.1, 500))
def test_shares_are_positive_and_add_up_to_one(counts: list[int], deviation: float) -> None:
    shares = density(np.array(counts), deviation)
    assert shares.sum() == pytest.approx(1) and (shares > 0).all()


@given(st.integers(0, 2**32))
def test_a_value_with_very_many_records_keeps_its_share(seed: int) -> None:
    generator = np.random.default_rng(seed)
    counts, place = generator.laplace(0, 10, 200), int(generator.integers(0, 200))
    counts[place] += 5_000
    shares = density(np.rint(counts).astype(np.int64), 10 * 2**0.5)
    assert shares.argmax() == place and shares[place] > 0.8


@pytest.mark.parametrize(("count", "scale"), [(40, 30), (40, 10), (400, 30)])
def test_counts_that_are_noise_give_more_even_shares_than_their_own(count: int, scale: int) -> None:
    generator, errors = np.random.default_rng(2), np.zeros(2)
    for _ in range(100):
        counted = np.rint(count + generator.laplace(0, scale, 64)).astype(np.int64)
        raw = np.maximum(counted, 0)
        shares = density(counted, scale * 2**0.5)
        errors += [np.square(64 * each - 1).sum() for each in (shares, raw / raw.sum())]
    assert errors[0] < 0.3 * errors[1]


def test_a_step_that_no_noise_explains_is_kept() -> None:
    generator = np.random.default_rng(3)
    truth = np.repeat([100.0, 10.0], 32)
    shares = density(np.rint(truth + generator.laplace(0, 5, 64)).astype(np.int64), 5 * 2**0.5)
    assert np.abs(shares[:32].sum() - 1000 / 1100) < 0.03


@given(st.integers(0, 2**32))
def test_values_in_ranges_have_shares_that_add_up_to_one_and_follow_the_ranges(seed: int) -> None:
    """The counts of single values drown in noise; those of ranges do not."""
    assert isinstance(PAY, Grid)
    generator, width = np.random.default_rng(seed), range_width(PAY)
    ranges = -(-PAY.size // width)
    assert width > 1 and range_width(AGE) == 1
    truth = np.where(np.arange(ranges) < ranges // 2, 2000.0, 50.0)
    single = np.repeat(truth / width, width)[: PAY.size] + generator.laplace(0, 300, PAY.size)
    counted = np.rint(np.concatenate([single, truth + generator.laplace(0, 20, ranges)])).astype(np.int64)
    shares = value_shares(PAY, counted, 20 * 2**0.5)
    assert len(shares) == PAY.size and shares.sum() == pytest.approx(1)
    assert shares[: width * (ranges // 2)].sum() == pytest.approx(2000 / 2050, abs=0.03)


def random_shares(generator: np.random.Generator, size: int) -> Floats:
    return generator.dirichlet(np.full(size, 0.1))


@pytest.mark.parametrize("domain", [AGE, JOB, PAY, LIST], ids=["age", "job", "pay", "list"])
@given(most=st.integers(1, 300), seed=st.integers(0, 2**32))
def test_bins_cover_all_codes_in_order_and_large_values_stay_alone(domain: Grid, most: int, seed: int) -> None:
    shares = random_shares(np.random.default_rng(seed), domain.size)
    binning = by_records(domain, most, shares)
    values = value_count(domain)
    for bins in (binning.bins, merged(domain, most, shares), each_its_own(domain).bins):
        assert len(bins) == domain.size and set(np.diff(bins)) <= {0, 1} and bins[0] == 0
        if values < domain.size:
            assert (bins == bins[-1]).sum() == 1, "missing numbers have their own bin"
    assert len(binning) == binning.bins.max() + 1
    assert len(binning) <= most_bins(domain, most) or not is_binned(domain, most)
    of_bins = np.bincount(binning.bins, weights=binning.shares)
    assert of_bins == pytest.approx(1), "the shares of a bin's values add up to one"
    of_values = shares[:values] / shares[:values].sum()
    for place in np.flatnonzero(of_values >= 1 / min(max(most, FEWEST_BINS), MOST_BINS)):
        assert (binning.bins == binning.bins[place]).sum() == 1


@given(most=st.integers(2, 40), seed=st.integers(0, 2**32))
def test_merged_bins_are_few(most: int, seed: int) -> None:
    bins = merged(PAY, most, random_shares(np.random.default_rng(seed), PAY.size))
    assert bins.max() < 3 * most
    assert merged(PAY, most, None).max() < most + 1
    assert merged(JOB, 4, None).tolist() == [0, 1, 2, 3]


def test_values_share_bins_only_if_they_are_many() -> None:
    assert not is_binned(JOB, 1), f"never fewer than {FEWEST_BINS} bins"
    assert is_binned(AGE, 59) and not is_binned(AGE, 60)


@given(most=st.integers(1, 299), seed=st.integers(0, 2**32))
def test_every_value_of_a_flat_list_has_its_own_bin(most: int, seed: int) -> None:
    """Values without an order have nothing in common with their neighbours in the list."""
    assert len(by_records(LIST, most, random_shares(np.random.default_rng(seed), LIST.size))) == LIST.size
