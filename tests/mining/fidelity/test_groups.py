"""Distances within subgroups."""

from decimal import Decimal

import numpy as np
import pytest

from scumble.errors import InputError
from scumble.mining.fidelity.groups import MOST_GROUPS, Grouping, Subgroup, group_distances
from scumble.mining.fidelity.margins import BinnedTable
from scumble.model.grid import Grid
from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.taxonomy import Tree

WARDS = Tree.nested({"Any": {"north": {"a": None, "b": None}, "south": {"c": None}}})


def schema_of(wards: Tree) -> Schema:
    return Schema(
        attributes=(
            Attribute(name="ward", domain=wards, outside=Outside.CLAMP),
            Attribute(name="ill", domain=Tree.flat(["no", "yes"]), outside=Outside.CLAMP),
        )
    )


def found(published: Schema, rows: list[tuple[int, int]], true: list[tuple[int, int]]) -> list[Subgroup]:
    public = schema_of(WARDS)
    shown, raw = ({"ward": each[:, 0], "ill": each[:, 1]} for each in (np.array(rows), np.array(true)))
    return group_distances(
        Grouping.by(public["ward"]),
        shown,
        published,
        BinnedTable.of(shown, published, public),
        raw,
        BinnedTable.of(raw, public, public),
        public,
    )


def test_each_group_is_compared_with_its_own_rows() -> None:
    """In a all are well and the release says half; in c the release is right; nobody lives in b."""
    groups = found(schema_of(WARDS), [(0, 0), (0, 1), (2, 1), (2, 1)], [(0, 0), (0, 0), (2, 1)])
    assert [(group.label, group.records) for group in groups] == [("a", 2), ("c", 1)]
    assert [group.one_way for group in groups] == pytest.approx([0.5, 0.0])
    assert [group.share for group in groups] == pytest.approx([2 / 3, 1 / 3])
    assert [group.released_share for group in groups] == pytest.approx([1 / 2, 1 / 2])
    assert [group.two_way for group in groups] == [None, None]


def test_a_generalized_group_counts_for_each_of_its_values() -> None:
    """The release knows north only: half of its rows are in a, half in b."""
    coarse = schema_of(WARDS.truncate([WARDS.node("north"), WARDS.node("south")]))
    groups = found(coarse, [(0, 0), (0, 1), (1, 0)], [(0, 0), (1, 1), (2, 0)])
    assert [group.released_share for group in groups] == pytest.approx([1 / 3] * 3)
    assert [group.one_way for group in groups] == pytest.approx([0.5, 0.5, 0])


def test_numbers_are_grouped_in_intervals_and_missing_ones_apart() -> None:
    ages = Grid.regular(low=Decimal(0), high=Decimal(95), step=Decimal(1), missing="?")
    grouping = Grouping.by(Attribute(name="age", domain=ages, outside=Outside.CLAMP, missing="?"))
    assert grouping.labels[:2] == ("[0,5)", "[5,10)")
    assert grouping.labels[-2:] == ("[90,95)", "?")
    assert np.bincount(grouping.group_of).tolist() == [5] * 19 + [1]


def test_the_largest_groups_are_listed_if_they_are_many() -> None:
    many = Tree.flat([f"w{number}" for number in range(MOST_GROUPS + 5)])
    schema = schema_of(many)
    codes = np.repeat(np.arange(many.size), np.arange(1, many.size + 1))
    rows = {"ward": codes, "ill": np.zeros_like(codes)}
    table = BinnedTable.of(rows, schema, schema)
    groups = group_distances(Grouping.by(schema["ward"]), rows, schema, table, rows, table, schema)
    assert [group.place for group in groups] == list(range(5, many.size))


def test_groups_need_another_attribute() -> None:
    schema = Schema(attributes=schema_of(WARDS).attributes[:1])
    rows = {"ward": np.zeros(1, dtype=np.int64)}
    table = BinnedTable.of(rows, schema, schema)
    with pytest.raises(InputError, match="no attribute beside 'ward'"):
        group_distances(Grouping.by(schema["ward"]), rows, schema, table, rows, table, schema)
