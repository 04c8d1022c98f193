"""The k-d tree of MDAV against a search through all points, also after points were removed."""

import numpy as np
import pytest

from scumble.methods.mdav.kd_tree import addresses, build_tree, farthest, nearest, remove


def points_of(kind: str) -> np.ndarray:
    generator = np.random.default_rng(11)
    match kind:
        case "spread":
            return generator.normal(size=(200, 3))
        case "ties":  # many equal points and many equal distances
            return generator.integers(0, 3, (200, 2)).astype(np.float64)
        case "line":
            return np.arange(100, dtype=np.float64).reshape(-1, 1)
        case _:
            return np.zeros((1, 2))


def in_order(points: np.ndarray, left: set[int], target: np.ndarray, sign: int) -> list[int]:
    """The remaining rows by distance; among equals, the lowest row number first."""
    distances = {row: sum(float(difference) ** 2 for difference in points[row] - target) for row in left}
    return sorted(left, key=lambda row: (sign * distances[row], row))


@pytest.mark.parametrize("kind", ["spread", "ties", "line", "single"])
def test_answers_equal_those_of_a_search_through_all_points(kind: str) -> None:
    points = points_of(kind)
    tree = build_tree(points)
    leaf_of, place_of = addresses(tree)
    rows, left = tree[1], set(range(len(points)))
    generator = np.random.default_rng(3)
    while left:
        target = points[min(left)] + generator.integers(0, 2, points.shape[1])
        assert rows[farthest(tree, target)] == in_order(points, left, target, -1)[0]
        number = min(4, len(left))
        distances, places = np.empty(number), np.empty(number, dtype=np.int64)
        nearest(tree, target, number, distances, places)
        assert sorted(rows[places]) == sorted(in_order(points, left, target, 1)[:number])
        for row in generator.permutation(sorted(left))[:7].tolist():
            remove(tree, leaf_of, place_of, row)
            left.remove(row)
    assert tree[4][0] == 0


def test_addresses_give_the_leaf_and_position_of_each_row() -> None:
    points = points_of("spread")
    tree = build_tree(points)
    _, place_of = addresses(tree)
    assert np.array_equal(tree[0][place_of], points)
