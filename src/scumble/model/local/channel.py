"""Channels: from the code of a true value to the code that is reported, given one uniform 62-bit word.

Channels are pure functions. The words come from `scumble.privacy.noise`, or from a simulation. `transition` computes
the transition matrix Pr[reported bin | true interval] that reconstruction needs, exactly from the integer weights.
"""

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Protocol

import numpy as np
import numpy.typing as npt

from scumble.model.counts import Floats, Integers
from scumble.model.local.noise_law import TOTAL


class Channel(Protocol):
    """From codes 0 .. `inputs` - 1 to codes 0 .. `outputs` - 1."""

    @property
    def inputs(self) -> int: ...
    @property
    def outputs(self) -> int: ...
    @property
    def ordered(self) -> bool:
        """Whether a larger report indicates a larger value, so that reports can be matched to intervals by rank."""

    def apply(self, codes: npt.NDArray[np.integer], words: Integers) -> Integers:
        """The reported code of each true code."""

    def report(self, code: int, word: int) -> int:
        """The reported code of one true code: `apply` without arrays."""

    def below(self, outcomes: Integers, codes: Integers) -> Floats:
        """Pr[reported code < outcome | true code], for all `outcomes` and `codes`: shape (outcomes, codes)."""

    @property
    def possible(self) -> npt.NDArray[np.bool_]:
        """Which reported codes have a positive probability for some true code."""

    def encoded(self) -> bytes:
        """All parameters, exactly: equal bytes mean the same function `apply`. No name of the program is part of it."""


def packed(*fields: bytes) -> bytes:
    """The fields one after another, each after its length in eight bytes: different fields give different bytes."""
    return b"".join(len(field).to_bytes(8, "big") + field for field in fields)


def _numbers(*numbers: int) -> bytes:
    return b"".join(number.to_bytes(8, "big", signed=True) for number in numbers)


@dataclass(frozen=True, kw_only=True, eq=False)
class AdditiveChannel:
    """Adds noise from -reach to reach, in steps of 1 / `refine` cell, and clamps the sum to the outputs."""

    weights: Integers
    """The weight of each noise value from -reach to reach; they sum to 2^62."""
    cells: int
    refine: int
    margin: int
    """How many steps the outputs extend beyond the domain on each side."""

    ordered = True

    @property
    def inputs(self) -> int:
        return self.cells

    @property
    def outputs(self) -> int:
        return self.cells * self.refine + 2 * self.margin

    @property
    def reach(self) -> int:
        return len(self.weights) // 2

    @cached_property
    def _ends(self) -> Integers:
        return np.cumsum(self.weights)[:-1]

    @cached_property
    def _listed_ends(self) -> list[int]:
        return self._ends.tolist()

    def apply(self, codes: npt.NDArray[np.integer], words: Integers) -> Integers:
        noise = np.searchsorted(self._ends, words, side="right") - self.reach
        places = codes.astype(np.int64) * self.refine + noise + self.margin
        return np.clip(places, 0, self.outputs - 1)

    def report(self, code: int, word: int) -> int:
        noise = bisect_right(self._listed_ends, word) - self.reach
        return min(max(code * self.refine + noise + self.margin, 0), self.outputs - 1)

    def below(self, outcomes: Integers, codes: Integers) -> Floats:
        running = np.concatenate([[0], np.cumsum(self.weights)]) / TOTAL
        places = outcomes[:, np.newaxis] - (codes * self.refine + self.margin - self.reach)[np.newaxis, :]
        probability = running[np.clip(places, 0, len(self.weights))]
        probability[outcomes <= 0] = 0.0
        probability[outcomes >= self.outputs] = 1.0
        return probability

    @property
    def possible(self) -> npt.NDArray[np.bool_]:
        noise = np.flatnonzero(self.weights) - self.reach
        gaps = np.flatnonzero(np.diff(noise) > 1)
        first, last = noise[np.append(0, gaps + 1)], noise[np.append(gaps, -1)]  # of each run without a gap
        places = np.arange(self.cells)[:, np.newaxis] * self.refine + self.margin
        begun = np.zeros(self.outputs + 1, dtype=np.int64)
        np.add.at(begun, np.clip(places + first, 0, self.outputs - 1), 1)
        np.add.at(begun, np.clip(places + last, 0, self.outputs - 1) + 1, -1)
        return np.cumsum(begun)[:-1] > 0

    def encoded(self) -> bytes:
        sizes = _numbers(self.cells, self.refine, self.margin)
        return packed(b"additive", sizes, self.weights.astype(">i8").tobytes())


