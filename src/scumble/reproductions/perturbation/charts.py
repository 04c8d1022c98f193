"""Table 1 and Figures 2, 5 and 6 of SIGMOD 2000 for `scumble reproduce`: the rows of `as_figures` as charts, claims."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from scumble.charts import Chart, Level, Panel, Point, Series
from scumble.comparison.cached_runs import keep, kept_path, recall, run_all
from scumble.mining.reconstruction.smoothing import Rule
from scumble.reproductions.figure import Claim, Figure, Request
from scumble.reproductions.perturbation import figures as as_figures
from scumble.reproductions.perturbation.claims import figure_5_claims, figure_6_claims
from scumble.reproductions.perturbation.figures import (
    FIGURE_2_BLURS,
    FIGURE_5_PRIVACY,
    FIGURE_6_PRIVACY,
    NOISES,
    SHAPES,
    Row,
    accuracies,
    figure_2_claims,
    mean_accuracy,
    table_1_claims,
)

RUNS = 10
TRAINING, TESTING = as_figures.TRAINING, as_figures.TESTING
FUNCTIONS = (1, 2, 3, 4, 5)
FIGURE_6_ALGORITHMS = ("randomized", "byclass")
SEED = 2000
FIGURE_2_RULES = {"as printed": Rule.PAPER, "smoothed": Rule.SMOOTHED}
FIGURE_2_NOTE = (
    "Two rules are shown: Equation 3 with the paper's stop, and our usual one, with a smoothing step whose width "
    "depends on the number of rows alone. Our bounds are a distance below 0.05, and below a quarter of the randomized "
    "one's. Triangles under Gaussian noise miss them by either rule. What tells two triangles from one hill is a wave "
    "half as long as the domain: the mean of cos(4 pi x) is -0.405. Noise of a deviation of 0.25 leaves 0.0029 of it, "
    "and the mean over 100,000 rows has a standard error of 0.0022. The amount of smoothing was settled with these two "
    "shapes among others, and first tried on the seeds of the first eight runs."
)
NOTES = (
    "Table 3 prints a misprint in Function 2 (`75K <= salary >= 125K`); ours has `<= 125K`.",
    "Local reconstructs at a node only the attributes that no test on its path has used; see `perturbed_tree`.",
    "`very close` is taken to mean within 5 points where the paper names no number.",
    "ByClass and Local reconstruct their leaves, which the paper does not; `as-limits` has them as printed.",
    "Our Original goes on for any gain, so sampling alone takes it past Function 2's XOR; see docs/perturb.md.",
)


def as_table_1(request: Request) -> Figure:
    """Privacy as a multiple of an interval, of 2a or of sigma."""
    del request
    rows = as_figures.table_1()
    series = [
        Series(
            label=f"{method}, {whose}",
            points=tuple(Point(x=r["confidence"], y=r[column]) for r in rows if r["method"] == method),
        )
        for method in as_figures.PAPER_TABLE_1
        for whose, column in (("ours", "width"), ("paper", "paper"))
    ]
    title = "SIGMOD 2000, Table 1: privacy of each kind of noise"
    panel = Panel(title="", x_label="confidence", y_label="width, in W, 2a or sigma", series=tuple(series))
    return Figure(
        title=title, rows=rows, claims=_claims(table_1_claims(rows)), chart=Chart(title=title, panels=(panel,))
    )


def as_figure_2(request: Request) -> Figure:
    """Original, randomized and reconstructed: plateau and triangles under both noises."""
    rows: list[Row] = []
    claims: list[Claim] = []
    runs = request.runs or 1
    for run in range(runs):
        for name, rule in FIGURE_2_RULES.items():
            made = as_figures.figure_2(points=TRAINING, seed=SEED + run, rule=rule)
            claims += _claims(figure_2_claims(made), f", {name}" + (f", run {run + 1}" if runs > 1 else ""))
            rows += [{"run": run, "rule": name, **row} for row in made]
        request.progress("reconstructing", run + 1, runs)
    panels = [
        Panel(
            title=f"{shape}, {noise}",
            x_label="value",
            y_label="points",
            series=tuple(
                Series(
                    label=kind,
                    points=tuple(
                        Point(x=row["low"], y=row[kind])
                        for row in rows
                        if (row["run"], row["rule"], row["shape"], row["noise"]) == (0, "smoothed", shape, noise)
                    ),
                )
                for kind in ("original", "randomized", "reconstructed")
            ),
        )
        for shape in SHAPES
        for noise in FIGURE_2_BLURS
    ]
    title = "SIGMOD 2000, Figure 2: reconstructed distributions"
    notes = (
        "The paper gives the shapes as drawings only; ours follow them by eye. The plot shows the first run, smoothed.",
        FIGURE_2_NOTE,
    )
    return Figure(
        title=title, rows=rows, claims=tuple(claims), chart=Chart(title=title, panels=tuple(panels)), notes=notes
    )


def as_figure_5(request: Request) -> Figure:
    """Accuracy of all algorithms on the five functions at 25, 50 and 100 % privacy."""
    algorithms = as_figures.FIGURE_5_ALGORITHMS
    rows = accuracy_rows(request, FIGURE_5_PRIVACY, algorithms)
    panels = []
    for noise in NOISES:
        for level in FIGURE_5_PRIVACY[1:]:
            original = _line(
                "original", [(f, mean_accuracy(rows, function=f, algorithm="original")) for f in FUNCTIONS]
            )
            others = [
                _line(
                    each,
                    [
                        (f, mean_accuracy(rows, function=f, algorithm=each, noise=noise, privacy=level))
                        for f in FUNCTIONS
                    ],
                )
                for each in algorithms
            ]
            panels.append(
                Panel(
                    title=f"{noise}, {level} privacy",
                    x_label="function",
                    y_label="accuracy in %",
                    series=(original, *others),
                    numbered=True,
                )
            )
    title = "SIGMOD 2000, Figure 5: accuracy of trees from blurred rows"
    return Figure(
        title=title,
        rows=rows,
        claims=_claims(figure_5_claims(rows)),
        chart=Chart(title=title, panels=tuple(panels)),
        notes=NOTES,
    )


def as_figure_6(request: Request) -> Figure:
    """Accuracy over the level of privacy, before and after correction."""
    rows = accuracy_rows(request, FIGURE_6_PRIVACY, FIGURE_6_ALGORITHMS)
    panels = []
    for function in FUNCTIONS:
        lines = [
            _line(
                f"{each}, {noise}",
                [
                    (
                        float(level[:-1]),
                        mean_accuracy(rows, function=function, algorithm=each, noise=noise, privacy=level),
                    )
                    for level in FIGURE_6_PRIVACY[1:]
                ],
            )
            for each in FIGURE_6_ALGORITHMS
            for noise in NOISES
        ]
        best = Level(label="original", y=mean_accuracy(rows, function=function, algorithm="original"))
        panels.append(
            Panel(
                title=f"function {function}",
                x_label="privacy in % of the range",
                y_label="accuracy in %",
                series=tuple(lines),
                levels=(best,),
            )
        )
    title = "SIGMOD 2000, Figure 6: accuracy over the level of privacy"
    return Figure(
        title=title,
        rows=rows,
        claims=_claims(figure_6_claims(rows)),
        chart=Chart(title=title, panels=tuple(panels)),
        notes=(NOTES[0], NOTES[2], NOTES[3]),
    )


def _line(label: str, points: Sequence[tuple[float, float]]) -> Series:
    return Series(label=label, points=tuple(Point(x=x, y=y) for x, y in points))


def _claims(found: Sequence[as_figures.Claim], suffix: str = "") -> tuple[Claim, ...]:
    return tuple(
        Claim(text=each.text + suffix, paper="claimed", ours=each.measured, holds=each.holds) for each in found
    )


def accuracy_rows(request: Request, privacy: Sequence[str], algorithms: Sequence[str]) -> list[Row]:
    """All runs, functions and levels, side by side; what was computed before, for this figure or another, is read."""
    facts = [
        {
            "what": "as-accuracies/2",
            "function": function,
            "run": run,
            "privacy": level,
            "algorithms": list(_computed(level)),
            "training": TRAINING,
            "testing": TESTING,
        }
        for run in range(request.runs or RUNS)
        for function in FUNCTIONS
        for level in privacy
    ]
    paths = [kept_path(request.cache, each) for each in facts]
    missing = [(path, each) for path, each in zip(paths, facts, strict=True) if recall(path) is None]
    pieces = [partial(_piece, path, each) for path, each in missing]
    for done, _ in enumerate(run_all(pieces, request.jobs), start=1):
        request.progress("training", done, len(pieces))
    rows = [row for path in paths for row in (recall(path) or {})["rows"]]
    return [row for row in rows if row["algorithm"] in ("original", *algorithms)]


def _computed(level: str) -> Sequence[str]:
    """The algorithms run at a level: those of both figures where both show it, so that one serves the other."""
    return as_figures.FIGURE_5_ALGORITHMS if level in FIGURE_5_PRIVACY else FIGURE_6_ALGORITHMS


def _piece(path: Path, facts: Row) -> None:
    """One run on one function at one level, kept. The run's number is the seed, so every run has people and noise of
    its own."""
    rows = accuracies(
        functions=(facts["function"],),
        privacy=(facts["privacy"],),
        algorithms=facts["algorithms"],
        runs=1,
        training=facts["training"],
        testing=facts["testing"],
        seed=SEED + facts["run"],
    )
    keep(path, {"rows": [{**row, "run": facts["run"]} for row in rows]})
