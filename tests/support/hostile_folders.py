"""Release folders, models and noise models that were changed by someone hostile, with hashes that fit again."""

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import scumble
from scumble.errors import ScumbleError
from scumble.files.release_folder import manifest_hash, manifest_text

Change = Callable[[Path], None]
DEEP = "[" * 100_000 + "]" * 100_000
LONG_NUMBER = "9" * 5000


def reseal(folder: Path) -> None:
    """State the files of a folder, as they are, in release.json, and seal it again."""
    if not (folder / "release.json").is_file():
        return
    manifest = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    manifest["files"] = {path.name: _hash(path) for path in sorted(folder.iterdir()) if path.name != "release.json"}
    manifest["sizes"] = {name: (folder / name).stat().st_size for name in manifest["files"] if (folder / name).exists()}
    (folder / "release.json").write_text(manifest_text(manifest), encoding="utf-8")
    seal(folder)


def seal(folder: Path) -> None:
    """Let the seal of release.json fit its entries."""
    manifest = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    del manifest["seal"]
    (folder / "release.json").write_text(manifest_text({**manifest, "seal": manifest_hash(manifest)}), encoding="utf-8")


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "0" * 64


def stated(*place: str | int, value: Any) -> Change:
    """Another value at a place of release.json."""
    return in_document("release.json", *place, value=value)


def in_document(name: str, *place: str | int, value: Any) -> Change:
    """Another value at a place of a JSON file."""

    def change(folder: Path) -> None:
        document = json.loads((folder / name).read_text(encoding="utf-8"))
        inner = document
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = value
        (folder / name).write_text(manifest_text(document), encoding="utf-8")

    return change


def text(name: str, content: str) -> Change:
    """Another content of a file."""

    def change(folder: Path) -> None:
        (folder / name).write_text(content, encoding="utf-8")

    return change


def edited(name: str, old: str, new: str) -> Change:
    """One part of a file replaced."""

    def change(folder: Path) -> None:
        content = (folder / name).read_text(encoding="utf-8")
        assert old in content, content
        (folder / name).write_text(content.replace(old, new), encoding="utf-8")

    return change


def linked(name: str, target: str) -> Change:
    """A symbolic link in place of a file."""

    def change(folder: Path) -> None:
        (folder / name).unlink()
        (folder / name).symlink_to(target)

    return change


def pipe(name: str) -> Change:
    """A pipe that nobody writes to, in place of a file."""

    def change(folder: Path) -> None:
        (folder / name).unlink()
        os.mkfifo(folder / name)

    return change


def alias_bomb(levels: int = 11) -> str:
    """YAML of a few lines that means 9^levels values."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, levels)]
    return "\n".join(lines) + "\n"


def use(folder: Path, out: Path) -> None:
    """Do with a release folder what receivers do: load and show it, ask questions, and export its table.

    A hostile folder may be refused at every step, with a `ScumbleError`, and the first one is raised in the end.
    """
    problems: list[ScumbleError] = []

    def attempt(step: Callable[[], object]) -> Any:
        try:
            return step()
        except ScumbleError as error:
            problems.append(error)
            return None

    release = attempt(lambda: scumble.load_release(folder))
    if release is None:
        raise problems[0]
    assert repr(release)
    assert str(release)
    attempt(lambda: scumble.query(release))
    first = release.schema.names[0]
    attempt(lambda: scumble.query(release, by=first))
    attempt(lambda: scumble.query(release, mean=first))
    for ending in ("csv", "parquet"):
        attempt(lambda ending=ending: _exported(folder, out / f"out.{ending}"))
    if problems:
        raise problems[0]


def _exported(folder: Path, out: Path) -> None:
    scumble.export(folder, out)
    out.unlink()
