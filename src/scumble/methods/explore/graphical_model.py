"""A graphical model: a distribution over all attributes, as a product of tables on the cliques of a junction tree.

Its marginals are exact: messages are passed from the leaves of the tree to the first clique and back (Lauritzen &
Spiegelhalter 1988). Potentials are logarithms.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from scumble.methods.explore.junction_tree import Clique, JunctionTree
from scumble.model.counts import Floats

SMALLEST = 1e-300
"""Probabilities below this are raised to it before logarithms are taken."""


class GraphicalModel:
    """The distribution with these log-potentials, one table for each clique of the tree."""

    def __init__(self, tree: JunctionTree, potentials: Sequence[Floats]) -> None:
        self.tree = tree
        self.potentials = tuple(potentials)
        self._marginals: dict[Clique, Floats] = {}

    @classmethod
    def uniform(cls, tree: JunctionTree) -> "GraphicalModel":
        """Every combination of values is equally probable."""
        return cls(tree, [np.zeros([tree.sizes[place] for place in clique]) for clique in tree.cliques])

    @cached_property
    def beliefs(self) -> tuple[Floats, ...]:
        """The marginal probabilities of each clique."""
        tree, beliefs = self.tree, list(self.potentials)
        upward: list[Floats] = [np.zeros(())] * len(beliefs)
        for number in range(len(beliefs) - 1, 0, -1):
            upward[number] = _log_sums(beliefs[number], tree.cliques[number], tree.separators[number])
            parent = tree.parents[number]
            beliefs[parent] = beliefs[parent] + spread(upward[number], tree.separators[number], tree.cliques[parent])
        for number in range(1, len(beliefs)):
            parent = tree.parents[number]
            downward = _log_sums(beliefs[parent], tree.cliques[parent], tree.separators[number]) - upward[number]
            beliefs[number] = beliefs[number] + spread(downward, tree.separators[number], tree.cliques[number])
        return tuple(_normalized(belief) for belief in beliefs)

    def marginal(self, places: Clique) -> Floats:
        """The joint probabilities of some attributes, which need not lie in one clique. Each is computed once."""
        if places not in self._marginals:
            number = self.tree.containing(places)
            self._marginals[places] = (
                self._eliminated(places)
                if number is None
                else sums(self.beliefs[number], self.tree.cliques[number], places)
            )
        return self._marginals[places]

    def _eliminated(self, places: Clique) -> Floats:
        """The same by elimination: each clique sends its parent the table of what is shared or asked for."""
        tree = self.tree
        carried: list[tuple[Clique, Floats]] = []
        for number, clique in enumerate(tree.cliques):
            belief = self.beliefs[number]
            below = np.maximum(sums(belief, clique, tree.separators[number]), SMALLEST)
            conditional = belief / spread(below, tree.separators[number], clique) if number else belief
            carried.append((clique, conditional))
        for number in range(len(tree.cliques) - 1, 0, -1):
            clique, table = carried[number]
            kept = tuple(place for place in clique if place in places or place in tree.separators[number])
            message = sums(table, clique, kept)
            parent, other = carried[tree.parents[number]]
            if not set(kept) & set(places) - set(parent):
                carried[tree.parents[number]] = parent, other * spread(message, kept, parent)
                continue
            joined = tuple(sorted({*parent, *kept}))
            carried[tree.parents[number]] = joined, spread(other, parent, joined) * spread(message, kept, joined)
        return sums(carried[0][1], carried[0][0], places)


def _axes(clique: Clique, kept: Clique) -> tuple[int, ...]:
    return tuple(axis for axis, place in enumerate(clique) if place not in kept)


def sums(table: Floats, clique: Clique, kept: Clique) -> Floats:
    """The table summed over all attributes that are not kept."""
    return np.asarray(table.sum(axis=_axes(clique, kept)))


def _log_sums(table: Floats, clique: Clique, kept: Clique) -> Floats:
    top = table.max()
    return np.log(np.maximum(sums(np.exp(table - top), clique, kept), SMALLEST)) + top


def spread(table: Floats, kept: Clique, clique: Clique) -> Floats:
    """A table of some attributes of a clique, with an axis of length one for each other attribute."""
    lengths = iter(table.shape)
    return table.reshape([next(lengths) if place in kept else 1 for place in clique])


def _normalized(logarithms: Floats) -> Floats:
    powers = np.exp(logarithms - logarithms.max())
    return np.asarray(powers / powers.sum())
