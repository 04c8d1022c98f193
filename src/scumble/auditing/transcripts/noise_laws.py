"""The exact distributions of the four noise mechanisms, and the privacy loss of one outcome.

The loss of an outcome is the logarithm of its probability on one table minus that on another. It depends on the exact
values of both tables, on the mechanism and on its noise scale, and on no declared sensitivity or epsilon.

- *Discrete Laplace noise*: the loss of value v against v' is (|outcome - v'| - |outcome - v|) / scale, a rational
  number. Scales are floats, which are rational, so that the loss is exact.
- *Discrete Gaussian noise*: the loss is ((outcome - v')^2 - (outcome - v)^2) / (2 scale^2), also rational. No epsilon
  bounds it; `concentrated_loss` bounds what it adds to a sum of rhos.
- *Exponential mechanism*: with d_i the distance of score i from the best and w_i = exp(-d_i / scale), candidate i has
  the probability w_i / sum of all w_j.
- *Permute-and-flip*: candidate i has the probability w_i E[1 / (1 + N)], where N is the number of successes of
  independent trials with the probabilities w_j of all other candidates j. (Candidates are visited at uniform times;
  i is accepted if it would be, and if all others that would be accepted come later.)

For selections the exponents are exact and only the sums are computed in floating point. They add, multiply and divide
positive numbers, so that their relative errors add up: at most 32 roundings for each candidate, see `ROUNDING`.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

import numpy as np

from scumble.model.counts import Integers

ROUNDING = Fraction(1, 2**48)
"""A bound on the error of a logarithm of a sum, for each candidate: 32 roundings with a relative error of 2^-53 each.

