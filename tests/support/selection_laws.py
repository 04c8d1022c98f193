"""Readable reference implementations of both selection mechanisms: exact probabilities by enumeration."""

import math
from collections.abc import Sequence
from itertools import combinations


def exponential_law(scores: Sequence[float], scale: float) -> list[float]:
    """Probability proportional to exp(score / scale)."""
    best = max(scores)
    weights = [math.exp((score - best) / scale) for score in scores]
    return [weight / sum(weights) for weight in weights]


def permute_and_flip_law(scores: Sequence[float], scale: float) -> list[float]:
    """Visit candidates in random order, accept each with probability exp((score - best) / scale).

    Candidate i wins if all candidates visited before it were rejected. Averaging over the orders and expanding the
    product of the rejection probabilities gives p_i times the sum, over all subsets S of the others, of
    (-1)^|S| / (|S| + 1) times the product of p_j over j in S.
    """
    best = max(scores)
    accept = [math.exp((score - best) / scale) for score in scores]
    law = []
    for chosen, probability in enumerate(accept):
        others = [each for place, each in enumerate(accept) if place != chosen]
        total = 0.0
        for size in range(len(others) + 1):
            for subset in combinations(others, size):
                total += (-1) ** size / (size + 1) * math.prod(subset)
        law.append(probability * total)
    return law
