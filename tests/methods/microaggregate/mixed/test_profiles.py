"""The counts of groups: the neighbour law over all kinds of attributes, and a readable twin."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mixed_tables import EVERY_KIND

from scumble.auditing.laws.cases import under_replace
from scumble.auditing.laws.queries import check_added_record, check_replaced_record, engine_of, exact_answer
from scumble.errors import CheckError
from scumble.methods.microaggregate.mixed.profiles import Profiles
from scumble.methods.microaggregate.mixed.run import by_class
from scumble.methods.microaggregate.mixed.sides import Side
from scumble.methods.microaggregate.partition import Partition
from scumble.methods.microaggregate.queries import Balance, Sizes
from scumble.model.guarantee import Unit
from scumble.privacy.query import RowQuery, Sensitivity

REPLACED = under_replace(replace(EVERY_KIND, rows=9))
SIDES = tuple(Side.of(attribute) for attribute in EVERY_KIND.attributes)
WHOLE = Partition.whole(EVERY_KIND)
PARTITION = by_class(WHOLE, EVERY_KIND).halve({0: (3, 2), 1: (1, 5)}).halve({0: (0, 31), 3: (2, 3)})
RECORDS = st.tuples(*(st.integers(0, side.size - 1) for side in SIDES))
SPLITS = Balance.of(
    PARTITION,
    {
        leaf: (side, SIDES[side].offered(*PARTITION.boxes[leaf][side]))
        for leaf, side in ((0, 0), (1, 2), (2, 4), (3, 1), (4, 3))
    },
)
QUERIES: list[RowQuery] = [
    Profiles(partition=WHOLE, sides=SIDES),
    Profiles(partition=PARTITION, sides=SIDES),
    SPLITS,
    Sizes(partition=PARTITION),
]


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: type(query).__name__)
@given(rows=st.lists(RECORDS, max_size=9), record=RECORDS, other=RECORDS)
@settings(max_examples=60)
def test_no_neighbour_exceeds_the_declared_sensitivity(
    query: RowQuery, rows: list[tuple[int, ...]], record: tuple[int, ...], other: tuple[int, ...]
) -> None:
    check_added_record(query, EVERY_KIND, rows, record)
    check_replaced_record(query, REPLACED, rows, record, other)


class OneTooFew(Profiles):
    """Declares the sensitivity of one attribute less."""

    def sensitivity(self, unit: Unit) -> Sensitivity:
        bound = super().sensitivity(unit).bound
        return Sensitivity(bound=bound - (1 if unit is Unit.ADD_REMOVE else 2))


def test_a_lowered_bound_is_caught() -> None:
    query = OneTooFew(partition=PARTITION, sides=SIDES)
    low, high = tuple(0 for _ in SIDES), tuple(side.size - 1 for side in SIDES)
    with pytest.raises(CheckError, match="declares a sensitivity of 5"):
        check_added_record(query, EVERY_KIND, [], low)
    with pytest.raises(CheckError, match="declares a sensitivity of 10"):
        check_replaced_record(query, REPLACED, [low], low, high)


@given(rows=st.lists(RECORDS, max_size=30))
def test_counts_equal_those_of_a_readable_twin_for_any_blocks(rows: list[tuple[int, ...]]) -> None:
    query = Profiles(partition=PARTITION, sides=SIDES)
    tables = query.tables(exact_answer(query, EVERY_KIND, rows))
    for group, box in enumerate(PARTITION.boxes):
        inside = [row for row in rows if all(low <= code < high for code, (low, high) in zip(row, box, strict=True))]
        for place, (side, table) in enumerate(zip(SIDES, tables, strict=True)):
            ends = [*side.starts[1:], side.size]
            counts = [
                sum(start <= row[place] < end for row in inside) for start, end in zip(side.starts, ends, strict=True)
            ]
            assert table[group].tolist() == counts
    halves = [*engine_of(EVERY_KIND, rows[::2]).blocks(), *engine_of(EVERY_KIND, rows[1::2]).blocks()]
    np.testing.assert_array_equal(query.answer(halves), exact_answer(query, EVERY_KIND, rows))


def test_there_is_a_box_for_each_class() -> None:
    many = replace(EVERY_KIND, target="ward")
    boxes = by_class(Partition.whole(many), many).boxes
    assert [box[3] for box in boxes] == [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]
