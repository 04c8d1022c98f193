"""Junction trees: the cliques in which a graphical model is computed exactly.

Attributes that are measured together are neighbours in a graph. Eliminating one attribute after the other makes the
graph chordal, and its maximal cliques form a tree in which the cliques that contain an attribute are connected
(Lauritzen & Spiegelhalter 1988).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

Clique = tuple[int, ...]
"""Some attributes, ascending."""


@dataclass(frozen=True, kw_only=True)
class JunctionTree:
    """Cliques in an order in which every parent comes before its children.

    `separators` lists the attributes that a clique shares with its parent: none where it begins a new component.
    """

    sizes: tuple[int, ...]
    """The number of values of each attribute."""
    cliques: tuple[Clique, ...]
    parents: tuple[int, ...]
    """The index of each clique's parent; -1 for the first one."""
    separators: tuple[Clique, ...]

    @property
    def largest(self) -> int:
        """The number of entries of the largest clique."""
        return max(self.entries(clique) for clique in self.cliques)

    def entries(self, clique: Clique) -> int:
        return prod(self.sizes[place] for place in clique)

    def entries_with(self, places: Clique) -> int:
        """How large cliques need to get at most, so that one contains these attributes.

        Adding them to every clique between those that contain one of them gives a junction tree again.
        """
        if self.containing(places) is not None:
            return self.largest
        ends = [next(number for number, clique in enumerate(self.cliques) if place in clique) for place in places]
        ways = [self._way_up(end) for end in ends]
        shared = set.intersection(*map(set, ways))
        between = {number for way in ways for number in way if number not in shared} | {max(shared)}
        return max(self.entries(tuple({*self.cliques[number], *places})) for number in between)

    def _way_up(self, number: int) -> list[int]:
        way = [number]
        while self.parents[way[-1]] >= 0:
            way.append(self.parents[way[-1]])
        return way

    def containing(self, places: Clique) -> int | None:
        """The smallest clique that contains these attributes; None if there is none."""
        found = [number for number, clique in enumerate(self.cliques) if set(places) <= set(clique)]
        return min(found, key=lambda number: self.entries(self.cliques[number]), default=None)


def junction_tree(sizes: Sequence[int], measured: Iterable[Clique]) -> JunctionTree:
    """A junction tree in which every measured set of attributes lies within a clique.

    The attribute whose elimination makes the smallest clique is eliminated first.
    """
    neighbours: list[set[int]] = [set() for _ in sizes]
    for places in measured:
        for place in places:
            neighbours[place] |= set(places) - {place}
    cliques: list[set[int]] = []
    left = set(range(len(sizes)))
    while left:
        made = {place: {place, *neighbours[place]} for place in left}
        first = min(left, key=lambda place: (prod(sizes[each] for each in made[place]), place))
        if not any(made[first] <= clique for clique in cliques):
            cliques.append(made[first])
        for place in neighbours[first]:
            neighbours[place] |= neighbours[first] - {place}
            neighbours[place].discard(first)
        left.remove(first)
    return _connected(tuple(sizes), [tuple(sorted(clique)) for clique in cliques])


def _connected(sizes: tuple[int, ...], cliques: list[Clique]) -> JunctionTree:
    """The maximum spanning tree of the cliques by the number of shared attributes (Jensen & Jensen 1994)."""
    order, parents = [0], [-1]
    separators: list[Clique] = [()]
    left = list(range(1, len(cliques)))
    best = {number: (len(set(cliques[number]) & set(cliques[0])), 0) for number in left}
    while left:
        nearest = max(left, key=lambda number: (best[number][0], -number))
        left.remove(nearest)
        parent = best[nearest][1]
        parents.append(parent)
        separators.append(tuple(sorted(set(cliques[nearest]) & set(cliques[order[parent]]))))
        order.append(nearest)
        for number in left:
            shared = len(set(cliques[number]) & set(cliques[nearest]))
            if shared > best[number][0]:
                best[number] = shared, len(order) - 1
    return JunctionTree(
        sizes=sizes,
        cliques=tuple(cliques[number] for number in order),
        parents=tuple(parents),
        separators=tuple(separators),
    )
