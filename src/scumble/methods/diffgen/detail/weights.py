"""Weights of the terms, so that attributes that say the same are not counted twice.

One step of Newton's method from the calibrated model toward the weights of largest likelihood, from the noisy gradient
(`SlopeSums`) and the noisy second derivatives (`OverlapSums`), with a prior around the weights so far.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from scumble.methods.diffgen.detail.combinations import EVERYONE, row_count
from scumble.methods.diffgen.detail.evaluation import LOG_ODDS_UNIT
from scumble.methods.diffgen.detail.slopes import LARGEST_LIMIT, sizes_of_numbers
from scumble.methods.diffgen.detail.terms import LogOddsModel, Term
from scumble.model.counts import Floats, Integers

SPREAD = 0.35
"""The prior: a weight changes by about a third of what it is."""
CLIPPED = 0.02
"""The share of the draft rows whose numbers exceed the limit and are scaled down. Less noise is worth a little bias."""
LIMIT_ROWS = 5_000


def with_offsets(model: LogOddsModel) -> LogOddsModel:
    """The model with a further term for each class but the first, which is the same for all records."""
    units = LOG_ODDS_UNIT * np.eye(len(model.base), dtype=np.int32)[1:, np.newaxis]
    offsets = tuple(Term.of(EVERYONE, unit) for unit in units)
    # The offsets start at zero: the base is lower by what they add.
    return replace(model, base=model.base - units.sum(axis=(0, 1), dtype=np.int32), terms=(*model.terms, *offsets))


def limits(model: LogOddsModel, predictors: Sequence[Any]) -> tuple[int, int]:
    """Limits of a record's numbers in `SlopeSums` and `OverlapSums`, from rows that were drawn from paid answers."""
    every = max(row_count(predictors) // LIMIT_ROWS, 1)
    rows = [column[::every] for column in predictors]
    if not row_count(rows):
        return LOG_ODDS_UNIT, LOG_ODDS_UNIT
    sizes = sizes_of_numbers(model, rows)
    of_slopes, of_overlaps = (min(max(int(np.quantile(each, 1 - CLIPPED)), 1), LARGEST_LIMIT) for each in sizes)
    return of_slopes, of_overlaps


def weighted(model: LogOddsModel, slopes: Integers, overlaps: Integers, deviation: float) -> LogOddsModel:
    """The model with new weights. `deviation` is the standard deviation of the noise of each slope."""
    terms = len(model.terms)
    # Sums are in units of 1/1024 of log-odds; a change of a weight is a fraction of the term's shifts.
    curvature = np.zeros((terms, terms))
    curvature[np.triu_indices(terms)] = overlaps / LOG_ODDS_UNIT
    curvature = _positive(curvature + np.triu(curvature, 1).T)
    precision = np.linalg.inv(curvature + (deviation / LOG_ODDS_UNIT) ** 2 * np.eye(terms))
    information = curvature @ precision @ curvature + np.eye(terms) / SPREAD**2
    change = np.linalg.solve(information, curvature @ precision @ (slopes / LOG_ODDS_UNIT))
    factors = 1 + np.clip(change, -1.0, 1.0)
    return replace(
        model,
        terms=tuple(
            replace(term, shifts=np.rint(term.shifts * factor).astype(np.int32))
            for term, factor in zip(model.terms, factors, strict=True)
        ),
    )


def _positive(matrix: Floats) -> Floats:
    """The symmetric matrix with its eigenvalues raised to at least one: noise can make them negative."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.maximum(values, 1.0)) @ vectors.T)
