"""Replicated secret sharing among m parties of whom any t < m/2 may look together (Ito, Saito, Nishizeki 1987).

A secret is the sum of components, one for each set T of t parties, and a party holds all but those whose T contains it.
So a coalition of t lacks just one component, which hides the secret. Sums are local; a product of two secrets falls
into products of components, each known to some party, and every party shares its own part of it again (Cramer, Damgård,
Ishai 2005 for the use of common keys: all components but one follow from them, and a single one is sent). With m = 3
that is one word to one peer. Nothing is masked statistically: what a coalition receives is even, whatever the secrets.

Secrets are arrays of 32- or 64-bit words under addition, or of bytes, eight bits at once, under exclusive or. A party's
shares of an array have one more axis in front, its components; an owner that only hands in has none and runs along.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.errors import ScumbleError
from scumble.joint.network.mesh import Mesh
from scumble.joint.protocol.roles import Seats
from scumble.joint.protocol.session_keys import SessionKeys
from scumble.privacy.noise import keyed_bytes, keyed_permutation

Array = npt.NDArray[Any]
"""Unsigned integers: public values, or one component of secret ones."""

Shares = npt.NDArray[Any]
"""One party's part of secret values: unsigned integers, its components along the first axis."""

Shape = tuple[int, ...]
DIGEST_BYTES = 16


@dataclass(frozen=True, kw_only=True)
class Ring:
    """How components add up to a secret, and how secrets multiply."""

    add: np.ufunc
    subtract: np.ufunc
    multiply: np.ufunc


WORDS = Ring(add=np.add, subtract=np.subtract, multiply=np.multiply)
BITS = Ring(add=np.bitwise_xor, subtract=np.bitwise_xor, multiply=np.bitwise_and)


def ring_of(dtype: Any) -> Ring:
    """Bytes are bits side by side, all longer words are numbers."""
    return BITS if np.dtype(dtype) == np.uint8 else WORDS


