"""The two pages of a release folder: report.html for the owner and the receiver, README.md for the miner.

What stands on them is read off the release, all of which is public or paid for, and off the ledger's receipt. The
modules `report_*` make the numbers and the bars; the templates hold the sentences.
"""

import math
from collections.abc import Mapping

import numpy as np

from scumble.files.report.attributes import columns_of, published
from scumble.files.report.cells import ROUNDINGS, cell_contents
from scumble.files.report.guarantee import promise
from scumble.files.report.text import environment
from scumble.model.guarantee import JointDP, LocalDP, PureDP
from scumble.model.release import BlurredRelease, CellRelease, RecordRelease, Release
from scumble.model.schema import Schema
from scumble.model.taxonomy import Grid


def report_page(release: Release, receipt: Mapping[str, str]) -> str:
    """The report as one self-contained HTML file."""
    if isinstance(release, CellRelease):
        page, contents = "report.html", {**cell_contents(release), **_detail(release)}
    elif isinstance(release, BlurredRelease):
        page, contents = "blurred.html", {"local": isinstance(release.plan.guarantee, LocalDP)}
    else:
        assert isinstance(release, RecordRelease)
        page, contents = "records.html", {"summaries": _summaries(release)}
    return (
        environment()
        .get_template(page)
        .render(
            release=release,
            receipt=receipt,
            attributes=[published(attribute) for attribute in columns_of(release.schema)],
            **promise(release, receipt),
            **contents,
        )
    )


def _detail(release: CellRelease) -> dict[str, object]:
    """What the pages say about fine rows: how many there are, and which attributes were measured beside the cells."""
    measured = release.documents.get("detail", {}).get("measured", [])
    return {
        "fine": None if release.fine is None else release.fine.rows,
        "measured_beside": list(dict.fromkeys(each["attribute"] for each in measured if "attribute" in each)),
    }


def _summaries(release: RecordRelease) -> dict[str, tuple[float, float]]:
    """Mean and standard deviation of the published numbers."""
    grids = [each.name for each in release.schema.attributes if isinstance(each.domain, Grid)]
    numbers = {name: release.columns[name].astype(np.float64) for name in grids if release.records}
    return {name: (float(column.mean()), float(column.std())) for name, column in numbers.items()}


def _missing_numbers(schema: Schema) -> dict[str, str]:
    """The numeric attributes, each with the text that stands for a missing value in raw rows."""
    return {each.name: each.missing or "" for each in schema.predictors if isinstance(each.domain, Grid)}


def miners_page(release: Release, recommended: str) -> str:
    """The README for the receiver who mines the table; its code runs in the folder as it stands."""
    private = isinstance(release.plan.guarantee, PureDP | JointDP)
    if isinstance(release, BlurredRelease):
        local = isinstance(release.plan.guarantee, LocalDP)
        return environment().get_template("blurred.md").render(release=release, local=local)
    if not isinstance(release, CellRelease):
        return environment().get_template("records.md").render(release=release, private=private)
    attributes = [published(attribute) for attribute in columns_of(release.schema)]
    predictors = attributes[: len(release.schema.predictors)]
    return (
        environment()
        .get_template("README.md")
        .render(
            release=release,
            recommended=recommended,
            target=release.schema.target,
            attributes=attributes,
            shown=next((each for each in predictors if each.size > 1), predictors[0]),
            trainable=release.schema.target is not None and bool(release.count.any()),
            deviation=math.sqrt(release.variance),
            rounding=ROUNDINGS[release.rounding],
            numbers={} if release.fine is None else _missing_numbers(release.fine.schema),
            **_detail(release),
        )
    )
