"""The exact privacy loss of private selections, and the exact delta of Gaussian noise.

To find the loss of selections, the shipped method and holder run once for every sequence of choices they can make. A
special noise source replays the sequence and multiplies the probabilities of its choices, which it computes from the
scores, sensitivities and epsilons that the holder passes. If there are few sequences, this gives the exact loss between
two tables, without any sampling.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache

import numpy as np

from scumble.auditing.laws.queries import engine_of
from scumble.auditing.neighbours import CodedRows, Pair
from scumble.methods.method import Method, Params
from scumble.model.counts import Floats, Integers
from scumble.model.schema import Schema
from scumble.privacy.holder import CentralHolder
from scumble.privacy.noise import Selection, selection_scale

REACH = 38
"""Gaussian noise beyond so many scales has a probability below 10^-300."""


def selection_law(scores: Sequence[float], scale: float, selection: Selection) -> list[float]:
    """The probability of each candidate.

    Permute-and-flip visits the candidates in random order and accepts candidate i with probability p_i, which is
    exp((score - best) / scale). If each candidate is visited at a uniform time in [0, 1], the probability that i wins
    is p_i times the integral over t of the product of (1 - p_j t) over all others j. The integrand is a polynomial,
    which Gauss-Legendre quadrature integrates exactly.

    >>> [round(p, 4) for p in selection_law([1, 0], 1.0, Selection.PERMUTE_AND_FLIP)]
    [0.8161, 0.1839]
    """
    weights = _weights(scores, scale)
    if selection is Selection.EXPONENTIAL:
        return (weights / weights.sum()).tolist()
    return [_permute_and_flip(weights, choice) for choice in range(len(weights))]


def probability_of_choice(scores: Sequence[float] | Integers, scale: float, selection: Selection, choice: int) -> float:
    """One entry of `selection_law`, without computing the others."""
    weights = _weights(scores, scale)
    if selection is Selection.EXPONENTIAL:
        return float(weights[choice] / weights.sum())
    return _permute_and_flip(weights, choice)


def _weights(scores: Sequence[float] | Integers, scale: float) -> Floats:
    best = max(scores)
    return np.exp(np.array([float(score - best) for score in scores]) / scale)


def _permute_and_flip(weights: Floats, choice: int) -> float:
    times, shares = _unit_rule(len(weights) // 2 + 1)
    refused = 1 - np.delete(weights, choice)[:, None] * times[None, :]
    return float(weights[choice] * (refused.prod(axis=0) * shares).sum())


@cache
def _unit_rule(nodes: int) -> tuple[Floats, Floats]:
    """Nodes and weights of Gauss-Legendre quadrature on [0, 1]."""
    places, shares = np.polynomial.legendre.leggauss(nodes)
    return (places + 1) / 2, shares / 2


def gaussian_delta(shift: Sequence[int], square: float, epsilon: float) -> float:
    """The smallest delta with which discrete Gaussian noise is (epsilon, delta)-DP for two integer vectors that differ
    by `shift`. `square` is the squared noise scale.

    The loss of noise x is (2 <x, shift> + |shift|^2) / (2 square), and delta is the expectation of 1 - e^(epsilon -
    loss) where that is positive. The law of <x, shift> is computed by convolution, independently of any conversion.

    >>> gaussian_delta([1], 1 / (2 * 0.0149), 1.0) < 1e-9 < gaussian_delta([1, 1], 1 / (2 * 0.0149), 1.0)
    True
    """
    reach = math.ceil(REACH * math.sqrt(square)) + 1
    noise = np.exp(-(np.arange(-reach, reach + 1, dtype=np.float64) ** 2) / (2 * square))
    noise /= noise.sum()
    law, most = np.ones(1), 0
    for step in (abs(each) for each in shift if each):
        stretched = np.zeros(2 * reach * step + 1)
        stretched[::step] = noise
        law, most = np.convolve(law, stretched), most + reach * step
    products = np.arange(-most, most + 1, dtype=np.float64)
    losses = (2 * products + sum(each * each for each in shift)) / (2 * square)
    # As in the sum of max(p - e^epsilon q, 0), without the cancellation.
    return float((law * np.maximum(-np.expm1(epsilon - losses), 0.0)).sum())


@dataclass(kw_only=True)
class EnumeratingNoise:
    """A noise source that replays a sequence of choices and computes its probability. It answers every measurement with
    zeros, because only selections are examined."""

    script: Sequence[int]
    probability: float = 1.0
    options: list[int] = field(default_factory=list)
    chosen: list[int] = field(default_factory=list)
    measured: Fraction = Fraction(0)

    def laplace(self, values: Integers, *, sensitivity: int, epsilon: Fraction) -> Integers:
        self.measured += epsilon
        return np.zeros_like(values)

    def gaussian(self, values: Integers, *, squared: int, rho: Fraction) -> Integers:
        self.measured += rho
        return np.zeros_like(values)

    def select(
        self, scores: Integers, *, sensitivity: int, monotone: bool, epsilon: Fraction, selection: Selection
    ) -> int:
        scale = selection_scale(sensitivity=sensitivity, monotone=monotone, epsilon=epsilon)
        choice = self.script[len(self.options)] if len(self.options) < len(self.script) else 0
        self.options.append(len(scores))
        self.chosen.append(choice)
        # The integer scores are subtracted before the conversion to float, so that no precision is lost.
        apart = [int(score) - int(scores.max()) for score in scores]
        self.probability *= probability_of_choice(apart, float(scale), selection, choice)
        return choice


def choice_probabilities(
    method: Method, schema: Schema, parameters: Params, rows: CodedRows
) -> tuple[dict[tuple[int, ...], float], Fraction]:
    """The probability of every sequence of choices on a table, and the epsilon charged for all choices together."""
    planned = method.plan(schema, parameters)
    engine = engine_of(schema, rows)
    law: dict[tuple[int, ...], float] = {}
    total = sum((spend.total(planned.unit) for spend in planned.spends), Fraction(0))
    charged = total

    def run(noise: EnumeratingNoise) -> None:
        method.run(schema, parameters, CentralHolder(engine=engine, noise=noise, plan=planned))

    for noise in _every_path(run):
        law[tuple(noise.chosen)] = noise.probability
        charged = total - noise.measured
    return law, charged


def _every_path(run: Callable[[EnumeratingNoise], None]) -> Iterator[EnumeratingNoise]:
    waiting: list[list[int]] = [[]]
    while waiting:
        script = waiting.pop()
        noise = EnumeratingNoise(script=script)
        run(noise)
        yield noise
        for place in range(len(script), len(noise.options)):
            start = script + [0] * (place - len(script))
            waiting += [[*start, option] for option in range(1, noise.options[place])]


@dataclass(frozen=True, kw_only=True)
class ExactLoss:
    """The largest log ratio of the probabilities of any sequence of choices, and the epsilon charged for them."""

    loss: float
    charged: Fraction
    choices: int


def exact_loss(method: Method, schema: Schema, parameters: Params, pair: Pair) -> ExactLoss:
    """The privacy loss of all choices together, in both directions, for an adversary who sees every choice."""
    first, charged = choice_probabilities(method, schema, parameters, pair.first)
    second, _ = choice_probabilities(method, schema, parameters, pair.second)
    if first.keys() != second.keys():
        return ExactLoss(loss=math.inf, charged=charged, choices=len(first))
    worst = max(abs(math.log(first[path]) - math.log(second[path])) for path in first)
    return ExactLoss(loss=worst, charged=charged, choices=len(first))
