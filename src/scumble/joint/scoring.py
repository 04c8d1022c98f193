"""Scores of candidates on secret shares: what each owner shares, and how the scores follow from the sums.

An owner clips every number that it shares at a public limit. Clipping is monotone and moves no number further than its
rows do, so sensitivity and monotonicity stand (section 5 of `joint/PROOF.md`).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from math import prod

import numpy as np

from scumble.joint.protocol.arithmetic import Arithmetic
from scumble.joint.protocol.sharing import Shares
from scumble.model.counts import Counts, Integers
from scumble.model.guarantee import Unit
from scumble.privacy.query import DistanceChoice, GroupChoice, Run


class SharedScores(ABC):
    """How the scores of a choice are computed from the owners' sums."""

    each_row: int
    """A row changes each of the shared numbers by at most this."""
    numbers: int
    """A score without its public part adds up so many numbers at most, each within the limits, plus `far`."""
    far: int = 0
    """How far expected numbers can lie outside of the limits."""
    public: Integers
    """For each candidate, a public part of the score that is not negative."""

    @property
    @abstractmethod
    def facts(self) -> object:
        """Public facts on which the computation depends, for the parties to compare."""

    @abstractmethod
    def shares(self, arithmetic: Arithmetic, *, limit: int, total: int, bits: int) -> Shares:
        """Shares of all candidates' scores without their public parts, in words for numbers of `bits` bits.

        This owner clips its numbers at `limit`; the sums of all owners lie within `total`.
        """


class GroupScores(SharedScores):
    """Scores that add up the majority counts of groups of records, without the part that all candidates have in
    common."""

    each_row = 1

    def __init__(self, query: GroupChoice, counts: Counts) -> None:
        self._runs = list(query.runs(counts))
        self._groups = [groups for run in self._runs for groups in run.groups]
        self.numbers = max(_groups_made(run) for run in self._runs)
        self.public = np.zeros(sum(run.made[0].shape[1] for run in self._runs), dtype=np.int64)

    @property
    def facts(self) -> object:
        return [[group.shape for group in run.groups] for run in self._runs]

    def shares(self, arithmetic: Arithmetic, *, limit: int, total: int, bits: int) -> Shares:
        width = total.bit_length()
        flat = np.concatenate([each.reshape(-1, each.shape[-1]) for each in self._groups]).clip(0, limit)
        worths = arithmetic.majority(arithmetic.input(flat, max(bits, width + 1)), width)
        ends = np.cumsum([prod(each.shape[:-1]) for each in self._groups])[:-1]
        parts: Iterator[Shares] = iter(np.split(worths, ends, axis=1))
        valued = [
            run.valued([next(parts).reshape(len(worths), *each.shape[:-1]) for each in run.groups]).scores()
            for run in self._runs
        ]
        return np.concatenate(valued, axis=1)


class DistanceScores(SharedScores):
    """Scores that add up absolute differences between sums and public expectations, minus public handicaps.

    The largest handicap is added to all scores, which does not change the choice and makes them positive.
    """

    def __init__(self, query: DistanceChoice, sums: Integers) -> None:
        nothing = query.differences(np.zeros_like(sums))
        self._expected = -np.concatenate(nothing)
        self._own = np.concatenate(query.differences(sums)) + self._expected
        self._lengths = [len(part) for part in nothing]
        self._optional = query.optional
        largest = max(query.handicaps)
        public = [largest - handicap for handicap in query.handicaps] + [largest] * query.optional
        lowest = min(public)
        self.public = np.array([each - lowest for each in public], dtype=np.int64)
        self.each_row = query.sensitivity(Unit.ADD_REMOVE).bound
        self.numbers = max(self._lengths)
        self.far = int(np.abs(self._expected).max(initial=0))

    @property
    def facts(self) -> object:
        return self._lengths

    def shares(self, arithmetic: Arithmetic, *, limit: int, total: int, bits: int) -> Shares:
        width = (total + self.far).bit_length() + 1
        sums = arithmetic.input(self._own.clip(-limit, limit), max(bits, width))
        distances = arithmetic.absolute(arithmetic.plus_public(sums, -self._expected), width)
        parts = np.split(distances, np.cumsum(self._lengths)[:-1], axis=1)
        scores = [part.sum(axis=1, dtype=part.dtype, keepdims=True) for part in parts]
        nothing = [np.zeros_like(scores[0])] * self._optional
        return np.concatenate([*scores, *nothing], axis=1)


def _groups_made(run: Run) -> int:
    """The number of groups that each candidate of a run makes."""
    return sum(made.shape[0] * made.shape[2] for made in run.made)
