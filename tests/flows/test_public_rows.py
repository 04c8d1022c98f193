"""The finest domains that a release makes public, and raw rows coded by them."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from fine_releases import halves, made
from hypothesis import given
from hypothesis import strategies as st

from scumble.flows.public_rows import LARGEST_GRID, code_rows, public_schema, regular_grid
from scumble.model.grid import Grid
from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.taxonomy import Tree
from scumble.model.values import recoding
from scumble.sources import ArrowSource

JOBS = Tree.nested({"Any": {"White": {"Lawyer": None}, "Blue": {"Dancer": None, "Writer": None}}})


@given(
    st.sets(st.integers(-200, 200), min_size=2, max_size=6),
    st.sampled_from([1, 0, -2]),
    st.booleans(),
    st.booleans(),
)
def test_a_regular_grid_has_every_published_edge(places: set[int], exponent: int, missing: bool, joined: bool) -> None:
    edges = tuple(Decimal(place).scaleb(exponent) for place in sorted(places))
    grid = Grid(edges=edges, missing="?" if missing else None, joined=missing and joined)
    regular = regular_grid(grid)
    assert np.isin(grid.edge_floats, regular.edge_floats).all()
    assert regular.step is not None and regular.cells <= LARGEST_GRID
    assert regular.edge_floats[[0, -1]].tolist() == grid.edge_floats[[0, -1]].tolist()
    assert (regular.missing, regular.joined) == (grid.missing, grid.joined)
    covered = np.bincount(recoding(regular, grid), minlength=grid.size)
    cells = np.diff(np.searchsorted(regular.edge_floats, grid.edge_floats))
    assert covered[: grid.cells].tolist() == cells.tolist(), "each value is spread over its own cells only"


def test_steps_are_wider_if_there_would_be_very_many_cells() -> None:
    wide = regular_grid(Grid(edges=tuple(map(Decimal, (0, 10**9, 3 * 10**9)))))
    assert (wide.cells, wide.step) == (3, Decimal(10**9))
    odd = Grid(edges=(Decimal(0), Decimal(10**9 + 7), Decimal(2 * 10**9)))
    assert regular_grid(odd) is odd
    fine = Grid.regular(low=Decimal(0), high=Decimal(4), step=Decimal("0.25"))
    assert regular_grid(fine) is fine


def test_the_finest_domains_are_those_of_the_fine_rows() -> None:
    release = made()
    assert release.fine is not None
    found = public_schema(release)
    assert found.names == release.schema.names
    for attribute in found.attributes:
        assert attribute.domain.size >= release.fine.schema[attribute.name].domain.size
        assert attribute.domain.size > 1
    assert halves().schema.target == found.target


def test_rows_outside_the_domain_are_read_and_left_out() -> None:
    schema = Schema(
        attributes=(
            Attribute(name="age", domain=Grid(edges=tuple(map(Decimal, (0, 10, 20)))), outside=Outside.CLAMP),
            Attribute(name="job", domain=JOBS, outside=Outside.DROP),
        )
    )
    table = pa.table({"age": [5, 15, 99], "job": ["Dancer", "Baker", "Lawyer"]})
    found = code_rows(ArrowSource(table=table), schema)
    assert (found.read, found.rows) == (3, 2)
    assert {name: column.tolist() for name, column in found.columns.items()} == {"age": [0, 1], "job": [1, 0]}
    assert found.columns["age"].dtype == np.uint8, "the smallest type for two cells"


@pytest.mark.parametrize("rows", [0, 1])
def test_a_table_of_few_rows_is_a_table(rows: int) -> None:
    schema = Schema(attributes=(Attribute(name="job", domain=JOBS, outside=Outside.CLAMP),))
    table = pa.table({"job": pa.array(["Writer"][:rows], type=pa.string())})
    assert code_rows(ArrowSource(table=table), schema).rows == rows
