"""Partitions grown with private selections: a box with an offer is halved once a level, and each cut is reported."""

from fractions import Fraction

from mixed_tables import EVERY_KIND, random_rows

from scumble.auditing.laws.queries import engine_of
from scumble.methods.microaggregate.growth import grow
from scumble.methods.microaggregate.parameters import split_spends
from scumble.methods.microaggregate.partition import Partition
from scumble.methods.microaggregate.queries import Offer
from scumble.model.guarantee import PureDP
from scumble.model.plan import Plan
from scumble.privacy.holder import CentralHolder
from scumble.privacy.noise import PaidNoise
from scumble.privacy.query import Box


def test_boxes_with_an_offer_are_halved_and_others_stay() -> None:
    spends = split_spends(EVERY_KIND, Fraction(50), 4)
    plan = Plan(guarantee=PureDP(epsilon=50, unit=EVERY_KIND.unit), spends=spends, cells_at_most=16)
    holder = CentralHolder(engine=engine_of(EVERY_KIND, random_rows(400, 1).tolist()), noise=PaidNoise(), plan=plan)
    cuts: list[tuple[int, int, int]] = []

    def offer(box: Box) -> Offer | None:
        """Where the wards may be split, as long as a box has all of them."""
        low, high = box[3]
        return (3, tuple(range(low + 1, high))) if high - low == 5 else None

    partition = grow(Partition.whole(EVERY_KIND), 4, offer, holder, lambda *cut: cuts.append(cut))
    assert len(cuts) == 1 and cuts[0][:2] == (0, 3)
    assert [box[3] for box in partition.boxes] == [(0, cuts[0][2]), (cuts[0][2], 5)]
    assert holder.purse.left == {spend.label: int(place > 0) for place, spend in enumerate(spends)}
