"""Reports of a release by audience: what anyone may read, and what only its owner may.

`public` is the report of the folder and an audit of its method on made-up tables. `board` and `technical` compare the
release with raw rows, and `technical` also attacks it. Those pages are computed from raw rows without noise: they are
marked as the owner's own and are never written into a release folder.
"""

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Any

from scumble.auditing.attacks import attack_release
from scumble.auditing.audit import audit
from scumble.auditing.report import attack_page, audit_page
from scumble.errors import InputError
from scumble.files.evaluation_files import refuse_release_folder
from scumble.files.release_folder import read_manifest
from scumble.flows.evaluate import evaluate
from scumble.flows.load import load_release
from scumble.flows.public_rows import public_schema
from scumble.flows.risk import risk
from scumble.foreign.files import inside, read_text

OWNER_ONLY = "For the owner of the data alone: computed from raw rows without noise. Do not publish."
OWNER_ONLY_AUDIT = (
    "For the owner of the data alone: part of a report from raw rows. Do not publish. This page itself was computed on "
    "made-up tables; the public report has the same audit."
)
AUDIT_RUNS = 400


class Audience(StrEnum):
    """Who reads a report."""

    PUBLIC = "public"
    BOARD = "board"
    TECHNICAL = "technical"


def write_reports(
    folder: Path,
    *,
    audience: Audience,
    out: Path,
    train: str | None = None,
    test: str | None = None,
    control: str | None = None,
    runs: int = AUDIT_RUNS,
    progress: Callable[[str, int, int | None], None] | None = None,
) -> list[Path]:
    """Write the pages for an audience into a folder outside the release. Returns their paths.

    Raises `InputError` if the folder is part of a release, or if raw rows are missing that the audience's pages need.
    """
    refuse_release_folder(out, folder)
    manifest = read_manifest(folder)
    if audience is Audience.PUBLIC:
        if (train, test, control) != (None, None, None):
            raise InputError(
                "A public report is never computed from raw rows. Leave out --train, --test and --control, or choose "
                "--audience board or technical."
            )
        return _public(folder, manifest, out, runs, progress)
    if train is None and test is None:
        raise InputError(f"The report for {audience.value} compares with raw rows. Give --train, --test or both.")
    return _private(folder, manifest, audience, out, train, test, control, runs, progress)


def _public(folder: Path, manifest: dict[str, Any], out: Path, runs: int, progress: Any) -> list[Path]:
    out.mkdir(parents=True, exist_ok=True)
    report = _written(out / "report.html", read_text(inside(folder, "report.html")))
    return [report, *_audited(manifest, out, runs, progress)]


def _private(
    folder: Path,
    manifest: dict[str, Any],
    audience: Audience,
    out: Path,
    train: str | None,
    test: str | None,
    control: str | None,
    runs: int,
    progress: Any,
) -> list[Path]:
    """The owner's pages. Each is marked as soon as it is written, before the next one is computed."""
    evaluate(folder, test=test, train=train, fidelity=True, out=out)
    pages = [_marked(out / "evaluation.html")]
    if audience is not Audience.TECHNICAL:
        return pages
    if train is not None:
        risk(train, schema=public_schema(load_release(folder)), report=out / "risk.html")
        pages.append(_marked(out / "risk.html"))
    if train is not None and control is not None:
        attacks = attack_release(folder, train=train, control=control)
        pages.append(_marked(_written(out / "attacks.html", attack_page(folder.name, attacks))))
    return [*pages, *(_marked(page, OWNER_ONLY_AUDIT) for page in _audited(manifest, out, runs, progress))]


def _marked(page: Path, notice: str = OWNER_ONLY) -> Path:
    return _written(page, marked(read_text(page), notice))


def _audited(manifest: dict[str, Any], out: Path, runs: int, progress: Any) -> list[Path]:
    """An audit of the method of a release on made-up tables; none without runs."""
    if not runs:
        return []
    parameters = {name: value for name, value in manifest["parameters"].items() if value not in (None, "auto", "all")}
    finding = audit(manifest["method"], runs=runs, variations=2, progress=progress, **parameters)
    return [_written(out / "audit.html", audit_page([finding]))]


def marked(page: str, notice: str = OWNER_ONLY) -> str:
    """A page with a line at its top that says whom it is for."""
    line = f'<p role="note"><strong>{notice}</strong></p>'
    head, body, rest = page.partition("<body>")
    return f"{head}{body}\n{line}{rest}" if body and line not in page else page


def _written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path
