"""Runs parties of joint releases as real processes: libraries are loaded once, then every party is a fork.

Run it as a program. It reads one scenario per line as JSON, and prints one line that says how the scenario ended. A
scenario is a folder to work in and parties, each `{"name": ..., "words": [...]}` with optionally

- `late`: start this many seconds after the others;
- `trap`: `{"at": "module:Class.function", "call": n, "when": "before" | "after", "do": [...]}`, what happens at the
  n-th call (counted from 0): `note` writes the arguments to NAME.note, `kill` kills the process, `stop` freezes it,
  `flip` flips a bit of the result (with `when` `after`),
  `sleep` lets it send nothing but heartbeats, `fill` makes writes fail as a full disk would, `interrupt` sends SIGINT.
"""

import errno
import importlib
import json
import os
import signal
import sys
import tempfile
import time
import traceback
from functools import wraps
from pathlib import Path
from typing import Any, NoReturn

from command_line import SCHEMA, people

import scumble
import scumble.cli.join
import scumble.flows.join
import scumble.privacy.measurements
from scumble.cli import main

PATIENCE = 100.0


def trapped(function: Any, name: str, trap: dict[str, Any]) -> Any:
    calls = 0

    @wraps(function)
    def wrapper(*arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        due = calls == trap.get("call", 0) + 1
        if due and trap.get("when", "before") == "before":
            spring(name, trap, arguments)
        result = function(*arguments, **named)
        if due and trap.get("when") == "after":
            spring(name, trap, arguments)
            if "flip" in trap["do"]:
                result = with_a_flipped_bit(result)
        return result

    return wrapper


def with_a_flipped_bit(result: Any) -> Any:
    """A result of a function with one bit flipped: of its bytes, or of the first of its messages."""
    if isinstance(result, dict):
        first = min(result)
        return {**result, first: with_a_flipped_bit(result[first])}
    return result[:-1] + bytes([result[-1] ^ 1])


def spring(name: str, trap: dict[str, Any], arguments: tuple[Any, ...]) -> None:
    for what in trap["do"]:
        match what:
            case "note":
                written = [each.hex() if isinstance(each, bytes) else each for each in arguments[1:]]
                Path(f"{name}.note").write_text(json.dumps(written, default=str))
            case "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            case "stop":
                os.kill(os.getpid(), signal.SIGSTOP)
            case "interrupt":
                os.kill(os.getpid(), signal.SIGINT)
            case "sleep":
                time.sleep(PATIENCE)
            case "fill":
                write = os.write

                def write_some(descriptor: int, content: bytes, write: Any = write) -> int:
                    write(descriptor, content[:10])
                    raise OSError(errno.ENOSPC, "No space left on device")

                os.write = write_some  # type: ignore[assignment]


def start(party: dict[str, Any], folder: str, late: float) -> int:
    child = os.fork()
    if child == 0:
        run(party, folder, late)
    return child


def run(party: dict[str, Any], folder: str, late: float) -> NoReturn:
    os.chdir(folder)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for stream, kind in ((1, "out"), (2, "err")):
        file = os.open(f"{party['name']}.{kind}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, stream)
    time.sleep(late)
    code = 70
    try:
        if "trap" in party:
            module, _, path = party["trap"]["at"].partition(":")
            *above, last = path.split(".")
            place: Any = importlib.import_module(module)
            for each in above:
                place = getattr(place, each)
            setattr(place, last, trapped(getattr(place, last), party["name"], party["trap"]))
        sys.argv = ["scumble", *map(str, party["words"])]
        main()
    except SystemExit as end:
        code = int(end.code or 0)
    except BaseException:  # noqa: BLE001 - printed for the reader of the test's failure
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def play(scenario: dict[str, Any]) -> dict[str, Any]:
    """Run all parties. Frozen parties are killed once the others have ended."""
    began = time.monotonic()
    running = {start(party, scenario["folder"], party.get("late", 0)): party["name"] for party in scenario["parties"]}
    frozen = {
        party["name"] for party in scenario["parties"] if {"stop", "sleep"} & set(party.get("trap", {}).get("do", ()))
    }
    ended: dict[str, Any] = {}
    while len(ended) < len(running):
        for child, name in running.items():
            if name not in ended:
                done, status = os.waitpid(child, os.WNOHANG)
                if done:
                    ended[name] = {"seconds": time.monotonic() - began, "code": os.waitstatus_to_exitcode(status)}
        through = all(name in ended for name in running.values() if name not in frozen)
        if through or time.monotonic() - began > PATIENCE:
            for child, name in running.items():
                if name not in ended:
                    os.kill(child, signal.SIGKILL)
                    os.waitpid(child, 0)
                    ended[name] = {"seconds": PATIENCE, "code": "frozen" if name in frozen else "hung"}
        time.sleep(0.01)
    for name, end in ended.items():
        for kind in ("out", "err"):
            end[kind] = (Path(scenario["folder"]) / f"{name}.{kind}").read_text()
    return ended


def warm_up() -> None:
    """Make one release first, so that everything is loaded and compiled."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "people.csv").write_text(people(50))
        (folder / "schema.yaml").write_text(SCHEMA)
        place = {"out": folder / "out", "ledger": folder / "ledger.db"}
        scumble.release(folder / "people.csv", schema=folder / "schema.yaml", epsilon=1, **place)


if __name__ == "__main__":
    warm_up()
    for line in sys.stdin:
        print(json.dumps(play(json.loads(line))), flush=True)  # noqa: T201
