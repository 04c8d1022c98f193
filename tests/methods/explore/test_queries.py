"""The queries of `explore`: counts against a readable twin, and the neighbour law on random tables."""

from collections import Counter
from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import coded_rows, schemas

from scumble.auditing.laws.cases import small_schemas
from scumble.auditing.laws.queries import check_added_record, check_replaced_record, engine_of, exact_answer
from scumble.methods.explore.margins import Margin, ValueBins, count_margins
from scumble.methods.explore.queries import MarginChoice, MarginCounts
from scumble.model.schema import Schema
from scumble.privacy.noise import simulation


def random_margins(schema: Schema, seed: int) -> tuple[Margin, ...]:
    draw = simulation(seed)
    margins = []
    for _ in range(3):
        number = int(draw.integers(0, min(len(schema.attributes), 3) + 1))
        places = tuple(sorted(draw.choice(len(schema.attributes), number, replace=False).tolist()))
        bins = []
        for place in places:
            size = schema.attributes[place].domain.size
            inner = sorted(draw.choice(np.arange(1, size), draw.integers(0, size), replace=False).tolist())
            bins.append(ValueBins(starts=(0, *inner), size=size))
        margins.append(Margin(places=places, bins=tuple(bins)))
    return tuple(margins)


@given(data=st.data(), seed=st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_counts_are_those_of_the_readable_twin(data: st.DataObject, seed: int) -> None:
    schema = data.draw(schemas())
    rows = data.draw(coded_rows(schema))
    margins = random_margins(schema, seed)
    for margin, counted in zip(margins, count_margins(margins, engine_of(schema, rows).blocks()), strict=True):
        twin = Counter(
            tuple(int(bins.of_codes[row[place]]) for place, bins in zip(margin.places, margin.bins, strict=True))
            for row in rows
        )
        assert counted.tolist() == [twin[entry] for entry in product(*map(range, margin.shape))]


@given(data=st.data(), seed=st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_the_neighbour_law(data: st.DataObject, seed: int) -> None:
    schema = data.draw(schemas())
    record, other, *rows = data.draw(coded_rows(schema).filter(lambda rows: len(rows) > 1))
    margins = random_margins(schema, seed)
    draw = simulation(seed)
    expected = tuple(draw.integers(-3, 6, margin.cells) for margin in margins)
    for query in (
        MarginCounts(margins=margins, weights=(1, 4, 2)),
        MarginChoice(margins=margins, expected=expected, handicaps=(0, 7, 2), optional=True),
    ):
        check_added_record(query, schema, rows, record)
        check_replaced_record(query, schema, rows, record, other)


def test_scores_are_differences_from_the_expected_counts() -> None:
    schema = small_schemas()[0]
    margin = Margin(places=(1, 2), bins=(ValueBins.single(2), ValueBins.single(2)))
    query = MarginChoice(margins=(margin,), expected=(np.array([1, 0, 0, 2]),), handicaps=(1,), optional=True)
    rows = [(0, 0, 0), (3, 1, 0), (3, 1, 1)]
    assert exact_answer(query, schema, rows).tolist() == [[1, 0]]
