"""Compare: the releases of a project side by side, from what they publish, with charts of the same column."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from scumble.errors import ScumbleError
from scumble.files.release_folder import read_manifest
from scumble.files.report.marginals import Marginal
from scumble.files.schema_file import read_published_schema
from scumble.foreign.files import inside
from scumble.model.budget import budget_text
from scumble.model.display import plural
from scumble.model.grid import Grid
from scumble.model.guarantee import epsilon_of
from scumble.model.plan import Plan
from scumble.model.schema import Schema
from scumble.studio.commands import line
from scumble.studio.pages import page, project_of
from scumble.studio.views import ShownRelease, release_views

MOST_COMPARED = 6


class ComparedRelease(NamedTuple):
    """A release as a column of the comparison."""

    name: str
    manifest: dict[str, Any]
    plan: Plan
    schema: Schema
    bytes: int
    """The size of all its files."""
    view: ShownRelease | None
    """None while its files are being read."""

    @property
    def epsilon(self) -> str:
        epsilon = epsilon_of(self.plan.guarantee)
        return "none" if epsilon is None else budget_text(epsilon)

    def margin(self, name: str) -> Marginal | None:
        """The chart of an attribute; None if the release shows none."""
        shown = [] if self.view is None else self.view.marginals
        return next((each for each in shown if each.name == name), None)


class ComparedMargin(NamedTuple):
    """The chart of an attribute in one release."""

    release: str
    marginal: Marginal | None
    ready: bool
    """Whether the files of the release have been read."""


def show(request: Request) -> Response:
    """The newest releases beside each other."""
    project = project_of(request)
    compared = []
    for folder in project.releases[:MOST_COMPARED]:
        try:
            compared.append(_compared(folder))
        except (ScumbleError, OSError):
            continue  # the list of releases says what is wrong with it
    views = release_views([project.folder / each.name for each in compared])
    compared = [each._replace(view=view) for each, view in zip(compared, views, strict=True)]
    names = list(dict.fromkeys(name for each in compared for name in each.schema.names))
    return page(
        "compare.html",
        project=project,
        here="compare",
        compared=compared,
        rows=[(name, [_published(each.schema, name) for each in compared]) for name in names],
        margins=_margins(compared, names),
        waiting=any(each.view is None for each in compared),
        commands=tuple(command for each in compared for command in _commands(each)),
        command_note="No single command shows releases side by side. These check each release and give the shares of "
        "one of its columns. Its release.json states the method, the guarantee and the spends.",
    )


def _commands(compared: ComparedRelease) -> tuple[str, ...]:
    """The commands that give the figures of one release."""
    categories = [each.name for each in compared.schema.attributes if not isinstance(each.domain, Grid)]
    shares = (line("query", compared.name, "--by", categories[0]),) if categories else ()
    return (line("verify", compared.name), *shares)


def _compared(folder: Path) -> ComparedRelease:
    manifest = read_manifest(folder)
    return ComparedRelease(
        name=folder.name,
        manifest=manifest,
        plan=Plan.from_json(manifest),
        schema=read_published_schema(folder / "schema.yaml"),
        bytes=sum(inside(folder, name).stat().st_size for name in manifest["files"]),
        view=None,
    )


def _margins(compared: Sequence[ComparedRelease], names: Sequence[str]) -> list[tuple[str, list[ComparedMargin]]]:
    """For each attribute that some release shows, its charts in the order of the releases."""
    found = [
        (name, [ComparedMargin(each.name, each.margin(name), each.view is not None) for each in compared])
        for name in names
    ]
    return [(name, charts) for name, charts in found if any(each.marginal for each in charts)]


def _published(schema: Schema, name: str) -> str:
    """How a release publishes an attribute, in a few words."""
    if name not in schema.names:
        return "not published"
    domain = schema[name].domain
    return plural(domain.size, "interval" if isinstance(domain, Grid) else "value")
