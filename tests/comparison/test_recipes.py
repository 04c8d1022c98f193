"""Each recipe draws what its summary says: class shares, spikes, missing values, rules, repeated facts."""

from itertools import combinations

import numpy as np
import pytest

from scumble.comparison.generated import Recipe
from scumble.comparison.recipes import RECIPES
from scumble.comparison.recipes_basic import BASIC
from scumble.comparison.recipes_categories import CATEGORIES
from scumble.comparison.recipes_censuses import CENSUSES
from scumble.comparison.recipes_customers import CUSTOMERS
from scumble.comparison.recipes_money import MONEY
from scumble.comparison.recipes_parts import categories, rounded, tied
from scumble.comparison.recipes_people import PEOPLE
from scumble.comparison.recipes_rules import RULES
from scumble.comparison.tables import digest_of_table, table_named
from scumble.comparison.trials import CodedTable, random_split
from scumble.mining.benchmark.scores import majority_accuracy, score
from scumble.model.counts import Integers
from scumble.model.grid import Grid
from scumble.model.schema import Schema
from scumble.model.taxonomy import Node, Tree
from scumble.privacy.noise import simulation

LARGE = 100_000
NOTHING_TO_LEARN = "no-relation"
DIGESTS = {
    "many-categories": "bf56e1aaf4afcd38",
    "five-classes": "85de7be61db522da",
    "rare-class": "23a8d473dff06ab3",
    "xor": "6fe0e8329ee50e51",
    "fifty-attributes": "34844aa914938e1c",
    "long-grids": "1890133164b7c0ee",
}
"""What the first six recipes draw must stay, since published results depend on it."""
ROWS = {"shoppers": 12_000, "credit": 30_000, "campaign": 45_000, "admissions": 12_960, "weak-signals": 6_000}
ROWS |= {"applicants": 1_000, "study": 500, "households": 500_000}
SHARES = {"rare-class": 0.05, "shoppers": 0.14, "credit": 0.22, "campaign": 0.115, "fraud": 0.01, "diagnoses": 0.03}
SHARES |= {"applicants": 0.7, "no-relation": 0.35}


def large(name: str) -> tuple[Schema, dict[str, Integers]]:
    table = RECIPES[name].table(rows=LARGE, seed=7)
    names = [attribute.name for attribute in table.schema.attributes]
    return table.schema, dict(zip(names, (column.astype(np.int64) for column in table.columns), strict=True))


def share(column: Integers, code: int) -> float:
    return float((column == code).mean())


def shared_information(table: CodedTable, name: str) -> float:
    """The mutual information of an attribute, in at most 50 groups of equal frequency, with the class."""
    place = [attribute.name for attribute in table.schema.attributes].index(name)
    column, labels = table.columns[place].astype(np.int64), table.columns[-1].astype(np.int64)
    groups = np.searchsorted(np.unique(np.quantile(column, np.linspace(0, 1, 51))), column)
    counts = np.zeros((groups.max() + 1, labels.max() + 1))
    np.add.at(counts, (groups, labels), 1)
    joint = counts / counts.sum()
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    return float((joint[joint > 0] * np.log(joint[joint > 0] / apart[joint > 0])).sum())


@pytest.mark.parametrize("name", DIGESTS)
def test_the_first_six_recipes_draw_what_they_always_drew(name: str) -> None:
    assert digest_of_table(name) == DIGESTS[name]


def test_half_of_the_recipes_settle_defaults() -> None:
    settling = [recipe for recipe in RECIPES.values() if recipe.settles]
    assert len(RECIPES) == 22
    assert len(settling) == 11


def test_every_recipe_is_registered_under_its_own_name_and_every_module_has_both_halves() -> None:
    modules = (BASIC, CUSTOMERS, MONEY, PEOPLE, CENSUSES, CATEGORIES, RULES)
    assert [recipe.name for module in modules for recipe in module] == list(RECIPES)
    for module in modules:
        assert {recipe.settles for recipe in module} == {True, False}


