"""Randomizers of one attribute: their public parameters, and the privacy each provides.

Uniform noise, Gaussian noise and discretization provide interval privacy: an observer who sees the report can locate
the true value with confidence c only in an interval of a stated width (Agrawal & Srikant 2000, section 2.1, Table 1:
c x W, c x 2 alpha, and 1.349, 3.920, 6.581 standard deviations at 50, 95 and 99.9 %; the paper prints 6.8 for the
last). Interval privacy is not differential privacy. Laplace noise and randomized response are locally differentially
private.
"""

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from statistics import NormalDist
from typing import ClassVar

from scumble.errors import InputError
from scumble.foreign.numbers import parse_fraction, shown
from scumble.model.grid import Grid
from scumble.model.local.noise_law import check_local_epsilon

FINE = 100
"""Noise takes at least this many different values. If the steps of the grid are too coarse, they are subdivided."""
SIGMA_DIGITS = 12


@dataclass(frozen=True, kw_only=True)
class Truthful:
    """Reports the value without noise. No guarantee covers it."""

    kind: ClassVar[str] = "truthful"


@dataclass(frozen=True, kw_only=True)
class Withheld:
    """Reports nothing: the attribute is not published."""

    kind: ClassVar[str] = "withheld"


@dataclass(frozen=True, kw_only=True)
class Uniform:
    """Adds uniform noise from -`half_width` to `half_width`, in the unit of the attribute."""

    half_width: Fraction
    refine: int = 1
    """The number of noise steps per step of the grid."""
    kind: ClassVar[str] = "uniform"

    def __post_init__(self) -> None:
        _check_positive("half_width", self.half_width)
        _check_refine(self.refine)

    def width(self, confidence: Fraction) -> Fraction:
        return confidence * 2 * self.half_width

    @classmethod
    def hiding(cls, width: Fraction, confidence: Fraction, step: Fraction) -> "Uniform":
        """The smallest noise whose interval at this confidence has at least this width."""
        spread = width / confidence
        refine = _refinement(FINE * step / spread)
        fine = step / refine
        reach = max(math.ceil((spread / fine - 1) / 2), 0)
        return cls(half_width=(reach + Fraction(1, 2)) * fine, refine=refine)


