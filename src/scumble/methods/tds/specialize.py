"""Top-down specialization: the cut that TDS finds for a table, from the topmost values to more specific ones.

Fung, Wang and Yu (Anonymizing Classification Data for Privacy Preservation, TKDE 2007). All attributes of the
quasi-identifier start at their topmost value. In each round, of all valid and beneficial candidates, the one with the
highest score is specialized: a node of a taxonomy into its children, an interval at the position with the highest
information gain.

- The score is the information gain about the class, divided by the loss of anonymity plus one. The loss of anonymity is
  by how much the size of the smallest group falls.
- A candidate is valid if all groups then still have at least k records, and beneficial if its records have more than
  one class.

The information gain of a candidate depends on the records with its value only, so it is computed once, from the counts
of the attribute by class. Groups can only become smaller. So when a value is specialized, only the groups of its
records are counted again for all other candidates (the paper keeps them in a linked tree for the same reason), and a
candidate that has become invalid stays so.

Ties: the first attribute of the schema, then the lowest codes. `tests/support/anonymity_twins.py` has the readable
version.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from scumble.compiled import compiled
from scumble.model.counts import Floats, Integers
from scumble.model.domain import Domain
from scumble.model.taxonomy import Node


@dataclass(kw_only=True)
class CutValue:
    """A value of the current cut, how it would be specialized, and the smallest group of its records after that."""

    node: Node
    children: tuple[Node, ...]
    gain: float
    smallest: int
    """Of the groups with this value, if it is specialized."""

    def score(self, smallest: int) -> float:
        """Information gain per loss of anonymity. `smallest` is the size of the smallest group of the table now."""
        return self.gain / (smallest - min(smallest, self.smallest) + 1)


@dataclass(kw_only=True)
class Specialized:
    """An attribute of the quasi-identifier while its cut is specialized."""

    domain: Domain
    codes: Integers
    counts: Integers
    """Records by code and class."""
    cut: list[CutValue] = field(default_factory=list)
    """The values of the current cut, in the order of codes."""


def specialize(
    columns: Sequence[Integers], domains: Sequence[Domain], labels: Integers, classes: int, k: int
) -> Integers:
    """The final cut as lines (attribute, low, high). A table of fewer than k rows has no lines."""
    rows = len(labels)
    if rows < k:
        return np.zeros((0, 3), dtype=np.int64)
    attributes = []
    for domain, codes in zip(domains, columns, strict=True):
        counts = np.bincount(codes * classes + labels, minlength=domain.size * classes).reshape(-1, classes)
        attribute = Specialized(domain=domain, codes=codes, counts=counts)
        attribute.cut = [_candidate(attribute, domain.root, rows)]
        attributes.append(attribute)
    here, group, groups, smallest = np.arange(rows), np.zeros(rows, dtype=np.int64), 1, rows
    parts = group
    while True:
        for attribute in attributes:
            _count_again(attribute, here, parts)
        best = _best(attributes, smallest, k)
        if best is None:
            break
        attribute, candidate = best
        place = attribute.cut.index(candidate)
        attribute.cut[place : place + 1] = [_candidate(attribute, child, rows) for child in candidate.children]
        smallest = min(smallest, candidate.smallest)
        here = np.flatnonzero((attribute.codes >= candidate.node.low) & (attribute.codes < candidate.node.high))
        children = _child_numbers(attribute.domain, [candidate])[1]
        key = group[here] * len(candidate.children) + children[attribute.codes[here]]
        parts = np.unique(key, return_inverse=True)[1].reshape(-1)
        group[here] = groups + parts
        groups += int(parts.max(initial=-1)) + 1
    return np.array(
        [
            (place, each.node.low, each.node.high)
            for place, attribute in enumerate(attributes)
            for each in attribute.cut
        ],
        dtype=np.int64,
    )


def _best(attributes: Sequence[Specialized], smallest: int, k: int) -> tuple[Specialized, CutValue] | None:
    """The valid and beneficial candidate with the highest score, the first among equals."""
    best, best_score = None, -1.0
    for attribute in attributes:
        for candidate in attribute.cut:
            if candidate.children and candidate.smallest >= k:
                score = candidate.score(smallest)
                if score > best_score:
                    best, best_score = (attribute, candidate), score
    return best


def _candidate(attribute: Specialized, node: Node, rows: int) -> CutValue:
    """A value of the cut with its best specialization; without children if it has none or only one class."""
    domain = attribute.domain
    counts = attribute.counts[node.low : node.high]
    positions = domain.positions(node)
    if not positions or np.count_nonzero(counts.sum(axis=0)) < 2:
        return CutValue(node=node, children=(), gain=0.0, smallest=rows)
    if not domain.splits_anywhere:
        children = domain.split(node, 0)
        parts = np.stack([attribute.counts[child.low : child.high].sum(axis=0) for child in children])
        return CutValue(node=node, children=children, gain=float(_gains(parts[None])[0]), smallest=rows)
    below = np.cumsum(counts, axis=0)[:-1]
    gains = _gains(np.stack([below, counts.sum(axis=0) - below], axis=1))
    best = int(gains.argmax())
    return CutValue(node=node, children=domain.split(node, positions[best]), gain=float(gains[best]), smallest=rows)


def _gains(parts: Integers) -> Floats:
    """The information gain in bits of each division, an array of shape (divisions, parts, classes)."""
    whole = _bits(parts.sum(axis=1))
    gains: Floats = (whole - _bits(parts).sum(axis=1)) / np.maximum(parts.sum(axis=(1, 2)), 1)
    return np.maximum(gains, 0.0)  # rounding


def _bits(counts: Integers) -> Floats:
    """The entropy of the classes, which lie on the last axis, times the number of records."""
    total = counts.sum(axis=-1)
    logs = np.log2(np.maximum(counts, 1)) * counts
    bits: Floats = np.log2(np.maximum(total, 1)) * total - logs.sum(axis=-1)
    return bits


def _child_numbers(domain: Domain, cut: Sequence[CutValue]) -> tuple[Integers, Integers]:
    """For each code, the place of its candidate, and the number of the child of that candidate which covers it."""
    places, children = np.zeros((2, domain.size), dtype=np.int64)
    for place, candidate in enumerate(cut):
        places[candidate.node.low : candidate.node.high] = place
        for number, child in enumerate(candidate.children):
            children[child.low : child.high] = number
    return places, children


def _count_again(attribute: Specialized, here: Integers, parts: Integers) -> None:
    """Count the groups of some rows as each candidate of an attribute would divide them. `parts` are their groups."""
    places, children = _child_numbers(attribute.domain, attribute.cut)
    widths = np.array([max(len(candidate.children), 1) for candidate in attribute.cut], dtype=np.int64)
    smallest = np.array([candidate.smallest for candidate in attribute.cut], dtype=np.int64)
    groups = int(parts.max(initial=-1)) + 1
    _smallest_parts(here, parts, attribute.codes, places, children, widths, groups, smallest)
    for candidate, size in zip(attribute.cut, smallest.tolist(), strict=True):
        candidate.smallest = size


@compiled
def _smallest_parts(here, parts, codes, places, children, widths, groups, smallest):  # type: ignore[no-untyped-def]
    """Lower `smallest` of each candidate to the smallest part that it would make of the groups of some rows."""
    first = np.full(groups, -1, dtype=np.int64)
    place_of = np.empty(groups, dtype=np.int64)
    used = 0
    for number in range(len(here)):
        group, place = parts[number], places[codes[here[number]]]
        if first[group] < 0:
            first[group], place_of[group] = used, place
            used += widths[place]
    counts = np.zeros(used, dtype=np.int64)
    for number in range(len(here)):
        counts[first[parts[number]] + children[codes[here[number]]]] += 1
    for group in range(groups):
        place = place_of[group]
        for part in range(widths[place]):
            count = counts[first[group] + part]
            if 0 < count < smallest[place]:
                smallest[place] = count
