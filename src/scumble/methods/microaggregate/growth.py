"""Grows a partition level by level, with a private selection in every box that is split."""

from collections.abc import Callable

from scumble.methods.microaggregate.parameters import split_label
from scumble.methods.microaggregate.partition import Partition
from scumble.methods.microaggregate.queries import Balance, Offer
from scumble.privacy.holder import Holder
from scumble.privacy.query import Box


def grow(
    partition: Partition,
    depth: int,
    offer: Callable[[Box], Offer | None],
    holder: Holder,
    describe: Callable[[int, int, int], None],
) -> Partition:
    """Split every box for which there is an offer in two, once for each level.

    `offer` names the attribute of a box and the positions at which it may be split, from public facts and earlier
    answers. `describe` is called with the level, the attribute and the chosen position of each split.
    """
    for level in range(depth):
        offers = {leaf: offer(box) for leaf, box in enumerate(partition.boxes)}
        query = Balance.of(partition, {leaf: each for leaf, each in offers.items() if each is not None})
        if not query.leaves:
            break
        chosen = holder.choose_in_parts(query, spend=split_label(level))
        cuts = {
            leaf: (side, offered[choice])
            for leaf, side, offered, choice in zip(query.leaves, query.sides, query.positions, chosen, strict=True)
        }
        for side, cut in cuts.values():
            describe(level, side, cut)
        partition = partition.halve(cuts)
    return partition
