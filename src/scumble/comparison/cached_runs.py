"""Runs independent pieces of a long experiment in parallel and caches each result, so that no piece runs twice.

A result is a JSON file named by the hash of everything it depends on. An interrupted experiment therefore resumes where
it stopped.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

from scumble.flows.progress import Progress
from scumble.foreign.documents import read_json

T = TypeVar("T")
Compute = Callable[[Mapping[str, Any]], Mapping[str, Any]]


def kept_path(cache: Path, facts: Mapping[str, Any]) -> Path:
    """The file for a result that depends on these facts and on nothing else."""
    key = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
    return cache / "outcomes" / key[:2] / f"{key[:24]}.json"


def keep(path: Path, result: Mapping[str, Any]) -> None:
    """Write a result atomically: an interrupted run leaves either the whole file or none."""
    text = json.dumps(result, indent=1)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f".{hashlib.sha256(text.encode()).hexdigest()[:8]}.unfinished")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)


def recall(path: Path) -> dict[str, Any] | None:
    """A cached result, or None."""
    try:
        return dict(read_json(path, finite=False))
    except FileNotFoundError:
        return None


def run_all(pieces: Sequence[Callable[[], T]], jobs: int) -> Iterator[T]:
    """Yield results in the order of completion. Closing the iterator cancels every piece that has not started."""
    if jobs <= 1 or len(pieces) <= 1:
        yield from (piece() for piece in pieces)
        return
    # Spawned, not forked: a forked process could inherit a lock whose owning thread it does not have.
    with ProcessPoolExecutor(min(jobs, len(pieces)), mp_context=get_context("spawn")) as pool:
        try:
            for done in as_completed([pool.submit(piece) for piece in pieces]):
                yield done.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def run_cached(
    facts: Sequence[Mapping[str, Any]], compute: Compute, *, cache: Path, jobs: int, progress: Progress, label: str
) -> list[dict[str, Any]]:
    """The result of `compute` for each set of facts, in the given order. Only results that are not cached are computed.

    `compute` is called in other processes, so it must be a module-level function and must depend on its facts alone.
    """
    paths = [kept_path(cache, each) for each in facts]
    known = [recall(path) for path in paths]
    missing = [place for place, result in enumerate(known) if result is None]
    pieces = [partial(_compute_and_keep, compute, facts[place], paths[place]) for place in missing]
    for done, _ in enumerate(run_all(pieces, jobs), start=1):
        progress(label, done, len(pieces))
    return [recall(path) or {} if result is None else result for path, result in zip(paths, known, strict=True)]


def _compute_and_keep(compute: Compute, facts: Mapping[str, Any], path: Path) -> None:
    keep(path, compute(facts))
