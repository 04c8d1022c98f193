"""One attribute and its randomizer: the domain of the reported values, and the channel that produces them.

Additive noise widens the domain; every other randomizer reports a value, or an interval, of the original one.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from scumble.errors import InputError
from scumble.model.budget import budget_text
from scumble.model.counts import Integers
from scumble.model.domain import Domain
from scumble.model.grid import Grid
from scumble.model.local.channel import AdditiveChannel, Channel, GroupingChannel, ReplacementChannel, packed
from scumble.model.local.noise_law import (
    gaussian_weights,
    laplace_weights,
    response_epsilon,
    response_weights,
    retain_weights,
    uniform_weights,
)
from scumble.model.local.randomizers import (
    Discretized,
    Gaussian,
    Laplace,
    RandomizedResponse,
    Randomizer,
    Retained,
    Truthful,
    Uniform,
    Withheld,
)
from scumble.model.schema import Attribute
from scumble.model.taxonomy import Tree
from scumble.model.values import recoding


@dataclass(frozen=True, kw_only=True)
class RandomizedAttribute:
    """The public description of one perturbed column.

    A missing number is reported as missing. Interval privacy does not hide that; Laplace noise refuses such an
    attribute.
    """

    attribute: Attribute
    randomizer: Randomizer

    def __post_init__(self) -> None:
        if not isinstance(self.randomizer, Truthful | Withheld):
            _ = self.channel  # Building it refuses a randomizer that does not fit.

    @cached_property
    def channel(self) -> Channel:
        """The channel from true to reported codes. Additive noise leaves out the code of a missing number."""
        return _CHANNELS[self.randomizer.kind](self)

    @cached_property
    def context(self) -> bytes:
        """SHA-256 of the name, the whole domain and the exact channel: what a keyed word must depend on.

        One word under two different laws could reveal the value, and so could one word for the same code in two
        domains. The encoding uses neither class names nor the spelling of numbers (1 and 1.0 are the same edge).
        """
        law = self.channel.encoded()
        return hashlib.sha256(packed(_bytes(self.attribute.name), _encoded_domain(self.attribute.domain), law)).digest()

    @property
    def published(self) -> Attribute:
        """The attribute with the domain of its reported values."""
        return replace(self.attribute, domain=self._published_domain())

    @property
    def epsilon(self) -> Fraction | None:
        """The local epsilon of the randomizer; None if it has none."""
        match self.randomizer:
            case Laplace(epsilon=epsilon) | RandomizedResponse(epsilon=epsilon):
                return epsilon
            case Retained():
                channel = self.channel
                assert isinstance(channel, ReplacementChannel)
                return response_epsilon(channel.truth, channel.other)
        return None

    def width(self, confidence: Fraction) -> Fraction | None:
        """The width of the interval that contains the true value at this confidence; None without interval privacy.

        A category has a number of categories as its width: see `Retained.width`.
        """
        match self.randomizer:
            case Uniform() | Gaussian() | Discretized():
                return self.randomizer.width(confidence)
            case Retained():
                return self.randomizer.width(confidence, self.attribute.domain.size)
        return None

    def apply(self, codes: npt.NDArray[np.integer], words: Integers) -> Integers:
        """The reported code of each true code, each from one uniform 62-bit word."""
        channel = self.channel
        if channel.inputs == self.attribute.domain.size:
            return channel.apply(codes, words)
        # The one code that the channel does not take is a missing number, which stays missing.
        missing = codes == channel.inputs
        return np.where(missing, channel.outputs, channel.apply(np.where(missing, 0, codes), words))

    def report(self, code: int, word: int) -> int:
        """The reported code of one true code: `apply` without arrays."""
        channel = self.channel
        if code == channel.inputs:  # a missing number, as in `apply`
            return channel.outputs
        return channel.report(code, word)

    def _published_domain(self) -> Domain:
        grid = self.attribute.domain
        if isinstance(self.randomizer, Discretized):
            assert isinstance(grid, Grid)
            return Grid(edges=self.randomizer.edges, missing=grid.missing)
        if isinstance(self.randomizer, Uniform | Gaussian):
            channel, grid = self.channel, self._regular()
            assert isinstance(channel, AdditiveChannel) and grid.step is not None
            step = Fraction(grid.step) / channel.refine
            return Grid.regular(
                low=_decimal(Fraction(grid.edges[0]) - channel.margin * step),
                high=_decimal(Fraction(grid.edges[1]) + channel.margin * step),
                step=_decimal(step),
                missing=grid.missing,
            )
        return self.attribute.domain

    def _regular(self) -> Grid:
        grid = self.attribute.domain
        if not isinstance(grid, Grid) or grid.step is None or grid.joined:
            raise InputError(
                f"{self.attribute.name!r} is not a number on a regular grid, which {self.randomizer.kind} noise needs. "
                "Give it `low`, `high` and `step` in the schema, or choose another randomizer."
            )
        return grid


def _truthful(randomized: RandomizedAttribute) -> Channel:
    return GroupingChannel(groups=np.arange(randomized.attribute.domain.size))


def _withheld(randomized: RandomizedAttribute) -> Channel:
    raise InputError(f"{randomized.attribute.name!r} is withheld, so it has no reports.")


def _uniform(randomized: RandomizedAttribute) -> Channel:
    randomizer, grid = randomized.randomizer, randomized._regular()
    assert isinstance(randomizer, Uniform) and grid.step is not None
    steps = randomizer.half_width * randomizer.refine / Fraction(grid.step) - Fraction(1, 2)
    if steps.denominator != 1 or steps < 0:
        raise InputError(
            f"{randomized.attribute.name!r}: the half width {budget_text(randomizer.half_width)} is not a whole number "
            f"of steps of {grid.step}/{randomizer.refine} plus half a step. Use the one that `Uniform.hiding` returns."
        )
    reach = int(steps)
    return AdditiveChannel(weights=uniform_weights(reach), cells=grid.cells, refine=randomizer.refine, margin=reach)


def _gaussian(randomized: RandomizedAttribute) -> Channel:
    randomizer, grid = randomized.randomizer, randomized._regular()
    assert isinstance(randomizer, Gaussian) and grid.step is not None
    weights = gaussian_weights(randomizer.sigma * randomizer.refine / Fraction(grid.step))
    return AdditiveChannel(weights=weights, cells=grid.cells, refine=randomizer.refine, margin=len(weights) // 2)


def _discretized(randomized: RandomizedAttribute) -> Channel:
    randomizer, grid = randomized.randomizer, randomized.attribute.domain
    assert isinstance(randomizer, Discretized)
    if (
        not isinstance(grid, Grid)
        or grid.joined
        or (randomizer.edges[0], randomizer.edges[-1]) != (grid.edges[0], grid.edges[-1])
    ):
        raise InputError(
            f"{randomized.attribute.name!r}: the intervals do not cover its range. Begin and end with the range."
        )
    edges = np.array([float(edge) for edge in randomizer.edges])
    lows = grid.edge_floats[:-1]
    if not np.isin(edges[:-1], lows).all():
        raise InputError(
            f"{randomized.attribute.name!r}: an interval begins inside a cell. Put edges where cells meet."
        )
    return GroupingChannel(groups=recoding(replace(grid, missing=None), Grid(edges=randomizer.edges)))


def _laplace(randomized: RandomizedAttribute) -> Channel:
    randomizer, grid = randomized.randomizer, randomized._regular()
    assert isinstance(randomizer, Laplace)
    if grid.missing is not None:
        raise InputError(
            f"{randomized.attribute.name!r} may be missing, which Laplace noise does not hide. Use randomized response "
            "on a coarse grid, or remove `missing` from the schema."
        )
    return AdditiveChannel(
        weights=laplace_weights(grid.cells, randomizer.epsilon), cells=grid.cells, refine=1, margin=0
    )


def _replacing(randomized: RandomizedAttribute) -> Channel:
    randomizer, size = randomized.randomizer, randomized.attribute.domain.size
    if isinstance(randomizer, RandomizedResponse):
        truth, other = response_weights(size, randomizer.epsilon)
    else:
        assert isinstance(randomizer, Retained)
        if not isinstance(randomized.attribute.domain, Tree):
            raise InputError(f"{randomized.attribute.name!r} is a number. Only a category can be retained or replaced.")
        truth, other = retain_weights(size, randomizer.probability)
    return ReplacementChannel(size=size, truth=truth, other=other)


_CHANNELS: dict[str, Callable[[RandomizedAttribute], Channel]] = {
    Truthful.kind: _truthful,
    Withheld.kind: _withheld,
    Uniform.kind: _uniform,
    Gaussian.kind: _gaussian,
    Discretized.kind: _discretized,
    Laplace.kind: _laplace,
    Retained.kind: _replacing,
    RandomizedResponse.kind: _replacing,
}


def _encoded_domain(domain: Domain) -> bytes:
    """The codes of a domain and their meaning. Taxonomies with the same leaves in the same order are alike."""
    if isinstance(domain, Tree):
        return packed(b"categories", *(_bytes(label) for label in domain.labels))
    edges = packed(*(_bytes(str(Fraction(edge))) for edge in domain.edges))
    step = b"" if domain.step is None else _bytes(str(Fraction(domain.step)))
    missing = packed() if domain.missing is None else packed(_bytes(domain.missing))
    return packed(b"numbers", edges, step, missing, b"joined" if domain.joined else b"apart")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _decimal(number: Fraction) -> Decimal:
    return Decimal(budget_text(number))
