"""The numbers behind published intervals: a law over random domains, and the cases that are easy to get wrong."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kinds import Described, intervals

from scumble.model.generalized import label_of_range
from scumble.model.grid import Grid
from scumble.model.interval_bounds import has_intervals, label_bounds, whole_edges
from scumble.model.schema import Attribute, Outside
from scumble.model.taxonomy import Tree

EDGES = st.lists(st.integers(-50, 50).map(lambda digits: Decimal(digits).scaleb(-1)), unique=True, min_size=2).map(
    sorted
)


def on_grid(grid: Grid) -> Attribute:
    return Attribute(outside=Outside.CLAMP, name="x", domain=grid, missing=grid.missing)


@given(edges=EDGES, missing=st.sampled_from([None, "?", "-999"]), data=st.data())
def test_a_generalized_value_has_the_edges_of_its_first_and_last_cell(
    edges: list[Decimal], missing: str | None, data: st.DataObject
) -> None:
    grid = Grid(edges=tuple(edges), missing=missing)
    low = data.draw(st.integers(0, grid.size - 1))
    high = data.draw(st.integers(low + 1, grid.size))
    found = label_bounds(on_grid(grid), label_of_range(grid, low, high))
    numbers = [place for place in range(low, high) if place < grid.cells]
    assert found == ((edges[numbers[0]], edges[numbers[-1] + 1]) if numbers else None)


@given(described=intervals())
def test_a_nested_interval_has_the_numbers_that_it_contains(described: Described) -> None:
    tree, notation, missing = described
    attribute = Attribute(outside=Outside.CLAMP, name="x", domain=tree, notation=notation, missing=missing)
    assert has_intervals(attribute)
    for code, label in enumerate(tree.labels):
        found = label_bounds(attribute, label)
        if label == missing:
            assert found is None
        else:
            assert found is not None
            assert found == (notation.edges[code], notation.edges[code + 1])  # type: ignore[union-attr]
    assert whole_edges(attribute) == all(edge == edge.to_integral_value() for edge in notation.edges)  # type: ignore[union-attr]


def test_missing_values_joined_to_the_last_interval_leave_its_numbers() -> None:
    grid = Grid(edges=(Decimal(1), Decimal("7.5"), Decimal(61)), missing="?", joined=True)
    assert [label_bounds(on_grid(grid), label) for label in grid.labels] == [
        (Decimal(1), Decimal("7.5")),
        (Decimal("7.5"), Decimal(61)),
    ]
    assert not whole_edges(on_grid(grid))


def test_edges_beyond_whole_doubles_are_not_called_whole() -> None:
    assert whole_edges(on_grid(Grid(edges=(Decimal(0), Decimal(2**53 - 1)))))
    assert not whole_edges(on_grid(Grid(edges=(Decimal(0), Decimal(2**53)))))
    assert np.isfinite(float(2**53))


def test_categories_that_look_like_intervals_are_categories() -> None:
    attribute = Attribute(outside=Outside.CLAMP, name="x", domain=Tree.flat(["[0,5)", "other"]))
    assert not has_intervals(attribute)
    assert label_bounds(attribute, "[0,5)") is None


@pytest.mark.parametrize("label", ["[0,5)", "[0,7)", "7", "[1,61]", ""])
def test_a_text_that_is_no_interval_of_the_grid_is_refused(label: str) -> None:
    from scumble.errors import InputError

    with pytest.raises(InputError, match="not an interval"):
        label_bounds(on_grid(Grid(edges=(Decimal(1), Decimal(61)))), label)
