"""The operations of a joint release that need messages, and their implementation on secret shares.

Values are arrays with one extra axis in front. It holds a party's components or, in the simulation
(`scumble.joint.simulated`), the plain numbers. Sums and differences along the other axes are local: callers use numpy.
"""

from math import prod
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from scumble.errors import BudgetError
from scumble.joint.protocol.circuits import (
    absolute_words,
    add_planes,
    maximum_words,
    noise_digits,
    summands,
    words_from_digits,
)
from scumble.joint.protocol.geometric_noise import GeometricLaw
from scumble.joint.protocol.lockstep import Background, run
from scumble.joint.protocol.sharing import Shares, Sharing
from scumble.joint.protocol.tournament import first_largest
from scumble.model.counts import Integers

MOST_BITS = 63


class Arithmetic(Protocol):
    """What the joint holder computes with. Widths in bits are public; the caller guarantees that values fit them."""

    def begin(self, step: int) -> None:
        """Start the computation of answer number `step`; its random bits depend on the number."""

    def agree(self, what: str, fact: bytes) -> None:
        """Confirm that all parties have the same public values; raise `PartiesDiffer` at all of them otherwise."""

    def announce(self, law: GeometricLaw, size: int) -> None:
        """The next `noisy_argmax` of this step will need so many noise values. They may be drawn in the meantime."""

    def input(self, own: Integers, bits: int) -> Shares:
        """Shares of the sum of all owners' values, in words of at least `bits` bits."""

    def plus_public(self, values: Shares, public: npt.NDArray[Any]) -> Shares:
        """Add public values."""

    def majority(self, groups: Shares, bits: int) -> Shares:
        """The maximum along the last axis: the count of the majority class. Values lie in [0, 2^bits)."""

    def absolute(self, values: Shares, bits: int) -> Shares:
        """The absolute values. Values lie in [-2^(bits-1), 2^(bits-1))."""

    def noisy_argmax(self, scores: Shares, *, law: GeometricLaw, bits: int) -> int:
        """Open the index of the largest score + noise and nothing else.

        Ties are broken by a fresh uniform permutation. Every score + noise lies in [0, 2^bits).
        """

    def noisy_open(self, values: Shares, *, law: GeometricLaw, bits: int) -> Integers:
        """Open value + noise - noise', a value with two-sided geometric (discrete Laplace) noise.

        Every sum lies in [-2^(bits-1), 2^(bits-1)).
        """


class ReplicatedArithmetic:
    """The operations on replicated secret shares. Values, scores and noise stay secret; only answers are opened."""

    def __init__(self, sharing: Sharing) -> None:
        self._sharing = sharing
        self._announced: tuple[GeometricLaw, int] | None = None
        self._noise: Background | None = None

    def begin(self, step: int) -> None:
        self._sharing.begin(step)
        self._announced = self._noise = None

    def agree(self, what: str, fact: bytes) -> None:
        self._sharing.agree(what, fact)

    def announce(self, law: GeometricLaw, size: int) -> None:
        self._announced = law, size

    def input(self, own: Integers, bits: int) -> Shares:
        return self._sharing.input(own.astype(word_type(bits)))

    def plus_public(self, values: Shares, public: npt.NDArray[Any]) -> Shares:
        return self._sharing.plus_public(values, public)

    def majority(self, groups: Shares, bits: int) -> Shares:
        while (classes := groups.shape[-1]) > 1:
            paired = classes - classes % 2
            left, right = groups[..., 0:paired:2], groups[..., 1:paired:2]
            flat = len(left), prod(left.shape[1:])
            larger = maximum_words(self._sharing, left.reshape(flat), right.reshape(flat), bits + 1, self._beside())
            groups = np.concatenate([larger.reshape(left.shape), groups[..., paired:]], axis=-1)
        return groups[..., 0]

    def absolute(self, values: Shares, bits: int) -> Shares:
        return absolute_words(self._sharing, values, bits, self._beside())

    def _beside(self) -> Background | None:
        """The announced noise, drawn in the rounds of another circuit. It depends on what the owners have input."""
        if self._noise is None and self._announced is not None:
            self._noise = Background(noise_digits(self._sharing, *self._announced))
        return self._noise

    def noisy_argmax(self, scores: Shares, *, law: GeometricLaw, bits: int) -> int:
        sharing, size = self._sharing, scores.shape[1]
        order = sharing.public_permutation(size)
        drawn = self._noise if self._announced == (law, size) else None
        digits = (drawn or Background(noise_digits(sharing, law, size))).finish(sharing)
        self._announced = self._noise = None
        noisy = add_planes(sharing, [*summands(sharing, scores[:, order], bits), _padded(digits, bits)])
        return int(order[first_largest(sharing, noisy, size)])

    def noisy_open(self, values: Shares, *, law: GeometricLaw, bits: int) -> Integers:
        sharing, size = self._sharing, values.shape[1]
        both = run(sharing, noise_digits(sharing, law, 2 * size))
        noise = words_from_digits(sharing, both, 2 * size, values.dtype)
        opened = sharing.open(values + noise[:, :size] - noise[:, size:])
        residue = opened.astype(np.uint64).astype(np.int64) & ((1 << bits) - 1)
        return residue - ((residue >> (bits - 1)) << bits)


def word_type(bits: int) -> type[np.unsignedinteger[Any]]:
    """The shortest word type for numbers of this many bits."""
    if bits > MOST_BITS:
        raise BudgetError(
            f"Values with their noise need {bits} bits, and shared words hold {MOST_BITS}. Reduce the noise: spend a "
            "larger epsilon on each of fewer answers."
        )
    return np.uint32 if bits <= 32 else np.uint64


def _padded(digits: Shares, bits: int) -> Shares:
    return np.pad(digits, ((0, 0), (0, bits - digits.shape[1]), (0, 0)))
