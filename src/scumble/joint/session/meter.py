"""Measures what each phase of a joint run costs: seconds, rounds and bytes."""

import time
from dataclasses import dataclass
from typing import Any, Protocol


class Counted(Protocol):
    """Connections that count their rounds and bytes."""

    @property
    def rounds(self) -> int: ...

    @property
    def bytes_sent(self) -> int: ...

    @property
    def bytes_received(self) -> int: ...


@dataclass(frozen=True, kw_only=True)
class Phase:
    """The cost of a phase; phases of the same name are added up."""

    name: str
    seconds: float
    rounds: int
    bytes_sent: int
    bytes_received: int

    def __add__(self, other: "Phase") -> "Phase":
        return Phase(
            name=self.name,
            seconds=self.seconds + other.seconds,
            rounds=self.rounds + other.rounds,
            bytes_sent=self.bytes_sent + other.bytes_sent,
            bytes_received=self.bytes_received + other.bytes_received,
        )

    def to_json(self) -> dict[str, Any]:
        return {**vars(self), "seconds": round(self.seconds, 3)}


class Meter:
    """Reads the clock and the connections' counters at the end of every phase."""

    def __init__(self, counted: Counted) -> None:
        self._counted = counted
        self._before = self._reading()
        self._phases: dict[str, Phase] = {}

    def lap(self, name: str) -> None:
        """End the current phase, give it this name, and start the next one."""
        now = self._reading()
        seconds, *numbers = (after - before for after, before in zip(now, self._before, strict=True))
        rounds, sent, received = map(int, numbers)
        phase = Phase(name=name, seconds=seconds, rounds=rounds, bytes_sent=sent, bytes_received=received)
        self._phases[name] = self._phases[name] + phase if name in self._phases else phase
        self._before = now

    @property
    def phases(self) -> tuple[Phase, ...]:
        return tuple(self._phases.values())

    def _reading(self) -> tuple[float, int, int, int]:
        counted = self._counted
        return time.monotonic(), counted.rounds, counted.bytes_sent, counted.bytes_received
