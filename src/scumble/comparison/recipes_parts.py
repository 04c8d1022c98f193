"""Building blocks of recipes: class probabilities, distributions of codes, and fragments of schemas.

Attributes of real tables depend on each other. Here they do through *factors*: standard normal numbers, one for each
record, such as wealth or health, that several attributes are drawn from.
"""

import json
from collections.abc import Mapping, Sequence
from math import log

import numpy as np
from scipy.special import ndtri

from scumble.model.counts import Floats, Integers
from scumble.privacy.noise import Simulation, simulation

YES_NO = ("no", "yes")


def two_classes(log_odds: Floats) -> Floats:
    """Probabilities of the classes (no, yes) from the log-odds of yes."""
    yes = 1 / (1 + np.exp(-log_odds))
    return np.stack([1 - yes, yes], axis=1)


def softmax(scores: Floats) -> Floats:
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def skewed(draw: Simulation, rows: int, size: int) -> Integers:
    """Codes whose frequency falls with the code, roughly like the sizes of towns."""
    weights = 1 / np.arange(3, size + 3)
    return draw.choice(size, rows, p=weights / weights.sum())


def bell(draw: Simulation, rows: int, size: int, middle: float, width: float) -> Integers:
    return np.clip(draw.normal(middle, width, rows), 0, size - 1).astype(np.int64)


def fixed_effects(size: int, width: float, seed: int) -> Floats:
    """Effects that are part of the distribution, not of a sample: fixed by a constant seed."""
    return simulation(seed).normal(0, width, size)


def tied(draw: Simulation, factor: Floats, strength: float) -> Floats:
    """Standard normal numbers with a given correlation to a standard normal factor."""
    return strength * factor + np.sqrt(1 - strength**2) * draw.normal(size=len(factor))


def cells(normal: Floats, size: int, middle: float, width: float) -> Integers:
    """Codes of a grid: a standard normal number, moved and stretched, clamped to the grid."""
    return np.clip(middle + width * normal, 0, size - 1).astype(np.int64)


def amounts(normal: Floats, size: int, typical: float, spread: float) -> Integers:
    """Lognormal codes of a grid with a given median: a few are many times as large as most."""
    return np.clip(np.exp(log(typical) + spread * normal), 0, size - 1).astype(np.int64)


def categories(normal: Floats, *shares: float) -> Integers:
    """Codes of categories with these shares (they sum to one), in the order of a standard normal number."""
    return np.searchsorted(ndtri(np.cumsum(shares)[:-1]), normal)


def rounded(draw: Simulation, codes: Integers, multiple: int, share: float) -> Integers:
    """Round this share of the codes down to a multiple, as people do with amounts of money."""
    return np.where(draw.random(len(codes)) < share, codes - codes % multiple, codes)


def set_for(draw: Simulation, codes: Integers, code: int, share: Floats | float) -> Integers:
    """Replace codes by one code with the given probabilities, such as the code of missing values."""
    return np.where(draw.random(len(codes)) < share, code, codes)


def schema_of(attributes: Mapping[str, str], classes: Sequence[str]) -> str:
    lines = [f"  {name}: {domain}" for name, domain in attributes.items()]
    return "\n".join(
        [
            "scumble: schema/1",
            "target: outcome",
            "attributes:",
            *lines,
            f"  outcome: {{classes: {json.dumps(classes)}}}",
        ]
    )


def grid(high: int, step: int = 1) -> str:
    return f"{{numeric: {{low: 0, high: {high}, step: {step}}}}}"


def grid_with_missing(high: int, step: int = 1, label: str = "unknown") -> str:
    """A grid whose last code is that of missing values."""
    return f"{{numeric: {{low: 0, high: {high}, step: {step}}}, missing: {label}}}"


def flat(*labels: str) -> str:
    return f"{{taxonomy: {{Any: {{{', '.join(f'{label}: ' for label in labels)}}}}}}}"


def numbered(prefix: str, size: int) -> str:
    """A flat taxonomy of numbered categories."""
    return flat(*(f"{prefix}{number}" for number in range(size)))
