"""Geometric noise from shared random bits: its law, the delta of finite precision, and that no coalition knows it."""

import hashlib
import math
from collections import Counter
from fractions import Fraction
from itertools import accumulate, permutations, product
from typing import Any

import numpy as np
import pytest
from chi_square import chi_square_rejects
from hypothesis import given
from hypothesis import strategies as st
from joint_threads import FIVE, FOUR, SUBMITTING, THREE, keys_from, roles_id, with_sharing
from selection_laws import permute_and_flip_law

from scumble.errors import BudgetError
from scumble.joint.protocol.arithmetic import ReplicatedArithmetic
from scumble.joint.protocol.circuits import noise_digits, words_from_planes
from scumble.joint.protocol.geometric_noise import (
    DELTA_EACH,
    GeometricLaw,
    exponential_upper_bound,
    geometric_law,
    law_with_precision,
)
from scumble.joint.protocol.lockstep import run
from scumble.joint.protocol.roles import Roles
from scumble.joint.protocol.sharing import Shares, Sharing
from scumble.joint.simulated import PlainArithmetic
from scumble.privacy.noise import simulation

rates = st.fractions(Fraction(1, 3), 4, max_denominator=60)


def masses_of(law: GeometricLaw) -> list[int]:
    """The probability of every value times `total_mass(law)`, as exact integers."""
    masses = [1]
    for threshold in law.thresholds:
        masses = [mass * (2**law.bits_per_digit - threshold) for mass in masses] + [mass * threshold for mass in masses]
    return masses


def total_mass(law: GeometricLaw) -> int:
    return 2 ** (law.bits_per_digit * law.digits)


def expected_of(law: GeometricLaw) -> dict[int, float]:
    return {value: mass / total_mass(law) for value, mass in enumerate(masses_of(law))}


def excess_of_survival(law: GeometricLaw, shift: int, factor: Fraction) -> Fraction:
    """The maximum over k of Pr[noise >= k] - factor * Pr[noise >= k + shift]."""
    masses = masses_of(law)
    survival = [*accumulate(reversed(masses))][::-1] + [0] * (shift + 1)
    most = max(
        factor.denominator * survival[max(k, 0)] - factor.numerator * survival[max(k + shift, 0)]
        for k in range(-shift, len(masses))
    )
    return Fraction(most, factor.denominator * total_mass(law))


def excess_of_difference(law: GeometricLaw, shift: int, factor: Fraction) -> Fraction:
    """The hockey-stick divergence between the difference of two noise values and the same difference, shifted."""
    masses: Counter[int] = Counter()
    for (more, p), (less, q) in product(enumerate(masses_of(law)), repeat=2):
        masses[more - less] += p * q
    most = max(
        sum(max(factor.denominator * mass - factor.numerator * masses[x + by], 0) for x, mass in [*masses.items()])
        for by in (shift, -shift)
    )
    return Fraction(most, factor.denominator * total_mass(law) ** 2)


@given(rate=rates, bits_per_digit=st.integers(6, 10), shift=st.integers(1, 3))
def test_delta_by_enumeration(rate: Fraction, bits_per_digit: int, shift: int) -> None:
    """At low precision the whole law can be enumerated: the claimed delta is enough at a factor of at most e^eps."""
    law = law_with_precision(rate, bits_per_digit)
    assert sum(masses_of(law)) == total_mass(law)
    factor = exponential_upper_bound(rate) ** -shift
    assert float(factor) <= math.exp(rate * shift) * (1 + 1e-12)
    assert excess_of_survival(law, shift, factor) <= law.delta(shift)
    assert excess_of_difference(law, shift, factor) <= law.delta(shift)


@given(rate=rates, bits_per_digit=st.integers(6, 10))
def test_the_claimed_delta_is_needed(rate: Fraction, bits_per_digit: int) -> None:
    law = law_with_precision(rate, bits_per_digit)
    needed = excess_of_survival(law, 1, exponential_upper_bound(rate) ** -1)
    assert needed >= law.last, "the largest value has no counterpart after a shift by one"


def test_thresholds_rounded_to_the_nearest_are_detected() -> None:
    """Why rounding needs care: thresholds rounded to the nearest lose far more than the largest value."""
    rate, bits_per_digit = Fraction(1, 3), 8
    odds = [math.exp(-float(rate) * 2**digit) for digit in range(5)]
    nearest = GeometricLaw(
        rate=rate, bits_per_digit=bits_per_digit, thresholds=tuple(round(o / (1 + o) * 2**bits_per_digit) for o in odds)
    )
    assert excess_of_survival(nearest, 1, exponential_upper_bound(rate) ** -1) > 3 * nearest.delta(1)


@given(rate=st.fractions(Fraction(1, 10**6), 50, max_denominator=10**6), shift=st.sampled_from([1, 2, 16, 2**17]))
def test_every_law_in_use_stays_within_its_delta(rate: Fraction, shift: int) -> None:
    law = geometric_law(rate / shift, shift)
    assert law.delta(shift) <= DELTA_EACH
    ratio = exponential_upper_bound(rate / shift)
    below = Fraction(1)
    for probability in law.probabilities:
        odds = probability / (1 - probability)
        assert ratio <= odds / below <= 1 / ratio
        below *= odds


