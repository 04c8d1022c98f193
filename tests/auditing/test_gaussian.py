"""Approximate differential privacy under the audit: exact deltas, exact rhos, laws of methods, and planted bugs.

Error rates: the sampling audits have a confidence of 1 - 1e-6, so that a correct mechanism is refuted in fewer than one
of a million runs; a quarter of the noise is missed in fewer than one of ten thousand.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted_bugs import AQuarterOfTheGaussianNoise, ATenthLessGaussianNoise

from scumble.auditing.audit import audit_subject
from scumble.auditing.exact import gaussian_delta, selection_law
from scumble.auditing.laws.cases import small_schemas
from scumble.auditing.laws.methods import check_method
from scumble.auditing.laws.queries import engine_of
from scumble.auditing.neighbours import CodedRows, candidate_pairs
from scumble.auditing.single_answers import one_count
from scumble.auditing.transcripts.noise_laws import NoiseLaw, NoiseMechanism
from scumble.auditing.transcripts.observed_draws import DrawOutcome, SampleOutcome, observed_opendp
from scumble.methods.explore.method import Explore, ExploreMethod
from scumble.methods.histograms.method import Histograms, HistogramsMethod
from scumble.model.counts import Integers
from scumble.model.guarantee import ApproxDP
from scumble.model.schema import Schema
from scumble.model.zcdp import rho_within
from scumble.privacy.holder import CentralHolder
from scumble.privacy.noise import Noise, PaidNoise, Selection

METHOD, ADDED, REPLACED = HistogramsMethod(), *small_schemas()[:2]


def brute_force_delta(shift: tuple[int, ...], square: float, epsilon: float) -> float:
    """Sums p - e^epsilon q over all outcomes near zero, where it is positive."""
    reach = int(9 * math.sqrt(square)) + 2
    weights = {value: math.exp(-(value**2) / (2 * square)) for value in range(-3 * reach, 3 * reach + 1)}
    total = math.fsum(weights.values())
    terms = []
    for outcome in itertools.product(range(-reach, reach + 1), repeat=len(shift)):
        here = math.prod(weights[value] / total for value in outcome)
        there = math.prod(weights[value + step] / total for value, step in zip(outcome, shift, strict=True))
        terms.append(max(0.0, here - math.exp(epsilon) * there))
    return math.fsum(terms)


@pytest.mark.parametrize("shift", [(1,), (2,), (1, -1), (3, 1)])
@pytest.mark.parametrize("epsilon", [0.2, 1.0])
def test_the_exact_delta_of_gaussian_noise(shift: tuple[int, ...], epsilon: float) -> None:
    assert gaussian_delta(shift, 6.0, epsilon) == pytest.approx(brute_force_delta(shift, 6.0, epsilon), rel=1e-9)


def observed(schema: Schema, rows: CodedRows, parameters: Histograms, noise: Noise) -> tuple[NoiseLaw, Integers]:
    """The law and the exact values of the only draw of a release by `histograms`."""
    seen: list[tuple[NoiseLaw, Integers]] = []

    def note(law: NoiseLaw, values: Integers, sample: SampleOutcome) -> DrawOutcome:
        seen.append((law, values))
        return sample()

    with observed_opendp() as tap:
        tap.observer = note
        plan = METHOD.plan(schema, parameters)
        METHOD.run(schema, parameters, CentralHolder(engine=engine_of(schema, rows), noise=noise, plan=plan))
    ((law, values),) = seen
    assert law.mechanism is NoiseMechanism.GAUSSIAN
    return law, values


def worst_delta(schema: Schema, parameters: Histograms, noise: Noise) -> float:
    """The largest exact delta of the shipped method over the candidate pairs, at the declared epsilon."""
    worst = 0.0
    for pair in candidate_pairs(METHOD, schema, parameters):
        (law, here), (_, there) = (observed(schema, rows, parameters, noise) for rows in (pair.first, pair.second))
        shift = [int(step) for step in here - there]
        worst = max(worst, gaussian_delta(shift, float(law.scale**2), float(parameters.epsilon)))
    return worst


@pytest.mark.parametrize("schema", [ADDED, REPLACED], ids=["add-remove", "replace"])
@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1e-3"), ("3", "1e-6")])
def test_the_shipped_release_has_at_most_its_delta_exactly(schema: Schema, epsilon: str, delta: str) -> None:
    """End to end and without the conversion: a wrong rho, sensitivity or scale would show."""
    parameters = Histograms(epsilon=epsilon, delta=delta)
    assert float(delta) / 20 < worst_delta(schema, parameters, PaidNoise()) <= float(delta)
    assert worst_delta(schema, parameters, AQuarterOfTheGaussianNoise()) > 10 * float(delta)


@given(
    changes=st.lists(st.integers(-1, 1), min_size=2, max_size=4),
    scores=st.lists(st.integers(0, 5), min_size=4, max_size=4),
    scale=st.sampled_from([Fraction(1), Fraction(7, 2), Fraction(12)]),
    mechanism=st.sampled_from([NoiseMechanism.EXPONENTIAL, NoiseMechanism.PERMUTE_AND_FLIP]),
    order=st.sampled_from([1.05, 2.0, 10.0]),
)
def test_the_rho_of_a_choice_bounds_its_divergence(
    changes: list[int], scores: list[int], scale: Fraction, mechanism: NoiseMechanism, order: float
) -> None:
    here = np.array(scores[: len(changes)])
    there = here + np.array(changes)
    rho = NoiseLaw(mechanism=mechanism, scale=scale).concentrated_loss(here, there)
    selection = Selection(mechanism.value.removesuffix(" mechanism"))
    first, second = (selection_law(each.tolist(), float(scale), selection) for each in (here, there))
    terms = (order * math.log(p) + (1 - order) * math.log(q) for p, q in zip(first, second, strict=True))
    divergence = math.log(math.fsum(map(math.exp, terms))) / (order - 1)
    assert divergence <= float(rho) * order * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("order", [1.5, 2.0, 5.0])
def test_the_rho_of_gaussian_noise_is_reached(order: float) -> None:
    law = NoiseLaw(mechanism=NoiseMechanism.GAUSSIAN, scale=Fraction(2))
    rho = law.concentrated_loss(np.array([4, 1]), np.array([3, 3]))
    assert rho == Fraction(5, 8)
    divergence = 0.0
    for step in (1, 2):
        weights = [(value, math.exp(-(value**2) / 8)) for value in range(-80, 81)]
        total = math.fsum(weight for _, weight in weights)
        terms = (order * -(value**2) / 8 + (1 - order) * -((value - step) ** 2) / 8 for value, _ in weights)
        divergence += math.log(math.fsum(math.exp(term) for term in terms) / total) / (order - 1)
    assert divergence == pytest.approx(float(rho) * order, rel=1e-9)


@pytest.mark.parametrize("schema", [ADDED, REPLACED], ids=["add-remove", "replace"])
def test_a_method_under_delta_satisfies_the_laws(schema: Schema) -> None:
    assert isinstance(METHOD.plan(schema, Histograms(epsilon="1", delta="1e-9")).guarantee, ApproxDP)
    check_method(METHOD, schema, Histograms(epsilon="1", delta="1e-9"))


def test_a_method_that_chooses_and_divides_satisfies_the_laws_under_delta() -> None:
    check_method(ExploreMethod(), ADDED, Explore(epsilon="1", delta="1e-9"))


def test_sampling_does_not_refute_gaussian_noise_and_refutes_a_quarter_of_it() -> None:
    epsilon, delta = Fraction(1), Fraction(1, 10**5)
    right = audit_subject(one_count(epsilon, delta=delta), runs=20_000, confidence="0.999999", workers=1)
    assert not right.refuted and right.to_json()["declared_delta"] == "0.00001"
    assert "one count declares epsilon 1 and delta 1e-5; the lower bound is" in right.sentence
    planted = one_count(epsilon, delta=delta, noise=AQuarterOfTheGaussianNoise)
    assert audit_subject(planted, runs=20_000, confidence="0.999999", workers=1).refuted


def test_a_large_delta_is_subtracted_before_epsilon_is_bounded() -> None:
    """A mechanism that fails openly with probability delta is not refuted; without the delta it would be."""
    from scumble.auditing.bounds import epsilon_bounds

    hits, runs = 100, 100_000
    assert float(epsilon_bounds(hits, 0, (runs, runs), 1e-3)) > 1.5
    assert float(epsilon_bounds(hits, 0, (runs, runs), 1e-3, delta=1e-3)) == 0


def test_a_tenth_less_noise_has_too_large_a_rho() -> None:
    """What sampling cannot see, the exact rho shows."""
    rho = rho_within(Fraction(1), Fraction(1, 10**9))
    parameters = Histograms(epsilon="1", delta="1e-9")
    pair = candidate_pairs(METHOD, ADDED, parameters)[0]
    for noise, fits in ((PaidNoise(), True), (ATenthLessGaussianNoise(), False)):
        (law, here), (_, there) = (observed(ADDED, rows, parameters, noise) for rows in (pair.first, pair.second))
        assert (law.concentrated_loss(here, there) <= rho) is fits
