"""Coarse public bins of a schema's attributes, and rows on such bins turned back into codes.

Distances of margins are measured in at most `USUAL_BINS` bins of each attribute. Methods that fit marginals are slow
and noisy on long grids, so a comparison also runs peers on the same bins. The bins follow from the public schema alone,
so they cost no privacy budget. Drawing codes evenly within bins is post-processing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from scumble.errors import InputError
from scumble.model.counts import Integers
from scumble.model.ordered import Ordered
from scumble.model.schema import Attribute
from scumble.model.taxonomy import Node, Tree

USUAL_BINS = 20


class DrawsIntegers(Protocol):
    """A random generator, such as numpy's."""

    def integers(self, low: Any, high: Any) -> Any:
        """Whole numbers from `low` up to `high`, which is excluded."""


@dataclass(frozen=True, kw_only=True)
class Bins:
    """Intervals of codes that cover a domain in order: bin i has the codes bounds[i] .. bounds[i + 1] - 1."""

    bounds: tuple[int, ...]

    @property
    def number(self) -> int:
        return len(self.bounds) - 1

    def bins_of(self, codes: Integers) -> Integers:
        """The bin of every code."""
        return np.searchsorted(self.bounds, codes, side="right").astype(np.int64) - 1

    @property
    def by_code(self) -> Integers:
        """The bin of every code of the domain, in order."""
        return np.repeat(np.arange(self.number), np.diff(self.bounds))

    def draw_codes(self, bins: Integers, draw: DrawsIntegers) -> Integers:
        """A code drawn evenly from each bin."""
        bounds = np.array(self.bounds, dtype=np.int64)
        return np.asarray(draw.integers(bounds[bins], bounds[bins + 1]), dtype=np.int64)


def public_bins(attribute: Attribute, most: int | None) -> Bins:
    """At most so many bins of an attribute's codes; None: one bin for each code.

    A grid, and categories in an order, have bins of equal width in codes. A taxonomy has the nodes of its deepest level
    with at most so many nodes; if that is the root alone, it is binned by codes, too. Missing values with the last code
    have their own bin beside bins of equal width.

    >>> from decimal import Decimal
    >>> from scumble.model.grid import Grid
    >>> from scumble.model.schema import Outside
    >>> age = Grid.regular(low=Decimal(0), high=Decimal(7), step=Decimal(1), missing="?")
    >>> public_bins(Attribute(name="age", domain=age, outside=Outside.CLAMP, missing="?"), 4).bounds
    (0, 2, 4, 7, 8)
    """
    if most is not None and most < 2:
        raise InputError(f"{most} bins leave nothing of {attribute.name!r}. Give at least two.")
    domain = attribute.domain
    if most is None or domain.size <= most:
        return Bins(bounds=tuple(range(domain.size + 1)))
    if isinstance(domain, Tree) and not isinstance(domain, Ordered):
        level = _deepest_level(domain, most)
        if len(level) > 1:
            return Bins(bounds=(*(node.low for node in level), domain.size))
    apart = attribute.missing_code == domain.size - 1
    values, number = domain.size - apart, most - apart
    bounds = [place * values // number for place in range(number + 1)]
    return Bins(bounds=(*bounds, domain.size) if apart else tuple(bounds))


def _deepest_level(tree: Tree, most: int) -> Sequence[Node]:
    """The nodes at the largest depth that has at most so many, with the leaves above it."""
    level: list[Node] = [tree.root]
    while any(node.children for node in level):
        below = [child for node in level for child in node.children or (node,)]
        if len(below) > most:
            break
        level = below
    return level
