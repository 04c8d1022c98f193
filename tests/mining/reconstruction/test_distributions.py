"""Distributions behind perturbed records: nearer to the truth than what was reported, for all rows and by class."""

from decimal import Decimal

import numpy as np
import pytest

from scumble.mining.reconstruction.distributions import Histogram, distributions
from scumble.model.grid import Grid
from scumble.model.local.noise_model import for_privacy
from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.taxonomy import Tree
from scumble.privacy.noise import SimulatedWords, simulation
from scumble.privacy.perturber import perturb_block

SCHEMA = Schema(
    target="class",
    attributes=(
        Attribute(
            name="x",
            domain=Grid.regular(low=Decimal(0), high=Decimal(100), step=Decimal(1)),
            outside=Outside.CLAMP,
        ),
        Attribute(name="class", domain=Tree.flat(["no", "yes"]), outside=Outside.DROP),
    ),
)
NOISE = for_privacy(SCHEMA, privacy="100%", noise="gaussian")


def test_total_variation_distance() -> None:
    low, high = (Histogram(shares=np.array(shares), names=("a", "b")) for shares in ([0.25, 0.75], [0.5, 0.5]))
    assert low.distance(high) == pytest.approx(0.25)
    assert low.distance(low) == 0
    halves = Histogram(shares=np.array([0.5, 0.5]), edges=np.array([0.0, 1.0, 2.0]))
    whole = Histogram(shares=np.array([1.0]), edges=np.array([0.0, 2.0]))
    first = Histogram(shares=np.array([1.0]), edges=np.array([0.0, 1.0]))
    assert halves.distance(whole) == pytest.approx(0)
    assert whole.distance(first) == pytest.approx(0.5)
    assert list(halves.lines())[1] == {"low": 1.0, "high": 2.0, "value": "", "share": 0.5}
    assert [line["value"] for line in low.lines()] == ["a", "b"]


def test_reconstruction_comes_nearer_to_the_truth_than_what_was_reported() -> None:
    draw = simulation(9)
    labels = draw.integers(0, 2, 20_000)
    true = {"x": np.where(labels == 1, draw.integers(60, 90, 20_000), draw.integers(5, 40, 20_000)), "class": labels}
    reported = perturb_block(NOISE, true, words=SimulatedWords(draw))
    found = distributions(NOISE, [reported], [true])
    assert [(each.attribute, each.group) for each in found] == [("x", None), ("x", "no"), ("x", "yes"), ("class", None)]
    for each in found[:3]:
        assert set(each.histograms) == {"original", "randomized", "reconstructed"}
        distances = each.distances()
        assert distances["reconstructed"] < 0.6 * distances["randomized"]
        assert each.reconstructed.shares.sum() == pytest.approx(1)
    assert found[1].rows + found[2].rows == pytest.approx(20_000)


def test_without_the_original_there_is_nothing_to_compare_with() -> None:
    empty = {"x": np.zeros(0, dtype=np.int64), "class": np.zeros(0, dtype=np.int64)}
    for each in distributions(NOISE, [empty]):
        assert each.original is None
        assert each.distances() == {}
        assert each.rows == 0
