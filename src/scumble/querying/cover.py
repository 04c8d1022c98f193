"""Which entries of a measured table a predicate covers: a weight for each entry, and whether any entry is cut."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import numpy as np

from scumble.model.counts import Floats, Integers
from scumble.model.measured_tables import MeasuredTable
from scumble.querying.predicates import Predicate, attributes_of
from scumble.querying.values import Values

LARGEST_PRODUCT = 4_000_000
"""Combinations of values that are examined at most."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Cover:
    """The share of each entry of a table that satisfies a predicate, with the shape of the table.

    If `exact`, every share is 0 or 1. Otherwise the predicate cuts through an entry, and the shares assume that records
    are spread evenly inside it. `apart` is false if the predicate separates missing values from numbers they were
    counted with, about which nothing can be assumed.
    """

    shares: Floats
    exact: bool
    apart: bool = True


@dataclass(frozen=True, kw_only=True, eq=False)
class _Classes:
    """Values of one attribute that lie in the same bin and satisfy the same conditions."""

    first: Integers
    """One value of each class."""
    bins: Integers
    shares: Floats
    """The share of the class in its bin."""


def cover(table: MeasuredTable, predicate: Predicate, values: Mapping[str, Values]) -> Cover | None:
    """How a predicate covers a table; None if the table lacks one of its attributes, or has too much to examine."""
    names = attributes_of(predicate)
    if not names <= set(table.attributes):
        return None
    used = [each for each in table.bins if each.attribute in names]
    classes = [_classes(values[each.attribute], values[each.attribute].bins(each), predicate) for each in used]
    if prod(len(each.first) for each in classes) > LARGEST_PRODUCT:
        return None
    axes = range(len(used))
    places = {
        each.attribute: found.first.reshape([-1 if axis == own else 1 for axis in axes])
        for own, (each, found) in enumerate(zip(used, classes, strict=True))
    }
    truth = np.broadcast_to(predicate.truth(places), [len(each.first) for each in classes])
    shares, least, most = (truth.astype(np.float64) for _ in range(3))
    for axis, (each, found) in enumerate(zip(used, classes, strict=True)):
        wide = found.shares.reshape([-1 if axis == own else 1 for own in axes])
        starts = np.flatnonzero(np.diff(found.bins, prepend=-1))
        shares = _spread(np.add.reduceat(shares * wide, starts, axis=axis), found.bins[starts], each.size, axis)
        least = _spread(np.minimum.reduceat(least, starts, axis=axis), found.bins[starts], each.size, axis)
        most = _spread(np.maximum.reduceat(most, starts, axis=axis), found.bins[starts], each.size, axis)
    exact = bool((least == most).all())
    shape = [each.size if each.attribute in names else 1 for each in table.bins]
    full = np.broadcast_to((most if exact else shares).reshape(shape), table.counts.shape)
    apart = exact or all(
        _missing_apart(values[each.attribute], values[each.attribute].bins(each), predicate) for each in used
    )
    return Cover(shares=full, exact=exact, apart=apart)


def _classes(values: Values, bins: Integers, predicate: Predicate) -> _Classes:
    own = [mask.mask for mask in predicate.masks if _is_about(mask.attribute, values)]
    keys = np.stack([bins, *(mask.astype(np.int64) for mask in own)])
    found, first, inverse = np.unique(keys, axis=1, return_index=True, return_inverse=True)
    weights = np.bincount(inverse.ravel(), values.weights, minlength=found.shape[1])
    totals = np.bincount(found[0], weights)[found[0]]
    shares = np.divide(weights, totals, out=np.zeros_like(weights), where=totals > 0)
    return _Classes(first=first.astype(np.int64), bins=found[0], shares=shares)


def _is_about(name: str, values: Values) -> bool:
    return name == values.attribute.name


def _missing_apart(values: Values, bins: Integers, predicate: Predicate) -> bool:
    """Whether missing values are counted separately, or satisfy the same conditions as a value of their bin."""
    place = values.missing
    if place is None or not values.in_order:
        return True
    others = np.flatnonzero(bins == bins[place])
    own = [mask.mask for mask in predicate.masks if _is_about(mask.attribute, values)]
    return len(others) == 1 or all(mask[others].all() or not mask[others].any() for mask in own)


def _spread(found: Floats, bins: Integers, size: int, axis: int) -> Floats:
    """The entries of all bins, zero where a bin has no value."""
    if found.shape[axis] == size:
        return found
    shape = [*found.shape]
    shape[axis] = size
    full = np.zeros(shape, dtype=found.dtype)
    np.moveaxis(full, axis, 0)[bins] = np.moveaxis(found, axis, 0)
    return full
