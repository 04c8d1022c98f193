"""Figures 4, 5 and 6 of EDBT 2019 for `scumble reproduce`: charts and claims from the points of `figures`."""

from collections.abc import Sequence

from scumble.charts import Chart, Panel, Point, ReferenceLine, Series
from scumble.model.budget import budget_text
from scumble.reproductions.figure import Claim, Figure, Request
from scumble.reproductions.microaggregation.figures import (
    DATASETS,
    EPSILONS,
    RUNS,
    SIZES,
    FigurePoint,
    NumericTable,
    figure_4,
    figure_5_or_6,
    judged_claims,
    noise_shares,
)

DEFAULT_RUNS = 40
QUICK_DEFAULT_RUNS = 4
QUICK_SIZES = (2, 3, 5, 10, 20, 30, 50, 70, 100)
DOMINATES = 0.5
"""Noise dominates a loss if it is more than this share of it at every k."""
LABELS = {
    "mdav": "MDAV",
    "i-mdav": "I-MDAV",
    "s-mdav": "S-MDAV (claim refuted)",
    "eps-dp": "eps-DP per record",
    "microaggregate": "microaggregate (ours)",
}
NOTES = (
    "Bounds come from the public schemas; the paper uses 1.5 times the observed maximum, which is not public.",
    "`il1s` is computed as in the paper, without clamping; `clamped`, which is plotted, clamps centres to the domain.",
    "All methods use `replace` and the same epsilon. S-MDAV's line assumes its claim, which is false.",
)


def micro_figure_4(request: Request) -> Figure:
    """Microaggregation without noise, on both data sets."""
    found: list[FigurePoint] = []
    panels = []
    claims: list[Claim] = []
    for number, name in enumerate(DATASETS, start=1):
        request.progress("grouping", number, len(DATASETS))
        table = NumericTable.load(name)
        drawn = list(figure_4(table, QUICK_SIZES if request.quick else SIZES))
        panels.append(_panel(name.upper(), drawn, ("mdav", "i-mdav")))
        claims += _claims(name, drawn, len(table.codes))
        found += drawn
    title = "EDBT 2019, Figure 4: IL1s of microaggregation without noise"
    return Figure(
        title=title,
        rows=[point.to_json() for point in found],
        claims=tuple(claims),
        chart=Chart(title=title, panels=tuple(panels)),
        notes=NOTES[:1],
    )


def micro_figure_5(request: Request) -> Figure:
    return _noisy_figure("census", 5, request)


def micro_figure_6(request: Request) -> Figure:
    return _noisy_figure("eia", 6, request)


def _noisy_figure(name: str, number: int, request: Request) -> Figure:
    """The noisy methods on one data set: a panel for each epsilon; our default and the constant are reference lines."""
    table = NumericTable.load(name)
    found: list[FigurePoint] = []
    sizes = QUICK_SIZES if request.quick else SIZES
    default_runs = request.size(DEFAULT_RUNS, QUICK_DEFAULT_RUNS)
    total = len(EPSILONS) * (1 + 2 * len(sizes) + 2) + 1
    for point in figure_5_or_6(table, sizes=sizes, runs=request.times(RUNS), default_runs=default_runs):
        found.append(point)
        request.progress("releasing", len(found), total)
    found += figure_4(table, sizes)
    panels = []
    for epsilon in EPSILONS:
        text = budget_text(epsilon)
        here = [point for point in found if point.epsilon == text]
        flat = [point for point in here if point.k == 0] + [point for point in found if point.method == "constant"]
        constants = tuple(
            ReferenceLine(label=LABELS.get(point.method, point.method), y=point.clamped) for point in flat
        )
        panels.append(_panel(f"{name.upper()}, eps = {text}", here, ("i-mdav", "s-mdav"), constants))
    title = f"EDBT 2019, Figure {number}: IL1s on {name.upper()}"
    return Figure(
        title=title,
        rows=[point.to_json() for point in found],
        claims=_claims(name, found, len(table.codes)),
        chart=Chart(title=title, panels=tuple(panels)),
        notes=NOTES,
    )


def _panel(
    title: str, found: Sequence[FigurePoint], methods: Sequence[str], reference_lines: tuple[ReferenceLine, ...] = ()
) -> Panel:
    series = []
    for method in methods:
        points = tuple(Point(x=point.k, y=point.clamped) for point in found if point.method == method and point.k)
        if points:
            series.append(Series(label=LABELS[method], points=points))
    return Panel(
        title=title,
        x_label="records of a group, k",
        y_label="information loss, IL1s",
        series=tuple(series),
        reference_lines=reference_lines,
    )


def _claims(name: str, found: Sequence[FigurePoint], rows: int) -> tuple[Claim, ...]:
    dominated = [
        Claim(
            text=f"{name.upper()}: eps {epsilon}: noise, not microaggregation, dominates the loss of {LABELS[method]}",
            paper="claimed",
            ours=f"noise is {low:.0%} to {high:.0%} of the loss over k",
            holds=low > DOMINATES,
        )
        for (method, epsilon), (low, high) in noise_shares(found).items()
    ]
    return (*_order_claims(name, found, rows), *dominated)


def _order_claims(name: str, found: Sequence[FigurePoint], rows: int) -> tuple[Claim, ...]:
    return tuple(
        Claim(
            text=f"{name.upper()}: {text}",
            paper="" if "microaggregate" in text else "claimed",
            ours="true" if holds else "false",
            holds=holds,
        )
        for text, holds in judged_claims(found, rows).items()
    )
