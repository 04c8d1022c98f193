"""One party's attempt to carry out a run: from connecting to the others to the last answer that all have stored."""

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self

from scumble.errors import ScumbleError
from scumble.joint.holder import JointHolder, SecretHolder
from scumble.joint.network.connection import PartyLost
from scumble.joint.network.tls_mesh import TlsMesh
from scumble.joint.protocol.consistency import PartiesDiffer
from scumble.joint.session.agreement import Address, Agreement
from scumble.joint.session.content_digest import content_digest
from scumble.joint.session.meter import Meter
from scumble.joint.session.resume import (
    PartyStatus,
    agree_to_charge,
    attempt_name,
    catch_up,
    establish_keys,
    exchange_status,
    lost_state,
    wait_for_all,
)
from scumble.joint.session.state import State
from scumble.joint.session.transcript import Transcript
from scumble.model.plan import Plan
from scumble.model.release import Release
from scumble.privacy.holder import Tabulates

Answered = Callable[[str], None]


class Attempt:
    """A party's connections, transcript and stored state in one attempt. Entering it waits for all parties.

    An attempt is also the `AnswerLog` of its holder: an answer goes to the state folder and into the transcript.
    """

    def __init__(
        self,
        agreement: Agreement,
        party: str,
        *,
        state: State,
        key: Path,
        listen: Address | None = None,
        fields: Mapping[str, str] | None = None,
        notify: Callable[[str], None] | None = None,
    ) -> None:
        self._agreement = agreement
        self._state = state
        self._statuses: list[PartyStatus] = []
        self._finished = False
        self.transcript_path = state.next_transcript()
        names, digest = agreement.names, agreement.digest
        self._transcript = Transcript(self.transcript_path, party=party, names=names, agreement=digest)
        self.mesh = TlsMesh(
            agreement, party, key=key, listen=listen, fields=fields, observer=self._transcript, notify=notify
        )
        self.meter = Meter(self.mesh)

    def __enter__(self) -> Self:
        try:
            self.mesh.__enter__()
        except BaseException:
            self._transcript.close(finished=False)
            raise
        self.meter.lap("connecting")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.mesh.close(error)
        self._transcript.close(finished=self._finished)

    def exchange_status(self) -> None:
        """Learn from every party how many answers it has stored and which keys it has."""
        self._statuses = exchange_status(self.mesh, self._state)
        self._transcript.attempt(attempt_name(self._statuses))

    @property
    def lost_state(self) -> bool:
        """Whether this party lost its state folder, and the others have the keys and answers of the run."""
        return lost_state(self._statuses) == self.mesh.party

    def agree_to_charge(self, refusal: ScumbleError | None) -> None:
        """Learn whether every owner can be charged; `refusal` says why this party's ledger refuses.

        No party returns from this unless all can be charged.
        """
        try:
            agree_to_charge(self.mesh, self._statuses, refusal)
        except PartyLost:
            raise
        except ScumbleError:
            self.mesh.linger()  # so that the others receive all messages of this round before the connections close
            raise

    def catch_up(self) -> None:
        """Receive and store the answers that other parties have and this one lacks."""
        catch_up(self.mesh, self._state, self._statuses, self._agreement.names)
        self.meter.lap("meeting")

    def holder(self, plan: Plan, rows: Tabulates | None, answered: Answered) -> JointHolder:
        """The holder that answers a method's queries jointly with the other parties, once all have stored the keys."""
        agreement = self._agreement
        keys = establish_keys(self.mesh, self._state, self._statuses, agreement.roles, agreement.names)
        self.meter.lap("keys")

        def record_phase(label: str) -> None:
            self.meter.lap(label)
            answered(label)

        return JointHolder(
            roles=agreement.roles,
            mesh=self.mesh,
            keys=keys,
            nonce=hashlib.sha256(agreement.digest + bytes.fromhex(self._state.marks.keys_id)).digest(),
            engine=rows,
            plan=plan,
            rows_at_most=agreement.bounds,
            log=self,
            attempt=bytes.fromhex(attempt_name(self._statuses)),
            answered=record_phase,
        )

    def recall(self, step: int) -> bytes | None:
        """The stored answer of a step, or None."""
        return self._state.recall(step)

    def keep(self, step: int, label: str, answer: bytes) -> None:
        """Store an opened answer; it is on disk when this returns."""
        self._state.keep(step, label, answer)
        self._transcript.opened(step, label, answer)

    def finish(self, release: Release) -> None:
        """Wait until every party has stored all answers, and check that all made the same release of them."""
        if not self._state.marks.complete:
            self._state.mark(complete=True)
        try:
            wait_for_all(self.mesh, content_digest(release))
        except PartiesDiffer:
            self._state.mark(complete=False)  # so that no party publishes alone what the others do not have
            raise
        self._finished = True
        self.meter.lap("parting")


def holder_from_log(agreement: Agreement, plan: Plan, state: State) -> SecretHolder:
    """A holder that returns stored answers, for a run whose answers are complete. It needs no rows, keys or parties."""
    unused: Any = _UnusedArithmetic()
    return SecretHolder(arithmetic=unused, engine=None, plan=plan, rows_at_most=agreement.bounds, owner=None, log=state)


class _UnusedArithmetic:
    """Stands in for the arithmetic, which a complete log of answers never needs."""

    def __getattr__(self, name: str) -> NoReturn:
        raise ScumbleError(
            "answers.jsonl lacks an answer, although state.json marks the run as complete. Restore the state folder "
            "from a backup."
        )
