"""The steps of a release that depended on the records, each with the price of its private choice."""

from collections.abc import Sequence
from typing import NamedTuple

from scumble.methods.diffgen.algorithm_1 import CANDIDATE
from scumble.methods.diffgen.detail.spends import CHOOSE_COMBINATION, CHOOSE_FURTHER, CHOOSE_TABLE
from scumble.methods.diffgen.together import CHOOSE
from scumble.methods.explore.spends import CHOOSE_PAIRS
from scumble.model.budget import budget_text
from scumble.model.plan import Plan

CHOICES: Sequence[tuple[str, Sequence[str]]] = (
    (" -> ", (CHOOSE, CANDIDATE)),
    (" together by class", (CHOOSE_COMBINATION, CHOOSE_FURTHER)),
    (" together, in", (CHOOSE_PAIRS,)),
    (" by class, in", (CHOOSE_TABLE,)),
)
"""By what the line of a choice is recognized, and the spends that pay for such choices."""


class Round(NamedTuple):
    """A step, the spend that paid for it, and the price of this one choice or count; empty if none is its own."""

    text: str
    spend: str
    price: str


class Rounds(NamedTuple):
    """All steps in order."""

    steps: list[Round]
    unused: list[str]
    """Spends that paid for more choices than were made, in words."""


def rounds_of(plan: Plan, story: Sequence[str]) -> Rounds:
    """Pair the lines of a story with the spends of the plan.

    A line gets a price only if the plan leaves no doubt about it: it names the count of exactly this table, or all
    choices of its kind cost the same, or every choice that was paid has its line.
    """
    priced: dict[int, Round] = {}
    unused = []
    counted = {spend.label: spend for spend in plan.spends}
    left = list(enumerate(story))
    for number, text in left:
        spend = counted.get(f"count {text.partition(', in ')[0]}")
        if spend is not None:
            priced[number] = Round(text, spend.label, budget_text(spend.amount))
    for sign, labels in CHOICES:
        lines = [(number, text) for number, text in left if number not in priced and sign in text]
        paid = [spend for spend in plan.spends if spend.label in labels for _ in range(spend.times)]
        certain = len({spend.amount for spend in paid}) == 1 or len(paid) == len(lines)
        if certain and len(lines) <= len(paid):
            for (number, text), spend in zip(lines, paid, strict=False):
                priced[number] = Round(text, spend.label, budget_text(spend.amount))
            if len(lines) < len(paid):
                unused.append(f"{paid[-1].label}: {len(paid)} choices were paid, {len(lines)} changed the release")
    return Rounds([priced.get(number, Round(text, "", "")) for number, text in left], unused)
