"""The published values of each attribute, as the pages of a release folder describe them."""

from collections.abc import Iterator
from typing import NamedTuple

from scumble.model.grid import Grid
from scumble.model.schema import Attribute, Schema

LISTED_VALUES = 120


class DescribedAttribute(NamedTuple):
    """A published attribute: its first values, each with the number of values of the public schema it generalizes."""

    name: str
    numeric: bool
    size: int
    labels: list[tuple[str, int]]
    range: str | None
    """The whole range of a numeric attribute."""
    missing: str | None
    """The published value that includes missing ones, where the schema declares missing values."""


def described_attributes(schema: Schema) -> list[DescribedAttribute]:
    """All attributes of a schema, in the order of counts.csv."""
    return [_described(attribute) for attribute in _columns(schema)]


def _columns(schema: Schema) -> Iterator[Attribute]:
    """The attributes in the order of counts.csv: predictors, then the target."""
    yield from schema.predictors
    if schema.target is not None:
        yield schema[schema.target]


def label_of(attribute: Attribute, code: int) -> str:
    """A published value as text; a cell of a grid as an interval."""
    domain = attribute.domain
    return domain.interval(code, code + 1).label if isinstance(domain, Grid) else domain.labels[code]


def _described(attribute: Attribute) -> DescribedAttribute:
    domain, missing = attribute.domain, attribute.missing_code
    labels = [label_of(attribute, code) for code in range(min(domain.size, LISTED_VALUES))]
    covered = [1] * len(labels)
    if not isinstance(domain, Grid) and domain.origin is not None:
        nodes = [domain.origin.node(label) for label in labels]
        covered = [node.high - node.low for node in nodes]
    return DescribedAttribute(
        name=attribute.name,
        numeric=isinstance(domain, Grid),
        size=domain.size,
        labels=list(zip(labels, covered, strict=True)),
        range=domain.root.label if isinstance(domain, Grid) else None,
        missing=None if missing is None else label_of(attribute, missing),
    )
