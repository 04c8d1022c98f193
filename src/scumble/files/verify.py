"""Checks of a release folder without the private data: hashes, arithmetic, totals, and that its tables agree.

The checks here are common to all releases; each kind of release adds its own (`scumble.files.kinds`).
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from scumble.errors import CheckError, InputError
from scumble.files.kinds import kind_of
from scumble.files.release_folder import (
    file_hash,
    largest_size,
    manifest_hash,
    manifest_text,
    read_manifest,
    read_release,
)
from scumble.files.signature import SIGNATURE
from scumble.foreign.files import LARGEST_DOCUMENT, inside, read_text
from scumble.model.guarantee import ApproxDP, IntervalPrivacy, JointDP, LocalDP
from scumble.model.release import Release


def verify_folder(folder: Path) -> list[str]:
    """Run all checks and return a sentence for each. Raises `CheckError` at the first that fails."""
    return read_and_verify(folder)[0]


def read_and_verify(folder: Path) -> tuple[list[str], Release]:
    """The same, and the release, for further checks of what was read: its files are not read again."""
    if not (folder / "release.json").is_file():
        raise InputError(f"{folder} has no release.json. Give the folder that `scumble release` wrote.")
    try:
        manifest = read_manifest(folder)
        hashes = list(_check_hashes(folder, manifest))
        release = read_release(folder)
        return [*hashes, *_check_contents(folder, manifest, release)], release
    except (InputError, LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        raise CheckError(f"The folder does not contain a complete release: {error} Do not trust it.") from error
    except OSError as error:
        place = error.filename or folder
        raise CheckError(f"{place} cannot be read: {error.strerror or error}. Do not trust this folder.") from error
    except MemoryError as error:
        raise CheckError(f"{folder} needs more memory than this machine has. Do not trust this folder.") from error


def _check_hashes(folder: Path, manifest: Mapping[str, Any]) -> Iterator[str]:
    text = read_text(folder / "release.json", most=LARGEST_DOCUMENT)
    if text != manifest_text(manifest) or manifest["seal"] != manifest_hash(manifest):
        raise CheckError("release.json was changed: its `seal` is not its SHA-256. Do not trust this folder.")
    yield "release.json has the stated SHA-256"
    stated = manifest["files"]
    present = {path.name for path in folder.iterdir()} - {"release.json", SIGNATURE}
    if present != set(stated):
        odd = ", ".join(sorted(present ^ set(stated)))
        raise CheckError(f"The files of the folder differ from those in release.json: {odd}. Do not trust this folder.")
    sizes = manifest.get("sizes", stated)  # earlier versions stated none
    if not isinstance(sizes, dict) or set(sizes) != set(stated):
        raise CheckError("release.json does not state the size of each file. Do not trust this folder.")
    for name, digest in stated.items():
        if file_hash(inside(folder, name), most=largest_size(manifest, name)) != digest:
            raise CheckError(
                f"{name} was changed: its SHA-256 is not the one in release.json. Do not trust this folder."
            )
    yield f"{len(stated)} files have the stated SHA-256"


def _check_contents(folder: Path, manifest: Mapping[str, Any], release: Release) -> Iterator[str]:
    if isinstance(release.plan.guarantee, ApproxDP):
        yield "the rhos of the spends stay within what epsilon and delta allow"
    else:
        yield "the spends add up to the guarantee exactly"
    for division in release.plan.divisions:
        yield f"the parts of {division.whole.label!r} add up to what was reserved for it"
    guarantee, unit = release.plan.guarantee, release.plan.unit
    known = {guarantee.sentence}
    if isinstance(guarantee, LocalDP | IntervalPrivacy | JointDP):
        known.update(guarantee.earlier_sentences)
    if manifest["guarantee"]["sentence"] not in known or (manifest["unit"], release.schema.unit) != (unit, unit):
        raise CheckError("The guarantee's sentence, numbers and unit do not agree. Do not trust this folder.")
    yield "the sentence of the guarantee agrees with its numbers"
    kind = kind_of(release)
    if manifest["recommended"] != kind.recommended_file(release, manifest["files"]):
        raise CheckError(
            "release.json does not recommend the table that this kind of release recommends. Do not trust this folder."
        )
    if manifest["classes"] != list(release.schema.classes):
        raise CheckError("release.json and schema.yaml list different classes. Do not trust this folder.")
    yield from kind.verify(folder, manifest, release)
