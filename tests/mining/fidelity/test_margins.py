"""Margins of two and three attributes against a readable twin, and what their distances mean."""

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, product
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scumble.mining.benchmark.sample import Sample
from scumble.mining.fidelity.margins import (
    MOST_MARGINS,
    BinnedTable,
    compared_margins,
    margin_distances,
)
from scumble.mining.fidelity.one_way import columns_of, one_way_distances
from scumble.model.grid import Grid
from scumble.model.public_bins import USUAL_BINS
from scumble.model.schema import Attribute, Outside, Schema
from scumble.model.taxonomy import Tree

NAMES = ("first", "second", "label")
CLASSES = Tree.flat(["no", "yes"])


def schema_of(first: list[int], second: list[int], *, target: str | None = "label") -> Schema:
    domains = [Grid(edges=tuple(map(Decimal, edges))) for edges in (first, second)]
    attributes = [
        Attribute(name=name, domain=domain, outside=Outside.CLAMP)
        for name, domain in zip(NAMES, (*domains, CLASSES), strict=True)
    ]
    return Schema(attributes=tuple(attributes), target=target)


Row = tuple[int, ...]
Case = tuple[list[int], list[list[int]], list[Row], list[Row]]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Sizes of two grids, edges of their published versions, raw rows, and published rows with a count last."""
    sizes = [draw(st.integers(2, 45)) for _ in range(2)]
    edges = [[0, *sorted(draw(st.sets(st.integers(1, size - 1), max_size=size - 1))), size] for size in sizes]
    codes = [st.integers(0, size - 1) for size in (*sizes, 2)]
    published = [st.integers(0, len(each) - 2) for each in edges]
    raw = draw(st.lists(st.tuples(*codes), min_size=1, max_size=15))
    rows = draw(st.lists(st.tuples(*published, codes[2], st.integers(1, 4)), min_size=1, max_size=10))
    return sizes, edges, raw, rows


def twin_margin(rows: list[tuple[list[dict[int, Fraction]], int]], places: Row) -> dict[Row, Fraction]:
    """The share of each combination of bins; in each row, every attribute has a distribution over bins."""
    total = sum(count for _, count in rows)
    found: dict[Row, Fraction] = Counter()  # type: ignore[assignment]
    for spread, count in rows:
        for cell in product(*(spread[place].items() for place in places)):
            found[tuple(each for each, _ in cell)] += Fraction(count, total) * prod(share for _, share in cell)
    return found


def twin_spread(values: range, size: int) -> dict[int, Fraction]:
    """The bins of values that count evenly."""
    number = min(size, USUAL_BINS)
    found: dict[int, Fraction] = Counter()  # type: ignore[assignment]
    for value in values:
        place = max(place for place in range(number) if place * size // number <= value)
        found[place] += Fraction(1, len(values))
    return found


def twin_distance(one: dict[Row, Fraction], other: dict[Row, Fraction]) -> Fraction:
    return sum((abs(one.get(key, 0) - other.get(key, 0)) for key in {*one, *other}), Fraction(0)) / 2


def twin_product(true: list[tuple[list[dict[int, Fraction]], int]], places: Row) -> dict[Row, Fraction]:
    singles = [twin_margin(true, (place,)) for place in places]
    return {
        tuple(key[0] for key, _ in cell): prod((share for _, share in cell), start=Fraction(1))
        for cell in product(*(single.items() for single in singles))
    }


def tables(case: Case, target: str | None = "label") -> tuple[BinnedTable, BinnedTable, Schema]:
    sizes, edges, raw, rows = case
    public = schema_of(*(list(range(size + 1)) for size in sizes), target=target)
    published = schema_of(*edges, target=target)
    table, truth = np.array(rows), np.array(raw)
    released = BinnedTable.of(dict(zip(NAMES, table.T, strict=False)), published, public, table[:, 3])
    return released, BinnedTable.of(dict(zip(NAMES, truth.T, strict=True)), public, public), public


@given(cases())
def test_distances_are_those_of_records_counted_one_by_one(case: Case) -> None:
    sizes, edges, raw, rows = case
    shown = []
    for *values, label, count in rows:
        covered = [range(edge[value], edge[value + 1]) for edge, value in zip(edges, values, strict=True)]
        spread = [twin_spread(each, size) for each, size in zip(covered, sizes, strict=True)]
        shown.append(([*spread, {label: Fraction(1)}], count))
    true = [
        ([twin_spread(range(value, value + 1), size) for value, size in zip(row, (*sizes, 2), strict=True)], 1)
        for row in raw
    ]
    released, truth, _ = tables(case)
    found = margin_distances(released, truth, NAMES, target="label")
    for ways in (1, 2, 3):
        places = list(combinations(range(3), ways))
        distances = [twin_distance(twin_margin(shown, each), twin_margin(true, each)) for each in places]
        lost = [twin_distance(twin_product(true, each), twin_margin(true, each)) for each in places]
        assert found[ways].mean == pytest.approx(float(sum(distances) / len(places)))
        assert found[ways].links_lost == pytest.approx(float(sum(lost) / len(places)))
        assert found[ways].largest_distance == pytest.approx(float(max(distances)))
        assert (found[ways].compared, found[ways].available) == (len(places), len(places))
    assert found[1].links_lost == pytest.approx(0)
    assert found[1].mean <= found[2].mean + 1e-9 <= found[3].mean + 2e-9, "a margin of a margin is never farther"


@given(cases())
def test_one_way_margins_are_those_of_the_one_way_distance(case: Case) -> None:
    _, edges, raw, rows = case
    released, truth, schema = tables(case)
    table = np.array(rows)
    sample = Sample(codes=table[:, :2], labels=table[:, 2], weights=table[:, 3])
    published = schema_of(*edges)
    distances = one_way_distances(sample, published, tuple(np.array(raw).T), schema)
    assert margin_distances(released, truth, NAMES, ways=(1,))[1].mean == pytest.approx(distances.binned)
    assert list(columns_of(sample, published)) == list(NAMES)


@given(cases())
def test_a_table_is_at_no_distance_from_itself_and_its_parts_make_up_the_whole(case: Case) -> None:
    released, truth, _ = tables(case, target=None)
    assert [each.mean for each in margin_distances(truth, truth, NAMES).values()] == pytest.approx([0, 0, 0])
    some = (released.columns["label"].atoms == 0).astype(np.float64)
    counts = np.array(case[3])[:, 3]
    share = (counts * some).sum() / counts.sum()
    parts = share * released.weighted(some).margin(["first", "second"])
    parts += (1 - share) * released.weighted(1 - some).margin(["first", "second"])
    assert parts == pytest.approx(released.margin(["first", "second"]))


def test_independent_attributes_lose_no_links_and_equal_ones_do() -> None:
    schema = schema_of([0, 1, 2], [0, 1, 2])
    rows = np.array([[0, 0, 0], [1, 1, 0]])
    true = BinnedTable.of(dict(zip(NAMES, rows.T, strict=True)), schema, schema)
    found = margin_distances(true, true, NAMES, target="label")
    # Of three pairs, the two with the constant class are independent; half of the records of the other would move.
    assert found[2].links_lost == pytest.approx(1 / 6)
    assert found[3].links_lost == pytest.approx(1 / 2)


def test_a_table_without_records_is_as_far_as_can_be() -> None:
    schema = schema_of([0, 1, 2], [0, 1, 2])
    rows = np.zeros((2, 3), dtype=np.int64)
    true = BinnedTable.of(dict(zip(NAMES, rows.T, strict=True)), schema, schema)
    empty = true.weighted(np.zeros(2))
    assert (true.rows, empty.rows) == (2, 0)
    assert [each.mean for each in margin_distances(empty, true, NAMES).values()] == [1, 1, 1]


def test_three_ways_are_with_the_class_if_there_is_one() -> None:
    names = [f"a{number}" for number in range(15)]
    found, available = compared_margins(names, 3, "a7")
    assert len(found) == len(set(found)) == available == 14 * 13 // 2
    assert all(each[-1] == "a7" and "a7" not in each[:-1] for each in found)
    assert compared_margins(names, 3, None) == (list(combinations(names, 3)), 455)
    assert compared_margins(names, 2, "a7") == (list(combinations(names, 2)), 105)
    for target in (None, "a1"):
        assert compared_margins(names[:2], 3, target) == ([], 0)


@pytest.mark.parametrize(("ways", "target"), [(2, None), (3, None), (3, "a7")])
def test_a_sample_of_margins_is_fixed_and_even(ways: int, target: str | None) -> None:
    """Each attribute is in about the same number of the thousand margins, also of very many attributes."""
    names = [f"a{number}" for number in range(60)]
    chosen, available = compared_margins(names, ways, target)
    assert len(chosen) == len(set(chosen)) == MOST_MARGINS < available
    assert all(len(set(each)) == ways for each in chosen)
    assert compared_margins(list(names), ways, target) == (chosen, available)
    often = Counter(name for each in chosen for name in each if name != target)
    expected = MOST_MARGINS * (ways - (target is not None)) / (60 - (target is not None))
    assert set(often) == set(names) - {target}
    assert all(expected / 2 < number < 2 * expected for number in often.values())
    many = [f"a{number}" for number in range(5_000)]
    assert len(compared_margins(many, ways, None)[0]) == MOST_MARGINS
