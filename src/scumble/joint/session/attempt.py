"""One party's part in a joint run: from meeting the others to the last answer that all have recorded."""

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self

from scumble.errors import ScumbleError
from scumble.joint.holder import JointHolder, SecretHolder
from scumble.joint.network.tls_mesh import TlsMesh
from scumble.joint.session.agreement import Address, Agreement
from scumble.joint.session.meter import Meter
from scumble.joint.session.resume import Standing, all_done, attempt_name, catch_up, meet, settle_keys
from scumble.joint.session.state import State
from scumble.joint.session.transcript import Transcript
from scumble.model.plan import Plan
from scumble.privacy.holder import Tabulates

Answered = Callable[[str], None]


class Attempt:
    """A party's connections, transcript and record in one attempt of a run. Entering it waits for all parties."""

    def __init__(
        self,
        agreement: Agreement,
        party: str,
        *,
        state: State,
        key: Path,
        listen: Address | None = None,
        fields: Mapping[str, str] | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self._agreement = agreement
        self._state = state
        self._standings: list[Standing] = []
        self._finished = False
        self.transcript_path = state.next_transcript()
        names, digest = agreement.names, agreement.digest
        self._transcript = Transcript(self.transcript_path, party=party, names=names, agreement=digest)
        self.mesh = TlsMesh(agreement, party, key=key, listen=listen, fields=fields, watch=self._transcript, tell=tell)
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

    def meet(self) -> None:
        """Hear how far everybody has come."""
        self._standings = meet(self.mesh, self._state)
        self._transcript.attempt(attempt_name(self._standings))

    def catch_up(self) -> None:
        """Take, and record, what was answered without us."""
        catch_up(self.mesh, self._state, self._standings, self._agreement.names)
        self.meter.lap("meeting")

    def holder(self, plan: Plan, rows: Tabulates | None, answered: Answered) -> JointHolder:
        """What answers queries together with the others, from keys that everybody has stored."""
        agreement = self._agreement
        keys = settle_keys(self.mesh, self._state, self._standings, agreement.seats, agreement.names)
        self.meter.lap("keys")

        def heard(label: str) -> None:
            self.meter.lap(label)
            answered(label)

        return JointHolder(
            seats=agreement.seats,
            mesh=self.mesh,
            keys=keys,
            nonce=hashlib.sha256(agreement.digest + bytes.fromhex(self._state.marks.keys_id)).digest(),
            engine=rows,
            plan=plan,
            rows_at_most=agreement.rows_at_most,
            record=self,
            answered=heard,
        )

    def recall(self, step: int) -> bytes | None:
        """The recorded answer of a step."""
        return self._state.recall(step)

    def keep(self, step: int, label: str, answer: bytes) -> None:
        """Record an opened answer; it is on the disk when this returns."""
        self._state.keep(step, label, answer)
        self._transcript.opened(step, label, answer)

    def finish(self) -> None:
        """Go apart only when everybody has recorded everything."""
        if not self._state.marks.complete:
            self._state.mark(complete=True)
        all_done(self.mesh)
        self._finished = True
        self.meter.lap("parting")


def recorded_answers(agreement: Agreement, plan: Plan, state: State) -> SecretHolder:
    """What answers from the record alone, where all answers are in it: with no rows, no keys and no other party."""
    nobody: Any = _Nobody()
    return SecretHolder(arithmetic=nobody, engine=None, plan=plan, rows_at_most=agreement.rows_at_most, record=state)


class _Nobody:
    """Arithmetic that a complete record never needs."""

    def __getattr__(self, name: str) -> NoReturn:
        raise ScumbleError("An answer is missing from a record that calls itself complete. Restore it from a backup.")
