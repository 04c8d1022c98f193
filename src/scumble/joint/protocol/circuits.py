"""Comparing and adding secret numbers, bit by bit, and words from bits and back.

Bits lie in planes: plane j holds digit j of all numbers, eight numbers to a byte, the lowest digit first. So a product
of planes works on every number at once and costs a bit each. Shares of planes have axes (components, planes, bytes).

A word's components are numbers that parties know, so their digits are shared for little or nothing, and adding them up
in a circuit gives the word's own digits: no masked opening is needed on the way from words to bits.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.joint.protocol.geometric_noise import CoinLaw
from scumble.joint.protocol.sharing import Array, Shares, Sharing


def planes_of(words: Array, width: int) -> Array:
    """The lowest digits of words, as planes."""
    octets = np.ascontiguousarray(words).view(np.uint8).reshape(len(words), -1)
    digits = np.unpackbits(octets, axis=1, bitorder="little", count=width)
    return np.packbits(np.ascontiguousarray(digits.T), axis=1, bitorder="little")


def words_of(planes: Array, size: int) -> npt.NDArray[np.uint64]:
    """The numbers in planes: the inverse of `planes_of`."""
    digits = unpacked(planes, size).astype(np.uint64)
    return (digits << np.arange(len(planes), dtype=np.uint64)[:, np.newaxis]).sum(axis=0, dtype=np.uint64)


def packed(digits: Array) -> Array:
    return np.packbits(digits, axis=-1, bitorder="little")


def unpacked(planes: Array, size: int) -> Array:
    return np.unpackbits(planes, axis=-1, bitorder="little", count=size)


def flipped(sharing: Sharing, bits: Shares) -> Shares:
    return sharing.plus_public(bits, np.full(bits.shape[1:], 0xFF, dtype=np.uint8))


def summands(sharing: Sharing, words: Shares, width: int) -> list[Shares]:
    """Planes of numbers that add up to the words modulo 2^width: one number for each of threshold + 1 parties.

    Every component belongs to the first party that holds it, and that party shares the sum of its own. Where it is one
    component alone its holders have the shares already.
    """
    planes = width, -(-words.shape[1] // 8)
    parts = [sharing.known(words, numbers) for numbers in _belongings(sharing)]
    digits = [None if part is None else planes_of(part, width) for part in parts]
    return _shared_parts(sharing, digits, planes, np.dtype(np.uint8))


def words_from_bit(sharing: Sharing, bits: Shares, size: int, dtype: Any) -> Shares:
    """Bits (a single plane, without its axis) as words that are 0 or 1."""
    parts = [sharing.known(bits, numbers) for numbers in _belongings(sharing)]
    values = [None if part is None else unpacked(part, size).astype(dtype) for part in parts]
    total, *rest = _shared_parts(sharing, values, (size,), dtype)
    for other in rest:
        total = total + other - 2 * sharing.product(total, other)
    return total


def _belongings(sharing: Sharing) -> list[list[int]]:
    """For each of the first threshold + 1 compute parties, which miss no component between them, its components."""
    firsts = [holders[0] for holders in sharing.seats.holders]
    return [[n for n, first in enumerate(firsts) if first == place] for place in range(sharing.seats.threshold + 1)]


def _shared_parts(sharing: Sharing, parts: list[Array | None], shape: tuple[int, ...], dtype: Any) -> list[Shares]:
    belongings = _belongings(sharing)
    dealers = [place for place, numbers in enumerate(belongings) if len(numbers) > 1]
    own = parts[sharing.place] if sharing.place is not None and sharing.place in dealers else None
    dealt = iter(sharing.deal(own, dealers, shape, dtype))
    return [
        next(dealt) if place in dealers else sharing.trivial(numbers[0], parts[place], shape, dtype)
        for place, numbers in enumerate(belongings)
    ]


def two_summands(sharing: Sharing, terms: list[Shares]) -> tuple[Shares, Shares]:
    """Two numbers with the same sum modulo 2^planes, by carry-save adders: three terms become two in a round."""
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


def carried(sharing: Sharing, generate: Shares, propagate: Shares) -> Shares:
    """Whether a carry comes out at the top, by a tree over the planes, here the highest first.

    A pair of planes generates a carry if the upper one does or lets the lower one's pass. Whether the lowest plane of
    all lets one pass is never asked, so `propagate` has a plane less.
    """
    while (planes := generate.shape[1]) > 1:
        paired = planes - planes % 2
        upper, lower = generate[:, 0:paired:2], generate[:, 1:paired:2]
        passing, passing_below = propagate[:, 0:paired:2], propagate[:, 1:paired:2]
        both = sharing.product(
            np.concatenate([passing, passing[:, : passing_below.shape[1]]], axis=1),
            np.concatenate([lower, passing_below], axis=1),
        )
        generate = np.concatenate([upper ^ both[:, : paired // 2], generate[:, paired:]], axis=1)
        propagate = both[:, paired // 2 :]
    return generate[:, 0]


def negative(sharing: Sharing, words: Shares, width: int) -> Shares:
    """The sign of words that lie in [-2^(width-1), 2^(width-1)): the top digit of their residues."""
    first, second = two_summands(sharing, summands(sharing, words, width))
    either = first ^ second
    generate = sharing.product(first[:, :-1], second[:, :-1])
    return either[:, -1] ^ carried(sharing, generate[:, ::-1], either[:, -2:0:-1])


def greater(sharing: Sharing, left: Shares, right: Shares) -> Shares:
    """Whether numbers in planes exceed others."""
    generate = sharing.product(left, flipped(sharing, right))
    same = flipped(sharing, left ^ right)
    return carried(sharing, generate[:, ::-1], same[:, :0:-1])


def added(sharing: Sharing, terms: list[Shares]) -> Shares:
    """The sum modulo 2^planes, all its digits: parallel prefixes (Sklansky 1960) of generated and passed carries."""
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


def larger_words(sharing: Sharing, left: Shares, right: Shares, width: int) -> Shares:
    """The larger of two words each, their difference lying in [-2^(width-1), 2^(width-1))."""
    difference = left - right
    below = words_from_bit(sharing, negative(sharing, difference, width), left.shape[1], left.dtype)
    return left - sharing.product(below, difference)


def noise_digits(sharing: Sharing, law: CoinLaw, size: int) -> Shares:
    """Digits of noise values that nobody knows: for every digit of every value an even word, compared with the digit's
    public threshold."""
    row = -(-size // 8)
    coins = sharing.random_bits((law.coin_bits, law.digits * row))
    bits = np.array([[t >> place & 1 for t in law.thresholds] for place in reversed(range(law.coin_bits))])
    threshold = np.repeat(bits.astype(np.uint8) * 0xFF, row, axis=1)
    below = sharing.plus_public(coins & threshold, threshold)
    same = sharing.plus_public(coins, threshold ^ 0xFF)
    return carried(sharing, below, same[:, :-1]).reshape(len(coins), law.digits, row)


def first_largest(sharing: Sharing, planes: Shares, size: int) -> int:
    """Tell where the largest number is, and of equal ones the first: a tournament of neighbours, of which the winner's
    place alone is opened."""
    width = planes.shape[1]
    place = planes_of(np.arange(size, dtype=np.uint64), max(1, (size - 1).bit_length()))
    places = sharing.plus_public(np.zeros((len(planes), *place.shape), dtype=np.uint8), place)
    entries = np.concatenate([planes, places], axis=1)
    while size > 1:
        digits = unpacked(entries, size)
        paired = size - size % 2
        left, right = packed(digits[:, :, 0:paired:2]), packed(digits[:, :, 1:paired:2])
        wins = greater(sharing, right[:, :width], left[:, :width])
        swap = sharing.product(np.repeat(wins[:, np.newaxis], left.shape[1], axis=1), left ^ right)
        winners = unpacked(left ^ swap, paired // 2)
        entries = packed(np.concatenate([winners, digits[:, :, paired:]], axis=2))
        size -= paired // 2
    return int(words_of(sharing.open(entries[:, width:]), 1)[0])
