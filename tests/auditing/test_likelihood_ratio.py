"""The log-likelihood ratio of the holder's answers is correct, and the audit table includes every mode of a method."""

import math
from collections import Counter

import numpy as np
import pytest
from planted_bugs import Wrapped

from scumble.auditing.exact import choice_probabilities
from scumble.auditing.laws import cases
from scumble.auditing.laws.cases import audited_modes, parameters_for, served_schema, settings_of, small_schemas
from scumble.auditing.laws.queries import engine_of
from scumble.auditing.likelihood_ratio import ComparingHolder
from scumble.auditing.mechanisms import WholeRelease
from scumble.auditing.neighbours import Pair, candidate_pairs
from scumble.methods import METHODS
from scumble.methods.diffgen.method import DiffGenMethod
from scumble.methods.diffgen.parameters import DiffGen
from scumble.methods.method import Method
from scumble.model.counts import Integers
from scumble.privacy.noise import PaidNoise

SCHEMA = small_schemas()[0]
PAIR = Pair(first=((0, 0, 0),) * 3, second=((0, 0, 0),) * 3 + ((3, 1, 1),), why="")


class ChoiceRecordingNoise(PaidNoise):
    """The shipped noise, which records its choices and adds exactly two to every count."""

    def __init__(self) -> None:
        self.chosen: list[int] = []

    def laplace(self, values: Integers, *, sensitivity: int, epsilon: object) -> Integers:
        return values + 2

    def select(self, scores: Integers, **law: object) -> int:  # type: ignore[override]
        self.chosen.append(super().select(scores, **law))  # type: ignore[arg-type]
        return self.chosen[-1]


@pytest.mark.parametrize("selection", [{"score": "accuracy"}, {"selection": "published", "score": "max"}])
def test_the_log_ratio_of_choices_is_their_exact_loss(selection: dict[str, str]) -> None:
    """Compared with the enumeration of all paths. The counts are two too high, so they contribute the same on every
    path: in the one cell that differs, the noise is larger by one on the first table."""
    parameters = DiffGen(epsilon="2", rounds=2, **selection)
    planned = DiffGenMethod().plan(SCHEMA, parameters)
    laws = [choice_probabilities(DiffGenMethod(), SCHEMA, parameters, rows)[0] for rows in (PAIR.first, PAIR.second)]
    engines = [engine_of(SCHEMA, rows) for rows in (PAIR.second, PAIR.first)]
    counted = float(planned.spends[-1].epsilon)
    for _ in range(40):
        noise = ChoiceRecordingNoise()
        holder = ComparingHolder(engine=engines[0], other=engines[1], noise=noise, plan=planned)
        DiffGenMethod().run(SCHEMA, parameters, holder)
        first, second = (law[tuple(noise.chosen)] for law in laws)
        assert holder.log_ratio == pytest.approx(math.log(second / first) + counted, abs=1e-6)


def test_the_log_ratio_is_signed_by_table_and_bounded_by_epsilon() -> None:
    """Every log ratio lies within epsilon, and the likelihood ratio has mean one, as it must."""
    parameters = DiffGen(epsilon="1", leaves=True)
    mechanism = WholeRelease(method=DiffGenMethod(), schema=SCHEMA, parameters=parameters)
    first, second = (mechanism.draw(PAIR, rows, 1_500) for rows in (PAIR.first, PAIR.second))
    seen = [np.concatenate(list(draws.log_ratio.values())) for draws in (first, second)]
    assert max(np.abs(values).max() for values in seen) <= 1
    assert first.mean_log_ratio > 0 > second.mean_log_ratio
    assert np.exp(-seen[0]).mean() == pytest.approx(1, abs=0.2)
    assert np.exp(seen[1]).mean() == pytest.approx(1, abs=0.2)


def test_an_adversary_who_has_only_the_release_sees_no_answers() -> None:
    parameters = DiffGen(epsilon="1", leaves=True)
    mechanism = WholeRelease(method=DiffGenMethod(), schema=SCHEMA, parameters=parameters, answers=False)
    assert mechanism.draw(PAIR, PAIR.first, 20).mean_log_ratio == 0


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_the_comparing_holder_serves_every_method(method: Method) -> None:
    """Every query of every method can be repeated on the other table."""
    for settings in settings_of(method):
        parameters = parameters_for(method, 1, settings)
        schema = served_schema(method, parameters)
        mechanism = WholeRelease(method=method, schema=schema, parameters=parameters)
        pair = candidate_pairs(method, schema, parameters)[-1]
        assert mechanism.draw(pair, pair.first, 3).runs == 3


class NewMode(Wrapped):
    """A method with new modes."""

    audited = ({"rounds": 3}, {"leaves": True, "max_cells": 99})


def test_the_table_includes_every_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cases, "METHODS", (*METHODS, NewMode()))
    modes = [(method.name, tuple(settings.items())) for method, settings in audited_modes()]
    assert set(Counter(modes).values()) <= {1}
    for settings in NewMode.audited:
        assert ("diffgen", tuple(settings.items())) in modes
    missing = {method.name for method in METHODS} - {name for name, _ in modes}
    assert missing == {"mdav", "mondrian", "tds"}, "only methods that declare no epsilon are left out"
