"""Fidelity as plain data: a copy of the raw rows has no error anywhere, another table has what it deserves."""

import json
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from scumble.flows.class_scores import class_scores, sample_of, scores_by_target
from scumble.flows.fidelity import MOST_IN_HEAT_MAP, QUERIES, ComparedTables, binned_rows, details, distances, subgroups
from scumble.flows.public_rows import PublicRows
from scumble.mining.benchmark.sample import Sample
from scumble.model.grid import Grid
from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.taxonomy import Tree

AGES = Grid.regular(low=Decimal(0), high=Decimal(50), step=Decimal(1), missing="?")
SCHEMA = Schema(
    attributes=(
        Attribute(name="age", domain=AGES, outside=Outside.CLAMP, missing="?"),
        Attribute(name="ward", domain=Tree.flat(["a", "b", "c"]), outside=Outside.CLAMP),
        Attribute(name="ill", domain=Tree.flat(["no", "yes"]), outside=Outside.CLAMP),
    ),
    target="ill",
)


def rows(number: int, seed: int, schema: Schema = SCHEMA) -> PublicRows:
    draw = np.random.default_rng(seed)
    age = draw.integers(0, 51, number)
    columns = {"age": age, "ward": draw.integers(0, 2, number), "ill": (age > 25).astype(np.int64)}
    return PublicRows(schema=schema, columns=columns, read=number)


def compared(released: PublicRows, true: PublicRows) -> ComparedTables:
    return ComparedTables(sample=sample_of(released, released.schema), published=released.schema, true=true)


def test_a_copy_of_the_raw_rows_has_no_error() -> None:
    true = rows(400, 1)
    both = compared(true, true)
    found: dict[str, Any] = {**distances(both.released, both.binned, SCHEMA), **details(both, None)}
    assert json.loads(json.dumps(found)) == found, "plain data"
    assert [found[key]["mean"] for key in ("one_way", "two_way", "three_way")] == pytest.approx([0, 0, 0])
    assert found["queries"]["number"] == QUERIES
    assert set(found["queries"]["error"].values()) == {0.0}
    assert found["associations"]["true"] == found["associations"]["released"]
    assert found["associations"]["mean_absolute_difference"] == 0
    for each in found["attributes"]:
        assert each["true"] == pytest.approx(each["released"])
        assert sum(each["true"]) == pytest.approx(1)
        assert len(each["values"]) == len(each["true"])
    age = found["attributes"][0]
    assert (age["values"][0], age["values"][-1], len(age["values"])) == ("[0,2)", "?", 20)
    assert "test_rows" not in found


def test_shuffled_columns_lose_all_links_and_nothing_else() -> None:
    true = rows(4000, 1)
    draw = np.random.default_rng(2)
    shuffled = {name: draw.permutation(column) for name, column in true.columns.items()}
    both = compared(PublicRows(schema=SCHEMA, columns=shuffled, read=4000), true)
    found = {**distances(both.released, both.binned, SCHEMA), **details(both, rows(4000, 3))}
    assert found["one_way"]["mean"] == pytest.approx(0)
    assert found["two_way"]["mean"] == pytest.approx(found["two_way"]["links_lost"], abs=0.05)
    assert found["two_way"]["largest"]["attributes"] == ["age", "ill"]
    true_v, released_v = (np.array(found["associations"][key]) for key in ("true", "released"))
    assert true_v[0, 2] > 0.9 > 0.3 > released_v[0, 2]
    assert found["test_rows"]["three_way"]["mean"] < found["three_way"]["mean"] / 2
    assert found["queries"]["error"]["100"] > 0.05
    worst = found["queries"]["worst"]
    assert abs(worst[0]["true"] - worst[0]["released"]) == pytest.approx(found["queries"]["error"]["100"])


def test_groups_have_their_own_distances_and_accuracies() -> None:
    true, test = rows(300, 1), rows(100, 2)
    scored = class_scores(sample_of(true, SCHEMA), SCHEMA, test, true, ["tree"])
    assert scored.correct["tree"].mean() == scored.scores["tree"]["accuracy"]
    found = subgroups(compared(true, true), "ward", test, scored.correct, {"tree": np.ones(7, dtype=np.bool_)})
    assert [group["label"] for group in found["groups"]] == ["a", "b"]
    assert found["left_out"] == 0
    total = sum(group["test_records"] * group["accuracy"]["tree"] for group in found["groups"])
    assert total == pytest.approx(100 * scored.scores["tree"]["accuracy"])
    assert all("raw_accuracy" not in group for group in found["groups"]), "tested on other rows"
    assert all(group["one_way"] == pytest.approx(0) for group in found["groups"])
    alone = subgroups(compared(true, true), "age", None, {}, {})
    assert all("accuracy" not in group for group in alone["groups"])


def test_without_a_class_there_are_distances_and_targets() -> None:
    schema = Schema(attributes=SCHEMA.attributes)
    true, test = rows(300, 1, schema), rows(100, 2, schema)
    sample = sample_of(true, schema)
    assert isinstance(sample, Sample) and not sample.labels.any()
    both = ComparedTables(sample=sample, published=schema, true=true)
    assert distances(both.released, binned_rows(true), schema)["three_way"]["available"] == 1
    found = scores_by_target(["ill", "age>25"], sample, schema, test, None, ["tree"])
    assert min(found[text]["tree"]["accuracy"] for text in found) > 0.9
    assert found["age>25"]["predicted"] == "age above 25"
    assert found["ill"]["commonest"]["of"] == "test"


def test_the_heat_map_of_a_wide_table_has_the_first_attributes() -> None:
    wide = Schema(
        attributes=tuple(
            Attribute(name=f"a{number}", domain=Tree.flat(["x", "y"]), outside=Outside.CLAMP)
            for number in range(MOST_IN_HEAT_MAP + 3)
        )
    )
    columns = {name: np.array([0, 1]) for name in wide.names}
    true = PublicRows(schema=wide, columns=columns, read=2)
    found = details(compared(true, true), None)["associations"]
    assert (len(found["attributes"]), found["left_out"]) == (MOST_IN_HEAT_MAP, 3)
