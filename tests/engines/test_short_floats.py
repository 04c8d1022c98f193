"""Short floats of a declared type: coded by their shortest decimal, as the rule for one value states."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scumble.engines.coding import coder
from scumble.engines.number_columns import read_numbers
from scumble.engines.short_floats import shortest_decimals, stored_as, thresholds
from scumble.model.grid import Grid
from scumble.model.schema import Attribute, Outside
from scumble.model.values import code_of, number_of

KINDS = {16: (pa.float16(), np.float16), 32: (pa.float32(), np.float32)}
EDGES = st.sampled_from([0.7, 0.1, 1e-7, 16777217.0, 0.69999999, 0.699999988079071, 2.5, 1e-40, 65504.5, 1e39, -1e39])


@st.composite
def edges_and_values(draw: st.DrawFn, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Edges, and short floats at and beside the edges."""
    precision = KINDS[width][1]
    doubles = st.floats(-70000, 70000) | EDGES | st.floats(-1, 1)
    midpoints = st.floats(-1, 1, width=width).map(lambda each: float(each) * (1 + 2.0 ** (-12 if width == 16 else -25)))
    edges = np.array(sorted({*draw(st.lists(doubles | midpoints, min_size=2, max_size=5, unique=True))}))
    with np.errstate(over="ignore"):
        near = edges.astype(precision)
        beside = [np.nextafter(near, precision(way)) for way in (-np.inf, np.inf)]
    others = draw(st.lists(st.floats(width=width, allow_nan=False), max_size=3))
    return edges, np.concatenate([near, *beside, np.array(others, precision)])


@pytest.mark.parametrize("width", [16, 32])
@given(data=st.data())
def test_a_value_reaches_a_threshold_exactly_if_its_decimal_reaches_the_edge(width: int, data: st.DataObject) -> None:
    edges, values = data.draw(edges_and_values(width))
    decimals = np.array([number_of(value) for value in values], dtype=np.float64)
    moved = thresholds(edges, KINDS[width][0])
    assert (moved[1:] >= moved[:-1]).all()
    assert ((values.astype(np.float64)[:, None] >= moved) == (decimals[:, None] >= edges)).all()
    assert (shortest_decimals(values.astype(np.float64), KINDS[width][0]) == decimals).all()


@pytest.mark.parametrize("width", [16, 32])
@pytest.mark.parametrize("outside", list(Outside))
@pytest.mark.parametrize("missing", [None, "0.1", "?", "0.699999988079071"])
@given(
    edges=st.lists(st.integers(-30, 30) | st.sampled_from([7, 1, 3]), min_size=2, max_size=6, unique=True),
    data=st.data(),
)
@example(edges=[0, 7, 10], data=None)
def test_columns_are_coded_as_the_rule_for_one_value_codes(
    width: int, outside: Outside, missing: str | None, edges: list[int], data: st.DataObject | None
) -> None:
    kind, precision = KINDS[width]
    domain = Grid(edges=tuple(Decimal(edge) / 10 for edge in sorted(edges)), missing=missing)
    attribute = Attribute(name="x", domain=domain, outside=outside, missing=missing)
    tenths = st.integers(-31, 31).map(lambda each: each / 10)
    drawn = [] if data is None else data.draw(st.lists(tenths | st.floats(width=width), max_size=5))
    values = np.array([*drawn, *np.arange(-31, 32) / 10, np.nan], precision)
    coded = coder(attribute)(pa.array(values, kind))
    kept = np.ones(len(values), np.bool_) if coded.kept is None else coded.kept
    found = [code if keep else None for code, keep in zip(coded.codes.tolist(), kept.tolist(), strict=True)]
    assert found == [code_of(attribute, value) for value in values]


def test_an_edge_between_a_value_and_the_next_short_float() -> None:
    """In single precision 0.70000001 is the same number as 0.7, whose decimal lies below it."""
    grid = Grid(edges=(Decimal(0), Decimal("0.70000001"), Decimal(1)))
    attribute = Attribute(name="x", domain=grid, outside=Outside.CLAMP)
    column = pa.array([0.7], pa.float32())
    assert code_of(attribute, np.float32(0.7)) == 0
    assert coder(attribute)(column).codes.tolist() == [0]


def test_numbers_and_the_label_of_missing_ones() -> None:
    column = pa.array([0.7, 0.1, None, -2.5, float("inf")], pa.float32())
    np.testing.assert_array_equal(read_numbers(column, "0.1"), [0.7, np.nan, np.nan, -2.5, np.inf])
    assert stored_as(0.1, pa.float32()) == float(np.float32(0.1))
    assert np.isnan(stored_as(0.10000000149011612, pa.float32()))
