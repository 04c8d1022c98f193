"""The fingerprint of a table: what it must not see (order, blocks, types), and what it must (every cell)."""

import hashlib
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from scumble.model.counts import Block
from scumble.privacy.fingerprint import fingerprint

Rows = Sequence[tuple[int, ...]]
KEY = bytes(range(32))
KINDS: tuple[type[np.unsignedinteger], ...] = (np.uint8, np.uint16, np.uint32)
MASK = 2**64 - 1


def coded(rows: Rows, sizes: Sequence[int], dtype: type[np.unsignedinteger] = np.uint32) -> Block:
    return [np.array([row[column] for row in rows], dtype=dtype) for column in range(len(sizes))]


def digest(rows: Rows, sizes: Sequence[int], key: bytes = KEY) -> bytes:
    return fingerprint([coded(rows, sizes)], sizes, key)


def readable_twin(rows: Rows, sizes: Sequence[int], key: bytes) -> bytes:
    """The definition, one cell at a time, in Python's own integers."""

    def numbers(column: int) -> list[tuple[int, int]]:
        name = column.to_bytes(8, "little")
        seed = hashlib.blake2b(name, digest_size=32, key=key, person=b"scumble column/1").digest()
        stream = hashlib.shake_256(seed).digest(16 * sizes[column])
        words = [int.from_bytes(stream[at : at + 8], "little") for at in range(0, len(stream), 8)]
        return list(zip(words[::2], words[1::2], strict=True))

    def scramble(lane: int) -> int:
        for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
            lane = ((lane ^ lane >> 33) * factor) & MASK
        return lane ^ lane >> 33

    tables = [numbers(column) for column in range(len(sizes))]
    total = [0, 0]
    for row in rows:
        for lane in (0, 1):
            cells = sum(table[code][lane] for table, code in zip(tables, row, strict=True))
            total[lane] = (total[lane] + scramble(cells & MASK)) & MASK
    if not rows:
        return b""
    message = b"".join(number.to_bytes(8, "little") for number in (*total, len(rows), *sizes))
    return hashlib.blake2b(message, digest_size=32, key=key, person=b"scumble rows/1").digest()


@st.composite
def tables(draw: st.DrawFn, *, least: int = 0) -> tuple[Rows, list[int]]:
    sizes = draw(st.lists(st.integers(1, 300), min_size=1, max_size=4))
    row = st.tuples(*(st.integers(0, size - 1) for size in sizes))
    return draw(st.lists(row, min_size=least, max_size=20)), sizes


@settings(deadline=None)
@given(table=tables(), key=st.binary(min_size=32, max_size=32))
def test_the_readable_twin_agrees(table: tuple[Rows, list[int]], key: bytes) -> None:
    rows, sizes = table
    assert digest(rows, sizes, key) == readable_twin(rows, sizes, key)


@settings(deadline=None)
@given(table=tables(), data=st.data())
def test_order_blocks_and_types_do_not_matter(table: tuple[Rows, list[int]], data: st.DataObject) -> None:
    rows, sizes = table
    shuffled = data.draw(st.permutations(rows))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=4)))
    types = data.draw(st.lists(st.sampled_from(KINDS[1:]), min_size=5, max_size=5))
    edges = [0, *cuts, len(rows)]
    blocks = [coded(shuffled[low:high], sizes, kind) for low, high, kind in zip(edges, edges[1:], types, strict=False)]
    assert fingerprint(blocks, sizes, KEY) == digest(rows, sizes)


@settings(deadline=None)
@given(table=tables(least=1), data=st.data())
def test_a_row_more_or_less_matters(table: tuple[Rows, list[int]], data: st.DataObject) -> None:
    rows, sizes = table
    again = data.draw(st.sampled_from(rows))
    fewer = [row for at, row in enumerate(rows) if at != rows.index(again)]
    assert len({digest(rows, sizes), digest([*rows, again], sizes), digest(fewer, sizes)}) == 3


