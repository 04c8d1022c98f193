"""One error rate for all that `make test-audit` says about true mechanisms, and the arithmetic of missed bugs."""

from collections.abc import Callable
from fractions import Fraction

from scumble.auditing.bounds import Confidence, chance_to_find
from scumble.auditing.search import Judgement

LEVEL = "0.99999"
CLAIMS = 64
"""More checks of true mechanisms than there are; a test counts them."""
SURE = Confidence(level=Fraction(LEVEL), claims=CLAIMS)


ATTEMPTS = 2
"""A planted bug counts as missed when so many audits in a row do not find it."""


def first_to_find(audit: Callable[[], Judgement], declared: float) -> Judgement:
    """The first audit that finds more than declared, or the last one."""
    for _ in range(ATTEMPTS):
        judgement = audit()
        if judgement.bound(SURE) > declared:
            break
    return judgement


def chance_to_miss(judgement: Judgement, declared: float) -> float:
    """How probably the same event, judged on as many new runs, would not show more than declared: in one attempt."""
    found = chance_to_find(declared, judgement.frequency, judgement.loss, judgement.runs[0], SURE.alpha)
    return max(0.0, 1 - found)
