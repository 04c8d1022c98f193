"""The release folder: the files that a receiver gets. It is written completely or not at all, and can be read back.

Everything in it is public or paid for by the plan. It contains no file name of the data owner, no exact number of rows,
no duration and no seed. This module handles what all kinds of release share; `scumble.files.kinds` has the rest.
"""

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scumble.errors import BudgetError, InputError, MalformedEntry
from scumble.files.descriptions import VALUES, descriptions
from scumble.files.kinds import kind_named, kind_of
from scumble.files.kinds.kind import R, ReleaseKind
from scumble.files.report.pages import miners_page, report_page
from scumble.files.report.version import pages_version
from scumble.files.schema_file import read_published_schema, write_schema
from scumble.foreign.documents import read_json
from scumble.foreign.files import LARGEST_DOCUMENT, UnreadableFile, open_file
from scumble.model.guarantee_json import to_json
from scumble.model.plan import Plan
from scumble.model.release import Release
from scumble.model.schema import Schema
from scumble.sources.source import RowProgress

FORMAT = "release/1"


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST_TEXT


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _are_named(value: Any) -> bool:
    return isinstance(value, dict)


def _are_hashes(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_text, value.values()))


LONGEST_TEXT = 100_000
"""Characters of one text in release.json."""
LARGEST_TABLE = 1 << 33
"""Bytes of a table whose size release.json does not state: 8 GiB."""
ENTRIES: Mapping[str, Callable[[Any], bool]] = {
    "guarantee": _are_named,
    "method": _is_text,
    "parameters": _are_named,
    "kind": _is_text,
    "recommended": _is_text,
    "notes": _are_texts,
    "story": _are_texts,
    "classes": _are_texts,
    "receipt": _are_named,
    "files": _are_hashes,
}
"""The entries that all releases have, and what each must be. Every reader gets them through `read_manifest`."""


@dataclass(frozen=True, kw_only=True)
class WrittenRelease:
    """The result of `write_release`."""

    sha256: str
    """The SHA-256 of release.json, which covers all other files."""
    seal: str
    """The entry `seal` of release.json, which a signature covers."""
    recommended: str
    """The file to train on."""


def write_release(
    release: Release,
    folder: Path,
    receipt: Mapping[str, str],
    *,
    table: bool = True,
    progress: RowProgress | None = None,
) -> WrittenRelease:
    """Write all files into an existing empty folder.

    `table` says whether cells are also written out as rows; records always are. The table of perturbed records, which
    may be larger than memory, must already be in the folder.
    """
    kind = kind_of(release)
    write_schema(release.schema, folder / "schema.yaml", heading="The published, generalized domain.")
    facts = kind.write(release, folder, table=table, progress=progress)
    recommended = kind.recommended_file(release, {path.name for path in folder.iterdir()})
    (folder / "report.html").write_text(report_page(release, receipt), encoding="utf-8")
    hashes = {path.name: file_hash(path) for path in folder.iterdir()}
    described = descriptions(release, recommended, table_hashes(hashes))
    for name, text in {"README.md": miners_page(release, recommended, described), **described}.items():
        (folder / name).write_text(text, encoding="utf-8", newline="")
        hashes[name] = file_hash(folder / name)
    manifest = {
        "guarantee": {"sentence": release.plan.guarantee.sentence, **to_json(release.plan.guarantee)},
        "unit": release.plan.unit.value,
        "scumble": FORMAT,
        "method": release.method,
        "parameters": dict(release.parameters),
        **release.plan.spends_json(),
        "cells_at_most": release.plan.cells_at_most,
        "notes": list(release.plan.notes),
        "classes": list(release.schema.classes),
        "kind": kind.name,
        **facts,
        "recommended": recommended,
        "story": list(release.story),
        "pages": pages_version(),
        "receipt": dict(receipt),
        "files": dict(sorted(hashes.items())),
        "sizes": {name: (folder / name).stat().st_size for name in sorted(hashes)},
    }
    seal = manifest_hash(manifest)
    text = manifest_text({**manifest, "seal": seal})
    (folder / "release.json").write_text(text, encoding="utf-8")
    return WrittenRelease(sha256=hashlib.sha256(text.encode()).hexdigest(), seal=seal, recommended=recommended)