@settings(deadline=None)
@given(table=tables(least=1), data=st.data())
def test_a_changed_cell_matters(table: tuple[Rows, list[int]], data: st.DataObject) -> None:
    rows, sizes = table
    at = data.draw(st.integers(0, len(rows) - 1))
    column = data.draw(st.integers(0, len(sizes) - 1))
    code = data.draw(st.integers(0, sizes[column] - 1))
    assume(code != rows[at][column])
    row = (*rows[at][:column], code, *rows[at][column + 1 :])
    assert digest([*rows[:at], row, *rows[at + 1 :]], sizes) != digest(rows, sizes)


@settings(deadline=None)
@given(
    first=st.tuples(st.integers(0, 8), st.integers(0, 8), st.integers(0, 8)),
    second=st.tuples(st.integers(0, 8), st.integers(0, 8), st.integers(0, 8)),
    others=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8), st.integers(0, 8)), max_size=10),
)
def test_a_swap_that_keeps_every_margin_matters(
    first: tuple[int, int, int], second: tuple[int, int, int], others: Rows
) -> None:
    assume(first[0] != second[0] and first[1:] != second[1:])
    swapped = [(second[0], *first[1:]), (first[0], *second[1:]), *others]
    assert digest(swapped, [9, 9, 9]) != digest([first, second, *others], [9, 9, 9])


def test_one_byte_codes_give_the_same_value_as_wider_ones() -> None:
    rows = [(code, 255 - code) for code in range(256)]
    narrow = fingerprint([coded(rows, [256, 256], np.uint8)], [256, 256], KEY)
    assert narrow == digest(rows, [256, 256])


def test_columns_of_different_types_stand_side_by_side() -> None:
    rows = [(code % 200, 7 * code, 70 * code) for code in range(1000)]
    sizes = [200, 7000, 70000]
    mixed = [np.array([row[column] for row in rows], dtype=kind) for column, kind in enumerate(KINDS)]
    assert fingerprint([mixed], sizes, KEY) == digest(rows, sizes)


def test_a_block_longer_than_the_working_chunk_is_read_to_its_end() -> None:
    rows = [(code % 251, code % 3) for code in range(70_000)]
    assert digest(rows, [251, 3]) == readable_twin(rows, [251, 3], KEY)


def test_views_and_read_only_arrays_are_read_as_they_are() -> None:
    wide = np.arange(40, dtype=np.uint16).reshape(20, 2)
    wide.flags.writeable = False
    rows = [(int(first), int(second)) for first, second in wide]
    assert fingerprint([[wide[:, 0], wide[:, 1]]], [40, 40], KEY) == digest(rows, [40, 40])


def test_another_key_gives_another_fingerprint() -> None:
    rows = [(1, 0), (2, 1)]
    keys = [bytes([number]) * 32 for number in range(50)]
    assert len({digest(rows, [3, 2], key) for key in keys}) == 50


def test_the_coding_is_part_of_it() -> None:
    assert digest([(1, 0)], [3, 2]) != digest([(1, 0)], [4, 2])


def test_columns_are_distinguished() -> None:
    assert digest([(0, 1)], [2, 2]) != digest([(1, 0)], [2, 2])


def test_a_table_without_rows_is_nobodys() -> None:
    assert fingerprint([], [3, 2], KEY) == b""
    assert digest([], [3, 2]) == b""


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ([np.array([0, 3], np.uint8), np.array([0, 1], np.uint8)], "Column 0 holds a code outside its 3 codes"),
        ([np.array([0, 1], np.uint8), np.array([0], np.uint8)], "different lengths"),
        ([np.array([0, 1], np.uint8)], "1 columns where 2"),
        ([np.array([0, 1], np.int64), np.array([0, 1], np.uint8)], "int64; codes are unsigned"),
    ],
)
def test_a_block_that_does_not_fit_is_refused(block: Block, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fingerprint([block], [3, 2], KEY)
