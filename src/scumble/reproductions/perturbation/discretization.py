"""Discretization against uniform noise (section 2.1 of SIGMOD 2000): at equal privacy, discretized values teach less.

Both hide a value in an interval of the same width at the same confidence, 95 %. A privacy of a quarter of the range
leaves three intervals, half of the range leaves one, and the whole range cannot be reached at all.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from scumble.charts import Chart, Panel, Point, ReferenceLine, Series
from scumble.model.local.noise_model import for_privacy
from scumble.privacy.noise import SimulatedWords, simulation
from scumble.privacy.perturber import perturb_block
from scumble.reproductions.figure import Claim, Figure, Request
from scumble.reproductions.perturbation.charts import FUNCTIONS, cached_rows
from scumble.reproductions.perturbation.figures import (
    QUICK_TESTING,
    QUICK_TRAINING,
    TESTING,
    TRAINING,
    Row,
    learner,
    matrix,
    mean_accuracy,
    paper_claim,
    published_matrix,
)
from scumble.reproductions.perturbation.people import agrawal_schema, codes, generate

LEVELS = ("10%", "25%", "50%")
METHODS = ("discretized", "uniform")
ALGORITHMS = ("randomized", "byclass")
GUESSING = 50.0
"""The accuracy in % without any attribute: both classes are equally frequent."""
SEED = 1976
RUNS = 3
NOTES = (
    "Discretized values are learned from as they are and by ByClass; the better of the two means counts.",
    "Three equal intervals of age end at 40 and 60, where Function 1 is cut: at 25 % privacy it loses nothing.",
    "At 100 % privacy and 95 % confidence an interval would have to be wider than the range.",
)


def accuracies(function: int, run: int, level: str, *, training: int, testing: int) -> list[Row]:
    """The accuracy of trees from discretized values and from values with uniform noise, on the same people."""
    number = 2 * (1_000 * (SEED + run) + function)
    people, labels = generate(function, training, seed=number)
    test, wanted = generate(function, testing, seed=number + 1)
    rows = []
    for method in METHODS:
        model = for_privacy(agrawal_schema(), privacy=level, noise=method)
        reports = perturb_block(model, {**codes(people), "group": labels}, words=SimulatedWords(simulation(number)))
        values = published_matrix(model, reports)
        for algorithm in ALGORITHMS:
            tree = learner(model, algorithm).fit(values, labels)
            accuracy = float((tree.predict(matrix(test)) == wanted).mean())
            setting = {"function": function, "run": run, "privacy": level, "noise": method, "algorithm": algorithm}
            rows.append({**setting, "accuracy": accuracy})
    return rows


def discretization_figure(request: Request) -> Figure:
    """Accuracy over the level of privacy, mean of the five functions and for each of them."""
    facts: list[Row] = [
        {
            "what": "as-discretized/1",
            "function": function,
            "run": run,
            "privacy": level,
            "training": request.size(TRAINING, QUICK_TRAINING),
            "testing": request.size(TESTING, QUICK_TESTING),
        }
        for run in range(request.times(RUNS))
        for function in FUNCTIONS
        for level in LEVELS
    ]
    rows = cached_rows(facts, _accuracies_of_run, request)
    panels = [_panel("mean of the functions", rows)]
    panels += [_panel(f"function {f}", [row for row in rows if row["function"] == f]) for f in FUNCTIONS]
    title = "SIGMOD 2000, section 2.1: discretization and uniform noise at equal privacy"
    return Figure(
        title=title,
        rows=rows,
        claims=tuple(discretization_claims(rows)),
        chart=Chart(title=title, panels=tuple(panels)),
        notes=NOTES,
    )


def _panel(title: str, rows: Sequence[Row]) -> Panel:
    return Panel(
        title=title,
        x_label="privacy in % of the range",
        y_label="accuracy in %",
        series=tuple(
            Series(
                label=method,
                points=tuple(Point(x=float(level[:-1]), y=_best(rows, method, level)) for level in LEVELS),
            )
            for method in METHODS
        ),
        reference_lines=(ReferenceLine(label="guessing", y=GUESSING),),
    )


def _best(rows: Sequence[Row], method: str, level: str) -> float:
    """The accuracy of the better algorithm for discretized values, and of ByClass for values with noise."""
    learned = ALGORITHMS if method == "discretized" else ("byclass",)
    return max(mean_accuracy(rows, noise=method, privacy=level, algorithm=each) for each in learned)


def discretization_claims(rows: Sequence[Row]) -> list[Claim]:
    """At every level of privacy, discretization is worse in the mean of the functions."""
    claims = []
    for level in LEVELS:
        found = {method: _best(rows, method, level) for method in METHODS}
        worse = sum(
            _best([r for r in rows if r["function"] == f], "discretized", level)
            < _best([r for r in rows if r["function"] == f], "uniform", level)
            for f in sorted({row["function"] for row in rows})
        )
        measured = ", ".join(f"{method} {each:.1f}" for method, each in found.items())
        claims.append(
            paper_claim(
                text=f"discretization teaches worse than uniform noise at {level} privacy (mean of the functions)",
                measured=f"{measured}; on {worse} functions",
                holds=found["discretized"] < found["uniform"],
            )
        )
    return claims


def _accuracies_of_run(facts: Mapping[str, Any]) -> Row:
    sizes = {"training": facts["training"], "testing": facts["testing"]}
    return {"rows": accuracies(facts["function"], facts["run"], facts["privacy"], **sizes)}
