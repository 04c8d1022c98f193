"""The log-odds model and groups by log-odds, against readable twins."""

from itertools import pairwise

import numpy as np
import pytest
from detail_models import (
    groupings,
    models,
    predictors_and_class,
    twin_group,
    twin_key,
    twin_log_odds,
    twin_probabilities,
    usable,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import coded_rows, schemas

from scumble.methods.diffgen.detail.combinations import row_count
from scumble.methods.diffgen.detail.groups import LogOddsGroups
from scumble.methods.diffgen.detail.terms import class_probabilities, means_by_key, to_log_odds


@given(st.data())
@settings(max_examples=120)
def test_log_odds_and_keys_are_those_of_a_plain_twin(data: st.DataObject) -> None:
    schema = data.draw(schemas().filter(usable))
    model = data.draw(models(schema))
    rows = [predictors_and_class(schema, row)[0] for row in data.draw(coded_rows(schema, most_rows=9))]
    columns = [np.array([row[place] for row in rows], dtype=np.uint16) for place in range(len(schema.predictors))]
    expected = [twin_log_odds(model, row) for row in rows]
    assert model.log_odds(columns).tolist() == expected
    assert (
        class_probabilities(model.log_odds(columns)).tolist()
        == pytest.approx(np.array([twin_probabilities(each) for each in expected]).reshape(-1, len(schema.classes)))
        if rows
        else True
    )
    for term in model.terms:
        assert term.combination.keys(columns).tolist() == [twin_key(term.combination, row) for row in rows]


def test_attributes_that_were_not_drawn_yet_do_not_shorten_the_rows() -> None:
    assert row_count([np.zeros(0), np.zeros(7)]) == 7


@given(st.data())
@settings(max_examples=80)
def test_groups_are_those_of_a_plain_twin(data: st.DataObject) -> None:
    classes = data.draw(st.sampled_from([2, 3, 5]))
    groups = data.draw(groupings(classes))
    line = st.lists(st.integers(-4000, 4000), min_size=classes, max_size=classes)
    log_odds = np.array(data.draw(st.lists(line, max_size=20)), dtype=np.int32).reshape(-1, classes)
    found = groups.assign(log_odds)
    assert found.tolist() == [twin_group(groups, each) for each in log_odds.tolist()]
    assert ((found >= 0) & (found < len(groups))).all()


@pytest.mark.parametrize(("classes", "wanted", "groups"), [(2, 12, 12), (2, 1, 1), (3, 12, 12), (5, 2, 10), (3, 1, 3)])
def test_groups_by_quantiles_have_about_as_many_records_each(classes: int, wanted: int, groups: int) -> None:
    log_odds = np.random.default_rng(1).integers(-9000, 9000, (6000, classes)).astype(np.int32)
    made = LogOddsGroups.by_quantiles(log_odds, wanted)
    sizes = np.bincount(made.assign(log_odds), minlength=len(made))
    assert len(made) == groups == len(sizes)
    assert np.abs(sizes - 6000 / groups).max() < 0.2 * 6000 / groups
    if classes == 2:
        order = np.argsort(log_odds[:, 1] - log_odds[:, 0])
        assert all(low <= high for low, high in pairwise(made.assign(log_odds)[order].tolist()))


def test_means_by_key_are_plain_means_and_defaults() -> None:
    generator = np.random.default_rng(3)
    probabilities, keys = generator.dirichlet((1, 1, 1), 50), generator.integers(0, 4, 50)
    default = np.full((6, 3), 1 / 3)
    found = means_by_key(probabilities, keys, default)
    for key in range(6):
        here = probabilities[keys == key]
        assert found[key] == pytest.approx(here.mean(axis=0) if len(here) else default[key])


def test_log_odds_and_probabilities_are_inverse_to_each_other() -> None:
    probabilities = np.random.default_rng(4).dirichlet((2, 2, 2), 100).clip(0.01)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    assert class_probabilities(to_log_odds(probabilities)) == pytest.approx(probabilities, abs=2e-3)
    assert to_log_odds(np.zeros(2)).tolist() == to_log_odds(np.full(2, 1e-3)).tolist(), "never infinite"
