"""The report on the guarantee and the privacy budget: what epsilon means, and how it was spent."""

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from markupsafe import Markup

from scumble.files.report.svg import box, drawing, line
from scumble.files.report.text import percent, significant
from scumble.foreign.numbers import parse_fraction
from scumble.model.guarantee import ApproxDP, JointDP, PureDP, Unit, persons_of
from scumble.model.plan import Spend
from scumble.model.release import Release
from scumble.model.spend import budget_of
from scumble.model.suspicion import belief

SUSPICIONS = (0.01, 0.1, 0.5, 0.9)
YARDSTICKS = (Fraction(1, 10), Fraction(1), Fraction(3), Fraction(10))


def promise(release: Release, receipt: Mapping[str, str]) -> dict[str, Any]:
    """The variables of the report's template that describe the guarantee and the budget."""
    guarantee = release.plan.guarantee
    private = isinstance(guarantee, PureDP | ApproxDP | JointDP)
    epsilon = guarantee.epsilon if isinstance(guarantee, PureDP | ApproxDP | JointDP) else Fraction(0)
    approximate = guarantee if isinstance(guarantee, ApproxDP) else None
    return {
        "guarantee": guarantee,
        "private": private,
        "approximate": approximate,
        "allowed": None if approximate is None else budget_of(approximate),
        "joint": guarantee if isinstance(guarantee, JointDP) else None,
        "persons": persons_of(guarantee),
        "epsilon": epsilon if epsilon else release.plan.for_persons(_total(release)),
        "one_row": _total(release),
        "spent": release.plan.for_persons(_total(release)),
        "replace": release.plan.unit is Unit.REPLACE,
        "even": belief(epsilon),
        "beliefs": [drawn_belief(epsilon, suspicion) for suspicion in SUSPICIONS],
        "yardsticks": [(each, belief(each)) for each in YARDSTICKS],
        "factor": _factor(epsilon),
        "spends": list(_spends(release)),
        "account": belief(parse_fraction(receipt["spent"])) if "spent" in receipt else None,
    }


class DrawnBelief(NamedTuple):
    """A suspicion with its range, and the range as a drawing."""

    before: float
    lowest: float
    highest: float
    bar: Markup


def drawn_belief(epsilon: Fraction, suspicion: float) -> DrawnBelief:
    before, lowest, highest = belief(epsilon, suspicion)
    bar = drawing(
        f"From {percent(before)} down to {percent(lowest)} or up to {percent(highest)}",
        box("rail", 0, 1, top=6, height=2),
        box("range", lowest, highest - lowest, top=3, height=8),
        line(before, before, top=0, bottom=14),
    )
    return DrawnBelief(before, lowest, highest, bar)


def _factor(epsilon: Fraction) -> str:
    """e^eps, as a power of ten if it is very large."""
    power = float(epsilon) / math.log(10)
    return significant(math.exp(float(epsilon))) if power < 6 else f"10^{math.floor(power)}"


class _Share(NamedTuple):
    """A spend's share of the budget."""

    spend: Spend
    total: Fraction
    share: float
    box: Markup


def _total(release: Release) -> Fraction:
    """What the spends add up to: the price of one row."""
    return sum((spend.total(release.plan.unit) for spend in release.plan.spends), Fraction(0))


def _spends(release: Release) -> Iterator[_Share]:
    unit, start = release.plan.unit, 0.0
    whole_budget = _total(release)
    for place, spend in enumerate(release.plan.spends):
        total = spend.total(unit)
        share = float(total / whole_budget)
        yield _Share(spend, total, share, Markup(box(f"t{place % 6}", start, share, height=26)))
        start += share
