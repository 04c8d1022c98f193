"""Generalized values as boxes of codes: their labels, and rows whose values are spread evenly over their boxes."""

from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from math import isqrt

import numpy as np

from scumble.errors import InputError
from scumble.model.counts import Integers
from scumble.model.domain import Domain
from scumble.model.grid import Grid

CodeRange = tuple[int, int]


def label_of_range(domain: Domain, low: int, high: int) -> str:
    """The generalized value over the codes [low, high). A single category has the name of its leaf.

    >>> label_of_range(Grid.regular(low=Decimal(15), high=Decimal(95), step=Decimal(1)), 0, 13)
    '[15,28)'
    """
    if high == low + 1 and not isinstance(domain, Grid):
        return domain.labels[low]
    return domain.interval(low, high).label


def range_of_label(domain: Domain, label: str) -> CodeRange:
    """The inverse of `label_of_range`. Raises `InputError` for a text that is not a value of the domain."""
    if not isinstance(domain, Grid):
        node = domain.node(label)
        return node.low, node.high
    found = _grid_range(domain, label)
    if found is None or domain.interval(*found).label != label:
        raise InputError(
            f"{label!r} is not an interval of the published domain. Write [LOW,HIGH) with two edges of it."
        )
    return found


def _grid_range(grid: Grid, label: str) -> CodeRange | None:
    if label == grid.missing and not grid.joined:
        return grid.cells, grid.size
    numbers = label if grid.missing is None else label.removesuffix(f"|{grid.missing}")
    low, comma, high = numbers.removeprefix("[").removesuffix(")").partition(",")
    places = [_edge_place(grid, text) for text in (low, high)]
    if not comma or places[0] is None or places[1] is None or not places[0] < places[1]:
        return None
    return places[0], grid.size if numbers != label else places[1]


def _edge_place(grid: Grid, text: str) -> int | None:
    """The position of an edge that is written as text; None if the grid has no such edge."""
    try:
        edge = Decimal(text)
        if not edge.is_finite() or len(text) > 1000 or abs(edge.adjusted()) > 1000:
            return None
    except InvalidOperation:
        return None
    if grid.step is None:
        return grid.edges.index(edge) if edge in grid.edges else None
    place = (Fraction(edge) - Fraction(grid.edges[0])) / Fraction(grid.step)
    return int(place) if place.denominator == 1 and 0 <= place <= grid.cells else None


def spread(lows: Integers, highs: Integers) -> Integers:
    """For each row, one code of each of its ranges. `lows` and `highs` have a line for each row.

    Rows with equal ranges get codes that cover the range evenly, and those of several attributes cover their box evenly
    (a Kronecker sequence: the fractional parts of multiples of square roots of primes). It draws nothing at random.

    >>> spread(np.zeros((6, 1), dtype=np.int64), np.full((6, 1), 3)).ravel().tolist()
    [1, 2, 0, 1, 0, 1]
    """
    steps = np.sqrt(np.array(_primes(lows.shape[1]), dtype=np.float64))
    parts = np.mod(np.outer(np.arange(1, len(lows) + 1), steps), 1.0)
    codes: Integers = np.minimum(lows + (parts * (highs - lows)).astype(np.int64), highs - 1)
    return codes


def _primes(number: int) -> Sequence[int]:
    def endless() -> Iterator[int]:
        candidate = 2
        while True:
            if all(candidate % divisor for divisor in range(2, isqrt(candidate) + 1)):
                yield candidate
            candidate += 1

    found = endless()
    return [next(found) for _ in range(number)]
