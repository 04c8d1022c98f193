"""Marginals by messages on a junction tree, against sums over the full joint distribution."""

import numpy as np
from full_joint import SIZES, full_joint, random_model, summed
from hypothesis import given, settings
from hypothesis import strategies as st

from scumble.methods.explore.graphical_model import GraphicalModel
from scumble.methods.explore.junction_tree import Clique, junction_tree

PLACES = st.sets(st.integers(0, len(SIZES) - 1), min_size=1, max_size=3).map(lambda places: tuple(sorted(places)))


@given(measured=st.lists(PLACES, max_size=6), places=PLACES, seed=st.integers(0, 2**32))
@settings(max_examples=100)
def test_marginals_are_those_of_the_full_joint_distribution(measured: list[Clique], places: Clique, seed: int) -> None:
    model = random_model(measured, seed)
    joint = full_joint(model)
    for clique, belief in zip(model.tree.cliques, model.beliefs, strict=True):
        np.testing.assert_allclose(belief, summed(joint, clique), atol=1e-12)
    np.testing.assert_allclose(model.marginal(places), summed(joint, places), atol=1e-12)


def test_potentials_of_any_size_give_probabilities() -> None:
    tree = junction_tree((2, 2, 2), [(0, 1), (1, 2)])
    model = GraphicalModel(tree, [np.array([[0.0, -5000.0], [-5000.0, 3000.0]]), np.array([[9000.0, 0.0], [0.0, 0.0]])])
    assert all(np.isfinite(belief).all() for belief in model.beliefs)
    assert all(abs(belief.sum() - 1) < 1e-9 for belief in model.beliefs)
