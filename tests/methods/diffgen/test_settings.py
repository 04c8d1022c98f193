"""DiffGen's settings: valid for every schema, epsilon and number of records, and their spends add up exactly."""

from fractions import Fraction

import pytest
from detail_models import PEOPLE, usable
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from strategies import schemas

from scumble.errors import InputError
from scumble.files.schema_file import parse_schema
from scumble.methods.diffgen.detail.binning import MOST_BINS, value_count
from scumble.methods.diffgen.detail.spends import (
    MOST_COMBINATIONS,
    combination_spends,
    detail_spends,
    fit_label,
    table_shares,
    weight_spends,
)
from scumble.methods.diffgen.division import CELLS
from scumble.methods.diffgen.method import DiffGenMethod
from scumble.methods.diffgen.parameters import DiffGen
from scumble.methods.diffgen.settings import detail_settings, diffgen_settings, information
from scumble.model.schema import Schema

EPSILONS = st.fractions(min_value=Fraction(1, 1000), max_value=20)
RECORDS = st.integers(1, 10**9) | st.integers(1, 3000)
WIDE = parse_schema(
    "scumble: schema/1\ntarget: class\nattributes:\n"
    + "".join(f"  x{number}: {{numeric: {{low: 0, high: {5 + 9 * number}, step: 1}}}}\n" for number in range(60))
    + "  class: {classes: [x, y, z]}\n"
)
SCHEMAS = st.sampled_from([PEOPLE, WIDE]) | schemas().filter(usable)


@given(SCHEMAS, EPSILONS, RECORDS)
@hypothesis_settings(max_examples=40, deadline=None)
def test_shares_and_spends_add_up(schema: Schema, epsilon: Fraction, records: int) -> None:
    settings = diffgen_settings(schema, DiffGen(epsilon=epsilon), records)
    detail = settings.detail
    assert detail is not None and 0 < detail.share < 1 and settings.cell_share + detail.share == 1
    spends = detail_spends(schema, epsilon, detail)
    assert sum((spend.total(schema.unit) for spend in spends), Fraction(0)) == epsilon * detail.share
    assert all(spend.epsilon > 0 for spend in spends)
    if detail.tables:
        assert settings.cell_share == Fraction(round(1000 * CELLS), 1000) and detail.table_share > 0
        assert bool(detail.choice_share) == (detail.tables < len(schema.predictors))


@given(SCHEMAS, EPSILONS, st.none() | RECORDS)
@hypothesis_settings(max_examples=40, deadline=None)
def test_the_spends_of_a_plan_add_up_to_epsilon(schema: Schema, epsilon: Fraction, records: int | None) -> None:
    parameters = DiffGen(epsilon=epsilon, **({} if records is None else {"records": records}))
    plan = DiffGenMethod().plan(schema, parameters)
    assert sum((spend.total(schema.unit) for spend in plan.spends), Fraction(0)) == epsilon == plan.guarantee.epsilon


@pytest.mark.parametrize("schema", [PEOPLE, WIDE], ids=["people", "wide"])
def test_few_records_have_no_tables_and_many_have_all_ingredients(schema: Schema) -> None:
    few, many = (detail_settings(schema, Fraction(1, 10), records) for records in (20, 10**8))
    assert few.tables == 0 and few.values_share == few.share, "only the values are counted"
    assert many.tables >= min(len(schema.predictors), 30) and many.fit_share > 0 and many.combination_share > 0
    bins = [detail_settings(schema, Fraction(1), records).bins for records in (500, 10_000, 10**6)]
    assert bins == sorted(bins) and bins[0] < bins[-1]


def test_information_grows_with_epsilon_and_records_and_shrinks_with_classes() -> None:
    assert information(PEOPLE, Fraction(1, 2), 1000) == 500
    assert information(WIDE, Fraction(1, 2), 1000) == pytest.approx(1000 / 3)
    assert information(PEOPLE, Fraction(1), -7) == 0


@pytest.mark.parametrize("bins", [1, 4, 12, 24, 1000])
def test_attributes_with_more_bins_get_more_of_the_tables_epsilon(bins: int) -> None:
    shares = table_shares(PEOPLE, bins)
    assert sum(shares.values()) == 1
    sizes = {each.name: min(value_count(each.domain), 2 * min(bins, MOST_BINS)) for each in PEOPLE.predictors}
    for one, size in sizes.items():
        for other, another in sizes.items():
            assert float(shares[one] / shares[other]) == pytest.approx((size / another) ** 0.5, rel=0.03)


@pytest.mark.parametrize("combinations", range(MOST_COMBINATIONS + 1))
def test_the_spends_of_the_fit_add_up(combinations: int) -> None:
    left, spent = Fraction(1, 7), Fraction(0)
    for number in range(combinations):
        counting, rest = combination_spends(left, number)
        assert rest.label == fit_label(number + 1) != counting.label
        left, spent = rest.epsilon, spent + counting.epsilon
    assert spent + sum(spend.epsilon for spend in weight_spends(left)) == Fraction(1, 7)


def test_detail_is_left_out_if_an_option_of_the_cells_is_given() -> None:
    assert DiffGen(epsilon=1).in_detail
    assert DiffGen(epsilon=1, rounds=3, detail="yes").in_detail
    for given_too in ({"rounds": 3}, {"score": "gini"}, {"selection_share": "1/2"}, {"leaves": True}, {"detail": "no"}):
        assert not DiffGen(epsilon=1, **given_too).in_detail
    with pytest.raises(InputError, match="detail"):
        DiffGen(epsilon=1, selection="published", detail="yes")
