"""Bins that follow the records: those of an attribute in tables of several attributes."""

from itertools import pairwise

import numpy as np

from scumble.methods.explore.margins import ValueBins
from scumble.model.counts import Floats
from scumble.model.domain import Domain
from scumble.model.grid import Grid


def bins_by_records(domain: Domain, ranges: ValueBins, shares: Floats, most: int) -> ValueBins:
    """About `most` bins with similar shares of the records. A bin is a union of ranges, or lies inside one.

    Only a range with at least the average share of a bin is divided, value by value. A range or value with so large a
    share is a bin of its own, and so are missing numbers.
    """
    units: list[tuple[int, float, int]] = []
    section = 0
    for start, end in pairwise((*ranges.starts, ranges.size)):
        share = float(shares[start:end].sum())
        if share >= 1 / most and end - start > 1:
            units += [(code, float(shares[code]), section + 1) for code in range(start, end)]
            section += 2
        else:
            units.append((start, share, section))
    starts, each, sections = (np.array(column) for column in zip(*units, strict=True))
    alone = each >= 1 / most
    rung = np.floor((np.cumsum(each) - each / 2) * most)
    begins = (np.diff(rung) > 0) | alone[1:] | alone[:-1] | (np.diff(sections) > 0)
    if isinstance(domain, Grid) and domain.missing_code is not None:
        begins |= starts[1:] == domain.missing_code
    return ValueBins(starts=(0, *starts[1:][begins].tolist()), size=ranges.size)
