"""Attributes that are combined: all of few, and of many those with the largest effects."""

import numpy as np

from scumble.methods.diffgen.detail.candidates import attributes_to_combine
from scumble.methods.diffgen.detail.combinations import Combination
from scumble.methods.diffgen.detail.measured import Table
from scumble.methods.diffgen.detail.terms import Term


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
