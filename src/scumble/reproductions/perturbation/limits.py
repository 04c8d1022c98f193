"""Why ByClass misses a claim on Function 2: how far one attribute at a time can go, and how far the leaves take it.

Beside ByClass and Local as printed and as we run them stands ByClass given the true distribution of every attribute in
every class, which is the most a reconstruction could find. What is then still lost is lost by the association: ranks of
blurred values say too little about which values of two attributes go together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from scumble.charts import Chart, Panel, Point, Series
from scumble.comparison.cached_runs import keep, kept_path, recall, run_all
from scumble.mining.perturbed.growth import LEAF, Grown
from scumble.mining.perturbed.rows import Partitions, Rows
from scumble.mining.perturbed.tree import Algorithm, Leaves, train
from scumble.mining.reconstruction.iteration import STOP_SHARE, Floats
from scumble.model.counts import Integers
from scumble.model.local.noise_model import for_privacy
from scumble.privacy.noise import SimulatedWords, simulation
from scumble.privacy.perturber import perturb_block
from scumble.reproductions.figure import Claim, Figure, Request
from scumble.reproductions.perturbation import figures as as_figures
from scumble.reproductions.perturbation.charts import FUNCTIONS, SEED, accuracy_rows
from scumble.reproductions.perturbation.figures import AS_PRINTED, NOISES, TRUTH, Row, learner, matrix, mean_accuracy
from scumble.reproductions.perturbation.people import RANGES, agrawal_schema, codes, generate

LEVEL = "100%"
TOLD = "byclass, true distributions"
SHOWN = ("byclass as printed", TOLD, "byclass", "local as printed", "local")
RUNS = 3


@dataclass(frozen=True, kw_only=True, eq=False)
class Informed(Rows):
    """Blurred rows whose every distribution is known instead of reconstructed."""

    true: npt.NDArray[np.integer]
    """Codes of the true values."""

    def reconstruct(
        self,
        rows: Integers,
        groups: Integers,
        parts: Partitions,
        which: Sequence[int],
        stop_share: float = STOP_SHARE,
    ) -> Floats:
        del stop_share
        number = int(groups.max()) + 1
        result = np.zeros((len(which), number, parts.kernels.shape[2]))
        for lane, attribute in enumerate(which):
            part = parts.each[attribute]
            interval = np.searchsorted(part.intervals, self.true[rows, attribute], side="right") - 1
            table = np.bincount(groups * part.size + interval, minlength=number * part.size)
            result[lane, :, : part.size] = table.reshape(number, part.size)
        totals: Floats = result.sum(axis=2, keepdims=True)
        return result / totals


def predicted(tree: Grown, true: npt.NDArray[np.integer]) -> Integers:
    """The class of every row of true codes."""
    nodes = np.zeros(len(true), dtype=np.int64)
    while (moving := np.flatnonzero(tree.feature[nodes] != LEAF)).size:
        here = nodes[moving]
        below = true[moving, tree.feature[here]] < tree.cut[here]
        nodes[moving] = np.where(below, tree.left[here], tree.right[here])
    return tree.counts[nodes].argmax(axis=1)


def limits(function: int, run: int, *, training: int, testing: int) -> list[Row]:
    """The people, noise and tests of `as_figures.accuracies`, learned in the ways that no other figure has."""
    number = 1_000 * (SEED + run) + function
    people, labels = generate(function, training, seed=2 * number)
    test, wanted = generate(function, testing, seed=2 * number + 1)
    true, tested = (np.stack([codes(each)[name] for name in RANGES], axis=1) for each in (people, test))
    rows = []
    for noise in NOISES:
        model = for_privacy(agrawal_schema(), privacy=LEVEL, noise=noise)
        told = perturb_block(model, {**codes(people), "group": labels}, words=SimulatedWords(simulation(number)))
        known: Row = {"function": function, "run": run, "noise": noise, "privacy": LEVEL}
        values = as_figures.published_values(model, told)
        for name in AS_PRINTED:
            tree = learner(model, name).fit(values, labels)
            right = float((tree.predict(matrix(test)) == wanted).mean())
            rows.append({**known, "algorithm": name, "accuracy": right, "leaves": tree.model_.leaves})
        informed = Informed(
            attributes=tuple(model[name] for name in RANGES),
            codes=np.stack([told[name] for name in RANGES], axis=1),
            labels=labels,
            classes=2,
            true=true,
        )
        grown = train(informed, Algorithm.BYCLASS, leaves=Leaves.ASSOCIATED)
        right = float((predicted(grown, tested) == wanted).mean())
        rows.append({**known, "algorithm": TOLD, "accuracy": right, "leaves": int((grown.feature == LEAF).sum())})
    return rows


def as_limits(request: Request) -> Figure:
    """What is lost by reconstruction, by the association, and what the leaves win back."""
    shorter = Request(cache=request.cache, runs=request.runs or RUNS, jobs=request.jobs, progress=request.progress)
    rows = [*accuracy_rows(shorter, (TRUTH, LEVEL), ("byclass", "local")), *_rows(shorter)]
    panels = tuple(
        Panel(
            title=f"{noise}, {LEVEL} privacy",
            x_label="function",
            y_label="accuracy in %",
            series=tuple(
                Series(
                    label=name,
                    points=tuple(
                        Point(x=f, y=mean_accuracy(rows, function=f, algorithm=name, noise=noise)) for f in FUNCTIONS
                    ),
                )
                for name in SHOWN
            ),
            numbered=True,
        )
        for noise in NOISES
    )
    title = "What is lost by ranks, and what the leaves win back"
    return Figure(
        title=title, rows=rows, claims=tuple(_claims(rows)), chart=Chart(title=title, panels=panels), notes=(NOTE,)
    )


NOTE = (
    "`true distributions`: each class's true distribution of each attribute in place of the reconstructed one, the "
    "rest as printed. It needs the true rows, so it is a yardstick and no method."
)


def _claims(rows: Sequence[Row]) -> list[Claim]:
    claims = []
    for function in FUNCTIONS:
        bound = 15 if function in (2, 3) else 5
        original = mean_accuracy(rows, function=function, algorithm="original")
        for name in SHOWN:
            gaps = {n: original - mean_accuracy(rows, function=function, algorithm=name, noise=n) for n in NOISES}
            ours = ", ".join(f"{noise} {gap:.1f}" for noise, gap in gaps.items())
            text = f"{name}, function {function}: points below original"
            claims.append(Claim(text=text, paper=f"within {bound}", ours=ours, holds=max(gaps.values()) <= bound))
    return claims


def _rows(request: Request) -> list[Row]:
    facts: list[Row] = [
        {
            "what": "as-limits/1",
            "function": function,
            "run": run,
            "training": as_figures.TRAINING,
            "testing": as_figures.TESTING,
        }
        for run in range(request.runs or RUNS)
        for function in FUNCTIONS
    ]
    paths = [kept_path(request.cache, each) for each in facts]
    missing = [(path, each) for path, each in zip(paths, facts, strict=True) if recall(path) is None]
    pieces = [partial(_piece, path, each) for path, each in missing]
    for done, _ in enumerate(run_all(pieces, request.jobs), start=1):
        request.progress("training", done, len(pieces))
    return [row for path in paths for row in (recall(path) or {})["rows"]]


def _piece(path: Path, facts: Row) -> None:
    found = limits(int(facts["function"]), int(facts["run"]), training=facts["training"], testing=facts["testing"])
    keep(path, {"rows": found})
