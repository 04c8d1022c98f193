"""The purse: tracks which spends of a plan are left. It refuses to pay for an answer that was not planned."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from scumble import interrupts
from scumble.errors import BudgetError
from scumble.model.guarantee import ApproxDP, IntervalPrivacy, JointDP, LocalDP, PureDP, Unit
from scumble.model.plan import Plan, Spend
from scumble.privacy.price import Price
from scumble.privacy.query import Box, Query


class Purse:
    """The remaining uses of the spends of a plan."""

    def __init__(self, plan: Plan) -> None:
        if isinstance(plan.guarantee, LocalDP | IntervalPrivacy):
            raise BudgetError(
                "Under this guarantee people perturb their own records, and nobody answers queries about a table."
            )
        self.plan = plan
        self._spends = {spend.label: spend for spend in plan.spends}
        self._left = {spend.label: spend.times for spend in plan.spends}

    def pay(self, label: str, queries: Sequence[Query]) -> Price:
        """Use a spend once for these queries and return what each of them may cost.

        Several queries may share one price only if the plan marks the spend as shared and their regions are disjoint.
        """
        return self._take(label, disjoint=len(queries) < 2 or _disjoint(queries), several=len(queries) > 1)

    def pay_parts(self, label: str, parts: Sequence[Box]) -> Price:
        """Use a spend once for a query with several parts, whose boxes must be disjoint."""
        return self._take(label, disjoint=len(parts) < 2 or _disjoint_boxes(parts), several=len(parts) > 1)

    def divide(self, label: str, parts: tuple[Spend, ...]) -> Plan:
        """Replace an unused spend by several. `Plan` checks that they add up to it exactly."""
        whole = self._whole(label)
        private = isinstance(self.plan.guarantee, PureDP | ApproxDP | JointDP)
        if not private or whole.times != 1 or self._left[label] < 1:
            raise BudgetError(
                f"The spend {label!r} is used up, or was not planned to be divided. No answer was released."
            )
        self.plan = self.plan.divided(label, parts)
        self._spends |= {part.label: part for part in parts}
        self._left |= {label: 0} | {part.label: part.times for part in parts}
        return self.plan

    def price(self, label: str) -> Price:
        """What one use of a spend pays for. Nothing is paid."""
        return Price.of(self._whole(label), self.plan.unit)

    def unit(self, label: str) -> Unit:
        """The unit for which an answer paid by this spend must be differentially private."""
        return self.price(label).unit if label in self._spends else self.plan.unit

    @property
    def left(self) -> dict[str, int]:
        """The number of remaining uses of each spend."""
        return dict(self._left)

    def _whole(self, label: str) -> Spend:
        spend = self._spends.get(label)
        if spend is None:
            raise BudgetError(
                f"No spend {label!r} was planned; planned: {', '.join(self._spends)}. No answer was released."
            )
        return spend

    def _take(self, label: str, *, disjoint: bool, several: bool) -> Price:
        spend = self._whole(label)
        if self._left[label] < 1:
            raise BudgetError(f"All {spend.times} uses of the spend {label!r} are used up. No answer was released.")
        if several and not (spend.shared and disjoint):
            raise BudgetError(f"The spend {label!r} pays for one answer, or for answers about disjoint records.")
        interrupts.check()
        self._left[label] -= 1
        return self.price(label)


def _disjoint(queries: Sequence[Query]) -> bool:
    regions = [query.region for query in queries]
    boxes = sorted((region[0], region[1].low, region[1].high) for region in regions if region is not None)
    if len(boxes) < len(regions):
        return False
    # Regions of different attributes overlap, so all must be of the same attribute.
    return all(before[0] == after[0] and before[2] <= after[1] for before, after in pairwise(boxes))


def _disjoint_boxes(parts: Sequence[Box]) -> bool:
    """Whether no two boxes overlap. Two overlap if their ranges do in every attribute; an empty box overlaps none."""
    boxes = np.array(parts, dtype=np.int64)
    lows, highs = boxes[:, :, 0], boxes[:, :, 1]
    for number in range(len(boxes) - 1):
        overlaps = np.minimum(highs[number], highs[number + 1 :]) > np.maximum(lows[number], lows[number + 1 :])
        if overlaps.all(axis=1).any():
            return False
    return True
