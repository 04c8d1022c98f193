"""Replicated secret sharing among m compute parties, secure against semi-honest coalitions of up to t < m/2 of them.

The scheme of Ito, Saito and Nishizeki (1987): a secret is the sum of components, one for each set T of t compute
parties. A party holds the components of all T that do not contain it. So a coalition of t parties lacks exactly one
component, which is uniformly distributed and hides the secret.

- Sums of secrets are computed locally.
- A product of two secrets expands into products of pairs of components. Each pair is assigned to one party that holds
  both; every party adds up its pairs and shares the sum again.
- To share a value, a dealer derives all components but one from keys that it has in common with their holders
  (Cramer, Damgård, Ishai 2005), and sends the remaining one. With m = 3 that is one word to one party.

What a coalition receives before a value is opened is uniformly distributed whatever the secrets are; there is no
statistical masking parameter.

Secrets are arrays of 32- or 64-bit words under addition modulo 2^32 or 2^64, or of bytes, eight bits side by side,
under exclusive or. A party's shares of an array have one more axis in front, its components. A submitter (an owner that
does not compute) calls the same methods; its shares have no components.
"""

import hashlib
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.joint.network.mesh import Mesh
from scumble.joint.protocol.assignment import assigned_products, components_sent
from scumble.joint.protocol.consistency import Consistency
from scumble.joint.protocol.ring import UnsignedArray, ring_of, total
from scumble.joint.protocol.roles import Roles
from scumble.joint.protocol.session_keys import SessionKeys
from scumble.privacy.noise import keyed_bytes, keyed_permutation

Shares = npt.NDArray[Any]
"""One party's shares of secret values: unsigned integers, its components along the first axis."""

Shape = tuple[int, ...]
DIGEST_BYTES = 16


