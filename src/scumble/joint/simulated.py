"""A simulation of the joint release: one process, all rows in the clear, no secret sharing. For experiments only.

Scores, the grid of split positions and the noise distributions are those of the protocol; the noise comes from a seeded
generator. A simulated run takes milliseconds instead of seconds, so the accuracy of joint releases can be measured over
hundreds of runs.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.joint.answers import MemoryAnswerLog
from scumble.joint.holder import SecretHolder
from scumble.joint.protocol.arithmetic import word_type
from scumble.joint.protocol.geometric_noise import GeometricLaw
from scumble.joint.protocol.sharing import Shares
from scumble.model.counts import Integers
from scumble.model.plan import Plan
from scumble.privacy.holder import Tabulates
from scumble.privacy.noise import Simulation, simulated_geometric


class PlainArithmetic:
    """The operations of `Arithmetic` on plain numbers, with the same noise distributions. Never for private rows."""

    def __init__(self, draw: Simulation) -> None:
        self._draw = draw

    def begin(self, step: int) -> None:
        del step

    def agree(self, what: str, fact: bytes) -> None:
        del what, fact

    def announce(self, law: GeometricLaw, size: int) -> None:
        del law, size

    def input(self, own: Integers, bits: int) -> Shares:
        word_type(bits)
        return own[np.newaxis]

    def plus_public(self, values: Shares, public: npt.NDArray[Any]) -> Shares:
        return values + public

    def majority(self, groups: Shares, bits: int) -> Shares:
        del bits
        return groups.max(axis=-1)

    def absolute(self, values: Shares, bits: int) -> Shares:
        del bits
        return np.abs(values)

    def noisy_argmax(self, scores: Shares, *, law: GeometricLaw, bits: int) -> int:
        del bits
        order = self._draw.permutation(scores.shape[1])
        noise = simulated_geometric(self._draw, rate=law.rate, size=len(order))
        return int(order[(scores[0, order] + noise).argmax()])

    def noisy_open(self, values: Shares, *, law: GeometricLaw, bits: int) -> Integers:
        del bits
        size = values.shape[1]
        more, less = (simulated_geometric(self._draw, rate=law.rate, size=size) for _ in range(2))
        return values[0] + more - less


def simulated_holder(
    *, engine: Tabulates, plan: Plan, rows_at_most: int, draw: Simulation, answered: Callable[[str], None] | None = None
) -> SecretHolder:
    """A holder that answers as the joint holder does, from all owners' rows and a seeded generator.

    For experiments, never for private rows. `rows_at_most` bounds every count of the whole table.
    """
    return SecretHolder(
        arithmetic=PlainArithmetic(draw),
        engine=engine,
        plan=plan,
        rows_at_most={0: rows_at_most},
        owner=0,
        log=MemoryAnswerLog(),
        answered=answered,
    )
