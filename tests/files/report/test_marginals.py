"""The small multiples of a report: shares of the fine rows, bands as wide as the noise, many attributes folded."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from fine_releases import PATIENTS, fine_release, raw_rows
from report_pages import Page, attribute, flat

from scumble import release
from scumble.files.report.marginals import MOST_BARS, MOST_COLUMNS, Band, marginals
from scumble.files.report.pages import report_page
from scumble.methods.diffgen.parameters import DiffGen
from scumble.model.cut import Cut
from scumble.model.grid import Grid
from scumble.model.release import CellRelease
from scumble.model.schema import Schema
from scumble.model.taxonomy import Tree

WIDE = Schema(
    attributes=(
        attribute("long", Grid.regular(low=Decimal(0), high=Decimal(1000), step=Decimal(1), missing="?"), "?"),
        attribute("short", Grid.regular(low=Decimal(0), high=Decimal(5), step=Decimal(1))),
        flat("town", [f"town {number}" for number in range(30)]),
        attribute("class", Tree.flat(["no", "yes"])),
    ),
    target="class",
)


def plain(**documents: object) -> CellRelease:
    made = fine_release(Cut.top(WIDE), np.array([[400, 600]]))
    return replace(made, documents={"detail": documents})


def test_shares_are_those_of_the_fine_rows_without_measurements_too() -> None:
    made = plain()
    assert made.fine is not None
    long, short, town = marginals(made)
    for each in (long, short, town):
        assert sum(band.share for band in each.bands) == pytest.approx(1)
        assert all(band.low is None and band.high is None for band in each.bands)
    assert len(long.bands) <= MOST_COLUMNS + 1 and len(short.bands) == 5 and len(town.bands) == MOST_BARS
    missing = np.isnan(made.fine.columns["long"].astype(float)).mean()
    assert long.missing is not None and long.missing.share == pytest.approx(missing)
    column = made.fine.columns["short"].astype(float)
    assert [band.share for band in short.bands] == [pytest.approx((column == value).mean()) for value in range(5)]
    values, counts = np.unique(made.fine.columns["town"].astype(str), return_counts=True)
    assert town.bands[0].label == values[counts.argmax()]
    assert town.bands[-1].label == f"{30 - MOST_BARS + 1} other values"
    assert town.bands[-1].share == pytest.approx(np.sort(counts)[: 30 - MOST_BARS + 1].sum() / counts.sum())


def test_a_band_is_the_measured_share_with_the_noise_of_its_counts() -> None:
    counts = [[[40, 60], [100, 100], [-10, 10]], [[300, 100], [100, 100], [50, 50]]]
    table = {"attributes": ["short"], "groups": 2, "bins": [0, 2, 4], "deviation": 5.0, "counts": counts}
    values = [*range(1, 31)]
    town = {"attribute": "town", "values": values, "range": 1, "deviation": 3.0}
    made = plain(**{"class totals": [400, 600], "measured": [table, town]})
    _, short, towns = marginals(made)
    assert [band.label for band in short.bands] == ["[0,2)", "[2,4)", "[4,5)"]
    for band, total in zip(short.bands, (500, 400, 100), strict=True):
        assert band.low is not None and band.high is not None
        assert (band.low + band.high) / 2 == pytest.approx(total / 1000)
        assert (band.high - band.low) / 2 == pytest.approx(1.96 * 5 * 4**0.5 / 1000)
    shown = [int(band.label.split()[1]) for band in towns.bands[:-1]]
    others = towns.bands[-1]
    assert others.low is not None and others.high is not None
    left = sum(values) - sum(values[number] for number in shown)
    assert (others.low + others.high) / 2 == pytest.approx(left / 1000)
    assert (others.high - others.low) / 2 == pytest.approx(1.96 * 3 * (30 - len(shown)) ** 0.5 / 1000)


def test_bands_of_a_release_contain_the_true_shares(tmp_path: Path) -> None:
    rows = raw_rows(3, rows=4_000)
    made = release(
        rows,
        schema=PATIENTS,
        out=tmp_path / "out",
        ledger=tmp_path / "ledger.db",
        dataset="patients",
        method=DiffGen(epsilon=Fraction(2)),
    ).release.cells
    inside, bands = 0, 0
    for each in marginals(made):
        column = rows.column(each.name).to_pylist()
        for band in each.bands:
            assert band.low is not None and band.high is not None
            inside += band.low <= true_share(column, band) <= band.high
            bands += 1
            assert band.share == pytest.approx(true_share(column, band), abs=max(0.06, band.high - band.low))
    assert bands >= 15 and inside >= 0.75 * bands


def true_share(column: list[object], band: Band) -> float:
    if band.label.startswith("missing"):
        return 0.0
    if not band.label.startswith("["):
        return sum(value == band.label for value in column) / len(column)
    low, high = (float(end) for end in band.label.split("|")[0][1:-1].split(","))
    return sum(low <= float(str(value)) < high for value in column) / len(column)


def test_many_attributes_are_folded_and_every_drawing_has_words() -> None:
    target = attribute("class", Tree.flat(["no", "yes"]))
    many = tuple(flat(f"a{place}", ["x", "y"]) for place in range(30))
    made = fine_release(Cut.top(Schema(attributes=(*many, target), target="class")), np.array([[40, 60]]))
    html = report_page(made, {})
    assert "6 more attributes" in Page(html).text
    assert html.count('class="marginals"') == 2
    drawings = [attributes for tag, attributes in Page(html).tags if tag == "svg" and "role" in attributes]
    assert all(each["aria-label"] for each in drawings)


def test_no_fine_rows_no_marginals() -> None:
    made = plain()
    assert marginals(replace(made, fine=None)) == []
