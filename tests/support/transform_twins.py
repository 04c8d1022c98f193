"""Readable twins of transforms: definitions of the papers, applied to nested lists, one number at a time.

A tree is a nested list whose leaves are codes: [[0, 1], 2] has a root with two children.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from scumble.model.counts import Floats
from scumble.model.transforms.interval_tree import IntervalTree


def nested(tree: IntervalTree, node: int = 0) -> Any:
    """A tree as nested lists."""
    number = tree.children[node]
    if not number:
        return int(tree.lows[node])
    first = int(tree.first_children[node])
    return [nested(tree, child) for child in range(first, first + number)]


def codes(node: Any) -> list[int]:
    return [node] if isinstance(node, int) else [code for child in node for code in codes(child)]


def breadth_first(root: Any) -> Iterator[Any]:
    level = [root]
    while level:
        yield from level
        level = [child for node in level if not isinstance(node, int) for child in node]


def total(node: Any, counts: Floats) -> float:
    return float(sum(counts[code] for code in codes(node)))


def node_counts(root: Any, counts: Floats) -> list[float]:
    """Hay et al. 2010, section 4: the counts of all nodes."""
    return [total(node, counts) for node in breadth_first(root)]


def nearest_consistent(root: Any, measured: Floats) -> Floats:
    """Hay et al. 2010, section 4.1: the leaves of the consistent counts with the least squared distance to the measured
    ones, by the normal equations."""
    size = len(codes(root))
    matrix = np.array([[code in codes(node) for code in range(size)] for node in breadth_first(root)], dtype=float)
    return np.asarray(np.linalg.lstsq(matrix, measured, rcond=None)[0])


def weighted_haar(counts: Floats) -> list[float]:
    """Xiao et al. 2010, section IV, for a power of two: the mean times the number of values; of each node, breadth
    first, half the difference of the averages of its halves, times the number of its values."""
    size = len(counts)
    found = [float(counts.mean()) * size]
    width = size
    while width > 1:
        for start in range(0, size, width):
            left, right = counts[start : start + width // 2], counts[start + width // 2 : start + width]
            found.append(float(left.mean() - right.mean()) / 2 * width)
        width //= 2
    return found


def weighted_nominal(root: Any, counts: Floats) -> list[float]:
    """Xiao et al. 2010, section V: the total; of every other node, its count minus the average of its family, times
    f / (2f - 2)."""
    found = {id(root): total(root, counts)}
    order = list(breadth_first(root))
    for parent in order:
        if isinstance(parent, int):
            continue
        family = len(parent)
        for child in parent:
            own = total(child, counts) - total(parent, counts) / family
            found[_key(parent, child)] = own * family / (2 * family - 2)
    keys = [id(root), *(_key(node, child) for node in order if not isinstance(node, int) for child in node)]
    return [found[key] for key in keys]


def _key(parent: Any, child: Any) -> int:
    return hash((id(parent), tuple(codes(child))))


def walsh(counts: Floats, size: int) -> list[float]:
    """Barak et al. 2007, section 3: for each set of bits, the signed number of records."""
    return [
        float(sum(count * (-1) ** (chosen & code).bit_count() for code, count in enumerate(counts)))
        for chosen in range(size)
    ]
