"""A transcript contains every draw, at the answer during which it was made; a script repeats its outcomes."""

from dataclasses import replace
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest

from scumble.auditing.laws.cases import small_schemas
from scumble.auditing.laws.queries import engine_of
from scumble.auditing.transcripts.cases import OF_PERSONS
from scumble.auditing.transcripts.observed_draws import observed_opendp
from scumble.auditing.transcripts.tables import random_pairs, shuffled
from scumble.auditing.transcripts.transcript import UNPAID, Recorder, Script, ScriptEnded, TranscriptHolder, sampled
from scumble.methods.diffgen.method import COUNT, DiffGenMethod
from scumble.methods.diffgen.parameters import DiffGen
from scumble.methods.diffgen.together import CHOOSE
from scumble.methods.mdav.method import MDAV, PLAIN, MDAVMethod
from scumble.methods.method import Method, Params
from scumble.model.guarantee import Unit
from scumble.privacy.noise import PaidNoise, simulation

ADDED, REPLACED, _, NUMBERS, *_ = small_schemas()


def record(method: Method, schema: object, parameters: Params, rows: list[tuple[int, ...]], source: object) -> Recorder:
    recorder = Recorder(source=source)
    holder = TranscriptHolder(engine=engine_of(schema, rows), noise=PaidNoise(), plan=method.plan(schema, parameters))
    holder.recorder = recorder
    with observed_opendp() as tap:
        tap.observer = recorder.observe
        method.run(schema, parameters, holder)
    return recorder


def test_every_answer_has_its_price_and_its_draws() -> None:
    parameters = DiffGen(epsilon="1", rounds=2, score="accuracy")
    answers = record(DiffGenMethod(), ADDED, parameters, [(0, 0, 0)], sampled).answers
    assert [each.label for each in answers] == [CHOOSE, CHOOSE, COUNT]
    assert [each.price for each in answers] == [Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)]
    assert [len(each.draws) for each in answers] == [1, 1, 1]
    assert answers[0].released.tolist() == [answers[0].draws[0].outcome]
    assert answers[2].released.tolist() == list(np.asarray(answers[2].draws[0].outcome))
    assert answers[2].draws[0].values.sum() == 1, "the exact counts"


def test_a_script_repeats_a_run_and_stops_where_it_ends() -> None:
    parameters = DiffGen(epsilon="1", rounds=2, score="accuracy")
    first = record(DiffGenMethod(), ADDED, parameters, [(0, 0, 0)], sampled).answers
    outcomes = [draw.outcome for answer in first for draw in answer.draws]
    again = record(DiffGenMethod(), ADDED, parameters, [(3, 1, 1)] * 9, Script(outcomes)).answers
    assert [each.released.tolist() for each in again] == [each.released.tolist() for each in first]
    with pytest.raises(ScriptEnded) as stopped:
        record(DiffGenMethod(), ADDED, parameters, [(3, 1, 1)] * 9, Script(outcomes[:2]))
    assert stopped.value.values.sum() == 9
    assert stopped.value.law == again[2].draws[0].law


def test_sorted_lines_are_marked() -> None:
    rows = [(place, 100 - place) for place in range(40)]
    (answer,) = record(PLAIN, NUMBERS, PLAIN.parameters(epsilon="1"), rows, sampled).answers
    assert answer.numbers_per_line == 2
    assert answer.released.tolist() != list(np.asarray(answer.draws[0].outcome))


def test_an_exact_answer_has_no_price_and_no_draws() -> None:
    rows = [(place, place) for place in range(40)]
    (answer,) = record(MDAVMethod(), NUMBERS, MDAV(k=20), rows, sampled).answers
    assert (answer.price, answer.draws) == (0, ())


def test_a_draw_outside_of_every_answer_has_no_price() -> None:
    recorder = Recorder(source=sampled)
    with observed_opendp() as tap:
        tap.observer = recorder.observe
        PaidNoise().laplace(np.array([4]), sensitivity=1, epsilon=Fraction(1))
    assert [(each.label, each.price) for each in recorder.answers] == [(UNPAID, 0)]


@pytest.mark.parametrize("schema", small_schemas(), ids=lambda schema: schema.unit.value)
def test_random_pairs_are_neighbours(schema: object) -> None:
    random = simulation()
    for pair in islice(random_pairs(schema, random), 50):
        mixed = shuffled(pair, random)
        assert sorted(mixed.second) == sorted(pair.second)
        if schema.unit is Unit.ADD_REMOVE:
            assert pair.second[:-1] == pair.first
        else:
            assert len(pair.first) == len(pair.second) == schema.rows
            assert pair.first[:-1] == pair.second[:-1]


def test_random_pairs_of_persons_differ_in_one_person() -> None:
    schema = replace(ADDED, **OF_PERSONS)
    added = set()
    for pair in islice(random_pairs(schema, simulation()), 100):
        assert pair.second[: len(pair.first)] == pair.first
        added.add(len(pair.second) - len(pair.first))
    assert min(added) >= 1
    assert max(added) > 3, "more rows than are used"
