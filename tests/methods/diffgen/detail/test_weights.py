"""Weights: with sums free of noise they are those of largest likelihood, and noise alone changes little."""

from dataclasses import replace

import numpy as np
from detail_models import PEOPLE

from scumble.auditing.laws.queries import exact_answer
from scumble.files.schema_file import parse_schema
from scumble.methods.diffgen.detail.combinations import Combination
from scumble.methods.diffgen.detail.evaluation import LOG_ODDS_UNIT
from scumble.methods.diffgen.detail.slopes import OverlapSums, SlopeSums
from scumble.methods.diffgen.detail.terms import LogOddsModel, Term, class_probabilities
from scumble.methods.diffgen.detail.weights import CLIPPED, limits, weighted, with_offsets
from scumble.model.counts import Integers

SCHEMA = parse_schema(
    "scumble: schema/1\ntarget: class\nattributes:\n"
    + "".join(f"  {name}: {{taxonomy: {{Any: {{u: , v: }}}}}}\n" for name in ("one", "copy", "other"))
    + "  class: {classes: [x, y]}\n"
)
EFFECTS = (800, 800, 500)
HUGE = 10**9


def table(number: int) -> list[tuple[int, ...]]:
    """The class depends on `one` and on `other`; `copy` is a copy of `one`."""
    generator = np.random.default_rng(8)
    one, other = generator.integers(0, 2, (2, number))
    lead = ((2 * one - 1) * EFFECTS[0] + (2 * other - 1) * EFFECTS[2]) / LOG_ODDS_UNIT
    label = (generator.random(number) < 1 / (1 + np.exp(-lead))).astype(np.int64)
    return [(int(a), int(a), int(b), int(c)) for a, b, c in zip(one, other, label, strict=True)]


def model_of(places: tuple[int, ...]) -> LogOddsModel:
    terms = []
    for place in places:
        shifts = np.array([[0, -EFFECTS[place]], [0, EFFECTS[place]]], dtype=np.int32)
        terms.append(Term.of(Combination(places=(place,), bins=(np.arange(2),)), shifts))
    return LogOddsModel(schema=SCHEMA, base=np.zeros(2, dtype=np.int32), terms=tuple(terms))


def exact_sums(model: LogOddsModel, rows: list[tuple[int, ...]]) -> tuple[Integers, Integers]:
    return tuple(exact_answer(kind(model=model, limit=HUGE), SCHEMA, rows) for kind in (SlopeSums, OverlapSums))  # type: ignore[return-value]


def factors(model: LogOddsModel, before: LogOddsModel) -> list[float]:
    pairs = zip(model.terms, before.terms, strict=True)
    return [float(term.shifts[-1, 1] / old.shifts[-1, 1]) for term, old in pairs]


def test_an_attribute_and_its_copy_get_half_of_the_weight_each() -> None:
    rows = table(20_000)
    before = with_offsets(model_of((0, 1, 2)))
    model = before
    for _ in range(4):
        model = weighted(model, *exact_sums(model, rows), deviation=1e-6)
    one, copy, other, _ = factors(model, before)
    assert abs(one - copy) < 0.01 and abs(one - 0.5) < 0.08 and abs(other - 1) < 0.1
    first = factors(weighted(before, *exact_sums(before, rows), deviation=1e-6), before)
    assert max(abs(weight - 0.5) for weight in first[:2]) < 0.2, "one step goes most of the way"


def test_weights_that_are_right_stay() -> None:
    rows = table(20_000)
    before = with_offsets(model_of((0, 2)))
    found = factors(weighted(before, *exact_sums(before, rows), deviation=1e-6), before)
    assert max(abs(weight - 1) for weight in found[:2]) < 0.08


def test_weights_from_noise_alone_stay_near_one() -> None:
    generator = np.random.default_rng(3)
    before = with_offsets(model_of((0, 1, 2)))
    slopes, overlaps = exact_sums(before, table(300))
    scale = 10**7
    changes = []
    for _ in range(50):
        noisy = [
            np.rint(each + generator.laplace(0, scale, each.shape)).astype(np.int64) for each in (slopes, overlaps)
        ]
        changes += factors(weighted(before, *noisy, deviation=scale * 2**0.5), before)[:3]
    assert np.std(changes) < 0.5 and all(0 <= each <= 2 for each in changes)


def test_offsets_start_at_zero() -> None:
    before = model_of((0, 1, 2))
    after = with_offsets(before)
    rows = [np.array([0, 1, 1]), np.array([1, 1, 0]), np.array([0, 0, 1])]
    assert (after.log_odds(rows) == before.log_odds(rows)).all() and len(after.terms) == 4


def test_few_rows_exceed_the_limits() -> None:
    generator = np.random.default_rng(5)
    terms = tuple(
        Term.of(
            Combination(places=(place,), bins=(np.arange(size),)),
            generator.integers(-1500, 1500, (size, 2)).astype(np.int32),
        )
        for place, size in enumerate(each.domain.size for each in PEOPLE.predictors)
    )
    model = LogOddsModel(schema=PEOPLE, base=np.array([-200, -900], dtype=np.int32), terms=terms)
    columns = [generator.integers(0, each.domain.size, 400) for each in PEOPLE.predictors]
    found = class_probabilities(model.log_odds(columns))
    labels = (generator.random(400) < found[:, 1]).astype(np.int64)
    of_slopes, of_overlaps = limits(model, columns)
    rows = [(int(a), int(c), int(b), int(d)) for a, b, d, c in zip(*columns, labels, strict=True)]
    for kind, limit, most in ((OverlapSums, of_overlaps, 2 * CLIPPED), (SlopeSums, of_slopes, 0.4)):
        sizes = [np.abs(exact_answer(kind(model=model, limit=HUGE), PEOPLE, [row])).sum() for row in rows]
        exceeding = np.mean(np.array(sizes) > limit)
        assert 0 < exceeding <= most
    nobody = [column[:0] for column in columns]
    assert limits(replace(model, terms=()), nobody) == (LOG_ODDS_UNIT, LOG_ODDS_UNIT)
