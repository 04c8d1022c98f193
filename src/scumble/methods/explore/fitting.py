"""Fits a graphical model to noisy tables by weighted least squares: the estimation of private-PGM.

The loss is the sum over all entries of all tables of the squared difference between the expected and the noisy count,
divided by the variance of the noise. It is convex in the distribution. Mirror descent with the entropy as its mirror
keeps every iterate a graphical model on the same junction tree (McKenna, Sheldon & Miklau 2019). Steps are accelerated
by momentum (Nesterov 1983), which is dropped whenever the loss would rise; if it rises without, the step is halved.
Post-processing, deterministic.
"""

from collections.abc import Mapping, Sequence
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


@dataclass(frozen=True, kw_only=True)
class Fit:
    """A fitted model. Its log-potentials are sums of one table for each fitted table."""

    model: GraphicalModel
    parameters: Mapping[Clique, Floats]
    """By attributes. A later fit with more tables starts here."""


def fit(
    tree: JunctionTree, targets: Sequence[FittedTable], total: float, start: Mapping[Clique, Floats] | None = None
) -> Fit:
    """The model that fits the tables best, for `total` records. No two tables have the same attributes."""
    loss_of = _Loss(tree, targets, total)
    known = start or {}
    here = [known.get(each.places, np.zeros(each.counts.shape)) for each in targets]
    model, loss, slopes = loss_of(here)
    before, step, pace, earlier = here, 1.0, 0, loss
    for number in range(1, ITERATIONS + 1):
        ahead = [old - step * slope for old, slope in zip(here, slopes, strict=True)]
        momentum = pace / (pace + 3)
        tried = [new + momentum * (new - old) for new, old in zip(ahead, before, strict=True)]
        tried_model, found, tried_slopes = loss_of(tried)
        if found > loss:
            if pace == 0:
                step /= 2
            pace, before = 0, here
            continue
        here, before, model, loss, slopes = tried, ahead, tried_model, found, tried_slopes
        step, pace = step * FASTER, pace + 1
        if number % CHECKED == 0:
            if earlier - loss <= LEAST_GAIN * earlier:
                break
            earlier = loss
    return Fit(model=model, parameters={each.places: value for each, value in zip(targets, here, strict=True)})


class _Loss:
    """The model with given parameters, its loss, and the derivatives by the marginals of the tables.

    They are scaled so that steps of one are safe. The loss is a quadratic form in the probabilities. For a change of
    probabilities whose absolute values add up to one, it is at most half the sum over the tables of total^2 / variance,
    which is the scale.
    """

    def __init__(self, tree: JunctionTree, targets: Sequence[FittedTable], total: float) -> None:
        self._tree = tree
        scale = sum(float(np.max(1 / np.asarray(each.variance))) for each in targets)
        self._targets = [
            (_place(tree, each.places), each.places, each.counts / total, 1 / np.asarray(each.variance) / scale)
            for each in targets
        ]

    def __call__(self, parameters: Sequence[Floats]) -> tuple[GraphicalModel, float, list[Floats]]:
        potentials = [np.zeros([self._tree.sizes[place] for place in clique]) for clique in self._tree.cliques]
        for (number, places, _, _), table in zip(self._targets, parameters, strict=True):
            potentials[number] += spread(table, places, self._tree.cliques[number])
        model = GraphicalModel(self._tree, potentials)
        slopes, loss = [], 0.0
        for number, places, shares, weights in self._targets:
            residual = sums(model.beliefs[number], self._tree.cliques[number], places) - shares
            slopes.append(weights * residual)
            loss += 0.5 * float((slopes[-1] * residual).sum())
        return model, loss, slopes


def _place(tree: JunctionTree, places: Clique) -> int:
    number = tree.containing(places)
    if number is None:
        raise ValueError(f"The junction tree was not made for the table of {places}.")
    return number
