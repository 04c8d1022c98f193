"""Recognise a table: the same rows, in whatever order and from whatever file, give the same 32 bytes.

What it is for: noticing a mistake, the same people charged to a second account under another name. What it is not: a
defence against an adversary who knows the key, for the sums below are easy to steer with it; nor against anybody who
changes a single cell, for that is another table here. It sees coded rows, so the schema's coding is part of it: the
same file under other intervals or another order of leaves is another table too. The key lives in the ledger, and
without it a fingerprint says nothing about the rows.

How: Zobrist hashing of a multiset. Each code of each column has two random 64-bit numbers, the lanes, drawn from the
key. A row is the sum of its cells' numbers, each lane then scrambled; the table is the sum over its rows. Sums forget
order and count repetitions. Without the scrambling in between the whole would be linear in the cells, and would see
the columns' margins only, not which values stand in one row.
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scumble.compiled import compiled

Block: TypeAlias = Sequence[NDArray[np.unsignedinteger[Any]]]

_CHUNK = 1 << 15  # rows whose lanes (16 bytes each) stay in the second-level cache while the columns pass over them


def fingerprint(blocks: Iterable[Block], sizes: Sequence[int], key: bytes) -> bytes:
    """The keyed fingerprint of the multiset of rows in `blocks`, whose column j holds codes below `sizes[j]`.

    A table without rows has the empty fingerprint: nobody is in it to be recognised, and two empty tables are not the
    same people under two names.
    """
    return fingerprint_of_sums(row_sums(blocks, sizes=sizes, key=key), sizes=sizes, key=key)


def row_sums(blocks: Iterable[Block], *, sizes: Sequence[int], key: bytes) -> NDArray[np.uint64]:
    """The lanes of all rows added up, and how many rows there are. Sums of parts of a table, added, are those of the
    whole: so each place that holds some of the rows can make its own."""
    tables = [_table(key, column, size) for column, size in enumerate(sizes)]
    lanes = np.empty((_CHUNK, 2), dtype=np.uint64)
    total = np.zeros(2, dtype=np.uint64)
    rows = 0
    for block in blocks:
        length = _length(block, sizes)
        for start in range(0, length, _CHUNK):
            chunk = lanes[: min(_CHUNK, length - start)]
            chunk[:] = 0
            for column, (codes, table) in enumerate(zip(block, tables, strict=True)):
                if not _add_column(np.ascontiguousarray(codes[start : start + _CHUNK]), table, chunk):
                    raise ValueError(f"Column {column} holds a code outside its {sizes[column]} codes.")
            _add_rows(chunk, total)
        rows += length
    return np.array([*total, rows], dtype=np.uint64)


def fingerprint_of_sums(sums: NDArray[np.uint64], *, sizes: Sequence[int], key: bytes) -> bytes:
    """The fingerprint of the table whose rows have these sums."""
    if sums[-1] == 0:
        return b""
    numbers = np.array([*sums.tolist(), *sizes], dtype="<u8")
    return hashlib.blake2b(numbers.tobytes(), digest_size=32, key=key, person=b"scumble rows/1").digest()


def _table(key: bytes, column: int, size: int) -> NDArray[np.uint64]:
    """Two random numbers for each code of a column, of which nobody without the key can tell any."""
    seed = hashlib.blake2b(column.to_bytes(8, "little"), digest_size=32, key=key, person=b"scumble column/1").digest()
    stream = hashlib.shake_256(seed).digest(16 * size)
    return np.frombuffer(stream, dtype="<u8").astype(np.uint64).reshape(size, 2)


def _length(block: Block, sizes: Sequence[int]) -> int:
    """The number of rows of a block, once its columns are known to fit together."""
    if len(block) != len(sizes):
        raise ValueError(f"A block has {len(block)} columns where {len(sizes)} were expected.")
    lengths = {len(codes) for codes in block}
    if len(lengths) != 1:
        raise ValueError(f"The columns of a block have different lengths: {sorted(lengths)}.")
    for column, codes in enumerate(block):
        if codes.dtype.kind != "u":
            raise ValueError(f"Column {column} has type {codes.dtype}; codes are unsigned integers.")
    return lengths.pop()


@compiled
def _add_column(codes: Any, table: Any, lanes: Any) -> bool:
    """Add the numbers of one column's codes to the lanes of its rows; False, and nothing done, at a code off the table.

    The codes are looked through first because compiled code does not check an index: it would read foreign memory.
    """
    largest = codes[0]
    for code in codes:
        largest = max(largest, code)
    if largest >= table.shape[0]:
        return False
    for row in range(codes.shape[0]):
        code = codes[row]
        lanes[row, 0] += table[code, 0]
        lanes[row, 1] += table[code, 1]
    return True


@compiled
def _add_rows(lanes: Any, total: Any) -> None:
    """Scramble each lane of each row and add it to the table's.

    The scrambling is MurmurHash3's 64-bit finaliser: a permutation in which every bit of the input moves half of the
    output's.
    """
    for row in range(lanes.shape[0]):
        for side in range(2):
            lane = lanes[row, side]
            lane ^= lane >> np.uint64(33)
            lane *= np.uint64(0xFF51AFD7ED558CCD)
            lane ^= lane >> np.uint64(33)
            lane *= np.uint64(0xC4CEB9FE1A85EC53)
            lane ^= lane >> np.uint64(33)
            total[side] += lane
