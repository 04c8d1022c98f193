"""The arithmetic that a joint release needs beyond sums, and how it is done on secret shares.

Values are arrays with one more axis in front, whatever lies on it: a party's components, or the plain numbers of the
simulation (`scumble.joint.simulated`). So sums and differences along the other axes are numpy's, and only what stands
here costs messages.
"""

from math import prod
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from scumble.errors import BudgetError
from scumble.joint.protocol.circuits import (
    added,
    first_largest,
    flipped,
    larger_words,
    noise_digits,
    summands,
    words_of,
)
from scumble.joint.protocol.geometric_noise import CoinLaw
from scumble.joint.protocol.sharing import Shares, Sharing
from scumble.model.counts import Integers

MOST_BITS = 63


class Arithmetic(Protocol):
    """What the joint holder needs. Every width in bits is public, and the values must keep to it."""

    def begin(self, step: int) -> None:
        """A new answer: what it draws depends on its number."""

    def input(self, own: Integers, bits: int) -> Shares:
        """The sum over all owners; it will be worked on modulo a power of two of at least `bits` bits."""

    def plus_public(self, values: Shares, public: npt.NDArray[Any]) -> Shares:
        """Add what everyone knows."""

    def majority(self, groups: Shares, bits: int) -> Shares:
        """The largest along the last axis, of values in [0, 2^bits)."""

    def noisy_argmax(self, scores: Shares, *, law: CoinLaw, bits: int) -> int:
        """Where score plus noise is largest, ties by a fresh even permutation, each sum being in [0, 2^bits)."""

    def noisy_open(self, values: Shares, *, law: CoinLaw, bits: int) -> Integers:
        """Value plus the difference of two noises, each sum being in [-2^(bits-1), 2^(bits-1))."""


class Replicated:
    """On secret shares: nobody knows a value, a score or a noise, and nothing is opened but the answers."""

    def __init__(self, sharing: Sharing) -> None:
        self._sharing = sharing

    def begin(self, step: int) -> None:
        self._sharing.begin(step)

    def input(self, own: Integers, bits: int) -> Shares:
        return self._sharing.input(own.astype(word_type(bits)))

    def plus_public(self, values: Shares, public: npt.NDArray[Any]) -> Shares:
        return self._sharing.plus_public(values, public)

    def majority(self, groups: Shares, bits: int) -> Shares:
        while (classes := groups.shape[-1]) > 1:
            paired = classes - classes % 2
            left, right = groups[..., 0:paired:2], groups[..., 1:paired:2]
            flat = len(left), prod(left.shape[1:])
            larger = larger_words(self._sharing, left.reshape(flat), right.reshape(flat), bits + 1)
            groups = np.concatenate([larger.reshape(left.shape), groups[..., paired:]], axis=-1)
        return groups[..., 0]

    def noisy_argmax(self, scores: Shares, *, law: CoinLaw, bits: int) -> int:
        size = scores.shape[1]
        order = self._sharing.order(size)
        noise = _padded(noise_digits(self._sharing, law, size), bits)
        noisy = added(self._sharing, [*summands(self._sharing, scores[:, order], bits), noise])
        return int(order[first_largest(self._sharing, noisy, size)])

    def noisy_open(self, values: Shares, *, law: CoinLaw, bits: int) -> Integers:
        size = values.shape[1]
        both = noise_digits(self._sharing, law, 2 * 8 * -(-size // 8))
        more, less = (_padded(half, bits) for half in np.split(both, 2, axis=2))
        # -x is one more than x with all digits flipped, so what is opened is one too small.
        terms = [*summands(self._sharing, values, bits), more, flipped(self._sharing, less)]
        opened = words_of(self._sharing.open(added(self._sharing, terms)), size)
        residue = (opened + np.uint64(1)).astype(np.int64) & ((1 << bits) - 1)
        return residue - ((residue >> (bits - 1)) << bits)


def word_type(bits: int) -> type[np.unsignedinteger[Any]]:
    """The shortest words that hold numbers of so many bits."""
    if bits > MOST_BITS:
        raise BudgetError(
            f"Values and their noise take {bits} bits, secret numbers have {MOST_BITS}. Spend more on fewer answers."
        )
    return np.uint32 if bits <= 32 else np.uint64


def _padded(digits: Shares, bits: int) -> Shares:
    return np.pad(digits, ((0, 0), (0, bits - digits.shape[1]), (0, 0)))
