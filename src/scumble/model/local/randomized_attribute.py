"""One attribute with its blur: the widened domain its published values lie in, and the channel from codes to codes."""

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
from scumble.model.local.channel import Additive, Channel, Grouping, Replacing
from scumble.model.local.noise_law import (
    gaussian_weights,
    laplace_weights,
    response_epsilon,
    response_weights,
    retain_weights,
    uniform_weights,
)
from scumble.model.local.randomizers import (
    Blur,
    Discretized,
    Gaussian,
    Laplace,
    RandomizedResponse,
    Retained,
    Truthful,
    Uniform,
    Withheld,
)
from scumble.model.schema import Attribute
from scumble.model.taxonomy import Domain, Grid, Tree


@dataclass(frozen=True, kw_only=True)
class BlurredAttribute:
    """What everybody knows of a blurred column.

    A missing number stays missing, which interval privacy does not hide and local privacy refuses.
    """

    attribute: Attribute
    blur: Blur

    def __post_init__(self) -> None:
        if not isinstance(self.blur, Truthful | Withheld):
            _ = self.channel  # builds the law, so that what does not fit is refused now

    @cached_property
    def channel(self) -> Channel:
        """Among numbers alone where a missing value has a code of its own and the blur adds noise."""
        return _CHANNELS[self.blur.kind](self)

    @property
    def published(self) -> Attribute:
        """The attribute with the domain in which its blurred values lie."""
        return replace(self.attribute, domain=self._published_domain())

    @property
    def epsilon(self) -> Fraction | None:
        """What the blur costs where it is locally private, else None."""
        match self.blur:
            case Laplace(epsilon=epsilon) | RandomizedResponse(epsilon=epsilon):
                return epsilon
            case Retained():
                channel = self.channel
                assert isinstance(channel, Replacing)
                return response_epsilon(channel.truth, channel.other)
        return None

    def width(self, confidence: Fraction) -> Fraction | None:
        """The interval privacy of the blur; None where it is a matter of epsilon, or of nothing at all."""
        match self.blur:
            case Uniform() | Gaussian() | Discretized():
                return self.blur.width(confidence)
            case Retained():
                return self.blur.width(confidence, self.attribute.domain.size)
        return None

    def apply(self, codes: npt.NDArray[np.integer], words: Integers) -> Integers:
        """The published code of each true one, by one even word of 62 bits each."""
        channel = self.channel
        if channel.inputs == self.attribute.domain.size:
            return channel.apply(codes, words)
        # One code more than the channel takes: a missing number, which stays one.
        missing = codes == channel.inputs
        return np.where(missing, channel.outputs, channel.apply(np.where(missing, 0, codes), words))

    def _published_domain(self) -> Domain:
        grid = self.attribute.domain
        if isinstance(self.blur, Discretized):
            assert isinstance(grid, Grid)
            return Grid(edges=self.blur.edges, missing=grid.missing)
        if isinstance(self.blur, Uniform | Gaussian):
            channel, grid = self.channel, self._regular()
            assert isinstance(channel, Additive) and grid.step is not None
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
                f"{self.attribute.name!r} is no number on a regular grid, so {self.blur.kind} noise has no step to be "
                "added in. Give it low, high and step in the schema, or another blur."
            )
        return grid


def _truthful(blurred: BlurredAttribute) -> Channel:
    return Grouping(groups=np.arange(blurred.attribute.domain.size))


def _withheld(blurred: BlurredAttribute) -> Channel:
    raise InputError(f"{blurred.attribute.name!r} is withheld: nothing of it is published.")


def _uniform(blurred: BlurredAttribute) -> Channel:
    blur, grid = blurred.blur, blurred._regular()
    assert isinstance(blur, Uniform) and grid.step is not None
    steps = blur.half_width * blur.refine / Fraction(grid.step) - Fraction(1, 2)
    if steps.denominator != 1 or steps < 0:
        raise InputError(
            f"{blurred.attribute.name!r}: a half width of {budget_text(blur.half_width)} is no whole number of steps "
            f"of {grid.step}/{blur.refine} and half a one. Take what `Uniform.hiding` gives."
        )
    reach = int(steps)
    return Additive(weights=uniform_weights(reach), cells=grid.cells, refine=blur.refine, margin=reach)


def _gaussian(blurred: BlurredAttribute) -> Channel:
    blur, grid = blurred.blur, blurred._regular()
    assert isinstance(blur, Gaussian) and grid.step is not None
    weights = gaussian_weights(blur.sigma * blur.refine / Fraction(grid.step))
    return Additive(weights=weights, cells=grid.cells, refine=blur.refine, margin=len(weights) // 2)


def _discretized(blurred: BlurredAttribute) -> Channel:
    blur, grid = blurred.blur, blurred.attribute.domain
    assert isinstance(blur, Discretized)
    if not isinstance(grid, Grid) or grid.joined or (blur.edges[0], blur.edges[-1]) != (grid.edges[0], grid.edges[-1]):
        raise InputError(f"{blurred.attribute.name!r}: the intervals do not cover its range. Begin and end with it.")
    edges = np.array([float(edge) for edge in blur.edges])
    lows = grid.edge_floats[:-1]
    if not np.isin(edges[:-1], lows).all():
        raise InputError(f"{blurred.attribute.name!r}: an interval begins inside a cell. Put edges where cells meet.")
    return Grouping(groups=np.searchsorted(edges, lows, side="right") - 1)


def _laplace(blurred: BlurredAttribute) -> Channel:
    blur, grid = blurred.blur, blurred._regular()
    assert isinstance(blur, Laplace)
    if grid.missing is not None:
        raise InputError(
            f"{blurred.attribute.name!r} may be missing, which Laplace noise does not hide. Use randomized response on "
            "a few cells, or take `missing` out of the schema."
        )
    return Additive(weights=laplace_weights(grid.cells, blur.epsilon), cells=grid.cells, refine=1, margin=0)


def _replacing(blurred: BlurredAttribute) -> Channel:
    blur, size = blurred.blur, blurred.attribute.domain.size
    if isinstance(blur, RandomizedResponse):
        truth, other = response_weights(size, blur.epsilon)
    else:
        assert isinstance(blur, Retained)
        if not isinstance(blurred.attribute.domain, Tree):
            raise InputError(f"{blurred.attribute.name!r} is a number. Retaining or replacing is for categories.")
        truth, other = retain_weights(size, blur.probability)
    return Replacing(size=size, truth=truth, other=other)


_CHANNELS: dict[str, Callable[[BlurredAttribute], Channel]] = {
    Truthful.kind: _truthful,
    Withheld.kind: _withheld,
    Uniform.kind: _uniform,
    Gaussian.kind: _gaussian,
    Discretized.kind: _discretized,
    Laplace.kind: _laplace,
    Retained.kind: _replacing,
    RandomizedResponse.kind: _replacing,
}


def _decimal(number: Fraction) -> Decimal:
    return Decimal(budget_text(number))
