"""Which attributes are candidates for a combination: all of them, or in a wide table those with the largest effects.

Post-processing of paid answers. Pairs grow with the square of the attributes. Each pair costs time, and the more of
them there are, the larger a residual must be to stand out from the noise of the choice. An attribute with a large
effect of its own more often changes the effect of others, so a wide table loses little without the rest.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from scumble.methods.diffgen.detail.measured import Table
from scumble.methods.diffgen.detail.terms import Term

MOST_COMBINED = 40
"""At most 780 pairs are compared."""


def attributes_to_combine(attributes: int, tables: Mapping[int, Table], terms: Sequence[Term]) -> list[int]:
    """At most 40 of the attributes, by the mean range of the shifts that the terms of their tables have over classes.

    The terms are in the order of the tables; further ones are ignored. An attribute without a table has no effect.
    """
    effects = dict.fromkeys(range(attributes), 0.0)
    for (place, table), term in zip(tables.items(), terms, strict=False):
        sizes = np.maximum(table.counts.sum(axis=2), 0).ravel()
        effects[place] = float(sizes @ np.ptp(term.shifts, axis=1)) / max(float(sizes.sum()), 1.0)
    largest_first = sorted(effects, key=lambda place: -effects[place])
    return sorted(largest_first[:MOST_COMBINED])