class Sharing:
    """One party's side of the arithmetic. All parties call the same methods in the same order."""

    def __init__(self, *, seats: Seats, mesh: Mesh, keys: SessionKeys, nonce: bytes) -> None:
        self.seats = seats
        self.place = seats.place(mesh.seat)
        self._mesh = mesh
        self._keys = keys
        self._nonce = nonce
        self._row = {number: row for row, number in enumerate(seats.held(mesh.seat))}
        self._pairs = _pairs_of(seats, mesh.seat)
        self._step = self._context = b""
        self._calls = 0

    def begin(self, step: int) -> None:
        """All that follows is derived from the session's keys and this number, so a repeated step repeats itself."""
        self._step = self._context = _digest(self._nonce, step.to_bytes(8, "big"))
        self._calls = 0

    def order(self, size: int) -> npt.NDArray[np.int64]:
        """An even permutation that everyone knows and that depends on the session and the step alone."""
        return keyed_permutation(self._step, b"order", size)

    def trivial(self, number: int, values: Array | None, shape: Shape, dtype: Any) -> Shares:
        """A value that the holders of one component know, as shares: it is that component, the others are zero."""
        return self._stacked({} if values is None else {number: values}, shape, dtype)

    def plus_public(self, shares: Shares, public: Array) -> Shares:
        """Add values that everyone knows: to the first component."""
        result = shares.copy()
        if 0 in self._row:
            row = self._row[0]
            result[row] = ring_of(shares.dtype).add(result[row], public.astype(shares.dtype))
        return result

    def known(self, shares: Shares, numbers: Sequence[int]) -> Array | None:
        """The sum of some components, for a party that holds them all."""
        if not all(number in self._row for number in numbers):
            return None
        return _total(ring_of(shares.dtype), [shares[self._row[number]] for number in numbers])

    def random_bits(self, shape: Shape) -> Shares:
        """Even bits that no coalition knows, for nothing: each component is what its key says."""
        label = self._label(self._context)
        streams = {n: _stream(self._keys.component[n], label, shape, np.uint8) for n in self._row}
        return self._stacked(streams, shape, np.uint8)

    def deal(self, own: Array | None, dealers: Sequence[int], shape: Shape, dtype: Any) -> list[Shares]:
        """One array of values from each of some compute parties, given by their places, shared out in one round."""
        parties = [self.seats.compute[dealer] for dealer in dealers]
        dealt, _ = self._share_out(self._label(self._context), own, parties, b"", shape, dtype)
        return [self._stacked(dealt.get(party, {}), shape, dtype) for party in parties]

    def product(self, left: Shares, right: Shares) -> Shares:
        """The secrets' products, entry by entry."""
        ring, shape, dtype = ring_of(left.dtype), left.shape[1:], left.dtype
        parts = [
            ring.multiply(left[row], _total(ring, [right[partner] for partner in partners]))
            for row, partners in self._pairs
        ]
        own = _total(ring, parts) if parts else None
        dealt, _ = self._share_out(self._label(self._context), own, self.seats.compute, b"", shape, dtype)
        return self._summed(dealt, shape, dtype)

    def input(self, own: Array) -> Shares:
        """The sum over all owners of each one's values; what a party without rows gives is not looked at.

        Every owner sends a digest of its values, under a key of its own, and all masks of the step depend on it. So if
        a step is ever repeated with other values, no mask meets two of them.
        """
        label = self._label(self._step)
        digest = keyed_bytes(self._keys.own, label + own.tobytes(), DIGEST_BYTES)
        dealt, digests = self._share_out(label, own, self.seats.owners, digest, own.shape, own.dtype)
        self._context = _digest(self._context, *(digests[owner] for owner in sorted(digests)))
        return self._summed(dealt, own.shape, own.dtype)

    def open(self, shares: Shares) -> Array:
        """Tell all parties the secret values."""
        ring, shape, dtype = ring_of(shares.dtype), shares.shape[1:], shares.dtype
        size = prod(shape) * dtype.itemsize
        if self.place is None:
            return self._hear(size).view(dtype).reshape(shape)
        compute = self.seats.compute
        peers = [peer for peer in range(len(compute)) if peer != self.place]
        sent = {peer: _missing(self.seats, peer, self.place) for peer in peers}
        due = {peer: _missing(self.seats, self.place, peer) for peer in peers}
        received = self._exchange(
            {compute[p]: b"".join(shares[self._row[n]].tobytes() for n in ns) for p, ns in sent.items()},
            {compute[p]: size * len(ns) for p, ns in due.items()},
        )
        others = [np.frombuffer(message, dtype=dtype).reshape(-1, *shape) for message in received.values()]
        value = _total(ring, [*shares, *(component for components in others for component in components)])
        if self.place <= self.seats.threshold:
            self._exchange(dict.fromkeys(self.seats.submitting, value.tobytes()), {})
        return value

    def _hear(self, size: int) -> Array:
        """An owner that does not compute hears the value from one compute party more than may be false."""
        telling = self.seats.compute[: self.seats.threshold + 1]
        received = self._exchange({}, dict.fromkeys(telling, size))
        if len(set(received.values())) > 1:
            raise ScumbleError("The computing parties tell different answers. Nothing was recorded; stop the run.")
        return np.frombuffer(received[telling[0]], dtype=np.uint8).copy()

    def _share_out(
        self, label: bytes, own: Array | None, dealers: Sequence[int], header: bytes, shape: Shape, dtype: Any
    ) -> tuple[dict[int, dict[int, Array]], dict[int, bytes]]:
        """For each dealer the components of its values that this party learns, by number, and the dealer's header.

        A dealer's components follow from keys, but for one that makes up the rest and is sent to its other holders. A
        header, as long for all dealers, goes to every compute party and into the masks.
        """
        ring, me = ring_of(dtype), self._mesh.seat
        dealt: dict[int, dict[int, Array]] = {}
        headers: dict[int, bytes] = {}
        outgoing: dict[int, bytes] = {}
        if me in dealers:
            assert own is not None
            sent = self.seats.open_subset(me)
            headers[me] = header
            dealt[me] = self._masks(me, label + header, shape, dtype)
            rest = ring.subtract(own, _total(ring, dealt[me].values()))
            dealt[me][sent] = rest
            message = header + rest.tobytes()
            for place, party in enumerate(self.seats.compute):
                if party != me:
                    outgoing[party] = message if place in self.seats.holders[sent] else header
        due = [dealer for dealer in dealers if dealer != me and self.place is not None]
        size = prod(shape) * np.dtype(dtype).itemsize
        lengths = {d: len(header) + (size if self.seats.open_subset(d) in self._row else 0) for d in due}
        received = self._exchange(outgoing, lengths)
        for dealer in due:
            message = received.get(dealer, b"")
            headers[dealer] = message[: len(header)]
            dealt[dealer] = self._masks(dealer, label + headers[dealer], shape, dtype)
            if len(message) > len(header):
                rest = np.frombuffer(message, dtype=dtype, offset=len(header)).reshape(shape)
                dealt[dealer][self.seats.open_subset(dealer)] = rest
        return dealt, headers

    def _masks(self, dealer: int, label: bytes, shape: Shape, dtype: Any) -> dict[int, Array]:
        """The components of a dealer's values that follow from keys, as far as this party knows them."""
        place = self.seats.place(dealer)
        here = range(len(self.seats.subsets)) if dealer == self._mesh.seat and place is None else self._row
        label += dealer.to_bytes(2, "big")
        return {
            number: _stream(self._key(dealer, number), label, shape, dtype)
            for number in here
            if number != self.seats.open_subset(dealer) and (place is None or place in self.seats.holders[number])
        }

    def _key(self, dealer: int, number: int) -> bytes:
        if self.seats.place(dealer) is None:
            return self._keys.handing[dealer, number]
        return self._keys.component[number]

    def _label(self, context: bytes) -> bytes:
        self._calls += 1
        return context + self._calls.to_bytes(8, "big")

    def _stacked(self, components: Mapping[int, Array], shape: Shape, dtype: Any) -> Shares:
        shares = np.zeros((len(self._row), *shape), dtype=dtype)
        for number, values in components.items():
            shares[self._row[number]] = values
        return shares

    def _summed(self, dealt: Mapping[int, Mapping[int, Array]], shape: Shape, dtype: Any) -> Shares:
        ring = ring_of(dtype)
        shares = np.zeros((len(self._row), *shape), dtype=dtype)
        for components in dealt.values():
            for number, values in components.items():
                if number in self._row:
                    ring.add(shares[self._row[number]], values, out=shares[self._row[number]])
        return shares

    def _exchange(self, outgoing: Mapping[int, bytes], expected: Mapping[int, int]) -> dict[int, bytes]:
        outgoing = {party: message for party, message in outgoing.items() if message}
        expected = {party: length for party, length in expected.items() if length}
        return self._mesh.exchange(outgoing, expected) if outgoing or expected else {}


