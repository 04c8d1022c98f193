"""How the cases of a node divide among its branches: compiled loops over parts of two arrays, rows and weights."""

import numpy as np

from scumble.compiled import compiled


@compiled
def branch_of(code, cut):  # type: ignore[no-untyped-def]
    """The branch of a known code: that of its category, or one of the two sides of a threshold."""
    return np.int64(code) if cut < 0 else np.int64(code > cut)


@compiled
def known_shares(column, cases, begin, end, cut, shares):  # type: ignore[no-untyped-def]
    """Set the share of each branch in the weight of cases with known values; keep the shares if there are none.

    Returns the number of cases with unknown values.
    """
    sizes = np.zeros(len(shares))
    unknown = 0
    for place in range(begin, end):
        code = column[cases.rows[place]]
        if code >= 0:
            sizes[branch_of(code, cut)] += cases.weights[place]
        else:
            unknown += 1
    total = sizes.sum()
    if total > 0.0:
        shares[:] = sizes / total
    return unknown


@compiled
def branch_starts(column, cases, begin, end, cut, shares, unknown):  # type: ignore[no-untyped-def]
    """Where the cases of each branch start after division, and where the last end, from zero.

    A case with an unknown value is repeated in every branch with a positive share.
    """
    starts = np.zeros(len(shares) + 1, dtype=np.int64)
    for place in range(begin, end):
        code = column[cases.rows[place]]
        if code >= 0:
            starts[branch_of(code, cut) + 1] += 1
    for branch in range(len(shares)):
        starts[branch + 1] += starts[branch] + (unknown if shares[branch] > 0.0 else 0)
    return starts


@compiled
def divide(column, cases, begin, end, cut, shares, starts, space, into):  # type: ignore[no-untyped-def]
    """Write the cases of all branches to the place `into`, in their order; `space` is room for as many cases."""
    filled = starts[:-1].copy()
    for place in range(begin, end):
        row = cases.rows[place]
        code = column[row]
        if code >= 0:
            branch = branch_of(code, cut)
            space.rows[filled[branch]] = row
            space.weights[filled[branch]] = cases.weights[place]
            filled[branch] += 1
            continue
        for branch in range(len(shares)):
            if shares[branch] > 0.0:
                space.rows[filled[branch]] = row
                space.weights[filled[branch]] = cases.weights[place] * shares[branch]
                filled[branch] += 1
    for place in range(starts[-1]):
        cases.rows[into + place] = space.rows[place]
        cases.weights[into + place] = space.weights[place]


@compiled
def count_classes(labels, cases, begin, end, counts):  # type: ignore[no-untyped-def]
    """Set the weight of each class."""
    counts[:] = 0.0
    for place in range(begin, end):
        counts[labels[cases.rows[place]]] += cases.weights[place]
