"""All sources of randomness, each with the purpose it may be used for.

- `PaidNoise`: OpenDP's exact discrete Laplace and Gaussian noise and private selection. The only source that may be
  applied to the counts of a private table.
- `SystemWords` and `KeyedWords`: uniform 62-bit words for perturbing records (`scumble.privacy.perturber`), from the
  operating system or, fixed for each entity, from a keyed pseudo-random function. OpenDP has neither: its draws cost
  microseconds each and cannot be repeated from a secret.
- `secret_key`: random bytes of the operating system, for keys that stay in a ledger or with a person.
- `keyed_bytes`: a pseudo-random stream from a key and a label, for masks and random bits that several owners share
  (`scumble.joint`). Whoever has the key can repeat them, so a resumed run never draws twice.
- `simulation`: a seedable generator for post-processing of answers already paid for, for generated data and for
  experiments. It must never be applied to private rows.

Budgets are exact fractions. `scumble.privacy.measurements` converts them to the floats that OpenDP takes.
"""

import hashlib
import hmac
import math
import secrets
from collections.abc import Callable, Sequence
from enum import StrEnum
from fractions import Fraction
from typing import Protocol, TypeAlias

import numpy as np

from scumble.errors import InputError
from scumble.model.counts import Integers
from scumble.model.local.noise_law import WORD_BITS


class Selection(StrEnum):
    """The mechanism of a private selection: the probability of each candidate, given the scores."""

    PERMUTE_AND_FLIP = "permute-and-flip"
    """McKenna & Sheldon 2020: never worse than the exponential mechanism in the expected score of the choice."""
    EXPONENTIAL = "exponential"
    """McSherry & Talwar 2007, in Gumbel form: probability proportional to exp(score / scale)."""


class Noise(Protocol):
    """The interface of a source of noise."""

    def laplace(self, values: Integers, *, sensitivity: int, epsilon: Fraction) -> Integers:
        """Add discrete Laplace noise that is epsilon-DP for vectors within `sensitivity` of each other in L1."""

    def gaussian(self, values: Integers, *, squared: int, rho: Fraction) -> Integers:
        """Add discrete Gaussian noise that is rho-zCDP for vectors whose squared L2 distance is at most `squared`."""

    def select(
        self, scores: Integers, *, sensitivity: int, monotone: bool, epsilon: Fraction, selection: Selection
    ) -> int:
        """The index of a high score, chosen with epsilon-DP if each score changes by at most `sensitivity`, and all in
        the same direction if `monotone`."""


class PaidNoise:
    """Exact noise by OpenDP, from the operating system's entropy. By design it cannot be seeded."""

    def laplace(self, values: Integers, *, sensitivity: int, epsilon: Fraction) -> Integers:
        # OpenDP takes a tenth of a second to import, which plans and help texts need not wait for.
        from scumble.privacy import measurements

        return np.array(measurements.laplace(sensitivity, epsilon)(values), dtype=np.int64)

    def gaussian(self, values: Integers, *, squared: int, rho: Fraction) -> Integers:
        from scumble.privacy import measurements

        return np.array(measurements.gaussian(squared, rho)(values), dtype=np.int64)

    def select(
        self, scores: Integers, *, sensitivity: int, monotone: bool, epsilon: Fraction, selection: Selection
    ) -> int:
        from scumble.privacy import measurements

        return int(measurements.selection(sensitivity, monotone, epsilon, selection)(scores))


def laplace_scale(*, sensitivity: int, epsilon: Fraction) -> Fraction:
    """The scale of discrete Laplace noise before it is rounded up to a float."""
    return sensitivity / epsilon


def selection_scale(*, sensitivity: int, monotone: bool, epsilon: Fraction) -> Fraction:
    """The scale of a selection: scores one scale apart differ by a factor e in the exponential mechanism's odds."""
    return (1 if monotone else 2) * sensitivity / epsilon


def laplace_variance(*, sensitivity: int, epsilon: Fraction) -> float:
    """The variance of discrete Laplace noise: 2a / (1 - a)^2 with a = exp(-epsilon / sensitivity)."""
    rate = float(epsilon / sensitivity)
    return 2 * math.exp(-rate) / math.expm1(-rate) ** 2


