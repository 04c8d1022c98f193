"""The index of the largest of many secret numbers, in few rounds.

Numbers are compared in groups, all pairs of a group at once. The winner of a group goes on to the next level with its
index. Comparing all pairs of a group of 2^e takes as many rounds as comparing two numbers; e more rounds find the
winner. So large groups save rounds, and small ones bytes: a group of 16 needs 120 comparisons where a tournament of
pairs needs 15.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations, pairwise

import numpy as np

from scumble.joint.protocol.circuits import (
    bit_planes,
    complement,
    is_greater,
    pack_bits,
    unpack_bits,
    words_from_planes,
)
from scumble.joint.protocol.sharing import Shares, Sharing

COMPARISONS_EACH, FEW_COMPARISONS = 8, 4096
"""A tournament makes at most so many comparisons for each number, or in all if that is more."""


def first_largest(sharing: Sharing, planes: Shares, size: int) -> int:
    """Open the index of the largest number, the first one in case of ties. Numbers are given as planes."""
    width = planes.shape[1]
    place = bit_planes(np.arange(size, dtype=np.uint64), max(1, (size - 1).bit_length()))
    places = sharing.plus_public(np.zeros((len(planes), *place.shape), dtype=np.uint8), place)
    entries = unpack_bits(np.concatenate([planes, places], axis=1), size)
    for exponent in group_exponents(size):
        entries = _winners(sharing, entries, 1 << exponent, width)
    return int(words_from_planes(sharing.open(pack_bits(entries[:, width:])), 1)[0])


@lru_cache(maxsize=256)
def group_exponents(size: int) -> tuple[int, ...]:
    """The groups of each level, as powers of two: as few levels as the number of comparisons allows.

    >>> group_exponents(2), group_exponents(64), group_exponents(190), group_exponents(3_000), group_exponents(1)
    ((1,), (6,), (3, 5), (2, 4, 6), ())
    """
    digits = (size - 1).bit_length()
    if not digits:
        return ()
    allowed = max(COMPARISONS_EACH * size, FEW_COMPARISONS)
    for levels in range(1, digits + 1):
        best = min(_compositions(digits, levels), key=lambda exponents: _comparisons(size, exponents))
        if _comparisons(size, best) <= allowed:
            return best
    return (1,) * digits


def _compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """All ways to write a number as a sum of positive ones, in order."""
    for cuts in combinations(range(1, total), parts - 1):
        ends = (0, *cuts, total)
        yield tuple(high - low for low, high in pairwise(ends))


def _comparisons(size: int, exponents: tuple[int, ...]) -> int:
    made = 0
    for exponent in exponents:
        groups = -(-size >> exponent)
        made += groups * ((1 << exponent) * ((1 << exponent) - 1) // 2)
        size = groups
    return made


def _winners(sharing: Sharing, entries: Shares, each: int, width: int) -> Shares:
    """The first of the largest entries of each group of `each` neighbours.

    `entries` has the axes (components, digits, numbers), one digit to a byte. The first `width` digits are those of the
    number. The last group is filled up with zeros, which come last and so never win.
    """
    missing = -entries.shape[2] % each
    filled = np.pad(entries, ((0, 0), (0, 0), (0, missing)))
    groups = filled.reshape(*filled.shape[:2], filled.shape[2] // each, each)
    one, other = np.array(list(combinations(range(each), 2))).T
    count = groups.shape[2] * len(one)
    values = groups[:, :width]
    left, right = (values[..., side].reshape(len(entries), width, count) for side in (one, other))
    later = is_greater(sharing, pack_bits(right), pack_bits(left))
    earlier = complement(sharing, later)
    shape = len(entries), groups.shape[2], len(one)
    later, earlier = (unpack_bits(each_pair, count).reshape(shape) for each_pair in (later, earlier))
    # beats[..., a, :]: whether number a of the group beats each other one; the earlier one wins a tie.
    beats = np.zeros((*shape[:2], each, each - 1), dtype=np.uint8)
    beats[:, :, one, other - 1] = earlier
    beats[:, :, other, one] = later
    return _selected(sharing, beats, groups)


def _selected(sharing: Sharing, beats: Shares, groups: Shares) -> Shares:
    """The entries of the numbers that beat all others of their group: one product of all of these bits and the digit,
    by a tree in which the digit takes the place of one more bit."""
    components, digits, count, each = groups.shape
    flags = np.moveaxis(beats, 3, 1)
    chosen = groups
    while flags.shape[1]:
        # The digits meet the first flag, and the others meet in pairs: 2^e - 1 flags become 2^(e-1) - 1.
        pairs = flags[:, 1::2], flags[:, 2::2]
        first = np.broadcast_to(flags[:, :1], chosen.shape)
        left = np.concatenate([chosen, pairs[0]], axis=1)
        right = np.concatenate([first, pairs[1]], axis=1)
        size = count * each
        flat = (pack_bits(side.reshape(components, left.shape[1], size)) for side in (left, right))
        products = unpack_bits(sharing.product(*flat), size).reshape(left.shape)
        chosen, flags = products[:, :digits], products[:, digits:]
    return np.bitwise_xor.reduce(chosen, axis=3)
