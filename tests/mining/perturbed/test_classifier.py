"""Trees from blurred rows: growth, pruning and association against twins, the algorithms on planted structure, and the
model file."""

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from scumble.errors import InputError
from scumble.mining.perturbed.association import by_category, by_rank, whole_counts
from scumble.mining.perturbed.classifier import PerturbedTreeClassifier
from scumble.mining.perturbed.description_length import (
    bits_of_a_test,
    errors_worth_a_split,
    leaf_costs,
    prune,
    splits_to_keep,
)
from scumble.mining.perturbed.growth import GiniTree, best_gini_split, grow_gini_tree
from scumble.mining.tree_model import LEAF, TreeModel
from scumble.mining.tree_view import draw_tree, tree_text
from scumble.model.grid import Grid
from scumble.model.local.noise_model import NoiseModel, for_epsilon, for_privacy
from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.taxonomy import Tree
from scumble.privacy.noise import SimulatedWords, simulation
from scumble.privacy.perturber import perturb_block

TABLES = st.integers(2, 60).flatmap(
    lambda rows: st.tuples(
        st.lists(st.lists(st.integers(0, 5), min_size=3, max_size=3), min_size=rows, max_size=rows),
        st.lists(st.integers(0, 2), min_size=rows, max_size=rows),
    )
)
SIZES = np.array([5, 5, 5])
"""One less than the codes there are: code 5 is a missing value."""


def gini(labels: list[int]) -> float:
    return 1 - sum((labels.count(label) / len(labels)) ** 2 for label in set(labels)) if labels else 0.0


def best_by_hand(codes: list[list[int]], labels: list[int]) -> tuple[float, int, int] | None:
    """Every boundary of every attribute, by the definition of gini; the first of equal ones."""
    best = None
    for attribute, size in enumerate(SIZES.tolist()):
        known = [(row[attribute], label) for row, label in zip(codes, labels, strict=True) if row[attribute] < size]
        for cut in range(1, size):
            low = [label for code, label in known if code < cut]
            high = [label for code, label in known if code >= cut]
            if low and high:
                parts = len(low) * gini(low) + len(high) * gini(high)
                gain = (len(known) * gini([label for _, label in known]) - parts) / len(labels)
                if gain > 1e-9 and (best is None or gain > best[0] + 1e-12):
                    best = (gain, attribute, cut)
    return best


@given(table=TABLES)
def test_growth_chooses_the_best_boundary_and_sends_rows_where_it_says(
    table: tuple[list[list[int]], list[int]],
) -> None:
    codes, labels = np.array(table[0], dtype=np.uint16), np.array(table[1])
    tree = grow_gini_tree(codes, labels, np.arange(len(labels)), SIZES, 3)
    assert tree.counts[0].tolist() == np.bincount(labels, minlength=3).tolist()
    stack = [(0, np.arange(len(labels)))]
    while stack:
        node, rows = stack.pop()
        assert tree.counts[node].tolist() == np.bincount(labels[rows], minlength=3).tolist()
        best = best_by_hand(codes[rows].tolist(), labels[rows].tolist())
        feature, cut = int(tree.feature[node]), int(tree.cut[node])
        if feature == LEAF:
            assert best is None or len(set(labels[rows].tolist())) == 1
            continue
        assert best is not None
        column = codes[rows, feature]
        below, missing = column < cut, column >= SIZES[feature]
        goes_left = below | (missing & (below.sum() >= (~below & ~missing).sum()))
        parts = [labels[rows][side].tolist() for side in (below, ~below & ~missing)]
        known = parts[0] + parts[1]
        gain = (len(known) * gini(known) - sum(len(part) * gini(part) for part in parts)) / len(rows)
        assert gain == pytest.approx(best[0], abs=1e-9)
        stack += [(int(tree.left[node]), rows[goes_left]), (int(tree.right[node]), rows[~goes_left])]


