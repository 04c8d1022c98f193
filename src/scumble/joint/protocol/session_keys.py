"""The secret keys of a session, from which the parties derive all masks and random bits.

This is pseudo-random secret sharing (Cramer, Damgård, Ishai 2005). Every component of the sharing has one key, known
only to the parties that hold the component. A submitter (an owner that does not compute) shares a further key with the
holders of each component, for its own inputs. Keys are exchanged once and stored, so an interrupted step can be
repeated with the same noise. Every key of a party is known to some other party, or follows from keys that are, so a
party that loses its disk gets the same keys again.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, NamedTuple

from scumble.errors import InputError
from scumble.foreign.documents import parse_json
from scumble.joint.network.mesh import Mesh
from scumble.joint.protocol.consistency import PartiesDiffer
from scumble.joint.protocol.roles import Roles
from scumble.privacy.noise import secret_key

KEY_BYTES = 32


@dataclass(frozen=True, kw_only=True, repr=False)
class SessionKeys:
    """One party's keys. It must keep them secret, and must not lose them before the session ends."""

    own: bytes
    """Known to this party only. It keys the digests of this party's inputs. It follows from the keys that this party
    has in common with each computing party alone, so no coalition without one of these can compute it."""
    component: Mapping[int, bytes]
    """Component -> its key, for every component that this party holds."""
    submission: Mapping[tuple[int, int], bytes]
    """(submitter, component) -> key, where this party is the submitter or holds the component."""
    link: Mapping[int, bytes]
    """Other party -> a key that the two of them alone know. It keys the digests of their messages."""

    def to_json(self) -> str:
        return json.dumps(
            {
                "own": self.own.hex(),
                "component": {str(number): key.hex() for number, key in self.component.items()},
                "handing": {f"{owner}/{number}": key.hex() for (owner, number), key in self.submission.items()},
                "link": {str(party): key.hex() for party, key in self.link.items()},
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
                link={int(party): bytes.fromhex(key) for party, key in data["link"].items()},
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(
                "The stored session keys are damaged, so the run cannot be resumed. Restore keys.json in the state "
                "folder from a backup, or close the run with --abandon."
            ) from error


def exchange_keys(roles: Roles, mesh: Mesh, context: bytes = b"") -> SessionKeys:
    """Create the keys of a new session in two rounds: contributions, and a confirmation that they arrived.

    `context` is public; all parties confirm that it is the same.

    Every party that may know a key contributes random bytes to it and sends them to the others that may know it. The
    key is a hash of all contributions, so it is unpredictable if one contributor's generator is good. The contributions
    to the key of the component that a coalition does not hold are never sent to a member. Connections must be encrypted
    and authenticated.
    """
    me, slots = mesh.party, _slots(roles)
    own = {slot: secret_key() for slot, members in slots.items() if me in members}
    shared = {party: [slot for slot in own if party in slots[slot]] for party in range(roles.parties) if party != me}
    received = mesh.exchange(
        {party: b"".join(own[slot] for slot in common) for party, common in shared.items() if common},
        {party: KEY_BYTES * len(common) for party, common in shared.items() if common},
    )
    contributions = {slot: {me: contribution} for slot, contribution in own.items()}
    for party, message in received.items():
        for place, slot in enumerate(shared[party]):
            contributions[slot][party] = message[KEY_BYTES * place : KEY_BYTES * (place + 1)]
    keys = {slot: _combined(slot, parts) for slot, parts in contributions.items()}
    _confirm(mesh, {party: _confirmation(context, [keys[slot] for slot in common]) for party, common in shared.items()})
    return _keys_of(roles, me, keys)


def restore_keys(roles: Roles, mesh: Mesh, lost: int, keys: SessionKeys | None) -> SessionKeys:
    """Give the keys of this session again to the one party that lost them, in one round.

    Every other party sends it the keys that both may know. `keys` are this party's own, None for the one that lost
    them. It had all of them before, so it learns nothing. It checks that all copies of a key are the same.
    """
    me, slots = mesh.party, _slots(roles)
    common = {party: [slot for slot in slots if {party, lost} <= slots[slot]] for party in range(roles.parties)}
    if me != lost:
        assert keys is not None
        known = _by_slot(keys, me)
        mesh.exchange({lost: b"".join(known[slot] for slot in common[me])}, {})
        return keys
    others = [party for party in common if party != lost]
    received = mesh.exchange({}, {party: KEY_BYTES * len(common[party]) for party in others})
    found: dict[_Slot, bytes] = {}
    for party in others:
        for place, slot in enumerate(common[party]):
            key = received[party][KEY_BYTES * place : KEY_BYTES * (place + 1)]
            if found.setdefault(slot, key) != key:
                raise PartiesDiffer(
                    f"{mesh.names[party]} sent another copy of a lost key than the parties before it.", parties=(party,)
                )
    return _keys_of(roles, lost, found)


def _keys_of(roles: Roles, party: int, keys: Mapping["_Slot", bytes]) -> SessionKeys:
    link = {
        slot.number if slot.party == party else slot.party: key for slot, key in keys.items() if slot.kind == "link"
    }
    own = hashlib.sha256(f"scumble own key/1 {party}".encode())
    for other in roles.compute:
        if other != party:
            own.update(link[other])
    return SessionKeys(
        own=own.digest(),
        component={slot.number: key for slot, key in keys.items() if slot.kind == "component"},
        submission={(slot.party, slot.number): key for slot, key in keys.items() if slot.kind == "submission"},
        link=link,
    )


def _by_slot(keys: SessionKeys, party: int) -> dict["_Slot", bytes]:
    return {
        **{_Slot("component", 0, number): key for number, key in keys.component.items()},
        **{_Slot("submission", *pair): key for pair, key in keys.submission.items()},
        **{_Slot("link", *sorted((party, other))): key for other, key in keys.link.items()},
    }


def _confirm(mesh: Mesh, digests: Mapping[int, bytes]) -> None:
    """Check that every other party has the same digest of the keys that it shares with this one."""
    for party, digest in mesh.exchange(digests, {party: len(digest) for party, digest in digests.items()}).items():
        if digest != digests[party]:
            names = mesh.names
            raise PartiesDiffer(
                f"{names[party]} and {names[mesh.party]} have different keys of this session, because a message did "
                "not arrive as it was sent. Nothing was shared.",
                parties=(party, mesh.party),
            )


def _confirmation(context: bytes, keys: Sequence[bytes]) -> bytes:
    return hashlib.sha256(b"scumble session keys confirmed/1" + b"".join(keys) + context).digest()


class _Slot(NamedTuple):
    """Identifies a key: that of a component; that of a submitter and a component; or that of two parties."""

    kind: Literal["component", "submission", "link"]
    party: int
    number: int


def _slots(roles: Roles) -> dict[_Slot, frozenset[int]]:
    """Every key of a session, with the parties that may know it."""
    slots: dict[_Slot, frozenset[int]] = {}
    for number, places in enumerate(roles.holders):
        holders = frozenset(roles.compute[place] for place in places)
        slots[_Slot("component", 0, number)] = holders
        slots |= {_Slot("submission", owner, number): holders | {owner} for owner in roles.submitting}
    for one, other in combinations(range(roles.parties), 2):
        slots[_Slot("link", one, other)] = frozenset((one, other))
    return slots


def _combined(slot: _Slot, contributions: Mapping[int, bytes]) -> bytes:
    digest = hashlib.sha256(f"scumble session key/1 {slot.kind} {slot.party} {slot.number}".encode())
    for party in sorted(contributions):
        digest.update(party.to_bytes(2, "big") + contributions[party])
    return digest.digest()
