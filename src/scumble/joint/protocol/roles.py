"""The roles of the parties: who owns rows, who computes on shares, and how large a coalition the protocol withstands.

The roles fix the access structure of the secret sharing (Ito, Saito, Nishizeki 1987): which party holds which component
of every shared value. Everything here is public.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from scumble.errors import InputError

FEWEST_COMPUTE = 3
MOST_COMPUTE = 7

Subset = tuple[int, ...]
"""A set of compute parties, each given by its index 0, 1, ... in `Roles.compute`."""


@dataclass(frozen=True, kw_only=True)
class Roles:
    """Which parties own rows, which compute, and the threshold. All parties must use the same roles.

    Parties are numbered from 0. A compute party holds shares and takes part in the computation. An owner that does not
    compute is a submitter: it sends shares of its counts and receives the answers. A compute party without rows is an
    aggregator. Any coalition of up to `threshold` compute parties learns nothing but the answers.
    """

    parties: int
    compute: tuple[int, ...]
    owners: tuple[int, ...]
    threshold: int

    def __post_init__(self) -> None:
        for name, members in (("compute", self.compute), ("owners", self.owners)):
            if list(members) != sorted(set(members)) or any(not 0 <= party < self.parties for party in members):
                raise InputError(
                    f"`{name}` must list party numbers from 0 to {self.parties - 1} in increasing order, each once."
                )
        idle = set(range(self.parties)) - set(self.compute) - set(self.owners)
        if idle:
            raise InputError(
                f"Party {min(idle)} neither owns rows nor computes. Remove it, or give it one of the two roles."
            )
        if len(self.owners) < 2:
            raise InputError("A joint release needs at least two owners. A single owner uses `scumble release`.")
        if not FEWEST_COMPUTE <= len(self.compute) <= MOST_COMPUTE:
            raise InputError(
                f"The number of computing parties is {len(self.compute)}; it must be {FEWEST_COMPUTE} to "
                f"{MOST_COMPUTE}. Two parties cannot keep secrets from each other: add an aggregator. Owners beyond "
                f"{MOST_COMPUTE} can submit their counts without computing (--submitter)."
            )
        if not 0 < self.threshold <= default_threshold(len(self.compute)):
            raise InputError(
                f"The threshold is {self.threshold}; with {len(self.compute)} computing parties it must be 1 to "
                f"{default_threshold(len(self.compute))}, because the protocol needs an honest majority."
            )

    @property
    def submitting(self) -> tuple[int, ...]:
        """The submitters: owners that do not compute."""
        return tuple(owner for owner in self.owners if owner not in self.compute)

    @cached_property
    def unqualified_sets(self) -> tuple[Subset, ...]:
        """The largest coalitions the protocol withstands: all sets T of `threshold` compute parties.

        Every secret has one component for each T. The members of T do not hold it, all other compute parties do.
        """
        return tuple(combinations(range(len(self.compute)), self.threshold))

    @cached_property
    def holders(self) -> tuple[Subset, ...]:
        """For each set in `unqualified_sets`, the compute parties outside it: they hold its component."""
        return tuple(
            tuple(index for index in range(len(self.compute)) if index not in subset)
            for subset in self.unqualified_sets
        )

    def compute_index(self, party: int) -> int | None:
        """A party's index among the compute parties; None for a submitter."""
        return self.compute.index(party) if party in self.compute else None

    def components_of(self, party: int) -> tuple[int, ...]:
        """The components that a party holds, as indices into `unqualified_sets`."""
        index = self.compute_index(party)
        return tuple(number for number, holders in enumerate(self.holders) if index in holders)

    def sent_component(self, dealer: int) -> int:
        """The one component of a dealer's values that travels in a message; the others are derived from keys.

        Returned as an index into `unqualified_sets`. Compute parties form a circle, and a dealer sends the component of
        the `threshold` parties before it. This spreads the messages evenly over the connections.
        """
        index = self.compute_index(dealer)
        start = dealer if index is None else index
        before = sorted((start - back) % len(self.compute) for back in range(1, self.threshold + 1))
        return self.unqualified_sets.index(tuple(before))


def default_threshold(compute: int) -> int:
    """The largest threshold for this number of compute parties: the largest integer below half of it."""
    return (compute - 1) // 2
