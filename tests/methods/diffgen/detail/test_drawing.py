"""Compiled drawing and raking give exactly what numpy gives."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from scumble.methods.diffgen.detail.drawing import drawn, raked


@given(st.integers(0, 2**32), st.integers(1, 6), st.integers(1, 2000), st.sampled_from([0.01, 1.0, 30.0]))
@settings(max_examples=60, deadline=None)
def test_places_are_those_of_a_binary_search(seed: int, contexts: int, values: int, spread: float) -> None:
    """Also for empty values, whose cumulative probabilities are equal, and for numbers at their very edges."""
    generator = np.random.default_rng(seed)
    weights = generator.gamma(spread, size=(contexts, values)) * (generator.random((contexts, values)) < 0.7) + 1e-9
    climbs = np.cumsum(weights, axis=1)
    climbs /= climbs[:, -1:]
    climbs[:, -1] = 1.0
    context = generator.integers(0, contexts, 500)
    uniform = generator.random(500)
    uniform[:50] = climbs[context[:50], generator.integers(0, values, 50)] % 1.0
    line = (np.arange(contexts)[:, np.newaxis] + climbs).ravel()
    expected = np.searchsorted(line, context + uniform, side="right") - context * values
    assert drawn(climbs, context, uniform).tolist() == np.minimum(expected, values - 1).tolist()


def test_raking_multiplies_as_numpy_does() -> None:
    generator = np.random.default_rng(8)
    wanted = [(generator.integers(0, size, 3000), generator.dirichlet(np.ones(size))) for size in (2, 7, 40)]
    weights = np.ones(3000)
    for _ in range(5):
        for groups, shares in wanted:
            found = np.bincount(groups, weights=weights, minlength=len(shares))
            weights *= (3000 * shares / np.maximum(found, 1e-9))[groups]
    made = raked(3000, wanted, 5)
    assert (made == weights).all()
    groups, shares = wanted[-1]
    assert np.allclose(np.bincount(groups, weights=made) / 3000, shares)


def test_a_group_without_rows_changes_nothing() -> None:
    groups = np.zeros(10, dtype=np.int64)
    assert (raked(10, [(groups, np.array([0.5, 0.5]))], 3) == 0.5).all()
