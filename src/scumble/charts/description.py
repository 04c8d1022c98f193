"""What a chart shows, as plain data: lines over numbers, bars with names, their intervals and labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

MOST_BARS = 10
"""More categories than this are drawn as one bar, "other"."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """A value at x, optionally with the ends of its confidence interval."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    text: str = ""
    """What is written beside it."""

    @classmethod
    def around(cls, x: float, y: float, half: float | None) -> "Point":
        """A value with the interval y ± half, if that is known."""
        return cls(x=x, y=y) if half is None else cls(x=x, y=y, low=y - half, high=y + half)


@dataclass(frozen=True, kw_only=True)
class Series:
    """One line of the chart: labelled points."""

    label: str
    points: tuple[Point, ...]
    joined: bool = True
    """Whether the points are joined by a line."""


@dataclass(frozen=True, kw_only=True)
class ReferenceLine:
    """A labelled horizontal line, for a value that does not depend on x."""

    label: str
    y: float


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One pair of axes."""

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    reference_lines: tuple[ReferenceLine, ...] = ()
    logarithmic: bool = False
    """Whether the x axis is logarithmic; the ticks are then the x values that occur."""
    from_zero: bool = False
    """Whether the y axis starts at zero, as it should for amounts."""
    numbered: bool = False
    """Whether x is a number without magnitude (an identifier): its points stand side by side and are not joined."""
    led_by: str = ""
    """The label of the series that sets the range of y, if one does. Peaks of the others are cut off there, and their
    values are written beside them."""

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(series.label for series in self.series)

    @property
    def most(self) -> float | None:
        """The largest value that there can be, if the label of y says so: an accuracy in % is at most 100."""
        return 100.0 if "accuracy" in self.y_label and "%" in self.y_label else None


@dataclass(frozen=True, kw_only=True)
class BarPanel:
    """One pair of axes with named horizontal bars from zero: a place for each name, a bar for each series."""

    title: str
    x_label: str
    names: tuple[str, ...]
    """From the top."""
    values: Mapping[str, tuple[float, ...]]
    """The value of each name, by the label of the series."""

    @classmethod
    def of_largest(
        cls, *, title: str, x_label: str, names: Sequence[str], values: Mapping[str, Sequence[float]], by: str
    ) -> "BarPanel":
        """The ten names with the largest values in the series `by`, largest first, and the sum of the others."""
        order = sorted(range(len(names)), key=lambda place: -values[by][place])
        # One name alone is not replaced by "other".
        shown = order if len(order) <= MOST_BARS + 1 else order[:MOST_BARS]
        others = order[len(shown) :]
        return cls(
            title=title,
            x_label=x_label,
            names=(*(names[place] for place in shown), *([f"{len(others)} others"] if others else [])),
            values={
                label: (*(each[place] for place in shown), *([sum(each[place] for place in others)] if others else []))
                for label, each in values.items()
            },
        )

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(self.values)


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Panels with a common legend: a label has the same colour in every panel."""

    title: str
    panels: tuple[Panel | BarPanel, ...]
    note: str = ""

    def __post_init__(self) -> None:
        titles = [panel.title for panel in self.panels]
        if len(set(titles)) < len(titles):
            raise ValueError(f"two panels have the same title: {titles}")

    def labels(self) -> list[str]:
        """The labels of all series in the order of first appearance."""
        return list(dict.fromkeys(label for panel in self.panels for label in panel.labels))

    def reference_labels(self) -> list[str]:
        """The labels of all reference lines in the order of first appearance."""
        lines = (line for panel in self.panels if isinstance(panel, Panel) for line in panel.reference_lines)
        return list(dict.fromkeys(line.label for line in lines))


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A labelled value, optionally with the ends of its interval. `series` is the part of the legend it belongs to."""

    label: str
    series: str
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, kw_only=True)
class BarChart:
    """Bars side by side: one place for each label, one colour for each series."""

    title: str
    y_label: str
    bars: tuple[Bar, ...]
    note: str = ""

    def labels(self) -> list[str]:
        """The labels of all places in the order of first appearance."""
        return list(dict.fromkeys(bar.label for bar in self.bars))

    def series(self) -> list[str]:
        """The series in the order of first appearance."""
        return list(dict.fromkeys(bar.series for bar in self.bars))