@pytest.mark.parametrize("name", ROWS)
def test_tables_by_name_have_the_rows_of_the_recipe(name: str) -> None:
    assert RECIPES[name].rows == ROWS[name]
    assert table_named(name).rows == ROWS[name]


@pytest.mark.parametrize("name", SHARES)
def test_shares_of_the_last_class(name: str) -> None:
    _, columns = large(name)
    assert share(columns["outcome"], 1) == pytest.approx(SHARES[name], abs=0.1 * SHARES[name])


@pytest.mark.parametrize("recipe", [r for r in RECIPES.values() if r.name != NOTHING_TO_LEARN], ids=lambda r: r.name)
def test_raw_rows_beat_the_commonest_class(recipe: Recipe) -> None:
    table = recipe.table(rows=min(recipe.rows, 60_000), seed=2011)
    train, test = (table.part(rows).sample(table.schema) for rows in random_split(table.rows, 0))
    reached = score(train, test, table.schema, classifiers=("boosting",))["boosting"]
    assert reached["accuracy"] > majority_accuracy(train, test)
    assert reached["auc"] > 0.7


def test_nothing_to_learn_is_nothing_to_learn() -> None:
    assert RECIPES[NOTHING_TO_LEARN].best_accuracy == pytest.approx(0.65)


def test_the_most_predictive_attribute_of_shoppers_is_nearly_always_zero() -> None:
    schema, columns = large("shoppers")
    assert schema["value"].domain.size == 4_000
    assert share(columns["value"], 0) == pytest.approx(0.9, abs=0.02)
    table = RECIPES["shoppers"].table(rows=LARGE, seed=7)
    information = {each.name: shared_information(table, each.name) for each in schema.predictors}
    assert max(information, key=lambda name: information[name]) == "value"
    positive = columns["value"][columns["value"] > 0]
    assert np.quantile(positive, 0.8) < 400  # one tenth of the grid


def test_money_has_heavy_tails_and_spikes() -> None:
    schema, columns = large("credit")
    assert len(schema.predictors) == 23
    amounts = [name for name in columns if name.startswith(("bill", "paid"))]
    assert len(amounts) == 12
    for name in amounts:
        column = columns[name]
        assert np.quantile(column, 0.99) > 10 * np.median(column)
        assert share(column, 0) > 0.08
    paid = columns["paid3"][columns["paid3"] > 0]
    assert float((paid % 10 == 0).mean()) > 0.4
    _, columns = large("fraud")
    assert float((columns["amount"] % 100 == 0).mean()) > 0.3
    assert np.quantile(columns["amount"], 0.99) > 10 * np.median(columns["amount"])


def test_the_campaign_s_calls_are_skewed_and_most_predictive() -> None:
    table = RECIPES["campaign"].table(rows=LARGE, seed=7)
    schema, columns = large("campaign")
    information = {each.name: shared_information(table, each.name) for each in schema.predictors}
    assert max(information, key=lambda name: information[name]) == "seconds"
    assert np.quantile(columns["seconds"], 0.9) < 0.15 * schema["seconds"].domain.size


MISSING = {
    "campaign": {"days": 0.815},
    "study": {f"value{number}": part for number, part in enumerate((0.05, 0.1, 0.25, 0.1, 0.05, 0.3))},
    "questionnaire": {f"answer{number}": 0.25 for number in (0, 2, 3, 4)} | {"income": 0.4, "age": 0.1},
}


@pytest.mark.parametrize("name", MISSING)
def test_missing_values(name: str) -> None:
    schema, columns = large(name)
    for attribute, part in MISSING[name].items():
        domain = schema[attribute].domain
        assert isinstance(domain, Grid)
        assert share(columns[attribute], int(domain.missing_code or 0)) == pytest.approx(part, abs=0.015)


def test_values_are_missing_more_often_where_they_would_be_high() -> None:
    _, columns = large("questionnaire")
    missing, other = columns["answer0"] == 100, columns["answer1"]
    known = other < 100
    assert other[known & missing].mean() > other[known & ~missing].mean() + 2