def cost_by_hand(tree: GiniTree, node: int, bits: float) -> tuple[float, int]:
    """The least description length below a node, and how many nodes it takes."""
    errors = int(tree.counts[node].sum() - tree.counts[node].max())
    if tree.feature[node] == LEAF:
        return 1 + errors, 1
    (left, lefts), (right, rights) = (cost_by_hand(tree, int(side[node]), bits) for side in (tree.left, tree.right))
    inner = 1 + bits + left + right
    return (inner, 1 + lefts + rights) if inner < 1 + errors else (1 + errors, 1)


@given(table=TABLES, bits=st.sampled_from([0.0, 1.0, 3.5]))
def test_pruning_finds_the_shortest_description(table: tuple[list[list[int]], list[int]], bits: float) -> None:
    codes, labels = np.array(table[0], dtype=np.uint16), np.array(table[1])
    everyone = np.arange(len(labels))
    full = grow_gini_tree(codes, labels, everyone, SIZES, 3)
    pruned = prune(full, splits_to_keep(full, bits))
    cost, nodes = cost_by_hand(full, 0, bits)
    assert len(pruned.feature) == nodes
    inner = pruned.feature != LEAF
    assert inner.sum() * (1 + bits) + leaf_costs(pruned.counts)[~inner].sum() == pytest.approx(cost)
    early = grow_gini_tree(codes, labels, everyone, SIZES, 3, spared=errors_worth_a_split(bits))
    again = prune(early, splits_to_keep(early, bits))
    assert len(early.feature) <= len(full.feature)
    assert sorted(map(tuple, again.counts.tolist())) == sorted(map(tuple, pruned.counts.tolist())), (
        "stopping early changed it"
    )


@given(
    values=st.lists(st.integers(0, 40), min_size=1, max_size=80),
    weights=st.lists(st.integers(0, 9), min_size=1, max_size=7).filter(any),
)
def test_association_by_rank_keeps_numbers_and_order(values: list[int], weights: list[int]) -> None:
    shares = np.array(weights) / sum(weights)
    column = np.array(values)
    intervals = by_rank(column, shares)
    counts = np.bincount(intervals, minlength=len(shares))
    assert (np.abs(counts - shares * len(values)) < 1).all()
    assert all(
        intervals[i] <= intervals[j] for i in range(len(values)) for j in range(len(values)) if values[i] < values[j]
    )
    assert counts.tolist() == whole_counts(shares, len(values)).tolist()


@given(
    values=st.lists(st.integers(0, 4), min_size=1, max_size=80),
    weights=st.lists(st.integers(0, 9), min_size=5, max_size=5).filter(any),
)
def test_association_by_category_keeps_as_many_as_it_can(values: list[int], weights: list[int]) -> None:
    shares = np.array(weights) / sum(weights)
    column = np.array(values)
    kinds = by_category(column, shares)
    wanted = whole_counts(shares, len(values))
    assert np.bincount(kinds, minlength=5).tolist() == wanted.tolist()
    assert (kinds == column).sum() == np.minimum(wanted, np.bincount(column, minlength=5)).sum()


@pytest.mark.parametrize("algorithm", ["global", "byclass", "local"])
def test_an_attribute_may_have_more_categories_than_intervals(algorithm: str) -> None:
    """Small nodes have ten intervals. Reports of 30 categories then belong to intervals of three categories each."""
    draw = simulation(11)
    schema = Schema(
        attributes=(
            Attribute(name="job", domain=Tree.flat([f"job {n:02}" for n in range(30)]), outside=Outside.DROP),
            Attribute(name="class", domain=Tree.flat(["no", "yes"]), outside=Outside.DROP),
        ),
        target="class",
    )
    model = for_privacy(schema, privacy="20%")
    jobs = draw.integers(0, 30, 3_000)
    label = (jobs >= 15).astype(np.int64)
    reports = perturb_block(model, {"job": jobs, "class": label}, words=SimulatedWords(draw))
    tree = PerturbedTreeClassifier(model, algorithm=algorithm, intervals=10, local_rows=100)
    tree.fit(published(model, reports), reports["class"])
    assert (tree.predict(np.arange(30.0)[:, np.newaxis]) == (np.arange(30) >= 15)).all()


