"""Public bins of every kind of attribute, the distance of categories and its order, and where ranges are split."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mixed_tables import EVERY_KIND

from scumble.files.schema_file import parse_schema
from scumble.methods.microaggregate.mixed.sides import MOST_BINS, Side
from scumble.methods.microaggregate.partition import POSITIONS
from scumble.model.schema import Attribute, Outside
from scumble.model.taxonomy import Nested, Node, Tree

SIDES = {attribute.name: Side.of(attribute) for attribute in EVERY_KIND.attributes}


Shape = list["Shape"]
"""The children of a node; a leaf has none."""
SHAPES: st.SearchStrategy[Shape] = st.recursive(st.just([]), lambda below: st.lists(below, max_size=4), max_leaves=12)


def named(shape: Shape, name: str) -> Nested | None:
    return {f"{name}.{place}": named(below, f"{name}.{place}") for place, below in enumerate(shape)} or None


def side_of(shape: Shape) -> Side:
    tree = Tree.nested({"Any": {"first": named(shape, "first"), "second": None}})
    return Side.of(Attribute(name="a", domain=tree, outside=Outside.CLAMP))


def lowest_node(root: Node, one: int, other: int) -> list[str]:
    """The path to the lowest node that contains both codes: a readable twin."""
    path = [root.label]
    for child in root.children:
        if child.low <= min(one, other) and max(one, other) < child.high:
            path += lowest_node(child, one, other)
    return path


def test_every_kind_of_attribute_has_bins() -> None:
    assert {name: side.bins for name, side in SIDES.items()} == {
        "age": 64,
        "stay": 6,
        "pain": 4,
        "ward": 5,
        "day": 129,
        "class": 2,
    }
    assert [name for name, side in SIDES.items() if side.missing is not None] == ["stay", "pain", "day"]
    assert [name for name, side in SIDES.items() if side.numeric] == ["age", "stay", "day"]
    for side in SIDES.values():
        assert side.starts[0] == 0 and list(side.starts) == sorted(set(side.starts))
        assert side.lengths.sum() == side.size and (side.lengths > 0).all()
        np.testing.assert_array_equal(np.bincount(side.bin_of(np.arange(side.size)), minlength=side.bins), side.lengths)


def test_large_taxonomies_are_cut_to_nodes_or_ranges_of_siblings() -> None:
    regions = {f"r{i}": {f"r{i}t{j}": None for j in range(10)} for i in range(30)}
    nested = Side.of(Attribute(name="town", domain=Tree.nested({"Any": regions}), outside=Outside.CLAMP))
    assert nested.bins <= MOST_BINS and set(range(0, 300, 10)) <= set(nested.starts)
    flat = Side.of(Attribute(name="town", domain=Tree.flat([str(i) for i in range(500)]), outside=Outside.CLAMP))
    assert flat.bins == MOST_BINS and set(flat.lengths) == {3, 4}


@given(shape=SHAPES)
def test_the_distance_is_the_height_of_the_lowest_common_ancestor_and_consistent_with_the_order(
    shape: Shape,
) -> None:
    side = side_of(shape)
    near = side.nearness
    root = side.attribute.domain.root
    for one, other in combinations(range(side.bins), 2):
        assert near[one, other] == near[other, one] == len(lowest_node(root, one, other)) - 1
        assert near[one, other] < near[one, one] == near[0, 0]
    for first, middle, last in combinations(range(side.bins), 3):
        assert near[first, last] <= min(near[first, middle], near[middle, last])
        # an ultrametric: of three distances, the two largest are equal
        distances = sorted((near[first, middle], near[middle, last], near[first, last]))
        assert distances[0] == distances[1]


@given(shape=SHAPES, cuts=st.lists(st.integers(0, 99), max_size=6))
def test_a_split_separates_the_records_that_are_farthest_apart(shape: Shape, cuts: list[int]) -> None:
    side = side_of(shape)
    low, high = 0, side.size
    for cut in cuts:
        edges = side.edges(low, high)
        assert bool(edges) == (high - low > 1), "every leaf can be split off"
        if not edges:
            break
        offered = side.offered(low, high)
        assert len(offered) == POSITIONS and list(offered) == sorted(offered) and set(offered) == set(edges)
        edge = edges[cut % len(edges)]
        across = {int(side.nearness[one, other]) for one in range(low, edge) for other in range(edge, high)}
        inside = {int(side.nearness[one, other]) for one, other in combinations(range(low, high), 2)}
        assert across == {min(inside)}
        low, high = (low, edge) if cut % 2 else (edge, high)


@pytest.mark.parametrize("name", list(SIDES))
def test_ranges_have_words_and_edges_at_ends_of_bins(name: str) -> None:
    side = SIDES[name]
    edges = side.edges(0, side.size)
    assert set(edges) <= set(side.starts) - {0}
    for edge in edges:
        assert side.words(0, edge) and side.words(edge, side.size)
        assert side.within(0, edge).stop == side.within(edge, side.size).start


def test_missing_values_are_apart_from_values_in_order() -> None:
    stay = SIDES["stay"]
    assert stay.edges(0, 6) == (1, 2, 3, 4, 5) and stay.words(5, 6) == ["?"]
    ranked = parse_schema(
        "scumble: schema/1\nattributes:\n  pain: {ordered: [none, unknown, severe], missing: unknown}\n"
    )
    assert Side.of(ranked["pain"]).missing is None, "it has its rank in the order"
