"""Charts as SVG: named bars, lines with intervals, one legend, one style."""

import re
from pathlib import Path

import pytest

from scumble.charts import (
    Bar,
    BarChart,
    BarPanel,
    Chart,
    Panel,
    Point,
    ReferenceLine,
    Series,
)
from scumble.charts.description import MOST_BARS
from scumble.charts.drawing import write_bars, write_svg
from scumble.charts.looks import REFERENCE_STYLES
from scumble.picture_style import INK, LINE, PAPER, SOFT

ROOT = Path(__file__).resolve().parents[2]

COUNTRIES = tuple(f"country {number}" for number in range(41))


def bars(number: int) -> BarPanel:
    reconstructed = [float(place % 7) for place in range(number)]
    values = {"randomized": [1.0] * number, "reconstructed": reconstructed}
    return BarPanel.of_largest(
        title="country", x_label="share", names=COUNTRIES[:number], values=values, by="reconstructed"
    )


@pytest.mark.parametrize("number", [1, 2, MOST_BARS, MOST_BARS + 1])
def test_few_categories_are_all_named_largest_first(number: int) -> None:
    panel = bars(number)
    assert sorted(panel.names) == sorted(COUNTRIES[:number])
    assert list(panel.values["reconstructed"]) == sorted(panel.values["reconstructed"], reverse=True)


@pytest.mark.parametrize("number", [MOST_BARS + 2, 41])
def test_of_many_categories_ten_are_named_and_the_others_added_up(number: int) -> None:
    panel = bars(number)
    assert len(panel.names) == MOST_BARS + 1 and panel.names[-1] == f"{number - MOST_BARS} others"
    assert panel.values["randomized"][-1] == number - MOST_BARS
    assert sum(panel.values["reconstructed"]) == sum(place % 7 for place in range(number))
    others = sorted((place % 7 for place in range(number)), reverse=True)[MOST_BARS:]
    assert panel.values["reconstructed"][-1] == sum(others)


def test_bars_and_lines_share_a_legend_and_text_stays_text(tmp_path: Path) -> None:
    lines = Panel(
        title="age",
        x_label="value",
        y_label="density",
        series=tuple(Series(label=kind, points=(Point(x=0, y=1), Point(x=1, y=2))) for kind in bars(3).labels),
    )
    chart = Chart(title="Both", panels=(bars(41), lines))
    assert chart.labels() == ["randomized", "reconstructed"]
    write_svg(chart, tmp_path / "chart.svg")
    drawn = (tmp_path / "chart.svg").read_text("utf-8")
    assert drawn.count(">randomized<") == drawn.count(">reconstructed<") == 1
    assert "31 others" in drawn and "country 6" in drawn


def test_names_are_no_formulas_and_are_cut(tmp_path: Path) -> None:
    panel = BarPanel(title="$a$", x_label="share", names=("$1", "x" * 100), values={"share": (0.5, 0.5)})
    write_svg(Chart(title="", panels=(panel,)), tmp_path / "chart.svg")
    drawn = (tmp_path / "chart.svg").read_text("utf-8")
    assert "$a$" in drawn and "$1" in drawn and "x" * 23 + "…" in drawn and "x" * 24 not in drawn


def test_reference_lines_of_a_panel_have_different_dashes(tmp_path: Path) -> None:
    lines = tuple(ReferenceLine(label=f"line {number}", y=number) for number in range(len(REFERENCE_STYLES)))
    points = (Series(label="points", points=(Point(x=0, y=1),)),)
    panel = Panel(title="", x_label="x", y_label="y", series=points, reference_lines=lines)
    write_svg(Chart(title="", panels=(panel,)), tmp_path / "chart.svg")
    dashes = re.findall(r"stroke-dasharray: ([^;\"]+)", (tmp_path / "chart.svg").read_text("utf-8"))
    assert len(set(dashes)) == len(lines)


def test_pictures_have_the_paper_ink_and_lines_of_the_report() -> None:
    css = (ROOT / "src/scumble/files/report/templates/style.css").read_text("utf-8")
    light = dict(re.findall(r"--(\w+): (#\w{6})", css.partition("@media")[0]))
    assert (light["paper"], light["ink"], light["soft"], light["line"]) == (PAPER, INK, SOFT, LINE)


def test_long_names_stand_beside_horizontal_bars_with_error_bars(tmp_path: Path) -> None:
    names = [f"a rather long name of a category, number {number}" for number in range(8)]
    bars = tuple(Bar(label=name, series="count", value=3, low=1, high=7) for name in names)
    write_bars(BarChart(title="t", y_label="records", bars=bars), tmp_path / "long.svg")
    short = tuple(Bar(label=str(number), series="count", value=3) for number in range(3))
    write_bars(BarChart(title="t", y_label="records", bars=short), tmp_path / "short.svg")
    long_text, short_text = ((tmp_path / name).read_text("utf-8") for name in ("long.svg", "short.svg"))
    assert "rotate(-90" not in long_text  # nothing is turned: the label of the values is below, too
    assert "rotate(-90" in short_text  # the label of the vertical axis
    assert INK in long_text
    assert "LineCollection" in long_text
    assert "LineCollection" not in short_text
