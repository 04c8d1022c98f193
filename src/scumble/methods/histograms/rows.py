"""Draws rows from noisy (attribute x class) tables. Post-processing, repeatable.

The number of rows of each class is estimated from all tables. Each attribute is then drawn given the class,
independently of the others: the assumption of naive Bayes.
"""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scumble.model.counts import Floats, Integers
from scumble.model.rounding import project
from scumble.model.row_limit import row_counts, row_limit_story
from scumble.privacy.noise import Simulation, simulation


@dataclass(frozen=True, kw_only=True)
class DrawnRows:
    """Drawn rows as columns of codes: one for each predictor, in order, and the class."""

    predictors: tuple[Integers, ...]
    labels: Integers
    story: tuple[str, ...] = ()
    error: float = 0.0
    """The standard error of the sum of the measured totals."""


def class_totals(tables: Sequence[Integers]) -> Integers:
    """The number of rows of each class, none negative: a weighted mean of the estimates from all tables.

    A column of a table adds up to the total of the class plus the noise of as many cells as the attribute has values.
    So the best linear estimate weights each table by one over its number of values.
    """
    weights = np.array([1 / len(table) for table in tables])
    totals = np.stack([table.sum(axis=0) for table in tables])
    return np.maximum(np.rint(weights @ totals / weights.sum()), 0).astype(np.int64)


def total_error(tables: Sequence[Integers], variance: float) -> float:
    """The standard error of the sum of `class_totals`, before negative ones are set to zero."""
    return math.sqrt(variance * tables[0].shape[1] / sum(1 / len(table) for table in tables))


def draw_rows(tables: Sequence[Integers], *, variance: float = 0.0) -> DrawnRows:
    """Draw rows from noisy tables of shape (values, classes), one for each predictor.

    Each column of a table is projected to the nearest non-negative one that adds up to the total of the class. That
    removes most of the noise on empty values; setting negative entries to zero would keep half of it. The seed is a
    hash of the tables, so anyone who has the tables can repeat the draws, and nobody can pick a preferred outcome.
    `variance` is that of the noise of an entry. If the totals are mostly noise, the number of rows is limited.
    """
    return draw_classes(tables, class_totals(tables), error=total_error(tables, variance), seed=seed_of(tables))


def draw_classes(tables: Sequence[Integers | Floats], totals: Integers, *, error: float, seed: int) -> DrawnRows:
    """Draw as many rows of each class as `totals` say, whose sum has the standard error `error`."""
    rows = row_counts(totals, counted=float(totals.sum()), error=error)
    labels = np.repeat(np.arange(len(totals)), rows)
    generator = simulation(seed)
    predictors = []
    for table in tables:
        parts = [
            _draw(column, int(total), number, generator)
            for column, total, number in zip(table.T, totals, rows.tolist(), strict=True)
        ]
        predictors.append(np.concatenate(parts))
    story = row_limit_story(totals, rows)
    return DrawnRows(predictors=tuple(predictors), labels=labels, story=story, error=error)


def _draw(column: Integers | Floats, total: int, rows: int, generator: Simulation) -> Integers:
    """Codes for the rows of one class, drawn with probabilities proportional to its counts, projected to its total."""
    if rows == 0:
        return np.zeros(0, dtype=np.int64)
    weights = project(column, total)
    return generator.choice(len(weights), rows, p=weights / weights.sum()).astype(np.int64)


def seed_of(tables: Sequence[Integers]) -> int:
    """A seed that follows from the measured numbers, so that anyone can repeat the draws."""
    digest = hashlib.sha256()
    for table in tables:
        digest.update(np.ascontiguousarray(table, dtype="<i8").tobytes())
    return int.from_bytes(digest.digest(), "big")
