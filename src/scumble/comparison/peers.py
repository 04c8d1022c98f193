"""Runs methods of other projects (peers), each in its own Python environment. See `benchmarks/peers`.

A peer receives the training rows as codes of the public schema, so it has the same grids and categories as scumble's
methods. A fit takes minutes, so it is cached by rows, budget, seed and pinned packages.
"""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from scumble.errors import InputError, ScumbleError
from scumble.model.budget import parse_budget
from scumble.model.counts import Integers

if TYPE_CHECKING:
    from scumble.comparison.trials import CodedTable

DELTA = "1e-5"
"""The delta of the peers' (eps, delta) guarantee: their own default. scumble's releases have no delta."""
FOLDER_SETTING = "SCUMBLE_PEERS"
USUAL_FOLDER = Path("benchmarks", "peers")


@dataclass(frozen=True, kw_only=True)
class Peer:
    """A method of another package. If it trains a model instead of making a table, it is its own only classifier."""

    name: str
    environment: str
    summary: str
    guarantee: str
    makes_table: bool = True


PEERS: Mapping[str, Peer] = {
    peer.name: peer
    for peer in (
        Peer(
            name="aim",
            environment="dpmm",
            summary="AIM (McKenna et al. 2022), dpmm's, default iterations",
            guarantee=f"(eps, {DELTA}) under add-remove",
        ),
        Peer(
            name="mst",
            environment="dpmm",
            summary="MST (McKenna et al. 2021), dpmm's, default iterations",
            guarantee=f"(eps, {DELTA}) under add-remove",
        ),
        Peer(
            name="logistic",
            environment="diffprivlib",
            summary="logistic regression, diffprivlib's: a model, not a table",
            guarantee="eps under replace",
            makes_table=False,
        ),
    )
}


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """The result of a fit: synthetic rows with the class last, or class probabilities for the test rows."""

    rows: Integers | None
    probabilities: npt.NDArray[np.float64] | None
    cpu_seconds: float


def peers_folder() -> Path:
    return Path(os.environ.get(FOLDER_SETTING) or USUAL_FOLDER).absolute()


def unavailable_reason(peer: Peer) -> str | None:
    """Why a peer cannot run here and what to do about it; None if it can."""
    folder = peers_folder()
    if not (folder / "fit.py").exists():
        return (
            f"{peer.name}: {folder / 'fit.py'} does not exist. Run from a clone of the repository, or set "
            f"{FOLDER_SETTING} to the path of its benchmarks/peers folder."
        )
    if not _interpreter(peer).exists():
        return f"{peer.name}: {peer.environment} is not installed. Run `{folder / 'install.py'} {peer.environment}`."
    return None


def fit(peer: Peer, train: "CodedTable", test: "CodedTable", *, epsilon: str, seed: int, cache: Path) -> Fitted:
    """One fit, read from the cache if it was done before."""
    kept = cache / f"{peer.name}-{_key(peer, train, test, epsilon, seed)}.npz"
    if not kept.exists():
        problem = unavailable_reason(peer)
        if problem:
            raise InputError(problem)
        cache.mkdir(parents=True, exist_ok=True)
        _run(peer, train, test, epsilon, seed, kept)
    with np.load(kept) as file:
        return Fitted(
            rows=file.get("rows"),
            probabilities=file.get("probabilities"),
            cpu_seconds=float(file["cpu_seconds"]),
        )


def _run(peer: Peer, train: "CodedTable", test: "CodedTable", epsilon: str, seed: int, kept: Path) -> None:
    settings = {
        "peer": peer.name,
        "epsilon": float(parse_budget(epsilon)),
        "delta": float(parse_budget(DELTA, name="delta")),
        "seed": seed,
    }
    attributes = [*train.schema.predictors, train.schema[str(train.schema.target)]]
    # One thread each: several fits run in parallel, and threads that spin while they wait would count as CPU time.
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with TemporaryDirectory(dir=kept.parent) as folder:
        job, result = Path(folder, "job.npz"), Path(folder, "result.npz")
        np.savez_compressed(
            job,
            train=_with_class_last(train),
            test=_with_class_last(test),
            sizes=np.array([attribute.domain.size for attribute in attributes]),
        )
        script = peers_folder() / "fit.py"
        command = [str(each) for each in (_interpreter(peer), script, job, result, json.dumps(settings))]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            last = "\n".join(done.stderr.strip().splitlines()[-3:])
            raise ScumbleError(f"The peer {peer.name} failed at eps {epsilon}, split {seed}: {last}")
        result.replace(kept)


def _with_class_last(table: "CodedTable") -> Integers:
    sample = table.sample(table.schema)
    return np.concatenate([sample.codes, sample.labels[:, np.newaxis]], axis=1).astype(np.int64)


def _interpreter(peer: Peer) -> Path:
    place = ("Scripts", "python.exe") if sys.platform == "win32" else ("bin", "python")
    return peers_folder().joinpath(".venv", peer.environment, *place)


def _key(peer: Peer, train: "CodedTable", test: "CodedTable", epsilon: str, seed: int) -> str:
    pins = peers_folder() / f"requirements-{peer.environment}.txt"
    digest = hashlib.sha256(pins.read_bytes() if pins.exists() else b"")
    digest.update(json.dumps([peer.name, epsilon, DELTA, seed]).encode())
    for table in (train, test):
        digest.update(_with_class_last(table).tobytes())
    return f"eps{epsilon.replace('/', 'over')}-split{seed}-{digest.hexdigest()[:16]}"
