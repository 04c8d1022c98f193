"""Trees from perturbed rows: correcting the noise finds the boundary that the reported values hide."""

from decimal import Decimal

import numpy as np
import pytest

from scumble.mining.perturbed.rows import PerturbedRows
from scumble.mining.perturbed.tree import Algorithm, train_tree
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
NOISE = for_privacy(SCHEMA, privacy="50%", noise="uniform")
ROWS = 20_000


@pytest.fixture(scope="module")
def rows() -> PerturbedRows:
    """The class is `yes` from 30 on, in all rows."""
    draw = simulation(4)
    true = draw.integers(0, 100, ROWS)
    labels = (true >= 30).astype(np.int64)
    reported = perturb_block(NOISE, {"x": true, "class": labels}, words=SimulatedWords(draw))
    return PerturbedRows(attributes=(NOISE["x"],), codes=reported["x"][:, np.newaxis], labels=labels, classes=2)


@pytest.mark.parametrize("algorithm", [Algorithm.GLOBAL, Algorithm.BYCLASS, Algorithm.LOCAL])
def test_corrected_trees_cut_among_true_values(rows: PerturbedRows, algorithm: Algorithm) -> None:
    tree = train_tree(rows, algorithm)
    assert tree.feature[0] == 0
    wide = 12 if algorithm is Algorithm.GLOBAL else 4
    assert abs(int(tree.cut[0]) - 30) <= wide
    assert tree.counts[0].sum() == pytest.approx(ROWS, rel=0.01)


def test_an_uncorrected_tree_cuts_among_reported_values(rows: PerturbedRows) -> None:
    tree = train_tree(rows, Algorithm.UNCORRECTED)
    assert tree.feature[0] == 0
    assert 0 < tree.cut[0] < NOISE["x"].channel.outputs


def test_pruning_leaves_no_more_than_growing(rows: PerturbedRows) -> None:
    grown, pruned = (train_tree(rows, Algorithm.BYCLASS, pruned=each) for each in (False, True))
    assert len(pruned.feature) <= len(grown.feature)
    assert len(pruned.feature) >= 3
