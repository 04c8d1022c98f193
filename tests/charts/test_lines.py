"""Lines: the window of the axes, points side by side, whiskers and bands."""

import pytest
from matplotlib.axes import Axes
from matplotlib.collections import FillBetweenPolyCollection, LineCollection
from matplotlib.figure import Figure

from scumble.charts.description import Panel, Point, ReferenceLine, Series
from scumble.charts.lines import MOST_WHISKERS, draw_lines, is_cut, window
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


def test_a_peak_of_another_series_does_not_flatten_the_leading_one_and_its_height_is_written() -> None:
    smooth = Series(label="smooth", points=tuple(Point(x=x, y=1 + x % 2) for x in range(5)))
    spiky = Series(label="spiky", points=tuple(Point(x=x, y=50.0 if x in (0, 4) else 0.5) for x in range(5)))
    led = panel(smooth, spiky, from_zero=True, led_by="smooth")
    assert window(led) == (0, pytest.approx(2 + 2 / 3)) and is_cut(led)
    axes, _ = drawn(led)
    assert [each.get_text() for each in axes.texts] == ["↑ 50", "↑ 50"]
    assert {each.get_ha() for each in axes.texts} == {"left", "right"}  # both inside
    assert window(panel(smooth, spiky, from_zero=True))[1] > 50
    assert not is_cut(panel(smooth, spiky)) and not is_cut(panel(smooth, led_by="smooth"))


def test_a_series_that_is_a_little_higher_than_the_leading_one_is_shown_in_full() -> None:
    flat = Series(label="flat", points=tuple(Point(x=x, y=1.0) for x in range(9)))
    rough = Series(label="rough", points=tuple(Point(x=x, y=0.9 + 0.2 * (x % 2)) for x in range(9)))
    led = panel(flat, rough, from_zero=True, led_by="flat")
    assert window(led)[1] > 1.1 and not is_cut(led)
    assert list(drawn(led)[0].texts) == []


@pytest.mark.parametrize("label", ["accuracy in %", "accuracy on the test rows, %"])
def test_an_axis_of_accuracies_ends_at_100_percent(label: str) -> None:
    best = Series(label="a", points=(Point(x=0, y=60, low=50, high=70), Point(x=1, y=100, low=90, high=110)))
    shown = Panel(title="", x_label="x", y_label=label, series=(best,))
    assert window(shown)[1] == 100
    _, handles = drawn(shown)
    assert not handles["a"].get_clip_on()  # type: ignore[attr-defined]  # the marker at 100 is whole
    assert window(Panel(title="", x_label="x", y_label="error in %", series=(best,)))[1] > 100


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