def gaussian_square(*, squared: int, rho: Fraction) -> Fraction:
    """The squared scale of discrete Gaussian noise, before the scale is rounded up to a float."""
    return squared / (2 * rho)


def gaussian_variance(*, squared: int, rho: Fraction) -> float:
    """The variance of discrete Gaussian noise: the squared scale where that is large, less where it is small."""
    square = float(gaussian_square(squared=squared, rho=rho))
    if square > 100:
        # By Poisson summation the two differ by a factor 1 - O(square exp(-2 pi^2 square)).
        return square
    weights = [math.exp(-(value**2) / (2 * square)) for value in range(1, 400)]
    return 2 * sum(value**2 * weight for value, weight in enumerate(weights, start=1)) / (1 + 2 * sum(weights))


SHORTEST_SECRET = 16


class Words(Protocol):
    """A source of integers, uniform on [0, 2^62), one for each value to be perturbed."""

    def draw(
        self, context: bytes, entities: Sequence[str], codes: Integers, occurrences: Integers | None = None
    ) -> Integers: ...


class SystemWords:
    """Fresh words from the operating system at every call."""

    def draw(
        self, context: bytes, entities: Sequence[str], codes: Integers, occurrences: Integers | None = None
    ) -> Integers:
        del context, entities, occurrences
        drawn = np.frombuffer(secrets.token_bytes(8 * len(codes)), dtype="<u8")
        return (drawn >> np.uint64(64 - WORD_BITS)).astype(np.int64)


class Keying(StrEnum):
    """The keyed function of memoized words. The release states it; only a table of the same keying can be repeated."""

    BLAKE2B = "blake2b/1"
    """Of older tables, and only to repeat their noise: the context leaves out part of the law."""
    HMAC_SHA256 = "hmac-sha256/2"

    @classmethod
    def named(cls, name: str) -> "Keying":
        if name not in set(cls):
            raise InputError(f"Unknown keyed function {name!r}. Available: {', '.join(cls)}.")
        return cls(name)


FRESH = 0
"""The occurrence number of a row without an id. Its words come from the operating system."""


class RowNumbers:
    """Numbers the rows of each entity of one table 1, 2, 3, ... in their order, over all blocks of the table.

    A row with a blank id gets the number `FRESH`. The numbers depend on the ids of the published rows and on their
    order, never on a perturbed value. Memory grows with the number of different ids.
    """

    def __init__(self) -> None:
        self._rows: dict[str, int] = {}

    def number(self, entities: Sequence[str]) -> Integers:
        numbers = np.full(len(entities), FRESH, dtype=np.int64)
        for place, entity in enumerate(entities):
            if entity.strip():
                numbers[place] = self._rows[entity] = self._rows.get(entity, 0) + 1
        return numbers


