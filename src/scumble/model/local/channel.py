"""Channels: what the code of a true value becomes, given one even word of 62 bits. Pure functions; the words come from
`scumble.privacy.noise`, or from a simulation.

A channel also tells a receiver how likely each published code is, given where the true value lies: `transition` for
the iteration that reconstructs, exact down to the weights.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
import numpy.typing as npt

from scumble.model.counts import Integers
from scumble.model.local.noise_law import TOTAL

Floats = npt.NDArray[np.float64]


class Channel(Protocol):
    """From codes 0 .. `inputs` - 1 to codes 0 .. `outputs` - 1."""

    @property
    def inputs(self) -> int: ...
    @property
    def outputs(self) -> int: ...
    @property
    def ordered(self) -> bool:
        """Whether a larger outcome speaks for a larger value, so that values can be matched by rank."""

    def apply(self, codes: npt.NDArray[np.integer], words: Integers) -> Integers:
        """The published code of each true one."""

    def below(self, outcomes: Integers, codes: Integers) -> Floats:
        """The chance that the published code lies below each of `outcomes`, given each of `codes`: shape (o, c)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Additive:
    """The value's place, `refine` steps of noise a cell, plus noise from -reach to reach, clamped to the outputs."""

    weights: Integers
    """By noise, from -reach on: 2 reach + 1 of them."""
    cells: int
    refine: int
    margin: int
    """How many places the outputs go beyond the domain on each side."""

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

    def apply(self, codes: npt.NDArray[np.integer], words: Integers) -> Integers:
        ends = np.cumsum(self.weights)[:-1]
        noise = np.searchsorted(ends, words, side="right") - self.reach
        places = codes.astype(np.int64) * self.refine + noise + self.margin
        return np.clip(places, 0, self.outputs - 1)

    def below(self, outcomes: Integers, codes: Integers) -> Floats:
        running = np.concatenate([[0], np.cumsum(self.weights)]) / TOTAL
        places = outcomes[:, np.newaxis] - (codes * self.refine + self.margin - self.reach)[np.newaxis, :]
        chance = running[np.clip(places, 0, len(self.weights))]
        chance[outcomes <= 0] = 0.0
        chance[outcomes >= self.outputs] = 1.0
        return chance


@dataclass(frozen=True, kw_only=True)
class Replacing:
    """The truth with weight `truth`, each other value with weight `other`."""

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

    def below(self, outcomes: Integers, codes: Integers) -> Floats:
        outcomes = np.clip(outcomes, 0, self.size)[:, np.newaxis]
        passed = outcomes > codes[np.newaxis, :]
        return (self.other * (outcomes - passed) + self.truth * passed) / TOTAL


@dataclass(frozen=True, kw_only=True, eq=False)
class Grouping:
    """No chance at all: each value is told as its group, the truth being a group for each value."""

    groups: Integers
    """The group of each code, ascending from 0."""

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

    def below(self, outcomes: Integers, codes: Integers) -> Floats:
        return (outcomes[:, np.newaxis] > self.groups[codes][np.newaxis, :]).astype(np.float64)


CHUNK = 2**21


def transition(channel: Channel, intervals: Integers, bins: Integers) -> Floats:
    """How likely a published code falls into each bin, the true one lying evenly in each interval.

    `intervals` are edges over the channel's inputs, `bins` edges over its outputs, each from 0 to the end; the result
    has shape (bins, intervals) and columns that add up to one.
    """
    result = np.empty((len(bins) - 1, len(intervals) - 1))
    for place, (low, high) in enumerate(pairwise(intervals.tolist())):
        total = np.zeros(len(bins))
        chunk = max(CHUNK // len(bins), 1)
        for start in range(low, high, chunk):
            total += channel.below(bins, np.arange(start, min(start + chunk, high))).sum(axis=1)
        result[:, place] = np.diff(total) / (high - low)
    return result


def midpoint_transition(channel: Additive, intervals: Integers, bins: Integers) -> Floats:
    """The paper's kernel: the density of the noise at the distance between the middles of bin and interval.

    Unlike `transition` it takes no account of the widths, and uniform noise may leave a bin that no interval explains.
    """
    middles = (intervals[:-1] + intervals[1:] - 1) / 2 * channel.refine + channel.margin
    targets = (bins[:-1] + bins[1:] - 1) / 2
    distance = np.rint(targets[:, np.newaxis] - middles[np.newaxis, :]).astype(np.int64) + channel.reach
    inside = (distance >= 0) & (distance < len(channel.weights))
    return np.where(inside, channel.weights[np.clip(distance, 0, len(channel.weights) - 1)] / TOTAL, 0.0)