def number(name: str, cells: int) -> Attribute:
    grid = Grid.regular(low=Decimal(0), high=Decimal(cells), step=Decimal(1))
    return Attribute(name=name, domain=grid, outside=Outside.CLAMP)


SCHEMA = Schema(
    attributes=(
        number("x", 100),
        number("z", 50),
        Attribute(name="kind", domain=Tree.flat(list("abcd")), outside=Outside.DROP),
        Attribute(name="class", domain=Tree.flat(["no", "yes"]), outside=Outside.DROP),
    ),
    target="class",
)


def band(rows: int, seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The class is yes for x in [30, 60), or for kind d; z means nothing."""
    draw = simulation(seed)
    columns = {"x": draw.integers(0, 100, rows), "z": draw.integers(0, 50, rows), "kind": draw.integers(0, 4, rows)}
    label = ((columns["x"] >= 30) & (columns["x"] < 60)) | (columns["kind"] == 3)
    return columns, label.astype(np.int64)


def published(model: NoiseModel, columns: dict[str, np.ndarray]) -> np.ndarray:
    values = []
    for attribute in model.published.predictors:
        domain, codes = attribute.domain, columns[attribute.name]
        values.append(domain.edge_floats[codes] if isinstance(domain, Grid) else codes.astype(float))
    return np.stack(values, axis=1)


def blurred_band(model: NoiseModel, rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    columns, label = band(rows, seed)
    perturbed = perturb_block(model, {**columns, "class": label}, words=SimulatedWords(simulation(seed)))
    return published(model, perturbed), perturbed["class"]


def accuracy(tree: PerturbedTreeClassifier) -> float:
    columns, label = band(4_000, 99)
    table = np.stack([columns[name] for name in ("x", "z", "kind")], axis=1)
    return float((tree.predict(table) == label).mean())


INTERVAL = for_privacy(SCHEMA, privacy="60%", noise="uniform")


def test_correction_pays_and_finds_the_planted_boundaries() -> None:
    table, label = blurred_band(INTERVAL, 30_000, 1)
    found = {
        name: accuracy(PerturbedTreeClassifier(INTERVAL, algorithm=name).fit(table, label))
        for name in ("uncorrected", "global", "byclass", "local")
    }
    assert found["byclass"] > found["uncorrected"] + 0.05
    assert found["local"] > found["uncorrected"] + 0.05
    assert min(found["byclass"], found["local"]) > 0.9
    tree = PerturbedTreeClassifier(INTERVAL).fit(table, label).model_
    cuts = [tree.threshold[node] for node in np.flatnonzero(tree.feature == 0)]
    for true in (30, 60):
        assert min(abs(cut - true) for cut in cuts) <= 3


def test_without_noise_all_algorithms_learn_the_truth() -> None:
    model = for_privacy(SCHEMA, privacy="1%", confidence="50%", noise="uniform", truthful=["kind"])
    table, label = blurred_band(model, 20_000, 2)
    for name in ("uncorrected", "global", "byclass", "local"):
        assert accuracy(PerturbedTreeClassifier(model, algorithm=name).fit(table, label)) > 0.99


def test_under_local_privacy_the_randomized_class_is_reconstructed() -> None:
    model = for_epsilon(SCHEMA, epsilon="12")
    table, observed = blurred_band(model, 60_000, 3)
    _, label = band(60_000, 3)
    assert 0.02 < (observed != label).mean() < 0.08
    tree = PerturbedTreeClassifier(model).fit(table, observed)
    assert accuracy(tree) > 0.85
    root = tree.model_.shares[0]
    observed_share, true_share = observed.mean(), label.mean()
    assert abs(root[1] - true_share) < abs(observed_share - true_share) / 2 + 0.005, "the class was not reconstructed"
    assert root.sum() == pytest.approx(1)


@parametrize_with_checks([PerturbedTreeClassifier()], expected_failed_checks=lambda estimator: {})
def test_the_classifier_follows_scikit_learns_rules(estimator: Any, check: Callable[[Any], None]) -> None:
    """No check is expected to fail."""
    check(estimator)


def test_the_model_survives_as_one_file_and_predicts_records(tmp_path: Path) -> None:
    table, label = blurred_band(INTERVAL, 20_000, 4)
    tree = PerturbedTreeClassifier(INTERVAL).fit(table, np.array(["no", "yes"])[label])
    path = tmp_path / "tree.json"
    tree.model_.write(path)
    read = TreeModel.read(path)
    columns, _ = band(500, 5)
    rows = np.stack([columns[name] for name in ("x", "z", "kind")], axis=1)
    assert (read.probabilities(rows) == tree.predict_proba(rows)).all()
    records = [{"x": str(x), "z": int(z), "kind": "abcd"[kind]} for x, z, kind in rows]
    assert read.predict(records) == tree.predict(rows).tolist()
    assert read.predict([{}]) == tree.predict(np.full((1, 3), np.nan)).tolist(), "absent values count as missing"
    assert read.predict([]) == []
    with pytest.raises(InputError, match="'x'"):
        read.predict([{"x": "many"}])


@pytest.mark.parametrize("noise", [INTERVAL, for_epsilon(SCHEMA, epsilon="6")], ids=["interval", "local"])
def test_codes_and_values_give_the_same_tree(noise: NoiseModel) -> None:
    columns, label = band(3_000, 8)
    reports = perturb_block(noise, {**columns, "class": label}, words=SimulatedWords(simulation(8)))
    classes = np.array(noise.published.classes, dtype=object)[reports["class"]]
    values = PerturbedTreeClassifier(noise).fit(published(noise, reports), classes)
    codes = np.stack([reports[attribute.name] for attribute in noise.published.predictors], axis=1)
    direct = PerturbedTreeClassifier(noise).fit_codes(codes, reports["class"])
    assert direct.model_.to_json() == values.model_.to_json()
    assert direct.classes_.tolist() == values.classes_.tolist()
    assert (direct.predict(published(noise, reports)) == values.predict(published(noise, reports))).all()


def test_codes_without_a_noise_model_are_refused() -> None:
    with pytest.raises(InputError, match="noise model"):
        PerturbedTreeClassifier().fit_codes(np.zeros((2, 1), dtype=np.int64), np.zeros(2, dtype=np.int64))


def test_the_reader_of_models_needs_numpy_alone() -> None:
    source = (Path(__file__).parents[3] / "src/scumble/mining/tree_model.py").read_text("utf-8")
    imported = {line.split()[1].split(".")[0] for line in source.splitlines() if line.startswith(("import ", "from "))}
    assert imported == {"json", "collections", "dataclasses", "pathlib", "typing", "numpy", "scumble"}
    rooms = {line.split()[1] for line in source.splitlines() if line.startswith("from scumble")}
    foreign = {"scumble.foreign.documents", "scumble.foreign.numbers"}
    assert rooms == {"scumble.errors", "scumble.model.counts", "scumble.model.values"} | foreign


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data.pop("nodes"),
        lambda data: data.update(scumble="tree/9"),
        lambda data: data["nodes"]["left"].__setitem__(0, 0),
        lambda data: data["nodes"]["right"].__setitem__(0, 10**6),
        lambda data: data["nodes"]["feature"].__setitem__(0, 7),
        lambda data: data["nodes"]["threshold"].pop(),
        lambda data: data["nodes"]["shares"].__setitem__(0, [1.0]),
        lambda data: data.update(classes=["only"]),
    ],
)
def test_a_damaged_model_is_refused(damage: Callable[[Any], Any]) -> None:
    table, label = blurred_band(INTERVAL, 3_000, 6)
    data = json.loads(json.dumps(PerturbedTreeClassifier(INTERVAL).fit(table, label).model_.to_json()))
    damage(data)
    with pytest.raises(InputError):
        TreeModel.from_json(data)


def test_a_tree_can_be_looked_at(tmp_path: Path) -> None:
    table, label = blurred_band(INTERVAL, 20_000, 7)
    tree = PerturbedTreeClassifier(INTERVAL).fit(table, np.array(["no", "yes"])[label])
    text = tree.export_text()
    assert text == tree_text(tree.model_)
    assert text.count("%)") == tree.model_.leaves
    assert "kind not in {d}" in text and "x < " in text
    draw_tree(tree.model_, tmp_path / "tree.svg")
    drawn = (tmp_path / "tree.svg").read_text("utf-8")
    assert drawn.startswith("<?xml") and "</svg>" in drawn


def test_noise_models_that_do_not_match_are_refused() -> None:
    table, label = blurred_band(INTERVAL, 500, 8)
    with pytest.raises(InputError, match="noise model"):
        PerturbedTreeClassifier(for_privacy(SCHEMA, privacy="10%", noise="uniform")).fit(table, label)
    with pytest.raises(InputError, match="3 predictors"):
        PerturbedTreeClassifier(INTERVAL).fit(table[:, :2], label)
    with pytest.raises(InputError, match="Unknown class"):
        PerturbedTreeClassifier(INTERVAL).fit(table, label + 1)
    with pytest.raises(InputError, match="Unknown algorithm"):
        PerturbedTreeClassifier(INTERVAL, algorithm="magic").fit(table, label)


@pytest.mark.parametrize("algorithm", ["uncorrected", "global", "byclass", "local"])
def test_one_class_constant_columns_and_missing_values_are_ordinary(algorithm: str) -> None:
    table, label = blurred_band(INTERVAL, 2_000, 9)
    lonely = PerturbedTreeClassifier(INTERVAL, algorithm=algorithm).fit(table, np.zeros(2_000, dtype=np.int64))
    assert lonely.predict([[50, 10, 1]]).tolist() == [0], "a class with no rows is never predicted"
    assert lonely.classes_.tolist() == [0, 1]
    constant = np.tile(table[:1], (2_000, 1))
    flat = PerturbedTreeClassifier(INTERVAL, algorithm=algorithm, local_rows=100).fit(constant, label)
    assert flat.model_.shares.sum(axis=1) == pytest.approx(1)
    holes = table.copy()
    holes[::3, 0] = np.nan
    tree = PerturbedTreeClassifier(INTERVAL, algorithm=algorithm, local_rows=200).fit(holes, label)
    assert tree.predict([[np.nan, np.nan, np.nan]])[0] in (0, 1)
    assert accuracy(tree) > 0.6


def test_local_splits_as_growth_would() -> None:
    draw = simulation(11)
    codes, labels = draw.integers(0, 5, (300, 3)).astype(np.uint16), draw.integers(0, 3, 300)
    labels[codes[:, 1] > 2] = 0
    histogram = np.stack(
        [np.stack([np.bincount(codes[labels == c, a], minlength=5) for c in range(3)], 1) for a in range(3)]
    )
    tree = grow_gini_tree(codes, labels, np.arange(300), SIZES, 3)
    assert best_gini_split(histogram, SIZES) == (int(tree.feature[0]), int(tree.cut[0]))
    assert best_gini_split(np.zeros((3, 5, 3), dtype=np.int64), SIZES) is None


def test_a_test_costs_the_bits_to_name_it() -> None:
    assert bits_of_a_test(np.array([5, 9, 5])) == 4.0
    assert bits_of_a_test(np.array([1, 1])) == 0.0
