"""A schema with every kind of attribute that `microaggregate` takes, and random rows of it."""

import numpy as np

from scumble.files.schema_file import parse_schema
from scumble.model.counts import Integers
from scumble.privacy.noise import simulation

EVERY_KIND = parse_schema(
    """
scumble: schema/1
target: class
attributes:
  age: {numeric: {low: 0, high: 64, step: 1}}
  stay: {numeric: {edges: [0, 1, 2, 5, 10, 20]}, missing: "?"}
  pain: {ordered: [none, mild, severe], missing: unknown}
  ward: {taxonomy: {Any: {north: {n1: , n2: }, south: {s1: , s2: , s3: }}}}
  day: {date: {from: 2024-01-01, to: 2025-01-01, step: day}, missing: "-"}
  class: {classes: [x, y]}
"""
)


def random_rows(rows: int, seed: int) -> Integers:
    """Coded rows in which the class, the ward and the age depend on each other."""
    draw = simulation(seed)
    label = (draw.random(rows) < 0.3).astype(np.int64)
    ward = np.minimum(draw.integers(0, 3, rows) + 2 * label, 4)
    age = np.clip(draw.normal(20 + 8 * ward, 6), 0, 63).astype(np.int64)
    stay = np.where(draw.random(rows) < 0.2, 5, np.minimum(draw.poisson(1.5, rows), 4))
    pain = draw.choice(4, rows, p=[0.5, 0.3, 0.15, 0.05])
    day = np.where(draw.random(rows) < 0.1, 366, draw.integers(0, 366, rows))
    return np.stack([age, stay, pain, ward, day, label], axis=1)
