"""The same task under local differential privacy: which epsilon learns as well as an interval of 100 %, and what a
sensible epsilon learns. For whoever has to choose between a promise that can be filtered away and one that cannot."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from scumble.charts import Chart, Level, Panel, Point, Series
from scumble.comparison.cached_runs import keep, kept_path, recall, run_all
from scumble.mining.perturbed.classifier import PerturbedTreeClassifier
from scumble.model.local.noise_model import for_epsilon, for_privacy
from scumble.privacy.noise import SimulatedWords, simulation
from scumble.privacy.perturber import perturb_block
from scumble.reproductions.figure import Claim, Figure, Request
from scumble.reproductions.perturbation.figures import TESTING, TRAINING, Row, published_values
from scumble.reproductions.perturbation.people import RANGES, agrawal_schema, codes, generate

EPSILONS = (1, 2, 4, 8, 16, 32, 64, 128)
NEEDED = {1: ("age",), 2: ("age", "salary"), 4: ("salary", "commission", "loan")}
"""What a function looks at. Whoever asks for no more spreads the budget over fewer attributes."""
EVERYTHING, ENOUGH = "all nine attributes", "only what the function needs"
INTERVAL = "interval, 100%"
LARGEST_PART = 16
RUNS = 3
SEED = 1965
SENSIBLE = 4
"""The largest total that people who deploy local privacy are used to defend."""
NOTES = (
    "ByClass trees on 100,000 people. Interval privacy: Gaussian noise, the class told.",
    "Local privacy: Laplace noise on numbers, randomized response on the class, the budget in equal parts.",
    "No claim of the paper; the two promises are of different kinds, and the accuracy is all they share.",
)


def as_local(request: Request) -> Figure:
    """Accuracy under a total epsilon beside accuracy under 100 % interval privacy."""
    rows = _rows(request)
    panels, claims = [], []
    for function in NEEDED:
        interval = {told: _mean(rows, function, told, INTERVAL) for told in (EVERYTHING, ENOUGH)}
        lines = []
        for told in (EVERYTHING, ENOUGH):
            means = {each: _mean(rows, function, told, str(each)) for each in _epsilons(function, told)}
            lines.append(Series(label=told, points=tuple(Point(x=x, y=y) for x, y in means.items())))
            claims += _claims(function, told, interval[told], means)
        levels = tuple(Level(label=f"{INTERVAL}, {told}", y=value) for told, value in interval.items())
        panels.append(
            Panel(
                title=f"function {function}",
                x_label="epsilon of a whole record",
                y_label="accuracy in %",
                series=tuple(lines),
                levels=levels,
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


def _claims(function: int, told: str, interval: float, means: dict[int, float]) -> list[Claim]:
    equal = [epsilon for epsilon, mean in means.items() if mean >= interval - 1]
    text = f"function {function}, {told}"
    found = f"epsilon {min(equal)}" if equal else f"none up to {max(means)}"
    return [
        Claim(text=f"{text}: accuracy of {INTERVAL}", paper="", ours=f"{interval:.1f} %"),
        Claim(text=f"{text}: least epsilon tried that comes within a point of it", paper="", ours=found),
        Claim(text=f"{text}: accuracy at epsilon {SENSIBLE}", paper="", ours=f"{means[SENSIBLE]:.1f} %"),
    ]


def _epsilons(function: int, told: str) -> list[int]:
    attributes = 1 + (len(RANGES) if told == EVERYTHING else len(NEEDED[function]))
    return [each for each in EPSILONS if each <= LARGEST_PART * attributes]


def _mean(rows: Sequence[Row], function: int, told: str, promise: str) -> float:
    found = [r["accuracy"] for r in rows if (r["function"], r["told"], r["promise"]) == (function, told, promise)]
    return 100 * float(np.mean(found))


def _rows(request: Request) -> list[Row]:
    facts: list[Row] = [
        {"what": "as-local/1", "function": function, "run": run, "training": TRAINING, "testing": TESTING}
        for run in range(request.runs or RUNS)
        for function in NEEDED
    ]
    paths = [kept_path(request.cache, each) for each in facts]
    missing = [(path, each) for path, each in zip(paths, facts, strict=True) if recall(path) is None]
    pieces = [partial(_piece, path, each) for path, each in missing]
    for done, _ in enumerate(run_all(pieces, request.jobs), start=1):
        request.progress("training", done, len(pieces))
    return [row for path in paths for row in (recall(path) or {})["rows"]]


def _piece(path: Path, facts: Row) -> None:
    function, run = int(facts["function"]), int(facts["run"])
    keep(path, {"rows": accuracies(function, run, training=facts["training"], testing=facts["testing"])})


def accuracies(function: int, run: int, *, training: int, testing: int) -> list[Row]:
    """One tree for each promise, over all attributes and over those that are needed."""
    schema = agrawal_schema()
    number = 2 * (SEED + 10 * run + function)
    people, labels = generate(function, training, seed=number)
    test, wanted = generate(function, testing, seed=number + 1)
    cells = {**codes(people), "group": labels}
    rows = []
    for told in (EVERYTHING, ENOUGH):
        withheld = [] if told == EVERYTHING else [name for name in RANGES if name not in NEEDED[function]]
        models = {INTERVAL: for_privacy(schema, privacy="100%", withheld=withheld)}
        models |= {
            str(each): for_epsilon(schema, epsilon=each, withheld=withheld) for each in _epsilons(function, told)
        }
        for promise, model in models.items():
            blurred = perturb_block(model, cells, words=SimulatedWords(simulation(number)))
            names = [attribute.name for attribute in model.published.predictors]
            tree = PerturbedTreeClassifier(model).fit(published_values(model, blurred, names), blurred["group"])
            table = np.stack([test[name] for name in names], axis=1)
            accuracy = float((tree.predict(table) == wanted).mean())
            rows.append({"function": function, "run": run, "told": told, "promise": promise, "accuracy": accuracy})
    return rows