`w` has an absolute error of at most 4 roundings, since exp(-x) x < 1, and `1 - w`, by `expm1`, a relative one of 5. The
logarithm of E[1 / (1 + N)] changes by at most twice the error of a `w` and by the relative error of a `1 - w`.
Multiplying in one candidate rounds every coefficient three times, and the last sum and the logarithm add less than
three more for each candidate."""


class NoiseMechanism(StrEnum):
    """A mechanism whose distribution is known exactly."""

    LAPLACE = "discrete Laplace noise"
    GAUSSIAN = "discrete Gaussian noise"
    PERMUTE_AND_FLIP = "permute-and-flip"
    EXPONENTIAL = "exponential mechanism"

    @property
    def measures(self) -> bool:
        """Whether the outcome is a noisy vector; else it is the index of a candidate."""
        return self in (NoiseMechanism.LAPLACE, NoiseMechanism.GAUSSIAN)


@dataclass(frozen=True, kw_only=True)
class Loss:
    """A privacy loss between `least` and `most`, both with a floating-point error of at most `error`.

    The two differ only for lines that were released in ascending order (`NoiseLaw.loss_of_lines`).
    """

    least: Fraction = Fraction(0)
    most: Fraction = Fraction(0)
    error: Fraction = Fraction(0)

    def __add__(self, other: "Loss") -> "Loss":
        return Loss(least=self.least + other.least, most=self.most + other.most, error=self.error + other.error)

    @property
    def size(self) -> Fraction:
        """The largest absolute value, without the error."""
        return max(self.most, -self.least)

    def exceeds(self, limit: Fraction) -> bool:
        """Whether the loss is larger than the limit in one direction or the other, whatever the error is."""
        return self.size - self.error > limit


@dataclass(frozen=True, kw_only=True)
class NoiseLaw:
    """The distribution of an outcome, given the exact values."""

    mechanism: NoiseMechanism
    scale: Fraction

    def loss(self, here: Integers, there: Integers, outcome: Integers | int) -> Loss:
        """The log probability of the outcome given the values `here`, minus that given the values `there`."""
        if self.mechanism.measures:
            return self._loss_of_vector(here, there, np.asarray(outcome))
        chosen, first, second = int(outcome), _distances(here), _distances(there)
        exact = Fraction(second[chosen] - first[chosen]) / self.scale
        value = exact + Fraction(self._log_sum(first, chosen)) - Fraction(self._log_sum(second, chosen))
        return Loss(least=value, most=value, error=ROUNDING * (len(first) + len(second) + 2))

    def concentrated_loss(self, here: Integers, there: Integers) -> Fraction:
        """The smallest rho that is proved for these two tables, whatever the outcome: each Renyi divergence of order a,
        in both directions, is at most a times it.

        Gaussian noise: half of the squared distance in units of the scale, which is reached. All other mechanisms are
        epsilon-DP for the two tables, hence epsilon^2 / 2, or epsilon^2 / 8 for the exponential mechanism. The epsilon
        of Laplace noise is the distance in L1. That of a choice is the range of the changes of its scores: adding one
        number to all scores changes no probability, so all changes can be taken to have one sign.
        """
        changes = [int(before) - int(after) for before, after in zip(here.tolist(), there.tolist(), strict=True)]
        if self.mechanism is NoiseMechanism.GAUSSIAN:
            return sum((Fraction(change) ** 2 for change in changes), Fraction(0)) / (2 * self.scale**2)
        if self.mechanism is NoiseMechanism.LAPLACE:
            return (sum(map(abs, changes)) / self.scale) ** 2 / 2
        epsilon = (max(changes) - min(changes)) / self.scale
        return epsilon**2 / (8 if self.mechanism is NoiseMechanism.EXPONENTIAL else 2)

    def concentrated_loss_of_lines(self, here: Integers, there: Integers) -> Fraction:
        """The same for noisy lines in ascending order: sorting is post-processing, so rows may be matched as they are
        most alike."""
        rows = _differing_rows(here, there)
        return sum((self.concentrated_loss(np.array(row), np.array(other)) for row, other in rows), Fraction(0))

    def loss_of_lines(self, here: Integers, there: Integers, released: Integers) -> Loss:
        """The loss of noisy lines that are released in ascending order, one line for each row of a table.

        The probability of the released lines is a sum over all ways to assign lines to rows. If the tables differ in
        one row, every term of one sum is a term of the other times the ratio for one released line, so that the loss
        lies between the least and the largest of these. If all lines were equal to the worst one, it would be reached.
        """
        total = Loss()
        for row, other in _differing_rows(here, there):
            losses = [self._loss_of_vector(np.array(row), np.array(other), line).most for line in released]
            total += Loss(least=min(losses), most=max(losses))
        return total

    def _loss_of_vector(self, here: Integers, there: Integers, outcome: Integers) -> Loss:
        changed = here != there
        steps = 0
        gaussian = self.mechanism is NoiseMechanism.GAUSSIAN
        for before, after, noisy in zip(*(each[changed].tolist() for each in (here, there, outcome)), strict=True):
            if gaussian:
                steps += (noisy - after) ** 2 - (noisy - before) ** 2
            else:
                steps += abs(noisy - after) - abs(noisy - before)
        value = Fraction(steps) / (2 * self.scale**2 if gaussian else self.scale)
        return Loss(least=value, most=value)

    def _log_sum(self, distances: Sequence[int], chosen: int) -> float:
        """The logarithm of the probability of a candidate divided by its weight."""
        rates = [distance / float(self.scale) for distance in distances]
        if self.mechanism is NoiseMechanism.EXPONENTIAL:
            return -math.log(math.fsum(math.exp(-rate) for rate in rates))
        accepted = np.ones(1)
        for rate in rates[:chosen] + rates[chosen + 1 :]:
            more = np.zeros(len(accepted) + 1)
            more[:-1] = accepted * -math.expm1(-rate)
            more[1:] += accepted * math.exp(-rate)
            accepted = more
        return math.log(math.fsum((accepted / np.arange(1, len(accepted) + 1)).tolist()))


def _differing_rows(here: Integers, there: Integers) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The rows in which two tables of the same size differ, each with one of the other table."""
    only_here, only_there = Counter(map(tuple, here.tolist())), Counter(map(tuple, there.tolist()))
    only_here, only_there = only_here - only_there, only_there - only_here
    yield from zip(sorted(only_here.elements()), sorted(only_there.elements()), strict=True)


def _distances(scores: Integers) -> list[int]:
    """How far each score lies below the best one, in exact integers."""
    numbers = scores.tolist()
    best = max(numbers)
    return [best - number for number in numbers]
