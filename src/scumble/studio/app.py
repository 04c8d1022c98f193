"""The application: which function answers which address."""

from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from scumble.errors import InputError, ScumbleError
from scumble.foreign.files import read_bytes
from scumble.studio.pages import Problem, environment, page
from scumble.studio.projects import Workspace
from scumble.studio.screens import SCREENS

STATIC = Path(__file__).parent / "static"
NOT_FOUND, FAILED = 404, 500


def script(request: Request) -> Response:
    """htmx, which is part of the package."""
    return Response(read_bytes(STATIC / "htmx.min.js"), media_type="text/javascript")


def icon(request: Request) -> Response:
    """The icon of the page."""
    return Response(read_bytes(STATIC / "icon.svg"), media_type="image/svg+xml")


def style(request: Request) -> Response:
    """The style sheet: that of reports, and the studio's own."""
    return Response(environment().get_template("studio.css").render(), media_type="text/css")


def _error(request: Request, error: Exception) -> Response:
    status = NOT_FOUND if isinstance(error, InputError) else FAILED
    return page("error.html", problem=Problem(text=str(error)), status=status)


def _unknown(request: Request, error: Exception) -> Response:
    return page("error.html", problem=Problem(text="There is no such page."), status=NOT_FOUND)


def application(workspace: Workspace) -> Starlette:
    """The studio for a folder. `scumble.studio.guard.Guard` decides which requests reach it."""
    routes: list[BaseRoute] = [Route("/static/htmx.min.js", script), Route("/static/studio.css", style)]
    routes.append(Route("/static/icon.svg", icon))
    for address, shown, sent in SCREENS:
        routes += [] if shown is None else [Route(address, shown, methods=["GET"])]
        routes += [] if sent is None else [Route(address, sent, methods=["POST"])]
    handlers: dict[Any, Any] = {ScumbleError: _error, NOT_FOUND: _unknown}
    app = Starlette(routes=routes, exception_handlers=handlers)
    app.state.workspace = workspace
    return app