def test_admissions_are_every_combination_once_and_a_rule() -> None:
    recipe = RECIPES["admissions"]
    table = recipe.table(seed=1)
    rows = np.stack([column.astype(np.int64) for column in table.columns], axis=1)
    assert len(np.unique(rows[:, :-1], axis=0)) == len(rows) == 12_960
    assert recipe.best_accuracy == 1
    shares = np.bincount(rows[:, -1]) / len(rows)
    assert shares == pytest.approx([1 / 3, 0.008, 0.028, 0.3, 0.33], abs=0.005)
    assert len(np.unique(recipe.table(rows=13_000, seed=1).columns[0])) == 3


def test_three_together_predict_what_two_do_not() -> None:
    _, columns = large("three-together")
    states = {"model": columns["model"] == 2, "site": columns["site"] == 1, "heat": columns["heat"] >= 21}
    labels = columns["outcome"]

    def best(names: tuple[str, ...]) -> float:
        key = sum((states[name].astype(np.int64) << place for place, name in enumerate(names)), np.zeros_like(labels))
        counts = np.zeros((8, 2))
        np.add.at(counts, (key, labels), 1)
        return float(counts.max(axis=1).sum() / len(labels))

    assert best(("model", "site", "heat")) > 0.8
    assert max(best(pair) for pair in combinations(states, 2)) < 0.58


def test_the_census_states_facts_three_times() -> None:
    _, columns = large("census")
    assert np.array_equal(columns["band"], np.minimum(columns["age"] // 15, 6))
    assert np.abs(columns["born"] + columns["age"] - 109.5).max() < 1
    assert np.corrcoef(columns["money"], columns["dollars"])[0, 1] > 0.999
    assert all(len(np.unique(columns["years"][columns["schooling"] == code])) == 1 for code in range(5))
    assert (np.diff([columns["money"][columns["bracket"] == code].max() for code in range(6)]) > 0).all()


def levels_below(node: Node) -> int:
    return max((1 + levels_below(child) for child in node.children), default=0)


def test_taxonomies_are_deep_or_flat() -> None:
    deep, wide = RECIPES["diagnoses"].schema, RECIPES["flat-categories"].schema
    for name, leaves in (("diagnosis", 288), ("drug", 135), ("place", 144)):
        domain = deep[name].domain
        assert isinstance(domain, Tree)
        assert domain.size == leaves
        assert levels_below(domain.root) == 4
    for name, leaves in (("site", 300), ("campaign", 150), ("device", 200)):
        domain = wide[name].domain
        assert isinstance(domain, Tree)
        assert domain.size == leaves
        assert levels_below(domain.root) == 1


def test_ten_classes() -> None:
    _, columns = large("ten-classes")
    shares = np.bincount(columns["outcome"]) / LARGE
    assert len(shares) == 10
    assert 0.05 < shares.min() < shares.max() < 0.15


CORRELATED = ["shoppers", "credit", "campaign", "applicants", "study", "weak-signals", "households"]


@pytest.mark.parametrize("name", CORRELATED)
def test_attributes_depend_on_each_other(name: str) -> None:
    _, columns = large(name)
    table = np.stack([column for key, column in columns.items() if key != "outcome"], axis=1)
    ranks = table.argsort(axis=0).argsort(axis=0)
    correlated = np.abs(np.corrcoef(ranks.T))
    np.fill_diagonal(correlated, 0)
    assert (correlated.max(axis=1) > 0.1).mean() > 0.4


def test_parts() -> None:
    draw = simulation(1)
    factor = draw.normal(size=LARGE)
    drawn = tied(draw, factor, 0.6)
    assert np.corrcoef(factor, drawn)[0, 1] == pytest.approx(0.6, abs=0.01)
    assert drawn.std() == pytest.approx(1, abs=0.01)
    assert np.bincount(categories(drawn, 0.2, 0.5, 0.3)) / LARGE == pytest.approx([0.2, 0.5, 0.3], abs=0.01)
    assert rounded(draw, np.array([17, 20, 9]), 10, 1.0).tolist() == [10, 20, 0]
    assert rounded(draw, np.array([17, 20, 9]), 10, 0.0).tolist() == [17, 20, 9]
