"""The measured tables of a release, read from its counts and documents.

Three sources: the cells of counts.csv; the document `tables` (format tables/1), in which methods publish contingency
tables over the public schema, or vectors from which such tables are inferred; and the document `detail` of diffgen,
with class tables and value counts.
"""

from collections.abc import Callable, Iterator, Mapping
from math import prod
from typing import Any

import numpy as np

from scumble.errors import InputError
from scumble.model.measured_tables import LARGEST_UNIT, AttributeBins, Inference, MeasuredTable, NoiseKind
from scumble.model.release import CellRelease
from scumble.model.schema import Schema
from scumble.model.transforms.reading import read_transform

FORMAT = "tables/1"
MOST_AXES = 32
"""Axes of an array in every version of numpy."""


def cells_table(release: CellRelease) -> MeasuredTable:
    """The cells of counts.csv by class, as one table over all attributes of the published schema.

    If they are more than an array has axes, those that were not divided are left out. Each of the others has two values
    or more, so there are few.
    """
    schema = release.schema
    names = [attribute.name for attribute in schema.predictors]
    names += [] if schema.target is None else [schema.target]
    names = names if len(names) <= MOST_AXES else [name for name in names if schema[name].domain.size > 1]
    bins = tuple(AttributeBins.of_domain(name, schema[name].domain) for name in names)
    (table,) = _read(
        "release",
        lambda: [
            MeasuredTable(
                name="cells",
                bins=bins,
                counts=release.measured.reshape([each.size for each in bins]) / release.resolution,
                kind=NoiseKind.LAPLACE,
                variance=release.variance,
                unit=release.resolution,
            )
        ],
    )
    return table


def listed_tables(documents: Mapping[str, Mapping[str, Any]], schema: Schema) -> tuple[MeasuredTable, ...]:
    """The tables of the document `tables`; none if there is no such document. `schema` is the public one."""
    document = documents.get("tables")
    if document is None or document.get("format") != FORMAT:
        return ()
    return _read(
        "tables",
        lambda: [
            *(_listed(entry, document["noise"], schema) for entry in document["tables"]),
            *(
                table
                for number, entry in enumerate(document.get("inferred", ()))
                for table in _inferred(entry, document["noise"], schema, source=f"vector {number}")
            ),
        ],
    )


def _listed(entry: Mapping[str, Any], noise: str, schema: Schema) -> MeasuredTable:
    bins = _bins(entry, schema)
    unit = _at_least_one(entry["unit"], "unit")
    counts = np.array(entry["counts"], dtype=np.float64).reshape([each.size for each in bins]) / unit
    return MeasuredTable(
        name=" by ".join(entry["attributes"]) or "all records",
        bins=bins,
        counts=counts,
        kind=NoiseKind(noise),
        variance=float(entry["variance"]),
        unit=unit,
        terms=_at_least_one(entry.get("terms", 1), "terms"),
    )


def _bins(entry: Mapping[str, Any], schema: Schema) -> tuple[AttributeBins, ...]:
    return tuple(
        AttributeBins.from_starts(name, schema[name].domain, np.array(starts, dtype=np.int64))
        for name, starts in zip(entry["attributes"], entry["bins"], strict=True)
    )


def _inferred(entry: Mapping[str, Any], noise: str, schema: Schema, *, source: str) -> Iterator[MeasuredTable]:
    """The tables that were inferred from one measured vector."""
    vector = np.array(entry["measured"], dtype=np.float64)
    for table in entry["tables"]:
        bins = _bins(table, schema)
        transforms = tuple(
            read_transform(data, each.size) for data, each in zip(table["transforms"], bins, strict=True)
        )
        number = prod(each.coefficients for each in transforms)
        places = np.array(table.get("places", range(len(vector))), dtype=np.int64)
        if places.shape != (number,) or number > len(vector) or not ((places >= 0) & (places < len(vector))).all():
            raise ValueError(f"the places of {table['attributes']} are not those of its coefficients")
        inference = Inference(source=source, transforms=transforms, places=places, length=len(vector))
        yield MeasuredTable(
            name=" by ".join(table["attributes"]),
            bins=bins,
            counts=inference.estimates(vector),
            kind=NoiseKind(noise),
            variance=float(entry["variance"]),
            inferred=inference,
        )


def _at_least_one(number: object, name: str) -> int:
    if type(number) is not int or not 1 <= number <= LARGEST_UNIT:
        raise ValueError(f"`{name}` is not a whole number from 1 to 2^31")
    return number


def detail_tables(documents: Mapping[str, Mapping[str, Any]], schema: Schema) -> tuple[MeasuredTable, ...]:
    """The class tables and value counts of the document `detail`. Entries without a stated deviation are left out."""
    document = documents.get("detail", {})
    return _read(
        "detail",
        lambda: [
            table
            for entry in document.get("measured", ())
            if isinstance(entry, dict) and "deviation" in entry
            for table in _of_detail(entry, NoiseKind(document.get("noise", NoiseKind.LAPLACE)), schema)
        ],
    )


def _of_detail(entry: Mapping[str, Any], noise: NoiseKind, schema: Schema) -> Iterator[MeasuredTable]:
    variance = float(entry["deviation"]) ** 2
    if "values" in entry:
        name, width = entry["attribute"], int(entry["range"])
        size = schema[name].domain.size
        values = np.array(entry["values"], dtype=np.float64)
        parts = [(name, 1, values[:size])]
        parts += [(f"ranges of {name}", width, values[size:])] if width > 1 else []
        for label, step, counts in parts:
            each = AttributeBins.from_starts(name, schema[name].domain, np.arange(0, size, step))
            yield MeasuredTable(name=label, bins=(each,), counts=counts, kind=noise, variance=variance)
    elif "bins" in entry and schema.target is not None:
        (name,) = entry["attributes"]
        counts = np.array(entry["counts"], dtype=np.float64)
        bins = (
            AttributeBins.from_starts(name, schema[name].domain, np.array(entry["bins"], dtype=np.int64)),
            AttributeBins.of_domain(schema.target, schema[schema.target].domain),
        )
        yield MeasuredTable(
            name=f"{name} by class",
            bins=bins,
            counts=counts.sum(axis=0),
            kind=noise,
            variance=variance,
            terms=len(counts),
        )


def _read(name: str, read: Callable[[], list[MeasuredTable]]) -> tuple[MeasuredTable, ...]:
    try:
        return tuple(read())
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        raise InputError(
            f"{name}.json does not describe measured tables: {error!r}. Ask for the release again."
        ) from error
