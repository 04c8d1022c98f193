"""Attributes that are combined: all of few, and of many those with the largest effects."""

from fractions import Fraction

import numpy as np
import pytest

from scumble.files.schema_file import parse_schema
from scumble.methods.diffgen.detail.candidates import attributes_to_combine, refined
from scumble.methods.diffgen.detail.combinations import Combination
from scumble.methods.diffgen.detail.measured import Measured, MeasuredCells, Table
from scumble.methods.diffgen.detail.terms import Term
from scumble.methods.diffgen.settings import detail_settings
from scumble.model.cut import Cut


def table_and_term(place: int, shift: int, counts: tuple[int, int] = (50, 50)) -> tuple[Table, Term]:
    """A table of two bins, whose first bin shifts the log-odds of the second class."""
    combination = Combination(places=(place,), bins=(np.arange(2),))
    table = Table(counts=np.array([[[each, each] for each in counts]]), deviation=1.0, groups=None)
    return table, Term.of(combination, np.array([[0, shift], [0, 0]], dtype=np.int32))


def test_all_attributes_are_combined_if_they_are_few() -> None:
    assert attributes_to_combine(40, {}, (), 40) == list(range(40))


def test_the_largest_effects_are_combined_whatever_their_sign_and_order() -> None:
    places = [int(place) for place in np.random.default_rng(2).permutation(60)]
    made = {place: table_and_term(place, shift=(-1) ** place * 10 * place) for place in places}
    tables, terms = ({place: each[kind] for place, each in made.items()} for kind in (0, 1))
    further = table_and_term(0, 10**6)[1]
    assert attributes_to_combine(60, tables, [*terms.values(), further], 40) == list(range(20, 60))


def test_effects_are_weighted_by_the_records_that_have_them() -> None:
    """Noise can make counts negative. Attributes without a table come last."""
    rare, common = table_and_term(3, 900, counts=(1, 200)), table_and_term(7, 90)
    negative = table_and_term(9, 900, counts=(-50, 3))
    chosen = [{3: rare, 7: common, 9: negative}[place] for place in (3, 7, 9)]
    tables = dict(zip((3, 7, 9), (each[0] for each in chosen), strict=True))
    many = {place: table_and_term(place, 20) for place in range(100, 139)}
    found = attributes_to_combine(
        200,
        tables | {place: each[0] for place, each in many.items()},
        [each[1] for each in chosen] + [each[1] for each in many.values()],
        40,
    )
    assert found == [7, *range(100, 139)]


def measured_with(records: int, sizes: tuple[int, ...]) -> Measured:
    """Two equal classes, and numbers with so many values each; nothing but the class totals was measured."""
    numbers = "".join(
        f"  a{place}: {{numeric: {{low: 0, high: {size}, step: 1}}}}\n" for place, size in enumerate(sizes)
    )
    schema = parse_schema(f"scumble: schema/1\ntarget: y\nattributes:\n{numbers}  y: {{classes: [n, p]}}\n")
    half = np.array([[records // 2, records // 2]])
    cells = MeasuredCells(cut=Cut.top(schema), split=(), measured=half, variance=1.0, count=half)
    return Measured(cells, detail_settings(schema, Fraction(1), records))


@pytest.mark.parametrize(
    ("sizes", "records", "bins"),
    [
        ((100, 100), 10_000, (12, 12)),  # 12 x 12 is at most 1.5 x 100
        ((2, 100), 10_000, (2, 20)),  # few values leave more bins to the other, up to 20
        ((3, 2, 100), 10_000, (3, 2, 20)),
        ((100, 100), 100, (3, 3)),
        ((100, 100), 1, (2, 2)),
    ],
)
def test_a_chosen_combination_is_measured_in_as_many_bins_as_the_price_allows(
    sizes: tuple[int, ...], records: int, bins: tuple[int, ...]
) -> None:
    measured = measured_with(records, sizes)
    coarse = Combination(places=tuple(range(len(sizes))), bins=tuple(np.minimum(np.arange(size), 1) for size in sizes))
    assert refined(measured, coarse, price=1.0).shape == bins


def test_a_chosen_combination_never_gets_fewer_bins() -> None:
    measured = measured_with(100, (5, 5, 5))
    chosen = Combination(places=(0, 1, 2), bins=(np.arange(5),) * 3)
    assert refined(measured, chosen, price=0.1) is chosen
