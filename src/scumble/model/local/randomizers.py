"""Ways to blur one attribute, as public values: what a receiver must know, and how much each hides.

Privacy of the first three is an interval: at confidence c the true value lies in an interval of a stated width and no
narrower (Agrawal & Srikant 2000, Table 1: c W, c 2a, and 1.349, 3.920, 6.581 standard deviations at 50, 95 and 99.9 %;
the paper prints 6.8 for the last). It is not differential privacy. Laplace noise and randomized response are, locally.
"""

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from statistics import NormalDist
from typing import ClassVar

from scumble.errors import InputError
from scumble.model.local.noise_law import check_local_epsilon
from scumble.model.taxonomy import Grid

FINE = 100
"""Noise is spread over at least this many steps; where the grid's own are too coarse, they are divided."""
SIGMA_DIGITS = 12


@dataclass(frozen=True, kw_only=True)
class Truthful:
    """The value itself. Whoever tells it is not covered for it."""

    kind: ClassVar[str] = "truthful"


@dataclass(frozen=True, kw_only=True)
class Withheld:
    """Nothing: the attribute is not published."""

    kind: ClassVar[str] = "withheld"


@dataclass(frozen=True, kw_only=True)
class Uniform:
    """The value plus noise spread evenly over an interval of twice `half_width`, in the attribute's own unit."""

    half_width: Fraction
    refine: int = 1
    """Into how many steps of noise a step of the grid is divided."""
    kind: ClassVar[str] = "uniform"

    def __post_init__(self) -> None:
        _check_positive("half_width", self.half_width)
        _check_refine(self.refine)

    def width(self, confidence: Fraction) -> Fraction:
        return confidence * 2 * self.half_width

    @classmethod
    def hiding(cls, width: Fraction, confidence: Fraction, step: Fraction) -> "Uniform":
        """The least noise that hides a value in an interval of at least this width at this confidence."""
        spread = width / confidence
        refine = _refinement(FINE * step / spread)
        fine = step / refine
        reach = max(math.ceil((spread / fine - 1) / 2), 0)
        return cls(half_width=(reach + Fraction(1, 2)) * fine, refine=refine)


@dataclass(frozen=True, kw_only=True)
class Gaussian:
    """The value plus normal noise of standard deviation `sigma`, in the attribute's unit, cut off at six of them."""

    sigma: Fraction
    refine: int = 1
    kind: ClassVar[str] = "gaussian"

    def __post_init__(self) -> None:
        _check_positive("sigma", self.sigma)
        _check_refine(self.refine)

    def width(self, confidence: Fraction) -> Fraction:
        """
        >>> noise = Gaussian(sigma=Fraction(1))
        >>> [f"{float(noise.width(Fraction(c, 1000))):.3f}" for c in (500, 950, 999)]
        ['1.349', '3.920', '6.581']
        """
        return 2 * _quantile(confidence) * self.sigma

    @classmethod
    def hiding(cls, width: Fraction, confidence: Fraction, step: Fraction) -> "Gaussian":
        sigma = width / (2 * _quantile(confidence))
        digits = 10 ** max(SIGMA_DIGITS - math.floor(math.log10(sigma)), 0)
        sigma = Fraction(math.ceil(sigma * digits), digits)
        return cls(sigma=sigma, refine=_refinement(FINE * step / (4 * sigma)))


