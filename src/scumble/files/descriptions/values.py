"""`values.csv`: the published value of every raw value, so that other rows can be generalized without this package."""

import csv
from collections.abc import Iterator
from io import StringIO

from scumble.model.grid import Grid
from scumble.model.schema import Attribute, Schema

HEADER = ("attribute", "value", "low", "high", "released")


def values_csv(schema: Schema) -> str:
    """The text of values.csv: a line for each category, and for each interval of numbers `low <= x < high`.

    A number outside the intervals belongs to the nearest one, unless the attribute is dropped for it (`outside:`).
    """
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    for attribute in schema.attributes:
        writer.writerows(_lines(attribute))
    return text.getvalue()


def _lines(attribute: Attribute) -> Iterator[tuple[str, ...]]:
    domain = attribute.domain
    if not isinstance(domain, Grid):
        below = domain.labels if domain.origin is None else domain.origin.labels
        for value in below:
            yield attribute.name, value, "", "", domain.labels[domain.codes[value]]
        return
    for code, label in enumerate(domain.labels[: domain.cells]):
        yield attribute.name, "", f"{domain.edge(code):f}", f"{domain.edge(code + 1):f}", label
    if domain.missing is not None:
        yield attribute.name, str(domain.missing), "", "", domain.labels[-1]
