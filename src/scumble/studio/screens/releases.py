"""Releases: the cut as trees and intervals, the rounds, the cells, the margins, questions, and the folder as a zip."""

import base64
import hashlib
import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse

from scumble.errors import InputError, ScumbleError
from scumble.files.release_folder import read_manifest
from scumble.files.schema_file import read_published_schema
from scumble.foreign.files import inside, open_file, read_text
from scumble.model.grid import Grid
from scumble.model.plan import Plan
from scumble.model.schema import Attribute
from scumble.studio.commands import line
from scumble.studio.pages import Problem, environment, page, project_of
from scumble.studio.pictures import Branch, interval_picture, published_intervals, tree_picture
from scumble.studio.rounds import rounds_of
from scumble.studio.views import ShownRelease, release_answer, release_view

PAGE_ROWS = 50
CHUNK = 1 << 20
MOST_SHOWN = 12
"""Published values that are listed below the picture of an attribute."""


class CutPicture(NamedTuple):
    """How one attribute is published."""

    name: str
    size: int
    strip: Markup | None
    values: list[str]
    tree: Branch | None
    is_class: bool


def listing(request: Request) -> Response:
    """All releases of the project."""
    project = project_of(request)
    listed = []
    for folder in project.releases:
        try:
            manifest = read_manifest(folder)
            listed.append((folder.name, manifest["method"], str(manifest["guarantee"]["sentence"])))
        except (ScumbleError, LookupError, TypeError) as error:
            listed.append((folder.name, "", str(error)))
    commands = tuple(line("verify", folder.name) for folder in project.releases)
    note = "Each checks one release." if commands else "A command that checks a release is here once there is one."
    return page("releases.html", project=project, here="releases", listed=listed, commands=commands, command_note=note)


def show(request: Request) -> Response:
    """One release. What takes long to read is added when it is ready."""
    project = project_of(request)
    folder = project.release_folder(request.path_params["release"])
    manifest = read_manifest(folder)
    plan = Plan.from_json(manifest)
    schema = read_published_schema(folder / "schema.yaml")
    question, answer, problem = request.query_params.get("where"), None, None
    by = request.query_params.get("by", "")
    groups = [each.strip() for each in by.split(",") if each.strip()]
    asked = ["query", folder.name, *([question] if question else [])]
    asked += [word for each in groups for word in ("--by", each)]
    if question is not None:
        try:
            answer = release_answer(folder, question, groups)
        except InputError as error:
            problem = Problem(text=str(error), field="where")
    view = release_view(folder)
    return page(
        "release.html",
        project=project,
        here="releases",
        folder=folder,
        manifest=manifest,
        finer=f"{Path(str(manifest.get('recommended'))).stem}.schema.yaml" in manifest["files"],
        plan=plan,
        rounds=rounds_of(plan, manifest.get("story", [])),
        cut=[_cut(each, schema.target) for each in schema.attributes],
        view=view,
        rows=_sorted_rows(view, request.query_params),
        question=question or "",
        by=by,
        answer=answer,
        answering=question is not None and answer is None and problem is None,
        problem=problem,
        commands=(
            line("verify", folder.name),
            line(*asked),
            line("report", folder.name, "--audience", "public", "--out", project.free_name(f"{folder.name}-pages")),
        ),
    )


def _cut(attribute: Attribute, target: str | None) -> CutPicture:
    domain = attribute.domain
    is_class = attribute.name == target
    if isinstance(domain, Grid):
        values = [value.label for value in published_intervals(attribute)[:MOST_SHOWN]]
        return CutPicture(attribute.name, domain.size, interval_picture(attribute), values, None, is_class)
    values = list(domain.labels[:MOST_SHOWN])
    tree = None if domain.splits_anywhere or is_class else tree_picture(domain)
    return CutPicture(attribute.name, domain.size, None, values, tree, is_class)


def _sorted_rows(view: ShownRelease | None, wanted: Mapping[str, str]) -> dict[str, Any] | None:
    """One page of the table, sorted by the column that the address names."""
    if view is None:
        return None
    column, descending = wanted.get("sort", ""), wanted.get("order", "up") == "down"
    rows = view.rows
    if column in view.columns:
        place = view.columns.index(column)
        rows = sorted(rows, key=lambda row: (row[place] is None, _comparable(row[place])), reverse=descending)
    text = wanted.get("page", "1")
    last = max(1, -(-len(rows) // PAGE_ROWS))
    number = min(int(text), last) if text.isdecimal() and len(text) < 9 and int(text) else 1
    shown = rows[(number - 1) * PAGE_ROWS : number * PAGE_ROWS]
    return {"shown": shown, "column": column, "descending": descending, "page": number, "last": last}


def _comparable(value: Any) -> tuple[float, str]:
    """Numbers by size; intervals such as [15,28) by their lower end; other texts by their letters."""
    if isinstance(value, int | float):
        return float(value), ""
    found = re.match(r"\[(-?[0-9.]+),", str(value))
    return (float(found[1]), "") if found and found[1].count(".") <= 1 else (0.0, str(value))


def contents(request: Request) -> Response:
    """The part of the page that takes long to read; it asks again until it is ready."""
    project = project_of(request)
    folder = project.release_folder(request.path_params["release"])
    view = release_view(folder)
    rows = _sorted_rows(view, request.query_params)
    template = environment().get_template("release_contents.html")
    return HTMLResponse(template.render(project=project, folder=folder, view=view, rows=rows))


def report(request: Request) -> Response:
    """The report of a release, as it is in the folder, with no right to run or load anything."""
    folder = project_of(request).release_folder(request.path_params["release"])
    text = read_text(inside(folder, "report.html"))
    styles = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(style.encode()).digest()).decode() for style in styles]
    allowed = " ".join(f"'sha256-{each}'" for each in hashes) or "'none'"
    policy = f"default-src 'none'; style-src {allowed}; frame-ancestors 'none'; base-uri 'none'; sandbox"
    return HTMLResponse(text, headers={"content-security-policy": policy})


def archive(request: Request) -> Response:
    """The release folder as a zip: the files that release.json lists, and nothing else."""
    folder = project_of(request).release_folder(request.path_params["release"])
    names = [*sorted(read_manifest(folder)["files"]), "release.json"]
    names += [name for name in ("signature.json",) if (folder / name).exists()]
    headers = {"content-disposition": f'attachment; filename="{re.sub(r"[^A-Za-z0-9_-]", "-", folder.name)}.zip"'}
    return StreamingResponse(_zipped(folder, names), media_type="application/zip", headers=headers)


class _Written(io.RawIOBase):
    """A stream without places to go back to; what was written is taken out of it."""

    def __init__(self) -> None:
        self.blocks: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, block: Any) -> int:
        self.blocks.append(bytes(block))
        return len(block)

    def taken(self) -> bytes:
        """What was written since this was last asked."""
        found, self.blocks = b"".join(self.blocks), []
        return found


def _zipped(folder: Path, names: list[str]) -> Iterator[bytes]:
    """The parts of a zip as soon as they are compressed: a download begins at once, however large the release is."""
    written = _Written()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archived:
        for name in names:
            with open_file(inside(folder, name)) as content, archived.open(f"{folder.name}/{name}", "w") as entry:
                while block := content.read(CHUNK):
                    entry.write(block)
                    yield written.taken()
    yield written.taken()
