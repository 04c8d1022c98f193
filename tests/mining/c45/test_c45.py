"""C4.5: Quinlan's worked examples, published results on Adult, a readable twin, laws of weights and unknown values."""

import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from c45_twin import Case, TwinNode, twin_tree
from sklearn.utils.estimator_checks import parametrize_with_checks

from scumble import datasets
from scumble.comparison.trials import CodedTable
from scumble.errors import InputError
from scumble.mining.benchmark.classifiers import CLASSIFIERS, USUAL
from scumble.mining.benchmark.encoding import unknown_numbers, unordered_features
from scumble.mining.benchmark.pruning import DistinctRows
from scumble.mining.benchmark.scores import score
from scumble.mining.c45 import criteria, division
from scumble.mining.c45.classifier import C45Classifier
from scumble.mining.c45.growth import learn
from scumble.mining.c45.pruning import expected_errors
from scumble.mining.c45.text import tree_text
from scumble.mining.c45.tree import C45Node, C45Tree, Cases, Nodes, Rules, coded_table
from scumble.model.grid import Grid
from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.taxonomy import Tree
from scumble.sources import open_source

SUNNY, OVERCAST, RAIN = range(3)
PLAY, DONT = range(2)
GOLF = [
    (SUNNY, 75, 70, True, PLAY),
    (SUNNY, 80, 90, True, DONT),
    (SUNNY, 85, 85, False, DONT),
    (SUNNY, 72, 95, False, DONT),
    (SUNNY, 69, 70, False, PLAY),
    (OVERCAST, 72, 90, True, PLAY),
    (OVERCAST, 83, 78, False, PLAY),
    (OVERCAST, 64, 65, True, PLAY),
    (OVERCAST, 81, 75, False, PLAY),
    (RAIN, 71, 80, True, DONT),
    (RAIN, 65, 70, True, DONT),
    (RAIN, 75, 80, False, PLAY),
    (RAIN, 68, 80, False, PLAY),
    (RAIN, 70, 96, False, PLAY),
]
"""The training set of Quinlan's book (1993), table 2.1: outlook, temperature, humidity, windy, class."""
FEATURES = ("outlook", "temperature", "humidity", "windy")
CATEGORIES = (("sunny", "overcast", "rain"), None, None, ("false", "true"))
CATEGORICAL = np.array([True, False, False, True])


