"""Figures of EDBT 2019 as charts: every point is in the table, plotted lines have labels, claims are judged."""

from pathlib import Path

import numpy as np
import pytest

from scumble.files.schema_file import parse_schema
from scumble.reproductions.figure import Request
from scumble.reproductions.microaggregation import charts
from scumble.reproductions.microaggregation.charts import micro_figure_4
from scumble.reproductions.microaggregation.figures import SIZES, NumericTable

SCHEMA = parse_schema(
    """
scumble: schema/1
unit: replace
rows: 240
attributes:
  first: {numeric: {low: 0, high: 100, step: 1}}
  second: {numeric: {low: 0, high: 100, step: 1}}
"""
)


@pytest.fixture
def small_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(1).integers(0, 100, (240, 2))
    monkeypatch.setattr(NumericTable, "load", classmethod(lambda cls, name: cls(name, SCHEMA, rows)))


def test_figure_4_has_a_panel_for_each_data_set(small_tables: None, tmp_path: Path) -> None:
    seen: list[tuple[str, int, int | None]] = []
    figure = micro_figure_4(Request(cache=tmp_path, progress=lambda *step: seen.append(step)))
    assert seen == [("grouping", 1, 2), ("grouping", 2, 2)]
    assert len(figure.rows) == 2 * 2 * len(SIZES)
    assert [panel.title for panel in figure.chart.panels] == ["CENSUS", "EIA"]
    for panel in figure.chart.panels:
        assert [series.label for series in panel.series] == [charts.LABELS["mdav"], charts.LABELS["i-mdav"]]
        for series in panel.series:
            assert [point.x for point in series.points] == list(SIZES)
    assert figure.claims
    for claim in figure.claims:
        assert claim.text.startswith(("CENSUS: ", "EIA: "))
    assert len({claim.ours for claim in figure.claims}) == len({claim.holds for claim in figure.claims})
