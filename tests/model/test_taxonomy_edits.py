"""Edits of taxonomies: laws on random trees, and every refusal."""

from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from scumble.errors import InputError
from scumble.model.taxonomy import Tree
from scumble.model.taxonomy_edits import add_node, group_nodes, move_node, remove_node, rename_node

JOBS = Tree.nested({"Any": {"White": {"Engineer": None, "Lawyer": None}, "Blue": {"Dancer": None}, "Other": None}})


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    """A random tree: every node but the root hangs below an earlier one."""
    nodes: list[dict[str, Any]] = [{}]
    for number in range(draw(st.integers(1, 12))):
        child: dict[str, Any] = {}
        nodes[draw(st.integers(0, len(nodes) - 1))][f"n{number}"] = child
        nodes.append(child)

    def nested(below: dict[str, Any]) -> Any:
        return {label: nested(further) for label, further in below.items()} or None

    return Tree.nested({"root": nested(nodes[0])})


def names(tree: Tree) -> list[str]:
    return [node.label for node in tree.root.walk()]


@given(trees(), st.data())
def test_an_added_node_is_a_leaf_and_nothing_else_changes(tree: Tree, data: st.DataObject) -> None:
    below = data.draw(st.sampled_from(names(tree)))
    added = add_node(tree, "new", below)
    assert "new" in added.labels
    assert sorted(names(added)) == sorted([*names(tree), "new"])
    if tree.node(below).children:
        assert remove_node(added, "new") == tree
    else:
        assert below not in added.labels, "a leaf that gets a child is a group"


@given(trees(), st.data())
def test_a_renamed_node_keeps_its_place(tree: Tree, data: st.DataObject) -> None:
    label = data.draw(st.sampled_from(names(tree)))
    renamed = rename_node(tree, label, "new")
    assert names(renamed) == ["new" if name == label else name for name in names(tree)]
    assert rename_node(renamed, "new", label) == tree


@given(trees(), st.data())
def test_a_moved_branch_arrives_whole(tree: Tree, data: st.DataObject) -> None:
    label = data.draw(st.sampled_from(names(tree)[1:]))
    elsewhere = [name for name in names(tree) if name not in tree.labels_below(label)]
    below = data.draw(st.sampled_from(elsewhere))
    moved = move_node(tree, label, below)
    assert [*moved.labels_below(label)] == [*tree.labels_below(label)]
    assert label in [child.label for child in moved.node(below).children]
    assert sorted(names(moved)) == sorted(names(tree))


@given(trees(), st.data())
def test_grouping_and_removing_the_group_keeps_the_values(tree: Tree, data: st.DataObject) -> None:
    parent = data.draw(st.sampled_from([node for node in tree.root.walk() if node.children]))
    labels = [child.label for child in parent.children]
    chosen = data.draw(st.lists(st.sampled_from(labels), min_size=1, unique=True))
    grouped = group_nodes(tree, chosen, "group")
    assert {child.label for child in grouped.node("group").children} == set(chosen)
    assert sorted(grouped.labels) == sorted(tree.labels)
    assert sorted(remove_node(grouped, "group").labels) == sorted(tree.labels)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda: add_node(JOBS, "Lawyer", "Blue"), "has a node 'Lawyer' already"),
        (lambda: add_node(JOBS, "  ", "Blue"), "needs a name"),
        (lambda: add_node(JOBS, "Poet", "Green"), "no node 'Green'"),
        (lambda: rename_node(JOBS, "Poet", "Singer"), "no node 'Poet'"),
        (lambda: move_node(JOBS, "White", "Lawyer"), "itself or below it"),
        (lambda: move_node(JOBS, "Any", "White"), "itself or below it"),
        (lambda: group_nodes(JOBS, ["Lawyer", "Dancer"], "Both"), "not below the same node"),
        (lambda: group_nodes(JOBS, [], "None"), "at least one value"),
        (lambda: group_nodes(JOBS, ["Any"], "Top"), "is the root"),
        (lambda: remove_node(JOBS, "Dancer"), "only value below its parent"),
        (lambda: remove_node(JOBS, "Any"), "is the root"),
    ],
)
def test_impossible_changes_are_refused(change: Callable[[], Tree], words: str) -> None:
    with pytest.raises(InputError, match=words):
        change()


def test_an_inner_node_is_removed_and_its_children_move_up() -> None:
    assert remove_node(JOBS, "White").to_nested() == {
        "Any": {"Engineer": None, "Lawyer": None, "Blue": {"Dancer": None}, "Other": None}
    }
