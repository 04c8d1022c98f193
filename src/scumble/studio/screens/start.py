"""The first screen: what the studio does, the projects of the folder, a new one, and the demo."""

from starlette.requests import Request
from starlette.responses import Response

from scumble.studio.commands import line
from scumble.studio.pages import NO_FIELDS, FormFields, Problem, at_field, page, posted, redirect, workspace_of


def show(request: Request, *, problem: Problem | None = None, typed: FormFields = NO_FIELDS) -> Response:
    """The projects and the tables of the folder."""
    workspace = workspace_of(request)
    return page(
        "start.html",
        workspace=workspace,
        projects=workspace.projects,
        tables=workspace.tables,
        problem=problem,
        typed=typed,
        commands=(line("studio", workspace.folder), line("demo")),
        command_note="The first opens this page. The second makes the same generated patients as the button, and runs "
        "all steps on them at once, in a new folder. Opening a table writes a run.yaml, which you can also do by hand.",
    )


@posted(show)
def create(request: Request, fields: FormFields) -> Response:
    """A new project for a table in the folder, or the demo."""
    if fields.has("demo"):
        return redirect(workspace_of(request).create_demo(), "table")
    with at_field("data"):
        return redirect(workspace_of(request).create(fields.text("data")), "table")
