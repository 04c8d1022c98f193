"""A transform: integers that are measured instead of the counts of one attribute, and how to infer counts from them.

A transform of a table with several attributes applies one transform along each axis. It is linear, so the change that a
record makes is the product of the changes along the axes, and so are the bounds on it.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

import numpy as np

from scumble.model.counts import Floats, Integers
from scumble.model.transforms.interval_tree import NumberArray


class Transform(ABC):
    """A linear map from counts of values to integers, and a linear estimate of the counts from noisy integers.

    All arrays have the values or the coefficients along their first axis.
    """

    kind: ClassVar[str]
    """What documents call it."""

    @property
    @abstractmethod
    def values(self) -> int:
        """How many counts it transforms."""

    @property
    @abstractmethod
    def coefficients(self) -> int:
        """How many integers it makes of them; never fewer."""

    @property
    @abstractmethod
    def sensitivity(self) -> int:
        """The largest sum of absolute coefficients of one record. Subclasses prove it in the docstring."""

    @property
    @abstractmethod
    def squared(self) -> int:
        """The largest sum of squared coefficients of one record."""

    @property
    def largest(self) -> int:
        """The largest coefficient of one record."""
        return 1

    @abstractmethod
    def forward(self, table: Integers) -> Integers:
        """The coefficients of exact counts."""

    @abstractmethod
    def reconstruct(self, measured: Floats) -> Floats:
        """Unbiased estimates of the counts: `reconstruct(forward(table))` is the table."""

    @abstractmethod
    def adjoint(self, weights: Floats) -> Floats:
        """The weights of the coefficients in a weighted sum of estimates: the transpose of `reconstruct`."""

    def to_json(self) -> dict[str, Any]:
        """The transform as plain data."""
        return {"kind": self.kind}


@dataclass(frozen=True, kw_only=True)
class Identity(Transform):
    """The counts themselves."""

    kind = "identity"
    size: int

    @property
    def values(self) -> int:
        return self.size

    @property
    def coefficients(self) -> int:
        return self.size

    @property
    def sensitivity(self) -> int:
        """A record is counted once."""
        return 1

    @property
    def squared(self) -> int:
        return 1

    def forward(self, table: Integers) -> Integers:
        return table

    def reconstruct(self, measured: Floats) -> Floats:
        return measured

    def adjoint(self, weights: Floats) -> Floats:
        return weights


def sensitivity_of(transforms: Sequence[Transform]) -> int:
    """The largest sum of absolute coefficients of one record of a table with one transform along each axis."""
    return prod(each.sensitivity for each in transforms)


def squared_of(transforms: Sequence[Transform]) -> int:
    """The largest sum of squared coefficients of one record."""
    return prod(each.squared for each in transforms)


def largest_of(transforms: Sequence[Transform]) -> int:
    """The largest coefficient of one record."""
    return prod(each.largest for each in transforms)


def transformed(table: Integers, transforms: Sequence[Transform]) -> Integers:
    """The coefficients of a table, with one transform along each axis."""
    return _along_axes(table, [each.forward for each in transforms])


def reconstructed(measured: Floats, transforms: Sequence[Transform]) -> Floats:
    """Estimates of the counts of a table from its noisy coefficients."""
    return _along_axes(measured, [each.reconstruct for each in transforms])


def coefficient_weights(weights: Floats, transforms: Sequence[Transform]) -> Floats:
    """The weights of the coefficients in a weighted sum of the estimates of a table."""
    return _along_axes(weights, [each.adjoint for each in transforms])


def _along_axes(table: NumberArray, steps: Sequence[Any]) -> Any:
    for axis, step in enumerate(steps):
        table = np.moveaxis(step(np.moveaxis(table, axis, 0)), 0, axis)
    return table
