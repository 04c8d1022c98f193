"""Ordered categories: split as a grid is, read and published as categories are."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kinds import ordered

from scumble.errors import InputError
from scumble.model.ordered import Ordered
from scumble.model.taxonomy import Tree

PAIN = Ordered.of(["none", "mild", "moderate", "severe"], missing="?")


def test_intervals_have_the_names_of_their_ends() -> None:
    assert PAIN.labels == ("none", "mild", "moderate", "severe", "?")
    assert PAIN.root.label == "none..severe|?"
    spans = [(0, 2), (1, 4), (3, 5), (0, 1), (4, 5), (0, 5)]
    labels = ["none..mild", "mild..severe", "severe|?", "none", "?", "none..severe|?"]
    assert [PAIN.interval(*span).label for span in spans] == labels
    assert [(node.low, node.high) for node in map(PAIN.node, labels)] == spans


@pytest.mark.parametrize("label", ["mild..none", "none..mild|?", "x", "none..", "..none", "?..none", "none..none"])
def test_other_labels_are_refused(label: str) -> None:
    with pytest.raises(InputError, match="no interval"):
        PAIN.node(label)


def test_a_cut_keeps_the_names_readable() -> None:
    cut = PAIN.truncate([PAIN.node("none"), PAIN.node("mild..moderate"), PAIN.node("severe|?")])
    assert cut.labels == ("none", "mild..moderate", "severe|?")
    names = {"none": 0, "mild": 1, "moderate": 1, "severe": 2, "?": 2}
    assert {name: cut.codes[name] for name in names} == names
    assert cut.root.label == PAIN.root.label and cut.finest == PAIN
    assert [node.label for node in cut.split(cut.root, 1)] == ["none", "mild..severe|?"]
    with pytest.raises(InputError, match="join up"):
        PAIN.truncate([PAIN.node("none"), PAIN.node("severe|?")])


def test_they_differ_from_categories_without_order() -> None:
    assert Ordered.of(["a", "b"]) != Tree.flat(["a", "b"])
    assert Ordered.of(["a", "b"]) == Ordered.of(["a", "b"])


@given(st.data())
def test_every_interval_is_found_by_its_label(data: st.DataObject) -> None:
    domain = data.draw(ordered())[0]
    assert isinstance(domain, Ordered)
    spans = list(combinations(range(domain.size + 1), 2))
    nodes = [domain.interval(*span) for span in spans]
    assert len({node.label for node in nodes}) == len(spans)
    assert [(node.low, node.high) for node in (domain.node(node.label) for node in nodes)] == spans
    for node in nodes:
        for position in domain.positions(node):
            left, right = domain.split(node, position)
            assert (left.low, left.high, right.low, right.high) == (node.low, position, position, node.high)
            assert domain.leaves_below(node.label) == domain.labels[node.low : node.high] and not node.children
