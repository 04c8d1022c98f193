"""diffp-c45: one tree and no table. What it learns, how it is pruned, and the folder of such a release."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from command_line import SCHEMA, people, scumble
from planned_runs import run

from scumble import load_classifier, load_release
from scumble.engines.memory import MemoryEngine
from scumble.errors import CheckError, InputError
from scumble.files.kinds.classifier import CLASSIFIER, tree_lines
from scumble.files.schema_file import parse_schema
from scumble.flows.evaluate_classifier import OWN
from scumble.flows.release import verify
from scumble.methods import method_named
from scumble.methods.diffp_c45.branching import EVERY_VALUE, MOST_BRANCHES, Branching, NodeTest, offered_sides
from scumble.methods.diffp_c45.method import MOST_NODES, DiffPC45Method
from scumble.methods.diffp_c45.model import tree_document
from scumble.methods.diffp_c45.pruning import counts_by_node, kept_tests, shares_by_node
from scumble.mining.released_tree import released_probabilities
from scumble.mining.tree_model import TreeModel
from scumble.model.release import ClassifierRelease
from scumble.privacy.noise import PaidNoise

RULE = parse_schema(
    """
scumble: schema/1
target: class
attributes:
  age: {numeric: {low: 0, high: 64, step: 1}}
  job: {taxonomy: {Any: {a: , b: , c: }}}
  noise: {numeric: {low: 0, high: 10, step: 1}}
  class: {classes: [x, y]}
