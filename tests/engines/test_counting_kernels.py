"""The compiled kernels of counting equal numpy expressions, for every width of codes."""

import numpy as np
import pytest

from scumble.engines.counting_kernels import add_digit, append, append_two, count, count_fine, set_digit

CODE_TYPES = (np.uint8, np.uint16, np.uint32)


@pytest.fixture(params=CODE_TYPES)
def columns(request: pytest.FixtureRequest) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(5)
    return generator.integers(0, 7, 1000).astype(request.param), generator.integers(0, 5, 1000).astype(np.uint8)


def test_digits_are_set_then_added(columns: tuple[np.ndarray, np.ndarray]) -> None:
    first, second = columns
    of_first, of_second = np.arange(7, dtype=np.uint32) * 5, np.arange(5, dtype=np.uint32)
    entries = np.full(1000, 99, dtype=np.uint32)
    set_digit(first, of_first, entries)
    assert np.array_equal(entries, first.astype(np.int64) * 5)
    add_digit(second, of_second, entries)
    assert np.array_equal(entries, first.astype(np.int64) * 5 + second)


@pytest.mark.parametrize("wider", [np.uint16, np.uint32])
def test_two_columns_at_once_are_two_columns_one_after_the_other(
    columns: tuple[np.ndarray, np.ndarray], wider: type
) -> None:
    first, second = columns
    places = np.arange(1000, dtype=wider) % 11
    once, stepwise, at_once = (np.empty(1000, dtype=wider) for _ in range(3))
    append(places, first, wider(7), once)
    append(once, second, wider(5), stepwise)
    append_two(places, first, wider(7), second, wider(5), at_once)
    assert np.array_equal(stepwise, (places.astype(np.int64) * 7 + first) * 5 + second)
    assert np.array_equal(at_once, stepwise)


def test_counts_are_those_of_bincount_and_are_added_to_what_is_there(columns: tuple[np.ndarray, np.ndarray]) -> None:
    first, _ = columns
    counts = np.full(7, 10, dtype=np.int64)
    count(first, counts)
    assert np.array_equal(counts, 10 + np.bincount(first, minlength=7))


def test_fine_counts_go_to_the_start_of_their_cell(columns: tuple[np.ndarray, np.ndarray]) -> None:
    codes, entries = columns
    stride, start = np.int64(2), np.array([0, 1, 14, 15, 28], dtype=np.int64)
    counts = np.zeros(42, dtype=np.int64)
    count_fine(codes, entries, start, stride, counts)
    assert np.array_equal(counts, np.bincount(start[entries] + 2 * codes.astype(np.int64), minlength=42))
