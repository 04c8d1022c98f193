"""The tight loops of counting, each over the rows of one block. Sizes and weights have the type of what they make, so
that the machine can work on many rows at once."""

from typing import Any

from scumble.compiled import compiled


@compiled
def set_digit(codes: Any, weights: Any, entries: Any) -> None:
    for row in range(len(codes)):
        entries[row] = weights[codes[row]]


@compiled
def add_digit(codes: Any, weights: Any, entries: Any) -> None:
    for row in range(len(codes)):
        entries[row] += weights[codes[row]]


@compiled
def append(places: Any, codes: Any, size: Any, wider: Any) -> None:
    """One more column: the place in a table by all columns so far and this one, which has `size` codes."""
    for row in range(len(codes)):
        wider[row] = wider.dtype.type(places[row]) * size + wider.dtype.type(codes[row])


@compiled
def append_two(places: Any, first: Any, first_size: Any, second: Any, second_size: Any, wider: Any) -> None:
    """Two at once, which spares a pass."""
    for row in range(len(first)):
        place = wider.dtype.type(wider.dtype.type(places[row]) * first_size) + wider.dtype.type(first[row])
        wider[row] = wider.dtype.type(place * second_size) + wider.dtype.type(second[row])


@compiled
def count(places: Any, counts: Any) -> None:
    for row in range(len(places)):
        counts[places[row]] += 1


@compiled
def count_fine(codes: Any, entries: Any, start: Any, stride: Any, counts: Any) -> None:
    for row in range(len(codes)):
        counts[start[entries[row]] + stride * codes[row]] += 1
