"""The candidates for a combination of attributes: single attributes, pairs, some triples, and larger ones step by step.

Post-processing of paid answers. Pairs grow with the square of the attributes, triples with the cube. Each candidate
costs time, and the more of them there are, the larger a residual must be to stand out from the noise of the choice. An
attribute with a large effect of its own more often changes the effect of others, so a wide table loses little without
the rest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod, sqrt

import numpy as np

from scumble.methods.diffgen.detail.class_totals import class_totals
from scumble.methods.diffgen.detail.combinations import Combination
from scumble.methods.diffgen.detail.measured import Measured, Table
from scumble.methods.diffgen.detail.terms import Term

MOST_IN_PAIRS, MOST_IN_TRIPLES = 40, 9
"""At most 780 pairs and 84 triples are compared."""
MOST_BINS, LARGEST_COMBINATION = 5, 128
"""Attributes are combined in at most about so many bins each, and in at most so many combinations of bins."""
MOST_BINS_MEASURED, FINER, LARGEST_MEASURED = 20, 1.5, 4096
"""A chosen combination is measured in up to so many bins of each attribute, as long as its combinations of bins are at
most 1.5 times as many as the square root of the information: choosing it needs sums of many records, measuring less."""
BINS_ALONE = 20
"""An attribute whose own effect differs from what was measured is a candidate, too, in about so many bins."""
HEAD_STARTS_OF_TRIPLES = 2
"""Triples contain the residuals of their pairs, in fewer bins. So one is chosen only if it exceeds the head start of
adding nothing twice."""


@dataclass(frozen=True, kw_only=True)
class CombinationCandidate:
    """A combination, and how many times it must exceed the head start of adding nothing."""

    combination: Combination
    head_starts: int = 1


def candidate_combinations(
    measured: Measured, chosen: Sequence[tuple[int, ...]], price: float
) -> tuple[CombinationCandidate, ...]:
    """All candidates, if combinations of these attributes were chosen before and `price` pays for the next one."""
    everything = range(len(measured.names))
    groups = [*((place,) for place in everything), *combinations(_to_combine(measured, MOST_IN_PAIRS), 2)]
    for each in chosen:
        groups += [tuple(sorted({*each, other})) for other in everything if len(each) > 1]
    few = [measured.alone(place, _bins(measured, price, 2)) for place in everything]
    fewer = [measured.alone(place, _bins(measured, price, 3)) for place in everything]
    alone = [measured.alone(place, BINS_ALONE) for place in everything]
    found = {
        group: CombinationCandidate(combination=_combined([few[place] for place in group]))
        for group in groups
        if prod(len(few[place]) for place in group) <= LARGEST_COMBINATION
    }
    found |= {(place,): CombinationCandidate(combination=alone[place]) for place in everything}
    for group in combinations(_to_combine(measured, MOST_IN_TRIPLES), 3):
        combination = _combined([fewer[place] for place in group])
        found.setdefault(group, CombinationCandidate(combination=combination, head_starts=HEAD_STARTS_OF_TRIPLES))
    return tuple(candidate for group, candidate in found.items() if group not in chosen)


def refined(measured: Measured, chosen: Combination, price: float) -> Combination:
    """A chosen combination in as many bins as the price allows to measure, or as it is if that would be fewer.

    Attributes with few values leave more bins to the others.
    """
    most = FINER * sqrt(_information(measured, price))
    bins = 2
    while bins < MOST_BINS_MEASURED and _cells(measured, chosen.places, bins + 1) <= most:
        bins += 1
    found = _combined([measured.alone(place, bins) for place in chosen.places])
    return found if len(chosen) < len(found) <= LARGEST_MEASURED else chosen


def _cells(measured: Measured, places: Sequence[int], bins: int) -> int:
    return prod(min(measured.domains[place].size, bins) for place in places)


def _to_combine(measured: Measured, most: int) -> list[int]:
    return attributes_to_combine(len(measured.names), measured.tables, measured.model.terms, most)


def attributes_to_combine(attributes: int, tables: Mapping[int, Table], terms: Sequence[Term], most: int) -> list[int]:
    """At most so many attributes, by the mean range of the shifts that the terms of their tables have over classes.

    The terms are in the order of the tables; further ones are ignored. An attribute without a table has no effect.
    """
    effects = dict.fromkeys(range(attributes), 0.0)
    for (place, table), term in zip(tables.items(), terms, strict=False):
        sizes = np.maximum(table.counts.sum(axis=2), 0).ravel()
        effects[place] = float(sizes @ np.ptp(term.shifts, axis=1)) / max(float(sizes.sum()), 1.0)
    largest_first = sorted(effects, key=lambda place: -effects[place])
    return sorted(largest_first[:most])


def _bins(measured: Measured, price: float, attributes: int) -> int:
    """About how many bins each of several attributes should have: as in `best_bins`, their combinations are as many as
    the square root of the information that the price gives."""
    return min(max(int(_information(measured, price) ** (0.5 / attributes)), 2), MOST_BINS)


def _information(measured: Measured, price: float) -> float:
    """The information that a price gives."""
    return 2 * price * max(float(class_totals(measured.totals).sum()), 1.0) / len(measured.schema.classes)


def _combined(alone: Sequence[Combination]) -> Combination:
    """Several attributes together, each in the bins that it has alone."""
    return Combination(
        places=tuple(place for each in alone for place in each.places),
        bins=tuple(bins for each in alone for bins in each.bins),
    )
