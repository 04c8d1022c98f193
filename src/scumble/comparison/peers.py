"""Runs methods of other projects (peers), each in its own Python environment. See `benchmarks/peers`.

A peer receives the training rows as codes of the public schema, so it has the same grids and categories as scumble's
methods. Each peer has a second entry, such as `aim-20`, that receives at most twenty public bins of each attribute. A
fit takes minutes, so it is cached by rows, bins, budget, seed and pinned packages.
"""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from scumble.errors import InputError, ScumbleError
from scumble.foreign.files import read_bytes
from scumble.model.budget import parse_budget
from scumble.model.counts import Integers
from scumble.model.public_bins import USUAL_BINS, Bins, public_bins
from scumble.model.schema import Schema
from scumble.privacy.noise import simulation
from scumble.settings import setting

if TYPE_CHECKING:
    from scumble.comparison.trials import CodedTable

DELTA = "1e-5"
"""The usual delta of the peers' (eps, delta) guarantee: their own default."""
USUAL_FOLDER = Path("benchmarks", "peers")


@dataclass(frozen=True, kw_only=True)
class Peer:
    """A method of another package. If it trains a model instead of making a table, it is its own only classifier."""

    method: str
    environment: str
    summary: str
    promise: str
    """Its guarantee, with a placeholder for delta if it has one."""
    makes_table: bool = True
    most_classes: int | None = None
    """The largest number of classes that it can predict; None: any."""
    most_bins: int | None = None
    """The largest number of bins of an attribute that it receives; None: all codes of the public schema."""
    delta: str = DELTA
    iterations: int | None = None
    """Iterations of inference; None: the package's default."""
    adjustable: tuple[str, ...] = ()
    """Which of the last two can be set."""

    @property
    def name(self) -> str:
        return self.method if self.most_bins is None else f"{self.method}-{self.most_bins}"

    @property
    def guarantee(self) -> str:
        return self.promise.format(delta=self.delta)


_METHODS = (
    Peer(
        method="aim",
        environment="dpmm",
        summary="AIM (McKenna et al. 2022), dpmm's, default iterations",
        promise="(eps, {delta}) under add-remove",
        adjustable=("delta", "iterations"),
    ),
    Peer(
        method="mst",
        environment="dpmm",
        summary="MST (McKenna et al. 2021), dpmm's, default iterations",
        promise="(eps, {delta}) under add-remove",
        adjustable=("delta", "iterations"),
    ),
    Peer(
        method="logistic",
        environment="diffprivlib",
        summary="logistic regression, diffprivlib's: a model, not a table",
        promise="eps under replace",
        makes_table=False,
    ),
    Peer(
        method="dpebm",
        environment="interpret",
        summary="DP-EBM (Nori et al. 2021), interpret's, default rounds: a model, not a table",
        promise="(eps, {delta}) under add-remove; the number of rows and the categories that occur count as public",
        adjustable=("delta",),
        makes_table=False,
        most_classes=2,
    ),
)
PEERS: Mapping[str, Peer] = {
    peer.name: peer for method in _METHODS for peer in (method, replace(method, most_bins=USUAL_BINS))
}
"""Every peer on the full public grids, and on at most twenty public bins of each attribute."""


def peer_named(text: str) -> Peer | None:
    """The peer of a name, with settings if they follow it; None if it is not the name of a peer.

    >>> peer_named("aim-20:delta=1e-9,iterations=100").guarantee
    '(eps, 1e-9) under add-remove'
    """
    name, _, settings = text.partition(":")
    if name not in PEERS:
        return None
    peer, given = PEERS[name], dict(pair.split("=", 1) for pair in settings.split(",") if "=" in pair)
    unknown = [key for key in given if key not in peer.adjustable]
    if unknown or (settings and len(given) < len(settings.split(","))):
        wrong = repr(unknown[0]) if unknown else repr(settings)
        known = ", ".join(f"{key}=VALUE" for key in peer.adjustable) or "nothing"
        raise InputError(f"The peer {name} cannot be given {wrong}. It can be given {known}.")
    if "iterations" in given and not (given["iterations"].isdecimal() and int(given["iterations"])):
        raise InputError(f"iterations={given['iterations']} is not a positive whole number. Give one, such as 1000.")
    if "delta" in given:
        parse_budget(given["delta"], name="delta")
    iterations = int(given["iterations"]) if "iterations" in given else None
    return replace(peer, delta=given.get("delta", peer.delta), iterations=iterations)


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """The result of a fit: synthetic rows with the class last, or class probabilities for the test rows."""

    rows: Integers | None
    probabilities: npt.NDArray[np.float64] | None
    cpu_seconds: float


def peers_folder() -> Path:
    return Path(setting("peers") or USUAL_FOLDER).absolute()


def unavailable_reason(peer: Peer) -> str | None:
    """Why a peer cannot run here and what to do about it; None if it can."""
    folder = peers_folder()
    if not (folder / "fit.py").exists():
        return (
            f"{peer.name}: {folder / 'fit.py'} does not exist. Run from a clone of the repository, or set "
            "SCUMBLE_PEERS to the path of its benchmarks/peers folder."
        )
    if not _interpreter(peer).exists():
        return f"{peer.name}: {peer.environment} is not installed. Run `{folder / 'install.py'} {peer.environment}`."
    return None


