"""Groups published as records, and the contents of `groups.json`."""

from decimal import Decimal

import numpy as np

from scumble.flows.plan import plan
from scumble.methods.grouped_records import PublishedGroups, record_release
from scumble.methods.method import Params
from scumble.model.grid import Grid
from scumble.model.guarantee import Unit
from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.taxonomy import Tree

SCHEMA = Schema(
    unit=Unit.ADD_REMOVE,
    target=None,
    attributes=(
        Attribute(
            name="age", domain=Grid.regular(low=Decimal(0), high=Decimal(40), step=Decimal(10)), outside=Outside.CLAMP
        ),
        Attribute(name="ward", domain=Tree.flat(["north", "south"]), outside=Outside.DROP),
    ),
)
ONLY_AGE = Schema(unit=Unit.ADD_REMOVE, rows_at_most=100, target=None, attributes=SCHEMA.attributes[:1])
PLAN = plan(schema=ONLY_AGE, method="microaggregate", epsilon=1)
GROUPS = PublishedGroups(
    method="microaggregate",
    plan=PLAN,
    names=("age", "ward"),
    centres=((12.5, "south"), (31.0, "north"), (5.0, "north")),
    sizes=np.array([2, 1, 0]),
    measured=np.array([3, 1, -4]),
    boxes=(((0, 2), (0, 2)), ((2, 4), (0, 2)), ((0, 1), (0, 2))),
    story=("two groups",),
)


def test_each_centre_is_repeated_as_often_as_its_group_has_records() -> None:
    release = record_release(GROUPS, SCHEMA, Params())
    assert release.columns["age"].tolist() == [12.5, 12.5, 31.0]
    assert release.columns["ward"].tolist() == ["south", "south", "north"]
    assert release.records == 3
    assert (release.method, release.plan, release.story) == ("microaggregate", PLAN, ("two groups",))


def test_the_document_keeps_noisy_sizes_and_regions() -> None:
    (first, second, third) = record_release(GROUPS, SCHEMA, Params()).documents["groups"]["groups"]
    assert first == {
        "centre": {"age": 12.5, "ward": "south"},
        "size": 2,
        "measured": 3,
        "box": {"age": "[0,20)"},
    }
    assert (second["size"], third["size"], third["measured"]) == (1, 0, -4)


def test_groups_of_public_size_have_no_measured_size() -> None:
    plain = PublishedGroups(method="mdav", plan=PLAN, names=("age",), centres=((1.0,), (2.0,)), sizes=np.array([1, 1]))
    document = record_release(plain, ONLY_AGE, Params()).documents["groups"]
    assert document == {"groups": [{"centre": {"age": 1.0}, "size": 1}, {"centre": {"age": 2.0}, "size": 1}]}
    assert plain.numbers.tolist() == [[1.0], [2.0]]
