"""Boolean circuits on shared bits: addition, comparison, maximum, and conversion between shared words and shared bits.

Bits are stored in planes: plane j holds binary digit j of all numbers, eight numbers to a byte, lowest digit first. One
product of planes is an AND on all numbers at once and sends one bit per number. Shares of planes have the axes
(components, planes, bytes).

To convert shared words to shared bits, parties share the binary digits of the components they know, and a circuit adds
the components up. This needs no masked opening, hence no statistical security parameter.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.joint.protocol.geometric_noise import GeometricLaw
from scumble.joint.protocol.lockstep import Background, Circuit, run
from scumble.joint.protocol.ring import UnsignedArray
from scumble.joint.protocol.sharing import Shares, Sharing


def bit_planes(words: UnsignedArray, width: int) -> UnsignedArray:
    """The lowest `width` binary digits of words, as planes."""
    octets = np.ascontiguousarray(words).view(np.uint8).reshape(len(words), -1)
    digits = np.unpackbits(octets, axis=1, bitorder="little", count=width)
    return np.packbits(np.ascontiguousarray(digits.T), axis=1, bitorder="little")


def words_from_planes(planes: UnsignedArray, size: int) -> npt.NDArray[np.uint64]:
    """The numbers whose digits are in planes: the inverse of `bit_planes`."""
    digits = unpack_bits(planes, size).astype(np.uint64)
    return (digits << np.arange(len(planes), dtype=np.uint64)[:, np.newaxis]).sum(axis=0, dtype=np.uint64)


def pack_bits(digits: UnsignedArray) -> UnsignedArray:
    return np.packbits(digits, axis=-1, bitorder="little")


def unpack_bits(planes: UnsignedArray, size: int) -> UnsignedArray:
    return np.unpackbits(planes, axis=-1, bitorder="little", count=size)


def complement(sharing: Sharing, bits: Shares) -> Shares:
    return sharing.plus_public(bits, np.full(bits.shape[1:], 0xFF, dtype=np.uint8))


def summands(sharing: Sharing, words: Shares, width: int) -> list[Shares]:
    """Shared planes of threshold + 1 numbers per word, whose sum modulo 2^width is the word.

    Every component is assigned to the first party that holds it, and that party shares the digits of the sum of its
    components. If a party has only one, nothing is sent: all holders of the component know its digits.
    """
    planes = width, -(-words.shape[1] // 8)
    parts = [sharing.known_sum(words, numbers) for numbers in _components_by_first_holder(sharing)]
    digits = [None if part is None else bit_planes(part, width) for part in parts]
    return _shared_parts(sharing, digits, planes, np.dtype(np.uint8))


def words_from_bit(sharing: Sharing, bits: Shares, size: int, dtype: Any) -> Shares:
    """Convert shared bits (a single plane, without the axis of planes) to shared words that are 0 or 1."""
    parts = [sharing.known_sum(bits, numbers) for numbers in _components_by_first_holder(sharing)]
    values = [None if part is None else unpack_bits(part, size).astype(dtype) for part in parts]
    total, *rest = _shared_parts(sharing, values, (size,), dtype)
    for other in rest:
        total = total + other - 2 * sharing.product(total, other)
    return total


def _components_by_first_holder(sharing: Sharing) -> list[list[int]]:
    """The components whose first holder is compute party 0, 1, ..., threshold. Together these parties hold them all."""
    firsts = [holders[0] for holders in sharing.roles.holders]
    return [[n for n, first in enumerate(firsts) if first == index] for index in range(sharing.roles.threshold + 1)]


def _shared_parts(
    sharing: Sharing, parts: list[UnsignedArray | None], shape: tuple[int, ...], dtype: Any
) -> list[Shares]:
    assigned = _components_by_first_holder(sharing)
    dealers = [place for place, numbers in enumerate(assigned) if len(numbers) > 1]
    me = sharing.compute_index
    own = parts[me] if me is not None and me in dealers else None
    dealt = iter(sharing.deal(own, dealers, shape, dtype))
    return [
        next(dealt) if place in dealers else sharing.from_component(numbers[0], parts[place], shape, dtype)
        for place, numbers in enumerate(assigned)
    ]


def two_summands(sharing: Sharing, terms: list[Shares]) -> tuple[Shares, Shares]:
    """Reduce terms to two with the same sum modulo 2^planes, by carry-save adders: three become two in a round."""
    while len(terms) > 2:
        triples = len(terms) // 3
        x, y, z = (np.concatenate(terms[place : 3 * triples : 3], axis=1) for place in range(3))
        carries = x ^ sharing.product(x ^ y, x ^ z)
        kept = np.split(x ^ y ^ z, triples, axis=1)
        carried = [_doubled(each) for each in np.split(carries, triples, axis=1)]
        terms = [*kept, *carried, *terms[3 * triples :]]
    first, second = terms
    return first, second


def _doubled(planes: Shares) -> Shares:
    return np.concatenate([np.zeros_like(planes[:, :1]), planes[:, :-1]], axis=1)


def carry_out(generate: Shares, propagate: Shares) -> Circuit:
    """The carry out of the highest plane, by a binary tree over the planes. Planes are given highest first.

    A pair of planes generates a carry if the upper plane generates one, or if it propagates one that the lower plane
    generates. The carry into the lowest plane is zero, so `propagate` leaves that plane out.
    """
    while (planes := generate.shape[1]) > 1:
        paired = planes - planes % 2
        upper, lower = generate[:, 0:paired:2], generate[:, 1:paired:2]
        passing, passing_below = propagate[:, 0:paired:2], propagate[:, 1:paired:2]
        both = yield (
            np.concatenate([passing, passing[:, : passing_below.shape[1]]], axis=1),
            np.concatenate([lower, passing_below], axis=1),
        )
        generate = np.concatenate([upper ^ both[:, : paired // 2], generate[:, paired:]], axis=1)
        propagate = both[:, paired // 2 :]
    return generate[:, 0]


def is_negative(sharing: Sharing, words: Shares, width: int, beside: Background | None = None) -> Shares:
    """Whether words in [-2^(width-1), 2^(width-1)) are negative: the highest digit of their residues."""
    first, second = two_summands(sharing, summands(sharing, words, width))
    return run(sharing, _highest_digit(first, second), beside)


def _highest_digit(first: Shares, second: Shares) -> Circuit:
    """The highest digit of the sum of two numbers modulo 2^planes."""
    either = first ^ second
    generate = yield first[:, :-1], second[:, :-1]
    carry = yield from carry_out(generate[:, ::-1], either[:, -2:0:-1])
    return either[:, -1] ^ carry


def is_greater(sharing: Sharing, left: Shares, right: Shares) -> Shares:
    """Whether the numbers on the left are greater than those on the right; both are given as planes."""

    def circuit() -> Circuit:
        generate = yield left, complement(sharing, right)
        same = complement(sharing, left ^ right)
        return (yield from carry_out(generate[:, ::-1], same[:, :0:-1]))

    return run(sharing, circuit())


def add_planes(sharing: Sharing, terms: list[Shares]) -> Shares:
    """All digits of the sum modulo 2^planes, by a parallel-prefix adder (Sklansky 1960)."""
    first, second = two_summands(sharing, terms)
    either = first ^ second
    generate = sharing.product(first[:, :-1], second[:, :-1])
    propagate = either[:, :-1].copy()
    planes = np.arange(generate.shape[1])
    span = 1
    while span < len(planes):
        upper = planes[planes // span % 2 == 1]
        below = upper // span * span - 1
        both = sharing.product(
            np.concatenate([propagate[:, upper], propagate[:, upper]], axis=1),
            np.concatenate([generate[:, below], propagate[:, below]], axis=1),
        )
        generate[:, upper] ^= both[:, : len(upper)]
        propagate[:, upper] = both[:, len(upper) :]
        span *= 2
    either[:, 1:] ^= generate
    return either


def maximum_words(
    sharing: Sharing, left: Shares, right: Shares, width: int, beside: Background | None = None
) -> Shares:
    """The maximum of two words, entry by entry. Their difference must lie in [-2^(width-1), 2^(width-1))."""
    difference = left - right
    negative = is_negative(sharing, difference, width, beside)
    below = words_from_bit(sharing, negative, left.shape[1], left.dtype)
    return left - sharing.product(below, difference)


def absolute_words(sharing: Sharing, words: Shares, width: int, beside: Background | None = None) -> Shares:
    """The absolute values of words in [-2^(width-1), 2^(width-1))."""
    negative = is_negative(sharing, words, width, beside)
    below = words_from_bit(sharing, negative, words.shape[1], words.dtype)
    return words - 2 * sharing.product(below, words)


def noise_digits(sharing: Sharing, law: GeometricLaw, size: int) -> Circuit:
    """Shared digits of noise values that no coalition knows.

    For every digit of every value, a word of shared random bits is compared with the digit's public threshold.
    """
    row = -(-size // 8)
    random = sharing.random_bits((law.bits_per_digit, law.digits * row))
    bits = np.array([[t >> place & 1 for t in law.thresholds] for place in reversed(range(law.bits_per_digit))])
    threshold = np.repeat(bits.astype(np.uint8) * 0xFF, row, axis=1)
    below = sharing.plus_public(random & threshold, threshold)
    same = sharing.plus_public(random, threshold ^ 0xFF)
    digits = yield from carry_out(below, same[:, :-1])
    return digits.reshape(len(random), law.digits, row)


def words_from_digits(sharing: Sharing, planes: Shares, size: int, dtype: Any) -> Shares:
    """Convert the shared digits of numbers, given as planes, to shared words."""
    count, row = planes.shape[1:]
    ones = words_from_bit(sharing, planes.reshape(len(planes), count * row), 8 * count * row, dtype)
    digits = ones.reshape(len(planes), count, 8 * row)[:, :, :size]
    return (digits << np.arange(count, dtype=dtype)[:, np.newaxis]).sum(axis=1, dtype=dtype)
