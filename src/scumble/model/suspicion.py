"""What an epsilon means for a suspicion: how far Bayes' rule can move a probability, and when epsilon is too large.

If every outcome is at most e^eps times as likely in one case as in the other, the odds of the first case change by at
most this factor, whatever else somebody knows.
"""

import math
from fractions import Fraction
from typing import NamedTuple

from scumble.model.budget import budget_text
from scumble.model.guarantee import (
    ApproxDP,
    Guarantee,
    JointDP,
    LocalDP,
    PureDP,
    Unit,
    epsilon_of,
    persons_of,
    unit_of,
)

ALMOST_CERTAIN = 0.99
"""An epsilon with which an even suspicion can rise above this is called unwise: more than ln 99, about 4.6."""


class Belief(NamedTuple):
    """A suspicion, as a probability, and its worst-case range after seeing a release."""

    before: float
    lowest: float
    highest: float


def belief(epsilon: Fraction, suspicion: float = 0.5) -> Belief:
    """Bayes' rule with a likelihood ratio between e^-eps and e^eps. It uses e^-eps only, which cannot overflow.

    >>> round(belief(Fraction(1)).highest, 3)
    0.731
    """
    shrink, doubt = math.exp(-float(epsilon)), 1 - suspicion
    lowest = suspicion * shrink / (suspicion * shrink + doubt)
    return Belief(before=suspicion, lowest=lowest, highest=suspicion / (suspicion + doubt * shrink))


def suspicion_text(guarantee: Guarantee) -> str:
    """What the epsilon of a guarantee means, as a sentence; empty for guarantees that are not differential privacy.

    >>> suspicion_text(PureDP(epsilon=Fraction(1), unit=Unit.ADD_REMOVE))
    'A 50 % suspicion that a given record is in the table can rise to at most 73.1 %.'
    """
    if not isinstance(guarantee, PureDP | ApproxDP | JointDP | LocalDP):
        return ""
    person = persons_of(guarantee) is not None
    if isinstance(guarantee, LocalDP):
        about = "that somebody's true values are these and not those"
    elif unit_of(guarantee) is Unit.REPLACE:
        about = "that a person's rows say this and not that" if person else "that a record says this and not that"
    else:
        about = "that a given person is in the table" if person else "that a given record is in the table"
    apart = ", apart from delta" if isinstance(guarantee, ApproxDP | JointDP) else ""
    return f"A 50 % suspicion {about} can rise to at most {highest_text(guarantee.epsilon)}{apart}."


def total_text(epsilon: Fraction) -> str:
    """What the epsilons of all releases of the same rows mean together, as a sentence."""
    return f"All releases together: a 50 % suspicion can rise to at most {highest_text(epsilon)}."


def epsilon_advice(promise: Guarantee | Fraction) -> str:
    """A warning if the epsilon is so large that it protects hardly anybody; empty otherwise."""
    epsilon = promise if isinstance(promise, Fraction) else epsilon_of(promise)
    if epsilon is None or belief(epsilon).highest <= ALMOST_CERTAIN:
        return ""
    return (
        f"epsilon {budget_text(epsilon)} promises little: a 50 % suspicion can rise to {highest_text(epsilon)}. At 1 "
        "it can rise to 73.1 %, at 3 to 95.3 %. Choose a smaller epsilon unless something else protects these people."
    )


def highest_text(epsilon: Fraction) -> str:
    """The highest value of an even suspicion, with enough digits to differ from 100 %."""
    doubt = 100 * (1 - belief(epsilon).highest)
    if doubt < 1e-6:
        return "practically 100 %"
    digits = 1 if doubt >= 0.1 else math.ceil(-math.log10(doubt))
    return f"{100 - doubt:.{digits}f} %"
