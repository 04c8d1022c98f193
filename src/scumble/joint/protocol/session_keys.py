"""Keys that several parties share, made once a session, from which all pseudo-randomness of the protocol follows.

Each component of a secret has a key that just its holders know. An owner that only hands in counts shares one more with
the holders of each component, for its own inputs. Whoever keeps these keys repeats every message of the session.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from scumble.errors import InputError
from scumble.joint.network.mesh import Mesh
from scumble.joint.protocol.roles import Seats
from scumble.privacy.noise import secret_key

KEY_BYTES = 32


@dataclass(frozen=True, kw_only=True, repr=False)
class SessionKeys:
    """What one party has to keep secret, and to keep at all, until the session ends."""

    own: bytes
    """Known to this party alone."""
    component: Mapping[int, bytes]
    """For the number of each component that this party holds."""
    handing: Mapping[tuple[int, int], bytes]
    """For (an owner that only hands in, the number of a component) where this party is that owner or holds it."""

    def to_json(self) -> str:
        return json.dumps(
            {
                "own": self.own.hex(),
                "component": {str(number): key.hex() for number, key in self.component.items()},
                "handing": {f"{owner}/{number}": key.hex() for (owner, number), key in self.handing.items()},
            }
        )

    @classmethod
    def from_json(cls, text: str) -> "SessionKeys":
        try:
            data = json.loads(text)
            pairs = {tuple(map(int, name.split("/"))): key for name, key in data["handing"].items()}
            return cls(
                own=bytes.fromhex(data["own"]),
                component={int(number): bytes.fromhex(key) for number, key in data["component"].items()},
                handing={(owner, number): bytes.fromhex(key) for (owner, number), key in pairs.items()},
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError("The session's keys cannot be read. Without them the run cannot be resumed.") from error


def exchange_keys(seats: Seats, mesh: Mesh) -> SessionKeys:
    """Make and share the keys of a new session, in one round.

    A component's key is made by its first holder. So the key of the component that a coalition lacks is made and known
    outside of the coalition only. The connections must be encrypted and authenticated.
    """
    made = {slot: secret_key() for slot in _slots(seats) if _maker(seats, slot) == mesh.seat}
    parties = [party for party in range(seats.parties) if party != mesh.seat]
    sent = {party: b"".join(made[slot] for slot in made if party in _knowing(seats, slot)) for party in parties}
    due = {party: [slot for slot in _slots(seats) if _told(seats, slot, party, mesh.seat)] for party in parties}
    received = mesh.exchange(
        {party: message for party, message in sent.items() if message},
        {party: KEY_BYTES * len(slots) for party, slots in due.items() if slots},
    )
    known = dict(made)
    for party, message in received.items():
        for place, slot in enumerate(due[party]):
            known[slot] = message[KEY_BYTES * place : KEY_BYTES * (place + 1)]
    return SessionKeys(
        own=secret_key(),
        component={number: key for (owner, number), key in known.items() if owner is None},
        handing={(owner, number): key for (owner, number), key in known.items() if owner is not None},
    )


_Slot = tuple[int | None, int]
"""A key's owner that only hands in, or None, and its component."""


def _slots(seats: Seats) -> list[_Slot]:
    return [(owner, number) for owner in (None, *seats.submitting) for number in range(len(seats.subsets))]


def _maker(seats: Seats, slot: _Slot) -> int:
    owner, number = slot
    return seats.compute[seats.holders[number][0]] if owner is None else owner


def _knowing(seats: Seats, slot: _Slot) -> set[int]:
    owner, number = slot
    return {seats.compute[place] for place in seats.holders[number]} | ({owner} if owner is not None else set())


def _told(seats: Seats, slot: _Slot, by: int, party: int) -> bool:
    return _maker(seats, slot) == by and party in _knowing(seats, slot)
