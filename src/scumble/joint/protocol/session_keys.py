"""The secret keys of a session, from which the parties derive all masks and random bits.

This is pseudo-random secret sharing (Cramer, Damgård, Ishai 2005). Every component of the sharing has one key, known
only to the parties that hold the component. A submitter (an owner that does not compute) shares a further key with the
holders of each component, for its own inputs. Keys are exchanged once and stored, so an interrupted step can be
repeated with exactly the same messages.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from scumble.errors import InputError
from scumble.foreign.documents import parse_json
from scumble.joint.network.mesh import Mesh
from scumble.joint.protocol.roles import Roles
from scumble.privacy.noise import secret_key

KEY_BYTES = 32


@dataclass(frozen=True, kw_only=True, repr=False)
class SessionKeys:
    """One party's keys. It must keep them secret, and must not lose them before the session ends."""

    own: bytes
    """Known to this party only. It keys the digests of this party's inputs."""
    component: Mapping[int, bytes]
    """Component -> its key, for every component that this party holds."""
    submission: Mapping[tuple[int, int], bytes]
    """(submitter, component) -> key, where this party is the submitter or holds the component."""

    def to_json(self) -> str:
        return json.dumps(
            {
                "own": self.own.hex(),
                "component": {str(number): key.hex() for number, key in self.component.items()},
                "handing": {f"{owner}/{number}": key.hex() for (owner, number), key in self.submission.items()},
            }
        )

    @classmethod
    def from_json(cls, text: str) -> "SessionKeys":
        try:
            data = parse_json(text)
            pairs = {tuple(map(int, name.split("/"))): key for name, key in data["handing"].items()}
            return cls(
                own=bytes.fromhex(data["own"]),
                component={int(number): bytes.fromhex(key) for number, key in data["component"].items()},
                submission={(owner, number): bytes.fromhex(key) for (owner, number), key in pairs.items()},
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(
                "The stored session keys are damaged, so the run cannot be resumed. Restore keys.json in the state "
                "folder from a backup, or close the run with --abandon."
            ) from error


def exchange_keys(roles: Roles, mesh: Mesh) -> SessionKeys:
    """Create the keys of a new session and distribute them, in one round.

    The first holder of a component draws its key and sends it to the other holders. So the key of the component that a
    coalition does not hold is drawn outside the coalition and never sent to a member. Connections must be encrypted and
    authenticated.
    """
    made = {slot: secret_key() for slot in _slots(roles) if _maker(roles, slot) == mesh.party}
    parties = [party for party in range(roles.parties) if party != mesh.party]
    sent = {party: b"".join(made[slot] for slot in made if party in _recipients(roles, slot)) for party in parties}
    due = {party: [slot for slot in _slots(roles) if _receives(roles, slot, party, mesh.party)] for party in parties}
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
        submission={(owner, number): key for (owner, number), key in known.items() if owner is not None},
    )


_Slot = tuple[int | None, int]
"""Identifies a key: the submitter it belongs to (None for a component key), and the component."""


def _slots(roles: Roles) -> list[_Slot]:
    return [(owner, number) for owner in (None, *roles.submitting) for number in range(len(roles.unqualified_sets))]


def _maker(roles: Roles, slot: _Slot) -> int:
    owner, number = slot
    return roles.compute[roles.holders[number][0]] if owner is None else owner


def _recipients(roles: Roles, slot: _Slot) -> set[int]:
    owner, number = slot
    return {roles.compute[place] for place in roles.holders[number]} | ({owner} if owner is not None else set())


def _receives(roles: Roles, slot: _Slot, sender: int, receiver: int) -> bool:
    return _maker(roles, slot) == sender and receiver in _recipients(roles, slot)
