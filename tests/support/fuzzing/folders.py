"""Targets of whole folders and databases: release folders, whose hashes fit again, and ledgers."""

import base64
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from hostile_folders import reseal, use

import scumble
from fuzzing import mutation
from fuzzing.target import Run, Target
from scumble.privacy.ledger import Ledger

KINDS = ("cells", "cells-signed", "tables", "records", "averages", "groups", "perturbed", "perturbed-local")


def _case(**parts: Any) -> bytes:
    return json.dumps(parts).encode()


def _changed_folder(made: Path) -> Callable[[Random, bytes], bytes]:
    """An input names a release folder and the new contents of some of its files."""

    def change(random: Random, data: bytes) -> bytes:
        try:
            case = json.loads(data)
            kind, files = case["kind"], dict(case["files"])
        except (ValueError, KeyError, TypeError):
            kind, files = random.choice(KINDS), {}
        names = sorted(path.name for path in (made / kind).iterdir())
        for _ in range(random.choice((1, 1, 2))):
            name = random.choice(names)
            before = base64.b64decode(files[name]) if name in files else (made / kind / name).read_bytes()
            after = (mutation.json_or_text if name.endswith(".json") else mutation.text)(random, before)
            files[name] = base64.b64encode(after).decode()
        return _case(kind=kind, files=files, reseal=random.random() < 0.8)

    return change


def _read_folder(made: Path) -> Callable[[], Run]:
    def prepare() -> Run:
        kept = Path("kept").absolute()
        shutil.copytree(made, kept)

        def run(data: bytes) -> None:
            case = json.loads(data)
            folder = kept / case["kind"]
            changed = {folder / name: base64.b64decode(content) for name, content in case["files"].items()}
            before = {path: path.read_bytes() for path in {*changed, folder / "release.json"}}
            try:
                for path, content in changed.items():
                    path.write_bytes(content)
                if case["reseal"]:
                    _reseal(folder)
                _both(folder, kept)
            finally:
                for path, content in before.items():
                    path.write_bytes(content)

        return run

    return prepare


def _reseal(folder: Path) -> None:
    """Let hashes and seal fit, if release.json is still one that states them."""
    try:
        reseal(folder)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return


def _both(folder: Path, out: Path) -> None:
    """Use a folder without verifying it, verify it, and raise the first error of the two."""
    problem: scumble.ScumbleError | None = None
    try:
        use(folder, out)
    except scumble.ScumbleError as error:
        problem = error
    scumble.verify(folder)
    if problem is not None:
        raise problem


def _changed_ledger(random: Random, data: bytes) -> bytes:
    """Change bytes of one of the ledger's files; sometimes copy a part of it elsewhere, as a torn write does."""
    case = json.loads(data)
    name = random.choice(sorted(case))
    content = base64.b64decode(case[name])
    if random.random() < 0.5 and len(content) > 8192:
        page = random.randrange(len(content) // 512) * 512
        other = random.randrange(len(content) // 512) * 512
        content = content[:page] + content[other : other + 512] + content[page + 512 :]
    elif random.random() < 0.5:
        content = mutation.document(random, content) if content[:1] == b"{" else _changed_text(random, content)
    else:
        content = mutation.changed_bytes(random, content)
    return json.dumps({**case, name: base64.b64encode(content).decode()}).encode()


def _changed_text(random: Random, content: bytes) -> bytes:
    """Change a few characters inside a text of the database without moving any other byte."""
    changed = bytearray(content)
    places = [place for place, byte in enumerate(content) if 32 < byte < 127]
    for _ in range(random.randrange(1, 5)):
        if places:
            changed[random.choice(places)] = random.choice(b'09aez{}[]":,-. \x00\xff')
    return bytes(changed)


def _read_ledger() -> Run:
    folder = Path("ledgers").absolute()
    os.environ["SCUMBLE_WITNESS"] = str(folder / "witness.db")  # one of the files that are changed

    def run(data: bytes) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name, content in json.loads(data).items():
            (folder / name).write_bytes(base64.b64decode(content))
            (folder / name).chmod(0o600)
        with Ledger.open(folder / "ledger.db", busy_seconds=0.1) as opened:
            opened.verify()
            opened.datasets()

    return run


def folder_targets(made: Path) -> Iterator[Target]:
    """The targets, with seeds from a folder that `fuzzing.seeds` made."""
    yield Target(
        name="folder",
        reads="release folders of all kinds: load, show, query, export and verify",
        seeds=[_case(kind=kind, files={}, reseal=False) for kind in KINDS],
        mutate=_changed_folder(made),
        prepare=_read_folder(made),
        long_run=100_000,
        spliced=False,
    )
    places = (*(made / "ledger").iterdir(), *(made / "data" / "scumble").glob("witness.db"))
    files = {path.name: path.read_bytes() for path in places if path.is_file()}
    yield Target(
        name="ledger",
        reads="ledger, its key and its witness: open, replay, show",
        seeds=[_case(**{name: base64.b64encode(content).decode() for name, content in files.items()})],
        mutate=_changed_ledger,
        prepare=_read_ledger,
        long_run=100_000,
        spliced=False,
    )
