"""The fingerprint of a table: the same rows, in any order and from any file, give the same 32 bytes.

Its purpose is to detect a mistake: the same people charged to a second account under another name. It does not protect
against an adversary who knows the key and constructs rows with equal sums, nor against anybody who changes a single
cell, which makes a different table. It is computed from coded rows, so the same file under other intervals or another
order of leaves has another fingerprint. The key is kept apart from the ledger; without it a fingerprint reveals nothing
about the rows.

Algorithm: Zobrist hashing of a multiset. Each code of each column has two random 64-bit numbers (lanes), derived from
the key. The hash of a row is the sum of the numbers of its codes, with each lane mixed by a finalizer; the hash of the
table is the sum over its rows. Sums do not depend on order and count repetitions. Without the mixing, the hash would
be linear in the codes and would depend on the marginals only, not on which values occur in the same row.
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scumble.compiled import compiled
from scumble.model.counts import Block

_CHUNK = 1 << 15  # rows whose lanes (16 bytes each) stay in the second-level cache while all columns are added


def fingerprint(blocks: Iterable[Block], sizes: Sequence[int], key: bytes) -> bytes:
    """The keyed fingerprint of the multiset of rows in `blocks`, whose column j holds codes below `sizes[j]`.

    A table without rows has the empty fingerprint: two empty tables are not the same people under two names.
    """
    return fingerprint_of_sums(row_sums(blocks, sizes=sizes, key=key), sizes=sizes, key=key)


def row_sums(blocks: Iterable[Block], *, sizes: Sequence[int], key: bytes) -> NDArray[np.uint64]:
    """The sums of the mixed lanes over all rows, and the number of rows. They are additive: each place that holds some
    of the rows can compute its own, and the sums of the parts are those of the table."""
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
    """Two pseudo-random numbers for each code of a column, unpredictable without the key."""
    seed = hashlib.blake2b(column.to_bytes(8, "little"), digest_size=32, key=key, person=b"scumble column/1").digest()
    stream = hashlib.shake_256(seed).digest(16 * size)
    return np.frombuffer(stream, dtype="<u8").astype(np.uint64).reshape(size, 2)


def _length(block: Block, sizes: Sequence[int]) -> int:
    """The number of rows of a block, after checking that its columns fit together."""
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
    """Add the numbers of one column's codes to the lanes of its rows; return False, unchanged, for a code out of range.

    The codes are checked first because compiled code does not check indices and would read beyond the array.
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
    """Mix each lane of each row and add it to the total of the table.

    The mixing is the 64-bit finalizer of MurmurHash3: a permutation in which every input bit changes half of the output
    bits on average.
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