@dataclass(frozen=True, kw_only=True)
class ReplacementChannel:
    """Reports the true value with weight `truth` and each other value with weight `other`, out of 2^62."""

    size: int
    truth: int
    other: int

    ordered = False

    @property
    def inputs(self) -> int:
        return self.size

    @property
    def outputs(self) -> int:
        return self.size

    def apply(self, codes: npt.NDArray[np.integer], words: Integers) -> Integers:
        true = codes.astype(np.int64)
        place = (words - self.truth) // max(self.other, 1)
        return np.where(words < self.truth, true, place + (place >= true))

    def report(self, code: int, word: int) -> int:
        if word < self.truth:
            return code
        place = (word - self.truth) // max(self.other, 1)
        return place + (place >= code)

    def below(self, outcomes: Integers, codes: Integers) -> Floats:
        outcomes = np.clip(outcomes, 0, self.size)[:, np.newaxis]
        passed = outcomes > codes[np.newaxis, :]
        return (self.other * (outcomes - passed) + self.truth * passed) / TOTAL

    @property
    def possible(self) -> npt.NDArray[np.bool_]:
        return np.ones(self.size, dtype=np.bool_)

    def encoded(self) -> bytes:
        return packed(b"replacement", _numbers(self.size, self.truth, self.other))


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupingChannel:
    """Reports the group of each value, without randomness. With one group per value, this reports the value itself."""

    groups: Integers
    """The group of each code: ascending from 0."""

    ordered = True

    @property
    def inputs(self) -> int:
        return len(self.groups)

    @property
    def outputs(self) -> int:
        return int(self.groups[-1]) + 1

    def apply(self, codes: npt.NDArray[np.integer], words: Integers) -> Integers:
        del words
        return self.groups[codes]

    def report(self, code: int, word: int) -> int:
        del word
        return int(self.groups[code])

    def below(self, outcomes: Integers, codes: Integers) -> Floats:
        return (outcomes[:, np.newaxis] > self.groups[codes][np.newaxis, :]).astype(np.float64)

    @property
    def possible(self) -> npt.NDArray[np.bool_]:
        return np.ones(self.outputs, dtype=np.bool_)

    def encoded(self) -> bytes:
        return packed(b"grouping", self.groups.astype(">i8").tobytes())


CHUNK = 2**21


def transition(channel: Channel, intervals: Integers, bins: Integers) -> Floats:
    """Pr[reported code in bin | true code uniform in interval]: shape (bins, intervals), columns sum to one.

    `intervals` are edges over the channel's inputs and `bins` edges over its outputs, each from 0 to the end.
    """
    result = np.empty((len(bins) - 1, len(intervals) - 1))
    for place, (low, high) in enumerate(pairwise(intervals.tolist())):
        total = np.zeros(len(bins))
        chunk = max(CHUNK // len(bins), 1)
        for start in range(low, high, chunk):
            total += channel.below(bins, np.arange(start, min(start + chunk, high))).sum(axis=1)
        result[:, place] = np.diff(total) / (high - low)
    return result


def midpoint_transition(channel: AdditiveChannel, intervals: Integers, bins: Integers) -> Floats:
    """The kernel of Agrawal & Srikant (2000, section 3): the noise density between the midpoints of bin and interval.

    Unlike `transition` it ignores the widths. With uniform noise a bin may have probability zero from every interval.
    """
    middles = (intervals[:-1] + intervals[1:] - 1) / 2 * channel.refine + channel.margin
    targets = (bins[:-1] + bins[1:] - 1) / 2
    distance = np.rint(targets[:, np.newaxis] - middles[np.newaxis, :]).astype(np.int64) + channel.reach
    inside = (distance >= 0) & (distance < len(channel.weights))
    return np.where(inside, channel.weights[np.clip(distance, 0, len(channel.weights) - 1)] / TOTAL, 0.0)
