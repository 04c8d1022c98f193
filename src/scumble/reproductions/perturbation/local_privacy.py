"""The classification task of SIGMOD 2000 under local differential privacy.

It shows which epsilon gives the same accuracy as 100 % interval privacy, and which accuracy a reasonable epsilon gives.
Noise of interval privacy can be filtered out (see `filtering`); the guarantee of local differential privacy remains.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from scumble.charts import Chart, Panel, Point, ReferenceLine, Series
from scumble.comparison.summary import Mean
from scumble.mining.perturbed.classifier import PerturbedTreeClassifier
from scumble.model.local.noise_model import for_epsilon, for_privacy
from scumble.privacy.noise import SimulatedWords, simulation
from scumble.privacy.perturber import perturb_block
from scumble.reproductions.figure import Claim, Figure, Request
from scumble.reproductions.perturbation.charts import cached_rows
from scumble.reproductions.perturbation.figures import (
    QUICK_TESTING,
    QUICK_TRAINING,
    TESTING,
    TRAINING,
    Row,
    published_matrix,
)
from scumble.reproductions.perturbation.people import RANGES, agrawal_schema, codes, generate

EPSILONS = (1, 2, 4, 8, 16, 32, 64, 128)
NEEDED = {1: ("age",), 2: ("age", "salary"), 4: ("salary", "commission", "loan")}
"""The attributes a function depends on. Collecting only these divides the budget among fewer attributes."""
EVERYTHING, ENOUGH = "all nine attributes", "only what the function needs"
INTERVAL = "interval, 100%"
LARGEST_PART = 16
RUNS = 3
SEED = 1965
REASONABLE = 4
"""About the largest total epsilon in deployments of local differential privacy."""
NOTES = (
    "ByClass trees on 100,000 people. Interval privacy: Gaussian noise, the class reported without noise.",
    "Local differential privacy: Laplace noise on numbers, randomized response on the class, equal budgets.",
    "The paper makes no such claim. The two guarantees differ in kind; only their accuracies are compared.",
)


def local_privacy_figure(request: Request) -> Figure:
    """Accuracy for each total epsilon, compared with the accuracy of 100 % interval privacy."""
    rows = _rows(request)
    panels, claims = [], []
    for function in NEEDED:
        interval = {collected: _mean(rows, function, collected, INTERVAL).mean for collected in (EVERYTHING, ENOUGH)}
        lines = []
        for collected in (EVERYTHING, ENOUGH):
            means = {each: _mean(rows, function, collected, str(each)) for each in _epsilons(function, collected)}
            points = tuple(Point.around(x, mean.mean, mean.band) for x, mean in means.items())
            lines.append(Series(label=collected, points=points))
            claims += _claims(function, collected, interval[collected], {x: mean.mean for x, mean in means.items()})
        interval_lines = tuple(
            ReferenceLine(label=f"{INTERVAL}, {collected}", y=value) for collected, value in interval.items()
        )
        panels.append(
            Panel(
                title=f"function {function}",
                x_label="epsilon of a whole record",
                y_label="accuracy in %",
                series=tuple(lines),
                reference_lines=interval_lines,
                logarithmic=True,
            )
        )
    title = "The same task under local differential privacy"
    return Figure(
        title=title,
        rows=rows,
        claims=tuple(claims),
        chart=Chart(title=title, panels=tuple(panels)),
        notes=NOTES,
    )


def _claims(function: int, collected: str, interval: float, means: dict[int, float]) -> list[Claim]:
    equal = [epsilon for epsilon, mean in means.items() if mean >= interval - 1]
    text = f"function {function}, {collected}"
    found = f"epsilon {min(equal)}" if equal else f"none up to {max(means)}"
    return [
        Claim(text=f"{text}: accuracy of {INTERVAL}", paper="", ours=f"{interval:.1f} %"),
        Claim(text=f"{text}: least epsilon tried that comes within a point of it", paper="", ours=found),
        Claim(text=f"{text}: accuracy at epsilon {REASONABLE}", paper="", ours=f"{means[REASONABLE]:.1f} %"),
    ]


def _epsilons(function: int, collected: str) -> list[int]:
    attributes = 1 + (len(RANGES) if collected == EVERYTHING else len(NEEDED[function]))
    return [each for each in EPSILONS if each <= LARGEST_PART * attributes]


def _mean(rows: Sequence[Row], function: int, collected: str, guarantee: str) -> Mean:
    found = [
        r["accuracy"] for r in rows if (r["function"], r["told"], r["promise"]) == (function, collected, guarantee)
    ]
    return Mean.of([100 * accuracy for accuracy in found])


def _rows(request: Request) -> list[Row]:
    facts: list[Row] = [
        {
            "what": "as-local/1",
            "function": function,
            "run": run,
            "training": request.size(TRAINING, QUICK_TRAINING),
            "testing": request.size(TESTING, QUICK_TESTING),
        }
        for run in range(request.times(RUNS))
        for function in NEEDED
    ]
    return cached_rows(facts, _accuracies_of_run, request)


def _accuracies_of_run(facts: Mapping[str, Any]) -> Row:
    sizes = {"training": facts["training"], "testing": facts["testing"]}
    return {"rows": accuracies_by_guarantee(facts["function"], facts["run"], **sizes)}


def accuracies_by_guarantee(function: int, run: int, *, training: int, testing: int) -> list[Row]:
    """The accuracy of one tree for each guarantee, with all attributes and with only the needed ones."""
    schema = agrawal_schema()
    number = 2 * (SEED + 10 * run + function)
    people, labels = generate(function, training, seed=number)
    test, wanted = generate(function, testing, seed=number + 1)
    cells = {**codes(people), "group": labels}
    rows = []
    for collected in (EVERYTHING, ENOUGH):
        withheld = [] if collected == EVERYTHING else [name for name in RANGES if name not in NEEDED[function]]
        models = {INTERVAL: for_privacy(schema, privacy="100%", withheld=withheld)}
        models |= {
            str(each): for_epsilon(schema, epsilon=each, withheld=withheld) for each in _epsilons(function, collected)
        }
        for guarantee, model in models.items():
            reports = perturb_block(model, cells, words=SimulatedWords(simulation(number)))
            names = [attribute.name for attribute in model.published.predictors]
            tree = PerturbedTreeClassifier(model).fit(published_matrix(model, reports, names), reports["group"])
            table = np.stack([test[name] for name in names], axis=1)
            accuracy = float((tree.predict(table) == wanted).mean())
            rows.append(
                {"function": function, "run": run, "told": collected, "promise": guarantee, "accuracy": accuracy}
            )
    return rows
