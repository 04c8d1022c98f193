"""The queries of `explore`: counts against a readable twin, and the neighbour law on random tables."""

from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import coded_rows, schemas

from scumble.auditing.laws.cases import small_schemas
from scumble.auditing.laws.queries import check_added_record, check_replaced_record, engine_of, exact_answer
from scumble.methods.explore.margins import Margin, ValueBins, count_margins
from scumble.methods.explore.queries import MarginChoice, MarginCounts
from scumble.model.counts import Block, Counts, Tabulation
from scumble.model.guarantee import PureDP, Unit
from scumble.model.plan import Plan
from scumble.model.schema import Schema
from scumble.model.spend import Spend
from scumble.privacy.holder import CentralHolder
from scumble.privacy.noise import PaidNoise, simulation


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
        MarginChoice(margins=margins, candidates=(0, 1, 2), expected=expected, handicaps=(0, 7, 2), optional=True),
    ):
        check_added_record(query, schema, rows, record)
        check_replaced_record(query, schema, rows, record, other)


def test_scores_are_differences_from_the_expected_counts() -> None:
    schema = small_schemas()[0]
    other = Margin(places=(0,), bins=(ValueBins.single(4),))
    margin = Margin(places=(1, 2), bins=(ValueBins.single(2), ValueBins.single(2)))
    query = MarginChoice(
        margins=(other, margin), candidates=(1,), expected=(np.array([1, 0, 0, 2]),), handicaps=(1,), optional=True
    )
    rows = [(0, 0, 0), (3, 1, 0), (3, 1, 1)]
    assert exact_answer(query, schema, rows).tolist() == [[1, 0]]


def test_choices_with_the_same_margins_are_counted_once() -> None:
    schema = small_schemas()[0]
    margin = Margin(places=(1,), bins=(ValueBins.single(2),))

    class Engine:
        passes = 0

        def add_up(self, work: Callable[[Iterable[Block]], Any]) -> Any:
            self.passes += 1
            return engine_of(schema, [(0, 0, 0), (3, 1, 0)]).add_up(work)

        def blocks(self) -> Iterable[Block]:
            raise AssertionError("sums are enough")

        def tabulate(self, request: Tabulation) -> Counts:
            raise AssertionError("sums are enough")

    engine = Engine()
    spend = Spend(label="choose", epsilon=Fraction(1, 8), times=8)
    plan = Plan(guarantee=PureDP(epsilon=Fraction(1), unit=Unit.ADD_REMOVE), spends=(spend,), cells_at_most=1)
    holder = CentralHolder(engine=engine, noise=PaidNoise(), plan=plan)
    for mean in range(4):
        query = MarginChoice(
            margins=(margin,), candidates=(0,), expected=(np.full(2, mean),), handicaps=(0,), optional=True
        )
        assert holder.choose_in_parts(query, spend="choose")[0] in (0, 1)
    assert engine.passes == 1