def table_hashes(hashes: Mapping[str, str]) -> dict[str, str]:
    """Those of the tables, which the descriptions state."""
    return {name: digest for name, digest in hashes.items() if name.endswith(".csv") and name != VALUES}


def manifest_text(manifest: Mapping[str, Any]) -> str:
    """The exact text of release.json."""
    return json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"


def manifest_hash(manifest: Mapping[str, Any]) -> str:
    """The SHA-256 of release.json without its last entry, `seal`, which contains it. It detects damage, not forgery."""
    unsealed = {name: value for name, value in manifest.items() if name != "seal"}
    return hashlib.sha256(manifest_text(unsealed).encode()).hexdigest()


def file_hash(path: Path, *, most: int | None = None) -> str:
    """The SHA-256 of a file. Raises `UnreadableFile` for one of more than `most` bytes, before it is read."""
    with open_file(path) as file:
        if most is not None and os.fstat(file.fileno()).st_size > most:
            raise UnreadableFile(f"it is larger than {most:,} bytes", path)
        return hashlib.file_digest(file, "sha256").hexdigest()


def largest_size(manifest: Mapping[str, Any], name: str) -> int:
    """The most bytes of a file of a folder: those that release.json states, or a bound where it states none, as in
    folders of earlier versions."""
    stated = manifest.get("sizes", {}).get(name)
    if stated is None:
        return LARGEST_TABLE if name.endswith(".csv") else LARGEST_DOCUMENT
    if type(stated) is not int:
        raise MalformedEntry("`sizes`", "is not a number of bytes for each file")
    return stated


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read release.json and check that this version reads its format."""
    try:
        manifest = read_json(folder / "release.json", finite=False)
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{folder} has no release.json. Give the folder that `scumble release` wrote.") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{folder / 'release.json'} cannot be read: {error}. Ask for the release again.") from error
    if not isinstance(manifest, dict) or manifest.get("scumble") != FORMAT:
        raise InputError(f"{folder / 'release.json'} does not have the format {FORMAT}. Use the version that wrote it.")
    for name, entry in ENTRIES.items():
        if not entry(manifest.get(name)):
            raise _misstated(folder, MalformedEntry(f"`{name}`", "is missing or has another form"))
    return manifest


def read_release(folder: Path) -> Release:
    """Read a release of any kind."""
    manifest = read_manifest(folder)
    return _read_as(_stated_kind(folder, manifest), folder, manifest)


def read_release_of(kind: ReleaseKind[R], folder: Path) -> R:
    """Read a release that must be of the given kind."""
    manifest = read_manifest(folder)
    found = _stated_kind(folder, manifest)
    if found is not kind:
        raise InputError(
            f"{folder} contains a release of kind {found.name!r}, not {kind.name!r}. "
            f"Read it with `{found.loader}` or `load_release`."
        )
    return _read_as(kind, folder, manifest)


def _stated_kind(folder: Path, manifest: Mapping[str, Any]) -> ReleaseKind[Any]:
    try:
        return kind_named(manifest["kind"])
    except (KeyError, ValueError) as error:
        raise _misstated(folder, error) from error


def _read_as(kind: ReleaseKind[R], folder: Path, manifest: Mapping[str, Any]) -> R:
    schema = read_published_schema(folder / "schema.yaml")
    try:
        return kind.read(folder, manifest, _common(manifest, schema))
    except (
        *(LookupError, TypeError, ValueError, AttributeError, ArithmeticError),
        *(RecursionError, MemoryError, OSError, BudgetError),
    ) as error:
        raise _misstated(folder, error) from error


def _misstated(folder: Path, error: Exception) -> InputError:
    problem = error if isinstance(error, MalformedEntry) else f"an entry is missing or wrong ({error!r})"
    return InputError(f"{folder / 'release.json'} does not describe a complete release: {problem}. Ask for it again.")


def _common(manifest: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """The fields of `Release`, which all kinds have."""
    return {
        "method": manifest["method"],
        "parameters": manifest["parameters"],
        "plan": Plan.from_json(manifest),
        "schema": schema,
        "story": tuple(manifest["story"]),
    }
