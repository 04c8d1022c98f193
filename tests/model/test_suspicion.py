"""What an epsilon means: Bayes' rule, and the words for every kind of guarantee."""

import math
from fractions import Fraction

import pytest

from scumble.model.guarantee import ApproxDP, IntervalPrivacy, JointDP, KAnonymity, LocalDP, PureDP, Unit, Unproven
from scumble.model.suspicion import belief, epsilon_advice, suspicion_text

ADDED = Unit.ADD_REMOVE


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(7, 2)])
@pytest.mark.parametrize("before", [0.01, 0.5, 0.9])
def test_odds_change_by_exactly_the_factor(epsilon: Fraction, before: float) -> None:
    found = belief(epsilon, before)
    odds = before / (1 - before)
    assert found.highest / (1 - found.highest) == pytest.approx(odds * math.exp(epsilon))
    assert found.lowest / (1 - found.lowest) == pytest.approx(odds * math.exp(-epsilon))


@pytest.mark.parametrize(
    ("epsilon", "highest"),
    [("0.1", "52.5 %"), ("1", "73.1 %"), ("3", "95.3 %"), ("8", "99.97 %"), ("1000", "practically 100 %")],
)
def test_the_sentence_states_the_highest_probability(epsilon: str, highest: str) -> None:
    assert suspicion_text(PureDP(epsilon=Fraction(epsilon), unit=ADDED)).endswith(f"can rise to at most {highest}.")


def test_every_guarantee_with_a_proved_epsilon_has_a_sentence_and_no_other() -> None:
    one = Fraction(1)
    delta = Fraction(1, 10**9)
    assert "says this and not that" in suspicion_text(PureDP(epsilon=one, unit=Unit.REPLACE))
    assert "apart from delta" in suspicion_text(ApproxDP(epsilon=one, delta=delta, unit=ADDED))
    assert "apart from delta" in suspicion_text(JointDP(epsilon=one, delta=delta, coalition=1, unit=ADDED))
    assert "true values" in suspicion_text(LocalDP(epsilon=one, covers=("age",)))
    claimed = Unproven(claim=PureDP(epsilon=one, unit=ADDED), reason="")
    for other in (KAnonymity(k=3), IntervalPrivacy(intervals={}), claimed):
        assert suspicion_text(other) == ""


def test_advice_starts_where_an_even_suspicion_becomes_almost_certain() -> None:
    limit = math.log(99)
    assert epsilon_advice(PureDP(epsilon=Fraction(math.floor(limit * 100), 100), unit=ADDED)) == ""
    assert "promises little" in epsilon_advice(PureDP(epsilon=Fraction(math.ceil(limit * 100), 100), unit=ADDED))
    assert epsilon_advice(KAnonymity(k=2)) == ""
