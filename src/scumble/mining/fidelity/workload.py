"""A workload of random counting queries, and how wrong a published table answers them.

A query is a conjunction of conditions on one to three attributes: of numbers, dates and ordered categories, an interval
of bins; of other categories, a set of at most half of the values. It depends on the public schema only. The answer is
the share of records that satisfy all conditions. A published value that covers several values of the schema counts
evenly for each.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scumble.mining.fidelity.one_way import Columns
from scumble.model.counts import Floats
from scumble.model.grid import Grid
from scumble.model.public_bins import USUAL_BINS, public_bins
from scumble.model.schema import Attribute, Schema
from scumble.model.values import recoding

DrawBelow = Callable[[int], int]
"""Returns a random number from 0 up to its argument, which is excluded."""
MOST_WAYS = 3
SMALLEST_SHARE = 0.001
"""The relative error of a smaller true share is relative to this one: one in a thousand records."""


@dataclass(frozen=True, kw_only=True)
class RandomQuery:
    """Conditions on attributes: for each, which codes of the public domain satisfy it. In words, too."""

    conditions: Mapping[str, npt.NDArray[np.bool_]]
    words: str

    def share(self, columns: Columns, published: Schema, schema: Schema, weights: Floats) -> float:
        """The share of the weight of a table's rows that satisfies all conditions; 0 if it has no rows."""
        satisfied = weights
        for name, accepted in self.conditions.items():
            coarse = published[name].domain
            code = recoding(schema[name].domain, coarse)
            covered = np.bincount(code, minlength=coarse.size)
            inside = np.bincount(code, weights=accepted, minlength=coarse.size) / np.maximum(covered, 1)
            satisfied = satisfied * inside[columns[name]]
        total = float(weights.sum())
        return float(satisfied.sum()) / total if total else 0.0


def random_queries(schema: Schema, number: int, draw: DrawBelow) -> list[RandomQuery]:
    """Queries on one, two and three attributes in turn, as far as the schema has so many."""
    usable = [attribute for attribute in schema.attributes if attribute.domain.size > 1]
    found = []
    for place in range(number if usable else 0):
        left = list(usable)
        chosen = [left.pop(draw(len(left))) for _ in range(min(place % MOST_WAYS + 1, len(usable)))]
        drawn = [(attribute.name, *_condition(attribute, draw)) for attribute in chosen]
        conditions = {name: accepted for name, accepted, _ in drawn}
        found.append(RandomQuery(conditions=conditions, words=" and ".join(words for _, _, words in drawn)))
    return found


def _condition(attribute: Attribute, draw: DrawBelow) -> tuple[npt.NDArray[np.bool_], str]:
    domain = attribute.domain
    accepted = np.zeros(domain.size, dtype=np.bool_)
    if attribute.in_order:
        bins = public_bins(attribute, USUAL_BINS)
        apart = isinstance(domain, Grid) and domain.size > domain.cells
        first = draw(bins.number - apart)
        last = first + draw(bins.number - apart - first)
        low, high = bins.bounds[first], bins.bounds[last + 1] - 1
        accepted[low : high + 1] = True
        return accepted, f"{attribute.name} {_span(attribute, low, high)}"
    codes = list(range(domain.size))
    number = 1 + draw(max(1, domain.size // 2))
    chosen = sorted(codes.pop(draw(len(codes))) for _ in range(number))
    accepted[chosen] = True
    return accepted, f"{attribute.name} in {{{', '.join(domain.labels[code] for code in chosen)}}}"


def _span(attribute: Attribute, low: int, high: int) -> str:
    """An interval of codes in words."""
    domain = attribute.domain
    if isinstance(domain, Grid):
        return f"in {domain.interval(low, high + 1).label}"
    return f"from {domain.labels[low]} to {domain.labels[high]}"


@dataclass(frozen=True, kw_only=True)
class CheckedQuery:
    """A query with the true share of records and the published one."""

    words: str
    true: float
    released: float

    @property
    def error(self) -> float:
        return abs(self.released - self.true)

    @property
    def relative_error(self) -> float:
        return self.error / max(self.true, SMALLEST_SHARE)


def quantiles(values: Sequence[float]) -> dict[str, float]:
    """The median, the 90 % and 95 % quantiles and the largest value.

    >>> quantiles([0.0, 1.0, 2.0])
    {'50': 1.0, '90': 1.8, '95': 1.9, '100': 2.0}
    """
    return {str(share): float(np.quantile(values, share / 100)) for share in (50, 90, 95, 100)}
