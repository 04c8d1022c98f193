"""Lines of a generalized table: numbering of combinations, also of very many attributes."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from scumble.methods.quasi_identifier import numbered


@given(table=st.integers(1, 4).flatmap(lambda n: arrays(np.int64, (n, 20), elements=st.integers(0, 2**31 - 1))))
@settings(max_examples=60)
def test_combinations_are_numbered_in_the_order_of_their_values(table: np.ndarray) -> None:
    rows = [tuple(column) for column in table.T.tolist()]
    order = sorted(set(rows))
    assert numbered(list(table), len(rows)).tolist() == [order.index(row) for row in rows]


def test_no_overflow_with_many_attributes() -> None:
    columns = [np.array([0, 2**31 - 1, place % 2]) for place in range(30)]
    assert numbered(columns, 3).tolist() == [0, 2, 1]
