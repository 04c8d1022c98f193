"""Where all parties stand when they meet, whether for the first time or after a run that broke.

Everybody tells how many answers it has recorded and which keys it holds. Who lacks answers is given them, and records
them, before anything else happens. Keys are made where nobody has used any, and never a second time.
"""

import hashlib
import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from scumble.errors import InputError, ScumbleError
from scumble.joint.network.mesh import Mesh
from scumble.joint.protocol.roles import Seats
from scumble.joint.protocol.session_keys import SessionKeys, exchange_keys
from scumble.joint.session.state import Recorded, State, chained
from scumble.privacy.noise import secret_key

STANDING = struct.Struct(">16s32s32sQ??")
LENGTH = struct.Struct(">Q")
LONGEST_HANDOVER = 1 << 30
READY = b"\x01"
NO_KEYS = bytes(32)


@dataclass(frozen=True, kw_only=True)
class Standing:
    """How far one party has come."""

    fresh: bytes
    """Random, for a name that this meeting shares with no other."""
    keys_id: bytes
    head: bytes
    answers: int
    begun: bool
    complete: bool

    def pack(self) -> bytes:
        return STANDING.pack(self.fresh, self.keys_id, self.head, self.answers, self.begun, self.complete)

    @classmethod
    def unpack(cls, message: bytes) -> "Standing":
        fresh, keys_id, head, answers, begun, complete = STANDING.unpack(message)
        return cls(fresh=fresh, keys_id=keys_id, head=head, answers=answers, begun=begun, complete=complete)


def meet(mesh: Mesh, state: State) -> list[Standing]:
    """Where each party stands, by number."""
    marks = state.marks
    own = Standing(
        fresh=secret_key()[:16],
        keys_id=bytes.fromhex(marks.keys_id) if marks.keys_id else NO_KEYS,
        head=bytes.fromhex(state.head),
        answers=len(state.answers),
        begun=marks.begun,
        complete=marks.complete,
    )
    told = _tell_all(mesh, own.pack())
    return [Standing.unpack(told[seat]) if seat in told else own for seat in range(mesh.seats)]


def attempt_name(standings: Sequence[Standing]) -> str:
    """What this meeting is called by all who take part in it."""
    return hashlib.sha256(b"".join(each.fresh for each in standings)).hexdigest()


def catch_up(mesh: Mesh, state: State, standings: Sequence[Standing], names: Sequence[str]) -> None:
    """Give everybody the answers that anybody has. Those that come are checked before the first is recorded."""
    most = max(each.answers for each in standings)
    giver = next(seat for seat, each in enumerate(standings) if each.answers == most)
    lacking = [seat for seat, each in enumerate(standings) if each.answers < most]
    for seat, each in enumerate(standings):
        if each.answers == most and each.head != standings[giver].head:
            raise _differ(names[giver], names[seat])
    if mesh.seat == giver:
        answers = json.dumps([recorded.to_json() for recorded in state.answers]).encode()
        mesh.exchange(dict.fromkeys(lacking, LENGTH.pack(len(answers))), {})
        mesh.exchange(dict.fromkeys(lacking, answers), {})
    elif mesh.seat in lacking:
        (length,) = LENGTH.unpack(mesh.exchange({}, {giver: LENGTH.size})[giver])
        if length > LONGEST_HANDOVER:
            raise ScumbleError(f"{names[giver]} would hand over {length:,} bytes of answers, which no run has.")
        handed = _read_answers(mesh.exchange({}, {giver: length})[giver], names[giver])
        head = _checked_head(state, handed)
        if head is None or bytes.fromhex(head) != standings[giver].head:
            raise _differ(names[giver], names[mesh.seat])
        for recorded in handed[len(state.answers) :]:
            state.keep(recorded.step, recorded.label, recorded.answer)
    if any(each.complete and each.answers == most for each in standings) and not state.marks.complete:
        state.mark(complete=True)


def settle_keys(
    mesh: Mesh, state: State, standings: Sequence[Standing], seats: Seats, names: Sequence[str]
) -> SessionKeys:
    """The session's keys: the stored ones where everybody has them, new ones where nobody has used any."""
    if len({each.keys_id for each in standings}) > 1 or standings[0].keys_id == NO_KEYS:
        if any(each.begun or each.answers for each in standings):
            missing = [name for name, each in zip(names, standings, strict=True) if each.keys_id == NO_KEYS]
            raise InputError(
                f"{' and '.join(missing or names)} lost what was recorded of this run, and others have gone on from "
                "it. It cannot be resumed without drawing again. Close it with --abandon and make a new agreement."
            )
        keys_id = hashlib.sha256(b"keys" + b"".join(each.fresh for each in standings)).hexdigest()
        state.keep_keys(exchange_keys(seats, mesh).to_json(), keys_id)
    if state.marks.begun and state.marks.version != version("scumble"):
        raise InputError(
            f"This run was begun with scumble {state.marks.version}, and only that repeats its messages as they were. "
            "Go on with that version, or close the run with --abandon."
        )
    keys = SessionKeys.from_json(state.keys())
    # Nobody goes on before all have stored the same keys. So where one party lacks them, nobody has used them.
    _tell_all(mesh, READY)
    if not state.marks.begun:
        state.mark(begun=True, version=version("scumble"))
    return keys


def all_done(mesh: Mesh) -> None:
    """Wait until everybody has recorded everything."""
    _tell_all(mesh, READY)


def _tell_all(mesh: Mesh, message: bytes) -> dict[int, bytes]:
    peers = [seat for seat in range(mesh.seats) if seat != mesh.seat]
    return mesh.exchange(dict.fromkeys(peers, message), dict.fromkeys(peers, len(message)))


def _read_answers(message: bytes, name: str) -> list[Recorded]:
    try:
        data = json.loads(message)
        return [Recorded.from_json(each) for each in data if isinstance(each, Mapping)]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ScumbleError(f"{name} handed over answers that do not read. Ask for its record, or --abandon.") from error


def _checked_head(state: State, handed: Sequence[Recorded]) -> str | None:
    """The head of the chain with these answers; None where ours are not the first of them, or a step is missing."""
    if tuple(handed[: len(state.answers)]) != tuple(state.answers):
        return None
    if [recorded.step for recorded in handed] != list(range(len(handed))):
        return None
    head = state.head
    for recorded in handed[len(state.answers) :]:
        head = chained(head, recorded)
    return head


def _differ(one: str, other: str) -> InputError:
    return InputError(
        f"{one} and {other} have recorded different answers of one run. Do not go on: one of the records is false."
    )
