"""One-way distance: how far the one-way marginals of a published table are from those of the rows behind it.

A one-way marginal is the distribution of a single attribute. The total variation distance of two distributions is half
the sum of the absolute differences of their probabilities: the share of records that would have to change their value.
The one-way distance of two tables is its mean over all attributes, the class included: 0 if all one-way marginals
agree, 1 if no attribute has a value in common. Lower is better.

It is measured at two resolutions: for every value of the public schema, and with the values of each attribute in at
most twenty public bins, as in a histogram (`public_bins`). A published value that covers several values of the schema
(an interval, a node of a taxonomy) counts evenly for each of them, because the table does not say more.

The result is for the owner of the raw rows, or for public tables: it is computed without noise.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scumble.mining.benchmark.sample import Sample
from scumble.model.counts import Block, Floats, Integers
from scumble.model.domain import Domain
from scumble.model.public_bins import USUAL_BINS, public_bins
from scumble.model.schema import Schema
from scumble.model.values import recoding

Columns = Mapping[str, npt.NDArray[np.integer]]
"""The codes of some rows, for each attribute."""


@dataclass(frozen=True, kw_only=True)
class OneWayDistances:
    """The total variation distance of the one-way marginals of each attribute, in at most 20 bins and in full."""

    binned_by_attribute: Mapping[str, float]
    full_by_attribute: Mapping[str, float]

    @property
    def binned(self) -> float:
        """The mean over the attributes, with the values of each in at most 20 bins."""
        return float(np.mean(list(self.binned_by_attribute.values())))

    @property
    def full(self) -> float:
        """The mean over the attributes, for every value of the public schema."""
        return float(np.mean(list(self.full_by_attribute.values())))


def one_way_distances(table: Sample, published: Schema, rows: Block, schema: Schema) -> OneWayDistances:
    """The one-way distances of a published table, coded by its published schema, from raw rows in the public one."""
    columns = columns_of(table, published)
    binned, full = {}, {}
    for attribute, raw in zip(schema.attributes, rows, strict=True):
        domain, name = attribute.domain, attribute.name
        shown = spread_marginal(columns[name], table.counts, domain, published[name].domain)
        true = _shares(np.bincount(raw, minlength=domain.size))
        bins = public_bins(attribute, USUAL_BINS).by_code
        full[name] = total_variation(shown, true)
        binned[name] = total_variation(_summed(bins, shown), _summed(bins, true))
    return OneWayDistances(binned_by_attribute=binned, full_by_attribute=full)


def columns_of(table: Sample, schema: Schema) -> Columns:
    """The codes of each attribute of a sample, the class included."""
    columns = {attribute.name: table.codes[:, place] for place, attribute in enumerate(schema.predictors)}
    return columns if schema.target is None else {**columns, schema.target: table.labels}


def spread_marginal(column: npt.NDArray[np.integer], counts: Integers, domain: Domain, published: Domain) -> Floats:
    """The share of each code of a domain, from a column of a coarser one whose values are spread evenly."""
    code = recoding(domain, published)
    covered = np.bincount(code, minlength=published.size)
    share = _shares(np.bincount(column, weights=counts, minlength=published.size))
    spread: Floats = share[code] / covered[code]
    return spread


def total_variation(one: Floats, other: Floats) -> float:
    """Half the sum of absolute differences; 1 if one distribution is all zero, as that of a table without records."""
    return max(0.0, float(1 - np.minimum(one, other).sum()))


def _summed(bins: Integers, shares: Floats) -> Floats:
    return np.bincount(bins, weights=shares).astype(np.float64)


def _shares(counts: Integers | Floats) -> Floats:
    shares: Floats = counts / max(float(counts.sum()), 1.0)
    return shares
