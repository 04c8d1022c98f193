"""Sizes of groups for use as numbers of records. Post-processing of measured sizes."""

from fractions import Fraction

import numpy as np

from scumble.model.counts import Integers
from scumble.model.guarantee import Unit
from scumble.model.rounding import Rounding
from scumble.model.schema import Schema


def usable_sizes(measured: Integers | None, schema: Schema) -> Integers:
    """Integer sizes, none negative, that add up to the public number of rows under replace, else to the measured
    total."""
    if measured is None:
        assert schema.rows is not None
        return np.array([schema.rows], dtype=np.int64)
    if schema.unit is Unit.REPLACE:
        assert schema.rows is not None
        excess = schema.rows - int(measured.sum())
        shares = np.diff([Fraction(excess * part, len(measured)).__floor__() for part in range(len(measured) + 1)])
        measured = measured + shares.astype(np.int64)
    return Rounding.PROJECT.apply(measured[:, None], 1)[:, 0]
