"""The state of an audit, written to a file while it runs, so that the same command resumes after an interruption.

The search writes every pair that it has screened. When the event and the number of test runs are fixed, before any test
run, both are written: an audit that is resumed tests the same event in as many runs, whatever it has counted so far.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scumble.auditing.distinguisher import Event
from scumble.auditing.neighbours import Pair
from scumble.errors import InputError
from scumble.foreign.documents import read_json

Separation = tuple[float, float]
"""The lower bound on epsilon from some runs; ties are broken by the difference of the mean log-likelihood ratios."""
Screened = tuple[Separation, Pair]


@dataclass(frozen=True, kw_only=True)
class FixedTest:
    """What is tested: one event on one pair, in a number of runs that no test run can change."""

    pair: Pair
    event: Event
    test_runs: int
    looked: int
    """The runs that chose the pair and the event."""
    hits: tuple[int, int] = (0, 0)
    runs: int = 0
    """Test runs so far, on each table."""


@dataclass(frozen=True, kw_only=True)
class AuditState:
    """How far an audit is: the pairs screened so far, and the test once it is fixed."""

    identity: str
    screening_runs: int = 0
    """Runs by which each pair is screened; 0 if that is not decided yet."""
    screened: tuple[Screened, ...] = ()
    test: FixedTest | None = None

    def write(self, path: Path | None) -> None:
        if path is None:
            return
        test = self.test
        plain: dict[str, Any] = {
            "identity": self.identity,
            "screening_runs": self.screening_runs,
            "screened": [[separation, pair.to_json()] for separation, pair in self.screened],
            "test": None
            if test is None
            else {
                "pair": test.pair.to_json(),
                "event": test.event.to_json(),
                "test_runs": test.test_runs,
                "looked": test.looked,
                "hits": test.hits,
                "runs": test.runs,
            },
        }
        unfinished = path.with_name(f"{path.name}.part")
        unfinished.write_text(json.dumps(plain), encoding="utf-8")
        unfinished.replace(path)

    @classmethod
    def read(cls, path: Path | None, identity: str) -> "AuditState":
        """The state in a file, or that of an audit that has not begun."""
        if path is None or not path.exists():
            return cls(identity=identity)
        try:
            plain = read_json(path, finite=False)
            state = cls(
                identity=plain["identity"],
                screening_runs=int(plain["screening_runs"]),
                screened=tuple(
                    ((float(bound), float(apart)), Pair.from_json(pair)) for (bound, apart), pair in plain["screened"]
                ),
                test=None if plain["test"] is None else _test(plain["test"]),
            )
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise InputError(f"{path} is not the state file of an audit. Give another file, or delete it.") from error
        if state.identity != identity:
            raise InputError(f"{path} is the state file of another audit. Give each audit its own state file.")
        return state


def _test(plain: dict[str, Any]) -> FixedTest:
    return FixedTest(
        pair=Pair.from_json(plain["pair"]),
        event=Event.from_json(plain["event"]),
        test_runs=int(plain["test_runs"]),
        looked=int(plain["looked"]),
        hits=(int(plain["hits"][0]), int(plain["hits"][1])),
        runs=int(plain["runs"]),
    )


def identity_of(*facts: object) -> str:
    """A fingerprint of the audit and its options, which protects against resuming from the state of another audit."""
    return hashlib.sha256("\n".join(map(repr, facts)).encode()).hexdigest()
