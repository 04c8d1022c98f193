"""The release of a microaggregation: groups with a centre and a size, published as records."""

from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.methods.method import Params
from scumble.model.counts import Integers
from scumble.model.grid import Grid
from scumble.model.plan import Plan
from scumble.model.release import RecordRelease
from scumble.model.row_limit import row_counts, row_limit_story
from scumble.model.schema import Schema
from scumble.model.values import Column
from scumble.privacy.query import Box


@dataclass(frozen=True, kw_only=True)
class PublishedGroups:
    """Published groups, in an order that reveals nothing about the order of rows.

    Which record belongs to which group is not published. `centres` has a line for each group and an entry for each
    attribute: a number, NaN if it is missing, or the label of a category. `sizes` are integers, none negative.
    `measured` are the noisy sizes; None if sizes follow from public numbers. `boxes` are the regions of a private
    partition; None for the MDAV family.
    """

    method: str
    plan: Plan
    names: tuple[str, ...]
    centres: tuple[tuple[float | str, ...], ...]
    sizes: Integers
    measured: Integers | None = None
    error: float = 0.0
    """The standard error of the sum of `measured`; 0 if the sizes add up to a public number."""
    boxes: tuple[Box, ...] | None = None
    story: tuple[str, ...] = ()

    @property
    def numbers(self) -> npt.NDArray[np.float64]:
        """The centres as an array, if no attribute is a category."""
        return np.array(self.centres, dtype=np.float64).reshape(len(self.centres), len(self.names))


def record_release(groups: PublishedGroups, schema: Schema, parameters: Params) -> RecordRelease:
    """The groups as records: each centre is repeated as often as its group has records.

    If the sizes are mostly noise, the number of records is limited. `groups.json` keeps what the records do not show:
    the noisy sizes and the boxes.
    """
    repeats = row_counts(groups.sizes, counted=float(groups.sizes.sum()), error=groups.error)
    places = np.repeat(np.arange(len(groups.sizes)), repeats)
    columns: dict[str, Column] = {}
    for place, attribute in enumerate(schema.attributes):
        column = [centre[place] for centre in groups.centres]
        if isinstance(attribute.domain, Grid):
            columns[attribute.name] = np.array(column, dtype=np.float64)[places]
        else:
            columns[attribute.name] = np.array(column, dtype=np.object_)[places]
    return RecordRelease(
        method=groups.method,
        parameters=parameters.model_dump(mode="json"),
        plan=groups.plan,
        schema=schema,
        columns=columns,
        documents={"groups": _document(groups, schema)},
        story=(*groups.story, *row_limit_story(groups.sizes, repeats)),
        records_error=groups.error,
    )


def _document(groups: PublishedGroups, schema: Schema) -> dict[str, Any]:
    lines: list[dict[str, Any]] = []
    for number, (centre, size) in enumerate(zip(groups.centres, groups.sizes.tolist(), strict=True)):
        plain = (None if isinstance(value, float) and isnan(value) else value for value in centre)
        line: dict[str, Any] = {"centre": dict(zip(groups.names, plain, strict=True)), "size": size}
        if groups.measured is not None:
            line["measured"] = int(groups.measured[number])
        if groups.boxes is not None:
            line["box"] = {
                attribute.name: attribute.domain.interval(*side).label
                for attribute, side in zip(schema.attributes, groups.boxes[number], strict=True)
                if isinstance(attribute.domain, Grid)
            }
        lines.append(line)
    return {"groups": lines}
