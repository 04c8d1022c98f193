"""The compiled inner loops of counting, each over the rows of one block.

Sizes and weights have the integer type of the result, so that the compiler can vectorize the loops.
"""

from typing import Any

from scumble.compiled import compiled


@compiled
def set_digit(codes: Any, weights: Any, entries: Any) -> None:
    """Set every entry to the weight of the row's code."""
    for row in range(len(codes)):
        entries[row] = weights[codes[row]]


@compiled
def add_digit(codes: Any, weights: Any, entries: Any) -> None:
    """Add the weight of the row's code to every entry."""
    for row in range(len(codes)):
        entries[row] += weights[codes[row]]


@compiled
def append(places: Any, codes: Any, size: Any, wider: Any) -> None:
    """Append a column with `size` codes to row-major indices: `wider` is the index by all columns including it."""
    for row in range(len(codes)):
        wider[row] = wider.dtype.type(places[row]) * size + wider.dtype.type(codes[row])


@compiled
def append_two(places: Any, first: Any, first_size: Any, second: Any, second_size: Any, wider: Any) -> None:
    """Append two columns in one pass over the rows."""
    for row in range(len(first)):
        place = wider.dtype.type(wider.dtype.type(places[row]) * first_size) + wider.dtype.type(first[row])
        wider[row] = wider.dtype.type(place * second_size) + wider.dtype.type(second[row])


@compiled
def count(places: Any, counts: Any) -> None:
    """Count the rows at every index."""
    for row in range(len(places)):
        counts[places[row]] += 1


@compiled
def count_fine(codes: Any, entries: Any, start: Any, stride: Any, counts: Any) -> None:
    """Count the rows of every (entry, code) into the table of an attribute."""
    for row in range(len(codes)):
        counts[start[entries[row]] + stride * codes[row]] += 1
