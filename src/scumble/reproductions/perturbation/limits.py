"""Why ByClass misses a claim on Function 2: the limits of reconstructing one attribute at a time.

The figure compares ByClass and Local as printed in the paper, ByClass and Local as implemented in scumble, and ByClass
with the true distribution of every attribute in every class, which no reconstruction can improve on. What the last one
still loses is due to the association step: the ranks of perturbed values say too little about which values of two
attributes occur together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from scumble.charts import Chart, Panel, Point, Series
from scumble.mining.perturbed.growth import GiniTree
from scumble.mining.perturbed.rows import IntervalPartitions, PerturbedRows
from scumble.mining.perturbed.tree import Algorithm, Leaves, train_tree
from scumble.mining.reconstruction.iteration import STOP_SHARE
from scumble.mining.tree_model import LEAF
from scumble.model.counts import Floats, Integers
from scumble.model.local.noise_model import for_privacy
from scumble.privacy.noise import SimulatedWords, simulation
from scumble.privacy.perturber import perturb_block
from scumble.reproductions.figure import Claim, Figure, Request
from scumble.reproductions.perturbation.charts import FUNCTIONS, SEED, accuracy_rows, cached_rows
from scumble.reproductions.perturbation.figures import (
    AS_PRINTED,
    NOISES,
    QUICK_TESTING,
    QUICK_TRAINING,
    TESTING,
    TRAINING,
    TRUTH,
    Row,
    accuracy_of,
    learner,
    matrix,
    mean_accuracy,
    published_matrix,
)
from scumble.reproductions.perturbation.people import RANGES, agrawal_schema, codes, generate

LEVEL = "100%"
TRUE_DISTRIBUTIONS = "byclass, true distributions"
SHOWN = ("byclass as printed", TRUE_DISTRIBUTIONS, "byclass", "local as printed", "local")
RUNS = 3


@dataclass(frozen=True, kw_only=True, eq=False)
class RowsWithTruth(PerturbedRows):
    """Perturbed rows whose distributions are computed from the true values instead of reconstructed."""

    true: npt.NDArray[np.integer]
    """Codes of the true values."""

    def reconstruct(
        self,
        rows: Integers,
        groups: Integers,
        parts: IntervalPartitions,
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


def predicted(tree: GiniTree, true: npt.NDArray[np.integer]) -> Integers:
    """The class that the tree predicts for each row of true codes."""
    nodes = np.zeros(len(true), dtype=np.int64)
    while (moving := np.flatnonzero(tree.feature[nodes] != LEAF)).size:
        here = nodes[moving]
        below = true[moving, tree.feature[here]] < tree.cut[here]
        nodes[moving] = np.where(below, tree.left[here], tree.right[here])
    return tree.counts[nodes].argmax(axis=1)


def limits(function: int, run: int, *, training: int, testing: int) -> list[Row]:
    """The accuracies of the algorithms that no other figure shows, with the data and noise of `tree_accuracies`."""
    number = 1_000 * (SEED + run) + function
    people, labels = generate(function, training, seed=2 * number)
    test, wanted = generate(function, testing, seed=2 * number + 1)
    true, tested = (np.stack([codes(each)[name] for name in RANGES], axis=1) for each in (people, test))
    rows = []
    for noise in NOISES:
        model = for_privacy(agrawal_schema(), privacy=LEVEL, noise=noise)
        reports = perturb_block(model, {**codes(people), "group": labels}, words=SimulatedWords(simulation(number)))
        known: Row = {"function": function, "run": run, "noise": noise, "privacy": LEVEL}
        values = published_matrix(model, reports)
        for name in AS_PRINTED:
            tree = learner(model, name).fit(values, labels)
            right = float((tree.predict(matrix(test)) == wanted).mean())
            rows.append({**known, "algorithm": name, "accuracy": right, "leaves": tree.model_.leaves})
        with_truth = RowsWithTruth(
            attributes=tuple(model[name] for name in RANGES),
            codes=np.stack([reports[name] for name in RANGES], axis=1),
            labels=labels,
            classes=2,
            true=true,
        )
        grown = train_tree(with_truth, Algorithm.BYCLASS, leaves=Leaves.ASSOCIATED)
        right = float((predicted(grown, tested) == wanted).mean())
        leaves = grown.leaves
        rows.append({**known, "algorithm": TRUE_DISTRIBUTIONS, "accuracy": right, "leaves": leaves})
    return rows


def limits_figure(request: Request) -> Figure:
    """What reconstruction and association lose, and what reconstructing the leaves recovers."""
    shorter = replace(request, runs=request.times(RUNS))
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
                        Point.around(f, mean.mean, mean.band)
                        for f in FUNCTIONS
                        for mean in [accuracy_of(rows, function=f, algorithm=name, noise=noise)]
                    ),
                )
                for name in SHOWN
            ),
            numbered=True,
        )
        for noise in NOISES
    )
    title = "What association by ranks loses, and what reconstructing the leaves recovers"
    return Figure(
        title=title, rows=rows, claims=tuple(_claims(rows)), chart=Chart(title=title, panels=panels), notes=(NOTE,)
    )


NOTE = (
    "`true distributions`: uses each class's true distribution of each attribute instead of the reconstructed one, and "
    "otherwise follows the paper. It needs the true rows, so it is an upper bound and not a method."
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
            "training": request.size(TRAINING, QUICK_TRAINING),
            "testing": request.size(TESTING, QUICK_TESTING),
        }
        for run in range(request.times(RUNS))
        for function in FUNCTIONS
    ]
    return cached_rows(facts, _limits_of_run, request)


def _limits_of_run(facts: Mapping[str, Any]) -> Row:
    return {"rows": limits(facts["function"], facts["run"], training=facts["training"], testing=facts["testing"])}
