"""Synchronizes the parties at the start of an attempt, whether it is the first one or a resumed one.

Every party broadcasts how many answers it has stored and which keys it has. A party that lacks answers receives and
stores them before anything else happens. New keys are exchanged only if no party has used any; used keys are never
replaced.
"""

import hashlib
import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from scumble.errors import Abort, InputError, ScumbleError
from scumble.foreign.documents import parse_json
from scumble.joint.network.mesh import Mesh
from scumble.joint.protocol.consistency import PartiesDiffer, parties_that_differ
from scumble.joint.protocol.roles import Roles
from scumble.joint.protocol.session_keys import SessionKeys, exchange_keys, restore_keys
from scumble.joint.session.sources import source_hash
from scumble.joint.session.state import RecordedAnswer, State, chained
from scumble.privacy.noise import secret_key

STATUS = struct.Struct(">16s32s32sQ??")
LENGTH = struct.Struct(">Q")
MOST_ANSWER_BYTES = 1 << 30
READY = b"\x01"
NO_KEYS = bytes(32)


@dataclass(frozen=True, kw_only=True)
class PartyStatus:
    """What a party broadcasts about its stored state."""

    fresh: bytes
    """Fresh random bytes; those of all parties together identify the attempt."""
    keys_id: bytes
    head: bytes
    answers: int
    begun: bool
    complete: bool

    def pack(self) -> bytes:
        return STATUS.pack(self.fresh, self.keys_id, self.head, self.answers, self.begun, self.complete)

    @classmethod
    def unpack(cls, message: bytes) -> "PartyStatus":
        fresh, keys_id, head, answers, begun, complete = STATUS.unpack(message)
        return cls(fresh=fresh, keys_id=keys_id, head=head, answers=answers, begun=begun, complete=complete)


def exchange_status(mesh: Mesh, state: State) -> list[PartyStatus]:
    """Exchange statuses with all parties; returns them by party number."""
    marks = state.marks
    own = PartyStatus(
        fresh=secret_key()[:16],
        keys_id=bytes.fromhex(marks.keys_id) if marks.keys_id else NO_KEYS,
        head=bytes.fromhex(state.head),
        answers=len(state.answers),
        begun=marks.begun,
        complete=marks.complete,
    )
    received = _broadcast(mesh, own.pack())
    return [PartyStatus.unpack(received[party]) if party in received else own for party in range(mesh.parties)]


def attempt_name(statuses: Sequence[PartyStatus]) -> str:
    """A name of this attempt that all its parties derive alike."""
    return hashlib.sha256(b"".join(each.fresh for each in statuses)).hexdigest()


def agree_to_charge(mesh: Mesh, statuses: Sequence[PartyStatus], refusal: ScumbleError | None) -> None:
    """Every party says whether it can be charged (a party without a ledger can), and which statuses it received.

    If one cannot, or received other statuses, all parties raise an error, before any of them is charged.
    """
    seen = b"".join(each.pack() for each in statuses)
    able, not_able = (hashlib.sha256(word + seen).digest() for word in (b"can pay", b"cannot pay"))
    own = able if refusal is None else not_able
    received = {mesh.party: own, **_broadcast(mesh, own)}
    if refusal is not None:
        raise refusal
    strange = [party for party, message in sorted(received.items()) if message not in (able, not_able)]
    if strange:
        names = " and ".join(mesh.names[party] for party in strange)
        raise PartiesDiffer(f"{names} received other messages about the state of the run.", parties=strange)
    unable = [mesh.names[party] for party, message in sorted(received.items()) if message != able]
    if unable:
        raise ScumbleError(
            f"{' and '.join(unable)} cannot be charged for this release; the error message there says why. No party "
            "was charged now. When the ledger has room, every party can run the same command again.",
            abort=Abort.PARTY,
        )


def catch_up(mesh: Mesh, state: State, statuses: Sequence[PartyStatus], names: Sequence[str]) -> None:
    """Send the answers of a party that has the most to all that lack some.

    A receiver checks all answers against the sender's hash chain before it stores the first.
    """
    most = max(each.answers for each in statuses)
    sender = next(party for party, each in enumerate(statuses) if each.answers == most)
    lacking = [party for party, each in enumerate(statuses) if each.answers < most]
    for party, each in enumerate(statuses):
        if each.answers == most and each.head != statuses[sender].head:
            raise _differ(names[sender], names[party])
    if mesh.party == sender:
        answers = json.dumps([recorded.to_json() for recorded in state.answers]).encode()
        mesh.exchange(dict.fromkeys(lacking, LENGTH.pack(len(answers))), {})
        mesh.exchange(dict.fromkeys(lacking, answers), {})
    elif mesh.party in lacking:
        (length,) = LENGTH.unpack(mesh.exchange({}, {sender: LENGTH.size})[sender])
        if length > MOST_ANSWER_BYTES:
            raise ScumbleError(
                f"{names[sender]} announced {length:,} bytes of stored answers, more than any run has. Check its state "
                "folder."
            )
        received = _read_answers(mesh.exchange({}, {sender: length})[sender], names[sender])
        head = _checked_head(state, received)
        if head is None or bytes.fromhex(head) != statuses[sender].head:
            raise _differ(names[sender], names[mesh.party])
        for recorded in received[len(state.answers) :]:
            state.keep(recorded.step, recorded.label, recorded.answer)
    if any(each.complete and each.answers == most for each in statuses) and not state.marks.complete:
        state.mark(complete=True)


