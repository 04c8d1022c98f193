"""Class totals from several noisy tables."""

import numpy as np
import pytest

from scumble.methods.diffgen.detail.class_totals import class_totals


def test_totals_are_means_weighted_by_precision() -> None:
    first, second = np.array([100, 40]), np.array([[[60, 10], [50, 20]]])
    # The sums of the second table have the variance 2 x 9, those of the first 4.
    expected = (np.array([100, 40]) / 4 + np.array([110, 30]) / 18) / (1 / 4 + 1 / 18)
    assert class_totals([(first, 2.0), (second, 3.0)]) == pytest.approx(expected)


def test_totals_are_at_least_one() -> None:
    assert class_totals([(np.array([[-500, 3], [2, -900]]), 50.0)]).tolist() == [1.0, 1.0]


def test_totals_are_more_precise_than_those_of_any_table() -> None:
    generator, errors = np.random.default_rng(1), np.zeros(4)
    shapes, scales = [(2,), (4, 2), (2, 6, 2)], [40.0, 30.0, 20.0]
    for _ in range(400):
        tables = []
        for shape, scale in zip(shapes, scales, strict=True):
            lines = int(np.prod(shape)) // 2
            truth = np.broadcast_to(np.array([9000, 3000]) / lines, shape)
            tables.append((np.rint(truth + generator.laplace(0, scale, shape)).astype(np.int64), scale * 2**0.5))
        guesses = [class_totals(tables), *(class_totals([table]) for table in tables)]
        errors += [np.square(guess - [9000, 3000]).sum() for guess in guesses]
    assert errors[0] < 0.95 * errors[1:].min()
