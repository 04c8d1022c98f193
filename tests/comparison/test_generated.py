"""The generated tables are repeatable, have the described properties, and their best accuracy is correct."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from scumble.comparison.generated import Recipe
from scumble.comparison.recipes import RECIPES, recipe_named
from scumble.comparison.tables import digest_of_table, table_named
from scumble.comparison.trials import random_split
from scumble.errors import InputError
from scumble.mining.benchmark.scores import majority_accuracy, score
from scumble.model.grid import Grid
from scumble.model.taxonomy import Tree

EVERY = pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES.keys())


@EVERY
def test_a_seed_gives_a_table_and_codes_lie_in_the_schema(recipe: Recipe) -> None:
    first, again, other = (recipe.table(rows=2_000, seed=seed) for seed in (1, 1, 2))
    assert first.rows == 2_000
    for attribute, a, b in zip(first.schema.attributes, first.columns, again.columns, strict=True):
        assert_array_equal(a, b)
        assert int(a.max()) < attribute.domain.size
    assert any((a != b).any() for a, b in zip(first.columns, other.columns, strict=True))
    assert set(np.unique(first.columns[-1])) == set(range(len(first.schema.classes)))


@EVERY
def test_the_class_follows_its_distribution(recipe: Recipe) -> None:
    """The drawn classes have the stated probabilities, and the best accuracy is that of the most probable class."""
    table = recipe.table(rows=60_000, seed=3)
    probabilities = recipe.probabilities([column.astype(np.int64) for column in table.columns[:-1]])
    assert probabilities.sum(axis=1) == pytest.approx(1)
    labels = table.columns[-1].astype(np.int64)
    of_drawn_class = probabilities[np.arange(len(labels)), labels]
    likeliest = probabilities.argmax(axis=1)
    hits = float((likeliest == labels).mean())
    assert hits == pytest.approx(recipe.best_accuracy, abs=0.008)
    # E[probability of the drawn class] = E[sum of squares]: other distributions would fail one of the two checks.
    assert float(of_drawn_class.mean()) == pytest.approx(float((probabilities**2).sum(axis=1).mean()), abs=0.008)


@pytest.mark.parametrize("name", ["five-classes", "rare-class", "xor"])
def test_nothing_beats_the_best_accuracy_and_raw_rows_come_near(name: str) -> None:
    recipe = RECIPES[name]
    table = recipe.table(rows=24_000, seed=5)
    train, test = (table.part(rows).sample(table.schema) for rows in random_split(table.rows, 0))
    reached = score(train, test, table.schema, classifiers=("boosting",))["boosting"]["accuracy"]
    error = np.sqrt(recipe.best_accuracy * (1 - recipe.best_accuracy) / len(test.labels))
    assert reached < recipe.best_accuracy + 4 * error
    assert reached > recipe.best_accuracy - 0.03
    assert reached > majority_accuracy(train, test) + 0.003


def test_tables_have_the_properties_in_their_names() -> None:
    sizes = {name: [a.domain.size for a in recipe.schema.predictors] for name, recipe in RECIPES.items()}
    assert (
        sum(isinstance(a.domain, Tree) and a.domain.size == 144 for a in RECIPES["many-categories"].schema.predictors)
        == 3
    )
    assert len(RECIPES["five-classes"].schema.classes) == 5
    assert len(sizes["fifty-attributes"]) == 50
    assert sizes["long-grids"] == [5_000] * 4
    assert all(isinstance(a.domain, Grid) for a in RECIPES["long-grids"].schema.predictors)
    rare = RECIPES["rare-class"].table(rows=60_000, seed=1).columns[-1]
    assert 0.045 < float((rare == 1).mean()) < 0.055


def test_no_single_attribute_predicts_an_exclusive_or() -> None:
    """The best prediction from any single attribute is right for at most 63 %; from all attributes, for 90 %."""
    table = RECIPES["xor"].table(rows=40_000, seed=1)
    labels = table.columns[-1]
    for column in table.columns[:-1]:
        counts = np.zeros((20, 2))
        np.add.at(counts, (column, labels), 1)
        assert counts.max(axis=1).sum() / len(labels) < 0.63
    assert RECIPES["xor"].best_accuracy == pytest.approx(0.9)


def test_tables_by_name() -> None:
    assert table_named("patients").rows == 30_000
    assert digest_of_table("xor") == digest_of_table("xor") != digest_of_table("patients")
    assert table_named("xor:500").rows == 500
    for name in ("nothing", "nothing@schema.yaml", "xor:many", "patients:500"):
        with pytest.raises(InputError):
            table_named(name)
    with pytest.raises(InputError, match="xor"):
        recipe_named("nothing")
