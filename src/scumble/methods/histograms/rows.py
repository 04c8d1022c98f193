"""From noisy (attribute x class) tables to rows: post-processing, pure and repeatable.

A row's class is one of as many as the tables say there are; each attribute is then drawn given the class, independently
of the others, which is the assumption of naive Bayes.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scumble.model.counts import Integers
from scumble.model.rounding import project
from scumble.privacy.noise import Simulation, simulation


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Rows as columns of codes: one for each predictor, in order, and the class."""

    predictors: tuple[Integers, ...]
    labels: Integers


def class_totals(tables: Sequence[Integers]) -> Integers:
    """How many rows of each class there are, none negative: every table has its say, the long ones the least.

    A table's column adds up to the class's total plus the noise of as many cells as the attribute has values, so the
    best linear mean weighs each table by one over its length.
    """
    weights = np.array([1 / len(table) for table in tables])
    totals = np.stack([table.sum(axis=0) for table in tables])
    return np.maximum(np.rint(weights @ totals / weights.sum()), 0).astype(np.int64)


def draw_rows(tables: Sequence[Integers]) -> Columns:
    """Rows from tables of shape (values, classes), one for each predictor, with noise on every entry.

    Each column of a table becomes the nearest non-negative one that adds up to the class's total, which leaves little
    of the noise on empty values; cutting off what is negative would leave half of it. The draws follow from a hash of
    the tables, so anyone who has these can repeat them, and nobody can prefer one outcome to another.
    """
    totals = class_totals(tables)
    labels = np.repeat(np.arange(len(totals)), totals)
    generator = simulation(_seed(tables))
    predictors = []
    for table in tables:
        parts = [_draw(column, int(total), generator) for column, total in zip(table.T, totals, strict=True)]
        predictors.append(np.concatenate(parts))
    return Columns(predictors=tuple(predictors), labels=labels)


def _draw(column: Integers, rows: int, generator: Simulation) -> Integers:
    """Codes for the rows of one class, in proportion to its noisy counts made consistent."""
    if rows == 0:
        return np.zeros(0, dtype=np.int64)
    weights = project(column, rows)
    return generator.choice(len(weights), rows, p=weights / weights.sum()).astype(np.int64)


def _seed(tables: Sequence[Integers]) -> int:
    digest = hashlib.sha256()
    for table in tables:
        digest.update(np.ascontiguousarray(table, dtype="<i8").tobytes())
    return int.from_bytes(digest.digest(), "big")
