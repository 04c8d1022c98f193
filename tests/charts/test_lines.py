"""Lines: the window of the axes, points side by side, whiskers and bands."""

import pytest
from matplotlib.axes import Axes
from matplotlib.collections import FillBetweenPolyCollection, LineCollection
from matplotlib.figure import Figure

from scumble.charts.description import Panel, Point, ReferenceLine, Series
from scumble.charts.lines import MOST_WHISKERS, draw_lines, window
from scumble.charts.looks import looks_of, reference_looks_of


def drawn(panel: Panel) -> tuple[Axes, dict[str, object]]:
    axes = Figure().subplots()
    lines = [line.label for line in panel.reference_lines]
    handles = draw_lines(axes, panel, looks_of(panel.labels), reference_looks_of(lines))
    return axes, dict(handles)


def panel(*series: Series, **options: object) -> Panel:
    return Panel(title="", x_label="x", y_label="y", series=series, **options)  # type: ignore[arg-type]


def line(label: str, number: int, half: float | None = None) -> Series:
    return Series(label=label, points=tuple(Point.around(x, x, half) for x in range(number)))


def test_few_intervals_are_whiskers_and_many_are_a_band() -> None:
    few, _ = drawn(panel(line("a", MOST_WHISKERS, 1.0)))
    many, _ = drawn(panel(line("a", MOST_WHISKERS + 1, 1.0)))
    none, _ = drawn(panel(line("a", 3)))
    assert [type(each) for each in few.collections] == [LineCollection]
    assert [type(each) for each in many.collections] == [FillBetweenPolyCollection]
    assert list(none.collections) == []


@pytest.mark.parametrize("numbered", [True, False])
def test_points_of_an_identifier_stand_side_by_side_and_are_not_joined(numbered: bool) -> None:
    axes, handles = drawn(panel(line("a", 3), line("b", 3), numbered=numbered))
    first, second = handles["a"], handles["b"]
    places = [each.get_transform().transform((1, 1))[0] for each in (first, second)]  # type: ignore[attr-defined]
    assert (places[0] < places[1]) == numbered
    assert (first.get_linewidth() == 0) == numbered  # type: ignore[attr-defined]
    assert (axes.get_xlim() == (-0.5, 2.5)) == numbered


def test_the_window_shows_all_lines_and_not_all_of_a_wide_interval() -> None:
    wide = panel(Series(label="a", points=(Point(x=0, y=1, low=-99, high=99), Point(x=1, y=2))))
    assert window(wide) == pytest.approx((0.45, 2.55))
    assert window(panel(line("a", 3), reference_lines=(ReferenceLine(label="r", y=10),)))[1] > 10
    assert window(panel(line("a", 3), from_zero=True))[0] == 0


def test_a_point_has_its_text_beside_it_and_a_long_label_has_several_lines() -> None:
    points = (Point(x=0, y=1, text="$1"), Point(x=1, y=2))
    long = "three-way distance in twenty bins, % (lower is better)"
    shown = Panel(title="", x_label="x", y_label=long, series=(Series(label="a", points=points, joined=False),))
    axes, _ = drawn(shown)
    assert [each.get_text() for each in axes.texts] == ["$1"]
    assert axes.get_ylabel().replace("\n", " ") == long
    assert "\n" in axes.get_ylabel()


def test_reference_lines_can_be_alone() -> None:
    axes, handles = drawn(panel(reference_lines=(ReferenceLine(label="raw", y=3),), logarithmic=True))
    assert list(handles) == ["raw"]
    assert axes.get_ylim()[0] < 3 < axes.get_ylim()[1]