class Sharing:
    """One party's side of the protocol. All parties call the same methods in the same order."""

    def __init__(self, *, roles: Roles, mesh: Mesh, keys: SessionKeys, nonce: bytes, attempt: bytes = b"") -> None:
        """`nonce` is public and belongs to one session, `attempt` to one attempt to carry it out."""
        self.roles = roles
        self.compute_index = roles.compute_index(mesh.party)
        self._mesh = mesh
        self._keys = keys
        self._nonce = nonce
        self._attempt = attempt
        self._consistency = Consistency(mesh, keys.link, _digest(nonce, attempt))
        self._row = {number: row for row, number in enumerate(roles.components_of(mesh.party))}
        self._pairs = assigned_products(roles, mesh.party)
        self._step = self._context = b""
        self._calls = 0

    def begin(self, step: int) -> None:
        """Start the computation of one answer.

        All random bits until the next call are derived from the session keys, this number and digests of the inputs. So
        repeating a step with the same inputs repeats the noise and the answer. Masks also depend on the attempt: if a
        fault made a party send other values before, they were not under the same masks.
        """
        self._step = self._context = _digest(self._nonce, step.to_bytes(8, "big"))
        self._calls = 0
        self._consistency.begin(step)

    def agree(self, what: str, fact: bytes) -> None:
        """Confirm that all parties have the same public values and received what was sent; see `Consistency`."""
        self._consistency.agree(what, fact)

    def public_permutation(self, size: int) -> npt.NDArray[np.int64]:
        """A uniformly distributed permutation that all parties know; it depends only on the session and the step."""
        return keyed_permutation(self._step, b"order", size)

    def from_component(self, number: int, values: UnsignedArray | None, shape: Shape, dtype: Any) -> Shares:
        """Share a value that all holders of one component know: it becomes that component, the others are zero."""
        return self._stacked({} if values is None else {number: values}, shape, dtype)

    def plus_public(self, shares: Shares, public: UnsignedArray) -> Shares:
        """Add public values, by adding them to the first component."""
        result = shares.copy()
        if 0 in self._row:
            row = self._row[0]
            result[row] = ring_of(shares.dtype).add(result[row], public.astype(shares.dtype))
        return result

    def known_sum(self, shares: Shares, numbers: Sequence[int]) -> UnsignedArray | None:
        """The sum of the given components, or None if this party does not hold all of them."""
        if not all(number in self._row for number in numbers):
            return None
        return total(ring_of(shares.dtype), [shares[self._row[number]] for number in numbers])

    def random_bits(self, shape: Shape) -> Shares:
        """Shares of uniform random bits unknown to every coalition. No message is sent: keys give the components."""
        label = self._label(self._context)
        streams = {n: _stream(self._keys.component[n], label, shape, np.uint8) for n in self._row}
        return self._stacked(streams, shape, np.uint8)

    def deal(self, own: UnsignedArray | None, dealers: Sequence[int], shape: Shape, dtype: Any) -> list[Shares]:
        """Share one array from each of the given compute parties, in one round.

        `dealers` are indices among the compute parties. `own` is this party's array, None unless it is a dealer.
        """
        parties = [self.roles.compute[dealer] for dealer in dealers]
        dealt, _ = self._share(self._label(self._context), own, parties, b"", shape, dtype)
        return [self._stacked(dealt.get(party, {}), shape, dtype) for party in parties]

    def product(self, left: Shares, right: Shares) -> Shares:
        """Shares of the products of two arrays of secrets, entry by entry, in one round."""
        ring, shape, dtype = ring_of(left.dtype), left.shape[1:], left.dtype
        parts = [
            ring.multiply(left[row], total(ring, [right[partner] for partner in partners]))
            for row, partners in self._pairs
        ]
        own = total(ring, parts) if parts else None
        dealt, _ = self._share(self._label(self._context), own, self.roles.compute, b"", shape, dtype)
        return self._summed(dealt, shape, dtype)

    def input(self, own: UnsignedArray) -> Shares:
        """Shares of the sum of all owners' values, in one round. The argument of a party without rows is ignored.

        Every owner also sends a digest of its values, keyed with its own secret key, and all later masks of the step
        depend on the digests. If a step is repeated with different values, no mask is therefore used twice.
        """
        label = self._label(self._step)
        digest = keyed_bytes(self._keys.own, label + own.tobytes(), DIGEST_BYTES)
        dealt, digests = self._share(label, own, self.roles.owners, digest, own.shape, own.dtype)
        self._context = _digest(self._context, *(digests[owner] for owner in sorted(digests)))
        return self._summed(dealt, own.shape, own.dtype)

    def open(self, shares: Shares) -> UnsignedArray:
        """Reveal the secret values to all parties, once they have confirmed that they received what was sent.

        The compute parties send one another the components that each lacks, each component from t + 1 of its holders.
        The first t + 1 of them then send the result to the submitters. The copies are compared, and all parties confirm
        that they have the same values.
        """
        self.agree("before the opening", b"")
        value = self._opened(shares)
        self.agree("the opened values", value.tobytes())
        return value

    def _opened(self, shares: Shares) -> UnsignedArray:
        ring, shape, dtype = ring_of(shares.dtype), shares.shape[1:], shares.dtype
        size = prod(shape) * dtype.itemsize
        if self.compute_index is None:
            return self._receive_opened(size).view(dtype).reshape(shape)
        compute = self.roles.compute
        peers = [peer for peer in range(len(compute)) if peer != self.compute_index]
        sent = {peer: components_sent(self.roles, self.compute_index, peer) for peer in peers}
        due = {peer: components_sent(self.roles, peer, self.compute_index) for peer in peers}
        received = self._exchange(
            {compute[p]: b"".join(shares[self._row[n]].tobytes() for n in ns) for p, ns in sent.items()},
            {compute[p]: size * len(ns) for p, ns in due.items()},
        )
        lacking: dict[int, UnsignedArray] = {}
        for peer, numbers in due.items():
            copies = np.frombuffer(received[compute[peer]], dtype=dtype).reshape(-1, *shape) if numbers else ()
            for number, copy in zip(numbers, copies, strict=True):
                if (lacking.setdefault(number, copy) != copy).any():
                    self._consistency.note_fault("holders of a component sent different copies")
        value = total(ring, [*shares, *lacking.values()])
        if self.compute_index <= self.roles.threshold:
            self._exchange(dict.fromkeys(self.roles.submitting, value.tobytes()), {})
        return value

    def _receive_opened(self, size: int) -> UnsignedArray:
        """A submitter receives an opened value from t + 1 compute parties and checks that they agree."""
        senders = self.roles.compute[: self.roles.threshold + 1]
        received = self._exchange({}, dict.fromkeys(senders, size))
        if len(set(received.values())) > 1:
            self._consistency.note_fault("computing parties sent different values")
        return np.frombuffer(received[senders[0]], dtype=np.uint8).copy()

    def _share(
        self, label: bytes, own: UnsignedArray | None, dealers: Sequence[int], header: bytes, shape: Shape, dtype: Any
    ) -> tuple[dict[int, dict[int, UnsignedArray]], dict[int, bytes]]:
        """Share one array from each dealer. Returns, per dealer, the components this party learns, and the header.

        The dealer derives all components but one from keys, sets the remaining one to the value minus their sum, and
        sends it to its other holders. The header, of the same length for all dealers, is sent in the clear to every
        compute party and enters the labels of the masks.
        """
        ring, me = ring_of(dtype), self._mesh.party
        dealt: dict[int, dict[int, UnsignedArray]] = {}
        headers: dict[int, bytes] = {}
        outgoing: dict[int, bytes] = {}
        if me in dealers:
            assert own is not None
            sent = self.roles.sent_component(me)
            headers[me] = header
            dealt[me] = self._masks(me, label + header, shape, dtype)
            rest = ring.subtract(own, total(ring, dealt[me].values()))
            dealt[me][sent] = rest
            message = header + rest.tobytes()
            for place, party in enumerate(self.roles.compute):
                if party != me:
                    outgoing[party] = message if place in self.roles.holders[sent] else header
        due = [dealer for dealer in dealers if dealer != me and self.compute_index is not None]
        size = prod(shape) * np.dtype(dtype).itemsize
        lengths = {d: len(header) + (size if self.roles.sent_component(d) in self._row else 0) for d in due}
        received = self._exchange(outgoing, lengths)
        for dealer in due:
            message = received.get(dealer, b"")
            headers[dealer] = message[: len(header)]
            dealt[dealer] = self._masks(dealer, label + headers[dealer], shape, dtype)
            if len(message) > len(header):
                rest = np.frombuffer(message, dtype=dtype, offset=len(header)).reshape(shape)
                dealt[dealer][self.roles.sent_component(dealer)] = rest
        return dealt, headers

    def _masks(self, dealer: int, label: bytes, shape: Shape, dtype: Any) -> dict[int, UnsignedArray]:
        """The components of a dealer's values that are derived from keys known to this party."""
        place = self.roles.compute_index(dealer)
        here = range(len(self.roles.unqualified_sets)) if dealer == self._mesh.party and place is None else self._row
        label += self._attempt + dealer.to_bytes(2, "big")
        return {
            number: _stream(self._key(dealer, number), label, shape, dtype)
            for number in here
            if number != self.roles.sent_component(dealer) and (place is None or place in self.roles.holders[number])
        }

    def _key(self, dealer: int, number: int) -> bytes:
        if self.roles.compute_index(dealer) is None:
            return self._keys.submission[dealer, number]
        return self._keys.component[number]

    def _label(self, context: bytes) -> bytes:
        self._calls += 1
        return context + self._calls.to_bytes(8, "big")

    def _stacked(self, components: Mapping[int, UnsignedArray], shape: Shape, dtype: Any) -> Shares:
        shares = np.zeros((len(self._row), *shape), dtype=dtype)
        for number, values in components.items():
            shares[self._row[number]] = values
        return shares

    def _summed(self, dealt: Mapping[int, Mapping[int, UnsignedArray]], shape: Shape, dtype: Any) -> Shares:
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
        return self._consistency.exchange(outgoing, expected) if outgoing or expected else {}


def _stream(key: bytes, label: bytes, shape: Shape, dtype: Any) -> UnsignedArray:
    length = prod(shape) * np.dtype(dtype).itemsize
    return np.frombuffer(keyed_bytes(key, label, length), dtype=dtype).reshape(shape)


def _digest(*parts: bytes) -> bytes:
    digest = hashlib.blake2b(digest_size=32)
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.digest()
