"""The exact privacy loss of one perturbed report: all attributes of a record together, against the local guarantee.

There is no holder and no table here. The weights of a report are integers out of 2^62, so that the ratio of its
probabilities under two records is a fraction. The worst report is found attribute by attribute, since these are
perturbed independently.
"""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest

from scumble.auditing.laws.cases import small_schemas
from scumble.auditing.transcripts.cases import OF_PERSONS, WIDE
from scumble.files.schema_file import parse_schema
from scumble.model.guarantee import LocalDP
from scumble.model.local.channel import AdditiveChannel, Channel, ReplacementChannel
from scumble.model.local.noise_law import TOTAL, exp_below
from scumble.model.local.noise_model import NoiseModel, for_epsilon
from scumble.model.schema import Schema

SCHEMAS = [small_schemas()[0], parse_schema(WIDE), replace(parse_schema(WIDE), **OF_PERSONS)]
TINY = Fraction(1, 2**60)
"""`exp_below` is a lower bound of the power of e within this relative error."""


def weights(channel: Channel, code: int) -> list[int]:
    """The weight of every report, out of 2^62, for one true code."""
    if isinstance(channel, ReplacementChannel):
        return [channel.truth if report == code else channel.other for report in range(channel.size)]
    assert isinstance(channel, AdditiveChannel)
    found = [0] * channel.outputs
    for noise, weight in enumerate(channel.weights.tolist(), start=-channel.reach):
        place = code * channel.refine + noise + channel.margin
        found[min(max(place, 0), channel.outputs - 1)] += weight
    return found


def worst_ratio(channel: Channel) -> Fraction:
    """The largest ratio of the probabilities of one report under two true codes."""
    table = [weights(channel, code) for code in range(channel.inputs)]
    assert all(sum(line) == TOTAL for line in table)
    return max(
        Fraction(here, there)
        for first, second in product(table, repeat=2)
        for here, there in zip(first, second, strict=True)
    )


def model_of(schema: Schema, epsilon: Fraction) -> NoiseModel:
    return for_epsilon(schema, epsilon=epsilon)


@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
@pytest.mark.parametrize("schema", SCHEMAS, ids=["small", "wide", "persons"])
def test_no_report_is_likelier_than_e_to_the_epsilon(schema: Schema, epsilon: str) -> None:
    model = model_of(schema, Fraction(epsilon))
    guarantee = model.guarantee
    assert isinstance(guarantee, LocalDP)
    assert guarantee.epsilon <= Fraction(epsilon)
    rows = 1 if schema.persons is None else schema.persons.rows_each_at_most
    ratio = prod(worst_ratio(model[name].channel) for name in model.reported) ** rows
    assert ratio <= exp_below(guarantee.epsilon) * (1 + TINY)
    assert ratio > exp_below(guarantee.epsilon * Fraction(9, 10)), "and it is nearly reached"


def test_all_reports_of_a_person_stay_within_epsilon() -> None:
    schema = replace(small_schemas()[0], person="id", rows_each_at_most=3)
    model = model_of(schema, Fraction(1))
    together = prod(worst_ratio(model[name].channel) for name in model.reported) ** 3
    assert model.guarantee == LocalDP(epsilon=Fraction(1), covers=schema.names, protects=schema.persons)
    assert exp_below(Fraction(9, 10)) < together <= exp_below(Fraction(1)) * (1 + TINY)


def test_the_weights_are_those_by_which_words_are_turned_into_reports() -> None:
    model = model_of(small_schemas()[0], Fraction(1))
    for name in model.reported:
        channel = model[name].channel
        words = np.arange(4096, dtype=np.int64) * (TOTAL // 4096)
        for code in range(channel.inputs):
            seen = np.bincount(channel.apply(np.full(len(words), code), words), minlength=channel.outputs)
            assert np.abs(seen / 4096 - np.array(weights(channel, code)) / TOTAL).max() <= 2 / 4096