class KeyedWords:
    """Memoized words: HMAC-SHA-256 as a pseudo-random function of context, entity, occurrence and value.

    The value is an input, because noise shared by two values would reveal their difference. The occurrence is one,
    because two rows with the same word would reveal whether their values are equal. The context describes the whole
    channel, because one word under two laws would reveal the value. Proof and encoding: `privacy/PROOF.md`.
    """

    def __init__(self, secret: bytes, keyed: str = Keying.HMAC_SHA256) -> None:
        if len(secret) < SHORTEST_SECRET:
            raise InputError(
                f"The secret has {len(secret)} bytes, but whoever guesses it can remove the noise. Use at least "
                f"{SHORTEST_SECRET} random bytes."
            )
        self.keying = Keying.named(keyed)
        if self.keying is Keying.BLAKE2B:
            self._key = hashlib.blake2b(secret, person=b"scumble perturb").digest()
        else:
            self._key = hmac.digest(secret, b"scumble perturb/2", "sha256")

    def draw(
        self, context: bytes, entities: Sequence[str], codes: Integers, occurrences: Integers | None = None
    ) -> Integers:
        """One word for each row. `occurrences` continues the numbering of `RowNumbers` from earlier blocks."""
        numbers = RowNumbers().number(entities) if occurrences is None else occurrences
        digest = self._digest(context)
        rows = zip(entities, numbers.tolist(), codes.tolist(), strict=True)
        digests = b"".join([digest(entity, number, code) for entity, number, code in rows])
        fresh = numbers != 1 if self.keying is Keying.BLAKE2B else numbers == FRESH
        words = (np.frombuffer(digests, dtype=">u8") >> np.uint64(64 - WORD_BITS)).astype(np.int64)
        if fresh.any():
            words[fresh] = SystemWords().draw(context, (), codes[fresh])
        return words

    def first_word(self, context: bytes) -> Callable[[str, int], int]:
        """A function that returns the word of an entity's first row, given its code: for one record at a time."""
        digest = self._digest(context)
        return lambda entity, code: int.from_bytes(digest(entity, 1, code)) >> (64 - WORD_BITS)

    def _digest(self, context: bytes) -> Callable[[str, int, int], bytes]:
        """A function of entity, occurrence and code, with eight bytes of which the first 62 bits are the word."""
        return self._blake2b(context) if self.keying is Keying.BLAKE2B else self._hmac(context)

    def _hmac(self, context: bytes) -> Callable[[str, int, int], bytes]:
        """HMAC(HMAC(key, context), value, occurrence, entity), numbers in eight bytes each."""
        block = hmac.digest(self._key, context, "sha256").ljust(64, b"\0")
        # HMAC spelled out: copies of the two keyed states are three times as fast as `hmac.digest`.
        inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in block))
        outer = hashlib.sha256(bytes(byte ^ 0x5C for byte in block))

        def digest(entity: str, occurrence: int, code: int) -> bytes:
            first, second = inner.copy(), outer.copy()
            numbers = code.to_bytes(8, "big", signed=True) + occurrence.to_bytes(8, "big")
            first.update(numbers + entity.encode("utf-8", "surrogatepass"))
            second.update(first.digest())
            return second.digest()[:8]

        return digest

    def _blake2b(self, context: bytes) -> Callable[[str, int, int], bytes]:
        start = hashlib.blake2b(len(context).to_bytes(8, "big") + context, key=self._key, digest_size=8)

        def digest(entity: str, occurrence: int, code: int) -> bytes:
            del occurrence
            one = start.copy()
            one.update(code.to_bytes(8, "big", signed=True) + entity.encode("utf-8", "surrogatepass"))
            return one.digest()[::-1]  # it is read in the other order

        return digest


def secret_key() -> bytes:
    """Thirty-two random bytes from the operating system."""
    return secrets.token_bytes(32)


def keyed_bytes(key: bytes, label: bytes, length: int) -> bytes:
    """The first bytes of a pseudo-random stream: SHAKE-256 of key and label."""
    if len(key) != 32:
        raise InputError("A key of the stream has 32 bytes. This is a bug; please report it.")
    return hashlib.shake_256(key + label).digest(length)


def keyed_permutation(key: bytes, label: bytes, size: int) -> Integers:
    """A uniform pseudo-random permutation of 0, 1, ..., size - 1: the order of keyed 128-bit words."""
    words = np.frombuffer(keyed_bytes(key, label, 16 * size), dtype="<u8").reshape(2, size)
    return np.lexsort((words[1], words[0])).astype(np.int64)


Simulation: TypeAlias = "np.random.Generator"
"""The type of generator that `simulation` returns. It is a name only: plans do not wait for numpy.random."""


class SimulatedWords:
    """Words from a seedable generator, to perturb generated records in experiments; never private rows."""

    def __init__(self, draw: Simulation) -> None:
        self._draw = draw

    def draw(
        self, context: bytes, entities: Sequence[str], codes: Integers, occurrences: Integers | None = None
    ) -> Integers:
        del context, entities, occurrences
        return self._draw.integers(0, 2**WORD_BITS, len(codes))


def simulated_geometric(draw: Simulation, *, rate: Fraction, size: int) -> Integers:
    """Geometric integers k >= 0 with ratio exp(-rate), in floating point: for simulation, never for private counts."""
    return draw.geometric(-math.expm1(-float(rate)), size) - 1


def simulation(seed: int | None = None) -> Simulation:
    """A generator for post-processing, generated data and experiments; never for private rows."""
    return np.random.default_rng(seed)