@given(st.fractions(Fraction(1, 10**9), 90, max_denominator=10**9))
def test_the_upper_bound_of_the_exponential_is_close(rate: Fraction) -> None:
    bound = exponential_upper_bound(rate)
    assert float(bound) == pytest.approx(math.exp(-rate), rel=1e-12)
    assert bound > 0
    if rate <= 1:
        below = sum((Fraction((-rate) ** k) / math.factorial(k) for k in range(24)), Fraction(0))
        assert bound >= below


@pytest.mark.parametrize("rate", [Fraction(1, 2), Fraction(1, 16), Fraction(3)])
def test_the_law_is_close_to_geometric(rate: Fraction) -> None:
    law = geometric_law(rate, 1)
    a = math.exp(-rate)
    probabilities = [float(p) for p in law.probabilities]
    for value in range(min(2**law.digits, 200)):
        digits = [value >> place & 1 for place in range(law.digits)]
        mass = math.prod(p if digit else 1 - p for p, digit in zip(probabilities, digits, strict=True))
        assert mass == pytest.approx((1 - a) * a**value, rel=1e-9)


def test_noise_beyond_the_precision_is_refused() -> None:
    with pytest.raises(BudgetError, match="precision"):
        law_with_precision(Fraction(1, 2**400), 64)


def opened_noise(roles: Roles, law: GeometricLaw, size: int, **more: Any) -> list[int]:
    def act(sharing: Sharing, party: int) -> list[int]:
        del party
        return words_from_planes(sharing.open(run(sharing, noise_digits(sharing, law, size))), size).tolist()

    results, _ = with_sharing(roles, act, **more)
    assert all(result == results[0] for result in results)
    return results[0]


@pytest.mark.parametrize("roles", [THREE, FOUR, SUBMITTING, FIVE], ids=roles_id)
@pytest.mark.parametrize(
    "law", [geometric_law(Fraction(1, 4), 1), law_with_precision(Fraction(1, 2), 6)], ids=["64", "6"]
)
def test_shared_noise_follows_the_law(roles: Roles, law: GeometricLaw) -> None:
    drawn = Counter(opened_noise(roles, law, 40_000))
    expected = expected_of(law)
    assert not chi_square_rejects(drawn, expected)
    other = law_with_precision(law.rate * Fraction(21, 20), law.bits_per_digit)
    wrong = expected_of(other)
    assert chi_square_rejects(drawn, wrong), "the test must reject a rate that is 5 % off"


@pytest.mark.parametrize("roles", [THREE, FIVE], ids=roles_id)
def test_a_coalition_that_knows_all_its_keys_does_not_know_the_noise(roles: Roles) -> None:
    """With the coalition's keys fixed and only the missing key drawn anew, the noise still has its whole law."""
    law = law_with_precision(Fraction(1, 2), 6)
    expected = expected_of(law)
    for number in range(len(roles.unqualified_sets)) if roles is THREE else (0, 4):
        drawn = given_the_other_keys(roles, law, number, Sharing)
        assert not chi_square_rejects(drawn, expected)


def test_noise_that_ignores_one_component_is_detected() -> None:
    class Forgetful(Sharing):
        def random_bits(self, shape: tuple[int, ...]) -> Shares:
            shares = super().random_bits(shape)
            for row, number in enumerate(self.roles.components_of(self.roles.compute[self.compute_index or 0])):
                if number == 1:
                    shares[row] = 0
            return shares

    law = law_with_precision(Fraction(1, 2), 6)
    expected = expected_of(law)
    assert chi_square_rejects(given_the_other_keys(THREE, law, 1, Forgetful), expected)
    assert not chi_square_rejects(given_the_other_keys(THREE, law, 0, Forgetful), expected)


def given_the_other_keys(roles: Roles, law: GeometricLaw, number: int, kind: type[Sharing]) -> Counter[int]:
    """The first noise value for many keys of one component, with the other keys fixed."""
    drawn: Counter[int] = Counter()
    for attempt in range(250):
        fresh = hashlib.sha256(repr((number, attempt)).encode()).digest()
        keys = keys_from("fixed", roles)
        for each in keys:
            if number in each.component:
                each.component[number] = fresh  # type: ignore[index]
        drawn[opened_noise(roles, law, 1, keys=keys, kind=kind)[0]] += 1
    return drawn


def geometric_argmax_law(scores: list[int], scale: float) -> list[float]:
    """The law of the argmax of score + geometric noise with ties by a uniform permutation, by exact summation."""
    a = math.exp(-1 / scale)

    def below(value: int) -> float:
        return 1 - a ** max(value, 0)

    law = [0.0] * len(scores)
    orders = list(permutations(range(len(scores))))
    for order in orders:
        for place, chosen in enumerate(order):
            for noise in range(int(60 * scale)):
                level = scores[chosen] + noise
                mass = (1 - a) * a**noise
                for other_place, other in enumerate(order):
                    if other != chosen:
                        mass *= below(level - scores[other] + (1 if other_place > place else 0))
                law[chosen] += mass / len(orders)
    return law