def _pairs_of(seats: Seats, party: int) -> list[tuple[int, list[int]]]:
    """Which products of components a party works out: rows of the left factor, each with rows of the right one.

    Every pair goes to one party that holds both, and to the one that has the fewest so far.
    """
    load = [0] * len(seats.compute)
    rows = {number: row for row, number in enumerate(seats.held(party))}
    pairs: dict[int, list[int]] = {}
    for left in range(len(seats.subsets)):
        for right in range(len(seats.subsets)):
            both = [place for place in seats.holders[left] if place in seats.holders[right]]
            chosen = min(both, key=lambda place: load[place])
            load[chosen] += 1
            if seats.compute[chosen] == party:
                pairs.setdefault(rows[left], []).append(rows[right])
    return list(pairs.items())


def _missing(seats: Seats, place: int, teller: int) -> list[int]:
    """The components that one compute party lacks and another one is to tell it: the next in the circle that can."""
    size = len(seats.compute)
    return [
        number
        for number, subset in enumerate(seats.subsets)
        if place in subset
        and next((place + on) % size for on in range(1, size) if (place + on) % size not in subset) == teller
    ]


def _total(ring: Ring, values: Iterable[Array]) -> Array:
    first, *rest = values
    for each in rest:
        first = ring.add(first, each)
    return first


def _stream(key: bytes, label: bytes, shape: Shape, dtype: Any) -> Array:
    length = prod(shape) * np.dtype(dtype).itemsize
    return np.frombuffer(keyed_bytes(key, label, length), dtype=dtype).reshape(shape)


def _digest(*parts: bytes) -> bytes:
    digest = hashlib.blake2b(digest_size=32)
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.digest()
