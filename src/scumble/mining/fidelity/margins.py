"""Margins of one, two and three attributes: how far those of a published table are from those of the raw rows.

A margin is the joint distribution of a few attributes, each with its values in at most twenty bins (`public_bins`).
The distance of two margins is their total variation distance: the share of records that would have to change. The k-way
distance of two tables is its mean over the margins of k attributes. If there is a class, the three-way margins are
those of two attributes and the class. Lower is better.

A published value that covers several values of the schema counts evenly for each of them, independently in each
attribute, because the table does not say more.

If all associations are lost and all distributions of single attributes are exact, the k-way distance is `links_lost`:
that of the product of the true one-way margins. A table with a larger distance describes associations worse than a
table of independent attributes would.

The result is for the owner of the raw rows, or for public tables: it is computed without noise.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations, count
from math import comb, prod

import numpy as np
import numpy.typing as npt

from scumble.mining.fidelity.one_way import Columns, total_variation
from scumble.model.counts import Floats, Integers, places_of
from scumble.model.domain import Domain
from scumble.model.public_bins import USUAL_BINS, public_bins
from scumble.model.schema import Schema
from scumble.model.values import recoding

MOST_MARGINS = 1_000
"""Of more margins, a fixed sample is compared."""

Names = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class BinnedColumn:
    """A column in atoms. An atom is a bin, or a published value that covers parts of several bins."""

    atoms: npt.NDArray[np.integer]
    shares: Floats
    """Of each atom (rows), the share that counts for each bin (columns)."""

    @classmethod
    def of(cls, column: npt.NDArray[np.integer], published: Domain, domain: Domain, bins: Integers) -> "BinnedColumn":
        """A column of published codes. `bins` has the bin of every code of the public domain."""
        number = int(bins.max()) + 1
        covered = np.bincount(recoding(domain, published) * number + bins, minlength=published.size * number)
        shares = covered.reshape(-1, number) / np.maximum(covered.reshape(-1, number).sum(axis=1, keepdims=True), 1)
        inside = (shares > 0).sum(axis=1) <= 1
        atom = np.where(inside, shares.argmax(axis=1), number + np.cumsum(~inside) - 1)
        atom = atom.astype(np.min_scalar_type(int(atom.max(initial=0))))
        return cls(atoms=atom[column], shares=np.concatenate([np.eye(number), shares[~inside]]))

    @property
    def bins(self) -> int:
        return self.shares.shape[1]


@dataclass(frozen=True, kw_only=True)
class BinnedTable:
    """A table whose margins are compared: a column for each attribute of the schema, and the weight of each row."""

    columns: Mapping[str, BinnedColumn]
    weights: npt.NDArray[np.integer] | Floats | None
    """None: every row counts once."""

    @classmethod
    def of(
        cls,
        columns: Columns,
        published: Schema,
        schema: Schema,
        weights: npt.NDArray[np.integer] | Floats | None = None,
    ) -> "BinnedTable":
        """A table coded by its published schema, in bins of the public schema."""
        binned = {
            attribute.name: BinnedColumn.of(
                columns[attribute.name],
                published[attribute.name].domain,
                attribute.domain,
                public_bins(attribute, USUAL_BINS).by_code,
            )
            for attribute in schema.attributes
        }
        return cls(columns=binned, weights=weights)

    @property
    def rows(self) -> int:
        return len(next(iter(self.columns.values())).atoms)

    @property
    def total(self) -> float:
        """The sum of the weights: how many records the table stands for."""
        return float(self.rows if self.weights is None else self.weights.sum())

    def weighted(self, factors: Floats) -> "BinnedTable":
        """The table with the weight of every row multiplied by a factor; rows of factor zero are left out."""
        here = factors > 0
        columns = {
            name: BinnedColumn(atoms=column.atoms[here], shares=column.shares) for name, column in self.columns.items()
        }
        weights = factors[here] if self.weights is None else factors[here] * self.weights[here]
        return BinnedTable(columns=columns, weights=weights)

    def margin(self, names: Sequence[str]) -> Floats:
        """The joint distribution of some attributes, one dimension each; all zero if there are no rows."""
        columns = [self.columns[name] for name in names]
        shape = [len(column.shares) for column in columns]
        places = places_of([column.atoms for column in columns], shape)
        table = np.bincount(places, weights=self.weights, minlength=prod(shape)).reshape(shape).astype(np.float64)
        for column in columns:
            # Each product removes the first dimension and appends its bins as the last one.
            table = np.tensordot(table, column.shares, axes=(0, 0))
        total = float(table.sum())
        return table / total if total else table


@dataclass(frozen=True, kw_only=True)
class MarginDistance:
    """The mean distance of the margins of so many attributes, and what it would be if all associations were lost."""

    ways: int
    mean: float
    links_lost: float
    compared: int
    available: int
    """How many margins there are. If fewer are compared, they are a fixed sample."""
    largest: Names
    """The attributes of the margin with the largest distance."""
    largest_distance: float


def margin_distance(
    released: BinnedTable, true: BinnedTable, names: Iterable[Names], *, available: int
) -> MarginDistance:
    """The distance of the margins of these attributes."""
    listed, distances, lost = list(names), [], []
    single = {name: true.margin([name]) for name in {name for each in listed for name in each}}
    for each in listed:
        margin = true.margin(each)
        product = reduce(np.multiply.outer, [single[name] for name in each])
        distances.append(total_variation(released.margin(each), margin))
        lost.append(total_variation(product, margin))
    worst = int(np.argmax(distances))
    return MarginDistance(
        ways=len(listed[0]),
        mean=float(np.mean(distances)),
        links_lost=float(np.mean(lost)),
        compared=len(listed),
        available=available,
        largest=listed[worst],
        largest_distance=distances[worst],
    )


def margin_distances(
    released: BinnedTable,
    true: BinnedTable,
    names: Sequence[str],
    *,
    target: str | None = None,
    ways: Iterable[int] = (1, 2, 3),
) -> dict[int, MarginDistance]:
    """The distances of the margins of these attributes at one, two and three ways, as far as there are so many.

    Three-way margins are with the class, if `target` names it.
    """
    found = {}
    for number in ways:
        compared, available = compared_margins(names, number, target)
        if compared:
            found[number] = margin_distance(released, true, compared, available=available)
    return found


def compared_margins(names: Sequence[str], ways: int, target: str | None) -> tuple[list[Names], int]:
    """The attributes of all margins of so many ways, and how many there are; of more than 1,000, a fixed sample.

    Three-way margins are with the class if there is one. The sample depends on the number of attributes only.

    >>> compared_margins(["age", "job", "ill"], 3, "ill")
    ([('age', 'job', 'ill')], 1)
    """
    always = () if ways < 3 or target is None else (target,)
    others = [name for name in names if name not in always]
    number = ways - len(always)
    available = comb(len(others), number)
    if available <= MOST_MARGINS:
        return [(*each, *always) for each in combinations(others, number)], available
    places = sorted(_sampled(len(others), number, MOST_MARGINS))
    return [(*(others[place] for place in each), *always) for each in places], available


def _sampled(size: int, number: int, most: int) -> set[tuple[int, ...]]:
    """So many different combinations of numbers below a size, evenly distributed, the same in every run."""
    found: set[tuple[int, ...]] = set()
    for attempt in count():
        digest = hashlib.sha256(f"margins {number} {attempt}".encode()).digest()
        drawn = {int.from_bytes(digest[8 * place : 8 * place + 8]) % size for place in range(number)}
        if len(drawn) == number:
            found.add(tuple(sorted(drawn)))
        if len(found) == most:
            break
    return found
