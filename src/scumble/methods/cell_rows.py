"""Rows from whole numbers of records in the cells of a table. Post-processing, repeatable."""

import hashlib
from collections.abc import Mapping

import numpy as np

from scumble.model.counts import Floats, Integers, digits_of
from scumble.model.public_bins import Bins
from scumble.model.rounding import Rounding
from scumble.privacy.noise import simulation

RESOLUTION = 1024
"""Estimates are rounded to multiples of 1/1024 before they are projected, which is done in whole numbers."""


def whole_counts(estimates: Floats) -> Integers:
    """The nearest non-negative whole numbers with the same sum, rounded, of estimates of any shape.

    >>> whole_counts(np.array([[4.2, -1.0], [0.5, 2.3]])).tolist()
    [[4, 0], [0, 2]]
    """
    limit = 2**40  # far above any table: sums and products of the projection stay within 64 bits
    scaled = np.rint(np.clip(estimates, -limit, limit) * RESOLUTION).astype(np.int64)
    return Rounding.PROJECT.apply(scaled.reshape(-1, 1), RESOLUTION).reshape(estimates.shape)


def draw_in_cells(bins: Mapping[str, Bins], rows: Integers, *, seed: int) -> dict[str, Integers]:
    """A column of codes for each attribute: as many rows in each cell as `rows` says, with codes drawn evenly from the
    bins of the cell. `rows` has an axis for each attribute, in order."""
    generator = simulation(seed)
    cells = generator.permutation(np.repeat(np.arange(rows.size), rows.ravel()))
    digits = digits_of(cells, rows.shape)
    return {name: each.draw_codes(digit, generator) for (name, each), digit in zip(bins.items(), digits, strict=True)}


def seed_from(measured: Integers) -> int:
    """A seed that follows from the measured numbers, so that anyone can repeat the draws."""
    return int.from_bytes(hashlib.sha256(np.ascontiguousarray(measured, dtype="<i8").tobytes()).digest(), "big")
