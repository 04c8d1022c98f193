"""Fits a graphical model to noisy tables by weighted least squares: the estimation of private-PGM.

The loss is the sum over all entries of all tables of the squared difference between the expected and the noisy count,
divided by the variance of the noise. It is convex in the distribution. Mirror descent with the entropy as its mirror
keeps every iterate a graphical model on the same junction tree (McKenna, Sheldon & Miklau 2019). Steps are accelerated
by momentum (Nesterov 1983), which is dropped whenever the loss would rise; if it rises without, the step is halved.
Post-processing, deterministic.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scumble.methods.explore.graphical_model import GraphicalModel, spread, sums
from scumble.methods.explore.junction_tree import Clique, JunctionTree
from scumble.model.counts import Floats

ITERATIONS = 400
LEAST_GAIN = 1e-4
"""The fit ends when `CHECKED` iterations lower the loss by less than this part of it."""
CHECKED = 20
FASTER = 1.02
"""A step is longer than the last one by this factor."""


@dataclass(frozen=True, kw_only=True)
class FittedTable:
    """Estimated numbers of records of each combination of values of some attributes, with their variances."""

    places: Clique
    counts: Floats
    variance: Floats | float


def fit(
    tree: JunctionTree, targets: Sequence[FittedTable], total: float, start: GraphicalModel | None = None
) -> GraphicalModel:
    """The model that fits the targets best, for `total` records."""
    loss_of = _Loss(tree, targets, total)
    here = start or GraphicalModel.uniform(tree)
    loss, slopes = loss_of(here)
    before, step, pace, earlier = here, 1.0, 0, loss
    for number in range(1, ITERATIONS + 1):
        ahead = here.moved([-step * slope for slope in slopes])
        momentum = pace / (pace + 3)
        tried = ahead.moved(
            [momentum * (new - old) for new, old in zip(ahead.potentials, before.potentials, strict=True)]
        )
        found, tried_slopes = loss_of(tried)
        if found > loss:
            if pace == 0:
                step /= 2
            pace, before = 0, here
            continue
        here, before, loss, slopes = tried, ahead, found, tried_slopes
        step, pace = step * FASTER, pace + 1
        if number % CHECKED == 0:
            if earlier - loss <= LEAST_GAIN * earlier:
                break
            earlier = loss
    return here


class _Loss:
    """The loss of a model and its derivatives by the marginals of the cliques, scaled so that steps of one are safe.

    The loss is a quadratic form in the probabilities. For a change of probabilities whose absolute values add up to
    one, it is at most half the sum over the targets of total^2 / variance, which is the scale.
    """

    def __init__(self, tree: JunctionTree, targets: Sequence[FittedTable], total: float) -> None:
        scale = sum(float(np.max(1 / np.asarray(each.variance))) for each in targets)
        self._targets = [
            (tree.containing(each.places), each.places, each.counts / total, 1 / np.asarray(each.variance) / scale)
            for each in targets
        ]

    def __call__(self, model: GraphicalModel) -> tuple[float, list[Floats]]:
        slopes = [np.zeros_like(each) for each in model.potentials]
        loss = 0.0
        for number, places, shares, weights in self._targets:
            clique = model.tree.cliques[number]
            residual = sums(model.beliefs[number], clique, places) - shares
            slope = weights * residual
            loss += 0.5 * float((slope * residual).sum())
            slopes[number] += spread(slope, places, clique)
        return loss, slopes
