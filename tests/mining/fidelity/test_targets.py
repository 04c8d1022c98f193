"""Any attribute as the class."""

from decimal import Decimal

import numpy as np
import pytest

from scumble.errors import InputError
from scumble.mining.fidelity.targets import commonest_scores, target_of, target_scores
from scumble.model.grid import Grid
from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.taxonomy import Tree

JOBS = Tree.nested({"Any": {"White": {"Engineer": None, "Lawyer": None}, "Blue": {"Dancer": None}}})
AGES = Grid.regular(low=Decimal(0), high=Decimal(100), step=Decimal(1), missing="?")


def schema_of(ages: Grid = AGES, jobs: Tree = JOBS, target: str | None = "ill") -> Schema:
    return Schema(
        attributes=(
            Attribute(name="age", domain=ages, outside=Outside.CLAMP, missing="?"),
            Attribute(name="job", domain=jobs, outside=Outside.CLAMP),
            Attribute(name="ill", domain=Tree.flat(["no", "yes"]), outside=Outside.CLAMP),
        ),
        target=target,
    )


ROWS = {
    "age": np.array([20, 30, 70, 80] * 25),
    "job": np.array([0, 0, 1, 1] * 25),
    "ill": np.array([0, 1, 0, 1] * 25),
}


@pytest.mark.parametrize("target", ["ill", None])
def test_what_the_table_shows_is_learned(target: str | None) -> None:
    """The job follows from the age, and the class from neither; the class of the release does not matter."""
    schema = schema_of(target=target)
    jobs = target_of("job", schema, ROWS)
    scores = target_scores(jobs, ROWS, schema, ROWS, schema, classifiers=["tree", "boosting"])
    assert scores["tree"]["accuracy"] == scores["boosting"]["accuracy"] == 1
    assert scores["tree"]["recall"] == {"Engineer": 1, "Lawyer": 1}
    assert commonest_scores(jobs, ROWS, ROWS)["accuracy"] == 0.5


def test_a_number_is_above_a_threshold_or_not() -> None:
    schema = schema_of()
    old = target_of("age > 70", schema, ROWS)
    assert old.labels == ("at most 70", "above 70", "?")
    assert old.classes[[70, 71, 100]].tolist() == [0, 1, 2]
    assert old.title == "age above 70"
    scores = target_scores(old, ROWS, schema, ROWS, schema, classifiers=["tree"])["tree"]
    assert scores["accuracy"] == 1, "the job and the class together say who is above 70"
    median = target_of("age", schema, ROWS)
    assert median.labels[:2] == ("at most 50", "above 50")


def test_a_coarse_table_gets_no_credit_for_coarse_classes() -> None:
    """It says White for Engineers and Lawyers: guessing between two."""
    schema = schema_of()
    coarse = schema_of(jobs=JOBS.truncate([JOBS.node("White"), JOBS.node("Blue")]))
    shown = {**ROWS, "job": np.zeros(100, dtype=np.int64)}
    scores = target_scores(target_of("job", schema, ROWS), shown, coarse, ROWS, schema, classifiers=["boosting"])
    assert scores["boosting"]["accuracy"] == 0.5


def test_an_interval_around_the_threshold_counts_by_its_parts() -> None:
    """[0, 100) has ten of a hundred ages above 89, and 90 below: nobody is predicted to be above."""
    schema = schema_of()
    whole = schema_of(ages=Grid(edges=(Decimal(0), Decimal(100)), missing="?"))
    shown = {**ROWS, "age": np.zeros(100, dtype=np.int64)}
    counts = np.full(100, 3, dtype=np.int64)
    target = target_of("age>79", schema, ROWS)
    scores = target_scores(target, shown, whole, ROWS, schema, counts=counts, classifiers=["tree"])["tree"]
    assert scores["recall"] == {"at most 79": 1, "above 79": 0}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("agee", "no attribute 'agee'"),
        ("agee>3", "no attribute 'agee'"),
        ("job>3", "has categories, so it has no threshold"),
        ("age>old", "'old' of 'age' is not a number"),
        ("age>200", "on one side of 200"),
    ],
)
def test_what_cannot_be_predicted_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        target_of(text, schema_of(), ROWS)
