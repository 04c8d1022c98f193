"""Charts as data: no two panels of one title, intervals only where they are known."""

import pytest

from scumble.charts.description import Bar, BarChart, Chart, Panel, Point, ReferenceLine, Series


def panel(title: str, *labels: str) -> Panel:
    lines = tuple(ReferenceLine(label=label, y=1) for label in labels)
    points = (Series(label="a", points=(Point(x=0, y=1),)),)
    return Panel(title=title, x_label="x", y_label="y", series=points, reference_lines=lines)


def test_two_panels_of_one_title_are_refused() -> None:
    with pytest.raises(ValueError, match="same title"):
        Chart(title="", panels=(panel("adult: boosting"), panel("adult: boosting")))
    assert Chart(title="", panels=(panel("one"), panel("two"))).labels() == ["a"]


def test_reference_lines_are_listed_once_for_all_panels() -> None:
    chart = Chart(title="", panels=(panel("one", "raw", "best"), panel("two", "best", "worst")))
    assert chart.reference_labels() == ["raw", "best", "worst"]


def test_an_interval_that_is_not_known_is_not_drawn_as_one_of_width_zero() -> None:
    assert Point.around(1, 2, None) == Point(x=1, y=2)
    assert Point.around(1, 2, 0.5) == Point(x=1, y=2, low=1.5, high=2.5)


def test_places_and_series_of_bars_keep_their_order() -> None:
    bars = [Bar(label=label, series=series, value=1) for label in ("z", "a") for series in ("2", "1")]
    chart = BarChart(title="", y_label="y", bars=tuple(bars))
    assert (chart.labels(), chart.series()) == (["z", "a"], ["2", "1"])
