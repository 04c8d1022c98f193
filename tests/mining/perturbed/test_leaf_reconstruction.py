"""Equation 3 over the leaves of a tree against a readable twin, and the mixing of neighbours that it undoes."""

import math
from decimal import Decimal

import numpy as np
import pytest

from scumble.errors import InputError
from scumble.mining.perturbed import leaf_reconstruction
from scumble.mining.perturbed.classifier import PerturbedTreeClassifier
from scumble.mining.perturbed.growth import GiniTree
from scumble.mining.perturbed.leaf_reconstruction import Marginals, leaf_boxes, with_leaves_reconstructed
from scumble.mining.perturbed.rows import PerturbedRows
from scumble.mining.reconstruction.iteration import stopping_difference
from scumble.mining.tree_model import LEAF
from scumble.model.grid import Grid
from scumble.model.local.noise_model import NoiseModel, for_privacy
from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.taxonomy import Tree
from scumble.privacy.noise import SimulatedWords, simulation
from scumble.privacy.perturber import perturb_block

NAMES = ("x", "y")


def number(name: str) -> Attribute:
    grid = Grid.regular(low=Decimal(0), high=Decimal(40), step=Decimal(1))
    return Attribute(name=name, domain=grid, outside=Outside.CLAMP)


SCHEMA = Schema(
    attributes=(
        *(number(name) for name in NAMES),
        Attribute(name="class", domain=Tree.flat(["no", "yes"]), outside=Outside.DROP),
    ),
    target="class",
)
MODEL = for_privacy(SCHEMA, privacy="100%", noise="uniform")
QUARTERS = GiniTree(
    feature=np.array([0, 1, 1, LEAF, LEAF, LEAF, LEAF]),
    cut=np.array([20, 15, 25, 0, 0, 0, 0]),
    left=np.array([1, 3, 5, LEAF, LEAF, LEAF, LEAF]),
    right=np.array([2, 4, 6, LEAF, LEAF, LEAF, LEAF]),
    counts=np.zeros((7, 2), dtype=np.int64),
)
"""Tests x < 20, and below it y < 15 or y < 25."""


def chequered(rows: int, seed: int, model: NoiseModel = MODEL) -> tuple[PerturbedRows, np.ndarray]:
    """The class is yes where exactly one of x and y is below 20: no single attribute predicts it."""
    draw = simulation(seed)
    true = draw.integers(0, 40, (rows, 2))
    label = ((true[:, 0] < 20) ^ (true[:, 1] < 20)).astype(np.int64)
    cells = {name: true[:, place] for place, name in enumerate(NAMES)}
    perturbed = perturb_block(model, {**cells, "class": label}, words=SimulatedWords(draw))
    published = np.stack([perturbed[name] for name in NAMES], axis=1)
    return PerturbedRows(attributes=tuple(model[n] for n in NAMES), codes=published, labels=label, classes=2), true


def marginals(rows: PerturbedRows, intervals: int) -> Marginals:
    parts = rows.partitions(intervals)
    everyone = np.arange(len(rows.labels))
    return Marginals(parts=parts, shares=rows.reconstruct(everyone, rows.labels, parts, range(2)))


def associated(rows: PerturbedRows, known: Marginals) -> GiniTree:
    """The rows that ranks send to each node of `QUARTERS`."""
    everyone = np.arange(len(rows.labels))
    codes = rows.associate(everyone, rows.labels, known.parts, range(2), known.shares)
    lows = np.stack([known.parts.each[place].intervals[codes[:, place]] for place in range(2)], axis=1)
    counts = np.zeros((7, 2), dtype=np.int64)
    members = {0: everyone}
    for node in range(7):
        counts[node] = np.bincount(rows.labels[members[node]], minlength=2)
        if QUARTERS.feature[node] != LEAF:
            below = lows[members[node], QUARTERS.feature[node]] < QUARTERS.cut[node]
            members[int(QUARTERS.left[node])] = members[node][below]
            members[int(QUARTERS.right[node])] = members[node][~below]
    return GiniTree(feature=QUARTERS.feature, cut=QUARTERS.cut, left=QUARTERS.left, right=QUARTERS.right, counts=counts)


def by_hand(tree: GiniTree, rows: PerturbedRows, known: Marginals, label: int) -> list[float]:
    """Row by row and leaf by leaf, as printed; shares of the leaves in the order of their boxes."""
    boxes = list(leaf_boxes(tree, [40, 40]).items())
    members = [row for row in range(len(rows.labels)) if rows.labels[row] == label]
    table = []
    for row in members:
        line = []
        for _, box in boxes:
            chance = 1.0
            for attribute, (low, high) in box.items():
                part = known.parts.each[attribute]
                place = int(known.parts.places(attribute, rows.codes[row : row + 1, attribute])[0])
                inside = whole = weight = 0.0
                for interval in range(part.size):
                    first, last = int(part.intervals[interval]), int(part.intervals[interval + 1])
                    share = float(known.shares[attribute, label, interval])
                    kernel = float(part.kernel[place, interval])
                    overlap = max(min(high, last) - max(low, first), 0) / (last - first)
                    inside += kernel * share * overlap
                    weight += share * overlap
                    whole += kernel * share
                chance *= inside / weight / whole
            line.append(chance)
        table.append(line)
    start = [float(tree.counts[node, label]) + 0.5 for node, _ in boxes]
    shares = [each / sum(start) for each in start]
    while True:
        new = [0.0] * len(shares)
        for line in table:
            total = sum(s * c for s, c in zip(shares, line, strict=True))
            for leaf, chance in enumerate(line):
                new[leaf] += shares[leaf] * chance / total / len(table)
        change = len(table) * sum((a - b) ** 2 / b for a, b in zip(new, shares, strict=True))
        shares = new
        if change < stopping_difference(len(shares), 0.1):
            return shares


