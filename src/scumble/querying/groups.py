"""The groups that an answer is divided into: the values of an attribute, or intervals of a given width."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np

from scumble.errors import InputError
from scumble.model.grid import Grid
from scumble.model.schema import Attribute, Schema
from scumble.model.values import text_of
from scumble.querying.leaf_values import LeafValues
from scumble.querying.number_values import NumberValues
from scumble.querying.predicates import ALL, OneAttribute, Predicate, available, both
from scumble.querying.values import Values, nearest_names

MOST_GROUPS = 10_000


@dataclass(frozen=True, kw_only=True)
class GroupBy:
    """An attribute that an answer is divided by; of numbers optionally in intervals of a width."""

    attribute: str
    width: float | None = None


def read_group(text: str, schema: Schema) -> GroupBy:
    """`NAME`, or `NAME:WIDTH` for intervals of numbers. Raises `InputError` if it is neither."""
    if text in schema.names:
        return GroupBy(attribute=text)
    name, _, width = text.rpartition(":")
    if name in schema.names:
        try:
            number = float(width)
        except ValueError:
            number = math.nan
        if not (isinstance(schema[name].domain, Grid) and 0 < number < math.inf):
            raise InputError(f"--by {text}: write a positive width after a numeric attribute, such as age:10.")
        return GroupBy(attribute=name, width=number)
    near = nearest_names(text, schema.names)
    proposal = f"Did you mean {' or '.join(repr(each) for each in near)}?" if near else available(schema.names)
    raise InputError(f"The release has no attribute {text!r}. {proposal}")


def edges_of(division: GroupBy, grid: Grid) -> tuple[float, ...]:
    """The multiples of the width that divide the range of a grid."""
    if division.width is None:
        return ()
    low, high = (float(end) for end in grid.edge_floats[[0, -1]])
    first, last = math.floor(low / division.width), math.ceil(high / division.width)
    if last - first > MOST_GROUPS:
        raise InputError(f"{division.attribute!r} would have more than {MOST_GROUPS:,} groups. Use a larger width.")
    return tuple(number * division.width for number in range(first, last + 1))


Group = tuple[str, Predicate]


def groups_of(division: GroupBy, attribute: Attribute, values: Values) -> list[Group]:
    """The groups of one attribute, each with its label. `attribute` has the domain whose values are the groups."""
    domain = attribute.domain
    places = np.arange(values.size)
    if isinstance(values, LeafValues):
        nodes = [(label, values.tree.node(label)) for label in domain.labels]
        return [(label, _predicate(division, (places >= n.low) & (places < n.high))) for label, n in nodes]
    assert isinstance(values, NumberValues) and isinstance(domain, Grid)
    found: list[Group] = []
    edges = edges_of(division, domain)
    bounds = edges or tuple(domain.edge_floats.tolist())
    for place, (low, high) in enumerate(pairwise(bounds)):
        mask = np.zeros(values.size, dtype=np.bool_)
        mask[: len(values.starts)] = (values.starts >= low) & (values.starts < high)
        single = values.single and not edges
        label = text_of(domain, place) if single else f"[{low:g},{high:g})"
        if mask.any():
            found.append((label, _predicate(division, mask)))
    if values.missing is not None and not domain.joined:
        found.append((str(domain.missing), _predicate(division, places == values.missing)))
    elif values.missing is not None:
        label, last = found[-1]
        assert isinstance(last, OneAttribute)
        found[-1] = f"{label}|{domain.missing}", _predicate(division, last.mask | (places == values.missing))
    return found


def _predicate(division: GroupBy, mask: "np.ndarray") -> OneAttribute:
    return OneAttribute(attribute=division.attribute, mask=mask)


def combinations(
    groups: Sequence[GroupBy], schema: Schema, values: Mapping[str, Values]
) -> list[tuple[tuple[str, ...], Predicate]]:
    """All combinations of the groups of several attributes: their labels and what they have in common."""
    if not groups:
        return [((), ALL)]
    each = [groups_of(division, schema[division.attribute], values[division.attribute]) for division in groups]
    number = math.prod(len(groups) for groups in each)
    if number > MOST_GROUPS:
        raise InputError(
            f"The answer would have {number:,} groups, more than {MOST_GROUPS:,}. Divide by fewer attributes, or "
            "numbers by a width, such as age:10."
        )
    return [
        (tuple(label for label, _ in chosen), both(*(predicate for _, predicate in chosen)))
        for chosen in product(*each)
    ]
