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
        "even": _belief(epsilon, 0.5),
        "beliefs": [_belief(epsilon, suspicion) for suspicion in SUSPICIONS],
        "yardsticks": [(each, _belief(each, 0.5)) for each in YARDSTICKS],
        "factor": _factor(epsilon),
        "spends": list(_spends(release)),
        "account": _belief(parse_fraction(receipt["spent"]), 0.5) if "spent" in receipt else None,
    }


class _Belief(NamedTuple):
    """A suspicion, as a probability, and its worst-case range after seeing the release."""

    before: float
    lowest: float
    highest: float

    @property
    def bar(self) -> Markup:
        return drawing(
            f"From {percent(self.before)} down to {percent(self.lowest)} or up to {percent(self.highest)}",
            box("rail", 0, 1, top=6, height=2),
            box("range", self.lowest, self.highest - self.lowest, top=3, height=8),
            line(self.before, self.before, top=0, bottom=14),
        )


def _belief(epsilon: Fraction, suspicion: float) -> _Belief:
    """Bayes' rule with a likelihood ratio between e^-eps and e^eps. It uses e^-eps only, which cannot overflow."""
    shrink, doubt = math.exp(-float(epsilon)), 1 - suspicion
    lowest = suspicion * shrink / (suspicion * shrink + doubt)
    return _Belief(before=suspicion, lowest=lowest, highest=suspicion / (suspicion + doubt * shrink))


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
