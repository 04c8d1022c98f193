"""Circuits as sequences of rounds, so that independent circuits share their rounds.

Over a distant network the number of rounds decides how long a choice takes. A circuit on shared bits is written as a
generator: it yields two arrays of shared bits, gets shares of their products, and returns its result. Each yield is one
round of messages. `run` computes such a circuit; circuits in a `Background` get their products in the same rounds.
"""

from collections.abc import Generator
from math import prod

import numpy as np

from scumble.joint.protocol.sharing import Shares, Sharing

Circuit = Generator[tuple[Shares, Shares], Shares, Shares]
"""Yields two arrays of shared bits of the same shape in each round, and receives shares of their products."""


class Background:
    """A circuit that advances by one round whenever another circuit does, until `finish` needs its result."""

    def __init__(self, circuit: Circuit) -> None:
        self._circuit = circuit
        self._result: Shares | None = None
        self.pending: tuple[Shares, Shares] | None = None
        self._next(None)

    def _next(self, products: Shares | None) -> None:
        try:
            self.pending = next(self._circuit) if products is None else self._circuit.send(products)
        except StopIteration as end:
            self.pending, self._result = None, end.value

    def advance(self, products: Shares) -> None:
        """Continue with the products of `pending`."""
        self._next(products)

    def finish(self, sharing: Sharing) -> Shares:
        """The result; what is left of the circuit is computed now."""
        while self.pending is not None:
            self.advance(sharing.product(*self.pending))
        assert self._result is not None
        return self._result


def run(sharing: Sharing, circuit: Circuit, beside: Background | None = None) -> Shares:
    """The result of a circuit. Each of its rounds is also one of the circuit in the background."""
    try:
        left, right = next(circuit)
        while True:
            if beside is None or beside.pending is None:
                products = sharing.product(left, right)
            else:
                products, others = _both(sharing, (left, right), beside.pending)
                beside.advance(others)
            left, right = circuit.send(products)
    except StopIteration as end:
        result: Shares = end.value
        return result


def _both(sharing: Sharing, own: tuple[Shares, Shares], other: tuple[Shares, Shares]) -> tuple[Shares, Shares]:
    """The products of two pairs of arrays in one round."""
    components, sizes = len(own[0]), [prod(each[0].shape[1:]) for each in (own, other)]
    left, right = (
        np.concatenate([each.reshape(components, size) for each, size in zip(side, sizes, strict=True)], axis=1)
        for side in zip(own, other, strict=True)
    )
    products = np.split(sharing.product(left, right), [sizes[0]], axis=1)
    return products[0].reshape(own[0].shape), products[1].reshape(other[0].shape)
