"""Trees and grids: contiguous codes, names that can be inverted, exact edges, and cuts that stay readable."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import grids, labels, trees

from scumble.errors import InputError
from scumble.model.domain import Domain
from scumble.model.grid import LARGEST_DOMAIN, Grid
from scumble.model.taxonomy import Node, Tree


def is_cut(tree: Tree, nodes: Sequence[Node]) -> bool:
    """One node on each path from the root to a leaf, listed in the order of codes."""
    in_order = all(left.low < right.low for left, right in pairwise(nodes))
    return in_order and all(
        sum(node.low <= code < node.high for node in nodes) == 1 for code in range(len(tree.labels))
    )


@st.composite
def domain_cuts(draw: st.DrawFn, domain: Domain) -> tuple[Node, ...]:
    nodes = (domain.root,)
    for _ in range(draw(st.integers(0, 6))):
        steps = [(node, position) for node in nodes for position in domain.positions(node)]
        if not steps:
            break
        node, position = draw(st.sampled_from(steps))
        place = nodes.index(node)
        nodes = nodes[:place] + domain.split(node, position) + nodes[place + 1 :]
    return nodes


@given(trees())
def test_the_leaves_below_a_node_have_contiguous_codes(tree: Tree) -> None:
    for node in tree.root.walk():
        assert [leaf.low for leaf in node.leaves()] == list(range(node.low, node.high))
        assert [leaf.label for leaf in node.leaves()] == list(tree.labels[node.low : node.high])
        if node.children:
            bounds = [child.low for child in node.children] + [node.high]
            assert bounds == [node.low, *(child.high for child in node.children)]
            assert all(child.low < child.high for child in node.children)


@given(trees())
def test_labels_and_codes_of_a_tree_are_inverse(tree: Tree) -> None:
    assert tree.size == len(tree.labels) == len(set(tree.labels))
    assert {label: code for code, label in enumerate(tree.labels)} == tree.codes
    for node in tree.root.walk():
        assert tree.node(node.label) is node


@given(trees())
def test_a_tree_comes_back_from_its_mappings(tree: Tree) -> None:
    assert Tree.nested(tree.to_nested()) == tree


def test_trees_are_equal_only_with_the_same_nodes_in_the_same_places() -> None:
    tree = Tree.nested({"Any": {"x": {"a": None, "b": None}, "c": None}})
    others: list[Tree] = [
        Tree.nested({"Any": {"x": {"b": None, "a": None}, "c": None}}),
        Tree.nested({"Any": {"x": {"a": None}, "b": None, "c": None}}),
        Tree.nested({"Any": {"a": None, "b": None, "c": None}}),
        Tree.nested({"Any": {"x": {"a": None, "b": None}, "y": {"c": None}}}),
        Tree.nested({"All": {"x": {"a": None, "b": None}, "c": None}}),
        tree.truncate(tuple(tree.root.leaves())),  # reads the same, but says where it came from
    ]
    assert all(tree != other for other in others)
    assert tree == Tree.nested(tree.to_nested())
    assert hash(tree) == hash(Tree.nested(tree.to_nested()))


@given(st.data())
def test_a_truncated_tree_still_reads_raw_values(data: st.DataObject) -> None:
    tree = data.draw(trees())
    nodes = data.draw(domain_cuts(tree))
    cut = tree.truncate(nodes)
    assert cut.labels == tuple(node.label for node in nodes)
    assert cut.size == len(nodes)
    for code, node in enumerate(nodes):
        assert cut.codes[node.label] == code
        assert all(cut.codes[raw] == code for raw in tree.labels[node.low : node.high])
    assert set(cut.codes) == {*tree.labels, *cut.labels}


@given(st.data())
def test_truncating_twice_is_truncating_once(data: st.DataObject) -> None:
    domain: Domain = data.draw(st.one_of(trees(), grids()))
    once = domain.truncate(data.draw(domain_cuts(domain)))
    coarser = data.draw(domain_cuts(once))
    twice = once.truncate(coarser)
    assert twice.labels == tuple(node.label for node in coarser)
    if isinstance(domain, Tree) and isinstance(twice, Tree):
        assert twice == domain.truncate([domain.node(node.label) for node in coarser])
        assert set(domain.labels) <= set(twice.codes)


@given(st.data())
@settings(max_examples=200)
def test_truncate_takes_cuts_and_nothing_else(data: st.DataObject) -> None:
    tree = data.draw(trees())
    nodes = data.draw(st.lists(st.sampled_from([*tree.root.walk()]), max_size=6))
    if data.draw(st.booleans()):
        nodes.sort(key=lambda node: node.low)
    if is_cut(tree, nodes):
        assert tree.truncate(nodes).labels == tuple(node.label for node in nodes)
    else:
        with pytest.raises(InputError, match="path"):
            tree.truncate(nodes)


@pytest.mark.parametrize("listed", [["A", "a1", "B"], ["A", "A", "B"], ["B", "A"], ["A"], ["a1", "B"], []])
def test_truncate_refuses_what_is_no_cut(listed: list[str]) -> None:
    tree = Tree.nested({"Any": {"A": {"a1": None, "a2": None}, "B": None}})
    with pytest.raises(InputError, match="path"):
        tree.truncate([tree.node(label) for label in listed])


@given(st.lists(labels(), min_size=1, max_size=6))
def test_flat_trees_have_unique_labels_and_a_root_that_is_none_of_them(names: list[str]) -> None:
    if len(set(names)) < len(names):
        with pytest.raises(InputError, match="twice"):
            Tree.flat(names)
    else:
        tree = Tree.flat(names)
        assert tree.labels == tuple(names)
        assert tree.root.label not in names


def test_a_flat_tree_of_many_labels_is_quick() -> None:
    assert Tree.flat([str(number) for number in range(100_000)]).size == 100_000


@pytest.mark.parametrize(
    ("taxonomy", "said"),
    [
        ({}, "one root"),
        ({"a": None, "b": None}, "one root, here: 'a', 'b'"),
        ({"Any": {"x": {"a": None}, "y": {"a": None}}}, "'a' twice"),
        ({"Any": {"x": {"Any": None}}}, "'Any' twice"),
        ({"Any": {"x": {"y": None}, "y": None}}, "'y' twice"),
    ],
)
def test_two_roots_and_repeated_names_are_refused(taxonomy: dict[str, None], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Tree.nested(taxonomy)


def test_an_unknown_node_is_named() -> None:
    with pytest.raises(InputError, match="no node 'zebra'"):
        Tree.flat(["a"]).node("zebra")


@given(st.data())
def test_a_split_covers_its_node_in_order(data: st.DataObject) -> None:
    domain: Domain = data.draw(st.one_of(trees(), grids()))
    for node in data.draw(domain_cuts(domain)):
        assert node.low < node.high
        for position in domain.positions(node):
            children = domain.split(node, position)
            assert [child.low for child in children] + [node.high] == [node.low, *(child.high for child in children)]
            assert all(child.low < child.high for child in children)
    if isinstance(domain, Grid):
        assert len(domain.positions(domain.root)) == domain.size - 1


@given(grids())
def test_edges_are_exact(grid: Grid) -> None:
    low, high = Fraction(grid.edges[0]), Fraction(grid.edges[-1])
    edges = [Fraction(grid.edge(position)) for position in range(grid.cells + 1)]
    assert edges[0] == low
    assert edges[-1] == high
    if grid.step is not None:
        assert edges == [low + position * Fraction(grid.step) for position in range(grid.cells + 1)]
    assert grid.edge_floats.tolist() == [float(edge) for edge in edges]


def test_edges_are_exact_beyond_the_digits_of_usual_decimals() -> None:
    low, step = Decimal("100000000000000000000000000000000000000"), Decimal("0.0000000001")
    grid = Grid(edges=(low, Decimal(str(Fraction(low)) + ".0000000003")), step=step)
    assert [Fraction(grid.edge(position)) - Fraction(low) for position in range(4)] == [
        Fraction(position, 10**10) for position in range(4)
    ]
    assert grid.labels[1] == f"[{low}.0000000001,{low}.0000000002)"


def test_edge_floats_of_a_fine_grid_are_the_nearest_doubles() -> None:
    grid = Grid.regular(low=Decimal("-0.3"), high=Decimal("99.7"), step=Decimal("0.001"))
    assert grid.edge_floats.tolist() == [float(Decimal(number).scaleb(-3)) for number in range(-300, 99_701)]


@given(grids())
def test_labels_of_a_grid_name_their_intervals(grid: Grid) -> None:
    assert grid.size == len(grid.labels) == len(set(grid.labels))
    cells = grid.labels[: grid.cells]
    pairs = [tuple(map(Decimal, label.removeprefix("[").removesuffix(")").split(","))) for label in cells]
    assert pairs == [(grid.edge(code), grid.edge(code + 1)) for code in range(grid.cells)]
    assert all("E" not in label and "-0," not in label and "-0)" not in label for label in cells)
    assert grid.labels[grid.cells :] == (() if grid.missing is None else (grid.missing,))
    assert grid.missing_code == (None if grid.missing is None else grid.cells)


@given(st.data())
def test_a_truncated_grid_has_the_intervals_of_the_cut(data: st.DataObject) -> None:
    grid = data.draw(grids())
    nodes = data.draw(domain_cuts(grid))
    cut = grid.truncate(nodes)
    assert cut.labels == tuple(node.label for node in nodes)
    assert cut.size == len(nodes)
    assert cut.root.label == grid.root.label
    if grid.missing is not None:
        last = nodes[-1]
        assert cut.missing_code == len(nodes) - 1
        assert cut.joined == (last.low < grid.cells)
        assert last.label.endswith(grid.missing)


@pytest.mark.parametrize(
    ("edges", "said"),
    [
        (["1"], "two finite edges"),
        ([], "two finite edges"),
        (["0", "NaN"], "two finite edges"),
        (["0", "Infinity"], "two finite edges"),
        (["0", "2", "1"], "are not in ascending order"),
        (["0", "1", "1.0"], "are not in ascending order"),
        (["0", "1e999999999"], "outside the range of doubles"),
        (["0", "1e-999999999"], "outside the range of doubles"),
    ],
)
def test_edges_that_make_no_grid_are_refused(edges: list[str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Grid(edges=tuple(map(Decimal, edges)))


@pytest.mark.parametrize(
    ("low", "high", "step", "said"),
    [
        ("0", "10", "3", "does not divide"),
        ("0", "1", "0.3", "does not divide"),
        ("0.05", "1", "0.1", "does not divide"),
        ("0", "1", "0", "not a positive number"),
        ("0", "1", "-1", "not a positive number"),
        ("0", "1", "NaN", "not a positive number"),
        ("1", "1", "1", "are not in ascending order"),
        ("2", "1", "1", "are not in ascending order"),
        ("0", str(LARGEST_DOMAIN + 1), "1", "larger step"),
        ("0", "1", "1e-999999999", "outside the range of doubles"),
        ("0", "1e999999999", "1", "outside the range of doubles"),
    ],
)
def test_a_step_that_makes_no_grid_is_refused(low: str, high: str, step: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Grid.regular(low=Decimal(low), high=Decimal(high), step=Decimal(step))


def test_a_label_of_missing_values_cannot_be_taken_for_an_interval() -> None:
    with pytest.raises(InputError, match="looks like an interval"):
        Grid(edges=(Decimal(0), Decimal(1)), missing="[0,1)")
