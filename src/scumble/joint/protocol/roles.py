"""Who sits where: which parties hold rows, which compute, and how many of those may look together in vain."""

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from scumble.errors import InputError

FEWEST_COMPUTE = 3
MOST_COMPUTE = 7

Subset = tuple[int, ...]
"""Some of the compute parties, by their places 0, 1, ... among them."""


@dataclass(frozen=True, kw_only=True)
class Seats:
    """The parties of a joint release, a public value that all of them must hold alike.

    Parties are numbered from 0. An owner that does not compute hands in shares of its counts and is told the answers; a
    compute party that owns no rows is an aggregator. Nothing is told to any `threshold` compute parties together.
    """

    parties: int
    compute: tuple[int, ...]
    owners: tuple[int, ...]
    threshold: int

    def __post_init__(self) -> None:
        for name, seats in (("compute", self.compute), ("owners", self.owners)):
            if list(seats) != sorted(set(seats)) or any(not 0 <= seat < self.parties for seat in seats):
                raise InputError(f"{name} must name parties from 0 to {self.parties - 1}, each once and in order.")
        idle = set(range(self.parties)) - set(self.compute) - set(self.owners)
        if idle:
            raise InputError(f"Party {min(idle)} neither owns rows nor computes. Leave it out.")
        if len(self.owners) < 2:
            raise InputError("A joint release has two owners or more. One owner alone uses `scumble release`.")
        if not FEWEST_COMPUTE <= len(self.compute) <= MOST_COMPUTE:
            raise InputError(
                f"{len(self.compute)} parties compute; it takes {FEWEST_COMPUTE} to {MOST_COMPUTE}. Two keep no secret "
                "from each other: add an aggregator. Further owners can hand in their counts without computing."
            )
        if not 0 < self.threshold <= default_threshold(len(self.compute)):
            raise InputError(
                f"The threshold is {self.threshold}; with {len(self.compute)} compute parties it can be 1 to "
                f"{default_threshold(len(self.compute))}, for the others must be the majority."
            )

    @property
    def submitting(self) -> tuple[int, ...]:
        """The owners that do not compute."""
        return tuple(owner for owner in self.owners if owner not in self.compute)

    @cached_property
    def subsets(self) -> tuple[Subset, ...]:
        """The sets of `threshold` compute parties, each of which lacks one component of every secret."""
        return tuple(combinations(range(len(self.compute)), self.threshold))

    @cached_property
    def holders(self) -> tuple[Subset, ...]:
        """For each of `subsets` the compute parties outside of it: those that hold its component."""
        return tuple(
            tuple(place for place in range(len(self.compute)) if place not in subset) for subset in self.subsets
        )

    def place(self, party: int) -> int | None:
        """A party's place among the compute parties; None for an owner that only hands in."""
        return self.compute.index(party) if party in self.compute else None

    def held(self, party: int) -> tuple[int, ...]:
        """Which components a party holds, as numbers of subsets."""
        place = self.place(party)
        return tuple(number for number, holders in enumerate(self.holders) if place in holders)

    def open_subset(self, dealer: int) -> int:
        """The subset whose component a dealer sends, the others following from keys.

        For a compute party the ones before it in the circle, so that the messages spread evenly.
        """
        place = self.place(dealer)
        start = dealer if place is None else place
        before = sorted((start - back) % len(self.compute) for back in range(1, self.threshold + 1))
        return self.subsets.index(tuple(before))


def default_threshold(compute: int) -> int:
    """The largest coalition that `compute` parties withstand: fewer than half of them."""
    return (compute - 1) // 2
