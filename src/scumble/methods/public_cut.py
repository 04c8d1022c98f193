"""The public cut of methods that count whole tables: which attributes, in which bins, within a limit of cells.

Only the schema and the parameters are used, so the cut costs no privacy budget, and a table that is too large is
refused while planning.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import pairwise
from math import prod
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from scumble.errors import InputError
from scumble.model.cut import Cut
from scumble.model.public_bins import Bins, public_bins
from scumble.model.schema import Attribute, Schema
from scumble.model.taxonomy import Node


def _listed(value: Any) -> Any:
    """Names separated by commas as a list of names; anything else as it is."""
    return [name.strip() for name in value.split(",")] if isinstance(value, str) else value


AttributeNames = Annotated[tuple[str, ...], BeforeValidator(_listed), Field(min_length=1)]
"""Names of attributes, as a sequence or as text with commas between them."""

CountedAttributes = Annotated[
    AttributeNames | None,
    Field(description="Attributes to count together, as in age,sex; all others are left out (default: all)."),
]
MostBins = Annotated[
    Annotated[int, Field(ge=2)] | None,
    Field(description="Largest number of values of each attribute, in bins that follow from the schema alone."),
]


MOST_VALUES = 1_000_000
"""The public limit of values of one attribute."""


def public_cut(schema: Schema, *, attributes: Sequence[str] | None, bins: int | None) -> Cut:
    """The finest values of the named attributes, in at most so many bins each, and the root of all others.

    Raises `InputError` if a name is not that of an attribute, or if a taxonomy has no level of so few nodes.
    """
    if attributes is not None:
        for name in attributes:
            schema[name]  # raises `InputError` for an unknown name
        if not set(attributes) - {schema.target}:
            raise InputError(
                f"{schema.target!r} is counted in any case. Name at least one attribute besides the class."
            )
    used = {each.name for each in schema.predictors if attributes is None or each.name in attributes}
    return Cut(
        schema=schema,
        nodes={
            each.name: _values(each, bins) if each.name in used else (each.domain.root,) for each in schema.predictors
        },
    )


def _values(attribute: Attribute, most: int | None) -> tuple[Node, ...]:
    """The finest values of an attribute, or bins of them."""
    domain = attribute.domain
    if most is None or domain.size <= most:
        if domain.size > MOST_VALUES:
            raise InputError(
                f"{attribute.name!r} has {domain.size:,} values, too many to count all. Count fewer (--bins), or leave "
                "it out (--attributes)."
            )
        return tuple(Node(label=label, low=code, high=code + 1) for code, label in enumerate(domain.labels))
    bounds = public_bins(attribute, most).bounds
    try:
        return tuple(domain.interval(low, high) for low, high in pairwise(bounds))
    except InputError:
        raise InputError(
            f"The taxonomy of {attribute.name!r} has no level with at most {most} nodes. Give it one in the schema, "
            "give more bins, or leave the attribute out."
        ) from None


def require_cells(cut: Cut, *, most: int, method: str) -> int:
    """The number of counts of a cut by class. Raises `InputError` if it is larger than the public limit."""
    classes = len(cut.schema.classes)
    entries = prod(cut.shape) * classes
    if entries > most:
        largest = max(cut.nodes, key=lambda name: len(cut.nodes[name]))
        raise InputError(
            f"The table has {entries:,} counts, and {method} allows {most:,}. Count fewer values (--bins) or fewer "
            f"attributes (--attributes); the largest is {largest!r} with {len(cut.nodes[largest]):,} values."
        )
    return entries


def published_axes(cut: Cut, attributes: Sequence[str] | None) -> dict[str, Bins]:
    """The bins of every counted attribute, and those of the class last: the axes of a table of the cut."""
    schema = cut.schema
    used = [each for each in schema.predictors if attributes is None or each.name in attributes]
    axes = {each.name: Bins(bounds=(*cut.lows(each.name).tolist(), each.domain.size)) for each in used}
    if schema.target is not None:
        axes[schema.target] = Bins(bounds=tuple(range(len(schema.classes) + 1)))
    return axes


def restricted(schema: Schema, names: Collection[str]) -> Schema:
    """The schema without all other attributes."""
    target = schema.target if schema.target in names else None
    return replace(schema, attributes=tuple(each for each in schema.attributes if each.name in names), target=target)
