"""Columns without a declared type: every cell keeps its own reading."""

from decimal import Decimal

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from scumble.model.raw_value import canonical
from scumble.sources.object_column import ObjectType, object_column, object_values

CELLS = st.one_of(
    *(st.none(), st.booleans(), st.integers(), st.floats(), st.decimals(), st.binary(max_size=3), st.dates()),
    *(st.text(st.characters(), max_size=3), st.lists(st.none(), max_size=1)),
)


@given(values=st.lists(CELLS, max_size=6))
def test_a_cell_is_read_as_its_value(values: list[object]) -> None:
    column = object_column(values)
    assert column.type == ObjectType() and len(column) == len(values)
    assert [canonical(cell) for cell in object_values(column.storage)] == [canonical(value) for value in values]


def test_the_type_travels_with_a_batch() -> None:
    batch = pa.record_batch({"x": object_column([True, "true", Decimal("1.50"), None, []])})
    assert batch.slice(1, 2).column("x").storage.to_pylist() == ["ttrue", "n1.5"]