"""
)
METHOD = method_named("diffp-c45")
assert isinstance(METHOD, DiffPC45Method)


def table(rows: int = 6000) -> dict[str, np.ndarray]:
    """The class is y if the age is 40 or more, or the job is b."""
    draw = np.random.default_rng(5)
    age, job, noise = draw.integers(0, 64, rows), draw.integers(0, 3, rows), draw.integers(0, 10, rows)
    return {"age": age, "job": job, "noise": noise, "class": ((age >= 40) | (job == 1)).astype(np.int64)}


def released(columns: dict[str, np.ndarray], **parameters: object) -> ClassifierRelease:
    engine = MemoryEngine([tuple(column.astype(np.uint8) for column in columns.values())], RULE)
    made = run(METHOD, RULE, METHOD.parameters(**parameters), engine, PaidNoise())
    assert isinstance(made, ClassifierRelease)
    return made


@pytest.mark.parametrize("operator", ["max", "gini", "infogain"])
@pytest.mark.parametrize("splits", ["together", "published"])
def test_a_planted_rule_is_learned(operator: str, splits: str) -> None:
    """At epsilon 40 noise is negligible against 6,000 records: both attributes of the rule are found."""
    columns = table()
    made = released(columns, epsilon="40", depth=3, operator=operator, splits=splits)
    predicted = released_probabilities(made.model, columns, RULE).argmax(axis=1)
    assert (predicted == columns["class"]).mean() > 0.93
    assert (columns["class"] == 1).mean() < 0.7


def test_growth_as_published_stops_where_a_node_is_too_small_for_the_attribute_with_the_most_values() -> None:
    """At epsilon 3 and depth 1 a branch needs about 2.7 records: two branches need 5, two hundred need 540."""
    values = ", ".join(f"v{number}: " for number in range(200))
    text = f"scumble: schema/1\ntarget: class\nattributes:\n  zip: {{taxonomy: {{Any: {{{values}}}}}}}\n"
    schema = parse_schema(text + "  age: {numeric: {low: 0, high: 9, step: 1}}\n  class: {classes: [x, y]}\n")

    def divided(stopping: str, rows: int) -> bool:
        age = (np.arange(rows) % 9).astype(np.uint8)
        engine = MemoryEngine([(np.zeros(rows, dtype=np.uint8), age, (age >= 5).astype(np.uint8))], schema)
        parameters = METHOD.parameters(epsilon="3", depth=1, stopping=stopping)
        return "0 of them divided" not in run(METHOD, schema, parameters, engine, PaidNoise()).story[0]

    assert divided("chosen", 200)
    assert not divided("published", 200)
    assert divided("published", 4000)


def test_most_tests_that_noise_chose_are_pruned(monkeypatch: pytest.MonkeyPatch) -> None:
    """No attribute says anything about the class. Ten trees have about 40 leaves, and 220 without pruning."""
    columns = {**table(), "class": np.random.default_rng(6).integers(0, 2, 6000)}
    pruned = sum(released(columns, epsilon="1").leaves for _ in range(10))
    every = "scumble.methods.diffp_c45.method.kept_tests"
    monkeypatch.setattr(every, lambda tree, counts, deviation: {n for n in range(len(tree.boxes)) if tree.branches(n)})
    assert pruned < 0.7 * sum(released(columns, epsilon="1").leaves for _ in range(10))


def test_the_answers_of_a_plan_share_epsilon_evenly() -> None:
    together = METHOD.plan(RULE, METHOD.parameters(epsilon="1", depth=5))
    published = METHOD.plan(RULE, METHOD.parameters(epsilon="1", depth=5, splits="published"))
    assert {spend.epsilon for spend in together.spends} == {Fraction(1, 11)}
    assert {spend.epsilon for spend in published.spends} == {Fraction(1, 21)}  # two numeric attributes
    assert sum(spend.times for spend in published.spends) == 21
    assert "no table" in together.notes[0]
    assert together.cells_at_most == 5 * MOST_NODES


def test_attributes_with_very_many_categories_are_not_tested() -> None:
    values = ", ".join(f"v{number}: " for number in range(MOST_BRANCHES + 1))
    text = f"scumble: schema/1\ntarget: class\nattributes:\n  zip: {{taxonomy: {{Any: {{{values}}}}}}}\n"
    schema = parse_schema(text + "  age: {numeric: {low: 0, high: 9, step: 1}}\n  class: {classes: [x, y]}\n")
    assert offered_sides(schema) == (1,)
    assert "zip" in METHOD.plan(schema, METHOD.parameters(epsilon="1")).notes[1]


def test_counts_are_consistent_and_useless_tests_are_pruned() -> None:
    tree = Branching.whole(RULE).divided({0: NodeTest(side=1, position=EVERY_VALUE)})
    tree = tree.divided({1: NodeTest(side=0, position=40)})
    leaves = np.array([[10, 200], [200, 8], [90, 100], [3, 0]])  # jobs b and c, then ages of job a
    counts = counts_by_node(tree, leaves)
    assert counts[1].tolist() == [93, 100]
    assert counts[0].tolist() == leaves.sum(axis=0).tolist()
    assert kept_tests(tree, counts, deviation=5.0) == {0}
    assert kept_tests(tree, counts, deviation=0.0) == {0, 1}
    shares = shares_by_node(tree, counts, deviation=5.0)
    assert np.allclose(shares.sum(axis=1), 1)
    empty = shares_by_node(tree, np.minimum(counts, 0), deviation=5.0)
    assert np.allclose(empty, 0.5)


def test_the_published_tree_sends_every_value_to_the_leaf_of_the_grown_one() -> None:
    """The format is binary; a test with a branch for every category becomes a chain of tests."""
    tree = Branching.whole(RULE).divided({0: NodeTest(side=1, position=EVERY_VALUE)})
    tree = tree.divided({2: NodeTest(side=0, position=40)})
    shares = np.stack([np.linspace(0.1, 0.9, len(tree.boxes)), 1 - np.linspace(0.1, 0.9, len(tree.boxes))], axis=1)
    document = tree_document(RULE, tree, {0, 2}, shares)
    columns = table(500)
    block = tuple(column.astype(np.uint8) for column in columns.values())
    (_, leaves), *_ = tree.routed(block)
    assert np.allclose(released_probabilities(document, columns, RULE), shares[leaves])
    assert TreeModel.from_json(document).leaves == len(tree.leaves)
    assert any("age >= 40" in line for line in tree_lines(document))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCUMBLE_LEDGER", str(tmp_path / "ledger.db"))
    Path("people.csv").write_text(people(2000))
    Path("test.csv").write_text(people(300, seed=2))
    Path("schema.yaml").write_text(SCHEMA)
    words = ["people.csv", "--schema", "schema.yaml", "--epsilon", "20", "--method", "diffp-c45", "--out", "out"]
    ended = scumble("release", *words)
    assert ended.code == 0, ended.err
    assert "leaves" in ended.out
    return tmp_path / "out"


def test_a_release_of_a_classifier_is_written_read_verified_and_used(folder: Path) -> None:
    made = load_classifier(folder)
    assert made == load_release(folder)
    assert any("model.json is a tree" in check for check in verify(folder))
    assert "no table" in (folder / "report.html").read_text("utf-8")
    assert not (folder / "table.csv").exists()
    predicted = scumble("mine", "predict", str(folder / "model.json"), "--data", "test.csv", "--json").json
    evaluated = scumble("evaluate", str(folder), "--test", "test.csv", "--json").json
    assert evaluated[OWN]["accuracy"] == pytest.approx(predicted["accuracy"])
    assert evaluated[OWN]["accuracy"] >= evaluated["majority"] - 0.05
    printed = scumble("evaluate", str(folder), "--test", "test.csv", "--train", "people.csv", "--classifier", "c45")
    assert "the published classifier" in printed.out
    assert "C4.5 on the raw rows" in printed.out


def test_what_needs_a_table_is_refused_with_a_reason(folder: Path) -> None:
    for words in (["query", "out", "age < 40"], ["evaluate", "out", "--test", "test.csv", "--by", "job"]):
        refused = scumble(*words)
        assert refused.code == 2
        assert "one classifier" in refused.err
    assert "--test" in scumble("evaluate", "out", "--train", "people.csv").err
    with pytest.raises(InputError, match="no table"):
        load_release(folder).table_named(None)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda model: model["features"].pop(), "other features"),
        (lambda model: model["classes"].reverse(), "another class"),
        (lambda model: model["nodes"]["left"].append(0), "different lengths"),
        (lambda model: model["nodes"]["left"].__setitem__(0, 0), "do not form a tree"),
        (lambda model: model["nodes"]["feature"].__setitem__(0, 99), "unknown feature"),
        (lambda model: model["nodes"]["shares"][0].__setitem__(0, 2.0), "not shares of one"),
    ],
)
def test_a_model_that_is_no_tree_over_the_schema_is_refused(folder: Path, change: object, message: str) -> None:
    model = json.loads((folder / "model.json").read_text("utf-8"))
    assert model["nodes"]["feature"][0] >= 0
    change(model)  # type: ignore[operator]
    (folder / "model.json").write_text(json.dumps(model))
    with pytest.raises(InputError, match=message):
        load_classifier(folder)
    with pytest.raises((CheckError, InputError)):
        verify(folder)
    assert CLASSIFIER.name == "classifier"
