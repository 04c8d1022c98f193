"""Readable reference implementations of the groupings: textbook loops over single records, with the same tie rule."""

from collections.abc import Sequence

import numpy as np

from scumble.model.counts import Integers


def squared(point: Sequence[float], other: Sequence[float]) -> float:
    total = 0.0
    for a, b in zip(point, other, strict=True):
        total += (a - b) * (a - b)
    return total


def twin_mdav(coordinates: Integers, k: int) -> list[int]:
    points = [[float(value) for value in row] for row in coordinates]
    left, labels, group = list(range(len(points))), [0] * len(points), 0

    def average() -> list[float]:
        return [float(sum(int(coordinates[row][s]) for row in left)) / len(left) for s in range(len(points[0]))]

    def farthest(target: Sequence[float]) -> int:
        return min(left, key=lambda row: (-squared(points[row], target), row))

    def take(seed: int) -> None:
        nonlocal group
        for row in sorted(left, key=lambda row: (squared(points[row], points[seed]), row))[:k]:
            left.remove(row)
            labels[row] = group
        group += 1

    while len(left) >= 3 * k:
        one = farthest(average())
        other = farthest(points[one])
        take(one)
        take(other if other in left else farthest(points[one]))
    if len(left) >= 2 * k:
        take(farthest(average()))
    for row in left:
        labels[row] = group
    return labels


def twin_insensitive(amounts: Integers, largest: Sequence[int], k: int) -> list[set[int]]:
    """MDAV along the public order: k records from the first end, k from the last, and so on; the middle remains."""

    def key(row: int) -> tuple[float, ...]:
        values = [int(value) for value in amounts[row]]
        return squared([v / max(top, 1) for v, top in zip(values, largest, strict=True)], [0.0] * len(values)), *values

    left = sorted(range(len(amounts)), key=key)
    groups = []
    first = True
    while len(left) >= 2 * k:
        groups.append(set(left[:k] if first else left[-k:]))
        left = left[k:] if first else left[:-k]
        first = not first
    return [*groups, set(left)] if left else groups


def twin_stable(x: Integers, row: int, replacement: Integers, groups_x: Integers) -> list[int]:
    """Algorithm 1 after line 1, line by line, with lists of records."""
    y = [list(map(float, record)) for record in x]
    y[row] = [float(value) for value in replacement]
    clusters = [[i for i in range(len(x)) if groups_x[i] == g] for g in range(int(max(groups_x)) + 1)]
    centre = [np.mean([x[i] for i in cluster], axis=0) for cluster in clusters]
    D = [squared(y[row], c) ** 0.5 for c in centre]
    own = next(g for g, cluster in enumerate(clusters) if row in cluster)
    if D.index(min(D)) == own:
        return list(groups_x)
    summed = {g: D[g] + squared(centre[own], centre[g]) ** 0.5 for g in range(len(clusters)) if g != own}
    nearest = min(summed, key=lambda g: (summed[g], g))
    best = None
    for other in clusters[nearest]:
        labels = list(groups_x)
        labels[row], labels[other] = nearest, own
        loss = 0.0
        for g in range(len(clusters)):
            members = np.array([y[i] for i in range(len(x)) if labels[i] == g])
            loss += float(((members - members.mean(axis=0)) ** 2).sum())
        if best is None or loss < best[0] - 1e-9:
            best = loss, labels
    assert best is not None
    return best[1]