@parametrize_with_checks([C45Classifier()], expected_failed_checks=lambda estimator: {})
def test_the_classifier_follows_scikit_learns_rules(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def golf(*, unknown_outlook: bool = False) -> tuple[np.ndarray, np.ndarray]:
    rows = np.array(GOLF, dtype=np.float64)
    if unknown_outlook:
        rows[5, 0] = np.nan
    return rows[:, :4], rows[:, 4].astype(np.int64)


def candidates_of(features: np.ndarray, labels: np.ndarray) -> criteria.Candidates:
    table = coded_table(features, labels, classes=2, categorical=CATEGORICAL)
    cases = Cases(np.arange(len(labels), dtype=np.int32), np.ones(len(labels)))
    return criteria.candidates(table, cases, Rules())


def test_the_gain_ratios_of_the_golf_table_are_those_of_the_book() -> None:
    """Quinlan 1993, section 2.2: outlook gains 0.246 bits at a split information of 1.577, windy gains 0.048."""
    found = candidates_of(*golf())
    assert found.gain[[0, 3]].tolist() == pytest.approx([0.246, 0.048], abs=1e-3)
    assert found.information[0] == pytest.approx(1.577, abs=6e-4)
    assert found.gain[0] / found.information[0] == pytest.approx(0.156, abs=6e-4)
    assert criteria.chosen(found) == 0


def test_an_unknown_value_lowers_the_gain_as_in_the_book() -> None:
    """Section 3.2: with one outlook unknown, the gain is 0.199 and the split information 1.809."""
    found = candidates_of(*golf(unknown_outlook=True))
    assert found.gain[0] == pytest.approx(0.199, abs=6e-4)
    assert found.information[0] == pytest.approx(1.809, abs=6e-4)


def learned(features: np.ndarray, labels: np.ndarray, **rules: Any) -> C45Tree:
    weights = np.ones(len(labels))
    return learn(features, labels, weights, classes=2, categorical=CATEGORICAL, rules=Rules(**rules))


def text_of(tree: C45Tree) -> list[str]:
    return tree_text(tree, features=FEATURES, classes=("Play", "Don't Play"), categories=CATEGORIES).splitlines()


def test_the_golf_tree_is_the_one_of_the_book() -> None:
    assert text_of(learned(*golf(), threshold_cost=False)) == [
        "outlook = sunny:",
        "|   humidity <= 75: Play (2.0)",
        "|   humidity > 75: Don't Play (3.0)",
        "outlook = overcast: Play (4.0)",
        "outlook = rain:",
        "|   windy = false: Play (3.0)",
        "|   windy = true: Don't Play (2.0)",
    ]


def test_a_case_of_unknown_outlook_is_divided_as_in_the_book() -> None:
    """Section 3.2: it counts 5/13 among sunny cases, and 5/13 among rainy ones; leaves show 3.4/0.4 cases."""
    assert text_of(learned(*golf(unknown_outlook=True), threshold_cost=False, pruned=False)) == [
        "outlook = sunny:",
        "|   humidity <= 75: Play (2.0)",
        "|   humidity > 75: Don't Play (3.4/0.4)",
        "outlook = overcast: Play (3.2)",
        "outlook = rain:",
        "|   windy = false: Play (3.0)",
        "|   windy = true: Don't Play (2.4/0.4)",
    ]


def test_a_new_case_of_unknown_humidity_gets_the_probabilities_of_the_book() -> None:
    """Section 3.3: sunny, humidity unknown: Play with (2 + 0.4) / 5.4 = 44 %, Don't Play with 56 %."""
    tree = learned(*golf(unknown_outlook=True), threshold_cost=False, pruned=False)
    found = tree.probabilities([[SUNNY, 70, np.nan, False]])
    assert found[0].tolist() == pytest.approx([0.44, 0.56], abs=5e-3)


def test_pessimistic_errors_prune_the_subtree_of_the_book() -> None:
    """Section 4.2: three pure leaves of 6, 9 and 1 cases predict 3.273 errors, one leaf of 16 with one error 2.512."""
    apart = [expected_errors(cases, 0.0, 0.25) for cases in (6, 9, 1)]
    assert sum(apart) == pytest.approx(3.273, abs=2e-3)
    assert expected_errors(16, 1.0, 0.25) == pytest.approx(2.512, abs=6e-3)


def adult() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The values of Adult: numbers as they are, categories by their order in the schema."""
    dataset = datasets.load("adult")
    table = open_source(dataset.path)
    names = [attribute.name for attribute in dataset.schema.predictors]
    batches = list(table.batches([*names, "income"]))
    columns, categorical = [], []
    for attribute in dataset.schema.predictors:
        values = [value for batch in batches for value in batch.column(attribute.name).to_pylist()]
        category = isinstance(attribute.domain, Tree)
        columns.append(np.unique(values, return_inverse=True)[1] if category else np.array(values, dtype=np.float64))
        categorical.append(category)
    income = [value for batch in batches for value in batch.column("income").to_pylist()]
    return (
        np.stack(columns, axis=1).astype(np.float64),
        np.unique(income, return_inverse=True)[1],
        np.array(categorical),
    )


@pytest.mark.parametrize(("threshold_cost", "published"), [(True, 14.7), (False, 15.54)])
def test_the_error_on_adult_is_the_published_one(threshold_cost: bool, published: float) -> None:
    """KDD 2011, section 5.1: accuracy 85.3 %; adult.names (1996): error 15.54 %, before release 8's correction.

    Our errors are 14.69 and 15.53 %; a tenth of a point is fifteen of the 15,060 test rows.
    """
    features, labels, categorical = adult()
    train, test = slice(0, 30_162), slice(30_162, None)
    rules = Rules(threshold_cost=threshold_cost)
    weights = np.ones(30_162)
    tree = learn(features[train], labels[train], weights, classes=2, categorical=categorical, rules=rules)
    wrong = tree.probabilities(features[test]).argmax(axis=1) != labels[test]
    assert 100 * wrong.mean() == pytest.approx(published, abs=0.1)


def drawn(seed: int, *, rows: int = 60, unknown: float = 0.15) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two categorical and two numeric features, of which the class depends on some; weights without ties."""
    draw = np.random.default_rng(seed)
    features = np.stack(
        [draw.integers(0, 4, rows), draw.integers(0, 12, rows), draw.integers(0, 2, rows), draw.integers(0, 40, rows)],
        axis=1,
    ).astype(np.float64)
    sure = (features[:, 1] > 5) ^ (features[:, 2] == 1) | (features[:, 0] == 3)
    labels = np.where(draw.random(rows) < 0.2, draw.integers(0, 3, rows), sure)
    features[draw.random(features.shape) < unknown] = np.nan
    return features, labels.astype(np.int64), draw.uniform(0.5, 3.0, rows)


FOUR = np.array([True, False, True, False])


def same(node: C45Node, twin: TwinNode, tree: C45Tree) -> bool:
    counts = [twin.counts[label] for label in range(tree.classes)]
    if not np.allclose(node.counts, counts) or bool(node.branches) != (twin.feature is not None):
        return False
    if not node.branches:
        return True
    values = tree.values[node.feature]
    cut = None if tree.categorical[node.feature] else values[node.cut]
    pairs = zip(node.branches, twin.branches.values(), strict=True)
    return node.feature == twin.feature and cut == twin.cut and all(same(*pair, tree) for pair in pairs)


@pytest.mark.parametrize("unknown", [0.0, 0.15])
def test_the_tree_is_that_of_the_readable_twin(unknown: float) -> None:
    sizes = set()
    for seed in range(40):
        features, labels, weights = drawn(seed, unknown=unknown)
        tree = learn(features, labels, weights, classes=3, categorical=FOUR)
        rows = [tuple(None if np.isnan(value) else float(value) for value in row) for row in features]
        cases = [Case(*each) for each in zip(rows, labels.tolist(), weights.tolist(), strict=True)]
        assert same(tree.root, twin_tree(cases, {0, 2}, 3), tree), seed
        sizes.add(tree.leaves)
    assert len(sizes) > 5  # trees of many sizes were compared


@pytest.mark.parametrize("rules", [Rules(), Rules(pruned=False)])
def test_arrays_are_enlarged_for_repeated_cases_and_many_nodes(rules: Rules, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many values are unknown, so that cases are repeated in many branches. The tree is that of ample arrays."""
    features, labels, weights = drawn(5, rows=2000, unknown=0.3)
    enlarged = set()
    larger_cases, larger_nodes = Cases.enlarged, Nodes.enlarged

    def more_cases(cases: Cases) -> Cases:
        enlarged.add("cases")
        return larger_cases(cases)

    def more_nodes(nodes: Nodes) -> Nodes:
        enlarged.add("nodes")
        return larger_nodes(nodes)

    monkeypatch.setattr(Cases, "enlarged", more_cases)
    monkeypatch.setattr(Nodes, "enlarged", more_nodes)
    tree = learn(features, labels, weights, classes=3, categorical=FOUR, rules=rules)
    assert enlarged == {"cases", "nodes"}
    monkeypatch.undo()
    space, copied = Nodes.space, Cases.copied
    monkeypatch.setattr(Nodes, "space", lambda nodes, classes: space(100_000, classes))
    monkeypatch.setattr(Cases, "copied", lambda cases: copied(cases).enlarged().enlarged().enlarged().enlarged())
    ample = learn(features, labels, weights, classes=3, categorical=FOUR, rules=rules)
    assert tree.leaves > 3
    assert np.array_equal(tree.arrays.counts, ample.arrays.counts)
    assert np.array_equal(tree.arrays.feature, ample.arrays.feature)
    assert np.array_equal(tree.arrays.share, ample.arrays.share)


def test_a_weight_is_a_number_of_rows_and_the_order_of_rows_does_not_matter() -> None:
    features, labels, _ = drawn(7, rows=200, unknown=0.0)
    counts = np.random.default_rng(8).integers(0, 4, 200)
    repeated = np.random.default_rng(9).permutation(np.repeat(np.arange(200), counts))
    one = learn(features, labels, counts.astype(float), classes=3, categorical=FOUR)
    other = learn(features[repeated], labels[repeated], np.ones(len(repeated)), classes=3, categorical=FOUR)
    assert one.leaves > 1
    assert np.allclose(one.probabilities(features), other.probabilities(features))


def test_a_case_of_unknown_value_goes_to_every_branch_with_known_cases() -> None:
    """Weights 3 and 1 are known, so a case of weight 8 is divided as 6 and 2. The third branch gets nothing."""
    column = np.array([0, -1, 1], dtype=np.int32)
    cases, shares = Cases(np.arange(6, dtype=np.int32), np.array([3.0, 8.0, 1.0, 0.0, 0.0, 0.0])), np.zeros(3)
    assert division.known_shares(column, cases, 0, 3, -1, shares) == 1
    assert shares.tolist() == [0.75, 0.25, 0.0]
    division.divide(column, cases, 0, 3, -1, shares, np.array([0, 2, 4, 4]), cases.copied(), 0)
    assert cases.rows[:4].tolist() == [0, 1, 1, 2]
    assert cases.weights[:4].tolist() == [3.0, 6.0, 2.0, 1.0]


def test_probabilities_of_fractional_cases_add_up_to_one() -> None:
    features, labels, weights = drawn(3, rows=300, unknown=0.3)
    tree = learn(features, labels, weights, classes=3, categorical=FOUR)
    unseen = np.array([[9.0, 5.0, np.nan, 11.5], [np.nan] * 4])
    assert np.allclose(tree.probabilities(np.concatenate([features, unseen])).sum(axis=1), 1.0)


def test_a_column_with_as_many_categories_as_cases_is_not_tested() -> None:
    draw = np.random.default_rng(1)
    features = np.stack([np.arange(50.0), draw.normal(size=50)], axis=1)
    labels = draw.integers(0, 2, 50)
    tree = learn(
        features, labels, np.ones(50), classes=2, categorical=np.array([True, False]), rules=Rules(pruned=False)
    )
    assert all(node.feature != 0 for node in tree.root.below())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"categorical": [3]}, "column 3 does not exist"),
        ({"minimum_cases": 0}, "Give a positive number"),
        ({"confidence": 0}, "above 0 and at most 1"),
    ],
)
def test_parameters_are_checked(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        C45Classifier(**settings).fit([[1.0], [2.0]], [0, 1])


def test_releases_are_scored_with_categories_apart_and_missing_numbers_unknown() -> None:
    """A taxonomy gives categories, a grid numbers; the code of missing numbers is an unknown value, not the largest."""
    years = Grid.regular(low=Decimal(0), high=Decimal(6), step=Decimal(1), missing="?")
    job = Tree.nested({"Any": {"Clerk": None, "Manager": None, "Farmer": None}})
    domains = {"years": years, "job": job, "ill": Tree.flat(["no", "yes"])}
    attributes = tuple(
        Attribute(name=name, domain=each, outside=Outside.CLAMP, missing="?" if name == "years" else None)
        for name, each in domains.items()
    )
    schema = Schema(attributes=attributes, target="ill")
    assert unordered_features(schema) == (1,)
    assert unknown_numbers(schema) == {0: 6}
    rows = DistinctRows(
        features=np.array([[1, 0], [1, 1], [5, 0], [5, 1], [6, 2]], dtype=np.float32),
        labels=np.array([0, 0, 1, 1, 1]),
        counts=np.array([20, 20, 20, 20, 5]),
        classes=2,
        unordered=(1,),
        unknown={0: 6},
    )
    trained = CLASSIFIERS["c45"](rows)
    tree = trained.estimator.tree
    assert (tree.root.feature, len(tree.root.branches)) == (0, 2)
    found = trained.probabilities(np.array([[6, 0], [1, 0]], dtype=np.float32))
    assert 0.4 < found[0, 1] < 0.7  # divided among both sides
    assert found[1, 1] < 0.1


def test_c45_scores_a_table_if_it_is_named() -> None:
    dataset = datasets.load("adult")
    table = CodedTable.read(open_source(dataset.path), dataset.schema)
    train, test = (table.part(np.arange(*ends)).sample(table.schema) for ends in ((0, 4000), (4000, 8000)))
    scores = score(train, test, table.schema, classifiers=["c45"])
    assert set(scores) == {"c45", "pruning"}
    assert scores["c45"]["accuracy"] > 0.82
    assert "c45" not in USUAL


def test_the_learner_needs_no_scikit_learn() -> None:
    """The estimator does; the learner, the tree and its text do not."""
    code = "import sys; sys.modules['sklearn'] = None; import scumble.mining.c45.growth, scumble.mining.c45.text"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