def test_leaves_are_reconstructed_as_the_twin_does_it() -> None:
    rows, _ = chequered(400, 1)
    known = marginals(rows, 7)  # so that cuts fall inside intervals
    tree = associated(rows, known)
    found = with_leaves_reconstructed(tree, rows, known)
    leaves = list(leaf_boxes(tree, [40, 40]))
    for label in range(2):
        number = int((rows.labels == label).sum())
        wanted = np.array(by_hand(tree, rows, known, label)) * number
        assert found.counts[leaves, label] == pytest.approx(wanted, abs=1.01)
    assert found.counts[0].tolist() == np.bincount(rows.labels).tolist()
    for node in (0, 1, 2):
        assert found.counts[node].tolist() == (found.counts[2 * node + 1] + found.counts[2 * node + 2]).tolist()


def test_neighbours_that_ranks_mix_are_taken_apart() -> None:
    rows, true = chequered(20_000, 2)
    known = marginals(rows, 40)
    tree = associated(rows, known)
    found = with_leaves_reconstructed(tree, rows, known)
    right, above = true[:, 0] >= 20, np.where(true[:, 0] >= 20, true[:, 1] >= 25, true[:, 1] >= 15)
    place = 3 + 2 * right + above
    truth = np.bincount(place * 2 + rows.labels, minlength=14).reshape(7, 2)[3:]
    before, after = (np.abs(each.counts[3:] - truth).sum() / 40_000 for each in (tree, found))
    assert after < before / 2, (before, after)


def test_a_missing_value_says_nothing_of_the_leaf() -> None:
    rows, _ = chequered(600, 3)
    known = marginals(rows, 10)
    tree = associated(rows, known)
    nobody = PerturbedRows(
        attributes=rows.attributes, codes=np.full_like(rows.codes, 10**6), labels=rows.labels, classes=rows.classes
    )
    found = with_leaves_reconstructed(tree, nobody, known)
    for label in range(2):
        start = tree.counts[3:, label] + 0.5
        wanted = start / start.sum() * (rows.labels == label).sum()
        assert found.counts[3:, label] == pytest.approx(wanted, abs=1.01), "nothing was learned, so nothing moves"


def test_a_share_of_the_rows_stands_for_all_where_there_are_very_many(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, _ = chequered(20_000, 4)
    known = marginals(rows, 20)
    tree = associated(rows, known)
    whole = with_leaves_reconstructed(tree, rows, known)
    monkeypatch.setattr(leaf_reconstruction, "LARGEST_TABLE", 4 * 5_000)
    part = with_leaves_reconstructed(tree, rows, known)
    assert part.counts[0].tolist() == whole.counts[0].tolist()
    assert np.abs(part.counts - whole.counts).max() < 0.05 * 20_000


@pytest.mark.parametrize("algorithm", ["byclass", "local"])
def test_the_classifier_learns_what_no_single_attribute_predicts(algorithm: str) -> None:
    model = for_privacy(SCHEMA, privacy="60%", noise="gaussian")
    rows, _ = chequered(40_000, 5, model)
    # A slight slope, so that the first test is not left to chance: growth sees one attribute at a time.
    draw = simulation(6)
    kept = (rows.labels == 0) | (draw.random(40_000) < 0.5 + 0.5 * (rows.codes[:, 0] > np.median(rows.codes[:, 0])))
    edges = [model.published[name].domain.edge_floats for name in NAMES]
    values = np.stack([edge[rows.codes[kept, place]] for place, edge in enumerate(edges)], axis=1)
    test = draw.integers(0, 40, (4_000, 2))
    wanted = (test[:, 0] < 20) ^ (test[:, 1] < 20)

    def accuracy(leaves: str) -> float:
        tree = PerturbedTreeClassifier(model, algorithm=algorithm, leaves=leaves).fit(values, rows.labels[kept])
        return float((tree.predict(test) == wanted).mean())

    assert accuracy("reconstructed") > max(accuracy("associated") - 0.02, 0.75)


def test_trees_that_keep_the_association_are_the_papers() -> None:
    rows, _ = chequered(3_000, 7)
    edges = [MODEL.published[name].domain.edge_floats for name in NAMES]
    values = np.stack([edge[rows.codes[:, place]] for place, edge in enumerate(edges)], axis=1)
    whole = PerturbedTreeClassifier(MODEL, pruned=False).fit(values, rows.labels).model_
    same = PerturbedTreeClassifier(MODEL, pruned=False, leaves="associated").fit(values, rows.labels).model_
    assert whole.to_json() == same.to_json(), "an unpruned tree keeps the association"
    with pytest.raises(InputError, match="Unknown value of leaves: 'golden'"):
        PerturbedTreeClassifier(MODEL, leaves="golden").fit(values, rows.labels)


def test_boxes_are_where_the_tests_lead() -> None:
    boxes = leaf_boxes(QUARTERS, [40, 40])
    assert boxes == {
        3: {0: (0, 20), 1: (0, 15)},
        4: {0: (0, 20), 1: (15, 40)},
        5: {0: (20, 40), 1: (0, 25)},
        6: {0: (20, 40), 1: (25, 40)},
    }
    volume = sum(math.prod(high - low for low, high in box.values()) for box in boxes.values())
    assert volume == 40 * 40