def lost_state(statuses: Sequence[PartyStatus]) -> int | None:
    """The one party that has no keys, where all others have the same and use them; None otherwise."""
    without = [party for party, each in enumerate(statuses) if each.keys_id == NO_KEYS]
    others = [each for each in statuses if each.keys_id != NO_KEYS]
    used = all(each.begun for each in others) and len({each.keys_id for each in others}) == 1
    return without[0] if len(without) == 1 and used else None


def establish_keys(
    mesh: Mesh, state: State, statuses: Sequence[PartyStatus], roles: Roles, names: Sequence[str]
) -> SessionKeys:
    """The session keys: the stored ones if all parties have the same, new ones if no party has used any.

    If a single party lost its state, the others give it the keys again.
    """
    lost = lost_state(statuses)
    if lost is not None:
        keys_id = next(each.keys_id for each in statuses if each.begun).hex()
        own = None if mesh.party == lost else SessionKeys.from_json(state.keys())
        restored = restore_keys(roles, mesh, lost, own)
        if mesh.party == lost:
            state.keep_keys(restored.to_json(), keys_id)
    elif len({each.keys_id for each in statuses}) > 1 or statuses[0].keys_id == NO_KEYS:
        if any(each.begun or each.answers for each in statuses):
            missing = [name for name, each in zip(names, statuses, strict=True) if each.keys_id == NO_KEYS]
            raise InputError(
                f"{' and '.join(missing or names)} lost the stored state of this run, and other parties have already "
                "used the session keys. Resuming would draw noise a second time. Restore the state folder, or close "
                "the run with --abandon and create a new agreement."
            )
        keys_id = hashlib.sha256(b"keys" + b"".join(each.fresh for each in statuses)).hexdigest()
        state.keep_keys(exchange_keys(roles, mesh, bytes.fromhex(keys_id)).to_json(), keys_id)
    started = state.marks.version, state.marks.sources
    if state.marks.begun and started != (version("scumble"), source_hash()):
        raise InputError(
            f"This run was started with scumble {state.marks.version} and other sources than these (their hash begins "
            f"with {state.marks.sources[:8] or 'nothing'}, that of these with {source_hash()[:8]}). Other sources may "
            "add the same noise to other values. Continue with the same installation, or close the run with --abandon."
        )
    keys = SessionKeys.from_json(state.keys())
    # No party continues before all have stored the same keys. So if one party lacks them, no party has used them.
    _broadcast(mesh, READY)
    if not state.marks.begun:
        state.mark(begun=True, version=version("scumble"), sources=source_hash())
    return keys


def wait_for_all(mesh: Mesh, release: bytes) -> None:
    """Wait until every party has reached this point, and check that all will publish the same release."""
    different = parties_that_differ({mesh.party: release, **_broadcast(mesh, release)}, mesh.names)
    if different is not None:
        parties, words = different
        raise PartiesDiffer(
            f"The parties have the same answers and made different releases of them: {words}. Their machines may round "
            "numbers differently. Nothing was published.",
            parties=parties,
        )


def _broadcast(mesh: Mesh, message: bytes) -> dict[int, bytes]:
    peers = [party for party in range(mesh.parties) if party != mesh.party]
    return mesh.exchange(dict.fromkeys(peers, message), dict.fromkeys(peers, len(message)))


def _read_answers(message: bytes, name: str) -> list[RecordedAnswer]:
    try:
        data = parse_json(message)
        return [RecordedAnswer.from_json(each) for each in data if isinstance(each, Mapping)]
    except (ValueError, TypeError, KeyError) as error:
        raise ScumbleError(
            f"{name} sent stored answers that cannot be read. Check its state folder, or close the run with --abandon."
        ) from error


def _checked_head(state: State, received: Sequence[RecordedAnswer]) -> str | None:
    """The hash of the chain with these answers; None if they contradict the stored ones, or a step is missing."""
    if tuple(received[: len(state.answers)]) != tuple(state.answers):
        return None
    if [recorded.step for recorded in received] != list(range(len(received))):
        return None
    head = state.head
    for recorded in received[len(state.answers) :]:
        head = chained(head, recorded)
    return head


def _differ(one: str, other: str) -> InputError:
    return InputError(
        f"{one} and {other} have stored different answers of the same run, so one of the two state folders was "
        "changed. Restore it, or close the run with --abandon."
    )
