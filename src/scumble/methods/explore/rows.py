"""Draws rows from a graphical model. Post-processing, repeatable: the generator is seeded with what was measured.

Values are drawn by systematic sampling: within every group of rows with equal values of the attributes drawn before,
a value occurs as often as its probability says, within one. Rows then differ less from the model than independent draws
would.
"""

import hashlib
from collections.abc import Sequence
from math import prod

import numpy as np

from scumble.methods.explore.graphical_model import GraphicalModel
from scumble.methods.explore.margins import NoisyMargin, ValueBins
from scumble.model.counts import Floats, Integers, digits_of, places_of
from scumble.privacy.noise import Simulation, simulation


def draw_rows(
    model: GraphicalModel, bins: Sequence[ValueBins], shares: Sequence[Floats], rows: int, tables: Sequence[NoisyMargin]
) -> list[Integers]:
    """A column of codes for each attribute. `shares` are those of every value, which divide the bins."""
    generator = simulation(_seed(tables))
    return [
        draw_values(each, share, column, generator)
        for each, share, column in zip(bins, shares, draw_bins(model, rows, generator), strict=True)
    ]


def draw_bins(model: GraphicalModel, rows: int, generator: Simulation) -> list[Integers]:
    """A column of bins for each attribute, drawn clique by clique."""
    tree = model.tree
    columns: dict[int, Integers] = {}
    for number, clique in enumerate(tree.cliques):
        known = tree.separators[number]
        new = tuple(place for place in clique if place not in known)
        table = model.beliefs[number].transpose([clique.index(place) for place in (*known, *new)])
        groups = [columns[place] for place in known]
        sizes = [tree.sizes[place] for place in known]
        group = places_of(groups, sizes) if known else np.zeros(rows, dtype=np.int64)
        drawn = systematic(table.reshape(prod(sizes), -1), group, generator)
        columns |= zip(new, digits_of(drawn, [tree.sizes[place] for place in new]), strict=True)
    return [columns[place] for place in range(len(tree.sizes))]


def draw_values(bins: ValueBins, shares: Floats, column: Integers, generator: Simulation) -> Integers:
    """A code for each row, drawn from its bin in the proportions of the shares."""
    weights = np.zeros((len(bins), bins.size))
    weights[bins.of_codes, np.arange(bins.size)] = shares
    return systematic(weights, column, generator)


def systematic(weights: Floats, groups: Integers, generator: Simulation) -> Integers:
    """A value for each row: its group has one line of weights, and gets each value as often as its weight says."""
    climb = np.cumsum(weights + 1e-15, axis=1)
    climb /= climb[:, -1:]
    climb[:, -1] = 1.0
    shuffled = generator.permutation(len(groups))
    order = shuffled[np.argsort(groups[shuffled], kind="stable")]
    sizes = np.bincount(groups, minlength=len(weights))
    ranks = np.arange(len(groups)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    ordered = groups[order]
    heights = (ranks + generator.random(len(weights))[ordered]) / np.maximum(sizes[ordered], 1)
    line = (np.arange(len(weights))[:, np.newaxis] + climb).ravel()
    found = np.searchsorted(line, ordered + np.minimum(heights, 1 - 1e-9), side="right") - ordered * weights.shape[1]
    values = np.empty(len(groups), dtype=np.int64)
    values[order] = np.minimum(found, weights.shape[1] - 1)
    return values


def _seed(tables: Sequence[NoisyMargin]) -> int:
    """A seed that follows from the measured counts, so that anyone can repeat the draws."""
    digest = hashlib.sha256()
    for table in tables:
        digest.update(np.ascontiguousarray(table.measured, dtype="<i8").tobytes())
    return int.from_bytes(digest.digest(), "big")
