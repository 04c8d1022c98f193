"""Long work in pieces: run side by side, each outcome kept in a file of its own, so that nothing is done twice."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


def kept_path(cache: Path, facts: Mapping[str, Any]) -> Path:
    """Where an outcome is kept that depends on these facts and on nothing else."""
    key = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
    return cache / "outcomes" / key[:2] / f"{key[:24]}.json"


def keep(path: Path, outcome: Mapping[str, Any]) -> None:
    """Write an outcome, whole or not at all, however the run ends."""
    text = json.dumps(outcome, indent=1)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f".{hashlib.sha256(text.encode()).hexdigest()[:8]}.unfinished")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)


def recall(path: Path) -> dict[str, Any] | None:
    """A kept outcome, or None."""
    try:
        return dict(json.loads(path.read_text("utf-8")))
    except FileNotFoundError:
        return None


def run_all(pieces: Sequence[Callable[[], T]], jobs: int) -> Iterator[T]:
    """The results in the order they are done. What has not begun when somebody stops listening never begins."""
    if jobs <= 1 or len(pieces) <= 1:
        yield from (piece() for piece in pieces)
        return
    # Fresh processes: a copy of this one could inherit a lock that no thread is left to open.
    with ProcessPoolExecutor(min(jobs, len(pieces)), mp_context=get_context("spawn")) as pool:
        try:
            for done in as_completed([pool.submit(piece) for piece in pieces]):
                yield done.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
