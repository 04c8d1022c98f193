"""Figures 4, 5 and 6 of EDBT 2019 for `scumble reproduce`: the rows of `micro_figures` as charts and claims."""

from collections.abc import Sequence

from scumble.charts import Chart, Level, Panel, Point, Series
from scumble.model.budget import budget_text
from scumble.reproductions.figure import Claim, Figure, Request
from scumble.reproductions.microaggregation.figures import (
    DATASETS,
    EPSILONS,
    RUNS,
    Line,
    Table,
    claims,
    figure_4,
    figure_5_or_6,
)

DEFAULT_RUNS = 40
LABELS = {
    "mdav": "MDAV",
    "i-mdav": "I-MDAV",
    "s-mdav": "S-MDAV (claim refuted)",
    "eps-dp": "eps-DP per record",
    "microaggregate": "microaggregate (ours)",
}
NOTES = (
    "Bounds come from the public schemas; the paper takes 1.5 times the observed maximum, which is not public.",
    "`il1s` is as in the paper, noise unclamped; `clamped` brings centres back into the domain, which the plot shows.",
    "All under `replace` at the same epsilon. S-MDAV's line is what its noise would give if its claim held.",
)


def micro_figure_4(request: Request) -> Figure:
    """Microaggregation alone, on both data sets."""
    lines: list[Line] = []
    panels = []
    told: list[Claim] = []
    for number, name in enumerate(DATASETS, start=1):
        request.progress("grouping", number, len(DATASETS))
        table = Table.load(name)
        drawn = list(figure_4(table))
        panels.append(_panel(name.upper(), drawn, ("mdav", "i-mdav")))
        told += _claims(name, drawn, len(table.codes))
        lines += drawn
    title = "EDBT 2019, Figure 4: IL1s of microaggregation without noise"
    return Figure(
        title=title,
        rows=[line.to_json() for line in lines],
        claims=tuple(told),
        chart=Chart(title=title, panels=tuple(panels)),
        notes=NOTES[:1],
    )


def micro_figure_5(request: Request) -> Figure:
    return _noisy_figure("census", 5, request)


def micro_figure_6(request: Request) -> Figure:
    return _noisy_figure("eia", 6, request)


def _noisy_figure(name: str, number: int, request: Request) -> Figure:
    """The noisy methods on one data set, a panel for each epsilon, our default and the constant as levels."""
    table = Table.load(name)
    lines: list[Line] = []
    for line in figure_5_or_6(table, runs=request.runs or RUNS, default_runs=DEFAULT_RUNS):
        lines.append(line)
        request.progress("releasing", len(lines), None)
    lines += figure_4(table)
    panels = []
    for epsilon in EPSILONS:
        text = budget_text(epsilon)
        here = [line for line in lines if line.epsilon == text]
        flat = [line for line in here if line.k == 0] + [line for line in lines if line.method == "constant"]
        levels = tuple(Level(label=LABELS.get(line.method, line.method), y=line.clamped) for line in flat)
        panels.append(_panel(f"{name.upper()}, eps = {text}", here, ("i-mdav", "s-mdav"), levels))
    title = f"EDBT 2019, Figure {number}: IL1s on {name.upper()}"
    return Figure(
        title=title,
        rows=[line.to_json() for line in lines],
        claims=_claims(name, lines, len(table.codes)),
        chart=Chart(title=title, panels=tuple(panels)),
        notes=NOTES,
    )


def _panel(title: str, lines: Sequence[Line], methods: Sequence[str], levels: tuple[Level, ...] = ()) -> Panel:
    series = []
    for method in methods:
        points = tuple(Point(x=line.k, y=line.clamped) for line in lines if line.method == method and line.k)
        if points:
            series.append(Series(label=LABELS[method], points=points))
    return Panel(title=title, x_label="k", y_label="IL1s", series=tuple(series), levels=levels)


def _claims(name: str, lines: Sequence[Line], rows: int) -> tuple[Claim, ...]:
    return tuple(
        Claim(
            text=f"{name.upper()}: {text}",
            paper="" if "microaggregate" in text else "claimed",
            ours="holds" if holds else "does not hold",
            holds=holds,
        )
        for text, holds in claims(lines, rows).items()
    )
