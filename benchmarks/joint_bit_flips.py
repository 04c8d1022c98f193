"""Flips single bits at one party of real joint runs and reports how the runs end.

    python benchmarks/joint_bit_flips.py --flips 200

Every run has three owners, each a process with its own connections, ledger and folders. In each run one bit is flipped
at one party: in a message that it received (after TLS), or in a component of its shares that it is about to open.
"""

import argparse
import hashlib
import os
import random
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow.csv as pacsv

import scumble.flows.release  # noqa: F401 - loaded before the processes fork
from scumble.demo.patients import patients, patients_schema
from scumble.demo.rehearsal import free_addresses
from scumble.errors import ScumbleError
from scumble.flows.join import join
from scumble.flows.join_plan import write_agreement
from scumble.joint.network.tls_mesh import TlsMesh
from scumble.joint.protocol.sharing import Sharing

OWNERS = ("north", "south", "east")
RECEIVED, OPENED = "a received message", "an opened component"
STEPS = 3


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flips", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    rounds = run_once(None, draw).receiving_rounds
    endings: Counter[tuple[str, str]] = Counter()
    while (number := endings.total()) < options.flips:
        kind = OPENED if number % 4 == 0 else RECEIVED
        call = draw.randrange(STEPS) if kind == OPENED else draw.randrange(rounds)
        ended = run_once((kind, draw.choice(OWNERS), call), draw)
        if ended.flipped:  # the splits that were chosen decide how many rounds there are
            endings[kind, ended.ending] += 1
            print(f"{number + 1:4d} {kind}, call {call}: {ended.ending}", file=sys.stderr, flush=True)
    print("| bit flipped in | how the run ended | runs |\n|---|---|---|")
    for (kind, ending), runs in sorted(endings.items()):
        print(f"| {kind} | {ending} | {runs} |")
    return 1 if any("DIFFERENT" in ending for _, ending in endings) else 0


class Ended(NamedTuple):
    """How a run ended, whether a bit was flipped in it, and in how many rounds the first owner received messages."""

    ending: str
    flipped: bool
    receiving_rounds: int


def run_once(fault: tuple[str, str, int] | None, draw: random.Random) -> Ended:
    """One run with at most one fault (its kind, the party, the number of the call), and how it ended."""
    bit = draw.getrandbits(40)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = patients(90, seed=1)
        for number, owner in enumerate(OWNERS):
            pacsv.write_csv(table.slice(30 * number, 30), folder / f"{owner}.csv")
        agreement = write_agreement(
            folder / "agreed",
            schema=patients_schema(),
            parties={
                owner: {"address": str(address), "owner": True, "computes": True}
                for owner, address in zip(OWNERS, free_addresses(3), strict=True)
            },
            parameters={"epsilon": "1", "rounds": 2, "positions": 4},
            rows_at_most=1000,
            deadlines={"start": 60, "stall": 60, "silence": 20},
        )
        children = {}
        for owner in OWNERS:
            child = os.fork()
            if child == 0:
                take_part(folder, agreement, owner, fault if fault and fault[1] == owner else None, bit)
            children[owner] = child
        codes = {owner: os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for owner, child in children.items()}
        published = {owner: contents(folder / f"out-{owner}") for owner in OWNERS if (folder / f"out-{owner}").exists()}
        if len(set(published.values())) > 1:
            ending = "DIFFERENT folders were published"
        elif not published:
            ending = f"all parties ended and none published (exit codes {sorted(set(codes.values()))})"
        else:
            ending = f"{len(published)} of 3 parties published, the same folder"
        counted = folder / "north.rounds"
        rounds = int(counted.read_text()) if counted.exists() else 0
        return Ended(ending=ending, flipped=(folder / "flipped").exists(), receiving_rounds=rounds)


def take_part(folder: Path, agreement: Path, owner: str, fault: tuple[str, str, int] | None, bit: int) -> None:
    """Run one party in this process, which ends with it."""
    code = 0
    os.dup2(os.open(folder / f"{owner}.log", os.O_WRONLY | os.O_CREAT), 2)
    received_rounds = 0
    left = {RECEIVED: -1, OPENED: -1} if fault is None else {RECEIVED: -1, OPENED: -1, fault[0]: fault[2]}
    exchange, opened = TlsMesh.exchange, Sharing._opened

    def faulty_exchange(self: TlsMesh, outgoing: Any, expected: Any) -> dict[int, bytes]:
        nonlocal received_rounds
        received = exchange(self, outgoing, expected)
        if received:
            received_rounds += 1
            if left[RECEIVED] == 0:
                (folder / "flipped").touch()
                peer = sorted(received)[bit % len(received)]
                received[peer] = flipped(received[peer], bit)
            left[RECEIVED] -= 1
        return received

    def faulty_opened(self: Sharing, shares: Any) -> Any:
        if left[OPENED] == 0:
            (folder / "flipped").touch()
            shares = np.frombuffer(flipped(shares.tobytes(), bit), dtype=shares.dtype).reshape(shares.shape)
        left[OPENED] -= 1
        return opened(self, shares)

    TlsMesh.exchange = faulty_exchange  # type: ignore[method-assign]
    Sharing._opened = faulty_opened  # type: ignore[method-assign]
    try:
        place = {"out": folder / f"out-{owner}", "ledger": folder / f"{owner}.db"}
        join(agreement, party=owner, data=folder / f"{owner}.csv", **place)  # type: ignore[arg-type]
        # Without the last round: a party that sees a difference there has nothing left to stop.
        (folder / f"{owner}.rounds").write_text(str(received_rounds - 1))
    except ScumbleError as error:
        code = error.exit_code
    except BaseException:  # noqa: BLE001 - the process ends here
        traceback.print_exc()
        code = 70
    os._exit(code)


def flipped(message: bytes, bit: int) -> bytes:
    place = bit % (8 * len(message))
    changed = bytearray(message)
    changed[place // 8] ^= 1 << place % 8
    return bytes(changed)


def contents(folder: Path) -> str:
    """A hash of what a release publishes, without the receipt."""
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.name not in ("release.json", "report.html"):
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


if __name__ == "__main__":
    sys.exit(main())
