"""Public bins: a function of the schema that covers all codes with few bins, and codes drawn within bins."""

from collections import Counter
from decimal import Decimal

import numpy as np
import pytest
from chi_square import chi_square_rejects
from hypothesis import given
from hypothesis import strategies as st
from strategies import attributes

from scumble.comparison.peers import PEERS, bins_of_schema
from scumble.comparison.recipes import RECIPES
from scumble.errors import InputError
from scumble.model.grid import Grid
from scumble.model.guarantee import Unit
from scumble.model.ordered import Ordered
from scumble.model.public_bins import USUAL_BINS, Bins, public_bins
from scumble.model.schema import Attribute, Outside
from scumble.model.taxonomy import Tree
from scumble.privacy.noise import simulation


def of_domain(domain: Tree | Grid, missing: str | None = None) -> Attribute:
    return Attribute(name="a", domain=domain, outside=Outside.CLAMP, missing=missing)


@given(attribute=attributes("a", unit=Unit.ADD_REMOVE), most=st.none() | st.integers(2, 25))
def test_bins_cover_every_code_once_and_are_few(attribute: Attribute, most: int | None) -> None:
    bins, size = public_bins(attribute, most), attribute.domain.size
    assert bins.bounds[0] == 0
    assert bins.bounds[-1] == size
    assert all(low < high for low, high in zip(bins.bounds, bins.bounds[1:], strict=False))
    assert bins.number <= (size if most is None else most)
    if most is None or size <= most:
        assert bins.number == size
    elif size > 2:
        assert bins.number > 1
    codes = np.arange(size)
    found = bins.bins_of(codes)
    assert found.tolist() == [place for place in range(bins.number) for _ in range(*bins.bounds[place : place + 2])]
    assert bins.by_code.tolist() == found.tolist()
    drawn = bins.draw_codes(found, simulation(1))
    assert (bins.bins_of(drawn) == found).all()
    assert public_bins(attribute, most) == bins


def test_a_grid_has_bins_of_equal_width_and_one_for_missing_values() -> None:
    long = Grid.regular(low=Decimal(0), high=Decimal(1000), step=Decimal(1))
    assert public_bins(of_domain(long), 20).bounds == tuple(range(0, 1001, 50))
    uneven = public_bins(of_domain(Grid.regular(low=Decimal(0), high=Decimal(83), step=Decimal(1))), 20)
    assert {high - low for low, high in zip(uneven.bounds, uneven.bounds[1:], strict=False)} == {4, 5}
    gaps = Grid.regular(low=Decimal(0), high=Decimal(38), step=Decimal(1), missing="?")
    assert public_bins(of_domain(gaps, "?"), 20).bounds == (*range(0, 39, 2), 39)
    pain = Ordered.of([f"level {place}" for place in range(40)])
    assert public_bins(of_domain(pain), 20).bounds == tuple(range(0, 41, 2))


def test_a_taxonomy_has_the_deepest_level_that_is_small_enough() -> None:
    tree = Tree.nested(
        {"Any": {"a": {"b": dict.fromkeys("cde"), "f": dict.fromkeys("gh")}, "i": None, "j": dict.fromkeys("klm")}}
    )
    assert tree.size == 9
    assert public_bins(of_domain(tree), 9).number == 9
    assert public_bins(of_domain(tree), 8).bounds == (0, 3, 5, 6, 7, 8, 9), "b, f, and the leaves i, k, l, m"
    assert public_bins(of_domain(tree), 5).bounds == (0, 5, 6, 9), "a, i, j"
    assert public_bins(of_domain(tree), 2).bounds == (0, 4, 9), "only the root is small enough: by codes"


def test_fewer_than_two_bins_are_refused() -> None:
    with pytest.raises(InputError, match="at least two"):
        public_bins(of_domain(Tree.flat(["a", "b"])), 1)


def test_codes_are_drawn_evenly_within_a_bin() -> None:
    drawn = Bins(bounds=(0, 2, 7)).draw_codes(np.ones(20_000, dtype=np.int64), simulation(3))
    assert not chi_square_rejects(Counter(drawn.tolist()), dict.fromkeys(range(2, 7), 0.2))


@pytest.mark.parametrize("name", RECIPES)
def test_every_binned_peer_gets_few_bins_and_all_classes(name: str) -> None:
    schema = RECIPES[name].schema
    full, few = bins_of_schema(schema, PEERS["aim"]), bins_of_schema(schema, PEERS["aim-20"])
    sizes = [attribute.domain.size for attribute in schema.predictors]
    assert [each.number for each in full] == [*sizes, len(schema.classes)]
    assert few[-1] == full[-1]
    for bins, size in zip(few, sizes, strict=False):
        assert min(2, size) <= bins.number <= min(size, USUAL_BINS)