@pytest.mark.parametrize(("scores", "scale"), [([3, 3, 0], 2.0), ([5, 1, 4, 4], 1.5), ([0, 0], 0.7), ([9, 2, 8], 4.0)])
def test_geometric_noise_with_a_uniform_order_is_permute_and_flip(scores: list[int], scale: float) -> None:
    assert geometric_argmax_law(scores, scale) == pytest.approx(permute_and_flip_law(scores, scale), abs=1e-9)


def chosen_on_shares(scores: np.ndarray, law: GeometricLaw, runs: int, kind: type[Sharing] = Sharing) -> Counter[int]:
    def act(sharing: Sharing, party: int) -> list[int]:
        arithmetic = ReplicatedArithmetic(sharing)
        chosen = []
        for step in range(runs):
            arithmetic.begin(step)
            shared = arithmetic.input(scores if party == 0 else np.zeros_like(scores), 20)
            chosen.append(arithmetic.noisy_argmax(shared, law=law, bits=16))
        return chosen

    results, _ = with_sharing(THREE, act, kind=kind)
    return Counter(results[0])


def test_selection_on_shares_and_in_simulation_is_permute_and_flip() -> None:
    scores, law = np.array([3, 3, 0, 2]), geometric_law(Fraction(1, 2), 1)
    expected = dict(enumerate(permute_and_flip_law(scores.tolist(), 2.0)))
    assert not chi_square_rejects(chosen_on_shares(scores, law, 250), expected)
    plain = PlainArithmetic(simulation(11))
    drawn = Counter(plain.noisy_argmax(scores[np.newaxis], law=law, bits=16) for _ in range(20_000))
    assert not chi_square_rejects(drawn, expected)


def test_an_order_that_is_not_uniform_is_detected() -> None:
    class Orderly(Sharing):
        def public_permutation(self, size: int) -> np.ndarray:
            return np.arange(size)

    scores, law = np.array([4, 4]), geometric_law(Fraction(3), 1)
    expected = dict(enumerate(permute_and_flip_law(scores.tolist(), 1 / 3)))
    assert not chi_square_rejects(chosen_on_shares(scores, law, 150), expected)
    assert chi_square_rejects(chosen_on_shares(scores, law, 150, Orderly), expected)


def test_the_order_of_ties_is_uniform() -> None:
    orders: Counter[tuple[int, ...]] = Counter()
    (sharing, *_), _ = with_sharing(THREE, lambda sharing, party: sharing)
    for step in range(6_000):
        sharing.begin(step)
        orders[tuple(sharing.public_permutation(4).tolist())] += 1
    assert not chi_square_rejects(orders, dict.fromkeys(permutations(range(4)), 1 / 24))


@pytest.mark.parametrize("roles", [THREE, SUBMITTING, FIVE], ids=roles_id)
def test_the_selection_is_the_argmax_of_scores_plus_the_noise_of_the_step(roles: Roles) -> None:
    """Repeating the step opens its noise; adding the noise to the plain scores reproduces every selection."""
    law = geometric_law(Fraction(1, 8), 1)
    scores = np.random.default_rng(5).integers(0, 30, (12, 19))

    def act(sharing: Sharing, party: int) -> list[tuple[int, int]]:
        pairs = []
        for step, line in enumerate(scores):
            own = line if party == roles.owners[0] else np.zeros_like(line)
            arithmetic = ReplicatedArithmetic(sharing)
            arithmetic.begin(step)
            chosen = arithmetic.noisy_argmax(arithmetic.input(own, 20), law=law, bits=16)
            arithmetic.begin(step)
            arithmetic.input(own, 20)
            noise = words_from_planes(
                sharing.open(run(sharing, noise_digits(sharing, law, len(line)))), len(line)
            ).astype(np.int64)
            order = sharing.public_permutation(len(line))
            pairs.append((chosen, int(order[(line[order] + noise).argmax()])))
        return pairs

    results, _ = with_sharing(roles, act)
    for pairs in results:
        assert all(chosen == explained for chosen, explained in pairs)
    assert results[0] == results[-1]


def test_counts_have_discrete_laplace_noise_on_shares_and_in_simulation() -> None:
    law, size = geometric_law(Fraction(1, 3), 1), 30_000
    a = math.exp(-1 / 3)
    expected = {x: (1 - a) / (1 + a) * a ** abs(x) for x in range(-200, 201)}

    def act(sharing: Sharing, party: int) -> list[int]:
        arithmetic = ReplicatedArithmetic(sharing)
        values = arithmetic.input(np.full(size, party), 20)
        return (arithmetic.noisy_open(values, law=law, bits=18) - 3).tolist()

    results, _ = with_sharing(THREE, act)
    assert results[0] == results[1] == results[2]
    assert not chi_square_rejects(Counter(results[0]), expected)
    simulated = PlainArithmetic(simulation(3)).noisy_open(np.zeros((1, size), dtype=np.int64), law=law, bits=18)
    assert not chi_square_rejects(Counter(simulated.tolist()), expected)
