"""Bars: names lie beside long bars, intervals that do not contain the value are drawn from it."""

from matplotlib.figure import Figure

from scumble.charts.bars import draw_bar_chart, is_lying
from scumble.charts.description import Bar, BarChart
from scumble.charts.looks import looks_of


def chart(*bars: Bar) -> BarChart:
    return BarChart(title="t", y_label="records", bars=bars)


def test_long_names_make_bars_lie() -> None:
    assert is_lying(chart(*(Bar(label="a long name of a ward", series="s", value=n) for n in range(1)))) is False
    assert is_lying(chart(*(Bar(label=f"a long name of a ward {n}", series="s", value=n) for n in range(5))))
    assert not is_lying(chart())


def test_an_interval_that_does_not_contain_the_value_starts_at_it() -> None:
    bars = chart(
        Bar(label="a", series="s", value=0, low=-8, high=-2), Bar(label="b", series="s", value=5, low=1, high=9)
    )
    axes = Figure().subplots()
    draw_bar_chart(axes, bars, looks_of(bars.series()))
    (whiskers,) = axes.collections
    ends = [sorted(segment[:, 1].tolist()) for segment in whiskers.get_segments()]
    assert ends == [[-8, 0], [1, 9]]


def test_series_have_patterns_of_their_own() -> None:
    bars = chart(*(Bar(label="a", series=series, value=1) for series in "xyz"))
    axes = Figure().subplots()
    draw_bar_chart(axes, bars, looks_of(bars.series()))
    assert len({patch.get_hatch() for patch in axes.patches}) == 3
