"""One-way distances against a readable twin, and what they show."""

from collections import Counter
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scumble.mining.benchmark.sample import Sample
from scumble.mining.fidelity.one_way import one_way_distances, total_variation
from scumble.model.grid import Grid
from scumble.model.public_bins import USUAL_BINS
from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.taxonomy import Tree

CLASSES = Tree.flat(["no", "yes"])


def schema_of(*edges: int) -> Schema:
    grid = Grid(edges=tuple(map(Decimal, edges)))
    return Schema(
        attributes=(
            Attribute(name="years", domain=grid, outside=Outside.CLAMP),
            Attribute(name="label", domain=CLASSES, outside=Outside.CLAMP),
        ),
        target="label",
    )


@st.composite
def published_tables(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]], list[int], list[tuple[int, int, int]]]:
    """The size of a grid, raw rows, the edges of a coarser published grid, and published rows with counts."""
    size = draw(st.integers(2, 70))
    raw = draw(st.lists(st.tuples(st.integers(0, size - 1), st.integers(0, 1)), min_size=1, max_size=30))
    edges = [0, *sorted(draw(st.sets(st.integers(1, size - 1), max_size=size - 1))), size]
    row = st.tuples(st.integers(0, len(edges) - 2), st.integers(0, 1), st.integers(1, 5))
    return size, raw, edges, draw(st.lists(row, min_size=1, max_size=20))


def twin_distance(one: dict[int, Fraction], other: dict[int, Fraction]) -> Fraction:
    return sum((abs(one.get(key, 0) - other.get(key, 0)) for key in {*one, *other}), Fraction(0)) / 2


def twin_binned(shares: dict[int, Fraction], size: int) -> dict[int, Fraction]:
    """At most 20 bins, of which bin i starts at the value i * size / 20, rounded down."""
    number = min(size, USUAL_BINS)
    found: dict[int, Fraction] = Counter()  # type: ignore[assignment]
    for value, share in shares.items():
        found[max(place for place in range(number) if place * size // number <= value)] += share
    return found


@given(published_tables())
def test_distances_are_those_of_records_counted_one_by_one(
    drawn: tuple[int, list[tuple[int, int]], list[int], list[tuple[int, int, int]]],
) -> None:
    size, raw, edges, rows = drawn
    total = sum(count for _, _, count in rows)
    shown: dict[int, Fraction] = Counter()  # type: ignore[assignment]
    labels: dict[int, Fraction] = Counter()  # type: ignore[assignment]
    for cell, label, count in rows:
        labels[label] += Fraction(count, total)
        for value in range(edges[cell], edges[cell + 1]):
            shown[value] += Fraction(count, total) / (edges[cell + 1] - edges[cell])
    true: dict[int, Fraction] = Counter()  # type: ignore[assignment]
    true_labels: dict[int, Fraction] = Counter()  # type: ignore[assignment]
    for value, label in raw:
        true[value] += Fraction(1, len(raw))
        true_labels[label] += Fraction(1, len(raw))
    table = np.array(rows)
    found = one_way_distances(
        Sample(codes=table[:, :1], labels=table[:, 1], weights=table[:, 2]),
        schema_of(*edges),
        tuple(np.array(raw).T),
        schema_of(*range(size + 1)),
    )
    full, binned = twin_distance(shown, true), twin_distance(twin_binned(shown, size), twin_binned(true, size))
    classes = twin_distance(labels, true_labels)
    assert found.full_by_attribute == pytest.approx({"years": float(full), "label": float(classes)})
    assert found.binned_by_attribute == pytest.approx({"years": float(binned), "label": float(classes)})
    assert found.full == pytest.approx(float(full + classes) / 2)
    assert found.binned == pytest.approx(float(binned + classes) / 2)
    assert found.binned <= found.full + 1e-12, "merging values never adds to a distance"


def test_a_spike_that_is_split_evenly_shows_in_full_and_not_in_bins() -> None:
    """Nine tenths of the records are 0. Drawing them evenly out of the bin of 0 to 4 moves four fifths of these."""
    raw = np.repeat([0, 50], [900, 100])
    shown = np.repeat([0, 1, 2, 3, 4, 50], [180, 180, 180, 180, 180, 100])
    schema = schema_of(*range(101))
    labels = np.zeros(1000, dtype=np.int64)
    found = one_way_distances(Sample(codes=shown[:, np.newaxis], labels=labels), schema, (raw, labels), schema)
    assert found.full_by_attribute["years"] == pytest.approx(0.9 * 0.8)
    assert found.binned_by_attribute["years"] == pytest.approx(0)


def test_a_table_without_records_is_as_far_as_can_be() -> None:
    schema = schema_of(0, 1, 2)
    empty = Sample(codes=np.zeros((0, 1), dtype=np.int64), labels=np.zeros(0, dtype=np.int64))
    ones = np.ones(3, dtype=np.int64)
    assert one_way_distances(empty, schema, (ones, ones), schema).full == 1
    assert total_variation(np.array([0.5, 0.5]), np.array([0.5, 0.5])) == 0
