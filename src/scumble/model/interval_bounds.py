"""The numbers behind published intervals: `[15,28)` stands for the numbers 15 <= x < 28."""

from decimal import Decimal

import numpy as np

from scumble.errors import InputError
from scumble.model.generalized import range_of_label
from scumble.model.grid import Grid
from scumble.model.notation import IntervalNotation, interval_ends
from scumble.model.schema import Attribute

Bounds = tuple[Decimal, Decimal]
"""The lower end, which belongs to the interval, and the upper end, which does not."""


def has_intervals(attribute: Attribute) -> bool:
    """Whether the values of an attribute are intervals of numbers."""
    return isinstance(attribute.domain, Grid) or isinstance(attribute.notation, IntervalNotation)


def whole_edges(attribute: Attribute) -> bool:
    """Whether all ends of an attribute's intervals are whole numbers that a double holds exactly."""
    edges = attribute.notation.edge_floats if isinstance(attribute.notation, IntervalNotation) else _edges(attribute)
    return bool(np.array_equal(edges, np.rint(edges)) and np.abs(edges).max() < 2**53)


def _edges(attribute: Attribute) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    assert isinstance(attribute.domain, Grid)
    return attribute.domain.edge_floats


def label_bounds(attribute: Attribute, label: str) -> Bounds | None:
    """The ends of a published interval; None for the label of missing values, and for a node that is not an interval.

    An interval that may also be a missing value, such as `[1,61)|?`, has the ends of its numbers.

    >>> from scumble.model.schema import Outside
    >>> grid = Grid(edges=(Decimal(1), Decimal(61)), missing="?", joined=True)
    >>> stay = Attribute(name="stay", domain=grid, outside=Outside.CLAMP, missing="?")
    >>> [str(end) for end in label_bounds(stay, "[1,61)|?") or ()]
    ['1', '61']
    """
    domain = attribute.domain
    if isinstance(domain, Grid):
        low, high = range_of_label(domain, label)
        return None if low >= domain.cells else (domain.edge(low), domain.edge(min(high, domain.cells)))
    try:
        return interval_ends(label) if isinstance(attribute.notation, IntervalNotation) else None
    except InputError:
        return None
