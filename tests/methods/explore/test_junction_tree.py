"""Junction trees: every measured set lies in a clique, and the cliques of an attribute are connected."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scumble.methods.explore.junction_tree import Clique, JunctionTree, junction_tree

SIZES = (2, 3, 2, 4, 2, 3)
CLIQUES = st.lists(
    st.sets(st.integers(0, len(SIZES) - 1), min_size=1, max_size=3).map(lambda places: tuple(sorted(places))),
    max_size=9,
)


@given(measured=CLIQUES)
@settings(max_examples=100)
def test_cliques_cover_what_is_measured_and_form_a_tree(measured: list[Clique]) -> None:
    tree = junction_tree(SIZES, measured)
    for places in (*measured, *((place,) for place in range(len(SIZES)))):
        assert set(places) <= set(tree.cliques[tree.containing(places)])
    assert tree.parents[0] == -1
    assert all(parent < number for number, parent in enumerate(tree.parents))
    for number in range(1, len(tree.cliques)):
        shared = set(tree.cliques[number]) & set(tree.cliques[tree.parents[number]])
        assert set(tree.separators[number]) == shared
        # The running intersection property: what a clique shares with any earlier one, it shares with its parent.
        earlier = {place for clique in tree.cliques[:number] for place in clique}
        assert set(tree.cliques[number]) & earlier == shared
    assert not any(set(one) < set(other) for one in tree.cliques for other in tree.cliques)


@given(measured=CLIQUES, more=st.sets(st.integers(0, len(SIZES) - 1), min_size=2, max_size=3))
@settings(max_examples=100)
def test_cliques_can_be_joined_within_the_stated_size(measured: list[Clique], more: set[int]) -> None:
    """Adding the attributes to all cliques on the ways between them keeps the running intersection property."""
    places = tuple(sorted(more))
    tree = junction_tree(SIZES, measured)
    bound = tree.entries_with(places)
    assert bound >= (tree.largest if tree.containing(places) is not None else tree.entries(places))
    assert bound <= tree.entries(tuple(range(len(SIZES))))


@pytest.mark.parametrize(
    ("measured", "cliques"),
    [
        ([], [(0,), (1,), (2,)]),
        ([(0, 1), (1, 2)], [(0, 1), (1, 2)]),
        ([(0, 1), (1, 2), (0, 2)], [(0, 1, 2)]),
    ],
)
def test_small_trees(measured: list[Clique], cliques: list[Clique]) -> None:
    assert sorted(junction_tree((2, 2, 2), measured).cliques) == cliques


def test_a_cycle_gets_a_chord_that_keeps_cliques_small() -> None:
    tree = junction_tree((2, 50, 2, 50), [(0, 1), (1, 2), (2, 3), (0, 3)])
    assert sorted(tree.cliques) == [(0, 1, 2), (0, 2, 3)]
    assert tree.largest == 200


def test_the_smallest_clique_with_some_attributes_is_found() -> None:
    tree = JunctionTree(sizes=(2, 9, 3), cliques=((0, 1), (0, 2)), parents=(-1, 0), separators=((), (0,)))
    assert tree.containing((0,)) == 1
