"""What the computation of an answer needs. A query declares it, a plan lists it, and a holder offers some of it."""

from enum import StrEnum


class Operation(StrEnum):
    """An operation on private data. Several owners who compute jointly can do only some of them."""

    SUMS = "sums over rows"
    COMPARISONS = "comparisons of sums"
    DIVISION = "division of sums"
    EXPONENTIAL = "the exponential mechanism"
    GAUSSIAN = "Gaussian noise"
    ROWS = "whole rows, or more than sums and comparisons of counts"


SUMS = frozenset({Operation.SUMS})
COMPARED = frozenset({Operation.SUMS, Operation.COMPARISONS})
ROWS = frozenset({Operation.ROWS})
