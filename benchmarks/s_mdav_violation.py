"""The figures of docs/s-mdav-violation.md: how far S-MDAV's centroids move, and how often tables are distinguished.

python benchmarks/s_mdav_violation.py
"""

from fractions import Fraction
from math import exp
from statistics import median

import numpy as np

from scumble.reproductions.microaggregation.violation import (
    claimed_distance,
    distance_apart,
    distinguish,
    exact_centres,
    pair_distance,
    random_changes,
    square,
)


def main() -> None:
    k = 100
    one, other = square(k)
    apart = distance_apart(exact_centres(one, k), exact_centres(other, k))
    given_both = pair_distance(one, len(one) - 1, other[-1], k)
    print(f"square, n = {len(one)}, k = {k}: centroids {apart:.3f} apart, noise for {claimed_distance(2, k):.3f}")
    print(f"  Algorithm 1, given both tables: {given_both:.5f} apart")
    for epsilon in (Fraction(1, 10), Fraction(1, 2), Fraction(1)):
        verdict = distinguish(one, other, k=k, epsilon=epsilon, runs=1000)
        print(
            f"  eps {float(epsilon):g}: yes {verdict.yes[0]} and {verdict.yes[1]} times in {verdict.runs}; ratio above "
            f"{verdict.ratio:.1f}, allowed {exp(epsilon):.2f}"
        )
    moved = random_changes(rows=1000, k=10, attributes=4, pairs=40, seed=5)
    print(
        f"uniform, n = 1000, k = 10, 4 attributes, 40 pairs: centroids move {median(moved) * 0.8:.1f} in the median "
        f"and up to {np.max(moved) * 0.8:.1f}, noise calibrated for 0.8"
    )


if __name__ == "__main__":
    main()