@dataclass(frozen=True, kw_only=True)
class Gaussian:
    """Adds normal noise of standard deviation `sigma`, in the unit of the attribute, truncated at 6 `sigma`."""

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
    """Reports the interval, between these edges, that contains the value (the paper's value-class membership)."""

    edges: tuple[Decimal, ...]
    kind: ClassVar[str] = "discretized"

    def __post_init__(self) -> None:
        Grid(edges=self.edges)  # refuses edges that do not increase

    def width(self, confidence: Fraction) -> Fraction:
        """The width of the narrowest interval, times the confidence."""
        pairs = zip(self.edges, self.edges[1:], strict=False)
        return confidence * min(Fraction(right) - Fraction(left) for left, right in pairs)

    @classmethod
    def hiding(cls, width: Fraction, confidence: Fraction, grid: Grid, *, name: str = "NAME") -> "Discretized":
        """As many intervals of equal numbers of cells as this width allows."""
        low, high = Fraction(grid.edges[0]), Fraction(grid.edges[-1])
        for parts in range(max(math.floor((high - low) / (width / confidence)), 1), 0, -1):
            places = sorted({grid.cells * part // parts for part in range(parts + 1)})
            randomizer = cls(edges=tuple(grid.edge(place) for place in places))
            if randomizer.width(confidence) >= width:
                return randomizer
        raise InputError(
            f"{name!r}: discretization cannot hide a value in a width of {float(width):g} at this confidence, for its "
            f"range is {float(high - low):g} wide. Lower the privacy, add noise instead, or withhold the attribute."
        )


@dataclass(frozen=True, kw_only=True)
class Retained:
    """Reports the true category with this probability, otherwise one of the others, uniformly.

    The paper leaves categories to future work (section 6)."""

    probability: Fraction
    kind: ClassVar[str] = "retained"

    def __post_init__(self) -> None:
        if not 0 < self.probability < 1:
            raise InputError(
                f"The probability to retain a category is {self.probability}. Give one between 0 and 1, or report the "
                "attribute without noise (truthful)."
            )

    def width(self, confidence: Fraction, size: int) -> Fraction:
        """The number of categories, the reported one first, that contain the true one at this confidence.

        The reported category counts with `probability`, the others share the rest equally. The number is fractional.
        """
        if confidence <= self.probability:
            return confidence / self.probability
        return 1 + (confidence - self.probability) * (size - 1) / (1 - self.probability)

    @classmethod
    def hiding(cls, share: Fraction, confidence: Fraction, size: int, *, name: str = "NAME") -> "Retained":
        """The largest probability that leaves at least this share of the categories possible at this confidence."""
        if share >= confidence:
            raise InputError(
                f"{name!r} has {size} categories, and a privacy of {float(share):.0%} at {float(confidence):.0%} "
                "confidence would leave all of them possible: its reports would carry no information. Give the "
                f"probability to report the true category (--retain {name}=70%, or --retain 70% for all), a privacy "
                f"below the confidence (--privacy-of {name}=50%), or leave the attribute out (--withhold {name})."
            )
        if share * size <= 1:
            return cls(probability=confidence)
        return cls(probability=(confidence * (size - 1) - share * size + 1) / (size * (1 - share)))


@dataclass(frozen=True, kw_only=True)
class Laplace:
    """Adds discrete Laplace noise and clamps the sum to the public range: epsilon-locally differentially private.

    Clamping loses no information: all reports beyond one end have the same likelihood ratios.
    """

    epsilon: Fraction
    kind: ClassVar[str] = "laplace"

    def __post_init__(self) -> None:
        check_local_epsilon(self.epsilon)


@dataclass(frozen=True, kw_only=True)
class RandomizedResponse:
    """k-ary randomized response: reports the true value e^epsilon times as likely as each other value."""

    epsilon: Fraction
    kind: ClassVar[str] = "randomized-response"

    def __post_init__(self) -> None:
        check_local_epsilon(self.epsilon)


Randomizer = Truthful | Withheld | Uniform | Gaussian | Discretized | Retained | Laplace | RandomizedResponse
RANDOMIZERS: dict[str, type[Randomizer]] = {
    randomizer.kind: randomizer
    for randomizer in (Truthful, Withheld, Uniform, Gaussian, Discretized, Retained, Laplace, RandomizedResponse)
}


def parse_share(value: object, *, name: str) -> Fraction:
    """The exact value of a share such as "100%", "0.95" or 1/2.

    >>> parse_share("95%", name="confidence"), parse_share(0.5, name="privacy")
    (Fraction(19, 20), Fraction(1, 2))
    """
    text = repr(value) if isinstance(value, float) else str(value).strip()
    try:
        share = parse_fraction(text.removesuffix("%").strip()) / (100 if text.endswith("%") else 1)
    except ValueError as error:
        raise InputError(f"{name} is {shown(value)}, not a number. Give a percentage such as 95%.") from error
    if share <= 0:
        raise InputError(f"{name} is {value}, but must be above zero. Give a percentage such as 95%.")
    return share


def parse_confidence(value: object) -> Fraction:
    confidence = parse_share(value, name="confidence")
    if confidence >= 1:
        raise InputError(f"confidence is {value}, but must be below 100%. The usual value is 95%.")
    return confidence


def _quantile(confidence: Fraction) -> Fraction:
    """How many standard deviations on each side contain this share of normal noise, to twelve decimals."""
    return Fraction(f"{NormalDist().inv_cdf(float((1 + confidence) / 2)):.{SIGMA_DIGITS}f}")


def _refinement(wanted: Fraction) -> int:
    """The smallest of 1, 2, 5, 10, 20, ... that is at least `wanted`. It divides a decimal step into decimal steps."""
    scale = 1
    while True:
        for factor in (1, 2, 5):
            if scale * factor >= wanted:
                return scale * factor
        scale *= 10


def _check_positive(name: str, value: Fraction) -> None:
    if value <= 0:
        raise InputError(
            f"The noise has {name} {value}. Give a number above zero, or report the attribute without noise (truthful)."
        )


def _check_refine(refine: int) -> None:
    if refine < 1:
        raise InputError(f"`refine` is {refine}. Give an integer of at least one.")
