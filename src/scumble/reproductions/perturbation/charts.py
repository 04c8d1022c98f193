"""Table 1 and Figures 2, 5 and 6 of SIGMOD 2000 for `scumble reproduce`: charts and claims from `figures`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from scumble.charts import BarPanel, Chart, Panel, Point, ReferenceLine, Series
from scumble.comparison.cached_runs import Compute, run_cached
from scumble.comparison.summary import Mean
from scumble.mining.reconstruction.smoothing import Rule
from scumble.reproductions.figure import Claim, Figure, Request
from scumble.reproductions.perturbation.claims import figure_5_claims, figure_6_claims
from scumble.reproductions.perturbation.figures import (
    FIGURE_5_ALGORITHMS,
    FIGURE_5_PRIVACY,
    FIGURE_6_PRIVACY,
    NOISES,
    QUICK_TESTING,
    QUICK_TRAINING,
    STOPS,
    TESTING,
    TRAINING,
    Row,
    accuracy_of,
    mean_accuracy,
    table_1,
    table_1_claims,
    tree_accuracies,
)
from scumble.reproductions.perturbation.shapes import FIGURE_2_RANDOMIZERS, SHAPES, figure_2, figure_2_claims

RUNS = 10
FUNCTIONS = (1, 2, 3, 4, 5)
FIGURE_6_ALGORITHMS = ("randomized", "byclass", "local")
SEED = 2000
FIGURE_2_RULES = {"as printed": Rule.PAPER, "smoothed": Rule.SMOOTHED}
FIGURE_2_NOTE = (
    "Two rules are shown: Equation 3 with the paper's stopping rule, and our default, which adds a smoothing step. Its "
    "width depends only on the number of rows. We require a distance below 0.05 and below a quarter of the distance of "
    "the randomized data. The triangles with Gaussian noise miss this with either rule. Two triangles differ from one "
    "peak by a wave half as long as the domain: the mean of cos(4 pi x) is -0.405. Noise with a standard deviation of "
    "0.25 leaves 0.0029 of it, and the mean over 100,000 rows has a standard error of 0.0022. The amount of smoothing "
    "was chosen on these two shapes among others, and first tried on the seeds of the first eight runs."
)
NOTES = (
    "Function 2 has a misprint in Table 3 (`75K <= salary >= 125K`); ours uses `<= 125K`.",
    "At a node, Local only reconstructs attributes that no test on its path has used; see `mining/perturbed/tree.py`.",
    "We read `very close` as within 5 points, since the paper gives no number.",
    "Our ByClass and Local also reconstruct their leaves; `as-limits` shows the algorithms as printed in the paper.",
    "Our Original splits for any gain, so sampling error alone takes it past Function 2's XOR.",
    "`original with a least gain` is scikit-learn's tree, least gain 20 / rows. It stops at the XOR if it meets it,",
    "which depends on the first splits that a sample favours: it did in three of our ten samples.",
)


def perturbation_table_1(request: Request) -> Figure:
    """The privacy of each kind of noise, as a multiple of the interval width, of 2a or of sigma."""
    del request
    rows = table_1()
    panel = BarPanel(
        title="",
        x_label="width of the interval at this confidence, in W, 2a or sigma",
        names=tuple(f"{row['method']}, {100 * row['confidence']:g} %" for row in rows),
        values={"ours": tuple(row["width"] for row in rows), "paper": tuple(row["paper"] for row in rows)},
    )
    title = "SIGMOD 2000, Table 1: privacy of each kind of noise"
    return Figure(title=title, rows=rows, claims=tuple(table_1_claims(rows)), chart=Chart(title=title, panels=(panel,)))


def perturbation_figure_2(request: Request) -> Figure:
    """Original, randomized and reconstructed distributions: plateau and triangles with both kinds of noise."""
    rows: list[Row] = []
    claims: list[Claim] = []
    runs = request.times(1)
    for run in range(runs):
        for name, rule in FIGURE_2_RULES.items():
            made = figure_2(points=TRAINING, seed=SEED + run, rule=rule)
            suffix = f", {name}" + (f", run {run + 1}" if runs > 1 else "")
            claims += [replace(claim, text=claim.text + suffix) for claim in figure_2_claims(made)]
            rows += [{"run": run, "rule": name, **row} for row in made]
        request.progress("reconstructing", run + 1, runs)
    panels = [
        Panel(
            title=f"{shape}, {noise}",
            x_label="value",
            y_label="number of points",
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
        for noise in FIGURE_2_RANDOMIZERS
    ]
    title = "SIGMOD 2000, Figure 2: reconstructed distributions"
    notes = (
        "The paper only draws the shapes; ours resemble the drawings. The plot shows the first run, smoothed.",
        FIGURE_2_NOTE,
    )
    return Figure(
        title=title, rows=rows, claims=tuple(claims), chart=Chart(title=title, panels=tuple(panels)), notes=notes
    )


def perturbation_figure_5(request: Request) -> Figure:
    """Accuracy of all algorithms on the five functions at 25, 50 and 100 % privacy."""
    rows = accuracy_rows(request, FIGURE_5_PRIVACY, FIGURE_5_ALGORITHMS)
    panels = []
    for noise in NOISES:
        for level in FIGURE_5_PRIVACY[1:]:
            original = _line("original", [(f, accuracy_of(rows, function=f, algorithm="original")) for f in FUNCTIONS])
            others = [
                _line(
                    each,
                    [(f, accuracy_of(rows, function=f, algorithm=each, noise=noise, privacy=level)) for f in FUNCTIONS],
                )
                for each in FIGURE_5_ALGORITHMS
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
    title = "SIGMOD 2000, Figure 5: accuracy of trees trained on perturbed rows"
    return Figure(
        title=title,
        rows=rows,
        claims=tuple(figure_5_claims(rows)),
        chart=Chart(title=title, panels=tuple(panels), note=runs_note(request)),
        notes=NOTES,
    )


def perturbation_figure_6(request: Request) -> Figure:
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
                        accuracy_of(rows, function=function, algorithm=each, noise=noise, privacy=level),
                    )
                    for level in FIGURE_6_PRIVACY[1:]
                ],
            )
            for each in FIGURE_6_ALGORITHMS
            for noise in NOISES
        ]
        best = ReferenceLine(label="original", y=mean_accuracy(rows, function=function, algorithm="original"))
        panels.append(
            Panel(
                title=f"function {function}",
                x_label="privacy in % of the range",
                y_label="accuracy in %",
                series=tuple(lines),
                reference_lines=(best,),
            )
        )
    title = "SIGMOD 2000, Figure 6: accuracy over the level of privacy"
    return Figure(
        title=title,
        rows=rows,
        claims=tuple(figure_6_claims(rows)),
        chart=Chart(title=title, panels=tuple(panels), note=runs_note(request)),
        notes=(NOTES[0], NOTES[2], NOTES[3]),
    )


def _line(label: str, points: Sequence[tuple[float, Mean]]) -> Series:
    return Series(label=label, points=tuple(Point.around(x, mean.mean, mean.band) for x, mean in points))


def runs_note(request: Request) -> str:
    """What the points and the lines through them are."""
    runs = request.times(RUNS)
    return "one run" if runs == 1 else f"mean of {runs} runs, 95 % confidence intervals"


def accuracy_rows(request: Request, privacy: Sequence[str], algorithms: Sequence[str]) -> list[Row]:
    """The accuracies of all runs, functions and levels. Results cached for this or another figure are reused."""
    facts = [
        {
            "what": "as-accuracies/3",
            "function": function,
            "run": run,
            "privacy": level,
            "algorithms": list(_computed(level)),
            "training": request.size(TRAINING, QUICK_TRAINING),
            "testing": request.size(TESTING, QUICK_TESTING),
        }
        for run in range(request.times(RUNS))
        for function in FUNCTIONS
        for level in privacy
    ]
    rows = cached_rows(facts, _accuracies_of_run, request)
    return [row for row in rows if row["algorithm"] in ("original", STOPS, *algorithms)]


def cached_rows(facts: Sequence[Row], compute: Compute, request: Request) -> list[Row]:
    """The rows that `compute` returns for all facts, from the cache where possible."""
    options: dict[str, Any] = {"cache": request.cache, "jobs": request.jobs, "progress": request.progress}
    return [row for result in run_cached(facts, compute, label="training", **options) for row in result["rows"]]


def _computed(level: str) -> Sequence[str]:
    """The algorithms to run at a level: all that Figures 5 and 6 show there, so that they share cached results."""
    return FIGURE_5_ALGORITHMS if level in FIGURE_5_PRIVACY else FIGURE_6_ALGORITHMS


def _accuracies_of_run(facts: Mapping[str, Any]) -> Row:
    """One run on one function at one level. The run's number is the seed, so every run has its own people and noise."""
    rows = tree_accuracies(
        functions=(facts["function"],),
        privacy=(facts["privacy"],),
        algorithms=facts["algorithms"],
        runs=1,
        training=facts["training"],
        testing=facts["testing"],
        seed=SEED + facts["run"],
    )
    return {"rows": [{**row, "run": facts["run"]} for row in rows]}