@dataclass(frozen=True, kw_only=True)
class Discretized:
    """Value-class membership: the interval, between these edges, in which the value lies."""

    edges: tuple[Decimal, ...]
    kind: ClassVar[str] = "discretized"

    def __post_init__(self) -> None:
        Grid(edges=self.edges)  # refuses edges that do not grow

    def width(self, confidence: Fraction) -> Fraction:
        """Of the narrowest interval, where they differ."""
        pairs = zip(self.edges, self.edges[1:], strict=False)
        return confidence * min(Fraction(right) - Fraction(left) for left, right in pairs)

    @classmethod
    def hiding(cls, width: Fraction, confidence: Fraction, grid: Grid) -> "Discretized":
        """Intervals of equal numbers of cells, as many as are wide enough."""
        low, high = Fraction(grid.edges[0]), Fraction(grid.edges[-1])
        for parts in range(max(math.floor((high - low) / (width / confidence)), 1), 0, -1):
            places = sorted({grid.cells * part // parts for part in range(parts + 1)})
            blur = cls(edges=tuple(grid.edge(place) for place in places))
            if blur.width(confidence) >= width:
                return blur
        raise InputError(
            f"No interval of the range hides a value in a width of {float(width):g} at this confidence, for all of it "
            f"is {float(high - low):g} wide. Ask for less privacy, add noise instead, or withhold the attribute."
        )


@dataclass(frozen=True, kw_only=True)
class Retained:
    """A category: the truth with this probability, else one of the others, each alike (the paper's future work)."""

    probability: Fraction
    kind: ClassVar[str] = "retained"

    def __post_init__(self) -> None:
        if not 0 < self.probability < 1:
            raise InputError(
                f"The chance to retain is {self.probability}. Give one between 0 and 1, or tell the truth."
            )

    def width(self, confidence: Fraction, size: int) -> Fraction:
        """How many categories it takes to hold the true one at this confidence, parts of one included."""
        if confidence <= self.probability:
            return confidence / self.probability
        return 1 + (confidence - self.probability) * (size - 1) / (1 - self.probability)

    @classmethod
    def hiding(cls, share: Fraction, confidence: Fraction, size: int) -> "Retained":
        """Retaining as often as leaves at least this share of the categories possible at this confidence."""
        if share >= confidence:
            raise InputError(
                f"Of {size} categories no answer leaves {float(share):.0%} possible at {float(confidence):.0%} "
                "confidence: that would tell nothing. Ask for less, give the chance to retain, an epsilon, or withhold."
            )
        if share * size <= 1:
            return cls(probability=confidence)
        return cls(probability=(confidence * (size - 1) - share * size + 1) / (size * (1 - share)))


@dataclass(frozen=True, kw_only=True)
class Laplace:
    """A number plus discrete Laplace noise, clamped to the public range: epsilon-locally private over all of it.

    Clamping loses nothing: beyond an end of the range every outcome speaks for the same values equally strongly.
    """

    epsilon: Fraction
    kind: ClassVar[str] = "laplace"

    def __post_init__(self) -> None:
        check_local_epsilon(self.epsilon)


@dataclass(frozen=True, kw_only=True)
class RandomizedResponse:
    """The truth, or one of the other values evenly, with odds of e^epsilon for the truth: epsilon-locally private."""

    epsilon: Fraction
    kind: ClassVar[str] = "randomized-response"

    def __post_init__(self) -> None:
        check_local_epsilon(self.epsilon)


Blur = Truthful | Withheld | Uniform | Gaussian | Discretized | Retained | Laplace | RandomizedResponse
BLURS: dict[str, type[Blur]] = {
    blur.kind: blur
    for blur in (Truthful, Withheld, Uniform, Gaussian, Discretized, Retained, Laplace, RandomizedResponse)
}


def parse_share(value: object, *, name: str) -> Fraction:
    """A share such as "100%", "0.95" or 1/2, exactly.

    >>> parse_share("95%", name="confidence"), parse_share(0.5, name="privacy")
    (Fraction(19, 20), Fraction(1, 2))
    """
    text = repr(value) if isinstance(value, float) else str(value).strip()
    try:
        share = Fraction(text.removesuffix("%").strip()) / (100 if text.endswith("%") else 1)
    except (ValueError, ZeroDivisionError) as error:
        raise InputError(f"{name} is {value!r}, not a number. Give a percentage such as 95%.") from error
    if share <= 0:
        raise InputError(f"{name} is {value}, but must be above zero. Give a percentage such as 95%.")
    return share


def parse_confidence(value: object) -> Fraction:
    confidence = parse_share(value, name="confidence")
    if confidence >= 1:
        raise InputError(f"confidence is {value}, but must be below 100%. The paper uses 95%.")
    return confidence


def _quantile(confidence: Fraction) -> Fraction:
    """How many standard deviations to each side hold this share of normal noise, to twelve decimals."""
    return Fraction(f"{NormalDist().inv_cdf(float((1 + confidence) / 2)):.{SIGMA_DIGITS}f}")


def _refinement(wanted: Fraction) -> int:
    """The least of 1, 2, 5, 10, 20, ... that is at least `wanted`: a decimal step stays one when divided by it."""
    scale = 1
    while True:
        for factor in (1, 2, 5):
            if scale * factor >= wanted:
                return scale * factor
        scale *= 10


def _check_positive(name: str, value: Fraction) -> None:
    if value <= 0:
        raise InputError(f"The noise has {name} {value}. Give a number above zero, or tell the truth.")


def _check_refine(refine: int) -> None:
    if refine < 1:
        raise InputError(f"`refine` is {refine}. Give a whole number, one or more.")