def unsuited_reason(peer: Peer, schema: Schema) -> str | None:
    """Why a peer cannot run on tables of a schema; None if it can."""
    classes = len(schema.classes)
    if peer.most_classes is None or classes <= peer.most_classes:
        return None
    return (
        f"{peer.name} predicts at most {peer.most_classes} classes, and {schema.target!r} has {classes}. "
        "Compare it on tables with fewer classes."
    )


def fit(peer: Peer, train: "CodedTable", test: "CodedTable", *, epsilon: str, seed: int, cache: Path) -> Fitted:
    """One fit, read from the cache if it was done before. Synthetic rows have codes of the full public grids."""
    bins = bins_of_schema(train.schema, peer)
    job = _job(train, test, bins)
    kept = _kept(peer, job, epsilon, seed, cache)
    if not kept.exists():
        problem = unsuited_reason(peer, train.schema) or unavailable_reason(peer)
        if problem:
            raise InputError(problem)
        cache.mkdir(parents=True, exist_ok=True)
        _run(peer, job, epsilon, seed, kept)
    with np.load(kept) as file:
        rows = file.get("rows")
        return Fitted(
            rows=None if rows is None else _drawn_codes(rows, bins, seed),
            probabilities=file.get("probabilities"),
            cpu_seconds=float(file["cpu_seconds"]),
        )


def is_fitted(peer: Peer, train: "CodedTable", test: "CodedTable", *, epsilon: str, seed: int, cache: Path) -> bool:
    """Whether a fit is in the cache."""
    return _kept(peer, _job(train, test, bins_of_schema(train.schema, peer)), epsilon, seed, cache).exists()


def bins_of_schema(schema: Schema, peer: Peer) -> tuple[Bins, ...]:
    """The bins that a peer receives, predictors first and the class last, which always keeps its labels."""
    return (
        *(public_bins(attribute, peer.most_bins) for attribute in schema.predictors),
        public_bins(schema[str(schema.target)], None),
    )


def _job(train: "CodedTable", test: "CodedTable", bins: tuple[Bins, ...]) -> dict[str, Integers]:
    """The input of `fit.py`: rows in bins, the number of bins of each column, and whether their order has a meaning."""
    attributes = [*train.schema.predictors, train.schema[str(train.schema.target)]]
    return {
        "train": _in_bins(train, bins),
        "test": _in_bins(test, bins),
        "sizes": np.array([each.number for each in bins], dtype=np.int64),
        "in_order": np.array([attribute.in_order for attribute in attributes], dtype=np.int64),
    }


def _in_bins(table: "CodedTable", bins: tuple[Bins, ...]) -> Integers:
    sample = table.sample(table.schema)
    codes = (*sample.codes.T, sample.labels)
    return np.stack([each.bins_of(column) for each, column in zip(bins, codes, strict=True)], axis=1)


def _drawn_codes(rows: Integers, bins: tuple[Bins, ...], seed: int) -> Integers:
    draw = simulation(seed)
    return np.stack([each.draw_codes(column, draw) for each, column in zip(bins, rows.T, strict=True)], axis=1)


def _run(peer: Peer, job: Mapping[str, Integers], epsilon: str, seed: int, kept: Path) -> None:
    settings = {
        "peer": peer.method,
        "epsilon": float(parse_budget(epsilon)),
        "delta": float(parse_budget(peer.delta, name="delta")),
        "seed": seed,
        **({} if peer.iterations is None else {"iterations": peer.iterations}),
    }
    # One thread each: several fits run in parallel, and threads that spin while they wait would count as CPU time.
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with TemporaryDirectory(dir=kept.parent) as folder:
        source, result = Path(folder, "job.npz"), Path(folder, "result.npz")
        np.savez_compressed(source, train=job["train"], test=job["test"], sizes=job["sizes"], in_order=job["in_order"])
        script = peers_folder() / "fit.py"
        command = [str(each) for each in (_interpreter(peer), script, source, result, json.dumps(settings))]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            last = "\n".join(done.stderr.strip().splitlines()[-3:])
            raise ScumbleError(f"The peer {peer.name} failed at eps {epsilon}, split {seed}: {last}")
        result.replace(kept)


def _interpreter(peer: Peer) -> Path:
    place = ("Scripts", "python.exe") if sys.platform == "win32" else ("bin", "python")
    return peers_folder().joinpath(".venv", peer.environment, *place)


def _kept(peer: Peer, job: Mapping[str, Integers], epsilon: str, seed: int, cache: Path) -> Path:
    return cache / f"{peer.name}-{_key(peer, job, epsilon, seed)}.npz"


def _key(peer: Peer, job: Mapping[str, Integers], epsilon: str, seed: int) -> str:
    pins = peers_folder() / f"requirements-{peer.environment}.txt"
    digest = hashlib.sha256(read_bytes(pins, follow_links=True) if pins.exists() else b"")
    # Without settings of its own, a peer's fits have the names that they always had.
    facts = [peer.method, epsilon, peer.delta, seed, {name: job[name].shape for name in job}]
    facts += [] if peer.iterations is None else [{"iterations": peer.iterations}]
    digest.update(json.dumps(facts).encode())
    for values in job.values():
        digest.update(values.tobytes())
    return f"eps{epsilon.replace('/', 'over')}-split{seed}-{digest.hexdigest()[:16]}"
