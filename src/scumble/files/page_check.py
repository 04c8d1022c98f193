"""Checks that report.html, README.md and the descriptions are what scumble renders from the data of the folder.

Readers trust these pages more than JSON. Whoever can compute hashes can also write another page; this check finds it,
if the folder was written by the installed version. Otherwise it says that the pages were not compared.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import TemplateError

from scumble.errors import CheckError
from scumble.files.descriptions import descriptions
from scumble.files.kinds import kind_of
from scumble.files.release_folder import read_manifest, read_release, table_hashes
from scumble.files.report.pages import miners_page, report_page
from scumble.files.report.version import pages_version
from scumble.foreign.files import LARGEST_DOCUMENT, read_text
from scumble.model.release import Release

NOT_CHECKED = "not checked: "
"""How a sentence begins that states what could not be checked."""


def check_pages(folder: Path, read: Release | None = None) -> list[str]:
    """Compare the pages of a folder that is otherwise sound. Returns one sentence; raises `CheckError`.

    `read` is its release, if it was read already.
    """
    manifest, release = read_manifest(folder), read_release(folder) if read is None else read
    if manifest.get("pages") != pages_version():
        return [f"{NOT_CHECKED}report.html and README.md, which another version of scumble wrote"]
    if not kind_of(release).has_all_rows(manifest["files"]):
        return [f"{NOT_CHECKED}report.html and README.md, which describe rows that the folder does not contain"]
    try:
        for name, page in rendered(release, manifest).items():
            if read_text(folder / name, most=LARGEST_DOCUMENT) != page:
                raise CheckError(f"{name} does not say what the data of the folder say. Do not trust this folder.")
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, OSError, TemplateError) as error:
        raise CheckError(f"The pages of the folder cannot be compared: {error!r}. Do not trust this folder.") from error
    return ["report.html and README.md say what the data of the folder say"]


def rendered(release: Release, manifest: Mapping[str, Any]) -> dict[str, str]:
    """The pages and descriptions that the installed version writes for a release, by the name of the file."""
    recommended = manifest["recommended"]
    described = descriptions(release, recommended, table_hashes(manifest["files"]))
    return {
        "report.html": report_page(release, manifest["receipt"]),
        "README.md": miners_page(release, recommended, described),
        **described,
    }
