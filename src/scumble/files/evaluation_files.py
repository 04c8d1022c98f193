"""Writes an evaluation for the data owner: evaluation.json and evaluation.html, never in a release folder."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scumble.errors import InputError
from scumble.files.report.evaluation import evaluation_page
from scumble.model.release import Release


def refuse_release_folder(out: Path, release: Path | None = None, *, what: str = "An evaluation") -> None:
    """Refuse to write what may be computed from raw rows into a release folder, which is published."""
    here = out.resolve()
    for folder in (here, *here.parents):
        if (release is not None and folder == release.resolve()) or (folder / "release.json").exists():
            raise InputError(
                f"{out} is in the release folder {folder}, which is for publication. {what} is computed from "
                "raw rows without noise. Choose a folder elsewhere for it."
            )


def write_evaluation(result: Mapping[str, Any], release: Release, out: Path) -> None:
    """Write both files; those of an earlier evaluation are replaced."""
    page = evaluation_page(result, method=release.method, guarantee=release.plan.guarantee.sentence)
    out.mkdir(parents=True, exist_ok=True)
    (out / "evaluation.json").write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (out / "evaluation.html").write_text(page, encoding="utf-8")
