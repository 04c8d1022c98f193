"""Scores and private selection on secret shares, compared with MPyC: three parties on one machine."""

import json
import os
import subprocess
import sys
import threading
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

from scumble.comparison.several_owners import joint_roles
from scumble.joint.network.mesh import LocalMesh
from scumble.joint.protocol.arithmetic import ReplicatedArithmetic
from scumble.joint.protocol.geometric_noise import geometric_law
from scumble.joint.protocol.session_keys import exchange_keys
from scumble.joint.protocol.sharing import Sharing
from scumble.privacy.noise import simulation

PEERS = Path(__file__).parent / "peers"
PARTIES, CANDIDATES, CHILDREN, CLASSES = 3, 1500, 2, 2
COUNT_BITS, BITS = 16, 24
RATE = Fraction(1, 16)
"""The rate of the noise of one selection at epsilon 1 with eight rounds."""


def section(results: Path) -> str:
    result = {"scumble": ours(), "MPyC 0.11": theirs()}
    (results / "peer.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    text = ["| | scores: CPU s | MB sent | selection: CPU s | MB sent | noise |", "|---|---|---|---|---|---|"]
    for name, each in result.items():
        figures = [
            f"{each[part]['cpu_seconds']:.3f} | {each[part]['bytes_sent'] / 1e6:.2f}" for part in ("scores", "choice")
        ]
        text.append(f"| {name} | {' | '.join(figures)} | {each['noise']} |")
    return "\n".join([*text, ""])


def theirs() -> dict[str, Any]:
    python = PEERS / ".venv" / "mpyc" / "bin" / "python"
    if not python.exists():
        sys.exit("MPyC is not installed. Run `python3 benchmarks/peers/install.py mpyc` first.")
    command = [python, PEERS / "mpyc_scores.py", str(CANDIDATES), f"-M{PARTIES}"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return {**json.loads(done.stdout.splitlines()[-1]), "noise": "one part by each party: each can subtract its own"}


def ours() -> dict[str, Any]:
    """The same with threads, mean over the parties. Bytes are those of the messages, without framing and TLS."""
    roles = joint_roles(PARTIES)
    meshes = LocalMesh.connect(PARTIES)
    law = geometric_law(RATE, 1)
    barrier = threading.Barrier(PARTIES)
    readings: list[tuple[float, float]] = []

    def take_reading() -> None:
        if barrier.wait() == 0:
            readings.append((time.process_time(), sum(mesh.bytes_sent for mesh in meshes)))
        barrier.wait()

    def party(mesh: LocalMesh) -> None:
        sharing = Sharing(roles=roles, mesh=mesh, keys=exchange_keys(roles, mesh), nonce=b"benchmark")
        arithmetic = ReplicatedArithmetic(sharing)
        counts = simulation(mesh.party).integers(0, 10_000, (CANDIDATES * CHILDREN, CLASSES))
        take_reading()
        arithmetic.begin(0)
        worths = arithmetic.majority(arithmetic.input(counts, BITS), COUNT_BITS)
        scores = worths.reshape(len(worths), CANDIDATES, CHILDREN).sum(axis=2, dtype=worths.dtype)
        take_reading()
        arithmetic.noisy_argmax(scores, law=law, bits=BITS)
        take_reading()

    threads = [threading.Thread(target=party, args=(mesh,)) for mesh in meshes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    parts = {}
    for name, before, after in zip(("scores", "choice"), readings, readings[1:], strict=False):
        cpu_seconds, sent = ((late - early) / PARTIES for early, late in zip(before, after, strict=True))
        parts[name] = {"cpu_seconds": cpu_seconds, "bytes_sent": sent}
    return {**parts, "noise": "generated jointly: no party knows it"}
