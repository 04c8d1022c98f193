"""The error rate shared by all audits of correct mechanisms in `make test-audit`, and the probability of a miss."""

from collections.abc import Callable
from fractions import Fraction

from scumble.auditing.bounds import Confidence, detection_probability
from scumble.auditing.search import EventCounts

LEVEL = "0.99999"
CLAIMS = 64
"""An upper limit on the number of audits of correct mechanisms; a test counts them."""
FAMILY = Confidence(level=Fraction(LEVEL), claims=CLAIMS)


ATTEMPTS = 2
"""A planted bug counts as missed if this many audits in a row do not find it."""


def first_to_find(audit: Callable[[], EventCounts], declared: float) -> EventCounts:
    """The first audit whose bound exceeds the declared epsilon, or the last one."""
    for _ in range(ATTEMPTS):
        result = audit()
        if result.bound(FAMILY) > declared:
            break
    return result


def miss_probability(result: EventCounts, declared: float) -> float:
    """The probability that the same event, tested on as many new runs, gives no bound above the declared epsilon."""
    found = detection_probability(declared, result.frequency, result.loss, result.runs[0], FAMILY.alpha)
    return max(0.0, 1 - found)
