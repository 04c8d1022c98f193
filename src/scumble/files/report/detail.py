"""What was measured beside the cells, read from the document `detail` of a release: which attributes, and how.

A release of an earlier version, or of another method, may lack any of these entries.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from scumble.model.release import CellRelease


class MeasuredDetail(NamedTuple):
    """The associations that were measured, by names of attributes."""

    by_class: list[str]
    """Each with the class, in the order in which they were counted."""
    together: list[list[str]]
    """Several attributes together with the class."""
    cells: list[str]
    """The attributes that the cells distinguish, which are counted together with the class."""
    alone: list[str]
    """The other attributes: their distributions were measured, but nothing about the class."""
    learned: str | None
    """What can be learned, as a sentence with bands."""
    unlearnable: bool
    """Whether no attribute can be learned."""


def measured_detail(release: CellRelease) -> MeasuredDetail:
    """What the document `detail` says about a release."""
    document = release.documents.get("detail", {})
    entries = measured_entries(release)
    by_class = [names[0] for entry in entries if "counts" in entry and len(names := names_of(entry)) == 1]
    together = [names_of(entry) for entry in entries if "residuals" in entry]
    alone = [names[0] for entry in entries if "values" in entry and len(names := names_of(entry)) == 1]
    split = [attribute.name for attribute in release.schema.predictors if attribute.domain.size > 1]
    learned = document.get("learned", {})
    known = {*by_class, *split, *(name for names in together for name in names)}
    return MeasuredDetail(
        by_class=list(dict.fromkeys(by_class)),
        together=together,
        cells=split,
        alone=[name for name in alone if name not in known],
        learned=learned.get("sentence"),
        unlearnable=bool(learned.get("class shares only")),
    )


def measured_entries(release: CellRelease) -> list[Mapping[str, Any]]:
    """The measurements that detail.json lists."""
    measured = release.documents.get("detail", {}).get("measured", [])
    return [entry for entry in measured if isinstance(entry, dict)]


def names_of(entry: Mapping[str, Any]) -> list[str]:
    """The attributes of a measurement; none if it is about groups of records."""
    return list(entry.get("attributes", [entry["attribute"]] if "attribute" in entry else []))


class Uses(NamedTuple):
    """What the fine rows of a release are good for, and what not, as noun phrases."""

    good: list[str]
    bad: list[str]


def uses_of(release: CellRelease) -> Uses:
    """What the fine rows keep: the class shares, the distribution of each attribute, and what was counted by class."""
    measured, target = measured_detail(release), release.schema.target
    if measured.unlearnable:
        wide = "the distribution of an attribute whose bands in report.html are wide"
        good = [f"the shares of the classes of {target}"]
        return Uses(good=good, bad=["training classifiers", "any association", wide, "single rows"])
    listed = "each attribute" if not measured.alone else "each attribute that was counted by class"
    return Uses(
        good=[
            f"training classifiers for {target}",
            "the distribution of each attribute",
            f"the distribution of {listed}, by class",
        ],
        bad=["associations between attributes", "counts of rare combinations", "single rows"],
    )
